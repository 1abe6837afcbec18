//! Two hundred worlds with every kind of fault; the oracles hold in each. A failure names its seed.

use std::collections::{HashMap, VecDeque};

use engine::{Redirects, Settings, SimulationResult, simulate};
use metrics::FailureKind;
use net::sim::{Faults, World};
use net::{Address, Key, Output, Peer};
use stdx::Nanos;
use workload::{Load, Plan, Target, Targets};

use crate::world::{SERVER, check_oracles, constant, plan, run, server, target};

const SEEDS: u64 = 200;

const PATHS: [&str; 12] = [
    "/",
    "/gzip",
    "/chunked",
    "/trailers",
    "/eof",
    "/1xx",
    "/redirect/3",
    "/bytes/100000",
    "/reset",
    "/truncate",
    "/garbage",
    "/close",
];

#[test]
fn the_oracles_hold_in_every_even_world() {
    check_worlds(0);
}

#[test]
fn the_oracles_hold_in_every_odd_world() {
    check_worlds(1);
}

/// Every second world, from this seed on: the halves run side by side.
fn check_worlds(first: u64) {
    for seed in (first..SEEDS).step_by(2) {
        let settings = Settings {
            timeout: Some(Nanos::from_secs(2)),
            keepalive: seed % 5 != 0,
            max_connections: (seed % 3 == 0).then_some(8),
            pipeline: if seed % 2 == 0 { 1 + (seed % 9) as usize } else { 1 },
            connections: if seed % 7 == 0 { 2 } else { 10_000 },
            ..Settings::default()
        };
        let load =
            if seed % 4 == 0 { Load::Closed { users: 1 + seed % 20 } } else { constant(100) };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let outcome = run(
                seed,
                Faults::random(seed),
                server((seed % 4) as u32, "exp:2ms"),
                plan(load, 2, &PATHS),
                &settings,
            );
            check_oracles(&outcome);
            assert!(outcome.total.hits() > 0);
        }));
        assert!(result.is_ok(), "seed {seed}");
    }
}

/// With several requests unanswered on a connection, one hostile answer ends the others, counted, and never hangs them.
#[test]
fn hostile_answers_end_what_is_pipelined_behind_them() {
    let cases = [
        ("/reset", FailureKind::Reset, FailureKind::Reset),
        ("/truncate", FailureKind::Truncated, FailureKind::Eof),
        ("/garbage", FailureKind::Malformed, FailureKind::Abandoned),
        ("/close", FailureKind::Eof, FailureKind::Eof),
        ("/huge-headers", FailureKind::TooLarge, FailureKind::Abandoned),
        ("/hang", FailureKind::Timeout, FailureKind::Abandoned),
    ];
    for (path, first, behind) in cases {
        let settings = Settings {
            timeout: Some(Nanos::from_millis(500)),
            max_connections: Some(1),
            pipeline: 4,
            ..Settings::default()
        };
        let mut plan = plan(Load::Closed { users: 4 }, 60, &[path]);
        plan.hits_max = Some(4);
        let outcome = run(1, Faults::default(), server(0, "none"), plan, &settings);
        check_oracles(&outcome);
        let count = |kind| outcome.total.failures[kind as usize];
        let all = if first == behind { 4 } else { 3 };
        assert_eq!((count(first) >= 1, count(behind)), (true, all), "{path}");
        assert_eq!(outcome.total.hits(), 4, "{path}");
        let rows = outcome.batches.iter().flat_map(|batch| &batch.samples);
        assert!(rows.map(|row| row.conn).eq([1; 4]), "{path}: all were on the first connection");
    }
}

/// Answers `most` requests of each connection, however they are sent, and closes.
struct Closing {
    answered: HashMap<Key, u32>,
    most: u32,
    /// The last answer says `Connection: close`.
    says_so: bool,
    outputs: VecDeque<(Key, Output)>,
}

impl Peer for Closing {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        self.answered.insert(conn, 0);
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        let Some(answered) = self.answered.get_mut(&conn) else { return };
        for _ in 0..bytes.windows(4).filter(|end| end == b"\r\n\r\n").count() {
            *answered += 1;
            let last = *answered == self.most;
            let says = if last && self.says_so { "Connection: close\r\n" } else { "" };
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{says}\r\n");
            self.outputs.push_back((conn, Output::Bytes(answer.into_bytes())));
            if last {
                self.answered.remove(&conn);
                return self.outputs.push_back((conn, Output::Close));
            }
        }
    }

    fn handle_close(&mut self, _: Nanos, conn: Key) {
        self.answered.remove(&conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.outputs.pop_front()
    }
}

