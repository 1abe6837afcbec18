//! The flags of `seek`.

use cli::{Flag, ValueError, ValueKind, flag_table, value};
use metrics::Objective;
use stdx::Nanos;
use workload::arrival::ParsedRate;

use crate::flags::load_value;
use crate::load::flags::{
    ClientFlags, DisplayFlags, HttpFlags, TargetFlags, client, display, holds, http, leaves_runs,
    target,
};
use remote::flags::{self as fleet, FleetFlags};
use session::monitor_flags::{self as watch, MonitorTargets};
use session::save::{self, SaveFlags};

/// The flags of `seek` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeekFlags {
    pub(crate) target: TargetFlags,
    pub(crate) http: HttpFlags,
    pub(crate) client: ClientFlags,
    pub(crate) display: DisplayFlags,
    pub(crate) fleet: FleetFlags,
    pub(crate) saving: SaveFlags,
    /// What is watched beside the steps.
    pub(crate) watched: MonitorTargets,
    /// What must hold.
    pub(crate) objective: Option<Objective>,
    /// What is raised.
    pub(crate) by: Raised,
    /// How the requests of a rate arrive.
    pub(crate) arrivals: Option<Arrivals>,
    /// The variables of a script.
    pub(crate) env: Vec<(String, String)>,
    /// The scenario of a script that is raised.
    pub(crate) scenario: Option<String>,
    /// The lowest load, per second or in connections.
    pub(crate) from: Option<f64>,
    /// The highest load, per second or in connections.
    pub(crate) to: Option<f64>,
    /// How long the search may take; 0 is without a bound.
    pub(crate) budget: Option<Nanos>,
    /// How long a step is measured.
    pub(crate) step: Option<Nanos>,
    /// What each step leaves out before it is measured.
    pub(crate) warmup: Option<Nanos>,
    /// The pause after a step.
    pub(crate) cooldown: Option<Nanos>,
    /// The half-width of the answer's interval at which the search ends, as a share.
    pub(crate) precision: f64,
    /// The most steps.
    pub(crate) max_steps: Option<u64>,
    /// The file that keeps the steps.
    pub(crate) state: Option<String>,
    /// The file for the curve.
    pub(crate) plot: Option<String>,
}

holds!(SeekFlags:
    target: TargetFlags,
    http: HttpFlags,
    client: ClientFlags,
    display: DisplayFlags,
);

/// What a search raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Raised {
    /// The rate of an open loop: of requests, or of a script's iterations.
    Rate,
    /// The connections of a closed loop.
    Connections,
    /// The virtual users of a script.
    Vus,
}

/// How the requests of an open loop arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// At random, as from many users.
    Poisson,
    /// Evenly.
    Constant,
}

impl Default for SeekFlags {
    fn default() -> Self {
        Self {
            target: TargetFlags::default(),
            http: HttpFlags::default(),
            client: ClientFlags::default(),
            display: DisplayFlags::default(),
            fleet: FleetFlags::default(),
            saving: SaveFlags::default(),
            watched: MonitorTargets::default(),
            objective: None,
            by: Raised::Rate,
            arrivals: None,
            env: Vec::new(),
            scenario: None,
            from: None,
            to: None,
            budget: None,
            step: None,
            warmup: None,
            cooldown: None,
            precision: 0.05,
            max_steps: None,
            state: None,
            plot: None,
        }
    }
}

/// The objective where none is given: what people who wait for a page put up with.
pub(super) const OBJECTIVE: &str = "p95<500ms";
/// What a search may raise.
const BY: [&str; 3] = ["rate", "connections", "vus"];
/// How the requests of an open loop may arrive.
const ARRIVALS: [&str; 2] = ["poisson", "constant"];
/// The shortest budget: its longest steps take about a second.
const BUDGET_MIN: Nanos = Nanos::from_secs(10);
/// The help text of `-m`, whose meaning depends on `-by`.
const STREAMS: &str =
    "Maximum of streams on one HTTP/2 connection; with -by=connections their number (default 1).";
