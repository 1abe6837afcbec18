//! Users with channels: connections of HTTP/2 that are made before anything is asked, one a channel, and calls of gRPC on them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use engine::{Capture, CapturedHeaders, Settings, simulate};
use metrics::{GrpcStatus, Outcome};
use net::sim::{Faults, World};
use net::{Address, Key, Output, Peer};
use stdx::Nanos;
use workload::{
    ChannelEnd, Commands, EngineResponse, Load, Plan, RequestCommand, RequestKind, StopMode,
    Target, Targets, VirtualUsers, VuFactory,
};

use crate::h2_frames::{Frame, FrameReader, field, frame};
use crate::world::SERVER;

/// A server of HTTP/2 that answers each stream with status 5 in trailers, or says nothing at all. The second stream of a connection
/// gets a page, whatever its trailers say.
#[derive(Debug, Default)]
struct Refuser {
    input: FrameReader,
    is_silent: bool,
    /// One stream a connection, which is never answered.
    holds: bool,
    opened: Arc<Mutex<usize>>,
    output: VecDeque<(Key, Output)>,
}

impl Refuser {
    fn send(&mut self, conn: Key, kind_and_flags: [u8; 2], stream: &[u8], payload: &[u8]) {
        let bytes = frame(kind_and_flags, stream, payload);
        self.output.push_back((conn, Output::Bytes(bytes)));
    }
}

