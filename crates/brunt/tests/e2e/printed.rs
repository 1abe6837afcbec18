//! The commands that README.md and the guides print are run as printed by `tests/printed/run.py`, which says what it changes: ports
//! and lengths. What it does not run is listed in `tests/printed/not-run.txt` with its reason.

use std::path::Path;
use std::process::{Command, Stdio};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/printed");

/// What the runner says of these documents; none of them: of all.
fn printed(documents: &[&str]) -> (bool, String) {
    let mut command = Command::new("timeout");
    command.arg("900").arg(format!("{TESTS}/run.py"));
    command.arg(Path::new(TESTS).join("../../../.."));
    command.arg(env!("CARGO_BIN_EXE_brunt")).args(documents);
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let output = command.output().expect("python3 is installed: apt-get install python3");
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&words).into_owned())
}

#[test]
fn every_command_works_as_it_is_printed() {
    // The other guides take minutes: `run.py` without names tries them all.
    let documents = ["README.md", "docs/guide/tour.md", "docs/guide/rails.md"];
    let (works, words) = printed(&documents);
    let has = |document: &&str| words.contains(&format!("PASS {document}\n"));
    assert!(works && documents.iter().all(has), "{words}");
}

/// Every page of docs/ is in its SUMMARY.md, no link is dead, and every variable that the code reads is on the sheet of them.
#[test]
fn the_pages_are_whole() {
    let mut command = Command::new("python3");
    command.arg("-B").arg(format!("{TESTS}/pages.py")).arg(Path::new(TESTS).join("../../../.."));
    let output = command.stdin(Stdio::null()).output().expect("python3 is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The runner itself: a command that fails, and one that no list names, are found.
#[test]
fn a_command_that_does_not_work_is_found() {
    for (document, what) in
        [("printed/wrong.md", "ends with 2"), ("printed/unlisted.md", "not run")]
    {
        let document = format!("crates/brunt/tests/{document}");
        let (works, words) = printed(&[&document]);
        assert!(!works && words.contains(what), "{words}");
    }
}
