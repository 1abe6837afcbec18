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
    let (works, words) = printed(&[]);
    assert!(works && words.contains("PASS README.md") && words.contains("PASS docs/guide/tour.md"), "{words}");
}

/// The runner itself: a command that fails, and one that no list names, are found.
#[test]
fn a_command_that_does_not_work_is_found() {
    for (document, what) in [("printed/wrong.md", "ends with 2"), ("printed/unlisted.md", "not run")] {
        let document = format!("crates/brunt/tests/{document}");
        let (works, words) = printed(&[&document]);
        assert!(!works && words.contains(what), "{words}");
    }
}