/// The help text of `-fail-on-invalid`: a search leaves INVALID steps out.
const FAIL_ON_INVALID: &str =
    "Exit with code 5 if INVALID steps ended the search, or are half of its steps or more.";
/// The help text of `-progress`, which shows steps.
const PROGRESS: &str = "Print a line on stderr for each step; on a terminal also live progress.";

/// The flags of `seek`: the search, then what to send, and over what.
pub(crate) const FLAGS: &[Flag<SeekFlags>] = flag_table!(SeekFlags:
    OWN,
    &target::url_or_file(),
    &[client::seed()],
    &http::limits(),
    &[http::keepalive(), client::laddr()],
    &client::route(),
    &client::renewal(),
    &http::versions(),
    &[http::streams().with_docs(STREAMS), client::insecure()],
    &client::certificates(),
    &[
        display::json().with_docs("Print the answer and all steps as JSON."),
        display::progress().with_default("on").with_docs(PROGRESS),
        display::web(),
        display::tui(),
        display::prometheus_addr(),
        display::fail_on_invalid().with_docs(FAIL_ON_INVALID),
    ],
    &client::threads(),
    &[save::report()],
    &save::rows(),
    &fleet::rows(),
    &watch::beside(),
);

leaves_runs!(SeekFlags);

/// The search.
const OWN: &[Flag<SeekFlags>] = &[
    Flag::new(
        "objective",
        ValueKind::Text("'p99<250ms, …'"),
        OBJECTIVE,
        "Limits to meet: p50, p99.9 (any percentile), mean or max against a time, errors against a share.",
        |t: &mut SeekFlags, v| {
            t.objective = Some(objective(v)?);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "by",
        ValueKind::Choice(&BY),
        "rate",
        "What to raise: the rate of an open loop, the connections of a closed loop, or a script's virtual users.",
        |t: &mut SeekFlags, v| by(v).map(|by| t.by = by),
    )
    .native(),
    Flag::new(
        "arrivals",
        ValueKind::Choice(&ARRIVALS),
        "poisson",
        "How requests arrive: at random, as from many independent users, or evenly spaced (as iterations do).",
        |t: &mut SeekFlags, v| arrivals(v).map(|arrivals| t.arrivals = Some(arrivals)),
    )
    .native(),
    Flag::new(
        "from",
        ValueKind::Text("N"),
        "10/s, or 1 iteration/s, connection or VU",
        "The lowest load; the search starts here.",
        |t: &mut SeekFlags, v| load(v).map(|load| t.from = Some(load)),
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Text("N"),
        "unlimited",
        "The highest load; the search ends here if the objective is met.",
        |t: &mut SeekFlags, v| load(v).map(|load| t.to = Some(load)),
    )
    .native(),
    Flag::new(
        "budget",
        ValueKind::Duration,
        "15m; none with -step or -max-steps",
        "How long the search takes at most, pauses included; then the best answer counts. 0 is no bound.",
        |t: &mut SeekFlags, v| budget(v).map(|time| t.budget = Some(time)),
    )
    .native(),
    Flag::new(
        "step",
        ValueKind::Duration,
        "10s, or less to fit -budget",
        "How long to measure each step; up to 4 times as long if the objective needs more requests.",
        |t: &mut SeekFlags, v| {
            t.step = Some(some_time(v)?);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "warmup",
        ValueKind::Duration,
        "3s, or less to fit -budget",
        "The start of each step, which is not measured; longer if the server is not in a steady state by then.",
        |t: &mut SeekFlags, v| value::duration(v).map(|time| t.warmup = Some(time)),
    )
    .native(),
    Flag::new(
        "cooldown",
        ValueKind::Duration,
        "1s, or less to fit -budget",
        "The pause after a step, once no request is under way; longer after requests that timed out.",
        |t: &mut SeekFlags, v| value::duration(v).map(|time| t.cooldown = Some(time)),
    )
    .native(),
    Flag::new(
        "precision",
        ValueKind::Text("SHARE"),
        "5%",
        "The search ends when the 95 % interval of the answer reaches no further than this share to either side.",
        |t: &mut SeekFlags, v| value::share(v).map(|share| t.precision = share),
    )
    .native(),
    Flag::new(
        "max-steps",
        ValueKind::Text("N"),
        "60",
        "Maximum number of steps; the search then ends with the interval it has.",
        |t: &mut SeekFlags, v| value::count(v).map(|n| t.max_steps = Some(n)),
    )
    .native(),
    Flag::new(
        "e",
        ValueKind::Text("NAME=VALUE"),
        "",
        "A variable for the script, in __ENV; a name alone takes its value from the environment. May be repeated.",
        |t: &mut SeekFlags, v| {
            t.env.extend(k6::script_variable(v));
            Ok(())
        },
    )
    .native()
    .also(&["env"]),
    Flag::new(
        "scenario",
        ValueKind::Text("NAME"),
        "the only one",
        "The scenario of the script that is raised, in place of its own load.",
        |t: &mut SeekFlags, v| {
            t.scenario = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "state",
        ValueKind::Path,
        "",
        "Save the steps here; the same command continues an interrupted search.",
        |t: &mut SeekFlags, v| {
            t.state = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "plot",
        ValueKind::Path,
        "",
        "Plot response times and throughput over load into this file: .html, .svg or .png.",
        |t: &mut SeekFlags, v| {
            t.plot = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
];

/// What is raised.
fn by(text: &str) -> Result<Raised, ValueError> {
    Ok(match value::word(text, &BY)?.as_str() {
        "connections" => Raised::Connections,
        "vus" => Raised::Vus,
        _ => Raised::Rate,
    })
}

/// How the requests of a rate arrive.
fn arrivals(text: &str) -> Result<Arrivals, ValueError> {
    Ok(match value::word(text, &ARRIVALS)?.as_str() {
        "constant" => Arrivals::Constant,
        _ => Arrivals::Poisson,
    })
}

/// An objective whose conditions more load breaks.
fn objective(text: &str) -> Result<Objective, ValueError> {
    let objective: Objective = text.parse().map_err(|error| ValueError::new(format!("{error}")))?;
    match objective.conditions().iter().find(|condition| !condition.is_ceiling()) {
        None => Ok(objective),
        Some(floor) => Err(ValueError::new(format!(
            "\"{floor}\" is easier to meet at higher loads (expected < or <=)"
        ))),
    }
}

/// A load above 0: a rate as `-rate` takes it, or a number of connections.
fn load(text: &str) -> Result<f64, ValueError> {
    match load_value::rate(text)? {
        ParsedRate::Rate(rate) => Ok(rate.per_s()),
        _ => Err(ValueError::new(format!("\"{text}\" is not a load (expected a number above 0)"))),
    }
}

/// A budget in which some steps fit, or 0.
fn budget(text: &str) -> Result<Nanos, ValueError> {
    match value::duration(text)? {
        time if time > Nanos::ZERO && time < BUDGET_MIN => Err(ValueError::new(format!(
            "\"{text}\" is too short (expected at least {BUDGET_MIN})"
        ))),
        time => Ok(time),
    }
}

/// A duration that is one.
fn some_time(text: &str) -> Result<Nanos, ValueError> {
    match value::duration(text)? {
        Nanos::ZERO => Err(ValueError::new("a step needs a duration above 0")),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_what_they_mean() {
        let expect = [Raised::Rate, Raised::Connections, Raised::Vus].map(Some);
        assert_eq!(BY.map(|word| by(word).ok()), expect);
        let expect = [Some(Arrivals::Poisson), Some(Arrivals::Constant)];
        assert_eq!(ARRIVALS.map(|word| arrivals(word).ok()), expect);
        assert_eq!(budget("0s").ok(), Some(Nanos::ZERO));
        assert!(budget("9s").is_err() && budget("10s").is_ok());
        assert!(by("users").is_err() && arrivals("evenly").is_err());
    }

    #[test]
    fn objectives_are_ceilings() {
        assert!(objective("p99<=1s, errors<1%").is_ok());
        let wrong = objective("p99<1s, mean>1ms").expect_err("a floor");
        assert!(wrong.native.contains("\"mean>1ms\""), "{}", wrong.native);
    }
}
