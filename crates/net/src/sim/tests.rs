//! Whole worlds: an echo peer and a client that checks every byte, under all weathers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use stdx::{Nanos, Prng};

use super::{Faults, Span, World};
use crate::{Address, Dial, Event, Io, IoFailure, Key, Output, Peer, Progress, Sock};

/// The calls that a test's peer got.
#[derive(Debug, Default)]
struct PeerCalls {
    opened: u32,
    closed: u32,
    drained: u32,
    deadlines: Vec<Nanos>,
    bytes: Vec<u8>,
}

/// Gives back what it gets; `script` says what it does after the first bytes of a connection instead.
#[derive(Default)]
struct Echo {
    calls: Rc<RefCell<PeerCalls>>,
    outputs: VecDeque<(Key, Output)>,
    script: Vec<Output>,
    open: BTreeSet<Key>,
    deadline: Option<Nanos>,
}

impl Peer for Echo {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        assert!(self.open.insert(conn), "a number in use is given again");
        self.calls.borrow_mut().opened += 1;
    }
    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        assert!(self.open.contains(&conn));
        self.calls.borrow_mut().bytes.extend(bytes);
        if self.script.is_empty() {
            return self.outputs.push_back((conn, Output::Bytes(bytes.to_vec())));
        }
        for output in self.script.drain(..) {
            if !matches!(output, Output::Bytes(_)) {
                self.open.remove(&conn);
            }
            self.outputs.push_back((conn, output));
        }
    }
    fn handle_close(&mut self, _: Nanos, conn: Key) {
        assert!(self.open.remove(&conn), "closed twice or after its own close");
        self.calls.borrow_mut().closed += 1;
    }
    fn next_deadline(&self) -> Option<Nanos> {
        self.deadline
    }
    fn handle_deadline(&mut self, now: Nanos) {
        self.calls.borrow_mut().deadlines.push(now);
        self.deadline = None;
    }
    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.outputs.pop_front()
    }
    fn handle_drained(&mut self, _: Nanos, _: Key) {
        self.calls.borrow_mut().drained += 1;
    }
}

fn address() -> Address {
    Address::Ip("192.0.2.1:80".parse().expect("an address"))
}

fn world_of(seed: u64, faults: Faults, echo: Echo) -> (World, Rc<RefCell<PeerCalls>>) {
    let calls = Rc::clone(&echo.calls);
    let mut world = World::new(seed, faults);
    world.add_peer(address(), Box::new(echo));
    (world, calls)
}

fn open(world: &mut World, key: Key) -> Result<Sock, IoFailure> {
    world.open(key, Dial { to: &address(), from: None })
}

/// Waits for the next event, at most a virtual minute.
fn next(world: &mut World) -> Option<Event> {
    let until = world.now().saturating_add(Nanos::from_secs(60));
    loop {
        if let Some(event) = world.next_event() {
            return Some(event);
        }
        if world.wait(Some(until)) >= until {
            return world.next_event();
        }
    }
}

fn connected(world: &mut World, key: Key) -> Sock {
    let sock = open(world, key).expect("a descriptor");
    assert_eq!(next(world), Some(Event::Connected(key)));
    sock
}

/// Reads as a caller of the reactor does: until fewer bytes than asked for, the end or a failure.
fn read(world: &mut World, sock: Sock, into: &mut Vec<u8>) -> Progress {
    let mut buf = [0; 64];
    loop {
        match world.recv(sock, &mut buf) {
            Progress::Bytes(0) => return Progress::Bytes(0),
            Progress::Bytes(len) => into.extend(&buf[..len]),
            other => return other,
        }
    }
}

/// One client connection of [`converse`].
#[derive(Debug)]
struct Client {
    sock: Sock,
    to_send: Vec<u8>,
    sent: usize,
    got: Vec<u8>,
}

impl Client {
    /// Sends until there is no more room; whether the socket still works.
    fn push(&mut self, world: &mut World) -> bool {
        while self.sent < self.to_send.len() {
            match world.send(self.sock, &self.to_send[self.sent..]) {
                Progress::Bytes(len) => self.sent += len,
                Progress::Later => return true,
                Progress::Failed(_) => return false,
            }
        }
        true
    }
}

