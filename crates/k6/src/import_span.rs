//! `import_span`: the folder that the static imports of a script span, for scripts that belong to no project: those of a tarball or
//! of a container's volume have neither a repository nor a package around them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cli::input::read_regular;

/// Files that are looked at, at most.
const FILES_MAX: usize = 1000;

/// The nearest folder that has a script and all files that it imports by relative names, those of its imports included.
pub(super) fn import_span(script: &Path) -> Option<PathBuf> {
    let mut span = script.parent()?.to_owned();
    let (mut seen, mut left) = (BTreeSet::new(), vec![script.to_owned()]);
    while let Some(file) = left.pop() {
        if seen.len() >= FILES_MAX || !seen.insert(file.clone()) {
            continue;
        }
        let (Ok(text), Some(folder)) = (read_regular(&file), file.parent()) else { continue };
        while !file.starts_with(&span) {
            span = span.parent()?.to_owned();
        }
        let text = String::from_utf8_lossy(&text);
        let named = relative_imports(&text).into_iter();
        left.extend(named.filter_map(|name| fs::canonicalize(folder.join(name)).ok()));
    }
    Some(span)
}

/// The relative names that follow the words `from`, `import` and `require(`. A name in a comment may be among them: it counts only
/// if there is such a file.
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
    fn regression_issue_41_the_span_holds_what_is_imported() {
        let root = std::env::temp_dir().join(format!("brunt-import-span-{}", std::process::id()));
        fs::create_dir_all(root.join("a/tests")).unwrap();
        fs::create_dir_all(root.join("a/lib")).unwrap();
        let root = fs::canonicalize(root).unwrap();
        let script = root.join("a/tests/l.js");
        fs::write(&script, "import {B} from '../lib/c.js'").unwrap();
        fs::write(root.join("a/lib/c.js"), "import '../tests/l.js'; export const B = 1").unwrap();
        assert_eq!(import_span(&script), Some(root.join("a")));
        fs::write(root.join("a/lib/c.js"), "import '../../d.js'; import '../../../none.js'")
            .unwrap();
        fs::write(root.join("d.js"), "").unwrap();
        assert_eq!(import_span(&script), Some(root.clone()));
        fs::write(&script, "export default () => {}").unwrap();
        assert_eq!(import_span(&script), Some(root.join("a/tests")));
        fs::remove_dir_all(&root).unwrap();
    }
}
