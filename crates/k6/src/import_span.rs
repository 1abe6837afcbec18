//! `Imports`: the files that the static imports of a script lead to, and the folder that they span, for scripts that belong to no project: those of a tarball or
//! of a container's volume have neither a repository nor a package around them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cli::input::read_regular;

/// Files that are looked at, at most.
const FILES_MAX: usize = 1000;

/// Endings of files that are modules; a name without one may be another's.
const MODULES: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/// What the static imports of a script lead to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Imports {
    /// The nearest folder that has the script and all files.
    pub(super) span: PathBuf,
    /// The script and all files that it imports by relative names, those of its imports included.
    pub(super) files: Vec<PathBuf>,
}

impl Imports {
    /// Those of a script; `None` where they have no folder in common.
    pub(super) fn of(script: &Path) -> Option<Self> {
        let mut span = script.parent()?.to_owned();
        let (mut seen, mut left) = (BTreeSet::new(), vec![script.to_owned()]);
        while let Some(file) = left.pop() {
            if seen.len() >= FILES_MAX || seen.contains(&file) {
                continue;
            }
            let (Ok(text), Some(folder)) = (read_regular(&file), file.parent()) else { continue };
            while !file.starts_with(&span) {
                span = span.parent()?.to_owned();
            }
            let text = without_comments(&String::from_utf8_lossy(&text));
            let named = relative_imports(&text).into_iter();
            let found = named.filter_map(|name| fs::canonicalize(folder.join(name)).ok());
            left.extend(found.filter(|file| is_module(file)));
            seen.insert(file);
        }
        Some(Self { span, files: seen.into_iter().collect() })
    }
}

fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|ending| MODULES.iter().any(|module| ending == *module))
}

/// A script without its comments: a name in one is no import. What looks like a comment in a regular expression is taken for one, and
/// then an import too few is seen, never one too many.
fn without_comments(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let (kept, skipped) = match first {
            '/' if rest.starts_with("//") => (0, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                (0, rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
            }
            '"' | '\'' | '`' => {
                let end = end_of_text(rest, first);
                (end, end)
            }
            _ => (first.len_utf8(), first.len_utf8()),
        };
        out.push_str(&rest[..kept]);
        rest = &rest[skipped..];
    }
    out
}

/// Where a text that begins with this quote ends: at the next one, or with the line.
fn end_of_text(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, one) in text.char_indices().skip(1) {
        if one == '\n' && quote != '`' {
            return at;
        }
        if one == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = one == '\\' && !is_escaped;
    }
    text.len()
}

/// The relative names that follow the words `from`, `import` and `require(`. A name in a text may be among them: it counts only if
/// there is such a module.
fn relative_imports(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for word in ["from", "import", "require"] {
        for (at, _) in text.match_indices(word) {
            let rest = text[at + word.len()..].trim_start();
            let rest = rest.strip_prefix('(').map_or(rest, str::trim_start);
            let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\''))
            else {
                continue;
            };
            let name = rest[1..].split([quote, '\n']).next().unwrap_or_default();
            if name.starts_with("./") || name.starts_with("../") {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_imports_are_found() {
        let text = "import {B} from '../lib/c.js'; import './d.js'\nexport * from\n  \"../e.ts\";
            const f = require( '../f' ); import http from 'k6/http'; const from = 'x'; await import('../../g.js')";
        let mut names = relative_imports(text);
        names.sort_unstable();
        assert_eq!(names, ["../../g.js", "../e.ts", "../f", "../lib/c.js", "./d.js"]);
    }

    #[test]
    fn comments_are_left_out_and_texts_are_not() {
        let text = "a 'x // \\' y' /* b */ `//` c // d\n\"/*\" e /* f";
        assert_eq!(without_comments(text), "a 'x // \\' y'  `//` c \n\"/*\" e ");
    }

    #[test]
    fn regression_issue_41_the_span_holds_what_is_imported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a/tests")).unwrap();
        fs::create_dir_all(root.join("a/lib")).unwrap();
        let root = fs::canonicalize(root).unwrap();
        let script = root.join("a/tests/l.js");
        let span = || Imports::of(&script).map(|imports| imports.span);
        fs::write(&script, "import {B} from '../lib/c.js'").unwrap();
        fs::write(root.join("a/lib/c.js"), "import '../tests/l.js'; export const B = 1").unwrap();
        assert_eq!(span(), Some(root.join("a")));
        fs::write(root.join("a/lib/c.js"), "import '../../d.js'; import '../../../none.js'")
            .unwrap();
        fs::write(root.join("d.js"), "").unwrap();
        assert_eq!(span(), Some(root.clone()));
        fs::write(&script, "export default () => {}").unwrap();
        assert_eq!(span(), Some(root.join("a/tests")));
        // What is only spoken of is not imported.
        let text = "// import '../../d.js'\n/* from '../../d.js' */ const url = 'http://h//x'; import '../lib/c.js'";
        fs::write(&script, text).unwrap();
        fs::write(root.join("a/lib/c.js"), "").unwrap();
        assert_eq!(span(), Some(root.join("a")));
    }
}
