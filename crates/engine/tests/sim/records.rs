//! What rows and counts say of hits that took an odd way: redirects, refusing proxies, texts without measure.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use engine::{ProxySettings, Settings, SimulationResult, simulate};
use metrics::FailureKind;
use net::sim::{Faults, World};
use net::{Address, Key, Output, Peer};
use stdx::Nanos;
use workload::{Load, Plan, Target, Targets};

use crate::world::{SERVER, check_oracles, constant, plan, run, server, target};

/// Says the same to whatever comes, and leaves the connection open.
struct Canned {
    answer: Vec<u8>,
    outputs: VecDeque<(Key, Output)>,
}

impl Peer for Canned {
    fn handle_open(&mut self, _: Nanos, _: Key) {}

    fn handle_bytes(&mut self, _: Nanos, conn: Key, _: &[u8]) {
        self.outputs.push_back((conn, Output::Bytes(self.answer.clone())));
    }

    fn handle_close(&mut self, _: Nanos, _: Key) {}

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.outputs.pop_front()
    }
}

fn run_against(answer: &str, plan: Plan, settings: &Settings) -> SimulationResult {
    let mut world = World::new(1, Faults::default());
    let canned = Canned { answer: answer.as_bytes().to_vec(), outputs: VecDeque::new() };
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), Box::new(canned));
    let outcome = simulate(world, plan, settings).expect("the settings are sound");
    check_oracles(&outcome);
    outcome
}

#[test]
fn a_long_tick_sends_what_it_gathered_at_the_end() {
    // The last two of ten hits are due at 0.9 s and 1 s, and begun together at 1.2 s.
    let settings = Settings { tick: Nanos::from_millis(400), ..Settings::default() };
    let plan = plan(constant(10), 1, &["/"]);
    let outcome = run(1, Faults::default(), server(0, "none"), plan, &settings);
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert_eq!((generator.sent, generator.not_sent), (10, 0));
}

/// What a hit leaves behind when its time is up is used at once, not when the loop next wakes by itself.
#[test]
fn the_room_of_a_hit_that_timed_out_is_used_at_once() {
    let settings = Settings {
        timeout: Some(Nanos::from_millis(500)),
        max_connections: Some(1),
        ..Settings::default()
    };
    let plan = Plan { hits_max: Some(2), ..plan(constant(10), 1, &["/hang"]) };
    let outcome = run(1, Faults::default(), server(0, "none"), plan, &settings);
    check_oracles(&outcome);
    let row = outcome.batches.iter().flat_map(|batch| &batch.samples).find(|row| row.seq == 1);
    let sent = row.expect("the second hit's row").sent;
    assert!(sent < Nanos::from_millis(610), "sent at {} ns", sent.0);
}

#[test]
fn a_redirected_post_has_sent_its_body() {
    let post = Target {
        method: "POST".to_owned(),
        body: Arc::from(&b"hello"[..]),
        ..target("/redirect/1")
    };
    let plan = Plan { targets: Targets::new(vec![post]), ..plan(constant(5), 1, &[]) };
    let total = run(1, Faults::default(), server(0, "none"), plan, &Settings::default()).total;
    assert_eq!((total.successes, total.bytes_out), (5, 25));
}

#[test]
fn a_proxys_refusal_needs_no_end() {
    let proxy = ProxySettings { https: Some(SERVER.to_owned()), ..ProxySettings::default() };
    let settings = Settings { proxy, ..Settings::default() };
    let secret = Target { url: "https://example.com/".to_owned(), ..target("/") };
    let plan = Plan { targets: Targets::new(vec![secret]), ..plan(constant(5), 1, &[]) };
    let outcome = run_against("HTTP/1.1 403 Forbidden\r\n\r\nno", plan, &settings);
    assert_eq!(outcome.total.failures[FailureKind::Proxy as usize], 5);
    assert!(outcome.total.response.max() < Nanos::from_secs(1));
    let batch = &outcome.batches[0];
    let error = String::from_utf8_lossy(batch.text(batch.samples[0].error));
    assert_eq!(error, "GET https://example.com/: Forbidden");
}

