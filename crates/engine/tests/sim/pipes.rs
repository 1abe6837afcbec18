//! Users whose connections leave HTTP, in worlds with every fault: what is echoed is what was sent, in its order, up to where the
//! connection was lost; each pipe ends once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use engine::{Capture, CapturedHeaders, Settings, SimulationResult, simulate};
use metrics::Outcome;
use net::sim::{Faults, World};
use net::{Address, Key, Output, Peer};
use stdx::Nanos;
use workload::{
    Backpressure, Commands, CustomOutcome, CustomSample, EngineResponse, Load, Pipe, PipeEvent,
    Plan, RequestCommand, RequestKind, StopMode, Target, Targets, VirtualUsers, VuFactory,
};

use crate::world::{SERVER, check_oracles};

const CHUNKED: &str = "Transfer-Encoding: chunked";

/// How many users there are, how many pieces each sends, and how long a piece is.
const USERS: u32 = 5;
const PIECES: usize = 20;
const PIECE: usize = 3_000;

/// A server that switches protocols and then sends back whatever comes. It ends a pipe after `closes_after` bytes, if at all.
#[derive(Debug)]
pub(crate) struct Echo {
    heads: HashMap<Key, Vec<u8>>,
    echoed: HashMap<Key, usize>,
    closes_after: usize,
    status: &'static str,
    output: VecDeque<(Key, Output)>,
}

impl Echo {
    pub(crate) fn new(status: &'static str, closes_after: usize) -> Self {
        let (heads, echoed, output) = (HashMap::new(), HashMap::new(), VecDeque::new());
        Self { heads, echoed, closes_after, status, output }
    }

    fn echo(&mut self, conn: Key, bytes: &[u8]) {
        let Some(echoed) = self.echoed.get_mut(&conn) else { return };
        *echoed += bytes.len();
        let over = *echoed >= self.closes_after;
        self.output.push_back((conn, Output::Bytes(bytes.to_vec())));
        if over {
            self.echoed.remove(&conn);
            self.output.push_back((conn, Output::Close));
        }
    }
}

impl Peer for Echo {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        self.heads.insert(conn, Vec::new());
        self.echoed.remove(&conn);
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        let Some(head) = self.heads.get_mut(&conn) else { return self.echo(conn, bytes) };
        head.extend_from_slice(bytes);
        if head.ends_with(b"\r\n\r\n") {
            assert!(head.windows(9).any(|part| part == b"Upgrade: "), "{head:?}");
            self.heads.remove(&conn);
            self.echoed.insert(conn, 0);
            // The first bytes of the new protocol come with the head.
            let framing = match self.status.contains(CHUNKED) {
                true => "\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n",
                false => "Content-Length: 0\r\n\r\n",
            };
            let answer = format!("HTTP/1.1 {}\r\nUpgrade: echo\r\n{framing}", self.status);
            let hello = if self.status.starts_with("101") { "hello" } else { "" };
            self.output.push_back((conn, Output::Bytes((answer + hello).into_bytes())));
        }
    }

    fn handle_close(&mut self, _: Nanos, conn: Key) {
        self.heads.remove(&conn);
        self.echoed.remove(&conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.output.pop_front()
    }
}

/// What a user sent, received and saw.
#[derive(Clone, Debug, Default)]
struct Seen {
    statuses: Vec<u16>,
    trailers: Vec<u8>,
    pipe: Option<Pipe>,
    sent: Vec<u8>,
    received: Vec<u8>,
    ends: Vec<String>,
    holds: usize,
    closed: bool,
}

/// Users that each open a pipe, send their pieces, and close it once all are back.
#[derive(Debug)]
struct Talkers {
    seen: Vec<Seen>,
    /// Pipes that are held, and since when.
    held: Vec<(Nanos, usize)>,
    asked: bool,
    published: Arc<Mutex<Vec<Seen>>>,
    stopped: bool,
}

const HOLD: Nanos = Nanos::from_millis(30);

