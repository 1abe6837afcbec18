//! Users with streams: requests whose bodies are sent in parts, as the server has room for them, and whose responses arrive in parts.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use engine::{Capture, CapturedHeaders, Settings, simulate};
use metrics::{FailureKind, GrpcStatus, Outcome};
use net::sim::{Faults, World};
use net::{Address, Key, Output, Peer};
use stdx::Nanos;
use workload::{
    Backpressure, Commands, EngineResponse, Load, Plan, RequestCommand, RequestKind, StopMode,
    StreamCommand, StreamEvent, Target, Targets, VirtualUsers, VuFactory,
};

use crate::h2_frames::{Frame, FrameReader, field, frame};
use crate::world::SERVER;

/// The window of each of our streams.
const CLIENT_WINDOW: usize = 4 << 20;
/// A flood comes in pieces of so many bytes.
const PIECE: usize = 10_000;

/// What a server does with a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Habit {
    /// It sends back what it gets, and at its end status 0.
    #[default]
    Echo,
    /// The same, with windows of so few bytes.
    Narrow(u32),
    /// It answers with so many bytes, as fast as the client's window lets it, and status 0.
    Flood(usize),
    /// It resets the stream with the first bytes.
    Reset,
    /// It says GOAWAY with the first bytes, and that it processed nothing.
    GoAway,
    /// Its response ends without trailers.
    Bare,
    /// It answers with status 5 before the request has ended.
    Early,
}

/// A server of HTTP/2.
#[derive(Debug, Default)]
struct Streamer {
    habit: Habit,
    input: FrameReader,
    /// The sizes of the parts that came.
    parts: Arc<Mutex<Vec<usize>>>,
    /// Bytes that are to be sent of a flood, and how much room the client has.
    flood: usize,
    room: usize,
    output: VecDeque<(Key, Output)>,
}

impl Streamer {
    fn send(&mut self, conn: Key, kind_and_flags: [u8; 2], stream: &[u8], payload: &[u8]) {
        let bytes = frame(kind_and_flags, stream, payload);
        self.output.push_back((conn, Output::Bytes(bytes)));
    }

    fn head(&mut self, conn: Key, stream: &[u8]) {
        let head = [vec![0x88], field("content-type", "application/grpc")].concat();
        self.send(conn, [1, 4], stream, &head);
    }

    fn trailers(&mut self, conn: Key, stream: &[u8], status: &str) {
        self.send(conn, [1, 5], stream, &field("grpc-status", status));
    }

    fn data(&mut self, conn: Key, stream: &[u8], payload: &[u8]) {
        self.parts.lock().expect("one thread").push(payload.len());
        match self.habit {
            Habit::Echo => self.send(conn, [0, 0], stream, payload),
            Habit::Narrow(_) => {
                self.send(conn, [0, 0], stream, payload);
                for stream in [&[0; 4][..], stream] {
                    self.send(conn, [8, 0], stream, &(payload.len() as u32).to_be_bytes());
                }
            }
            Habit::Reset => self.send(conn, [3, 0], stream, &2_u32.to_be_bytes()),
            Habit::GoAway => {
                self.send(conn, [7, 0], &[0; 4], &[0; 8]);
                self.output.push_back((conn, Output::Close));
            }
            Habit::Early => self.trailers(conn, stream, "5"),
            Habit::Flood(_) | Habit::Bare => {}
        }
    }

    fn go_on(&mut self, conn: Key, stream: &[u8]) {
        while self.flood > 0 && self.room >= PIECE {
            self.send(conn, [0, 0], stream, &[7; PIECE]);
            (self.flood, self.room) = (self.flood - PIECE, self.room - PIECE);
            if self.flood == 0 {
                self.trailers(conn, stream, "0");
            }
        }
    }

    fn ended(&mut self, conn: Key, stream: &[u8]) {
        match self.habit {
            Habit::Echo | Habit::Narrow(_) => self.trailers(conn, stream, "0"),
            Habit::Flood(bytes) => {
                (self.flood, self.room) = (bytes, CLIENT_WINDOW);
                self.go_on(conn, stream);
            }
            Habit::Bare => self.send(conn, [0, 1], stream, b"abc"),
            Habit::Reset | Habit::GoAway | Habit::Early => {}
        }
    }
}

