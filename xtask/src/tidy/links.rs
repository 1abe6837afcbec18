//! Links in Markdown that lead into the tree must lead somewhere. Links to the web are not followed.

use std::path::Path;

use super::problem::Problem;

/// The dead links of one Markdown file; `file` is relative to `root`.
pub(super) fn check(root: &Path, file: &str, text: &str) -> Vec<Problem> {
    let dir = root.join(file).parent().map(Path::to_path_buf).unwrap_or_default();
    let mut problems = Vec::new();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        for link in targets(line).filter(|_| !fenced) {
            let path = link.split('#').next().unwrap_or_default();
            let outside = link.contains("://") || link.starts_with("mailto:");
            if !outside && !path.is_empty() && !dir.join(path).exists() {
                problems.push(Problem::new(
                    file,
                    index + 1,
                    "links",
                    format!("{link} is not there"),
                ));
            }
        }
    }
    problems
}

/// What the `[text](target)` of a line point to.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn links_into_the_tree_must_exist() {
        let text = "[a](main.rs), [b](gone.rs#x) [c](https://a.example/b)\n[d](#here) [e](../Cargo.toml)\n```\n[f](gone)\n```\n";
        let problems = check(&workspace::root(), "xtask/src/README.md", text);
        let found: Vec<_> = problems.iter().map(|one| (one.line, one.text.as_str())).collect();
        assert_eq!(found, [(1, "gone.rs#x is not there")]);
    }
}
