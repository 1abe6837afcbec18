//! Autobahn's test suite against our WebSocket client. Its server listens on all interfaces, so the test starts itself again in
//! a network of its own (`unshare --net`) and runs server and client there.
//!
//! `AUTOBAHN=all` runs all 517 cases; without it the slow ones (9.* of megabytes, 12.* and 13.* of thousands of messages) are
//! left to one case of each kind.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use wire::ws::{Agreed, DeflateOffer, Event, Limits, Offer, Role, WsSession};

use crate::{Scratch, text, until};

/// Set where the test runs in a network of its own; holds nothing.
const INSIDE: &str = "BRUNT_AUTOBAHN_INSIDE";
/// Longer than the whole suite takes, most of it in Python.
const SUITE_MAX: Duration = Duration::from_secs(3600);
/// No case takes longer.
const CASE_MAX: Duration = Duration::from_secs(120);
/// Cases of the whole suite.
const CASES_ALL: usize = 517;
/// What is run unless all are asked for.
const CASES_SOME: &[&str] = &[
    "1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "10.*", "9.1.1", "9.2.1", "9.3.3", "9.4.3",
    "9.5.1", "9.6.1", "9.7.1", "9.8.1", "12.1.1", "12.2.1", "12.3.1", "12.4.1", "12.5.1", "13.1.1",
    "13.2.1", "13.3.1", "13.7.1",
];

#[test]
fn no_case_of_the_suite_fails() {
    if std::env::var_os(INSIDE).is_none() {
        return run_inside();
    }
    let ip = Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap();
    assert!(ip.success(), "ip link set lo up: {ip}");
    run_suite(std::env::var("AUTOBAHN").is_ok_and(|which| which == "all"));
}

/// Starts this very test again, in a network of its own.
fn run_inside() {
    let python = python();
    install(&python);
    let mut command = Command::new("unshare");
    command
        .args(["--net", "--pid", "--fork", "--kill-child"])
        .arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", "autobahn::no_case_of_the_suite_fails", "--nocapture"])
        .env(INSIDE, "1");
    let child = command.spawn().expect("this test needs unshare: apt-get install -y util-linux");
    let mut inside = Inside(child);
    let begun = Instant::now();
    until_within("the suite ends", SUITE_MAX, || inside.0.try_wait().unwrap().is_some());
    let status = inside.0.wait().unwrap();
    assert!(
        status.success(),
        "the suite failed, or there is no right to a network of its own: {status}"
    );
    eprintln!("autobahn: {:.0} s", begun.elapsed().as_secs_f64());
}

/// What runs in a network of its own; all of it ends when this is dropped.
struct Inside(Child);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Python 2.7, which the suite needs.
fn python() -> PathBuf {
    let home = std::env::var("HOME").unwrap_or_default();
    let path = PathBuf::from(home).join(".pyenv/versions/2.7.18/bin/python");
    let missing = "this test needs Python 2.7 for Autobahn's suite: pyenv install 2.7.18";
    assert!(path.exists(), "{missing} ({} is not there)", path.display());
    path
}

/// Where the suite is installed: below `target/`.
fn suite() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("autobahn")
}

