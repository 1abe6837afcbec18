//! Tests of Action Cable against the demo's cable, in worlds with every fault: what is owed, made, lost and cut off adds up.

use std::sync::Arc;

use cable::{Cable, CablePlan, Pattern, Template};
use demo::{Config, ServerMachine};
use engine::{Capture, CapturedHeaders, Protocol, Settings, SimulationResult, simulate};
use net::Address;
use net::sim::{Faults, World};
use stdx::Nanos;
use wire::cable::{Codec, Dialect, Format};
use workload::{Load, Plan, Targets};

use crate::world::{SERVER, check_oracles};

const BROADCAST: Pattern = Pattern::Broadcast { speakers: 2, every: Nanos::from_millis(50) };
const ECHO: Pattern = Pattern::Echo { every: Some(Nanos::from_millis(200)) };
const HERD: Pattern = Pattern::Herd { cuts: 2, give_up: Nanos::from_secs(20) };

fn test(
    seed: u64,
    faults: Faults,
    pattern: Pattern,
    server: demo::Cable,
) -> (SimulationResult, Arc<Cable>) {
    let formats = [Format::Json, Format::Msgpack, Format::Protobuf];
    let format = formats[seed as usize % formats.len()];
    let cable = Cable::new(CablePlan {
        url: format!("ws://{SERVER}/cable"),
        http_url: format!("http://{SERVER}/cable"),
        pattern,
        users: 8,
        ramp: Nanos::from_millis(300),
        duration: Nanos::from_secs(2),
        identifier: Template::new(r#"{"channel":"ChatChannel","id":"demo"}"#),
        data: Template::new(r#"{"action":"speak","message":"{token}"}"#),
        codec: Codec { format, dialect: Dialect::Base },
        headers: Vec::new(),
        timeout: Nanos::from_secs(2),
        jitter: Nanos::ZERO,
        backs_off: true,
        seed,
        part: None,
    });
    let plan = Plan {
        warmup: Nanos::ZERO,
        think: stdx::Distribution::None,
        name: "cable".to_owned(),
        load: Load::Users(cable.users()),
        duration: None,
        hits_max: None,
        targets: Targets::default(),
        seed,
        part: None,
    };
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings = Settings { protocol: Protocol::Http1, capture, ..Settings::default() };
    let mut world = World::new(seed, faults);
    let address = Address::Ip(SERVER.parse().expect("an address"));
    let config = Config { cable: Some(server), ..Config::default() };
    world.add_peer(address, Box::new(ServerMachine::new(config).expect("a server")));
    (simulate(world, plan, &settings).expect("the settings are sound"), cable)
}

#[test]
fn a_sound_world_loses_nothing() {
    for seed in 0..3 {
        let (run, cable) = test(seed, Faults::default(), BROADCAST, demo::Cable::default());
        check_oracles(&run);
        let seen = cable.report();
        assert_eq!((seen.sent, seen.not_sent, seen.complete_messages), (40, 0, 40));
        let sums = seen.deliveries;
        assert_eq!((sums.expected, sums.delivered, sums.duplicated), (320, 320, 0));
        let rows = || run.batches.iter().flat_map(|batch| &batch.samples);
        assert_eq!(
            rows().filter(|row| row.outcome == metrics::Outcome::Http(101)).count(),
            8,
            "a row for each connection"
        );
        assert_eq!(
            rows().filter(|row| row.outcome == metrics::Outcome::Message).count(),
            40,
            "and for each message"
        );
    }
}

#[test]
fn a_lossy_server_is_found_out() {
    let defects = demo::Cable { loss: 0.1, duplicate: 0.1, reorder: 0.1, ..demo::Cable::default() };
    let (run, cable) = test(4, Faults::default(), BROADCAST, defects);
    check_oracles(&run);
    let (seen, sums) = (cable.report(), cable.report().deliveries);
    assert_eq!((sums.expected, sums.delivered + sums.lost, sums.cut), (320, 320, 0));
    assert!((15..=60).contains(&sums.lost), "{sums:?}");
    assert!(sums.duplicated > 0 && sums.out_of_order > 0, "{sums:?}");
    let failed = run.total.failures[1..].iter().sum::<u64>();
    assert_eq!(failed, seen.sent - seen.complete_messages, "a failed row for each of them");
}

#[test]
fn whatever_fails_is_counted_once() {
    let mut dropped = 0;
    for seed in 0..60 {
        for pattern in [BROADCAST, ECHO, HERD, Pattern::Idle] {
            let faults = Faults { server_stalls: Vec::new(), ..Faults::random(seed) };
            let (run, cable) = test(seed, faults, pattern, demo::Cable::default());
            check_oracles(&run);
            let (seen, sums) = (cable.report(), cable.report().deliveries);
            let at = format!("seed {seed}, {pattern:?}: {seen:?}");
            assert_eq!(sums.expected, sums.delivered + sums.lost + sums.cut, "{at}");
            // Some are under way when it ends.
            let answered = seen.opened + seen.refused;
            assert!((answered..=answered + 8).contains(&seen.attempts), "{at}");
            if pattern == ECHO {
                assert_eq!(seen.sent, seen.answered + seen.unanswered + seen.cut, "{at}");
            }
            let settled: u64 =
                seen.rounds.iter().map(|round| round.subscribed + round.given_up).sum();
            assert_eq!(settled, 8 * if pattern == HERD { 3 } else { 1 }, "{at}");
            dropped += seen.dropped;
        }
    }
    assert!(dropped > 0, "or losing connections is not tested");
}
