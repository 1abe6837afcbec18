//! Outputs: each has one writer, none replaces what its command reads, and a kill costs none of them a second.

use std::fs;
use std::process::Command;

use demo::Config;

use crate::{Scratch, brunt, run, server, signal, start, text, until};

#[test]
fn no_output_replaces_what_the_command_reads() {
    let scratch = Scratch::new("spared");
    let (_server, url) = server(Config::default());
    let targets = scratch.file("targets.html", format!("GET {url}/\n"));
    // With endings that results and reports may have.
    let rows = scratch.file("targets.csv", format!("GET {url}/\n"));
    let body = scratch.file("body.json", "{}");
    let source = format!(
        "import http from 'k6/http'; export const options = {{ iterations: 1 }};
        export default () => http.get('{url}/');"
    );
    let script = scratch.file("script.js", &source);
    let read = format!("-targets={targets} -body={body}");
    for (words, code, flag) in [
        (format!("attack -targets={rows} -duration=1s -output={rows}"), 2, "flag -output"),
        (format!("attack {read} -duration=1s -output={body}"), 2, "flag -output"),
        (format!("attack {read} -duration=1s -report={targets}"), 2, "flag -report"),
        (format!("bench {read} -n 1 -report={body}"), 2, "flag -report"),
        (format!("seek {read} -objective=p99<1s -report={targets}"), 2, "flag -report"),
        (format!("run -o json={script} {script}"), 255, "flag --out"),
        (format!("run -o csv=fileName={script} {script}"), 255, "flag --out"),
        (format!("run --summary-export={script} {script}"), 2, "flag --summary-export"),
    ] {
        let ran = run(&words).with_code(code);
        ran.complains_once(&[flag, "would overwrite the input"]);
    }
    for kept in [&targets, &rows] {
        assert_eq!(fs::read_to_string(kept).unwrap(), format!("GET {url}/\n"));
    }
    assert_eq!(fs::read_to_string(&body).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&script).unwrap(), source);
}

#[test]
fn samples_have_one_writer_and_a_kill_costs_less_than_a_second() {
    let scratch = Scratch::new("samples");
    let (server, url) = server(Config::default());
    let source = format!(
        "import http from 'k6/http';
        export const options = {{ scenarios: {{ s: {{
            executor: 'constant-arrival-rate', rate: 4, duration: '1m', preAllocatedVUs: 2 }} }} }};
        export default () => http.get('{url}/');"
    );
    let script = scratch.file("script.js", &source);
    let places = ["json=s.json", "csv=s.csv", "json=s.json.gz"].map(|place| {
        let (kind, name) = place.split_once('=').unwrap();
        format!("{kind}={}", text(&scratch.path(name)))
    });
    let words = places.each_ref().map(|place| format!("-o {place}")).join(" ");
    let first = start(brunt(&format!("run -q {words} {script}")));
    until("some seconds' worth", || server.stats().answers >= 8);
    for place in &places {
        let ran = run(&format!("run -q -o {place} {script}")).with_code(255);
        assert!(ran.stderr.contains("it is being written to already"), "{ran:?}");
    }
    let seen = server.stats().answers;
    until("another second's worth", || server.stats().answers >= seen + 6);
    signal("KILL", first.pid());
    first.wait();
    let json = fs::read_to_string(scratch.path("s.json")).unwrap();
    let csv = fs::read_to_string(scratch.path("s.csv")).unwrap();
    // Its end is missing, which gzip says after what is there.
    let unpacked = Command::new("gzip").arg("-dc").arg(scratch.path("s.json.gz")).output().unwrap();
    let unpacked = String::from_utf8_lossy(&unpacked.stdout).into_owned();
    for (name, text, mark) in [
        ("json", &json, "\"metric\":\"http_reqs\",\"type\":\"Point\""),
        ("csv", &csv, "http_reqs,"),
        ("gzip", &unpacked, "\"metric\":\"http_reqs\",\"type\":\"Point\""),
    ] {
        let kept = text.lines().filter(|line| line.contains(mark)).count() as u64;
        assert!(kept >= seen, "{name}: {kept} of {seen} and a second's more");
    }
}

/// A compressed file ended in a panic of the thread that wrote it.
#[test]
fn compressed_samples_end_with_the_run() {
    let scratch = Scratch::new("samples-gz");
    let script =
        scratch.file("s.js", "export const options = { iterations: 3 }; export default () => {};");
    let place = text(&scratch.path("s.json.gz"));
    run(&format!("run -q -o json={place} {script}")).with_code(0);
    let unpacked = Command::new("gzip").arg("-dc").arg(&place).output().unwrap();
    assert!(unpacked.status.success(), "{unpacked:?}");
    let lines = String::from_utf8_lossy(&unpacked.stdout);
    let iterations = "\"metric\":\"iterations\",\"type\":\"Point\"";
    assert_eq!(lines.matches(iterations).count(), 3, "{lines}");
}

/// A named pipe was opened to be read, and waited for a writer for ever.
#[test]
fn a_report_goes_into_a_named_pipe() {
    let scratch = Scratch::new("report-pipe");
    let row = "1600000000000000000,200,1000000,0,10,,,x,0,GET,http://h/,\n";
    let results = scratch.file("r.csv", row);
    let pipe = text(&scratch.path("pipe"));
    nix::unistd::mkfifo(pipe.as_str(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let report = start(brunt(&format!("report -output={pipe} {results}")));
    assert!(fs::read_to_string(&pipe).unwrap().contains("Requests"));
    report.wait().with_code(0);
}
