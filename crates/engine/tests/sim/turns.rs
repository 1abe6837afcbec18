//! Making and ending connections takes turns with events: however many are due at once, the loop never stands still for them.

use std::net::IpAddr;
use std::rc::Rc;

use cable::{Cable, CablePlan, Pattern, Template};
use demo::{Config, ServerMachine};
use engine::{Capture, CapturedHeaders, Protocol, Settings, SimulationResult, simulate};
use net::Address;
use net::sim::{Faults, World};
use stdx::Nanos;
use wire::cable::{Codec, Dialect, Format};
use workload::{Load, Plan, Targets};

use crate::watched::{LOOKUP, Seen, Watched};
use crate::world::{SERVER, check_oracles, constant, plan, server};

/// What the server is called as well.
const NAME: &str = "staging.example";
/// What each call of the machine costs: a dial on loopback takes about so long.
const CALL: Nanos = Nanos::from_micros(50);
/// Connections made and ended at a stretch, at most: what fits into the worker's millisecond.
const MOST: usize = 20;

fn run(
    faults: Faults,
    config: Config,
    plan: Plan,
    settings: &Settings,
) -> (SimulationResult, Rc<Seen>) {
    let mut world = World::new(3, Faults { call_cost: CALL, ..faults });
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(ServerMachine::new(config).expect("a server")));
    world.add_name(NAME, vec![IpAddr::from([127, 0, 0, 1])]);
    let (watched, seen) = Watched::of(world);
    let outcome = simulate(watched, plan, settings).expect("the settings are sound");
    check_oracles(&outcome);
    (outcome, seen)
}

/// Nothing was done at a stretch that others had to wait for, and the loop never stood still.
fn check(what: &str, (outcome, seen): &(SimulationResult, Rc<Seen>)) {
    let generator = &outcome.total.generator;
    let stalls = (generator.stalls, generator.stall_longest);
    assert_eq!(stalls, (0, Nanos::ZERO), "{what}: {} connections", seen.opened.get());
    assert!(seen.most.get() <= MOST, "{what}: {} at once", seen.most.get());
}

/// Issue 14: 15,000 connections of a closed loop stood still for 2.3 s.
#[test]
fn many_users_begin_without_standing_still() {
    let closed = plan(Load::Closed { users: 5_000 }, 3, &["/"]);
    let ran = run(Faults::default(), server(0, "none"), closed, &Settings::default());
    check("users", &ran);
    assert_eq!(ran.1.opened.get(), 5_000, "each has a connection");
}

/// While a name is being resolved, users of a closed loop do not all begin at once, to wait for their dials afterwards.
#[test]
fn users_begin_in_turns_where_a_name_is_resolved_first() {
    let closed = plan(Load::Closed { users: 3_000 }, 2, &["/"]);
    let mut named = closed.targets.list().get(0).expect("a target").to_target();
    named.url = format!("http://{NAME}/");
    let longest = |plan: Plan| {
        let plan = Plan { hits_max: Some(3_000), ..plan };
        let ran = run(Faults::default(), server(0, "none"), plan, &Settings::default());
        check("users", &ran);
        ran.0.total.response.max()
    };
    let by_name = longest(Plan { targets: Targets::new(vec![named]), ..closed.clone() });
    let by_address = longest(closed);
    assert!(by_name < by_address + LOOKUP + LOOKUP, "{by_name} and {by_address}");
}

/// What is overdue ends in time, however many dials are due meanwhile.
#[test]
fn hits_of_a_rate_time_out_while_others_are_dialled() {
    let open = plan(constant(20_000), 3, &["/hang"]);
    let settings = Settings { timeout: Some(Nanos::SECOND), ..Settings::default() };
    let ran = run(Faults::default(), server(0, "none"), open, &settings);
    check("a rate that hangs", &ran);
    let longest = ran.0.total.service.max();
    assert!(longest < Nanos::from_millis(1_200), "a timeout of 1 s ended after {longest}");
}

