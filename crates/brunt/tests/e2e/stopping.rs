//! How commands are stopped: Ctrl-C for a whole pipeline, a terminal that is waited for or goes away, outputs that are closed.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use demo::{Config, Server};

use crate::{Ran, Scratch, Started, brunt, run, server, signal, start, text, until};

/// A server that takes a while, so that at any time requests are under way.
fn slow_server() -> (Server, String) {
    let service = demo::ServiceTime::parse("fixed:300ms").unwrap();
    server(Config { service, ..Config::default() })
}

/// The folder of a link called `brunt`, to be put before the PATH.
fn path_to_brunt(scratch: &Scratch) -> String {
    let bin = scratch.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_brunt"), bin.join("brunt")).unwrap();
    format!("{}:{}", text(&bin), std::env::var("PATH").unwrap())
}

/// The first pipeline of the tour, as printed, but for the address.
fn readmes_pipeline(url: &str) -> String {
    let readme = include_str!("../../../../docs/guide/tour.md");
    let line = readme.lines().find(|line| line.starts_with("echo ") && line.contains("| tee "));
    line.unwrap().replace("http://127.0.0.1:8080", url)
}

/// `Requests` of a report.
fn requests(ran: &Ran) -> u64 {
    let figures = ran.line("Requests").split("]").nth(1).unwrap();
    figures.split(',').next().unwrap().trim().parse().unwrap()
}

/// Runs the README's pipeline and presses Ctrl-C in the middle of it. Gives what it printed, and whether it is VALID.
fn interrupted_pipeline(folder: &str) -> bool {
    let scratch = Scratch::new(folder);
    let (server, url) = slow_server();
    let ran = interrupted(&scratch, &server, &readmes_pipeline(&url));
    assert_eq!(ran.stdout.lines().last(), Some("codes 0 0 0 0"), "{ran:#?}");
    assert!(!ran.stdout.contains("cut off"), "{ran:#?}");
    let kept = run(&format!("report {}", text(&scratch.path("results.bin")))).with_code(0);
    let sent = server.stats().requests;
    assert!(sent < 250, "it was stopped: {sent}");
    assert_eq!((requests(&ran), requests(&kept)), (sent, sent), "every row: {ran:#?}");
    let verdict = |ran: &Ran| ran.stdout.lines().any(|line| line.starts_with("Measurement: VALID"));
    assert_eq!(verdict(&ran), verdict(&kept));
    verdict(&ran)
}

/// Runs a pipeline in a folder, and presses Ctrl-C once the server has had 60 requests. Its last line has the codes.
fn interrupted(scratch: &Scratch, server: &Server, line: &str) -> Ran {
    let mut command = Command::new("bash");
    // The shell lives on, to print the codes.
    command.args(["-c", &format!("trap : INT\n{line}\necho codes ${{PIPESTATUS[*]}}")]);
    command.env("PATH", path_to_brunt(scratch)).current_dir(scratch.path(""));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let started = start(command);
    until("requests arrive", || server.stats().requests > 60);
    signal("INT", -i64::from(started.pid()));
    started.wait().with_code(0)
}

/// Issue 41: `vegeta report` printed before the last rows came, 110 of 128.
#[test]
fn ctrl_c_leaves_vegetas_pipeline_whole() {
    let scratch = Scratch::new("ctrl-c-vegeta");
    let (server, url) = slow_server();
    let line = format!(
        "echo 'GET {url}/' | brunt vegeta attack | tee -i results.bin | brunt vegeta report"
    );
    let ran = interrupted(&scratch, &server, &line);
    assert_eq!(ran.stdout.lines().last(), Some("codes 0 0 0 0"), "{ran:#?}");
    assert_eq!(requests(&ran), server.stats().requests, "{ran:#?}");
}

