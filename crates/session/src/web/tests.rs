//! The live page, asked over sockets.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use cli::Interrupts;
use metrics::{Batch, Sample, Snapshot};
use stdx::Nanos;
use workload::{Load, Plan, Targets};

use super::LivePage;
use super::page::ADDRESS;
use crate::observer::{Control, Observer as _};

fn page() -> (LivePage, Interrupts, String, String) {
    let interrupts = Interrupts::default();
    let page = LivePage::start(ADDRESS, "brunt bench", &interrupts).unwrap();
    let rest = page.url().strip_prefix("http://").unwrap();
    let (address, token) = rest.split_once("/?token=").unwrap();
    let (address, token) = (address.to_owned(), token.to_owned());
    (page, interrupts, address, token)
}

fn plan() -> Plan {
    let load = Load::Closed { users: 1 };
    Plan { name: "home".to_owned(), ..Plan::new(load, Targets::new(Vec::new()), 1) }
}

fn asked(address: &str, request: &str) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn nothing_is_had_without_the_token() {
    let (_page, interrupts, address, token) = page();
    assert_eq!(token.len(), 32);
    let wrong = "0".repeat(32);
    for (method, target) in [
        ("GET", "/"),
        ("GET", "/?token="),
        ("GET", &*format!("/?token={wrong}")),
        ("GET", &*format!("/events?token={token}x")),
        ("POST", "/stop"),
    ] {
        let answer =
            asked(&address, &format!("{method} {target} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{target}: {answer}");
    }
    let page = asked(&address, &format!("GET /?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<!DOCTYPE html>"));
    // Neither another site's script nor a link of it may stop the run.
    for head in ["Host: evil.example", "Host: localhost\r\nOrigin: http://evil.example"] {
        let request = format!("POST /stop?token={token} HTTP/1.1\r\n{head}\r\n\r\n");
        assert!(asked(&address, &request).starts_with("HTTP/1.1 403 Forbidden\r\n"), "{head}");
    }
    let get = format!("GET /stop?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    assert!(asked(&address, &get).starts_with("HTTP/1.1 405 "));
    assert_eq!(interrupts.seen(), 0);
    let post = format!("POST /stop?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    assert!(asked(&address, &post).starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(interrupts.seen(), 1);
}

#[test]
fn issue_39_the_page_says_how_the_run_is_made() {
    let (page, _, address, token) = page();
    let _view = page.view(&plan());
    let mut client = TcpStream::connect(&address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let request = format!("GET /events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    client.write_all(request.as_bytes()).unwrap();
    let (mut seen, mut buffer) = (String::new(), [0; 4096]);
    while !seen.contains("\"title\"") {
        let length = client.read(&mut buffer).unwrap();
        assert!(length > 0, "{seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    let version = format!("brunt {}", env!("CARGO_PKG_VERSION"));
    assert!(seen.contains("brunt bench · Made by") && seen.contains(&version), "{seen}");
}

/// A browser that comes late gets all periods, and the end; one that never reads delays none.
#[test]
fn a_stream_has_every_period_once() {
    let (page, _, address, token) = page();
    let mut view = page.view(&plan());
    let mut silent = TcpStream::connect(&address).unwrap();
    let request = format!("GET /events?token={token} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    silent.write_all(request.as_bytes()).unwrap();
    let period = |second: u64| {
        let mut snapshot = Snapshot::new();
        let done = Nanos::from_millis(2);
        snapshot.record(&Sample {
            done,
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        });
        (snapshot.from, snapshot.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        snapshot
    };
    let mut world = Still;
    let mut control = Control::new(&mut world, 0);
    for second in 0..5000 {
        view.progress(&period(second), &mut control);
    }
    let mut client = TcpStream::connect(&address).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    let mut seen = String::new();
    let mut read_until = |word: &str| {
        let mut buf = [0; 4096];
        while !seen.contains(word) {
            let len = client.read(&mut buf).unwrap();
            assert!(len > 0, "{word} did not come");
            seen.push_str(&String::from_utf8_lossy(&buf[..len]));
        }
        seen.clone()
    };
    read_until("event: ended");
    view.last(&period(5000));
    view.finished();
    drop(page);
    let all = read_until("event: end\n");
    assert!(all.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
    let counts = ["history", "frame"].map(|name| all.matches(&format!("event: {name}\n")).count());
    assert_eq!(counts, [1, 1]);
    assert!(all.contains("\"phase\":\"ended\"") && all.contains("\"requests\":5001"));
}

/// A run in which nothing happens.
struct Still;

impl crate::execution::Execution for Still {
    fn epoch(&self) -> i64 {
        0
    }
    fn elapsed(&self) -> Nanos {
        Nanos::ZERO
    }
    fn next_event(&mut self, _: Duration) -> Option<engine::RunEvent> {
        None
    }
    fn recycle(&mut self, _: Batch) {}
    fn drain(&mut self) {}
    fn abort(&mut self) {}
    fn tls_agreed(&self) -> Option<wire::tls::Agreed> {
        None
    }
}
