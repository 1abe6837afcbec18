//! Everything in `examples/`, run as its README says, against servers on free ports.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Scratch, Started, brunt, first_line, free_port, start, text};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A `brunt serve` on a free port, and its URL without the last slash.
fn serve(flags: &str) -> (Started, String) {
    let mut server = start(brunt(&format!("serve --listen 127.0.0.1:0 {flags}")));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line.strip_prefix("listening on ").unwrap().split(' ').next().unwrap().to_owned();
    (server, url)
}

#[test]
fn the_targets_file_is_attacked() {
    let (_server, url) = serve("");
    let scratch = Scratch::new("example-targets");
    let targets = std::fs::read_to_string(examples().join("targets.txt")).unwrap();
    scratch.file("targets.txt", targets.replace("http://127.0.0.1:8080", &url));
    scratch.file("search.json", std::fs::read(examples().join("search.json")).unwrap());
    let mut command =
        brunt("attack -targets=targets.txt -rate=60 -duration=500ms -output=run.arrow");
    command.current_dir(&scratch.0);
    start(command).wait().with_code(0);
    let results = text(&scratch.path("run.arrow"));
    let json = start(brunt(&format!("report -type=json {results}"))).wait().with_code(0).json();
    assert_eq!(json["status_codes"]["200"], 30);
    assert!(json["bytes_out"]["total"].as_u64().unwrap() > 0, "the body is sent: {json}");
}

#[test]
fn the_scripts_keep_their_thresholds() {
    let (_server, url) = serve("--cable");
    let cable = url.replace("http:", "ws:") + "/cable";
    for (script, length) in [("pages.js", "-u 2 -d 1s"), ("chat.js", "-u 2 -d 1s")] {
        let script = text(&examples().join("scripts").join(script));
        let mut command = brunt(&format!("run {length} -e BASE={url} -e CABLE={cable} {script}"));
        command.current_dir(std::env::temp_dir());
        let ran = start(command).wait().with_code(0);
        assert!(ran.stdout.contains("checks_succeeded...: 100.00%"), "{script}: {}", ran.stdout);
    }
}

#[test]
fn the_script_with_arrivals_has_its_schedule() {
    let script = text(&examples().join("scripts/arrivals.js"));
    let ran = start(brunt(&format!("inspect --execution-requirements {script}"))).wait();
    let json = ran.with_code(0).json();
    assert_eq!((&json["maxVUs"], &json["totalDuration"]), (&200.into(), &"2m10s".into()), "{json}");
}

#[test]
fn the_study_is_run() {
    let scratch = Scratch::new("example-study");
    let ports = [("18531", free_port()), ("18532", free_port())];
    for name in ["study.toml", "unlimited.txt", "ten.txt"] {
        let mut content = std::fs::read_to_string(examples().join("study").join(name)).unwrap();
        for (from, to) in &ports {
            content = content.replace(from, &to.to_string());
        }
        scratch.file(name, content);
    }
    let mut command = brunt("study run study.toml -quick -out trial");
    command.current_dir(&scratch.0);
    start(command).wait().with_code(0);
    let study = std::fs::read_to_string(scratch.path("trial/study.json")).unwrap();
    let study: serde_json::Value = serde_json::from_str(&study).unwrap();
    let workloads = study["workloads"].as_array().unwrap();
    let judged = workloads.iter().filter_map(|one| one["orderings"].as_array()).flatten();
    let judged: Vec<&str> = judged.filter_map(|one| one["expected"].as_str()).collect();
    assert_eq!(judged, ["ten < unlimited: latency.p99", "ten > unlimited: errors"], "{study}");
    assert!(scratch.path("trial/report.html").is_file());
}

/// The change is fifty times slower than the main branch, and the last line of the script says so with its code.
#[test]
fn the_load_test_of_a_pull_request_finds_a_slower_change() {
    let (_main, main) = serve("--service fixed:1ms");
    let (_change, change) = serve("--service fixed:50ms");
    let scratch = Scratch::new("example-ci");
    let own = Path::new(env!("CARGO_BIN_EXE_brunt")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(examples().join("ci/load-test.sh"));
    command
        .current_dir(&scratch.0)
        .env("PATH", format!("{}:{path}", own.display()))
        .env("MAIN_URL", format!("{main}/"))
        .env("CHANGE_URL", format!("{change}/"))
        .env("LENGTH", "1s")
        .env("GITHUB_STEP_SUMMARY", scratch.path("summary.md"))
        .env("GITHUB_ACTIONS", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let ran = start(command).wait().with_code(7);
    assert!(ran.stdout.contains("p99") && ran.stdout.contains("worse"), "{}", ran.stdout);
    assert!(scratch.path("results/compare.html").is_file());
    let summary = std::fs::read_to_string(scratch.path("summary.md")).unwrap();
    assert!(summary.contains("| ") && summary.contains("worse"), "{summary}");
    let annotated = ran.stderr.lines().any(|line| line.starts_with("::error title=comparison::"));
    assert!(annotated, "{}", ran.stderr);
    let metrics = std::fs::read_to_string(scratch.path("results/metrics.txt")).unwrap();
    assert!(metrics.contains("brunt_gate_passed{gate=\"p99>2s\"} 1"), "{metrics}");
    let junit = std::fs::read_to_string(scratch.path("results/smoke.xml")).unwrap();
    assert!(junit.contains(r#"name="gate errors&gt;0.1%">"#), "{junit}");
    assert!(scratch.path("results/smoke.html").is_file());
    let comment = std::fs::read_to_string(scratch.path("results/comment.md")).unwrap();
    assert!(comment.contains("**worse**") && comment.len() < 65_536, "{comment}");
    let limits = std::fs::read_to_string(scratch.path("results/compare.xml")).unwrap();
    assert!(
        limits.contains(r#"tests="2" failures="1""#) && limits.contains("p99&gt;+20%"),
        "{limits}"
    );
    let of_gitlab = std::fs::read(scratch.path("results/load-performance.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&of_gitlab).unwrap();
    let waiting = json["metrics"]["http_req_waiting"]["p(95)"].as_f64().unwrap();
    assert!((50.0..500.0).contains(&waiting), "{json}");
    assert!(json["metrics"]["checks"]["passes"].as_u64().unwrap() > 0, "{json}");
}
