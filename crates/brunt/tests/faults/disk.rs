//! A disk that is full, or fills; a disk or folder that takes no files; a limit on the size of files. What was written before stays, a
//! document has its name only when it is whole, and no load is offered where its results could not be written.

use crate::Ran;
use crate::case::{Case, run_all};
use crate::stage::{Stage, no_bug};

/// What is written: the command, where `disk` is the disk.
#[derive(Clone, Copy)]
struct Row {
    name: &'static str,
    line: &'static str,
    code: i32,
    /// Results are cut off, and read all the same.
    results: Option<&'static str>,
}

const fn row(name: &'static str, line: &'static str, results: Option<&'static str>) -> Row {
    Row { name, line, code: 1, results }
}

/// Long enough to fill a small disk.
#[rustfmt::skip]
const LOADS: &[Row] = &[
    row("attack arrow", "attack -targets=targets -rate=1500 -duration=10s -output=disk/o.arrow", Some("o.arrow")),
    row("attack csv", "attack -targets=targets -rate=1500 -duration=10s -to=csv -output=disk/o.csv", Some("o.csv")),
    row("attack json", "attack -targets=targets -rate=1500 -duration=10s -to=json -output=disk/o.json", Some("o.json")),
    row("attack gob", "attack -targets=targets -rate=1500 -duration=10s -to=gob -output=disk/o.gob", Some("o.gob")),
    row("attack parquet", "attack -targets=targets -rate=4000 -duration=3s -to=parquet -output=disk/o.parquet", None),
    row("bench", "bench -c 160 -d 10s -output=disk/o.arrow {url}/", Some("o.arrow")),
    row("run", "run -u 160 -d 10s -o disk/o.arrow script.js", Some("o.arrow")),
    row("run json", "run -u 40 -d 3s -o json=disk/o.json script.js", None),
    row("cable", "cable echo {ws}/cable -channel EchoChannel -perform 'echo:{\"x\":\"{token}\"}' -users 20 -rate 2000 -d 10s -o disk/o.arrow", Some("o.arrow")),
    row("vegeta attack", "vegeta attack -targets=targets -rate=1500 -duration=10s -output=disk/o.gob", Some("o.gob")),
];

/// Documents, on a disk where `disk/old` has the last bytes.
#[rustfmt::skip]
const DOCUMENTS: &[Row] = &[
    row("encode", "encode -to=arrow -output=disk/o r.csv", None),
    row("encode parquet", "encode -to=parquet -output=disk/o r.csv", None),
    row("report", "report -type=html -output=disk/old r.csv", None),
    row("plot", "plot -type=svg -output=disk/old r.csv", None),
    row("compare", "compare -type=html -output=disk/old a=r.csv b=r.csv", None),
    row("fit", "fit -output=disk/old -point=1:X=33,mean=30ms -point=4:X=80,mean=50ms -point=16:X=90,mean=180ms -point=32:X=91,mean=350ms", None),
    row("archive", "archive -O disk/old script.js", None),
    Row { name: "new", line: "new disk/o.js", code: 255, results: None },
    row("study new", "study new disk/o.toml", None),
    row("attack", "attack -targets=targets -rate=20 -duration=300ms -output=disk/o.arrow", None),
    row("attack -report", "attack -targets=targets -rate=20 -duration=300ms -output=none -report=disk/old.html", None),
    row("bench", "bench -c 2 -n 10 -output=disk/o.arrow {url}/", None),
    row("bench -save", "bench -c 2 -n 10 -save x -store disk/st {url}/", None),
    row("seek", "seek '-objective=p99<2s' -max-steps=1 -step=500ms -warmup=0s -to=40 -state=disk/o.json {url}/", None),
    row("run", "run -u 2 -i 4 -o disk/o.arrow script.js", None),
    row("watch", "watch -every 100ms -duration 300ms -output=disk/o.arrow", None),
    row("study run", "study run study.toml -out disk/so", None),
    row("fleet up", "fleet up -dir disk/fl -listen 127.0.0.1:0", None),
];