/// Opens connections, sends random bytes on each and reads them back; gives how many conversations came to their end,
/// how many failed, and the trace.
fn converse(seed: u64, faults: Faults) -> (usize, usize, u64) {
    let (mut world, calls) = world_of(seed, faults, Echo::default());
    let mut rng = Prng::new(seed);
    let mut clients: BTreeMap<Key, Client> = BTreeMap::new();
    let (mut done, mut failed) = (0, 0);
    for key in 0..10 {
        let to_send = (0..rng.below(3000) + 1).map(|_| rng.next_u64() as u8).collect();
        match open(&mut world, key) {
            Ok(sock) => {
                clients.insert(key, Client { sock, to_send, sent: 0, got: Vec::new() });
            }
            Err(failure) => {
                assert_eq!(failure, IoFailure::DescriptorsExhausted);
                failed += 1;
            }
        }
    }
    while !clients.is_empty() {
        let event = next(&mut world).expect("every conversation ends");
        let (key, works) = match event {
            Event::Connected(key) => (key, true),
            Event::Refused(key, _) => (key, false),
            Event::Ready(key, ready) => {
                let client = clients.get_mut(&key).expect("no event after close");
                let end = if ready.readable {
                    read(&mut world, client.sock, &mut client.got)
                } else {
                    Progress::Later
                };
                (key, end == Progress::Later)
            }
            other => panic!("{other:?}"),
        };
        let client = clients.get_mut(&key).expect("no event after close");
        assert!(client.to_send.starts_with(&client.got), "bytes out of order, seed {seed}");
        let works = works && client.push(&mut world);
        let is_done = client.got.len() == client.to_send.len();
        if is_done || !works {
            world.close(client.sock);
            clients.remove(&key);
            *(if is_done { &mut done } else { &mut failed }) += 1;
        }
    }
    world.wait(Some(Nanos::from_secs(600)));
    assert_eq!(world.next_event(), None, "an event after close, seed {seed}");
    assert_eq!(world.conns.len(), 0, "connections are left over, seed {seed}");
    assert_eq!(world.descriptors_used, 0);
    assert_eq!(calls.borrow().opened, calls.borrow().closed, "seed {seed}");
    (done, failed, world.trace())
}

#[test]
fn a_clean_world_loses_nothing() {
    let (done, failed, _) = converse(1, Faults::default());
    assert_eq!((done, failed), (10, 0));
}

#[test]
fn every_weather_is_survived_and_repeats() {
    let (mut done, mut failed) = (0, 0);
    let mut traces = BTreeSet::new();
    for seed in 0..150 {
        let first = converse(seed, Faults::random(seed));
        assert_eq!(first, converse(seed, Faults::random(seed)), "seed {seed} does not repeat");
        assert_eq!(first.0 + first.1, 10, "seed {seed}");
        done += first.0;
        failed += first.1;
        traces.insert(first.2);
    }
    assert!(done > failed && failed > 0, "{done} done, {failed} failed");
    assert_eq!(traces.len(), 150, "different seeds, different worlds");
}

#[test]
fn a_short_send_goes_on_with_a_writable_event() {
    let faults = Faults { send_window: 10, ..Faults::default() };
    let (mut world, calls) = world_of(1, faults, Echo::default());
    let sock = connected(&mut world, 1);
    assert_eq!(world.send(sock, &[1; 25]), Progress::Bytes(10));
    assert_eq!(world.send(sock, &[2; 15]), Progress::Later);
    let Some(Event::Ready(1, ready)) = next(&mut world) else { panic!("no event") };
    assert!(ready.writable && !ready.readable && !ready.closed);
    assert_eq!(world.send(sock, &[2; 15]), Progress::Bytes(10));
    assert_eq!(calls.borrow().bytes, [1; 10]);
}

#[test]
fn the_end_comes_after_all_data() {
    let body = vec![9; 5000];
    let script = vec![Output::Bytes(body.clone()), Output::Close];
    let faults = Faults { receive_window: 700, ..Faults::default() };
    let (mut world, calls) = world_of(1, faults, Echo { script, ..Echo::default() });
    let sock = connected(&mut world, 1);
    assert_eq!(world.send(sock, b"go"), Progress::Bytes(2));
    let mut got = Vec::new();
    while let Some(Event::Ready(1, ready)) = next(&mut world) {
        let end = read(&mut world, sock, &mut got);
        assert_eq!(end == Progress::Bytes(0), ready.closed);
        if ready.closed {
            break;
        }
    }
    assert_eq!(got, body);
    // The peer's end is closed: a send is answered by a reset, and after that fails with a broken pipe.
    assert_eq!(world.send(sock, b"more"), Progress::Bytes(4));
    assert!(matches!(next(&mut world), Some(Event::Ready(1, ready)) if ready.closed));
    assert_eq!(world.send(sock, b"more"), Progress::Failed(IoFailure::BrokenPipe));
    assert_eq!(world.recv(sock, &mut [0; 4]), Progress::Bytes(0));
    world.close(sock);
    world.wait(Some(Nanos::from_secs(60)));
    assert_eq!(calls.borrow().closed, 0, "who closed hears no close");
}

#[test]
fn data_before_a_reset_can_be_read() {
    let script = vec![Output::Bytes(b"half".to_vec()), Output::Reset];
    let (mut world, _) = world_of(1, Faults::default(), Echo { script, ..Echo::default() });
    let sock = connected(&mut world, 1);
    world.send(sock, b"go");
    let until = world.now().saturating_add(Nanos::SECOND);
    while world.wait(Some(until)) < until {}
    let Some(Event::Ready(1, ready)) = world.next_event() else { panic!("no event") };
    assert!(ready.readable && ready.closed);
    let mut got = Vec::new();
    assert_eq!(read(&mut world, sock, &mut got), Progress::Failed(IoFailure::Reset));
    assert_eq!(got, b"half");
    assert_eq!(world.send(sock, b"x"), Progress::Failed(IoFailure::Reset));
}

