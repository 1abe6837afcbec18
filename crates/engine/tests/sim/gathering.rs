//! Waits gather answers while the server is the bottleneck, and while it alone is.

use engine::{IoChoice, Settings, SimulationResult};
use net::sim::Faults;
use stdx::{Distribution, Nanos};
use workload::{Load, Plan};

use crate::world::{check_oracles, constant, plan, run, server};

const USERS: Load = Load::Closed { users: 64 };

/// So long a run in which nothing is gathered, or in which it may be.
fn check(plan: impl Fn() -> Plan, settings: &Settings, law: (u32, &str), gathers: bool) -> Figures {
    let faults = Faults { gathers, ..Faults::default() };
    let outcome = run(7, faults, server(law.0, law.1), plan(), settings);
    check_oracles(&outcome);
    Figures::of(&outcome)
}

/// Hits, how many of them were gathered, and their service times.
#[derive(Debug)]
struct Figures {
    hits: u64,
    gathered: u64,
    p50: Nanos,
    p99: Nanos,
}

impl Figures {
    fn of(outcome: &SimulationResult) -> Self {
        let (total, service) = (&outcome.total, &outcome.total.service);
        let [p50, p99] = [0.5, 0.99].map(|q| service.quantile(q));
        Self { hits: total.hits(), gathered: total.generator.gathered, p50, p99 }
    }

    /// Within so much of the other's, as a part.
    fn is_near(&self, other: &Self, part: f64) -> bool {
        let near = |a: f64, b: f64| (a / b - 1.0).abs() <= part;
        near(self.hits as f64, other.hits as f64)
            && near(self.p50.0 as f64, other.p50.0 as f64)
            && near(self.p99.0 as f64, other.p99.0 as f64)
    }
}

/// `io_uring` was asked for.
fn asked() -> Settings {
    Settings { io: IoChoice::Uring, ..Settings::default() }
}

fn flat_out() -> Plan {
    plan(USERS, 3, &["/"])
}

#[test]
fn a_server_that_is_the_bottleneck_costs_no_time_to_gather_from() {
    let settings = asked();
    for law in [(1, "fixed:18us"), (2, "uniform:30us,50us")] {
        let [without, with] = [false, true].map(|gathers| check(flat_out, &settings, law, gathers));
        assert_eq!(without.gathered, 0);
        assert!(with.gathered > with.hits / 2, "{law:?}: {with:?}");
        assert!(with.is_near(&without, 0.02), "{law:?}: {with:?}, without {without:?}");
    }
}

#[test]
fn answers_that_take_their_time_are_read_at_once() {
    let settings = asked();
    for law in [(0, "exp:2ms"), (0, "uniform:400us,1600us")] {
        let [without, with] = [false, true].map(|gathers| check(flat_out, &settings, law, gathers));
        assert!(with.gathered < with.hits / 20, "{law:?}: {with:?}");
        assert!(with.is_near(&without, 0.02), "{law:?}: {with:?}, without {without:?}");
    }
}

#[test]
fn only_closed_loops_without_pause_and_pipelining_are_gathered() {
    let law = (1, "fixed:18us");
    let gathered =
        |plan: &dyn Fn() -> Plan, settings: &Settings| check(plan, settings, law, true).gathered;
    let settings = asked();
    let (pipelined, brief) = (
        Settings { pipeline: 4, max_connections: Some(16), ..asked() },
        Settings { keepalive: false, ..asked() },
    );
    assert_eq!(gathered(&|| plan(constant(40_000), 1, &["/"]), &settings), 0, "a rate");
    let think = Distribution::Fixed(Nanos::from_micros(10));
    let thinking = || Plan { think: think.clone(), ..flat_out() };
    assert_eq!(gathered(&thinking, &settings), 0, "users think");
    assert_eq!(gathered(&flat_out, &pipelined), 0, "several under way on one connection");
    assert_eq!(gathered(&flat_out, &brief), 0, "a connection for each request");
    assert_eq!(gathered(&flat_out, &Settings::default()), 0, "nobody asked for it");
}
