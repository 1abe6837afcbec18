//! The world the runs take place in: the demo's server machine behind simulated links.

use std::sync::Arc;

use demo::{Config, ServerMachine, ServiceTime};
use engine::{Settings, SimulationResult, simulate};
use net::Address;
use net::sim::{Faults, World};
use stdx::Nanos;
use workload::arrival::Shape;
use workload::{Load, Plan, Target, Targets};

pub(crate) const SERVER: &str = "127.0.0.1:80";

pub(crate) fn target(path: &str) -> Target {
    Target {
        method: "GET".to_owned(),
        url: format!("http://{SERVER}{path}"),
        headers: Vec::new(),
        body: Arc::from([]),
        weight: 1,
        name: String::new(),
    }
}

pub(crate) fn constant(rate_per_s: u64) -> Load {
    Load::Open {
        shape: Shape::Constant { hits: rate_per_s, per: Nanos::SECOND },
        max_in_flight: None,
    }
}

pub(crate) fn plan(load: Load, seconds: u64, paths: &[&str]) -> Plan {
    Plan {
        warmup: Nanos::ZERO,
        think: stdx::Distribution::None,
        name: "sim".to_owned(),
        load,
        duration: Some(Nanos::from_secs(seconds)),
        hits_max: None,
        targets: Targets::new(paths.iter().map(|path| target(path)).collect::<Vec<_>>()),
        seed: 7,
        part: None,
    }
}

pub(crate) fn server(workers: u32, service: &str) -> Config {
    let service = ServiceTime::parse(service).expect("a service time");
    Config { workers, service, ..Config::default() }
}

/// Runs a plan against one server in a world from a seed.
pub(crate) fn run(
    seed: u64,
    faults: Faults,
    config: Config,
    plan: Plan,
    settings: &Settings,
) -> SimulationResult {
    let mut world = World::new(seed, faults);
    let address = Address::Ip(SERVER.parse().expect("an address"));
    world.add_peer(address, Box::new(ServerMachine::new(config).expect("a server")));
    simulate(world, plan, settings).expect("the settings are sound")
}

/// What must hold of every run, whatever the world did.
pub(crate) fn check_oracles(outcome: &SimulationResult) {
    let total = &outcome.total;
    let generator = &total.generator;
    assert_eq!(generator.planned, generator.sent + generator.not_sent, "planned = sent + not sent");
    assert_eq!(total.hits(), generator.sent, "each hit that was begun has ended");
    assert_eq!(total.in_flight, 0);
    assert!(generator.finished);
    let rows: u64 = outcome.batches.iter().map(|batch| batch.samples.len() as u64).sum();
    assert_eq!(rows + generator.rows_dropped, generator.sent, "each has its row");
    let failed: u64 = total.failures[1..].iter().sum();
    assert_eq!(failed, total.outcomes.of(metrics::Outcome::None), "a failure has status 0");
    for sample in outcome.batches.iter().flat_map(|batch| &batch.samples) {
        assert!(sample.intended <= sample.sent, "{sample:?}");
        assert!(sample.sent <= sample.first_byte, "{sample:?}");
        assert!(sample.first_byte <= sample.done, "{sample:?}");
    }
}
