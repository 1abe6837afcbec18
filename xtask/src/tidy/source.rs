//! Rules about one source file: how it opens, how long it is, what it is called, and what must not stand in it.

use crate::sources::{self, Layers, has_word};

use super::problem::Problem;

/// A file's lines, without those compiled for tests alone.
const LINES_MAX: usize = 500;

/// Names that say nothing about what is inside.
const BANNED_NAMES: [&str; 9] =
    ["core", "common", "util", "utils", "helper", "helpers", "misc", "manager", "data2"];

/// Code that must not be in the tree, and why.
const BANNED_CODE: [(&str, &str); 6] = [
    ("todo!", "no stub is called done"),
    ("unimplemented!", "no stub is called done"),
    ("dbg!", "left over from debugging"),
    ("#[ignore", "a test that does not run is no test"),
    ("#[should_panic", "assert on a result instead"),
    ("unbounded", "every queue has a named limit"),
];

/// `std::sync::mpsc::channel` has no limit; `sync_channel` has.
const UNBOUNDED_CHANNEL: &str = "mpsc::channel";

/// Places whose files may hold `unsafe`: the system's calls, QuickJS's interface, and what it and the coroutines leave to us.
const UNSAFE_PLACES: [&str; 3] =
    ["crates/net/", "crates/script/src/runtime/ffi.rs", "crates/quickjs/src/"];

/// Places that may derive serde's traits: where a format is the crate's business.
const SERDE_PLACES: [&str; 20] = [
    // What travels between the machines of a fleet: plans, settings and metrics, in one program's own version.
    "crates/remote/src/",
    "crates/metrics/src/tally/",
    "crates/metrics/src/histogram.rs",
    "crates/cable/src/",
    "crates/wire/src/cable/codec.rs",
    "crates/k6/src/fleet/",
    "crates/stdx/src/distribution.rs",
    "crates/wire/src/h1/",
    "crates/wire/src/tls/client.rs",
    "crates/workload/src/",
    "crates/engine/src/settings.rs",
    "crates/engine/src/host_policy.rs",
    "crates/stdx/src/time.rs",
    "crates/control/src/",
    "crates/fleet/src/",
    "crates/results/src/",
    "crates/report/src/json",
    // The manifest of a run in the store.
    "crates/store/src/manifest.rs",
    "crates/store/src/facts.rs",
    "crates/brunt/src/config",
];

/// The problems of one file.
pub(super) fn check(path: &str, text: &str) -> Vec<Problem> {
    let layers = sources::split(text);
    let mut problems = Vec::new();
    check_opening(path, text, &mut problems);
    check_name(path, &mut problems);
    check_length(path, &layers, &mut problems);
    check_code(path, &layers.code, &mut problems);
    check_notes(path, &layers.comments, &mut problems);
    problems
}

fn check_opening(path: &str, text: &str, problems: &mut Vec<Problem>) {
    if !text.starts_with("//! ") {
        let text = "must open with //!: what it is, what it refuses to do";
        problems.push(Problem::new(path, 1, "opening", text));
    }
}

fn check_name(path: &str, problems: &mut Vec<Problem>) {
    let parts = path.split('/').map(|part| part.trim_end_matches(".rs"));
    for part in parts.filter(|part| BANNED_NAMES.contains(part)) {
        problems.push(Problem::new(path, 0, "name", format!("\"{part}\" says nothing")));
    }
}

fn check_length(path: &str, layers: &Layers, problems: &mut Vec<Problem>) {
    if sources::is_test_file(path) {
        return;
    }
    let lines = sources::test_lines(&layers.code).iter().filter(|test| !**test).count();
    if lines > LINES_MAX {
        let text = format!("{lines} lines without tests; the limit is {LINES_MAX}");
        problems.push(Problem::new(path, 0, "length", text));
    }
}

fn check_code(path: &str, code: &str, problems: &mut Vec<Problem>) {
    let mut add = |line, rule, text: String| problems.push(Problem::new(path, line, rule, text));
    for (index, line) in code.lines().enumerate() {
        for (banned, why) in BANNED_CODE {
            // A sign at the begin needs no word boundary there.
            let found = if banned.starts_with('#') {
                line.contains(banned)
            } else {
                has_word(line, banned)
            };
            if found {
                add(index + 1, "banned", format!("{banned}: {why}"));
            }
        }
        if has_word(line, UNBOUNDED_CHANNEL) {
            let text = format!("{UNBOUNDED_CHANNEL} has no limit; use sync_channel");
            add(index + 1, "banned", text);
        }
        if has_word(line, "unsafe") && !UNSAFE_PLACES.iter().any(|dir| path.starts_with(dir)) {
            add(
                index + 1,
                "unsafe",
                "only net, quickjs and script's ffi.rs hold unsafe code".to_owned(),
            );
        }
        let derives = line.contains("derive(")
            && (has_word(line, "Serialize") || has_word(line, "Deserialize"));
        if derives && !SERDE_PLACES.iter().any(|place| path.starts_with(place)) {
            add(index + 1, "serde", "serde is derived where a format lives".to_owned());
        }
        let mut words = line.split_whitespace().skip_while(|word| *word != "mod").skip(1);
        let name = words.next().map(|word| word.trim_end_matches([';', '{', '}']));
        if let Some(name) = name.filter(|name| BANNED_NAMES.contains(name)) {
            add(index + 1, "name", format!("\"{name}\" says nothing"));
        }
    }
}

