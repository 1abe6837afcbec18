//! The flags of `attack`.

use cli::{Flag, ValueKind, flag_table, value};
use stdx::Nanos;
use workload::arrival::{ParsedRate, Rate};

use crate::flags::load_value;
use crate::load::flags::{
    ClientFlags, DisplayFlags, HttpFlags, ResultsFlags, TargetFlags, client, display, holds, http,
    leaves_runs, results, target,
};
use remote::flags::{self as fleet, FleetFlags};
use session::monitor_flags::{self as watch, MonitorTargets};
use session::save::{self, SaveFlags};

/// The flags of `attack` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AttackFlags {
    pub(crate) target: TargetFlags,
    pub(crate) http: HttpFlags,
    pub(crate) client: ClientFlags,
    pub(crate) results: ResultsFlags,
    pub(crate) display: DisplayFlags,
    pub(crate) fleet: FleetFlags,
    pub(crate) watched: MonitorTargets,
    pub(crate) saving: SaveFlags,
    /// Whether targets are read during the attack, each used once.
    pub(crate) lazy: bool,
    /// The rate of a constant load.
    pub(crate) rate: ParsedRate,
    /// How long requests begin; 0 is until stopped.
    pub(crate) duration: Nanos,
    /// The shape of the load, in place of a constant rate.
    pub(crate) shape: Option<String>,
    /// Vegeta's initial workers; accepted and unused.
    pub(crate) workers: u64,
    /// The most requests in flight; `None` is no limit.
    pub(crate) max_workers: Option<u64>,
    /// The time within which requests that fall due are sent together.
    pub(crate) tick: Nanos,
    /// The most idle connections to one host.
    pub(crate) connections: u64,
    /// The most connections to one host; 0 is no limit.
    pub(crate) max_connections: u64,
}

holds!(AttackFlags:
    target: TargetFlags,
    http: HttpFlags,
    client: ClientFlags,
    results: ResultsFlags,
    display: DisplayFlags,
);

leaves_runs!(AttackFlags);

impl Default for AttackFlags {
    fn default() -> Self {
        Self {
            target: TargetFlags::default(),
            http: HttpFlags::default(),
            client: ClientFlags::default(),
            results: ResultsFlags::default(),
            display: DisplayFlags::default(),
            fleet: FleetFlags::default(),
            watched: MonitorTargets::default(),
            saving: SaveFlags::default(),
            lazy: false,
            rate: ParsedRate::Rate(Rate::per_second(50)),
            duration: Nanos::ZERO,
            shape: None,
            workers: 10,
            max_workers: None,
            tick: Nanos::ZERO,
            connections: 10_000,
            max_connections: 0,
        }
    }
}

/// The flags of `attack`: what to send, when, over what, and where the results go.
pub(crate) const FLAGS: &[Flag<AttackFlags>] = flag_table!(AttackFlags:
    &[target::targets(), target::format(), LAZY],
    &target::contents(),
    &[results::name()],
    WHEN,
    &[client::seed()],
    &http::limits(),
    &[http::keepalive()],
    CONNECTIONS,
    &client::renewal(),
    &[client::laddr()],
    &client::route(),
    &http::versions(),
    &[http::streams(), client::insecure()],
    &client::certificates(),
    &[results::output()],
    &results::contents(),
    &[display::prometheus_addr()],
    &display::fails(),
    &[display::abort_when()],
    &display::shown(),
    &[display::tui()],
    &client::threads(),
    &fleet::rows(),
    &[save::report()],
    &save::rows(),
    &watch::beside(),
);

const LAZY: Flag<AttackFlags> = Flag::new(
    "lazy",
    ValueKind::Switch,
    "",
    "Read targets while attacking; each is used once, in order, and the last one ends the attack.",
    |t: &mut AttackFlags, v| value::switch(v).map(|on| t.lazy = on),
);

/// When requests begin.
const WHEN: &[Flag<AttackFlags>] = &[
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "50/1s",
        "Requests per time: 50, 120/m, 1/10s. 0 is a closed loop of -max-workers users.",
        |t: &mut AttackFlags, v| load_value::rate(v).map(|rate| t.rate = rate),
    ),
    Flag::new(
        "duration",
        ValueKind::Duration,
        "0",
        "How long new requests start; 0: until interrupted.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.duration = d),
    ),
    Flag::new(
        "shape",
        ValueKind::Text("SHAPE"),
        "",
        "Rate over time, instead of -rate: see `brunt help attack`.",
        |t: &mut AttackFlags, v| {
            t.shape = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "workers",
        ValueKind::Text("N"),
        "10",
        "Accepted for Vegeta's sake, without effect: a request under way takes no worker of its own.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.workers = n),
    ),
    Flag::new(
        "max-workers",
        ValueKind::Text("N"),
        "unlimited",
        "Maximum number of requests under way; others wait, and their response time includes the wait.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.max_workers = Some(n)),
    ),
    Flag::new(
        "tick",
        ValueKind::Duration,
        "0",
        "Send requests that are due within this time together: less CPU time, coarser pacing.",
        |t: &mut AttackFlags, v| value::duration(v).map(|d| t.tick = d),
    )
    .native(),
];

/// How many connections there are.
const CONNECTIONS: &[Flag<AttackFlags>] = &[
    Flag::new(
        "connections",
        ValueKind::Text("N"),
        "10000",
        "Idle connections to keep open per host.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.connections = n),
    ),
    Flag::new(
        "max-connections",
        ValueKind::Text("N"),
        "unlimited",
        "Maximum number of connections per host; response times include the wait for one.",
        |t: &mut AttackFlags, v| value::number(v).map(|n| t.max_connections = n),
    ),
];
