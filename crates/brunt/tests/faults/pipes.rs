//! Standard output and standard error that are closed, full, or whose reader goes away.

use crate::Ran;
use crate::case::{Case, run_all};
use crate::commands::{QUICK, Quick};
use crate::stage::{Stage, no_bug};

/// Commands whose results, not a report, go to standard output: they fail when these cannot be written.
const RESULTS: [&str; 2] = ["attack", "vegeta attack"];

/// Runs a command with this behind it, in the shell.
fn with(fault: &str, row: &Quick, before: &str, redirection: &str) -> Ran {
    let stage = Stage::new(&format!("{fault}-{}", row.name));
    if row.name.starts_with("runs") {
        stage.run("bench -c 1 -n 2 -q -save x -store st -output=none {url}/").with_code(0);
    }
    stage.shell(&format!("set -o pipefail; {before} $BRUNT {} {redirection}", row.line))
}

fn each(fault: &'static str, check: fn(&Quick)) {
    run_all(fault, QUICK.iter().map(|row| Case::new(row.name, move || check(row))).collect());
}

#[test]
fn without_a_fault_every_command_ends_as_its_row_says() {
    each("no fault", |row| {
        let ran = with("none", row, "", "");
        no_bug(&ran);
        assert!(row.is_usual(ran.code), "{ran:#?}");
        assert!(!ran.stdout.is_empty(), "it prints: {ran:#?}");
    });
}

#[test]
fn a_full_standard_output_is_an_error_with_a_line() {
    each("standard output is full", |row| {
        let ran = with("full", row, "", "> /dev/full");
        no_bug(&ran);
        assert!(ran.code.is_some_and(|code| code != 0 && code < 128), "{ran:#?}");
        assert!(ran.stderr.to_lowercase().contains("no space left on"), "{ran:#?}");
    });
}

#[test]
fn a_closed_standard_output_is_an_error_with_a_line() {
    each("standard output is closed", |row| {
        let ran = with("closed", row, "", ">&-");
        no_bug(&ran);
        assert!(ran.code.is_some_and(|code| code != 0 && code < 128), "{ran:#?}");
        assert!(ran.stderr.contains("standard output is closed"), "{ran:#?}");
    });
}

#[test]
fn a_reader_that_goes_away_is_no_error_but_for_results() {
    each("the reader goes away", |row| {
        // It is gone before the first byte: `true` has ended when the command begins.
        let ran = with("reader", row, "", "> >(exec true)");
        no_bug(&ran);
        let is_lost = RESULTS.contains(&row.name) && ran.code == Some(1);
        assert!(is_lost || row.is_usual(ran.code), "{ran:#?}");
    });
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    each("standard error is closed", |row| {
        let ran = with("error", row, "", "2>&-");
        assert!(row.is_usual(ran.code), "{ran:#?}");
        let ran = with("error-full", row, "", "2> /dev/full");
        assert!(row.is_usual(ran.code), "{ran:#?}");
    });
}
