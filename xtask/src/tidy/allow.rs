//! `xtask/tidy-allow.txt`: what the rules let pass, one `RULE PATH` a line, with the reason in a comment above it. An entry
//! that nothing needs any more is itself a problem, so the file only shrinks.

use super::problem::Problem;

/// Where the file lies.
pub(super) const FILE: &str = "xtask/tidy-allow.txt";

/// Takes away the allowed problems and adds one for each entry that allowed nothing or says no reason.
pub(super) fn apply(list: &str, problems: Vec<Problem>) -> Vec<Problem> {
    let mut left = problems;
    let mut reason = false;
    for (index, line) in list.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            reason = line.starts_with('#');
            continue;
        }
        let (rule, path) = line.split_once(' ').unwrap_or((line, ""));
        let before = left.len();
        left.retain(|problem| !(problem.rule == rule && problem.file == path.trim()));
        if left.len() == before {
            left.push(Problem::new(FILE, index + 1, "allow", "no longer needed: take it out"));
        }
        if !reason {
            left.push(Problem::new(
                FILE,
                index + 1,
                "allow",
                "needs its reason in a comment above",
            ));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(list: &str, expect: &[(&str, usize, &str)]) {
        let problems = vec![
            Problem::new("a.rs", 0, "length", "1200 lines"),
            Problem::new("b.rs", 3, "unsafe", "unsafe"),
            Problem::new("b.rs", 9, "unsafe", "unsafe"),
        ];
        let left = apply(list, problems);
        let found: Vec<_> =
            left.iter().map(|one| (one.file.as_str(), one.line, one.rule)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn entries_allow_a_rule_in_a_file_and_must_be_needed() {
        check("", &[("a.rs", 0, "length"), ("b.rs", 3, "unsafe"), ("b.rs", 9, "unsafe")]);
        check("# counts\nunsafe b.rs\n\n# table\nlength a.rs\n", &[]);
        check("# why\nlength a.rs\nunsafe b.rs\n", &[]);
        check("# why\nunsafe b.rs\nlength c.rs\n", &[("a.rs", 0, "length"), (FILE, 3, "allow")]);
        check("length a.rs\n# why\nunsafe b.rs\n", &[(FILE, 1, "allow")]);
    }
}
