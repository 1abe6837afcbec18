//! The flags of `bench`.

use cli::{Flag, ValueKind, flag_table, value};
use stdx::{Distribution, Nanos};

use crate::load::flags::{
    ClientFlags, DisplayFlags, HttpFlags, ResultsFlags, TargetFlags, client, display, holds, http,
    leaves_runs, results, target,
};
use remote::flags::{self as fleet, FleetFlags};
use session::monitor_flags::{self as watch, MonitorTargets};
use session::save::{self, SaveFlags};

/// The flags of `bench` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BenchFlags {
    pub(crate) target: TargetFlags,
    pub(crate) http: HttpFlags,
    pub(crate) client: ClientFlags,
    pub(crate) results: ResultsFlags,
    pub(crate) display: DisplayFlags,
    pub(crate) fleet: FleetFlags,
    pub(crate) watched: MonitorTargets,
    pub(crate) saving: SaveFlags,
    /// Connections, each of which sends its next request after a response.
    pub(crate) connections: u64,
    /// The most requests that are counted; `None` is no limit.
    pub(crate) requests: Option<u64>,
    /// How long requests begin after the warm-up; 0 where the flag is not given.
    pub(crate) duration: Nanos,
    /// Requests without a response on one connection, at most.
    pub(crate) pipeline: u64,
    /// How long a user waits after a response.
    pub(crate) think: Distribution,
    /// How long requests are sent before any is counted.
    pub(crate) warmup: Nanos,
    /// Whether the report has a row for each connection.
    pub(crate) per_connection: bool,
}

holds!(BenchFlags:
    target: TargetFlags,
    http: HttpFlags,
    client: ClientFlags,
    results: ResultsFlags,
    display: DisplayFlags,
);

leaves_runs!(BenchFlags);

impl Default for BenchFlags {
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
            connections: 10,
            requests: None,
            duration: Nanos::ZERO,
            pipeline: 1,
            think: Distribution::None,
            warmup: Nanos::ZERO,
            per_connection: false,
        }
    }
}

/// The help text of `-m`, where the default is one stream.
const STREAMS: &str = "Streams on one HTTP/2 connection, each with a request at a time; over HTTP/1.1 they take turns.";

/// The flags of `bench`: its load, then what to send, over what, and where the results go.
pub(crate) const FLAGS: &[Flag<BenchFlags>] = flag_table!(BenchFlags:
    OWN,
    &target::url_or_file(),
    &[results::name(), client::seed()],
    &http::limits(),
    &client::renewal(),
    &[client::laddr()],
    &client::route(),
    &http::versions(),
    // `-k` keeps connections alive here.
    &[http::streams().with_default("1").with_docs(STREAMS), client::insecure().also(&[])],
    &client::certificates(),
    &[results::output().with_default("none")],
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

/// The load, and what the report has.
const OWN: &[Flag<BenchFlags>] = &[
    Flag::new(
        "c",
        ValueKind::Text("N"),
        "10",
        "Connections; each sends its next request when the last response has come.",
        |t: &mut BenchFlags, v| value::count(v).map(|n| t.connections = n),
    )
    .native()
    .also(&["connections", "users"]),
    Flag::new(
        "n",
        ValueKind::Text("N"),
        "",
        "Total number of requests; without -d only this ends the bench.",
        |t: &mut BenchFlags, v| value::count(v).map(|n| t.requests = Some(n)),
    )
    .native()
    .also(&["requests"]),
    Flag::new(
        "d",
        ValueKind::Duration,
        "10s",
        "How long new requests start; with -n and without -d: until all have started.",
        |t: &mut BenchFlags, v| value::duration(v).map(|d| t.duration = d),
    )
    .native()
    .also(&["duration", "z"]),
    Flag::new(
        "pipeline",
        ValueKind::Text("N"),
        "1",
        "Requests to send on a connection before the first response (pipelining; HTTP/1.1 only).",
        |t: &mut BenchFlags, v| value::count(v).map(|n| t.pipeline = n),
    )
    .native(),
    Flag::new(
        "think",
        ValueKind::Text("LAW"),
        "none",
        "Think time after each response: fixed:1s, uniform:1s,3s, exp:1s, lognormal:1s,0.5 or 1s.",
        |t: &mut BenchFlags, v| value::law(v).map(|law| t.think = law),
    )
    .native(),
    Flag::new(
        "warmup",
        ValueKind::Duration,
        "0s",
        "Send requests for this time first, without counting them; -d and -n start after it.",
        |t: &mut BenchFlags, v| value::duration(v).map(|d| t.warmup = d),
    )
    .native(),
    Flag::new(
        "k",
        ValueKind::Switch,
        "on",
        "Keep connections alive; -k=false opens a connection for each request.",
        |t: &mut BenchFlags, v| value::switch(v).map(|on| t.http.keepalive = on),
    )
    .native()
    .also(&["keepalive"]),
    Flag::new(
        "no-keepalive",
        ValueKind::Switch,
        "",
        "The same as -k=false.",
        |t: &mut BenchFlags, v| value::switch(v).map(|on| t.http.keepalive = !on),
    )
    .native(),
    Flag::new(
        "per-connection",
        ValueKind::Switch,
        "",
        "Add a table per connection to the report.",
        |t: &mut BenchFlags, v| value::switch(v).map(|on| t.per_connection = on),
    )
    .native(),
];
