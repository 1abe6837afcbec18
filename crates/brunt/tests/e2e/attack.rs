//! `attack`: how many hits, what is said of failures, signals, wrong input.

use std::process::Stdio;

use crate::process::{Folder, brunt, report, run, server, signal, text, wait_for};

#[test]
fn rate_times_duration_hits_and_the_reports_first_line() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let results = run(&folder, &["attack", "-duration=5s"], format!("GET {url}/\n").as_bytes());
    assert!(results.status.success(), "{}", text(&results.stderr));
    let printed = text(&run(&folder, &["report"], &results.stdout).stdout);
    let first = printed.lines().next().expect("a line");
    assert!(
        first.starts_with("Requests      [total, rate, throughput]         250, 50.20, "),
        "{first}"
    );
    assert!(
        printed.contains("Success       [ratio]                           100.00%\n"),
        "{printed}"
    );
    assert!(printed.contains("250, 250, "), "planned and sent: {printed}");
    let last = printed.lines().last().expect("a line");
    assert!(last == "VALID" || last.starts_with("INVALID: "), "{last}");
}

#[test]
fn a_refused_connection_is_code_0_with_its_text() {
    let folder = Folder::new();
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("its address");
    drop(free);
    let target = format!("GET http://{address}/\n");
    let results = run(&folder, &["attack", "-duration=1s", "-rate=5"], target.as_bytes());
    let printed = text(&run(&folder, &["report"], &results.stdout).stdout);
    assert!(
        printed.contains("Status Codes  [code:count]                      0:5  \n"),
        "{printed}"
    );
    let error = format!(
        "Get \"http://{address}/\": dial tcp 0.0.0.0:0->{address}: connect: connection refused\n"
    );
    assert!(printed.contains(&error), "{printed}");
}

#[test]
fn planned_is_sent_and_not_sent_when_the_rate_cannot_be_reached() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let file = folder.file("over.arrow");
    let output = format!("-output={file}");
    let args = ["attack", "-duration=1s", "-rate=2000000", "-cpus=1", output.as_str()];
    let attack = run(&folder, &args, format!("GET {url}/\n").as_bytes());
    assert!(attack.status.success(), "{}", text(&attack.stderr));
    let brunt = &report(&folder, &file)["brunt"];
    assert_eq!(brunt["verdict"], "INVALID");
    let count = |name: &str| brunt["generator"][name].as_u64().expect("a count");
    assert_eq!(count("planned"), 2_000_000);
    assert_eq!(count("planned"), count("sent") + count("not_sent"));
    assert!(count("not_sent") > 0);
}

#[test]
fn a_stopped_generator_says_so() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let file = folder.file("stopped.arrow");
    let targets = folder.file("targets");
    std::fs::write(&targets, format!("GET {url}/\n")).expect("targets");
    let (output, targets) = (format!("-output={file}"), format!("-targets={targets}"));
    let mut child = brunt(&folder, &["attack", "-duration=3s", &output, &targets])
        .stdin(Stdio::null())
        .spawn()
        .expect("brunt starts");
    wait_for("the first results", || std::fs::metadata(&file).is_ok_and(|m| m.len() > 5_000));
    signal(child.id(), "STOP");
    std::thread::sleep(std::time::Duration::from_millis(300));
    signal(child.id(), "CONT");
    assert!(child.wait().expect("brunt ends").success());
    let brunt = &report(&folder, &file)["brunt"];
    assert_eq!(brunt["verdict"], "INVALID", "{brunt}");
    assert!(brunt["generator"]["stalls"].as_u64().expect("a count") >= 1, "{brunt}");
}

#[test]
fn a_killed_run_keeps_all_but_its_last_second() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let file = folder.file("killed.arrow");
    let targets = folder.file("targets");
    std::fs::write(&targets, format!("GET {url}/\n")).expect("targets");
    let (output, targets) = (format!("-output={file}"), format!("-targets={targets}"));
    let began = std::time::Instant::now();
    let mut child = brunt(&folder, &["attack", "-duration=30s", "-rate=200", &output, &targets])
        .stdin(Stdio::null())
        .spawn()
        .expect("brunt starts");
    std::thread::sleep(std::time::Duration::from_millis(4_500));
    let ran = began.elapsed().as_secs_f64();
    signal(child.id(), "KILL");
    child.wait().expect("brunt ends");
    let report = report(&folder, &file);
    let kept = report["requests"].as_u64().expect("a count") as f64;
    // A second of rows on their way to the writer, and one in the writer's hands.
    assert!(kept >= 200.0 * (ran - 2.2), "{kept} of {}", 200.0 * ran);
    assert_eq!(report["brunt"]["verdict"], "INVALID", "the run was cut off");
}

#[test]
fn an_interrupt_drains_and_reports() {
    let folder = Folder::new();
    let (_server, url) = server("none");
    let file = folder.file("interrupted.arrow");
    let targets = folder.file("targets");
    std::fs::write(&targets, format!("GET {url}/\n")).expect("targets");
    let (output, targets) = (format!("-output={file}"), format!("-targets={targets}"));
    let mut child = brunt(&folder, &["attack", "-duration=60s", &output, &targets])
        .stdin(Stdio::null())
        .spawn()
        .expect("brunt starts");
    wait_for("the first results", || std::fs::metadata(&file).is_ok_and(|m| m.len() > 5_000));
    signal(child.id(), "INT");
    assert!(child.wait().expect("brunt ends").success());
    let brunt = &report(&folder, &file)["brunt"];
    let count = |name: &str| brunt["generator"][name].as_u64().expect("a count");
    assert_eq!(count("planned"), count("sent") + count("not_sent"));
}

#[test]
fn wrong_input_is_named_and_nothing_is_sent() {
    let folder = Folder::new();
    let (server, url) = server("none");
    let cases: [(&[&str], String, &str); 4] = [
        (&["attack", "-duration=1s"], format!("GET {url}/\nget it\n"), "line 2"),
        (&["attack", "-durration=1s"], format!("GET {url}/\n"), "duration"),
        (&["attack", "-rate=fast"], format!("GET {url}/\n"), "rate"),
        (
            &["attack", "-duration=1s", "-body=/no/such/file"],
            format!("GET {url}/\n"),
            "/no/such/file",
        ),
    ];
    for (args, input, named) in cases {
        let output = run(&folder, args, input.as_bytes());
        assert!(!output.status.success(), "{args:?}");
        let said = text(&output.stderr);
        assert!(said.contains(named), "{args:?}: {said}");
    }
    assert_eq!(server.stats().requests, 0);
}