/// A hit that waits for its dial is late, and the record has its lag.
#[test]
fn hits_of_a_rate_that_wait_for_their_dial_are_late() {
    let open = plan(constant(5_000), 1, &["/hang"]);
    let settings = Settings { timeout: Some(Nanos::from_secs(3)), ..Settings::default() };
    let ran = run(Faults::default(), server(0, "none"), open.clone(), &settings);
    check("a rate that can be had", &ran);
    let more = Plan { load: constant(20_000), ..open };
    let ran = run(Faults::default(), server(0, "none"), more, &settings);
    check("more than can be had", &ran);
    let lag = ran.0.total.generator.lag.max();
    assert!(lag > Nanos::from_millis(50), "{lag}");
}

#[test]
fn many_that_time_out_at_once_end_in_turns() {
    let hang = plan(Load::Closed { users: 3_000 }, 4, &["/hang"]);
    let settings = Settings { timeout: Some(Nanos::from_secs(2)), ..Settings::default() };
    check("timeouts", &run(Faults::default(), server(0, "none"), hang, &settings));
}

/// A server that ends a connection after each answer has all its users dial all the time.
#[test]
fn short_connections_take_turns() {
    let short = plan(Load::Closed { users: 2_000 }, 2, &["/"]);
    let settings = Settings { keepalive: false, ..Settings::default() };
    let ran = run(Faults::default(), server(0, "none"), short, &settings);
    check("short connections", &ran);
    assert!(ran.1.opened.get() > 4_000, "{}", ran.1.opened.get());
}

#[test]
fn a_herd_comes_and_is_cut_off_in_turns() {
    let cable = Cable::new(CablePlan {
        url: format!("ws://{SERVER}/cable"),
        http_url: format!("http://{SERVER}/cable"),
        pattern: Pattern::Herd { cuts: 1, give_up: Nanos::from_secs(20) },
        // Without turns the cut alone would take 200 ms.
        users: 4_000,
        ramp: Nanos::ZERO,
        duration: Nanos::SECOND,
        identifier: Template::new(r#"{"channel":"ChatChannel","id":"demo"}"#),
        data: Template::new(r#"{"action":"speak","message":"{token}"}"#),
        codec: Codec { format: Format::Json, dialect: Dialect::Base },
        headers: Vec::new(),
        timeout: Nanos::from_secs(10),
        jitter: Nanos::ZERO,
        backs_off: true,
        seed: 5,
        part: None,
    });
    let people = Plan {
        load: Load::Users(cable.users()),
        duration: None,
        targets: Targets::default(),
        ..plan(constant(1), 1, &[])
    };
    let capture = Capture { headers: CapturedHeaders::WholeHead, ..Capture::default() };
    let settings = Settings { protocol: Protocol::Http1, capture, ..Settings::default() };
    let config = Config { cable: Some(demo::Cable::default()), ..Config::default() };
    let ran = run(Faults::default(), config, people, &settings);
    let (seen, all) = (cable.report(), ran.1.opened.get());
    assert_eq!((all, seen.subscribed), (8_000, 8_000));
    let generator = &ran.0.total.generator;
    assert_eq!(generator.stalls, 0, "{}", generator.stall_longest);
}

/// Issue 14, N5: users without a descriptor did nothing but fail, 100,000 times a second.
#[test]
fn users_pause_where_no_descriptor_is_left() {
    let faults = Faults { descriptors: 40, ..Faults::default() };
    let mut world = World::new(1, Faults { call_cost: Nanos(1_000), ..faults });
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(ServerMachine::new(server(0, "none")).expect("a server")));
    let settings = Settings { timeout: Some(Nanos::from_secs(5)), ..Settings::default() };
    let hang = plan(Load::Closed { users: 200 }, 2, &["/hang"]);
    let outcome = simulate(world, hang, &settings).expect("the settings are sound");
    check_oracles(&outcome);
    let generator = &outcome.total.generator;
    assert!((1_000..=2_100).contains(&generator.pauses), "about one a millisecond: {generator:?}");
    // One more may fail once nothing is begun any more.
    let failed = generator.descriptors_exhausted;
    assert!((generator.pauses..=generator.pauses + 1).contains(&failed), "each: {failed}");
}