/// Issue 41: what a plain tee, which Ctrl-C ends, took with it made the measurement INVALID.
#[test]
fn what_tee_takes_with_it_is_a_count_and_no_loss_in_reading() {
    let scratch = Scratch::new("ctrl-c-tee");
    let (server, url) = slow_server();
    let line = format!("echo 'GET {url}/' | brunt attack | tee results.bin | brunt report");
    let ran = interrupted(&scratch, &server, &line);
    let kept = run(&format!("report {}", text(&scratch.path("results.bin")))).with_code(0);
    for report in [&ran, &kept] {
        assert!(report.stdout.contains("The run's end is missing"), "{ran:#?}");
        assert!(!report.stdout.contains("end mark"), "{ran:#?}");
    }
    let json = run(&format!("report -json {}", text(&scratch.path("results.bin")))).json();
    let lost = json["brunt"]["generator"]["lost_at_end"].as_u64().unwrap();
    let (seen, sent) = (requests(&kept), server.stats().requests);
    assert!(seen <= sent && sent <= seen + lost, "{seen} and up to {lost} of {sent}");
}

#[test]
fn ctrl_c_leaves_the_readmes_pipeline_whole() {
    // Other tests run beside this one and may hold the cores for a while.
    let valid = (0..20).any(|at| interrupted_pipeline(&format!("ctrl-c-{at}")));
    assert!(valid, "twenty pipelines were stopped, and none is VALID");
}

#[test]
fn rows_lost_to_a_tee_that_ended_first_are_reported_with_the_cure() {
    let (server, url) = slow_server();
    let scratch = Scratch::new("dead-tee");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let mut attack = start(brunt(&format!("attack -targets={targets}")));
    until("requests arrive", || server.stats().requests > 5);
    drop(attack.child().stdout.take());
    signal("INT", attack.pid());
    attack.wait().with_code(1).complains_once(&[
        "writing results to standard output",
        "which lost the last ",
        "tee -i",
    ]);
}

/// A command on a terminal of its own. What is typed goes to standard input, what is shown comes from standard output.
fn on_a_terminal(line: &str) -> Started {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {line}", env!("CARGO_BIN_EXE_brunt")), "/dev/null"]);
    command.env("TERM", "dumb").env("SHELL", "/bin/sh");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command)
}

/// Reads what the terminal shows until this is there; gives all of it.
fn shown(terminal: &mut Started, what: &str) -> String {
    let output = terminal.child().stdout.as_mut().unwrap();
    let (mut all, mut byte) = (Vec::new(), [0]);
    while !String::from_utf8_lossy(&all).contains(what) {
        assert_eq!(output.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&all));
        all.push(byte[0]);
    }
    String::from_utf8(all).unwrap()
}

#[test]
fn a_wait_for_typed_input_is_announced_and_ends_at_ctrl_c() {
    for line in ["report", "encode", "plot", "attack -duration=1s", "attack -lazy -duration=1s"] {
        let what = if line.starts_with("attack") { "targets" } else { "results" };
        let mut terminal = on_a_terminal(line);
        let words = format!("brunt: reading {what} from standard input; end with Ctrl-D");
        assert!(shown(&mut terminal, "Ctrl-D").contains(&words), "{line}");
        if line.contains("lazy") {
            // It is under way already: that is an attack stopped before its first target.
            continue;
        }
        terminal.child().stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
        terminal.wait().with_code(130);
    }
}

#[test]
fn targets_can_be_typed() {
    let (server, url) = server(Config::default());
    let mut terminal = on_a_terminal("attack -duration=200ms -progress=false");
    shown(&mut terminal, "Ctrl-D");
    let typed = format!("GET {url}/\n\x04");
    terminal.child().stdin.as_mut().unwrap().write_all(typed.as_bytes()).unwrap();
    let ran = terminal.wait().with_code(0);
    assert!(ran.stdout.contains("Requests      [total, rate, throughput]         10,"), "{ran:#?}");
    assert_eq!(server.stats().requests, 10);
}

