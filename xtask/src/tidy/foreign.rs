//! Files of other authors: licence texts, minified scripts, fonts and other binary files. The repository holds our own
//! code; everything else comes from a package registry while it is built, or when a bundle is made. The rule looks at every file that git would commit,
//! and refuses the marks of an unfinished merge as well.

use std::fs;
use std::path::Path;

use super::Problem;

/// Phrases of licences, copyright notices and bundlers, in lower case.
const MARKS: [&str; 12] = [
    "copyright (c)",
    "copyright ©",
    "all rights reserved",
    "spdx-license-identifier",
    "permission is hereby granted",
    "permission to use, copy, modify",
    "redistribution and use in source and binary forms",
    "licensed under the apache license",
    "general public license",
    "mozilla public license",
    "open font license",
    "@license",
];

/// Our own licence texts, and this file.
const MARKED: [&str; 4] = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "xtask/src/tidy/foreign.rs"];

/// Folders of that name hold copies of other projects.
const FOLDERS: [&str; 5] = ["third_party", "third-party", "vendor", "vendored", "node_modules"];

/// Folders whose binary files are inputs and expected outputs of tests.
const TEST_DATA: [&str; 2] = ["/tests/", "fuzz/corpus/"];

/// The largest binary file of test data, in bytes.
const TEST_DATA_MAX: usize = 16 << 10;

/// The longest line of a script or style sheet, in bytes. Longer ones are output of a minifier.
const LINE_MAX: usize = 500;

/// A folder with this file holds a bundle that is built from sources in this repository, or from packages that a lock file in it
/// pins; `xtask web --check` compares the two.
const BUNDLE: &str = "SOURCES.sha256";

/// Checks the files at `paths`, which are relative to `root`. Files that are gone are skipped: git lists them until the
/// deletion is committed.
pub(super) fn check(root: &Path, paths: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in paths {
        let file = root.join(path);
        let Ok(bytes) = fs::read(&file) else { continue };
        problems.extend(check_file(path, &bytes, file.with_file_name(BUNDLE).is_file()));
    }
    problems
}

/// Checks one file; `bundle` says that it lies in a folder with [`BUNDLE`].
fn check_file(path: &str, bytes: &[u8], bundle: bool) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |line, text: String| problems.push(Problem::new(path, line, "foreign", text));
    if let Some(folder) = path.split('/').find(|part| FOLDERS.contains(part)) {
        add(0, format!("{folder}/ is a place for other people's code: use a package registry"));
    }
    let Some(text) = text(bytes) else {
        let test_data = TEST_DATA.iter().any(|folder| path.contains(folder));
        if !test_data || bytes.len() > TEST_DATA_MAX {
            add(0, "a binary file: generate it, or take it from a package registry".to_owned());
        }
        return problems;
    };
    for (at, line) in text.lines().enumerate() {
        if let Some(mark) = mark(line).filter(|_| !MARKED.contains(&path)) {
            add(at + 1, format!("\"{mark}\" marks other people's work"));
        }
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            add(at + 1, "the mark of an unfinished merge".to_owned());
        }
        if is_script(path) && !bundle && line.len() > LINE_MAX {
            add(at + 1, format!("{} bytes in a line: minified", line.len()));
        }
    }
    problems
}

/// The text of a file; `None` for binary files.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The mark that a line contains.
fn mark(line: &str) -> Option<&'static str> {
    let line = line.to_lowercase();
    MARKS.into_iter().find(|mark| line.contains(mark))
}

/// Whether a minifier could have written the file.
fn is_script(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "js" | "mjs" | "cjs" | "ts" | "css" | "html")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_bytes(path: &str, bytes: &[u8], expect: &[(usize, &str)]) {
        let problems = check_file(path, bytes, false);
        assert_eq!(problems.len(), expect.len(), "{path}: {problems:?}");
        for (problem, (line, text)) in problems.iter().zip(expect) {
            assert_eq!(problem.line, *line);
            assert!(problem.text.contains(text), "{path}: {}", problem.text);
        }
    }

    #[test]
    fn licence_texts_are_found_and_ours_are_not() {
        let text = b"/*\n * Copyright (c) 2017 A. Person\n * Permission is hereby granted, free of charge\n */\n";
        let expect = [(2, "copyright (c)"), (3, "permission is hereby granted")];
        check_bytes("crates/a/src/list.h", text, &expect);
        check_bytes("crates/a/assets/A.LICENSE.txt", text, &expect);
        check_bytes("LICENSE-MIT", text, &[]);
        let spdx = b"// SPDX-License-Identifier: BSD-3-Clause\n";
        check_bytes("web/src/a.ts", spdx, &[(1, "spdx-license-identifier")]);
        check_bytes("README.md", b"MIT or Apache-2.0, see LICENSE.\n", &[]);
    }

    #[test]
    fn marks_of_a_merge_are_found() {
        let text = b"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> 1234567 (x)\n";
        let expect = [(2, "unfinished merge"), (6, "unfinished merge")];
        check_bytes("docs/a.md", text, &expect);
        check_bytes("docs/a.md", b"A\n=======\n", &[]);
    }

    #[test]
    fn minified_scripts_are_found_and_our_bundle_is_not() {
        let line = "a;".repeat(300);
        check_bytes("web/lib/a.js", line.as_bytes(), &[(1, "600 bytes")]);
        assert_eq!(check_file("crates/report/assets/chart.js", line.as_bytes(), true), []);
        check_bytes("crates/report/tests/snapshots/a.json", line.as_bytes(), &[]);
    }

    #[test]
    fn binary_files_are_data_of_tests_alone() {
        for bytes in [&b"\xff\xfe"[..], b"a\0b"] {
            check_bytes("crates/report/assets/a.ttf", bytes, &[(0, "binary")]);
            check_bytes("crates/wire/tests/corpus/a", bytes, &[]);
            check_bytes("fuzz/corpus/a/b", bytes, &[]);
        }
        check_bytes("fuzz/corpus/a/b", &[0; TEST_DATA_MAX + 1], &[(0, "binary")]);
    }

    #[test]
    fn folders_of_copies_are_refused() {
        check_bytes("third_party/a/a.c", b"int a;\n", &[(0, "third_party/")]);
        check_bytes("crates/a/vendor/b.rs", b"//! B.\n", &[(0, "vendor/")]);
        check_bytes("crates/a/src/vendor.rs", b"//! B.\n", &[]);
    }
}