/// Runs a line where `disk` is a file system of its own, mounted so; what is on it is copied to `copy`.
fn on_disk(stage: &Stage, options: &str, before: &str, line: &str) -> Ran {
    let script = format!(
        "mkdir -p disk copy && mount -t tmpfs -o {options} none disk && {{ {before}; }} && \
         {{ $BRUNT {line}; code=$?; cp -r disk/. copy/; exit $code; }}"
    );
    let mut command = stage.shell_command(&script);
    let script = text_of(&command);
    // A user without rights may mount in namespaces of their own, where the system lets them.
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["-rm", "bash", "-c", &script]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => unshare.env(name, value),
            None => unshare.env_remove(name),
        };
    }
    unshare.current_dir(&stage.scratch.0);
    unshare.stdin(std::process::Stdio::null());
    unshare.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command = unshare;
    let ran = crate::start_within(command, crate::stage::BOUND).wait();
    let refused = ran.stderr.contains("unshare: ") || ran.stderr.contains("mount: ");
    assert!(
        !refused,
        "namespaces are needed: sysctl kernel.unprivileged_userns_clone=1, or root: {ran:#?}"
    );
    ran
}

/// The script of a shell's command.
fn text_of(command: &std::process::Command) -> String {
    command.get_args().nth(1).unwrap().to_str().unwrap().to_owned()
}

/// The code, and the reason in the last line of standard error.
#[track_caller]
fn failed(ran: &Ran, code: i32, reason: &str) {
    no_bug(ran);
    assert_eq!(ran.code, Some(code), "{ran:#?}");
    let lines = ran.stderr.lines().filter(|line| line.to_lowercase().contains(reason)).count();
    assert_eq!(lines, 1, "one line with {reason:?}: {ran:#?}");
}

#[test]
fn a_disk_that_fills_keeps_what_was_written() {
    let case = |row: &'static Row| {
        Case::new(row.name, move || {
            let stage = Stage::new(&format!("disk-fills-{}", row.name));
            let ran = on_disk(&stage, "size=300k", "true", row.line);
            failed(&ran, row.code, "no space left on");
            if let Some(file) = row.results {
                let json = stage.report(&format!("copy/{file}")).with_code(0).json();
                assert!(json["requests"].as_u64().unwrap() > 100, "{json}");
                // Formats without an end mark do not show that they are cut off; their last row does, unless it is whole.
                if file.ends_with("arrow") {
                    assert_eq!(json["brunt"]["verdict"], "INVALID", "{json}");
                }
            }
        })
    };
    run_all("a disk that fills", LOADS.iter().map(case).collect());
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let case = |row: &'static Row| {
        Case::new(row.name, move || {
            let stage = Stage::new(&format!("disk-full-{}", row.name));
            let fill = "echo precious > disk/old; cp disk/old disk/old.html; cat /dev/zero > disk/fill 2> /dev/null; true";
            let ran = on_disk(&stage, "size=64k", fill, row.line);
            failed(&ran, row.code, "no space left on");
            for old in ["copy/old", "copy/old.html"] {
                let old = std::fs::read_to_string(stage.scratch.path(old)).unwrap();
                assert_eq!(old, "precious\n", "{ran:#?}");
            }
        })
    };
    run_all("a full disk", DOCUMENTS.iter().map(case).collect());
}

#[test]
fn a_disk_that_takes_no_files_costs_no_load() {
    let case = |row: &'static Row| {
        Case::new(row.name, move || {
            let stage = Stage::new(&format!("disk-read-only-{}", row.name));
            let ran = on_disk(&stage, "ro", "true", row.line);
            // k6's number for an output that cannot be opened.
            let code = if row.name == "run json" { 255 } else { row.code };
            failed(&ran, code, "read-only file system");
            assert_eq!(stage.server.stats().requests, 0, "it is known before the load: {ran:#?}");
        })
    };
    run_all("a read-only disk", LOADS.iter().chain(DOCUMENTS).map(case).collect());
}

/// A limit on the size of files ends other programs by SIGXFSZ, and what they had in memory is lost.
#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    let case = |row: &'static Row| {
        Case::new(row.name, move || {
            let stage = Stage::new(&format!("disk-limit-{}", row.name));
            let line = row.line.replace("disk/", "");
            let ran = stage.shell(&format!("ulimit -f 300; exec $BRUNT {line}"));
            failed(&ran, row.code, "file too large");
            if let Some(file) = row.results {
                let json = stage.report(file).with_code(0).json();
                assert!(json["requests"].as_u64().unwrap() > 100, "{json}");
            }
        })
    };
    run_all("a limit on the size of files", LOADS.iter().map(case).collect());
}
