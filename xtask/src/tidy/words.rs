//! Retired words, each with the word to use instead: no name may have one, and no comment may use one. The name of a test may be a
//! sentence with any word; only a helper of tests may not have a retired word for its whole name.

use crate::sources::{self, has_word};

use super::problem::Problem;

/// Words that no declared name may have as a part, and what to use instead.
const IN_NAMES: [(&str, &str); 12] = [
    ("complain", "warn, or eprint_line"),
    ("hear", "receive"),
    ("heard", "received, or what the bytes are"),
    ("heed", "handle_*, or check_*"),
    ("makings", "provenance"),
    ("meant", "config, or selected"),
    ("muster", "barrier"),
    ("said", "the noun: text, lines, output"),
    ("say", "print, write or report"),
    ("tell", "report_*, or write_*"),
    ("tells", "the fact: is_*, has_*"),
    ("told", "reported, or the noun"),
];

/// Participles that are no name of a type on their own, and what to use instead.
const AS_NAMES: [(&str, &str); 26] = [
    ("Asked", "the noun: Target, Request, Config"),
    ("Begun", "the noun, such as OpenRequest"),
    ("Counted", "the noun: Count, Total"),
    ("Cut", "the noun: Part, Range"),
    ("Done", "the noun: Outcome, Result"),
    ("Drawn", "the noun: Chart"),
    ("Ended", "StopReason, or RunOutcome"),
    ("Found", "the noun: Match, Values, Findings"),
    ("Given", "the noun: Input, Options"),
    ("Going", "the noun: Progress"),
    ("Held", "the noun: Entry"),
    ("Judged", "Outcome, or Verdict"),
    ("Kept", "the noun: Checkpoint, Entry, Verdict"),
    ("Known", "the noun: Index, Entry"),
    ("Left", "the noun: Remainder"),
    ("Looks", "Ticker, or samples"),
    ("Made", "the noun: Run"),
    ("Named", "the noun with a name, such as LogSource"),
    ("Opened", "the noun: File"),
    ("Placed", "Spanned, or Position"),
    ("Seen", "the noun: State, Observation"),
    ("Sent", "the noun: Message"),
    ("Shown", "the noun: Row, Visibility"),
    ("Stored", "the noun: Entry, Record"),
    ("Wanted", "Selector, or Options"),
    ("Watched", "the noun: Summary, Process"),
];

/// Phrases that no comment may have, and what to write instead.
const IN_COMMENTS: [(&str, &str); 8] = [
    ("amiss", "name the problem"),
    ("nobody", "no process, no user, nothing: name the subject"),
    ("of no sense", "malformed"),
    ("somebody", "name the subject"),
    ("tells", "has, shows, reports"),
    ("told", "reported, given, known"),
    ("who asks", "the caller, or the client"),
    ("whoever", "the caller, or the user"),
];

/// What declares a name.
const KEYWORDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "mod"];

/// The problems of one file.
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let layers = sources::split(text);
    // The lists themselves, and their tests.
    if path == "xtask/src/tidy/words.rs" {
        return Vec::new();
    }
    let mut problems = check_comments(path, &layers.comments);
    let (is_test_file, tests) = (sources::is_test_file(path), sources::test_lines(&layers.code));
    for (index, line) in layers.code.lines().enumerate() {
        let retired = if is_test_file || tests[index] { retired_in_tests } else { retired };
        problems.extend(check_names(path, index + 1, line, retired));
    }
    problems
}

fn check_comments(path: &str, comments: &str) -> Vec<Problem> {
    let of = |(index, line): (usize, &str)| {
        let line = line.to_lowercase();
        let found = IN_COMMENTS.iter().filter(|(phrase, _)| has_word(&line, phrase));
        let problem = |(phrase, instead): &(&str, &str)| {
            Problem::new(path, index + 1, "words", format!("\"{phrase}\" in a comment: {instead}"))
        };
        found.map(problem).collect::<Vec<_>>()
    };
    comments.lines().enumerate().flat_map(of).collect()
}

fn check_names(
    path: &str,
    number: usize,
    line: &str,
    retired: fn(&str) -> Option<&'static str>,
) -> Vec<Problem> {
    let problem = |name: &str| {
        let instead = retired(name)?;
        Some(Problem::new(path, number, "words", format!("\"{name}\" as a name: {instead}")))
    };
    declared(line).into_iter().filter_map(problem).collect()
}

/// The names that a line of code declares.
fn declared(line: &str) -> Vec<&str> {
    let mut words = line
        .split(|char: char| !(char.is_alphanumeric() || char == '_'))
        .filter(|word| !word.is_empty());
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        if KEYWORDS.contains(&word) {
            // In `const fn name`, `fn` declares the name.
            names.extend(words.clone().find(|next| *next != "mut").filter(|next| *next != "fn"));
        }
    }
    names
}

/// The words to use instead of a retired name, outside of tests.
fn retired(name: &str) -> Option<&'static str> {
    let parts = parts(name);
    let as_part = IN_NAMES.iter().find(|(word, _)| parts.iter().any(|part| part == word));
    let whole = || AS_NAMES.iter().find(|(word, _)| *word == name);
    as_part.or_else(whole).map(|(_, instead)| *instead)
}

/// The same in tests.
fn retired_in_tests(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    IN_NAMES.iter().find(|(word, _)| *word == name).map(|(_, instead)| *instead)
}

/// The words of a name, in lower case: `tell`, `ended` of `tell_ended` and of `TellEnded`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for char in name.chars() {
        if char == '_' || (char.is_uppercase() && before.is_lowercase()) {
            parts.push(String::new());
        }
        if char != '_' {
            parts.last_mut().expect("there is one").extend(char.to_lowercase());
        }
        before = char;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expect: &[usize]) {
        let problems = check(path, text);
        let found: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(found, expect, "{text}: {problems:?}");
    }

    const PATH: &str = "crates/wire/src/a.rs";

    #[test]
    fn names_have_no_retired_word() {
        check_text(
            PATH,
            "fn tell_ended() {}\nstruct Told;\nconst RUNS_TOLD: u8 = 1;\n",
            &[1, 2, 3],
        );
        check_text(PATH, "pub(crate) enum Kept {\n    Held,\n}\nfn kept() {}\n", &[1]);
        check_text(PATH, "pub const fn said() {}\nstatic mut HEARD: u8 = 0;\n", &[1, 2]);
        check_text(PATH, "fn kept_alive() {}\nstruct Keeper { told: u8 }\nlet told = a;\n", &[]);
        check_text(PATH, "fn teller() {}\nstruct Hearing;\nfn essay() {}\n", &[]);
        check_text(PATH, "let a = \"fn told() {}\";\n", &[]);
    }

    #[test]
    fn tests_may_have_sentences_for_names() {
        const TESTS: &str = "crates/wire/tests/a.rs";
        check_text(TESTS, "fn a_reset_is_told() {}\nstruct Found;\n", &[]);
        check_text(TESTS, "fn told() {}\nstruct Heard;\n", &[1, 2]);
        let module = "#[cfg(test)]\nmod tests {\n    fn an_end_is_told() {}\n    fn told() {}\n}\n";
        check_text(PATH, module, &[4]);
    }

    #[test]
    fn comments_have_no_retired_phrase() {
        check_text(PATH, "//! What nobody told.\nfn a() {} // Lines of no sense.\n", &[1, 1, 2]);
        check_text(PATH, "//! Storytellers, untold.\nlet a = \"// told\";\n", &[]);
        check_text("crates/wire/tests/a.rs", "// It is told.\n", &[1]);
    }
}