fn run_closing(most: u32, says_so: bool, method: &str) -> SimulationResult {
    let mut world = World::new(1, Faults::default());
    let outputs = VecDeque::new();
    let closing = Closing { answered: HashMap::new(), most, says_so, outputs };
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), Box::new(closing));
    let settings = Settings { max_connections: Some(2), pipeline: 4, ..Settings::default() };
    let target = Target { method: method.to_owned(), ..target("/") };
    let plan = Plan {
        hits_max: Some(400),
        targets: Targets::new(vec![target]),
        ..plan(Load::Closed { users: 8 }, 60, &[])
    };
    let outcome = simulate(world, plan, &settings).expect("the settings are sound");
    check_oracles(&outcome);
    outcome
}

/// A server that closes after so many requests, as they do, costs no hit; what may not be sent twice is not.
#[test]
fn what_is_pipelined_behind_an_orderly_close_is_sent_again() {
    for says_so in [true, false] {
        let total = run_closing(10, says_so, "GET").total;
        assert_eq!((total.hits(), total.successes), (400, 400), "says so: {says_so}");
        let total = run_closing(10, says_so, "POST").total;
        assert!(total.failures[FailureKind::Eof as usize] > 50, "says so: {says_so}");
        assert_eq!(total.hits(), 400, "says so: {says_so}");
        // Once each, and not for ever.
        let total = run_closing(1, says_so, "GET").total;
        assert!(total.failures[FailureKind::Eof as usize] > 50, "says so: {says_so}");
    }
}

/// Each hostile route ends as a counted failure of its own kind.
#[test]
fn hostile_answers_are_counted_failures() {
    let cases = [
        ("/reset", FailureKind::Reset),
        ("/truncate", FailureKind::Truncated),
        ("/garbage", FailureKind::Malformed),
        ("/close", FailureKind::Eof),
        ("/huge-headers", FailureKind::TooLarge),
        ("/drip", FailureKind::Timeout),
        ("/endless", FailureKind::Timeout),
        ("/hang", FailureKind::Timeout),
    ];
    for (path, kind) in cases {
        let settings = Settings { timeout: Some(Nanos::from_millis(500)), ..Settings::default() };
        // Without a limit, gigabytes of the endless body would come.
        let faults = Faults { bytes_per_s: 10_000_000, ..Faults::default() };
        let outcome = run(1, faults, server(0, "none"), plan(constant(5), 1, &[path]), &settings);
        check_oracles(&outcome);
        assert_eq!(
            outcome.total.failures[kind as usize], 5,
            "{path}: {:?}",
            outcome.total.failures
        );
    }
}

#[test]
fn redirects_are_followed_as_far_as_allowed() {
    let settings = |redirects| Settings { redirects, ..Settings::default() };
    let hits = |path, redirects| {
        let plan = plan(constant(5), 1, &[path]);
        run(1, Faults::default(), server(0, "none"), plan, &settings(redirects)).total
    };
    assert_eq!(
        hits("/redirect/3", Redirects::Follow(10)).outcomes.of(metrics::Outcome::Http(200)),
        5
    );
    assert_eq!(hits("/redirect/3", Redirects::Keep).successes, 5, "a kept 3xx is a success");
    let stopped = hits("/redirect/3", Redirects::Follow(2));
    assert_eq!(stopped.failures[FailureKind::Redirects as usize], 5);
}

#[test]
fn bodies_are_counted_on_the_wire_and_decoded() {
    let plan = plan(constant(5), 1, &["/gzip"]);
    let total = run(1, Faults::default(), server(0, "none"), plan, &Settings::default()).total;
    assert_eq!(total.successes, 5);
    assert!(total.bytes_in > 0 && total.wire_in > 0);
    assert_ne!(total.bytes_in, total.wire_in);
}

#[test]
fn without_descriptors_hits_fail_and_are_counted() {
    let faults = Faults { descriptors: 4, ..Faults::default() };
    let plan = plan(constant(100), 2, &["/hang"]);
    let settings = Settings { timeout: Some(Nanos::from_secs(1)), ..Settings::default() };
    let outcome = run(1, faults, server(0, "none"), plan, &settings);
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert!(generator.descriptors_exhausted > 100, "{}", generator.descriptors_exhausted);
}