impl Peer for Streamer {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        self.input.open(conn);
        let settings = match self.habit {
            Habit::Narrow(window) => [&4_u16.to_be_bytes()[..], &window.to_be_bytes()].concat(),
            _ => Vec::new(),
        };
        self.send(conn, [4, 0], &[0; 4], &settings);
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        for Frame { kind, flags, stream, payload } in self.input.read(conn, bytes) {
            match kind {
                0 if !payload.is_empty() => self.data(conn, &stream, &payload),
                1 => self.head(conn, &stream),
                // Until they are acknowledged the client's settings do not count. RFC 9113, 6.5.3.
                4 if flags & 1 == 0 => self.send(conn, [4, 1], &[0; 4], &[]),
                8 if stream != [0; 4] => {
                    let more: [u8; 4] = payload.try_into().expect("four bytes");
                    self.room += u32::from_be_bytes(more) as usize;
                    self.go_on(conn, &stream);
                }
                _ => {}
            }
            if kind <= 1 && flags & 1 != 0 {
                self.ended(conn, &stream);
            }
        }
    }

    fn handle_close(&mut self, _: Nanos, conn: Key) {
        self.input.close(conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.output.pop_front()
    }
}

/// What a user saw.
#[derive(Debug, Default)]
struct Seen {
    heads: usize,
    bytes: usize,
    /// Bytes that came before the user read on.
    bytes_before: usize,
    end: String,
}

/// A user with one stream: what it does at once, and whether it stops reading for a second with the first bytes.
#[derive(Debug)]
struct Talker {
    commands: Vec<StreamCommand>,
    pauses: Option<Nanos>,
    resumes_at: Option<Nanos>,
    now: Nanos,
    has_dialled: bool,
    is_connected: bool,
    is_over: bool,
    seen: Arc<Mutex<Seen>>,
    timeout: Nanos,
}

impl VirtualUsers for Talker {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        self.now = now;
        if !std::mem::replace(&mut self.has_dialled, true) {
            let dial = request(8, RequestKind::Dial(0), Nanos::SECOND);
            commands.requests.push(dial);
        }
        if std::mem::take(&mut self.is_connected) {
            commands.requests.push(request(7, RequestKind::Stream(0), self.timeout));
            let all = self.commands.drain(..).map(|command| (7, command));
            commands.stream_commands.extend(all);
        }
        if self.resumes_at.is_some_and(|at| at <= now) {
            self.resumes_at = None;
            let mut seen = self.seen.lock().expect("one thread");
            seen.bytes_before = seen.bytes;
            commands.stream_commands.push((7, StreamCommand::Resume));
        }
        self.resumes_at
    }

    fn handle_response(&mut self, user: u32, reply: &EngineResponse<'_>) {
        if user == 8 {
            self.is_connected = true;
            return;
        }
        self.is_over = true;
        self.seen.lock().expect("one thread").end = match &reply.failure {
            Some(_) => "failed".to_owned(),
            None => String::from_utf8_lossy(reply.trailers).trim().to_owned(),
        };
    }

    fn handle_stream_event(&mut self, user: u32, what: StreamEvent<'_>) -> Backpressure {
        assert_eq!(user, 7);
        let mut seen = self.seen.lock().expect("one thread");
        match what {
            StreamEvent::Head(status, head) => {
                assert_eq!(status, 200);
                assert!(head.ends_with(b"content-type: application/grpc\r\n"));
                seen.heads += 1;
            }
            StreamEvent::Data(bytes) => {
                seen.bytes += bytes.len();
                if let Some(rest) = self.pauses.take() {
                    self.resumes_at = Some(self.now + rest);
                    return Backpressure::Pause;
                }
            }
        }
        Backpressure::Continue
    }

    fn stop(&mut self, _: StopMode) {
        self.is_over = true;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn request(user: u32, kind: RequestKind, timeout: Nanos) -> RequestCommand {
    let target = Target {
        method: "POST".to_owned(),
        url: format!("http://{SERVER}/p.S/M"),
        headers: vec![("te".to_owned(), "trailers".to_owned())],
        body: Arc::default(),
        weight: 1,
        name: String::new(),
    };
    RequestCommand {
        user,
        target: Arc::new(target),
        timeout,
        body_max: u64::MAX,
        owner: 0,
        fresh_connection: false,
        kind,
        tls: None,
        redirected: false,
        led_from: None,
        tags: None,
    }
}

/// The end of a run.
struct Ended {
    seen: Seen,
    parts: Vec<usize>,
    outcome: Outcome,
    failure: FailureKind,
    bytes_out: u64,
}

/// A stream on which a user does this with a server of this habit.
fn run(habit: Habit, commands: &[StreamCommand]) -> Ended {
    run_with(habit, commands, None, Nanos::from_secs(30))
}

fn run_with(
    habit: Habit,
    commands: &[StreamCommand],
    pauses: Option<Nanos>,
    timeout: Nanos,
) -> Ended {
    let seen: Arc<Mutex<Seen>> = Arc::default();
    let (shared, commands) = (Arc::clone(&seen), commands.to_vec());
    let make = move |_| {
        let (commands, seen) = (commands.clone(), Arc::clone(&shared));
        Box::new(Talker {
            commands,
            pauses,
            resumes_at: None,
            now: Nanos::ZERO,
            has_dialled: false,
            is_connected: false,
            is_over: false,
            seen,
            timeout,
        }) as Box<dyn VirtualUsers>
    };
    let plan = Plan {
        warmup: Nanos::ZERO,
        think: stdx::Distribution::None,
        name: "sim".to_owned(),
        load: Load::Users(VuFactory { users: 1, make: Arc::new(make) }),
        duration: None,
        hits_max: None,
        targets: Targets::new(Vec::new()),
        seed: 7,
        part: None,
    };
    let mut world = World::new(1, Faults::default());
    let server = Streamer { habit, ..Streamer::default() };
    let parts = Arc::clone(&server.parts);
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), Box::new(server));
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings = Settings { own_connections: true, capture, ..Settings::default() };
    let result = simulate(world, plan, &settings).expect("the settings are sound");
    let row = result.batches.iter().flat_map(|batch| &batch.samples).next().expect("a row");
    let seen = std::mem::take(&mut *seen.lock().expect("one thread"));
    let parts = parts.lock().expect("one thread").clone();
    Ended { seen, parts, outcome: row.outcome, failure: row.failure, bytes_out: row.bytes_out }
}

