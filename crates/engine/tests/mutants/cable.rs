//! WebSockets and Action Cable: what the demo server says to the users of a test of cable, mutated as frames and as messages.

use std::sync::Arc;

use cable::{Cable, CablePlan, Pattern, Template};
use demo::{Config, ServerMachine};
use engine::{Capture, CapturedHeaders, Protocol, Settings, TlsSettings};
use stdx::Nanos;
use wire::cable::{Codec, Dialect, Format};
use workload::{Load, Plan, Targets};

use crate::frames::{WS_FRAMES, WS_MESSAGES};
use crate::mutation::Grammar;
use crate::trial::{Counts, Trial, run_all};
use crate::world::{SERVER, plan};

const PATTERNS: [Pattern; 4] = [
    Pattern::Broadcast { speakers: 2, every: Nanos::from_millis(50) },
    Pattern::Echo { every: Some(Nanos::from_millis(50)) },
    Pattern::Herd { cuts: 1, give_up: Nanos::from_secs(3) },
    Pattern::Idle,
];
const FORMATS: [Format; 3] = [Format::Json, Format::Msgpack, Format::Protobuf];

fn trial(seed: u64, grammar: Grammar) -> (Trial, Counts) {
    let format = FORMATS[seed as usize / PATTERNS.len() % FORMATS.len()];
    let cable: Arc<Cable> = Cable::new(CablePlan {
        url: format!("ws://{SERVER}/cable"),
        http_url: format!("http://{SERVER}/cable"),
        pattern: PATTERNS[seed as usize % PATTERNS.len()],
        users: 4,
        ramp: Nanos::from_millis(50),
        duration: Nanos::from_millis(600),
        identifier: Template::new(r#"{"channel":"ChatChannel","id":"demo"}"#),
        data: Template::new(r#"{"action":"speak","message":"{token}"}"#),
        codec: Codec { format, dialect: Dialect::Base },
        headers: Vec::new(),
        timeout: Nanos::from_millis(500),
        jitter: Nanos::ZERO,
        backs_off: true,
        seed,
        part: None,
    });
    let plan = Plan {
        load: Load::Users(cable.users()),
        duration: None,
        targets: Targets::default(),
        seed,
        ..plan(Load::Closed { users: 1 }, 1, &["/"])
    };
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let tls = TlsSettings { insecure: true, ..TlsSettings::default() };
    let settings = Settings { protocol: Protocol::Http1, capture, tls, ..Settings::default() };
    let pings = demo::Cable { ping: Nanos::from_millis(100), ..demo::Cable::default() };
    let config = Config { cable: Some(pings), seed, ..Config::default() };
    let server = Box::new(ServerMachine::new(config).expect("a server"));
    let counts = move || {
        let report = cable.report();
        let sums = report.deliveries;
        let all = sums.delivered + sums.lost + sums.cut;
        assert_eq!(sums.expected, all, "each delivery is accounted for once");
        let (opened, refused, subscribed) = (report.opened, report.refused, report.subscribed);
        format!("{opened} opened, {refused} refused, {subscribed} subscribed, {sums:?}")
    };
    (Trial { grammar, server, plan, settings }, Box::new(counts))
}

#[test]
fn no_mutated_frame_of_a_socket_stops_a_run() {
    run_all("sockets", |seed| trial(seed, WS_FRAMES));
}

#[test]
fn no_mutated_message_of_action_cable_stops_a_run() {
    run_all("cable", |seed| trial(seed, WS_MESSAGES));
}