#[test]
fn a_closed_socket_has_no_events() {
    let (mut world, calls) = world_of(1, Faults::default(), Echo::default());
    let first = connected(&mut world, 1);
    world.send(first, b"hello");
    world.wait(Some(Nanos::SECOND));
    world.close(first);
    assert_eq!(world.next_event(), None, "the echo had arrived but was not told");
    assert_eq!(world.recv(first, &mut [0; 8]), Progress::Failed(IoFailure::Other(107)));
    let early = open(&mut world, 2).expect("a descriptor");
    world.reset(early);
    world.close(early);
    assert_eq!(next(&mut world), None);
    let third = connected(&mut world, 3);
    assert!(third != first && third != early);
    assert_eq!((calls.borrow().opened, calls.borrow().closed), (3, 2));
}

#[test]
fn connections_fail_as_they_should() {
    let dial = |world: &mut World, to: &Address| world.open(7, Dial { to, from: None });
    let (mut world, _) = world_of(1, Faults::default(), Echo::default());
    let elsewhere = Address::Ip("192.0.2.9:1".parse().expect("an address"));
    dial(&mut world, &elsewhere).expect("refused only later");
    assert_eq!(next(&mut world), Some(Event::Refused(7, IoFailure::Refused)));
    assert_eq!(dial(&mut world, &Address::Unix("/no".into())), Err(IoFailure::Refused));
    assert_eq!(world.descriptors_used, 0);

    let faults = Faults { unanswered: 1.0, connect_timeout: Nanos::SECOND, ..Faults::default() };
    let (mut world, calls) = world_of(1, faults, Echo::default());
    open(&mut world, 1).expect("a descriptor");
    assert_eq!(next(&mut world), Some(Event::Refused(1, IoFailure::TimedOut)));
    assert_eq!((world.now(), calls.borrow().opened), (Nanos::SECOND, 0));

    let faults = Faults { descriptors: 2, ..Faults::default() };
    let (mut world, _) = world_of(1, faults, Echo::default());
    let socks = [open(&mut world, 1), open(&mut world, 2)];
    assert_eq!(open(&mut world, 3), Err(IoFailure::DescriptorsExhausted));
    world.close(socks[0].expect("a descriptor"));
    assert!(open(&mut world, 3).is_ok());
}

#[test]
fn names_resolve_wakers_wake_deadlines_come() {
    let faults = Faults {
        server_stalls: vec![Span { from: Nanos(500), to: Nanos::from_millis(2) }],
        ..Faults::default()
    };
    let echo = Echo { deadline: Some(Nanos::MICRO), ..Echo::default() };
    let (mut world, calls) = world_of(1, faults, echo);
    let ip = "192.0.2.1".parse().expect("an address");
    world.add_name("here", vec![ip]);
    world.wake_at(Nanos::MILLI);
    world.resolve(1, "here");
    world.resolve(2, "nowhere");
    world.resolve(3, "192.0.2.1");
    assert_eq!(next(&mut world), Some(Event::Resolved(1, Ok(vec![ip]))));
    let unknown = "lookup nowhere: no such host".to_owned();
    assert_eq!(next(&mut world), Some(Event::Resolved(2, Err(unknown))));
    assert_eq!(next(&mut world), Some(Event::Resolved(3, Ok(vec![ip]))));
    assert_eq!(next(&mut world), Some(Event::Woken));
    assert_eq!(world.now(), Nanos::MILLI);
    assert_eq!(world.wait(Some(Nanos::from_millis(5))), Nanos::from_millis(5));
    assert_eq!(calls.borrow().deadlines, [Nanos::from_millis(2)], "after the server's stall");
}

#[test]
fn a_peer_is_called_when_its_store_is_empty() {
    let script = vec![Output::Bytes(vec![0; 1000])];
    let faults = Faults { receive_window: 600, ..Faults::default() };
    let (mut world, calls) = world_of(1, faults, Echo { script, ..Echo::default() });
    let sock = connected(&mut world, 1);
    world.send(sock, b"go");
    next(&mut world);
    assert_eq!(calls.borrow().drained, 0, "400 bytes wait");
    read(&mut world, sock, &mut Vec::new());
    next(&mut world);
    assert_eq!(calls.borrow().drained, 1);
}

#[test]
fn calls_and_stalls_cost_the_worker_time() {
    let stall = Span { from: Nanos::from_millis(10), to: Nanos::from_millis(300) };
    let faults =
        Faults { call_cost: Nanos::MICRO, worker_stalls: vec![stall], ..Faults::default() };
    let mut world = World::new(1, faults);
    for calls in 1..=100 {
        assert_eq!(world.now(), Nanos::from_micros(calls));
    }
    assert_eq!(world.wait(Some(Nanos::from_millis(20))), stall.to);
    let late = Faults { oversleep: Nanos::from_micros(50), ..Faults::default() };
    let mut world = World::new(1, late);
    let woken: Vec<u64> = (1..100).map(|ms| world.wait(Some(Nanos::from_millis(ms))).0).collect();
    let lateness = woken.iter().map(|at| at % 1_000_000).max().expect("some");
    assert!((25_000..=50_000).contains(&lateness), "{lateness}");
}