fn send(bytes: usize) -> StreamCommand {
    StreamCommand::Send(vec![1; bytes])
}

/// Issue 45: parts go out and come back, and trailers end the stream.
#[test]
fn parts_go_both_ways_until_the_half_close() {
    let ended = run(Habit::Echo, &[send(3), send(4), StreamCommand::End]);
    assert_eq!((ended.seen.heads, ended.seen.bytes), (1, 7));
    assert_eq!(ended.seen.end, "grpc-status: 0");
    assert_eq!(ended.outcome, Outcome::Grpc(GrpcStatus::from_number(0)));
    assert_eq!((ended.parts.iter().sum::<usize>(), ended.bytes_out), (7, 7));
    let nothing = run(Habit::Echo, &[StreamCommand::End, send(3)]);
    assert_eq!((nothing.seen.bytes, nothing.seen.end.as_str()), (0, "grpc-status: 0"));
}

#[test]
fn a_server_with_little_room_gets_as_much_as_fits() {
    let ended = run(Habit::Narrow(10), &[send(1_000), send(25), StreamCommand::End]);
    assert_eq!((ended.seen.bytes, ended.seen.end.as_str()), (1_025, "grpc-status: 0"));
    assert!(ended.parts.iter().all(|part| *part <= 10), "{:?}", ended.parts);
}

#[test]
fn a_server_that_reads_nothing_costs_bounded_memory() {
    let commands: Vec<StreamCommand> = (0..70).map(|_| send(1 << 20)).collect();
    let ended = run(Habit::Flood(0), &commands);
    assert_eq!(ended.failure, FailureKind::TooLarge);
}

#[test]
fn a_user_that_reads_nothing_holds_the_server() {
    let flood = Habit::Flood(40_000_000);
    let pauses = Some(Nanos::from_secs(1));
    let ended = run_with(flood, &[StreamCommand::End], pauses, Nanos::MAX);
    let Seen { bytes, bytes_before, end, .. } = ended.seen;
    assert!(bytes_before < 20_000, "{bytes_before} bytes came while nothing was read");
    assert_eq!((bytes, end.as_str()), (40_000_000, "grpc-status: 0"));
}

#[test]
fn streams_end_early_in_many_ways() {
    for (habit, end, failure) in [
        (Habit::Reset, "failed", FailureKind::StreamReset),
        (Habit::GoAway, "failed", FailureKind::GoAway),
        (Habit::Early, "grpc-status: 5", FailureKind::None),
    ] {
        let ended = run(habit, &[send(3)]);
        assert_eq!((ended.seen.end.as_str(), ended.failure), (end, failure), "{habit:?}");
    }
    let bare = run(Habit::Bare, &[send(3), StreamCommand::End]);
    assert_eq!((bare.seen.bytes, bare.seen.end.as_str()), (3, ""));
    assert_eq!(bare.outcome, Outcome::Grpc(GrpcStatus::UNKNOWN));
    let cancelled = run(Habit::Echo, &[send(3), StreamCommand::Cancel]);
    assert_eq!(cancelled.failure, FailureKind::Stopped);
    let late = run_with(Habit::Echo, &[send(3)], None, Nanos::from_secs(2));
    assert_eq!(late.failure, FailureKind::Timeout);
}