/// Installs the suite, once.
fn install(python: &Path) {
    if suite().join("bin/wstest").exists() {
        return;
    }
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "-q", "--user", "autobahntestsuite==25.10.1"]);
    let ran = command.env("PYTHONUSERBASE", suite()).output().unwrap();
    assert!(
        ran.status.success(),
        "PYTHONUSERBASE={} {} -m pip install --user autobahntestsuite==25.10.1: {}",
        suite().display(),
        python.display(),
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn run_suite(all: bool) {
    let scratch = Scratch::new("autobahn");
    let cases = if all { vec!["*"] } else { CASES_SOME.to_vec() };
    let port = 9001;
    let spec = serde_json::json!({
        "url": format!("ws://127.0.0.1:{port}"), "outdir": text(&scratch.path("reports")),
        "cases": cases, "exclude-cases": [], "exclude-agent-cases": {},
    });
    let spec = scratch.file("spec.json", spec.to_string());
    let mut command = Command::new(python());
    command.arg(suite().join("bin/wstest")).args(["-m", "fuzzingserver", "-u", "0", "-s", &spec]);
    command.env("PYTHONUSERBASE", suite()).current_dir(&scratch.0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    until("Autobahn listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    let count: usize = echo(port, "/getCaseCount").parse().expect("a number of cases");
    for case in 1..=count {
        echo(port, &format!("/runCase?case={case}&agent=brunt"));
    }
    echo(port, "/updateReports?agent=brunt");
    server.kill().unwrap();
    server.wait().unwrap();
    judge(&scratch.path("reports/index.json"), count);
    assert!(!all || count == CASES_ALL, "{count} cases");
}

/// Prints how many cases behaved how, and names those that are not OK.
fn judge(index: &Path, count: usize) {
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(index).unwrap()).unwrap();
    let mut by_behavior: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (case, result) in report["brunt"].as_object().expect("our results") {
        for kind in ["behavior", "behaviorClose"] {
            let behavior = result[kind].as_str().unwrap_or("MISSING");
            by_behavior.entry(format!("{kind} {behavior}")).or_default().push(case.clone());
        }
    }
    for (behavior, cases) in &by_behavior {
        let names = if behavior.ends_with(" OK") { String::new() } else { cases.join(" ") };
        eprintln!("autobahn: {behavior}: {} {names}", cases.len());
    }
    let total: usize = by_behavior.values().map(Vec::len).sum();
    assert_eq!(total, 2 * count, "every case has its result");
    for bad in ["FAILED", "WRONG CODE", "UNCLEAN", "FAILED BY CLIENT", "MISSING"] {
        for kind in ["behavior", "behaviorClose"] {
            assert_eq!(by_behavior.get(&format!("{kind} {bad}")), None);
        }
    }
}

/// Opens a WebSocket and sends back what comes, until it is closed. Gives the last text.
fn echo(port: u16, target: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(CASE_MAX)).unwrap();
    stream.set_nodelay(true).unwrap();
    let (agreed, mut bytes) = shake(&mut stream, port, target);
    let mut session = WsSession::new(Role::Client, &agreed, Limits::default(), 1);
    let (mut out, mut last, mut space) = (Vec::new(), String::new(), vec![0; 1 << 16]);
    loop {
        let mut pongs = Vec::new();
        let mut messages: Vec<Result<String, Vec<u8>>> = Vec::new();
        let heard = session.handle_bytes(&bytes, &mut pongs, &mut |event| match event {
            Event::Text(text) => messages.push(Ok(text.to_owned())),
            Event::Binary(bytes) => messages.push(Err(bytes.to_owned())),
            Event::Ping(_) | Event::Pong(_) | Event::Close { .. } => (),
        });
        // A pong goes before the echo of a message that ended after its ping.
        out.append(&mut pongs);
        for message in messages {
            // After a close or a failure there is no peer to echo to.
            match &message {
                Ok(text) => session.send_text(text, &mut out).ok(),
                Err(bytes) => session.send_binary(bytes, &mut out).ok(),
            };
            last = message.unwrap_or(last);
        }
        // The server may have closed already.
        let sent = stream.write_all(&out);
        out.clear();
        if heard.is_err() || session.is_closed() || sent.is_err() {
            return last;
        }
        bytes.clear();
        match stream.read(&mut space) {
            Ok(0) => return last,
            Ok(len) => bytes.extend_from_slice(&space[..len]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return last,
            Err(error) => panic!("{target}: {error}"),
        }
    }
}

/// The opening handshake. Gives what was agreed, and what came behind the answer's head.
fn shake(stream: &mut TcpStream, port: u16, target: &str) -> (Agreed, Vec<u8>) {
    let offer = Offer::new(*b"sixteen bytes do", Vec::new(), DeflateOffer::Plain).unwrap();
    let mut request = format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n");
    for (name, value) in offer.fields() {
        request.extend([name, ": ", &value, "\r\n"]);
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
    (offer.check(status, fields).expect(target), Vec::new())
}

/// As `until`, with a limit of its own.
fn until_within(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < limit, "never: {what}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}