impl Talkers {
    fn talk(&mut self, commands: &mut Commands) {
        for (user, seen) in self.seen.iter_mut().enumerate() {
            let Some(pipe) = seen.pipe.filter(|_| !seen.closed && seen.ends.is_empty()) else {
                continue;
            };
            let next = seen.sent.len() / PIECE;
            if next < PIECES && seen.received.len() >= "hello".len() + seen.sent.len() {
                let piece = vec![(user * PIECES + next) as u8; PIECE];
                commands.send(pipe, &piece[..PIECE / 2]);
                commands.send(pipe, &piece[PIECE / 2..]);
                seen.sent.extend_from_slice(&piece);
            } else if next == PIECES && seen.received.len() == "hello".len() + seen.sent.len() {
                commands.close(pipe);
                seen.closed = true;
                let at = Nanos::from_millis(1);
                commands.samples.push(CustomSample {
                    line: "TALK echo".into(),
                    due: at,
                    sent: at,
                    done: at,
                    bytes_out: 0,
                    bytes_in: 0,
                    outcome: CustomOutcome::Message,
                    error: Arc::from(""),
                    failure: None,
                    serial: pipe.serial,
                });
            }
        }
    }
}

impl VirtualUsers for Talkers {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        if !std::mem::replace(&mut self.asked, true) {
            let target = Arc::new(Target {
                method: "GET".to_owned(),
                url: format!("http://{SERVER}/"),
                headers: vec![
                    ("Connection".to_owned(), "Upgrade".to_owned()),
                    ("Upgrade".to_owned(), "echo".to_owned()),
                ],
                body: Arc::from([]),
                weight: 1,
                name: String::new(),
            });
            let ask = |user| RequestCommand {
                user,
                target: Arc::clone(&target),
                timeout: Nanos::from_secs(5),
                body_max: u64::MAX,
                owner: user,
                fresh_connection: false,
                kind: RequestKind::Upgrade,
                tls: None,
                redirected: false,
                led_from: None,
                tags: None,
            };
            commands.requests.extend((0..USERS).map(ask));
        }
        while let Some((_, user)) = self.held.pop_if(|(since, _)| *since + HOLD <= now) {
            commands.resume(self.seen[user].pipe.expect("it is held"));
        }
        self.talk(commands);
        self.held.last().map(|(since, _)| *since + HOLD)
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        let seen = &mut self.seen[user as usize];
        seen.statuses.push(reply.status);
        seen.trailers.extend_from_slice(reply.trailers);
        seen.pipe = reply.pipe;
        assert_eq!(reply.pipe.is_some(), reply.status == 101);
    }

    fn handle_pipe_event(&mut self, pipe: Pipe, now: Nanos, what: PipeEvent<'_>) -> Backpressure {
        let user = self.seen.iter().position(|seen| seen.pipe == Some(pipe)).expect("known");
        let seen = &mut self.seen[user];
        assert!(!seen.closed && seen.ends.is_empty(), "nothing follows the end");
        match what {
            PipeEvent::Bytes(bytes) => {
                let held = self.held.iter().any(|(_, held)| *held == user);
                assert!(!held, "no bytes come while it is held");
                seen.received.extend_from_slice(bytes);
                if seen.received.len().is_multiple_of(7) {
                    seen.holds += 1;
                    self.held.insert(0, (now, user));
                    return Backpressure::Pause;
                }
            }
            PipeEvent::End => seen.ends.push("end".to_owned()),
            PipeEvent::Lost(kind, _) => seen.ends.push(kind.to_owned()),
        }
        Backpressure::Continue
    }

    fn stop(&mut self, _: StopMode) {
        self.stopped = true;
    }

    fn is_over(&self) -> bool {
        let over = |seen: &Seen| {
            let failed = !seen.statuses.is_empty() && seen.pipe.is_none();
            failed || seen.closed || !seen.ends.is_empty()
        };
        self.stopped || self.seen.iter().all(over)
    }
}

impl Drop for Talkers {
    fn drop(&mut self) {
        self.published.lock().expect("nobody panics with it").clone_from(&self.seen);
    }
}

