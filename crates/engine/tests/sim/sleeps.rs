//! The loop sleeps through stamped answers where it wakes soon to send: one wake-up a request, the same times, and nothing waits for it.

use std::rc::Rc;

use demo::{Config, ServerMachine};
use engine::{Settings, SimulationResult, simulate};
use net::Address;
use net::sim::{Faults, World};
use stdx::Nanos;
use workload::{Load, Plan};

use crate::watched::{Seen, Watched};
use crate::world::{SERVER, check_oracles, constant, plan, server};

/// Two ways of 50 µs, and a server that takes 100.
const EXACT: Nanos = Nanos::from_micros(200);

fn run(
    faults: Faults,
    config: Config,
    plan: Plan,
    settings: &Settings,
) -> (SimulationResult, Rc<Seen>) {
    let mut world = World::new(5, faults);
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(ServerMachine::new(config).expect("a server")));
    let (watched, seen) = Watched::of(world);
    let outcome = simulate(watched, plan, settings).expect("the settings are sound");
    check_oracles(&outcome);
    (outcome, seen)
}

fn stamped() -> Faults {
    Faults { stamps: true, ..Faults::default() }
}

fn service_times(outcome: &SimulationResult) -> Vec<Nanos> {
    let samples = outcome.batches.iter().flat_map(|batch| &batch.samples);
    samples.map(|sample| sample.done - sample.sent).collect()
}

#[test]
fn a_request_takes_one_wake_up() {
    // Every 300 µs: an answer is there before the next begin.
    let plan = |name: &str| Plan { name: name.to_owned(), ..plan(constant(3_333), 3, &["/"]) };
    let config = || server(1, "fixed:100us");
    let (outcome, counts) = run(stamped(), config(), plan("stamps"), &Settings::default());
    let sent = outcome.total.generator.sent;
    assert_eq!(outcome.total.generator.kernel_times, sent);
    assert!(service_times(&outcome).iter().all(|time| *time == EXACT), "to the nanosecond");
    assert_eq!(outcome.total.generator.lag.max(), Nanos::ZERO);
    assert!(outcome.total.response.max() <= EXACT * 2, "the first one had to connect");
    let sleeps = counts.slept_through.get() + counts.woken.get();
    assert!(sleeps <= sent * 11 / 10, "{sleeps} sleeps for {sent} requests");
    assert_eq!(counts.opened.get(), 1, "an answer is read before another connection is opened");

    let (outcome, counts) =
        run(Faults::default(), config(), plan("no stamps"), &Settings::default());
    assert!(service_times(&outcome).iter().all(|time| *time == EXACT), "the same times");
    assert_eq!(counts.slept_through.get(), 0, "nobody says when it came");
    assert!(counts.woken.get() > sent * 19 / 10, "{} for {sent}", counts.woken.get());
}

#[test]
fn an_answer_in_time_that_was_slept_through_is_no_timeout() {
    let settings = Settings { timeout: Some(Nanos::from_micros(510)), ..Settings::default() };
    let faults = Faults { oversleep: Nanos::from_micros(200), ..stamped() };
    let load = plan(constant(2_000), 3, &["/"]);
    let (outcome, counts) = run(faults, server(1, "fixed:100us"), load, &settings);
    assert!(counts.slept_through.get() > 5_000, "{counts:?}");
    assert_eq!(outcome.total.failures[1..].iter().sum::<u64>(), 0, "each answer took 200 µs");
    assert!(service_times(&outcome).iter().all(|time| *time == EXACT));
}

#[test]
fn a_timeout_between_two_begins_is_held() {
    let settings = Settings { timeout: Some(Nanos::from_micros(800)), ..Settings::default() };
    let load = plan(constant(2_000), 2, &["/"]);
    let (outcome, counts) = run(stamped(), server(0, "exp:400us"), load, &settings);
    assert!(counts.slept_through.get() > 500, "{counts:?}");
    let samples = outcome.batches.iter().flat_map(|batch| &batch.samples);
    let failed: Vec<_> = samples.filter(|sample| !sample.is_success()).collect();
    assert!(failed.len() > 200, "{}", failed.len());
    for sample in failed {
        assert_eq!(sample.done - sample.intended, Nanos::from_micros(800), "{sample:?}");
    }
}

#[test]
fn what_waits_for_an_answer_is_not_kept_waiting() {
    // One at a time, at a rate that the server cannot do: each begins when the one before it has ended.
    let Load::Open { shape, .. } = constant(8_000) else { unreachable!("a rate is an open load") };
    let load = plan(Load::Open { shape, max_in_flight: Some(1) }, 2, &["/"]);
    let (outcome, counts) = run(stamped(), server(1, "fixed:100us"), load, &Settings::default());
    assert_eq!(counts.slept_through.get(), 0, "{counts:?}");
    let held = outcome.total.generator.sent;
    assert!(held >= 2 * 4_990, "{held} of 5,000 a second that one connection can do");

    // A response that fills its window: the server waits for room.
    let faults = Faults { receive_window: 32 << 10, ..stamped() };
    let large = Config { body: stdx::Bytes(200_000), ..server(1, "fixed:100us") };
    let times = |faults: Faults| {
        let load = plan(constant(1_500), 2, &["/"]);
        let (outcome, _) = run(faults, large.clone(), load, &Settings::default());
        let mut times = service_times(&outcome);
        times.sort_unstable();
        times[times.len() / 2]
    };
    let (with, without) = (times(faults.clone()), times(Faults { stamps: false, ..faults }));
    assert!(with <= without, "{with:?} with stamps, {without:?} without");
}

/// Answers that do not come whole with one read: a body that ends with its connection, head and body apart, pieces over time, codings,
/// redirects, and more than a window holds. An early form of sleeping measured some of them up to 1 ms late.
#[test]
fn answers_in_parts_end_as_without_stamps() {
    let times = |path: &str, stamps: bool| {
        let faults = Faults { stamps, ..Faults::default() };
        let load = plan(constant(1_000), 1, &[path]);
        let (outcome, counts) = run(faults, server(4, "fixed:100us"), load, &Settings::default());
        let mut times = service_times(&outcome);
        times.sort_unstable();
        assert_eq!(times.len(), 1_000, "{path}");
        ([50, 90, 99, 100].map(|percent| times[times.len() * percent / 100 - 1]), counts)
    };
    for path in
        ["/", "/eof", "/drip?bytes=3&ms=1", "/chunked", "/trailers", "/1xx", "/gzip", "/zstd"]
            .into_iter()
            .chain(["/redirect/1", "/bytes/300000", "/close", "/slow?ms=2"])
    {
        let ((with, counts), (without, _)) = (times(path, true), times(path, false));
        assert_eq!(with, without, "{path}: {counts:?}");
    }
    let (_, counts) = times("/", true);
    assert!(counts.slept_through.get() > 600, "it sleeps where it may: {counts:?}");
}
