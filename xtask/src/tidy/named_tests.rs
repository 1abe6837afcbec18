//! Tests that a page names (`study/src/plan.rs::its_test`) must exist: the page says what holds a promise.

use std::collections::BTreeMap;

use super::problem::Problem;

/// Where the tests of the command lie, and how pages write it.
const SHORT: [(&str, &str); 2] = [("e2e/", "brunt/tests/e2e/"), ("faults/", "brunt/tests/faults/")];
/// Stands for the file that was named before.
const SAME_FILE: &str = "\u{2026}";

/// Each test that is named in a page and is not in the sources.
pub(super) fn check(file: &str, text: &str, sources: &BTreeMap<String, String>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let mut path = String::new();
        for (named, test) in line.split('`').skip(1).step_by(2).filter_map(named) {
            if named != SAME_FILE {
                path = source_path(named);
            }
            let is_there = sources.get(&path).is_some_and(|source| has_test(source, test));
            if !is_there {
                let text = format!("there is no test {test} in {path}");
                problems.push(Problem::new(file, at + 1, "tests", &text));
            }
        }
    }
    problems
}

/// The file and the test of a text between backquotes, if it names one.
fn named(span: &str) -> Option<(&str, &str)> {
    let (path, test) = span.rsplit_once("::")?;
    (path.ends_with(".rs") || path == SAME_FILE).then_some((path, test))
}

fn source_path(named: &str) -> String {
    let long = SHORT.iter().find_map(|(short, long)| Some((long, named.strip_prefix(short)?)));
    match long {
        Some((long, rest)) => format!("crates/{long}{rest}"),
        None => format!("crates/{named}"),
    }
}

fn has_test(source: &str, test: &str) -> bool {
    source.lines().any(|line| {
        line.trim_start()
            .strip_prefix("fn ")
            .is_some_and(|rest| rest.strip_prefix(test).is_some_and(|rest| rest.starts_with("()")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_are_named_exist() {
        let sources = [
            ("crates/brunt/tests/e2e/a.rs", "#[test]\nfn one() {}\n    fn two() {}\n"),
            ("crates/brunt/tests/faults/d.rs", "fn four() {}\n"),
            ("crates/study/src/b.rs", "fn three_and() {}\n"),
        ];
        let sources = sources.map(|(path, text)| (path.to_owned(), text.to_owned())).into();
        let missing = |text: &str| {
            let problems = check("docs/design/x.md", text, &sources);
            problems.into_iter().map(|problem| (problem.line, problem.text)).collect::<Vec<_>>()
        };
        assert_eq!(missing("`e2e/a.rs::one`, `\u{2026}::two`; `a::b` of `study/src/b.rs`"), []);
        assert_eq!(missing("`faults/d.rs::four`"), []);
        let gone = "there is no test three in crates/study/src/b.rs".to_owned();
        assert_eq!(missing("\n`e2e/a.rs::one`, `study/src/b.rs::three`"), [(2, gone)]);
        assert_eq!(missing("`\u{2026}::one`").len(), 1, "no file stands before it");
        assert_eq!(missing("`study/src/c.rs::one`").len(), 1, "there is no such file");
    }
}