fn check_notes(path: &str, comments: &str, problems: &mut Vec<Problem>) {
    for (index, line) in comments.lines().enumerate() {
        for word in ["FIXME", "XXX", "HACK"].into_iter().filter(|word| has_word(line, word)) {
            let text = format!("{word}: mend it, or write TODO(#issue): instead");
            problems.push(Problem::new(path, index + 1, "todo", text));
        }
        if has_word(line, "TODO") && !has_issue(line) {
            problems.push(Problem::new(path, index + 1, "todo", "needs its issue: TODO(#12): …"));
        }
    }
}

/// Whether the line's first note says its issue: `(#number):`.
fn has_issue(line: &str) -> bool {
    let rest = line.split("TODO(#").nth(1).unwrap_or_default();
    let (number, after) = rest.split_at(rest.find(')').unwrap_or(0));
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && after.starts_with("):")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str, expect: &[(usize, &str)]) {
        let problems = check(path, text);
        let found: Vec<_> = problems.iter().map(|problem| (problem.line, problem.rule)).collect();
        assert_eq!(found, expect, "{text}");
    }

    const PATH: &str = "crates/wire/src/a.rs";

    #[test]
    fn files_open_with_what_they_are() {
        check_text(PATH, "//! A thing.\nfn a() {}\n", &[]);
        check_text(PATH, "fn a() {}\n", &[(1, "opening")]);
        check_text(PATH, "", &[(1, "opening")]);
    }

    #[test]
    fn names_say_something() {
        check_text("crates/wire/src/util.rs", "//! A.\n", &[(0, "name")]);
        check_text("crates/wire/src/misc/a.rs", "//! A.\n", &[(0, "name")]);
        check_text(PATH, "//! A.\npub mod helpers {}\nmod common;\n", &[(2, "name"), (3, "name")]);
        check_text(PATH, "//! A.\nmod commons;\n", &[]);
    }

    #[test]
    fn length_counts_no_tests() {
        let long = format!("//! A.\n{}", "fn a() {}\n".repeat(500));
        check_text(PATH, &long, &[(0, "length")]);
        check_text("crates/wire/tests/a.rs", &long, &[]);
        let tests = "  fn a() {}\n".repeat(2000);
        check_text(PATH, &format!("//! A.\n#[cfg(test)]\nmod tests {{\n{tests}}}\n"), &[]);
    }

    #[test]
    fn banned_code_is_found_in_code_alone() {
        check_text(PATH, "//! todo!() dbg!\nfn a() { todo!() }\n", &[(2, "banned")]);
        check_text(PATH, "//! A.\nlet a = \"dbg!(1) unsafe\";\n", &[]);
        check_text(PATH, "//! A.\n#[ignore]\nfn a() {}\n", &[(2, "banned")]);
        check_text(PATH, "//! A.\nmpsc::channel();\nmpsc::sync_channel(1);\n", &[(2, "banned")]);
        check_text(PATH, "//! A.\nlet a = unsafe { b() };\n", &[(2, "unsafe")]);
        check_text("crates/net/src/a.rs", "//! A.\nlet a = unsafe { b() };\n", &[]);
        check_text(PATH, "//! A.\n#![forbid(unsafe_code)]\n", &[]);
    }

    #[test]
    fn serde_has_its_places() {
        let text = "//! A.\n#[derive(Debug, Serialize)]\nstruct A;\n";
        check_text(PATH, text, &[(2, "serde")]);
        check_text("crates/results/src/json.rs", text, &[]);
    }

    #[test]
    fn a_note_to_do_names_its_issue() {
        check_text(PATH, "//! A.\n// TODO: later\n", &[(2, "todo")]);
        check_text(PATH, "//! A.\n// TODO(#12): later\n", &[]);
        check_text(PATH, "//! A.\n// TODO(#x): later\n", &[(2, "todo")]);
        check_text(PATH, "//! A.\n// FIXME(#1): later\n", &[(2, "todo")]);
    }
}
