//! How long functions are: STYLE.md bounds the longest one and nine of ten. It finds functions in code that a lexer has cleaned
//! and counts the lines from `fn` to the closing brace, comments included and tests left out.

use std::collections::BTreeMap;
use std::fmt;

use crate::sources;

use super::Problem;

/// Nine of ten functions have at most this many lines.
const P90_MAX: usize = 23;

/// No function has more lines. Clippy's `too_many_lines` has the same limit and does not count comments.
const LINES_MAX: usize = 70;

/// The lengths of all functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// In lines, sorted.
    lines: Vec<usize>,
    /// Functions over [`LINES_MAX`].
    too_long: Vec<Problem>,
}

impl Lengths {
    /// Measures the functions of the files, which map paths to texts.
    pub(super) fn of(files: &BTreeMap<String, String>) -> Self {
        let ours = files.iter().filter(|(path, _)| !sources::is_test_file(path));
        let (mut lines, mut too_long) = (Vec::new(), Vec::new());
        for (path, text) in ours {
            for (start, length) in lengths(text) {
                lines.push(length);
                if length > LINES_MAX {
                    let text = format!("{length} lines; the limit is {LINES_MAX}");
                    too_long.push(Problem::new(path, start, "functions", text));
                }
            }
        }
        lines.sort_unstable();
        Self { lines, too_long }
    }

    /// The functions that are too long, and whether the functions are too long on the whole.
    pub(super) fn check(&self) -> impl Iterator<Item = Problem> {
        self.too_long.iter().cloned().chain(self.check_percentile())
    }

    fn check_percentile(&self) -> Option<Problem> {
        let p90 = self.percentile(90);
        let text =
            || format!("nine of ten functions have up to {p90} lines; the limit is {P90_MAX}");
        (p90 > P90_MAX).then(|| Problem::new("STYLE.md", 0, "functions", text()))
    }

    /// The length that so many percent of the functions do not exceed; 0 if there are no functions.
    fn percentile(&self, percent: usize) -> usize {
        let rank = (self.lines.len() * percent).div_ceil(100).max(1);
        self.lines.get(rank - 1).copied().unwrap_or(0)
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, p90, longest] = [50, 90, 100].map(|percent| self.percentile(percent));
        let count = self.lines.len();
        write!(out, "{count} functions; lines: median {median}, p90 {p90}, longest {longest}")
    }
}

/// The functions with a body in a source text: the line where each begins, from 1, and its length in lines.
fn lengths(text: &str) -> Vec<(usize, usize)> {
    let code = sources::split(text).code;
    let tests = sources::test_lines(&code);
    let lines: Vec<&str> = code.lines().collect();
    let begins = |at: &usize| !tests[*at] && begins_function(lines[*at]);
    let starts = (0..lines.len()).filter(begins);
    starts.filter_map(|start| Some((start + 1, body_end(&lines[start..])?))).collect()
}

/// Whether a function with a name begins in this line.
fn begins_function(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| *word != "fn");
    words.next().is_some()
        && words
            .next()
            .is_some_and(|name| name.starts_with(char::is_alphabetic) || name.starts_with('_'))
}

/// The number of lines to the brace that closes the first body; `None` if a semicolon ends the function before.
fn body_end(lines: &[&str]) -> Option<usize> {
    let (mut braces, mut others) = (0_usize, 0_usize);
    for (index, line) in lines.iter().enumerate() {
        // What stands before `fn` in its line can close no brace of ours.
        let line = if index == 0 { &line[line.find("fn ").unwrap_or(0)..] } else { line };
        for char in line.chars() {
            match char {
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 && others == 0 {
                        return Some(index + 1);
                    }
                }
                '(' | '[' => others += 1,
                ')' | ']' => others = others.saturating_sub(1),
                ';' if braces == 0 && others == 0 => return None,
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[usize]) {
        let found: Vec<usize> = lengths(text).into_iter().map(|(_, length)| length).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn functions_are_measured_to_their_brace() {
        check("fn a() {}\n", &[1]);
        check(
            "pub(crate) const fn a(\n    b: [u8; 4],\n) -> u8\nwhere\n{\n    if b { 1 } else { 2 }\n}\n",
            &[7],
        );
        check("trait A {\n    fn a(&self);\n    fn b(&self) {\n    }\n}\n", &[2]);
        check("type F = fn(u8) -> u8;\nstruct A { f: fn (u8) }\n", &[]);
        check("fn a() {\n    let b = |c| { c };\n    fn d() {\n    }\n}\n", &[5, 2]);
        check(
            "fn a() { b(\"}\") } // }\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\n",
            &[1],
        );
    }

    #[test]
    fn a_function_over_the_limit_is_named() {
        let text = format!("//! A.\nfn a() {{}}\nfn b() {{{}}}\n", "\n".repeat(LINES_MAX));
        let files = BTreeMap::from([("crates/a/src/a.rs".to_owned(), text)]);
        let problems: Vec<Problem> = Lengths::of(&files).check().collect();
        assert_eq!((problems.len(), problems[0].line), (2, 3), "{problems:?}");
    }

    #[test]
    fn the_summary_names_the_percentiles() {
        let text: String =
            (1..=10).map(|n| format!("fn a() {{{}}}\n", "\n".repeat(n - 1))).collect();
        let files = BTreeMap::from([("crates/a/src/a.rs".to_owned(), text)]);
        let lengths = Lengths::of(&files);
        assert_eq!(lengths.to_string(), "10 functions; lines: median 5, p90 9, longest 10");
        assert_eq!(lengths.check().count(), 0);
        let long = Lengths { lines: vec![24; 10], too_long: Vec::new() };
        assert!(long.check().next().unwrap().text.contains("24 lines"));
        assert_eq!(
            Lengths::of(&BTreeMap::new()).to_string(),
            "0 functions; lines: median 0, p90 0, longest 0"
        );
    }
}
