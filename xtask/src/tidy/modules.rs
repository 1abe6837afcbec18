//! Dead files: a `.rs` file that no `mod` leads to is neither compiled nor tested. And one form for modules with children:
//! `name/mod.rs`, not `name.rs` beside `name/`.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources;

use super::problem::Problem;

/// Every file that is reached neither from a crate root nor by a `mod`, and every module that is not in the `mod.rs` of its
/// children. `files` maps paths to texts.
pub(super) fn check(files: &BTreeMap<String, String>) -> Vec<Problem> {
    let mut problems = dead(files);
    let beside = files.keys().filter(|path| !is_root(path) && has_children(path, files));
    let text = "a module with children is a mod.rs in their folder";
    problems.extend(beside.map(|path| Problem::new(path, 0, "modules", text)));
    problems
}

/// Whether there are files in the folder that has the file's name.
fn has_children(path: &str, files: &BTreeMap<String, String>) -> bool {
    let folder = format!("{}/", path.trim_end_matches(".rs"));
    files.range(folder.clone()..).next().is_some_and(|(child, _)| child.starts_with(&folder))
}

fn dead(files: &BTreeMap<String, String>) -> Vec<Problem> {
    let mut reached: BTreeSet<String> = BTreeSet::new();
    let mut open: Vec<String> = files.keys().filter(|path| is_root(path)).cloned().collect();
    while let Some(path) = open.pop() {
        let Some(text) = files.get(&path) else { continue };
        if reached.insert(path.clone()) {
            open.extend(children(&path, text));
        }
    }
    files
        .keys()
        .filter(|path| !reached.contains(*path))
        .map(|path| Problem::new(path, 0, "dead", "no `mod` leads to this file"))
        .collect()
}

/// Whether cargo starts compiling at this file.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let ends = |names: &[&str]| parts.ends_with(names);
    let folder = |above: usize| parts.len().checked_sub(above).map_or("", |at| parts[at]);
    ends(&["src", "lib.rs"])
        || ends(&["src", "main.rs"])
        || ends(&["build.rs"])
        || ends(&["build", "main.rs"])
        || ends(&["build", "tests.rs"])
        || matches!(folder(2), "bin" | "tests" | "benches" | "examples" | "fuzz_targets")
            && folder(3) != "src"
        || folder(2) == "bin"
        || matches!(folder(3), "tests" | "benches" | "examples") && ends(&["main.rs"])
}

/// The files that the `mod name;` of this text may stand for.
fn children(path: &str, text: &str) -> Vec<String> {
    let code = sources::split(text).code;
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let Some(name) = declared(line) else { continue };
        let above = index.checked_sub(1).and_then(|above| text.lines().nth(above)).unwrap_or("");
        match above.trim().strip_prefix("#[path = \"").and_then(|rest| rest.split('"').next()) {
            Some(given) => found.push(resolve(parent(path), given)),
            None => {
                let dir = dir_of_children(path);
                found.push(format!("{dir}/{name}.rs"));
                found.push(format!("{dir}/{name}/mod.rs"));
            }
        }
    }
    found
}

/// The module's name, if this line of code is `mod name;`, however visible.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim().strip_suffix(';')?;
    let (before, name) = rest.rsplit_once("mod ")?;
    let visible = before.is_empty() || before.trim_end().ends_with(')') || before == "pub ";
    let word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let visible = visible || before.trim_end().ends_with(']');
    (visible && word).then_some(name)
}

/// Where the modules of a file lie: beside a root or a `mod.rs`, else in the folder of the file's name.
fn dir_of_children(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_root(path) || name == "mod.rs" {
        return parent(path).to_owned();
    }
    path.trim_end_matches(".rs").to_owned()
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// `given`, seen from `dir`, with its `..` taken.
fn resolve(dir: &str, given: &str) -> String {
    let mut parts: Vec<&str> = dir.split('/').collect();
    for part in given.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(files: &[(&str, &str)], expect: &[&str]) {
        let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let found: Vec<String> = dead(&files).into_iter().map(|problem| problem.file).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_file_no_mod_leads_to_is_dead() {
        check_files(
            &[
                ("crates/a/src/lib.rs", "mod b;\npub mod c;\n// mod gone;\npub(crate) mod d;"),
                ("crates/a/src/b.rs", "mod deep;"),
                ("crates/a/src/b/deep.rs", ""),
                ("crates/a/src/c/mod.rs", "mod near;"),
                ("crates/a/src/c/near.rs", ""),
                ("crates/a/src/d.rs", "#[path = \"../shared/e.rs\"]\nmod e;"),
                ("crates/a/shared/e.rs", ""),
                ("crates/a/src/gone.rs", ""),
            ],
            &["crates/a/src/gone.rs"],
        );
    }

    #[test]
    fn a_module_with_children_is_a_mod_rs() {
        let files =
            ["a/src/lib.rs", "a/src/b.rs", "a/src/b/c.rs", "a/src/d/mod.rs", "a/src/d/e.rs"];
        let files = files
            .map(|path| (path.to_owned(), "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\n".to_owned()));
        let problems = check(&BTreeMap::from(files));
        let found: Vec<&str> = problems.iter().map(|problem| problem.file.as_str()).collect();
        assert_eq!(found, ["a/src/b.rs"]);
    }

    #[test]
    fn tests_and_programs_are_roots() {
        check_files(
            &[
                ("crates/a/src/main.rs", "mod tests;"),
                ("crates/a/src/tests.rs", ""),
                ("crates/a/src/tests/stray.rs", ""),
                ("crates/a/tests/one.rs", ""),
                ("crates/a/tests/e2e/main.rs", "mod two;"),
                ("crates/a/tests/e2e/two.rs", ""),
                ("crates/a/tests/e2e/three.rs", ""),
                ("fuzz/fuzz_targets/head.rs", ""),
            ],
            &["crates/a/src/tests/stray.rs", "crates/a/tests/e2e/three.rs"],
        );
    }
}