#[test]
fn error_texts_are_cut_and_counted() {
    let answer = format!("HTTP/1.1 500 {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(100_000));
    let outcome = run_against(&answer, plan(constant(5), 1, &["/"]), &Settings::default());
    assert_eq!(outcome.total.outcomes.of(metrics::Outcome::Http(500)), 5);
    assert_eq!(outcome.total.generator.texts_cut, 5);
    let batch = &outcome.batches[0];
    assert!(batch.samples.iter().all(|sample| sample.error.len == 16 << 10));
}

/// Two endpoints take turns, so by the time one refuses, the origin has moved on to the other.
#[test]
fn a_refusal_names_the_address_that_was_dialled() {
    let turns = ["127.0.0.1:81", "127.0.0.1:82"];
    let connect_to = turns.map(|to| (SERVER.to_owned(), to.to_owned())).to_vec();
    let settings = Settings { connect_to, ..Settings::default() };
    let outcome = run_against("", plan(constant(4), 1, &["/"]), &settings);
    let batch = &outcome.batches[0];
    for (sample, to) in batch.samples.iter().zip(turns.iter().rev().cycle()) {
        let error = String::from_utf8_lossy(batch.text(sample.error));
        let expect = format!("connecting to {to}: connection refused");
        assert!(error.ends_with(&expect), "{error}");
    }
}

/// Answers two requests of each connection and ends it when the third comes.
#[derive(Default)]
struct ClosesAtThird {
    requests: HashMap<Key, u32>,
    outputs: VecDeque<(Key, Output)>,
}

impl Peer for ClosesAtThird {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        // A key may be that of an earlier connection.
        self.requests.insert(conn, 0);
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, _: &[u8]) {
        let requests = self.requests.entry(conn).or_default();
        *requests += 1;
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec();
        let output = if *requests < 3 { Output::Bytes(answer) } else { Output::Close };
        self.outputs.push_back((conn, output));
    }

    fn handle_close(&mut self, _: Nanos, _: Key) {}

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.outputs.pop_front()
    }
}

/// A server that reads requests and closes left no trace: all were answered, and it had worked on some of them twice.
#[test]
fn issue_39_requests_that_are_sent_again_are_counted() {
    let mut world = World::new(1, Faults::default());
    let server = Box::new(ClosesAtThird::default());
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), server);
    let plan = Plan { warmup: Nanos::from_millis(200), ..plan(constant(10), 2, &["/"]) };
    let outcome = simulate(world, plan, &Settings::default()).expect("the settings are sound");
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert_eq!(outcome.total.successes, generator.sent);
    // Each third is sent again, on a connection that has it as its first.
    assert_eq!((generator.sent, generator.sent_again), (18, 9), "two of the warm-up");
}

/// A bench of 20 users at a server that takes a part of their connections said nothing of the others.
#[test]
fn issue_39_users_that_were_never_answered_are_counted() {
    let count = |unanswered: f64, timeout: Nanos| {
        let faults = Faults { unanswered, ..Faults::default() };
        let settings = Settings { timeout: Some(timeout), ..Settings::default() };
        let plan = plan(Load::Closed { users: 20 }, 1, &["/"]);
        let outcome = run(1, faults, server(0, "none"), plan, &settings);
        check_oracles(&outcome);
        let timeouts = outcome.total.failures[FailureKind::Timeout as usize];
        (outcome.total.generator.never_answered, timeouts)
    };
    let (users, timeouts) = count(0.5, Nanos::from_secs(2));
    assert!(users > 0 && users < 20, "{users}");
    assert_eq!(users, timeouts, "each tried once");
    assert_eq!(count(0.0, Nanos::from_secs(2)).0, 0);
    let (users, timeouts) = count(0.5, Nanos::from_millis(50));
    assert!(users < timeouts, "{users} of {timeouts}: most are answered at a later try");
}

/// Hits whose redirects lead to a host that is refused were counted as sent there, and the host was named.
#[test]
fn issue_19_only_what_was_sent_elsewhere_is_counted() {
    let redirect_to = |host: &str| {
        let answer =
            format!("HTTP/1.1 302 Found\r\nLocation: http://{host}/\r\nContent-Length: 0\r\n\r\n");
        let mut world = World::new(1, Faults::default());
        let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned();
        for (address, answer) in [(SERVER, answer), (ELSEWHERE, ok)] {
            let canned = Canned { answer: answer.into_bytes(), outputs: VecDeque::new() };
            world.add_peer(Address::Ip(address.parse().expect("an address")), Box::new(canned));
        }
        let plan = plan(constant(10), 1, &["/"]);
        let outcome = simulate(world, plan, &Settings::default()).expect("the settings are sound");
        check_oracles(&outcome);
        let total = outcome.total;
        (total.successes, total.generator.redirected, total.generator.redirect_hosts)
    };
    assert_eq!(redirect_to(ELSEWHERE), (10, 10, vec!["127.0.0.2".to_owned()]));
    assert_eq!(redirect_to("169.254.169.254"), (0, 0, Vec::new()));
    // No server is there.
    assert_eq!(redirect_to("127.0.0.3"), (0, 0, Vec::new()));
}

/// A log-in page that redirects led to looked like the page that was asked for.
#[test]
fn issue_39_where_redirects_led_is_counted() {
    let plan = plan(constant(10), 1, &["/redirect/2?token=a", "/"]);
    let outcome = run(1, Faults::default(), server(0, "none"), plan, &Settings::default());
    check_oracles(&outcome);
    let landings = outcome.total.generator.landings;
    let [landing] = landings.as_slice() else { panic!("{landings:?}") };
    assert!(landing.from.ends_with("/redirect/2?token=***"), "{landing:?}");
    assert_eq!((landing.to.as_str(), landing.requests), ("/redirect/0", 5));
}

/// A second server.
const ELSEWHERE: &str = "127.0.0.2:80";