#[test]
fn a_report_of_nothing_yet_ends_by_the_signal() {
    use std::os::unix::process::ExitStatusExt;
    // Each is given some seconds for the end of its input, so that they wait side by side.
    let reports = [("INT", 2), ("TERM", 15), ("HUP", 1)].map(|(name, number)| {
        let mut command = brunt("report");
        command.stdin(Stdio::piped());
        let mut report = start(command);
        // To wait for it would close its input, which then could end first.
        let stdin = report.child().stdin.take();
        let status = format!("/proc/{}/status", report.pid());
        until("signals are watched for", || caught(&status) & (1 << (number - 1)) != 0);
        signal(name, report.pid());
        (number, report, stdin)
    });
    for (number, mut report, _stdin) in reports {
        let ended = report.child().wait().unwrap();
        assert_eq!(ended.signal(), Some(number), "{ended:?}");
    }
}

/// The signals a process has handlers for, as bits.
fn caught(status: &str) -> u64 {
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

#[test]
fn a_terminal_that_goes_away_ends_an_attack_like_ctrl_c() {
    let (server, url) = slow_server();
    let scratch = Scratch::new("hangup");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let file = text(&scratch.path("r.arrow"));
    let attack = start(brunt(&format!("attack -targets={targets} -output={file}")));
    until("requests arrive", || server.stats().requests > 5);
    // The shell hangs up and then the system: both are one.
    signal("HUP", attack.pid());
    signal("HUP", attack.pid());
    attack.wait().with_code(0);
    let report = run(&format!("report {file}")).with_code(0);
    assert_eq!(requests(&report), server.stats().requests, "what was under way has ended");
    assert!(!report.stdout.contains("cut off"), "{report:#?}");
}

#[test]
fn nohup_keeps_an_attack_going() {
    let (server, url) = slow_server();
    let scratch = Scratch::new("nohup");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let mut command = Command::new("nohup");
    command.args([env!("CARGO_BIN_EXE_brunt"), "attack", "-output=none"]);
    command.arg(format!("-targets={targets}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let attack = start(command);
    until("requests arrive", || server.stats().requests > 5);
    signal("HUP", attack.pid());
    let seen = server.stats().requests;
    until("it goes on", || server.stats().requests > seen + 50);
    signal("TERM", attack.pid());
    attack.wait().with_code(0);
}

#[test]
fn a_closed_standard_output_is_an_error() {
    let (_server, url) = server(Config::default());
    let scratch = Scratch::new("closed-stdout");
    let targets = scratch.file("targets", format!("GET {url}/\n"));
    let file = text(&scratch.path("r.arrow"));
    run(&format!("attack -targets={targets} -duration=100ms -output={file}")).with_code(0);
    let closed = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {} {line} >&-", env!("CARGO_BIN_EXE_brunt"))]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        start(command).wait()
    };
    for line in ["report", "encode", "plot"] {
        let ran = closed(&format!("{line} {file}")).with_code(1);
        ran.complains_once(&["standard output is closed"]);
    }
    let attack = format!("attack -targets={targets} -duration=100ms");
    closed(&attack).with_code(1).complains_once(&["standard output is closed"]);
    // Output to a file needs no standard output.
    closed(&format!("report -output={} {file}", text(&scratch.path("report")))).with_code(0);
    closed(&format!("{attack} -output={file}")).with_code(0);
}

/// Issue 19: the first Ctrl-C was silent, however long the requests under way took.
#[test]
fn an_interrupted_attack_says_what_it_waits_for() {
    let (server, url) = server(Config::default());
    let scratch = Scratch::new("waits-for");
    let targets = scratch.file("targets", format!("GET {url}/slow?ms=2500\n"));
    let words = format!("attack -targets={targets} -rate=10 -output={}", text(&scratch.path("r")));
    let attack = start(brunt(&words));
    until("requests are under way", || server.stats().requests > 2);
    signal("INT", attack.pid());
    let ran = attack.wait().with_code(0);
    let notice = "waiting for the requests under way (Ctrl-C again gives them up)";
    assert_eq!(ran.stderr.matches(notice).count(), 1, "{ran:?}");
}