impl Peer for Refuser {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        *self.opened.lock().expect("one thread") += 1;
        self.input.open(conn);
        if !self.is_silent {
            let settings: &[u8] = if self.holds { &[0, 3, 0, 0, 0, 1] } else { &[] };
            self.send(conn, [4, 0], &[0; 4], settings);
        }
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        for Frame { kind, flags, stream, .. } in self.input.read(conn, bytes) {
            // Both kinds of frames may end a stream: HEADERS and DATA.
            if kind <= 1 && flags & 1 != 0 && !self.is_silent && !self.holds {
                let is_page = stream.last() == Some(&3);
                let (of, status) =
                    if is_page { ("text/html", "0") } else { ("application/grpc", "5") };
                let head = [vec![0x88], field("content-type", of)].concat();
                self.send(conn, [1, 4], &stream, &head);
                self.send(conn, [1, 5], &stream, &field("grpc-status", status));
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

/// One step of a user: a request of this kind, one that is not waited for, or the end of its channel.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(RequestKind),
    Begin(RequestKind),
    End(u32),
}

/// A user that does one step after the other, and what the answers were.
#[derive(Debug)]
struct Caller {
    steps: VecDeque<Step>,
    waits: bool,
    /// Requests that are not waited for and have no answer yet.
    begun: usize,
    answers: Arc<Mutex<Vec<String>>>,
    stopped: bool,
}

impl VirtualUsers for Caller {
    fn poll(&mut self, now: Nanos, commands: &mut Commands) -> Option<Nanos> {
        while !self.waits {
            match self.steps.pop_front() {
                Some(Step::Ask(kind)) => {
                    self.waits = true;
                    commands.requests.push(request(kind));
                }
                Some(Step::Begin(kind)) => {
                    self.begun += 1;
                    commands.requests.push(request(kind));
                    return Some(now + Nanos::from_millis(10));
                }
                Some(Step::End(channel)) => {
                    commands.channel_ends.push(ChannelEnd { owner: 0, channel });
                }
                None => break,
            }
        }
        None
    }

    fn handle_response(&mut self, _: u32, reply: &EngineResponse<'_>) {
        self.begun = self.begun.saturating_sub(usize::from(!self.waits));
        self.waits = false;
        let text = match &reply.failure {
            Some((kind, _)) => (*kind).to_owned(),
            None => format!("{} {}", reply.status, String::from_utf8_lossy(reply.trailers).trim()),
        };
        self.answers.lock().expect("one thread").push(text);
    }

    fn stop(&mut self, _: StopMode) {
        self.stopped = true;
    }

    fn is_over(&self) -> bool {
        self.stopped || self.steps.is_empty() && !self.waits && self.begun == 0
    }
}

fn request(kind: RequestKind) -> RequestCommand {
    let target = Target {
        method: "POST".to_owned(),
        url: format!("http://{SERVER}/p.S/M"),
        headers: vec![("te".to_owned(), "trailers".to_owned())],
        body: Arc::from(*b"\0\0\0\0\0"),
        weight: 1,
        name: String::new(),
    };
    RequestCommand {
        user: 0,
        target: Arc::new(target),
        timeout: Nanos::from_secs(5),
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

/// The answers to these steps, the outcomes of the rows, and how many connections there were.
fn run(steps: &[Step], is_silent: bool) -> (Vec<String>, Vec<Outcome>, usize) {
    run_with(steps, Refuser { is_silent, ..Refuser::default() }, Settings::default())
}

/// The same with these settings of connections.
fn run_with(
    steps: &[Step],
    server: Refuser,
    settings: Settings,
) -> (Vec<String>, Vec<Outcome>, usize) {
    let answers: Arc<Mutex<Vec<String>>> = Arc::default();
    let (shared, steps) = (Arc::clone(&answers), steps.to_vec());
    let make = move |_| {
        let (steps, answers) = (steps.clone().into(), Arc::clone(&shared));
        Box::new(Caller { steps, waits: false, begun: 0, answers, stopped: false })
            as Box<dyn VirtualUsers>
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
    let opened: Arc<Mutex<usize>> = Arc::default();
    let mut world = World::new(1, Faults::default());
    let server = Refuser { opened: Arc::clone(&opened), ..server };
    world.add_peer(Address::Ip(SERVER.parse().expect("an address")), Box::new(server));
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings = Settings { own_connections: true, capture, ..settings };
    let result = simulate(world, plan, &settings).expect("the settings are sound");
    let rows = result.batches.iter().flat_map(|batch| &batch.samples);
    let rows = rows.map(|row| row.outcome).collect();
    let answers = answers.lock().expect("one thread").clone();
    let opened = *opened.lock().expect("one thread");
    (answers, rows, opened)
}

/// Issue 45: a channel is one connection, made before anything is asked; calls have the outcome of their trailers.
#[test]
fn calls_share_the_connection_of_their_channel() {
    use RequestKind::{Call, Dial};
    let refused = Outcome::Grpc(GrpcStatus::from_number(5));
    let page = Outcome::Grpc(GrpcStatus::UNKNOWN);
    let steps = [Step::Ask(Dial(0)), Step::Ask(Call(0)), Step::Ask(Dial(0)), Step::Ask(Call(0))];
    let (answers, rows, opened) = run(&steps, false);
    assert_eq!(answers, ["0 ", "200 grpc-status: 5", "0 ", "200 grpc-status: 0"]);
    assert_eq!((rows, opened), (vec![refused, page], 1), "a dial is no hit, a page no success");
    let steps = [Step::Ask(Dial(0)), Step::Ask(Dial(1)), Step::Ask(Call(1)), Step::Ask(Call(0))];
    assert_eq!(run(&steps, false).2, 2, "each channel has its own");
    let steps = [Step::Ask(Dial(0)), Step::End(0), Step::Ask(Dial(0)), Step::Ask(Call(0))];
    let (answers, _, opened) = run(&steps, false);
    assert_eq!((answers.len(), opened), (3, 2), "a channel that ended is made anew");
}

#[test]
fn a_channel_stays_where_other_connections_do_not() {
    let calls = [
        Step::Ask(RequestKind::Dial(0)),
        Step::Ask(RequestKind::Call(0)),
        Step::Ask(RequestKind::Call(0)),
    ];
    let settings = Settings { keepalive: false, ..Settings::default() };
    let (answers, _, opened) = run_with(&calls, Refuser::default(), settings);
    assert_eq!((answers.len(), opened), (3, 1));
}

/// Issue 45: a channel whose streams are all taken ends as any other does, with the call on it and the one that waits.
#[test]
fn a_channel_without_a_free_stream_can_be_closed() {
    use RequestKind::{Call, Dial};
    let steps = [Step::Ask(Dial(0)), Step::Begin(Call(0)), Step::Begin(Call(0)), Step::End(0)];
    let holder = || Refuser { holds: true, ..Refuser::default() };
    let (answers, rows, opened) = run_with(&steps, holder(), Settings::default());
    assert_eq!(answers, ["0 ", "stopped", "stopped"]);
    assert_eq!((rows.len(), opened), (2, 1), "nothing is connected anew");
    let (answers, ..) = run_with(&steps[..3], holder(), Settings::default());
    assert_eq!(answers, ["0 ", "timeout", "timeout"], "without the end they would wait");
}

#[test]
fn a_server_that_says_nothing_is_no_connection() {
    let (answers, rows, _) = run(&[Step::Ask(RequestKind::Dial(0))], true);
    assert_eq!((answers, rows.len()), (vec!["timeout".to_owned()], 0));
}
