//! SIGINT, SIGTERM and SIGHUP, once and twice, in every command; SIGHUP under `nohup`. Once: what is under way ends, and everything is
//! written. Twice: what is under way is given up, and everything is written.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::case::{Case, is_full, run_all};
use crate::commands::{Ending, LASTING, Lasting, Ready, Remains};
use crate::stage::{BOUND, Stage, no_bug};
use crate::{Ran, Started, signal, start_within, until};

/// How long a command may take to end, once it was asked to.
const END: Duration = Duration::from_secs(8);

/// Two of one kind may reach a process as one, so a second is of another kind. A second hangup is none.
const ALL: [&[&str]; 7] = [
    &["INT"],
    &["TERM"],
    &["HUP"],
    &["INT", "TERM"],
    &["TERM", "INT"],
    &["HUP", "INT"],
    &["HUP", "HUP"],
];
/// Those of the short form.
const SHORT: [&[&str]; 3] = [&["INT"], &["HUP"], &["TERM", "INT"]];

#[test]
fn every_command_ends_at_every_signal() {
    let all: &[&[&str]] = if is_full() { &ALL } else { &SHORT };
    let mut cases = Vec::new();
    for row in LASTING {
        for signals in all {
            cases.push(Case::new(format!("{} at {}", row.name, signals.join("+")), move || {
                ends(row, signals);
            }));
        }
    }
    run_all("signals", cases);
}

fn ends(row: &Lasting, signals: &[&str]) {
    let stage = Stage::new(&format!("signals-{}-{}", row.name, signals.join("-")));
    let companion = prepare(&stage, row);
    let (mut started, mut shown, pipe) = started(&stage, row);
    let asked = Instant::now();
    for name in signals {
        // It may have ended at the first.
        let running = started.child().try_wait().unwrap().is_none();
        if running {
            signal(name, started.pid());
        }
    }
    let held = started.child().stdin.take();
    let ended = wait(&mut started);
    // Killed, it would leave its nats-server behind.
    companion.into_iter().for_each(Started::end);
    // Until then there was more to come.
    drop((held, pipe));
    assert!(asked.elapsed() < END, "{:?}", asked.elapsed());
    shown.code = ended.code();
    read_rest(&mut started, &mut shown);
    no_bug(&shown);
    match row.ending {
        Ending::Code(code) => assert_eq!(shown.code, Some(code), "{shown:#?}"),
        Ending::Signal => {
            let number = std::os::unix::process::ExitStatusExt::signal(&ended);
            let numbers = [("INT", 2), ("TERM", 15), ("HUP", 1)];
            let expected = numbers.iter().filter(|(name, _)| signals.contains(name));
            assert!(expected.map(|(_, n)| Some(*n)).any(|n| n == number), "{ended:?} {shown:#?}");
        }
    }
    row.remains.iter().for_each(|remains| check(&stage, &shown, *remains));
}

/// What a command needs before it.
fn prepare(stage: &Stage, row: &Lasting) -> Option<Started> {
    match row.name {
        "ui" => {
            let save = "bench -c 1 -n 2 -q -save x -store st -output=none {url}/";
            stage.run(save).with_code(0);
            None
        }
        "agent" => {
            let mut fleet = stage.start("fleet up -dir fl -listen 127.0.0.1:0");
            let token = stage.scratch.path("fl/token");
            until("the fleet is there", || token.exists());
            wait_for_line(fleet.child().stdout.as_mut().unwrap(), "BRUNT_JOIN=");
            Some(fleet)
        }
        _ => None,
    }
}

/// Starts a command, and waits until it is in the midst of its work.
fn started(stage: &Stage, row: &Lasting) -> (Started, Ran, Option<File>) {
    let mut command = stage.command(row.line);
    if matches!(row.ready, Ready::Fed | Ready::Reading) {
        command.stdin(Stdio::piped());
    }
    let pipe = stage.scratch.path("pipe");
    if matches!(row.ready, Ready::Pipe) {
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    }
    let mut shown =
        Ran { code: None, stdout: String::new(), bytes: Vec::new(), stderr: String::new() };
    let mut started = start_within(command, BOUND);
    let mut writer = None;
    match row.ready {
        Ready::Requests(count) => {
            until("requests arrive", || stage.server.stats().requests >= count);
        }
        Ready::File(name) => {
            let file = stage.scratch.path(name);
            until("rows are written", || std::fs::metadata(&file).is_ok_and(|meta| meta.len() > 0));
        }
        Ready::Stdout(words) => {
            shown.stdout = wait_for_line(started.child().stdout.as_mut().unwrap(), words);
        }
        Ready::Stderr(words) => {
            shown.stderr = wait_for_line(started.child().stderr.as_mut().unwrap(), words);
        }
        Ready::Fed => feed(stage, &mut started),
        Ready::Watching => until("it watches", || watches(started.pid())),
        Ready::Reading => until("it reads", || is_reading(started.pid())),
        Ready::Pipe => {
            let open = || {
                let flags = nix::libc::O_NONBLOCK;
                std::fs::OpenOptions::new().write(true).custom_flags(flags).open(&pipe).ok()
            };
            until("it reads", || {
                writer = open();
                writer.is_some()
            });
        }
    }
    (started, shown, writer)
}

