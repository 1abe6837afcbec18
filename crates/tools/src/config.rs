//! `ToolConfig`: the plan, the settings and the report that a command line of another tool asks for.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cli::Output;
use engine::{HeadStyle, HttpVersion, Protocol, Redirects, Settings};
use report::Offered;
use report::perfer::PerferStyle;
use report::wrk::WrkStyle;
use session::{OnCutOff, WORKERS_MAX, go_words};
use stdx::{Distribution, Nanos};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target, Targets};

use crate::error::ToolError;

/// What a command line of another tool asks for.
#[derive(Debug)]
pub(crate) struct ToolConfig {
    /// The load and its targets.
    pub(crate) plan: Plan,
    /// The settings of the engine.
    pub(crate) settings: Settings,
    /// How long after the plan's end, or an interrupt, requests under way are waited for; `None` waits for all of them.
    pub(crate) grace: Option<Duration>,
    /// The layout of the report.
    pub(crate) layout: Layout,
    /// Where the report goes.
    pub(crate) place: Output,
    /// Lines for standard error before the run.
    pub(crate) notes: Vec<String>,
    /// The error of a server that accepts no connection, for a tool that connects before it starts.
    pub(crate) probe: Option<Probe>,
}

/// The error of a server that accepts no connection, from its host, its service and the reason.
pub(crate) type Probe = fn(&str, &str, &io::Error) -> ToolError;

/// The layout of a report.
#[derive(Debug)]
pub(crate) enum Layout {
    /// That of wrk and wrk2.
    Wrk(Offered, WrkStyle),
    /// That of perfer.
    Perfer(Offered, PerferStyle),
    /// That of hey.
    Hey,
    /// The rows of `hey -o csv`, written during the run.
    HeyCsv,
    /// The text of `brunt report`.
    Text,
    /// The JSON of `brunt report`.
    Json,
    /// No report.
    Quiet,
}

impl Layout {
    /// The reports of other tools count requests that were cut off; ours would count them as failed.
    pub(crate) fn on_cut_off(&self) -> OnCutOff {
        match self {
            Self::Wrk(..) | Self::Perfer(..) | Self::Hey | Self::HeyCsv => OnCutOff::Counted,
            Self::Text | Self::Json | Self::Quiet => OnCutOff::LeftOut,
        }
    }
}

/// A target with exactly these header fields.
pub(crate) fn target(
    method: &str,
    url: &str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
) -> Target {
    Target {
        method: method.to_owned(),
        url: url.to_owned(),
        headers,
        body: Arc::from(body),
        weight: 1,
        name: String::new(),
    }
}

/// A plan for one target.
pub(crate) fn plan(
    target: Target,
    load: Load,
    duration: Option<Nanos>,
    requests: Option<u64>,
) -> Plan {
    Plan {
        name: String::new(),
        load,
        duration,
        warmup: Nanos::ZERO,
        think: Distribution::None,
        hits_max: requests,
        targets: Targets::new(vec![target]),
        seed: 1,
        part: None,
    }
}

/// An open loop of `rate` requests a second, of which at most `connections` are under way.
pub(crate) fn open_load(rate: f64, connections: u64) -> Load {
    let rate = rate.clamp(1e-6, 1e9);
    let (hits, per) = if rate.fract() == 0.0 {
        (rate as u64, Nanos::SECOND)
    } else {
        (1000, Nanos::from_secs_f64(1000.0 / rate))
    };
    let shape = Shape::constant(Rate { hits, per });
    Load::Open { shape, max_in_flight: Some(connections) }
}

/// Settings that send the target and no other headers, over this many kept-alive connections.
pub(crate) fn settings(workers: u64, connections: u64) -> Settings {
    let connections = usize::try_from(connections).unwrap_or(usize::MAX);
    Settings {
        workers: workers.clamp(1, WORKERS_MAX) as usize,
        keepalive: true,
        protocol: Protocol::Http1,
        streams: 1,
        head: HeadStyle::Exact(HttpVersion::Http11),
        timeout: None,
        redirects: Redirects::Keep,
        failure_text: go_words::FAILURE_TEXT,
        connections,
        max_connections: Some(connections),
        ..Settings::default()
    }
}

/// The cores of this machine that the process may use.
pub(crate) fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u64)
}