fn talk(
    seed: u64,
    faults: Faults,
    status: &'static str,
    closes_after: usize,
) -> (SimulationResult, Vec<Seen>) {
    let published = Arc::<Mutex<Vec<Seen>>>::default();
    let shared = Arc::clone(&published);
    let make = move |_| {
        let published = Arc::clone(&shared);
        let seen = vec![Seen::default(); USERS as usize];
        let users = Talkers { seen, held: Vec::new(), asked: false, published, stopped: false };
        Box::new(users) as Box<dyn VirtualUsers>
    };
    let plan = Plan {
        warmup: Nanos::ZERO,
        think: stdx::Distribution::None,
        name: "sim".to_owned(),
        load: Load::Users(VuFactory { users: u64::from(USERS), make: Arc::new(make) }),
        duration: None,
        hits_max: None,
        targets: Targets::new(Vec::new()),
        seed: 7,
        part: None,
    };
    let mut world = World::new(seed, faults);
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(Echo::new(status, closes_after)));
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let own_connections = seed.is_multiple_of(2);
    let settings = Settings { own_connections, capture, ..Settings::default() };
    let outcome = simulate(world, plan, &settings).expect("the settings are sound");
    let seen = published.lock().expect("nobody panics with it").clone();
    (outcome, seen)
}

#[test]
fn what_is_echoed_is_what_was_sent() {
    let (outcome, seen) = talk(1, Faults::default(), "101 Switching Protocols", usize::MAX);
    check_oracles(&outcome);
    for seen in &seen {
        assert_eq!(seen.received[5..], seen.sent, "whole and in its order");
        assert_eq!((seen.sent.len(), seen.closed), (PIECES * PIECE, true));
        assert!(seen.ends.is_empty(), "who closes hears nothing more");
    }
    let rows = || outcome.batches.iter().flat_map(|batch| &batch.samples);
    assert_eq!(rows().filter(|row| row.outcome == Outcome::Http(101)).count(), USERS as usize);
    assert_eq!(
        rows().filter(|row| row.outcome == Outcome::Message).count(),
        USERS as usize,
        "the trips"
    );
    let trip = rows().find(|row| row.outcome == Outcome::Message).expect("a trip");
    assert!(trip.conn > 0 && trip.reused);
    assert!(seen.iter().any(|seen| seen.holds > 0), "or holding is not tested");
}

#[test]
fn a_pipe_that_the_server_ends_is_reported_once() {
    let (outcome, seen) = talk(2, Faults::default(), "101 Switching Protocols", 4_000);
    check_oracles(&outcome);
    for seen in seen {
        assert_eq!(seen.ends, ["end"]);
        assert_eq!(seen.received[5..], seen.sent[..seen.received.len() - 5]);
    }
}

#[test]
fn a_server_that_does_not_switch_gives_no_pipe() {
    let (outcome, seen) = talk(3, Faults::default(), "200 OK", usize::MAX);
    check_oracles(&outcome);
    assert!(seen.iter().all(|seen| seen.statuses == [200] && seen.pipe.is_none()));
    assert_eq!(outcome.total.hits(), u64::from(USERS));
}

/// Issue 43: a user sees the trailers of its answer, and no others.
#[test]
fn users_get_trailers() {
    let status = "200 OK\r\nTransfer-Encoding: chunked";
    let (outcome, seen) = talk(4, Faults::default(), status, usize::MAX);
    check_oracles(&outcome);
    assert!(seen.iter().all(|seen| seen.trailers == b"X-Sum: 1\r\nX-Sum: 2\r\n"), "{seen:?}");
    let (_, seen) = talk(5, Faults::default(), "200 OK", usize::MAX);
    assert!(seen.iter().all(|seen| seen.statuses == [200] && seen.trailers.is_empty()));
}

#[test]
fn faults_lose_pipes_and_never_their_order() {
    let mut lost = 0;
    for seed in 0..100 {
        let faults = Faults { server_stalls: Vec::new(), ..Faults::random(seed) };
        let (outcome, seen) = talk(seed, faults, "101 Switching Protocols", usize::MAX);
        check_oracles(&outcome);
        for seen in seen {
            let hello = seen.received.len().min(5);
            assert_eq!(&seen.received[..hello], &b"hello"[..hello], "seed {seed}");
            let echoed = &seen.received[hello..];
            assert_eq!(echoed, &seen.sent[..echoed.len()], "seed {seed}");
            assert!(seen.ends.len() <= 1, "seed {seed}");
            lost += seen.ends.len();
        }
    }
    assert!(lost > 0, "or losing is not tested");
}