/// Reads bytes until a line with these words is there; gives all of it.
fn wait_for_line(output: &mut impl Read, words: &str) -> String {
    let mut all = String::new();
    while !all.lines().any(|line| line.contains(words)) || !all.ends_with('\n') {
        let line = crate::first_line(output);
        assert!(!line.is_empty() || all.len() < 10_000, "no {words:?} in {all}");
        all.push_str(&line);
        all.push('\n');
    }
    all
}

/// More rows than a pipe holds: when the last is written, most have been read.
fn feed(stage: &Stage, started: &mut Started) {
    let rows = std::fs::read(stage.scratch.path("r.csv")).unwrap().repeat(60);
    assert!(rows.len() > 3 << 16);
    started.child().stdin.as_mut().unwrap().write_all(&rows).unwrap();
}

/// Whether a process has handlers for all three signals.
fn watches(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let caught = u64::from_str_radix(line.trim(), 16).unwrap();
    [1, 2, 15].iter().all(|number| caught & (1 << (number - 1)) != 0)
}

/// Whether a thread of a process is in `read(2)` of standard input.
fn is_reading(pid: u32) -> bool {
    let number = if cfg!(target_arch = "x86_64") { "0" } else { "63" };
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let mut calls = tasks.map(|task| std::fs::read_to_string(task.path().join("syscall")));
    calls.any(|call| call.is_ok_and(|call| call.starts_with(&format!("{number} 0x0 "))))
}

/// Waits for the end while what is printed is read, so that nothing waits for room.
fn wait(started: &mut Started) -> std::process::ExitStatus {
    let mut ended = None;
    until("it ends", || {
        ended = started.child().try_wait().unwrap();
        ended.is_some()
    });
    ended.unwrap()
}

fn read_rest(started: &mut Started, shown: &mut Ran) {
    let read = |pipe: &mut dyn Read| {
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    };
    if let Some(mut stdout) = started.child().stdout.take() {
        shown.stdout += &read(&mut stdout);
    }
    if let Some(mut stderr) = started.child().stderr.take() {
        shown.stderr += &read(&mut stderr);
    }
}

fn check(stage: &Stage, shown: &Ran, remains: Remains) {
    match remains {
        Remains::Results(file) => {
            let json = stage.report(file).with_code(0).json();
            let (rows, sent) = (json["requests"].as_u64().unwrap(), stage.server.stats().requests);
            // One more may have been begun, and given up, before it arrived.
            assert!(rows > 0 && rows.abs_diff(sent) <= 2, "{rows} of {sent}: {shown:#?}");
        }
        Remains::Rows(file) => {
            stage.run(&format!("encode -to=arrow -output=again.arrow {file}")).with_code(0);
        }
        Remains::Text(file, words) => {
            let text = std::fs::read_to_string(stage.scratch.path(file)).unwrap();
            assert!(text.contains(words), "{file}: {shown:#?}");
        }
        Remains::Stdout(words) => assert!(shown.stdout.contains(words), "{words}: {shown:#?}"),
        Remains::Stderr(words) => assert!(shown.stderr.contains(words), "{words}: {shown:#?}"),
        Remains::Nothing => assert_eq!((&*shown.stdout, &*shown.stderr), ("", ""), "{shown:#?}"),
    }
}

/// Requests that are never answered are waited for after the first signal, and given up at the second.
#[test]
fn a_second_signal_gives_up_what_hangs() {
    let lines = [
        ("attack", "attack -targets=hang -rate=20 -output=out.arrow", 0),
        ("bench", "bench -c 3 -d 60s -output=out.arrow {url}/hang", 0),
        ("run", "run -u 3 -d 60s -o out.arrow hang.js", 105),
    ];
    let case = |(name, line, code): (&'static str, &'static str, i32)| {
        Case::new(name, move || {
            let stage = Stage::new(&format!("hang-{name}"));
            stage.scratch.file("hang", stage.words("GET {url}/hang\n"));
            let script = "import http from 'k6/http'; export default function () { http.get('{url}/hang'); }";
            stage.scratch.file("hang.js", stage.words(script));
            let started = stage.start(line);
            until("requests arrive", || stage.server.stats().requests >= 3);
            let asked = Instant::now();
            signal("INT", started.pid());
            signal("TERM", started.pid());
            let ran = started.wait();
            assert!(asked.elapsed() < END, "{:?}", asked.elapsed());
            no_bug(&ran);
            assert_eq!(ran.code, Some(code), "{ran:#?}");
            let json = stage.report("out.arrow").with_code(0).json();
            assert_eq!(json["success"], 0, "{json}");
        })
    };
    run_all("signals, requests that hang", lines.map(case).into());
}

#[test]
fn nohup_keeps_every_load_going() {
    let loads = LASTING.iter().filter(|row| matches!(row.ready, Ready::Requests(_)));
    let case = |row: &'static Lasting| {
        Case::new(row.name, move || {
            let stage = Stage::new(&format!("nohup-{}", row.name));
            let plain = stage.command(row.line);
            let mut command = std::process::Command::new("nohup");
            command.arg(plain.get_program()).args(plain.get_args()).current_dir(&stage.scratch.0);
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let started = start_within(command, BOUND);
            until("requests arrive", || stage.server.stats().requests >= 5);
            signal("HUP", started.pid());
            let before = stage.server.stats().requests;
            until("it goes on", || stage.server.stats().requests > before + 20);
            signal("TERM", started.pid());
            let ran = started.wait();
            no_bug(&ran);
            assert_eq!(Ending::Code(ran.code.unwrap()), row.ending, "{ran:#?}");
        })
    };
    run_all("signals, nohup", loads.map(case).collect());
}
