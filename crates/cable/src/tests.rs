//! Whole tests of Action Cable without an engine: users in a small world of their own, against a server that keeps the
//! protocol with `wire`'s other side and makes the mistakes that a test orders.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use stdx::Nanos;
use wire::cable::{Codec, CommandKind, Dialect, Format, Kind, Reply as CableReply};
use wire::ws::{DeflateAnswer, Event, Limits, Protocols, Role, WsSession, accept};
use workload::arrival::Shard;
use workload::{
    Commands, CustomFailure, CustomSample, EngineResponse, Pipe, PipeCommand, PipeEvent,
    PollBudget, RequestCommand, Segment, StopMode, VirtualUsers,
};

use crate::{Cable, CablePlan, CableReport, MergedParts, PartRecord, Pattern, Template};

/// What the server does wrong.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    /// Each how many-th delivery is lost; 0 for none.
    loses: u64,
    duplicates: u64,
    /// Each how many-th delivery is held back until the next one.
    reorders: u64,
    /// So many handshakes are refused first.
    refuses: u64,
    rejects: bool,
    /// Commands are never answered.
    is_mute: bool,
    /// Connections end so long after they began.
    ends_after: Option<Nanos>,
    /// A disconnect message precedes it.
    says_so: bool,
    /// Users beyond these get no deliveries: another process' subscribers.
    reaches: Option<u32>,
    pings: Option<Nanos>,
    /// The time in every token is changed to one in the far future.
    lies: bool,
}

/// A connection, the server's side.
struct Link {
    session: WsSession,
    pipe: Pipe,
    user: u32,
    began: Nanos,
    identifier: Option<String>,
    held: Option<String>,
}

/// The world: time, a server, the users of some workers.
struct World {
    now: Nanos,
    wrong: Wrong,
    codec: Codec,
    links: BTreeMap<(usize, u32), Link>,
    /// What is on its way to a worker, by when it is there.
    ways: VecDeque<(Nanos, usize, Pipe, Vec<u8>)>,
    serial: u32,
    deliveries: u64,
    /// What the server knows of what it did.
    lost: u64,
    duplicated: u64,
    reordered: u64,
    held: u64,
    handshakes: u64,
    last_ping: Nanos,
    users: u32,
    /// Turns in a row in which a worker wanted another at once.
    spins: BTreeMap<usize, u32>,
}

/// A way takes so long.
const LATENCY: Nanos = Nanos::from_millis(3);
/// A turn of the world.
const TURN: Nanos = Nanos::from_millis(1);

/// The outcome of a whole test.
struct TestRun {
    report: CableReport,
    samples: Vec<CustomSample>,
    world: World,
}

