//! Hostile servers: bounded memory and time, and every hit a counted failure.

use std::process::{Command, Stdio};

use demo::Config;

use crate::{Scratch, server, start};

/// Ten hits on one fault, in 2 GiB of address space.
fn ten_hits(path: &str) -> serde_json::Value {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new(&format!("hostile{}", path.replace(['/', '?', '='], "-")));
    let targets = scratch.file("targets", format!("GET {url}{path}\n"));
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 2097152; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_brunt")]);
    command.args([
        "attack",
        "-targets",
        &targets,
        "-rate=20",
        "-duration=500ms",
        "-timeout=1s",
        "-json",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait().with_code(0).json()
}

#[test]
fn every_fault_is_a_counted_failure() {
    for path in [
        "/reset",
        "/truncate",
        "/garbage",
        "/huge-headers",
        "/endless",
        "/bomb",
        "/drip",
        "/close",
        "/hang",
    ] {
        let json = ten_hits(path);
        let count = |name: &str| json["brunt"]["generator"][name].as_u64().unwrap();
        // Unpacking is work: a slow machine may be late for the last hits, and says so.
        assert_eq!(count("planned"), 10, "{path}: {json}");
        assert!(count("sent") >= 5 && count("sent") + count("not_sent") == 10, "{path}: {json}");
        assert_eq!(json["requests"], count("sent"), "{path}: {json}");
        assert_eq!(json["status_codes"]["0"], count("sent"), "{path}: {json}");
        assert_eq!(json["success"], 0.0, "{path}");
        assert!(!json["errors"].as_array().unwrap().is_empty(), "{path}");
    }
}

#[test]
fn what_is_odd_but_right_succeeds() {
    for path in [
        "/gzip",
        "/br",
        "/zstd",
        "/deflate",
        "/chunked",
        "/trailers",
        "/eof",
        "/1xx",
        "/redirect/3",
    ] {
        let json = ten_hits(path);
        assert_eq!(json["status_codes"]["200"], 10, "{path}: {json}");
    }
    let json = ten_hits("/redirect/11");
    assert_eq!(json["status_codes"]["0"], 10, "{json}");
    assert!(json["errors"][0].as_str().unwrap().contains("stopped after 10 redirects"), "{json}");
}
