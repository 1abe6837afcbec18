//! The conformance scripts of `tests/k6conf`: each is run by us and compared with what the real k6 did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Scripts that do not pass, each with the reason, one a line: `name: reason`.
const KNOWN: &str = include_str!("../k6conf/known.txt");

/// All of them. One that fails and is not known fails the test; so does one that is known and passes.
#[test]
fn scripts_do_what_k6_does() {
    let text = harness(Duration::from_secs(900));
    let (mut passed, mut failed) = (Vec::new(), BTreeMap::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("PASS ") {
            passed.push(name.split_whitespace().next().unwrap_or_default().to_owned());
        } else if let Some(rest) = line.strip_prefix("FAIL ") {
            let (name, why) = rest.split_once(':').unwrap_or((rest, ""));
            failed.insert(name.trim().to_owned(), why.trim().to_owned());
        }
    }
    assert!(passed.len() + failed.len() >= 99, "the harness ended early:\n{text}");
    let known: Vec<&str> =
        KNOWN.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
    let new: Vec<_> = failed.iter().filter(|(name, _)| !known.contains(&name.as_str())).collect();
    assert!(new.is_empty(), "they fail: {new:#?}");
    let mended: Vec<_> = passed.iter().filter(|name| known.contains(&name.as_str())).collect();
    assert!(mended.is_empty(), "they pass now; take them out of known.txt: {mended:?}");
}

/// What the harness prints.
fn harness(limit: Duration) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/k6conf");
    let build = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("k6conf");
    std::fs::create_dir_all(&build).expect("a folder for the server");
    let output = Command::new("timeout")
        .arg(limit.as_secs().to_string())
        .arg(folder.join("run.py"))
        .args(["--golden", "golden"])
        .current_dir(&folder)
        .env("CANDIDATE", concat!(env!("CARGO_BIN_EXE_brunt"), " run"))
        .env("CANDIDATE_CABLE", concat!(env!("CARGO_BIN_EXE_brunt"), " run"))
        .env("K6CONF_BUILD", &build)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("python3 is installed: apt-get install python3");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(" passed, "), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