fn plan(pattern: Pattern, users: u32) -> CablePlan {
    CablePlan {
        url: "ws://h/cable".to_owned(),
        http_url: "http://h/cable".to_owned(),
        pattern,
        users,
        ramp: Nanos::ZERO,
        duration: Nanos::from_secs(1),
        identifier: Template::new(r#"{"channel":"ChatChannel","id":"demo"}"#),
        data: Template::new(r#"{"action":"speak","message":"{token}"}"#),
        codec: Codec { format: Format::Json, dialect: Dialect::Base },
        headers: vec![("Cookie".to_owned(), Template::new("uid={user}"))],
        timeout: Nanos::from_secs(1),
        jitter: Nanos::ZERO,
        backs_off: true,
        seed: 7,
        part: None,
    }
}

const fn broadcast(speakers: u32) -> Pattern {
    Pattern::Broadcast { speakers, every: Nanos::from_millis(20) }
}

const ECHO: Pattern = Pattern::Echo { every: Some(Nanos::from_millis(100)) };

/// Runs a test with two workers to its end.
fn run(plan: CablePlan, wrong: Wrong) -> TestRun {
    run_until(plan, wrong, Nanos::from_secs(100), |_, _| {})
}

/// The same, with `meddle` called after each turn; the test must be over by `limit`.
fn run_until(
    plan: CablePlan,
    wrong: Wrong,
    limit: Nanos,
    mut meddle: impl FnMut(&mut World, &mut [Box<dyn VirtualUsers>]),
) -> TestRun {
    let mut world = World::new(&plan, wrong);
    let cable = Cable::new(plan);
    let mut workers = workers(&cable);
    let mut samples = Vec::new();
    while !workers.iter().all(|users| users.is_over()) {
        world.turn(&mut workers, &mut samples);
        meddle(&mut world, &mut workers);
        assert!(world.now < limit, "it must end");
    }
    drop(workers);
    assert_eq!(cable.open(), 0, "who ends has no sockets");
    TestRun { report: cable.report(), samples, world }
}

/// The two workers of a machine, or its one.
fn workers(cable: &Arc<Cable>) -> Vec<Box<dyn VirtualUsers>> {
    let crew = cable.users();
    let step = crew.users.min(2);
    (0..step).map(|first| (crew.make)(Shard { first, step })).collect()
}

/// The machines of a test that several share.
const SEQUENCE: &str = "0,1/2,5/6,1";

/// Runs a test on three machines of different sizes to its end, a record of each in each second. `meddle` is called after each
/// turn.
fn run_on_three(
    plan: &CablePlan,
    wrong: Wrong,
    mut meddle: impl FnMut(&mut World, &mut [Box<dyn VirtualUsers>]),
) -> TestRun {
    let mut world = World::new(plan, wrong);
    let part = |segment| Segment::parse(segment, Some(SEQUENCE)).expect("sound").vus().clone();
    let parts = ["0:1/2", "1/2:5/6", "5/6:1"].map(part);
    let cables = parts.map(|part| Cable::new(CablePlan { part: Some(part), ..plan.clone() }));
    let mut workers: Vec<Box<dyn VirtualUsers>> = cables.iter().flat_map(workers).collect();
    let (mut merged, mut samples, mut passed) = (MergedParts::new(plan, 3), Vec::new(), 0);
    let mut take = |machine: usize, record: PartRecord| {
        record.split(7).into_iter().for_each(|piece| merged.take(machine as u16, piece));
    };
    while !workers.iter().all(|users| users.is_over()) {
        world.turn(&mut workers, &mut samples);
        meddle(&mut world, &mut workers);
        if cables.iter().all(|cable| cable.barriers_reached() > passed) {
            passed += 1;
            cables.iter().for_each(|cable| cable.pass_barrier(passed, world.now + Nanos::SECOND));
        }
        if world.now.0.is_multiple_of(Nanos::SECOND.0) {
            cables.iter().enumerate().for_each(|(at, cable)| take(at, cable.take_record()));
        }
        assert!(world.now < Nanos::from_secs(100), "it must end");
    }
    drop(workers);
    for (at, cable) in cables.iter().enumerate() {
        assert_eq!(cable.open(), 0, "who ends has no sockets");
        take(at, cable.take_last_record());
    }
    merged.finish();
    samples.retain(|sample| !sample.line.starts_with("BROADCAST"));
    samples.extend(merged.take_rows().into_iter().map(|(_, row)| row));
    TestRun { report: merged.report().clone(), samples, world }
}

impl World {
    fn new(plan: &CablePlan, wrong: Wrong) -> Self {
        Self {
            now: Nanos::ZERO,
            wrong,
            codec: plan.codec,
            links: BTreeMap::new(),
            ways: VecDeque::new(),
            serial: 0,
            deliveries: 0,
            lost: 0,
            duplicated: 0,
            reordered: 0,
            held: 0,
            handshakes: 0,
            last_ping: Nanos::ZERO,
            users: plan.users,
            spins: BTreeMap::new(),
        }
    }

    fn turn(&mut self, workers: &mut [Box<dyn VirtualUsers>], samples: &mut Vec<CustomSample>) {
        self.now += TURN;
        self.ping();
        self.end_old(workers);
        while let Some((_, worker, pipe, bytes)) = self.ways.pop_front_if(|way| way.0 <= self.now) {
            workers[worker].handle_pipe_event(pipe, self.now, PipeEvent::Bytes(&bytes));
        }
        for (worker, users) in workers.iter_mut().enumerate() {
            let mut commands = Commands::default();
            let wake = users.poll(self.now, &mut commands);
            // Else the engine would turn without a pause. A burst is gone on with at once.
            let spins = self.spins.entry(worker).or_default();
            *spins = if wake.is_some_and(|wake| wake <= self.now) { *spins + 1 } else { 0 };
            assert!(*spins < 10 || users.is_over(), "it has nothing to do, and says it has");
            for ask in std::mem::take(&mut commands.requests) {
                self.shake_hands(worker, users.as_mut(), &ask);
            }
            self.obey(worker, &commands);
            samples.append(&mut commands.samples);
        }
    }

    fn shake_hands(&mut self, worker: usize, users: &mut dyn VirtualUsers, ask: &RequestCommand) {
        assert!(ask.kind.is_upgrade() && ask.target.url == "http://h/cable");
        self.handshakes += 1;
        let cookie = ask.target.headers.iter().find(|(name, _)| name == "Cookie").expect("given");
        let user: u32 = cookie.1.trim_start_matches("uid=").parse().expect("a user's number");
        assert!((1..=self.users).contains(&user), "users are counted from 1");
        let (due, done) = (self.now, self.now + LATENCY);
        let reply = EngineResponse { due, done, ..EngineResponse::default() };
        if self.handshakes <= self.wrong.refuses {
            return users.handle_response(ask.user, &EngineResponse { status: 503, ..reply });
        }
        let fields = ask.target.headers.iter().map(|(n, v)| (n.as_bytes(), v.as_bytes()));
        let (head, agreed) = accept(fields, Protocols::Any, DeflateAnswer::Refuse).expect("sound");
        assert_eq!(agreed.protocol.as_deref(), Some(self.codec.subprotocol()));
        self.serial += 1;
        // Places are taken again, as the engine does.
        let free = (0..).find(|place| !self.links.contains_key(&(worker, *place)));
        let pipe = Pipe { place: free.expect("endless"), serial: self.serial };
        let status = 101;
        let reply = EngineResponse { status, head: Some(head.into()), pipe: Some(pipe), ..reply };
        users.handle_response(ask.user, &reply);
        let session = WsSession::new(Role::Server, &agreed, Limits::default(), 1);
        let mut link = Link { session, pipe, user, began: self.now, identifier: None, held: None };
        if !self.wrong.is_mute {
            let welcome = CableReply { kind: Kind::Welcome, ..CableReply::default() };
            let bytes = encode(&mut link.session, self.codec, &welcome);
            self.ways.push_back((self.now + LATENCY, worker, pipe, bytes));
        }
        self.links.insert((worker, pipe.place), link);
    }

    fn obey(&mut self, worker: usize, commands: &Commands) {
        let mut from = 0;
        for (pipe, order) in &commands.pipe_commands {
            match order {
                PipeCommand::Send(len) => {
                    let bytes = &commands.bytes[from..from + len];
                    from += len;
                    self.take(worker, *pipe, bytes);
                }
                PipeCommand::Close => {
                    let key = (worker, pipe.place);
                    if self.links.get(&key).is_some_and(|link| link.pipe == *pipe) {
                        self.links.remove(&key);
                    }
                }
                PipeCommand::Resume => {}
            }
        }
    }

    /// Bytes come from a client.
    fn take(&mut self, worker: usize, pipe: Pipe, bytes: &[u8]) {
        let link = self.links.get_mut(&(worker, pipe.place));
        let Some(link) = link.filter(|link| link.pipe == pipe) else { return };
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        let taken = link.session.handle_bytes(bytes, &mut out, &mut |event| match event {
            Event::Text(text) => messages.push(text.as_bytes().to_vec()),
            Event::Binary(bytes) => messages.push(bytes.to_vec()),
            _ => {}
        });
        taken.expect("clients keep the protocol");
        for message in messages {
            let command = self.codec.decode_command(&message).expect("a command");
            let identifier = command.identifier.decoded().into_owned();
            match command.kind {
                CommandKind::Subscribe => self.subscribe(worker, pipe, identifier),
                CommandKind::Message => self.perform(&command.data),
                other => panic!("{other:?}"),
            }
        }
    }

    fn subscribe(&mut self, worker: usize, pipe: Pipe, identifier: String) {
        let kind = if self.wrong.rejects { Kind::Reject } else { Kind::Confirm };
        let link = self.links.get_mut(&(worker, pipe.place)).expect("it speaks");
        let reply = CableReply { kind, identifier: &identifier, ..CableReply::default() };
        let bytes = encode(&mut link.session, self.codec, &reply);
        if !self.wrong.rejects {
            link.identifier = Some(identifier);
        }
        self.ways.push_back((self.now + LATENCY, worker, pipe, bytes));
    }

    /// Sends what was performed to all subscribers, as Rails' chat does.
    fn perform(&mut self, data: &str) {
        let mut message = format!(r#"{{"action":"newMessage","author_id":1,"message":{data}}}"#);
        if let Some(at) = message.find("brunt").filter(|_| self.wrong.lies) {
            let time = at + "brunt".len() + 3 * 8;
            message.replace_range(time..time + 16, &"f".repeat(16));
        }
        let (wrong, codec, now) = (self.wrong, self.codec, self.now);
        for ((worker, _), link) in &mut self.links {
            let Some(identifier) = &link.identifier else { continue };
            self.deliveries += 1;
            let each = |share: u64, at: u64| share > 0 && at.is_multiple_of(share);
            let reached = wrong.reaches.is_none_or(|upto| link.user <= upto);
            if !reached || each(wrong.loses, self.deliveries) {
                self.lost += 1;
                continue;
            }
            let mut texts = vec![message.clone()];
            if let Some(held) = link.held.take() {
                texts.push(held);
                self.held -= 1;
                self.reordered += 1;
            }
            if each(wrong.reorders, self.deliveries) && texts.len() == 1 {
                link.held = texts.pop();
                self.held += 1;
            }
            if each(wrong.duplicates, self.deliveries) && !texts.is_empty() {
                texts.push(texts[0].clone());
                self.duplicated += 1;
            }
            for text in texts {
                let reply =
                    CableReply { identifier, message: Some(&text), ..CableReply::default() };
                let bytes = encode(&mut link.session, codec, &reply);
                self.ways.push_back((now + LATENCY, *worker, link.pipe, bytes));
            }
        }
    }

    fn ping(&mut self) {
        let Some(every) = self.wrong.pings else { return };
        if self.now.saturating_sub(self.last_ping) < every {
            return;
        }
        self.last_ping = self.now;
        for ((worker, _), link) in &mut self.links {
            let reply = CableReply {
                kind: Kind::Ping,
                message: Some("1700000000"),
                ..CableReply::default()
            };
            let bytes = encode(&mut link.session, self.codec, &reply);
            self.ways.push_back((self.now + LATENCY, *worker, link.pipe, bytes));
        }
    }

    /// Ends connections whose time is over.
    fn end_old(&mut self, workers: &mut [Box<dyn VirtualUsers>]) {
        let Some(after) = self.wrong.ends_after else { return };
        let now = self.now;
        let old = self.links.extract_if(.., |_, link| link.began + after <= now);
        for ((worker, _), mut link) in old.collect::<Vec<_>>() {
            let pipe = link.pipe;
            if self.wrong.says_so {
                let reply = CableReply {
                    kind: Kind::Disconnect,
                    reason: "server_restart",
                    reconnect: Some(true),
                    ..CableReply::default()
                };
                let bytes = encode(&mut link.session, self.codec, &reply);
                workers[worker].handle_pipe_event(pipe, now, PipeEvent::Bytes(&bytes));
            }
            workers[worker].handle_pipe_event(pipe, now, PipeEvent::End);
        }
    }
}

/// A reply as bytes of a WebSocket.
fn encode(session: &mut WsSession, codec: Codec, reply: &CableReply<'_>) -> Vec<u8> {
    let (mut message, mut out) = (Vec::new(), Vec::new());
    codec.encode_reply(reply, &mut message).expect("sound");
    if codec.is_text() {
        session.send_text(std::str::from_utf8(&message).expect("JSON"), &mut out).expect("open");
    } else {
        session.send_binary(&message, &mut out).expect("open");
    }
    out
}

#[test]
fn every_echo_comes_back() {
    for format in [Format::Json, Format::Msgpack, Format::Protobuf] {
        let codec = Codec { format, dialect: Dialect::Base };
        let ran = run(CablePlan { codec, ..plan(ECHO, 5) }, Wrong::default());
        let seen = &ran.report;
        assert_eq!((seen.attempts, seen.subscribed, seen.open_most), (5, 5, 5));
        assert!((45..=55).contains(&seen.sent), "5 users, 10 a second: {}", seen.sent);
        assert_eq!((seen.answered, seen.unanswered), (seen.sent, 0));
        // In a chat all receive everything, except what comes after the end.
        assert!((4 * seen.sent - 20..=4 * seen.sent).contains(&seen.overheard));
        assert!(seen.round_trip.max() < Nanos::from_millis(6), "{:?}", seen.round_trip.max());
        assert_eq!(ran.samples.len() as u64, seen.sent);
        assert!(ran.samples.iter().all(|sample| &*sample.line == "PERFORM ws://h/cable"));
        assert_eq!(seen.problems, BTreeMap::new());
    }
}

/// Thousands that are due at once come a few at a time, and others are looked at in between.
#[test]
fn a_herd_takes_turns() {
    let cable = Cable::new(plan(Pattern::Herd { cuts: 0, give_up: Nanos::SECOND }, 100));
    let mut users = (cable.users().make)(Shard { first: 0, step: 1 });
    let now = Nanos::SECOND;
    for (share, asks) in
        [(PollBudget::FULL, 8), (PollBudget::NONE, 0), (PollBudget::ONE, 1), (PollBudget::FULL, 8)]
    {
        let mut commands = Commands { budget: share, ..Commands::default() };
        assert_eq!(users.poll(now, &mut commands), Some(Nanos::ZERO), "more are due");
        assert_eq!(commands.requests.len(), asks);
    }
}

#[test]
fn a_closed_loop_sends_after_each_answer() {
    let ran = run(plan(Pattern::Echo { every: None }, 2), Wrong::default());
    let seen = ran.report;
    // A round trip of 3 ms in turns of 1 ms, for a second.
    assert!((2 * 200..=2 * 340).contains(&seen.sent), "{}", seen.sent);
    assert_eq!(seen.answered, seen.sent);
}

#[test]
fn lost_echoes_are_counted_and_go_on() {
    let ran = run(plan(Pattern::Echo { every: None }, 1), Wrong { loses: 2, ..Wrong::default() });
    let seen = ran.report;
    assert_eq!((seen.answered + seen.unanswered, seen.unanswered), (seen.sent, ran.world.lost));
    assert!(seen.unanswered > 0);
    let failed = ran.samples.iter().filter(|sample| sample.failure.is_some()).count() as u64;
    assert_eq!(failed, seen.unanswered);
}

#[test]
fn every_delivery_of_a_broadcast_is_counted() {
    for speakers in [1, 3] {
        let ran = run(plan(broadcast(speakers), 9), Wrong::default());
        let (seen, sums) = (&ran.report, ran.report.deliveries);
        assert_eq!((seen.sent, seen.not_sent), (50, 0), "one each 20 ms for a second");
        assert_eq!((sums.expected, sums.delivered, sums.lost), (450, 450, 0));
        assert_eq!((sums.duplicated, sums.out_of_order, sums.late, sums.early), (0, 0, 0, 0));
        assert_eq!((seen.subscribers.all, seen.complete_messages), (9, 50));
        assert_eq!(seen.fan_out.count(), 450);
        assert!(seen.messages.iter().map(|message| message.number).eq(1..=50));
        assert!(
            ran.samples.iter().all(|sample| sample.failure.is_none()) && ran.samples.len() == 50
        );
    }
}

#[test]
fn what_a_server_loses_and_repeats_is_found_to_the_last() {
    for format in [Format::Json, Format::Msgpack, Format::Protobuf] {
        let codec = Codec { format, dialect: Dialect::Base };
        let wrong = Wrong { loses: 7, duplicates: 5, reorders: 11, ..Wrong::default() };
        let ran = run(CablePlan { codec, ..plan(broadcast(1), 10) }, wrong);
        check_found_to_the_last(&ran, 500);
    }
}

/// All that the server did wrong is in the report, of so many deliveries that were due.
fn check_found_to_the_last(ran: &TestRun, expected: u64) {
    let (seen, sums) = (&ran.report, ran.report.deliveries);
    // What is held back at the end is never sent.
    assert_eq!(sums.lost, ran.world.lost + ran.world.held);
    assert_eq!((sums.expected, sums.delivered), (expected, expected - sums.lost));
    assert_eq!(sums.duplicated, ran.world.duplicated);
    assert_eq!(sums.out_of_order, ran.world.reordered);
    assert!(sums.out_of_order > 0 && sums.duplicated > 0 && sums.lost > 0);
    let failed = ran.samples.iter().filter(|sample| sample.failure.is_some()).count() as u64;
    assert_eq!(failed, seen.sent - seen.complete_messages);
}

#[test]
fn subscribers_that_receive_nothing_are_counted_apart() {
    let ran = run(plan(broadcast(1), 12), Wrong { reaches: Some(7), ..Wrong::default() });
    let seen = ran.report;
    assert_eq!((seen.subscribers.all, seen.subscribers.some, seen.subscribers.none), (7, 0, 5));
    assert_eq!((seen.deliveries.lost, seen.complete_messages), (5 * seen.sent, 0));
}

#[test]
fn who_is_dropped_comes_back_and_is_not_owed_what_it_missed() {
    for says_so in [false, true] {
        let ends_after = Some(Nanos::from_millis(1_300));
        let wrong = Wrong { ends_after, says_so, ..Wrong::default() };
        let duration = Nanos::from_secs(4);
        let ran = run(CablePlan { duration, ..plan(broadcast(1), 6) }, wrong);
        let (seen, sums) = (&ran.report, ran.report.deliveries);
        assert_eq!(seen.dropped, 18, "each three times");
        assert_eq!(seen.subscribed, 24, "and came back");
        assert_eq!((sums.lost, sums.delivered + sums.cut), (0, sums.expected), "{sums:?}");
        assert_eq!(seen.recovered.count(), 18);
        assert_eq!(seen.sent + seen.not_sent, 200);
    }
}

#[test]
fn refusals_are_waited_out_and_counted() {
    let herd = Pattern::Herd { cuts: 0, give_up: Nanos::from_secs(30) };
    let refuses = 40;
    let ran = run(plan(herd, 8), Wrong { refuses, ..Wrong::default() });
    let seen = ran.report;
    assert_eq!((seen.refused, seen.subscribed, seen.backoffs), (40, 8, 40));
    assert_eq!(ran.world.handshakes, 48);
    assert!(ran.world.now > Nanos::from_secs(2), "five waits each, at least half of 3.1 s");
    assert_eq!(seen.problems["handshake: handshake refused with status 503"], 40, "{seen:?}");
    let ran =
        run(CablePlan { backs_off: false, ..plan(herd, 8) }, Wrong { refuses, ..Wrong::default() });
    assert_eq!((ran.report.backoffs, ran.report.refused), (0, 40));
    assert!(ran.world.now < Nanos::from_secs(2));
}

#[test]
fn a_herd_comes_back_as_often_as_it_is_cut_off() {
    let herd = Pattern::Herd { cuts: 3, give_up: Nanos::from_secs(30) };
    for jitter in [Nanos::ZERO, Nanos::from_millis(500)] {
        let duration = Nanos::from_millis(200);
        let ran = run(CablePlan { jitter, duration, ..plan(herd, 20) }, Wrong::default());
        let seen = ran.report;
        assert_eq!((seen.attempts, seen.subscribed, seen.dropped), (80, 80, 0));
        assert_eq!(seen.rounds.len(), 4);
        assert!(seen.rounds.iter().all(|round| (round.subscribed, round.given_up) == (20, 0)));
        let last = seen.rounds[2].ready.max();
        assert_eq!(last > Nanos::from_millis(300), jitter > Nanos::ZERO, "{last}");
        assert_eq!(seen.recovered.count(), 60);
    }
}

#[test]
fn a_herd_that_is_never_let_in_is_given_up() {
    let herd = Pattern::Herd { cuts: 1, give_up: Nanos::from_secs(3) };
    let ran = run(plan(herd, 4), Wrong { refuses: u64::MAX, ..Wrong::default() });
    let seen = ran.report;
    assert_eq!(seen.rounds.iter().map(|round| round.given_up).collect::<Vec<_>>(), [4, 4]);
    assert_eq!((seen.subscribed, seen.refused), (0, seen.attempts));
}

#[test]
fn who_is_rejected_or_never_confirmed_does_not_stop_the_others() {
    let ran = run(plan(broadcast(1), 3), Wrong { rejects: true, ..Wrong::default() });
    assert_eq!((ran.report.turned_away, ran.report.attempts), (3, 3), "they do not come back");
    assert_eq!((ran.report.sent, ran.report.not_sent), (0, 50));
    assert_eq!(ran.report.problems["subscription rejected"], 3);
    let ran = run(plan(Pattern::Idle, 3), Wrong { is_mute: true, ..Wrong::default() });
    assert!(ran.report.unconfirmed >= 3 && ran.report.subscribed == 0);
    assert!(ran.report.problems["no welcome in time"] >= 3);
    assert!(ran.world.now < Nanos::from_secs(4), "nobody waits for them longer than that");
}

#[test]
fn missing_pings_are_reported() {
    let duration = Nanos::from_secs(15);
    let pings = Some(Nanos::from_secs(3));
    let idle = |wrong| run(CablePlan { duration, ..plan(Pattern::Idle, 4) }, wrong).report;
    let seen = idle(Wrong { pings, ..Wrong::default() });
    assert_eq!((seen.pings, seen.silences), (20, 0));
    assert_eq!(seen.ping_gap.count(), 16, "from each to the next");
    assert!(seen.silence_longest < Nanos::from_millis(3_100), "{}", seen.silence_longest);
    let seen = idle(Wrong::default());
    assert_eq!((seen.pings, seen.silences), (0, 4), "each once");
    assert!(seen.silence_longest > Nanos::from_secs(14));
}

#[test]
fn a_ramp_brings_users_one_after_the_other() {
    let ramp = Nanos::from_secs(2);
    let mut open = Vec::new();
    run_until(
        CablePlan { ramp, ..plan(Pattern::Idle, 100) },
        Wrong::default(),
        Nanos::from_secs(10),
        |world, _| {
            if world.now.0.is_multiple_of(500_000_000) {
                open.push(world.links.len());
            }
        },
    );
    for (at, open) in open[..3].iter().enumerate() {
        let expect = (at + 1) * 25;
        assert!((expect - 2..=expect + 2).contains(open), "{open} of {expect}");
    }
}

#[test]
fn an_interrupt_ends_what_is_under_way_and_reports() {
    for pattern in [ECHO, broadcast(1), Pattern::Idle] {
        let mut ended = None;
        let ran = run_until(
            CablePlan { duration: Nanos::from_secs(60), ..plan(pattern, 6) },
            Wrong { loses: 10, ..Wrong::default() },
            Nanos::from_secs(20),
            |world, workers| {
                if world.now == Nanos::from_secs(5) {
                    workers.iter_mut().for_each(|users| users.stop(StopMode::Graceful));
                    ended = Some(world.now);
                }
            },
        );
        let seen = ran.report;
        assert!(ran.world.now <= Nanos::from_millis(6_100), "no longer than the timeout");
        assert_eq!((ended.is_some(), seen.subscribed), (true, 6));
        assert_eq!(seen.answered + seen.unanswered, if pattern == ECHO { seen.sent } else { 0 });
    }
    let ran = run_until(
        CablePlan { duration: Nanos::from_secs(60), ..plan(broadcast(1), 6) },
        Wrong::default(),
        Nanos::from_secs(20),
        |world, workers| {
            if world.now == Nanos::from_secs(5) {
                workers.iter_mut().for_each(|users| users.stop(StopMode::Immediate));
            }
        },
    );
    assert_eq!(ran.world.now, Nanos::from_secs(5), "at once");
    assert!(ran.report.sent > 0, "and the report has what was seen");
}

/// Issue 14, N7: an interrupt does not wait as long as the timeout for messages that will not come; nor are they lost.
#[test]
fn an_interrupt_waits_a_second_for_messages_at_most() {
    for pattern in [ECHO, Pattern::Echo { every: None }, broadcast(1)] {
        let timeout = Nanos::from_secs(10);
        let ran = run_until(
            CablePlan { duration: Nanos::from_secs(60), timeout, ..plan(pattern, 6) },
            Wrong { loses: 1, ..Wrong::default() },
            Nanos::from_secs(20),
            |world, workers| {
                if world.now == Nanos::from_secs(2) {
                    workers.iter_mut().for_each(|users| users.stop(StopMode::Graceful));
                }
            },
        );
        let (seen, sums) = (&ran.report, ran.report.deliveries);
        assert!(ran.world.now <= Nanos::from_millis(3_010), "{pattern:?}: {}", ran.world.now);
        assert!(seen.sent > 0 && seen.answered + seen.unanswered == 0, "{seen:?}");
        let is_echo = matches!(pattern, Pattern::Echo { .. });
        assert_eq!(seen.cut, if is_echo { seen.sent } else { 0 }, "none is called lost");
        assert_eq!((sums.lost, sums.cut), (0, sums.expected));
        let stopped =
            |sample: &&CustomSample| matches!(sample.failure, Some((CustomFailure::Stopped, _)));
        assert_eq!(ran.samples.iter().filter(stopped).count() as u64, seen.sent);
    }
}

#[test]
fn a_hostile_server_costs_counts_and_nothing_else() {
    let noise: &[&[u8]] = &[
        b"\x81\x02{}",
        b"\x81\x05hello",
        b"\x81\x03\xff\xfe\xfd",
        b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff",
        b"\x81\x80\0\0\0\0",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x89\0\x88\x02\x03\xe8",
    ];
    let mut at = 0;
    let ran = run_until(
        CablePlan { duration: Nanos::from_secs(3), ..plan(broadcast(1), 4) },
        Wrong::default(),
        Nanos::from_secs(20),
        |world, workers| {
            at += 1;
            let pipes: Vec<_> =
                world.links.iter().map(|((worker, _), link)| (*worker, link.pipe)).collect();
            if at % 40 == 0 && world.now < Nanos::from_secs(3) {
                let (worker, pipe) = pipes[(at / 40) % pipes.len().max(1)];
                let bytes = noise[(at / 40) % noise.len()];
                workers[worker].handle_pipe_event(pipe, world.now, PipeEvent::Bytes(bytes));
            }
        },
    );
    let (seen, sums) = (&ran.report, ran.report.deliveries);
    assert!(seen.dropped > 0 && seen.problems.len() > 2, "{:?}", seen.problems);
    assert_eq!(sums.lost + sums.delivered + sums.cut, sums.expected, "nothing is counted twice");
    assert_eq!(sums.lost, 0, "who was dropped is not owed: {sums:?}");
}

#[test]
fn a_broadcast_on_three_machines_is_counted_to_the_last_delivery() {
    for speakers in [1, 2, 5, 17] {
        let ran = run_on_three(&plan(broadcast(speakers), 17), Wrong::default(), |_, _| {});
        let (seen, sums) = (&ran.report, ran.report.deliveries);
        assert_eq!((seen.sent, seen.not_sent, seen.open_most), (50, 0, 17), "{speakers}");
        assert_eq!((sums.expected, sums.delivered, sums.lost, sums.cut), (850, 850, 0, 0));
        assert_eq!((sums.duplicated, sums.out_of_order, sums.late, sums.early), (0, 0, 0, 0));
        assert_eq!((seen.subscribers.all, seen.complete_messages), (17, 50));
        assert_eq!((seen.fan_out.count(), seen.complete.count()), (850, 50));
        assert!(seen.messages.iter().map(|message| message.number).eq(1..=50));
        assert_eq!(ran.samples.len(), 50);
        assert!(ran.samples.iter().all(|sample| sample.failure.is_none()));
        assert!(seen.fan_out.max() < Nanos::from_millis(6), "{}", seen.fan_out.max());
        assert!(ran.world.now < Nanos::from_secs(4), "nobody waits for what has come");
        assert_eq!(seen.problems, BTreeMap::new());
    }
}

#[test]
fn what_is_lost_on_three_machines_is_found_to_the_last() {
    let wrong = Wrong { loses: 7, duplicates: 5, reorders: 11, ..Wrong::default() };
    let ran = run_on_three(&plan(broadcast(1), 20), wrong, |_, _| {});
    check_found_to_the_last(&ran, 1_000);
    assert_eq!(ran.report.deliveries.cut, 0);
}

#[test]
fn machines_that_no_message_reaches_were_owed_them() {
    // The first users are on different machines; those above the third get nothing.
    let ran = run_on_three(
        &plan(broadcast(1), 12),
        Wrong { reaches: Some(3), ..Wrong::default() },
        |_, _| {},
    );
    let seen = ran.report;
    assert_eq!((seen.subscribers.all, seen.subscribers.some, seen.subscribers.none), (3, 0, 9));
    assert_eq!((seen.deliveries.expected, seen.deliveries.lost), (12 * seen.sent, 9 * seen.sent));
}

#[test]
fn who_comes_and_goes_on_three_machines_is_owed_what_it_was_there_for() {
    let wrong = Wrong { ends_after: Some(Nanos::from_millis(1_700)), ..Wrong::default() };
    let duration = Nanos::from_secs(4);
    let ran = run_on_three(&CablePlan { duration, ..plan(broadcast(2), 9) }, wrong, |_, _| {});
    let (seen, sums) = (&ran.report, ran.report.deliveries);
    assert!(seen.dropped >= 18, "{}", seen.dropped);
    assert_eq!((sums.lost, sums.delivered + sums.cut), (0, sums.expected), "{sums:?}");
    assert_eq!(seen.sent + seen.not_sent, 200);
}

#[test]
fn echo_idle_and_herd_on_three_machines_are_those_of_one() {
    let three = |plan: &CablePlan| run_on_three(plan, Wrong::default(), |_, _| {}).report;
    let seen = three(&plan(ECHO, 12));
    // The time until the barrier is passed counts, too.
    assert_eq!((seen.subscribed, seen.answered, seen.unanswered), (12, seen.sent, 0));
    assert!((120..=300).contains(&seen.sent), "12 users, 10 a second: {}", seen.sent);
    let seen = three(&plan(Pattern::Idle, 12));
    assert_eq!((seen.subscribed, seen.open_most), (12, 12));
    let herd = Pattern::Herd { cuts: 2, give_up: Nanos::from_secs(30) };
    let seen = three(&plan(herd, 12));
    let rounds: Vec<_> = seen.rounds.iter().map(|round| round.subscribed).collect();
    assert_eq!((rounds, seen.attempts), (vec![12, 12, 12], 36));
}

#[test]
fn an_interrupt_ends_three_machines() {
    let duration = Nanos::from_secs(60);
    for pattern in [ECHO, broadcast(3), Pattern::Idle] {
        let plan = CablePlan { duration, ..plan(pattern, 9) };
        let wrong = Wrong { loses: 10, ..Wrong::default() };
        let ran = run_on_three(&plan, wrong, |world, workers| {
            if world.now == Nanos::from_secs(5) {
                workers.iter_mut().for_each(|users| users.stop(StopMode::Graceful));
            }
        });
        assert!(ran.world.now <= Nanos::from_millis(6_010), "{}", ran.world.now);
        let sums = ran.report.deliveries;
        assert_eq!(sums.expected, sums.delivered + sums.lost + sums.cut);
    }
}

#[test]
fn a_server_that_lies_about_times_keeps_nothing_open() {
    let ran =
        run_on_three(&plan(broadcast(1), 6), Wrong { lies: true, ..Wrong::default() }, |_, _| {});
    let (seen, sums) = (&ran.report, ran.report.deliveries);
    assert_eq!((seen.sent, seen.unknown, sums.delivered), (50, 300, 0));
    assert_eq!((sums.expected, sums.lost), (300, 300));
    assert!(ran.world.now < Nanos::from_secs(6), "{}", ran.world.now);
}
