//! The flags of `seek`: its own, and those of `attack` that say what is asked for and over what.

use cli::{Flag, ValueError, ValueKind, value};
use metrics::Objective;
use stdx::Nanos;
use study::seek::By;
use workload::arrival::ParsedRate;

use super::attack::{AttackFlags, FLAGS};
use super::bench;
use super::load_value;

/// What `seek` alone is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeekFlags {
    pub(crate) objective: Option<Objective>,
    pub(crate) by: By,
    pub(crate) arrivals: Arrivals,
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
    pub(crate) step: Nanos,
    pub(crate) warmup: Nanos,
    pub(crate) cooldown: Nanos,
    pub(crate) precision: f64,
    pub(crate) max_steps: u64,
    pub(crate) state: Option<String>,
    pub(crate) plot: Option<String>,
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
            objective: None,
            by: By::Rate,
            arrivals: Arrivals::Poisson,
            from: None,
            to: None,
            step: Nanos::from_secs(10),
            warmup: Nanos::from_secs(3),
            cooldown: Nanos::SECOND,
            precision: 0.05,
            max_steps: 60,
            state: None,
            plot: None,
        }
    }
}

/// The flags of `seek`.
pub(crate) fn table() -> Vec<Flag<AttackFlags>> {
    let shared = FLAGS.iter().filter(|flag| SHARED.contains(&flag.row.name)).copied();
    let method = bench::table().into_iter().filter(|flag| flag.row.name == "X");
    OWN.iter().copied().chain(method).chain(shared.map(adapted)).collect()
}

/// A shared flag as `seek` has it.
fn adapted(mut flag: Flag<AttackFlags>) -> Flag<AttackFlags> {
    match flag.row.name {
        "targets" => flag.row.default = "",
        "m" => flag.row.docs = M,
        "json" => flag.row.docs = "Print the answer and all steps as JSON.",
        "progress" => {
            flag.row.default = "on";
            flag.row.docs = "A line on stderr for each step, and on a terminal what it sees.";
        }
        _ => {}
    }
    flag
}

/// What `-m` is here.
const M: &str = "Streams on one HTTP/2 connection: with -by=connections so many requests on each (1), else at most.";

/// What `attack` has as well.
const SHARED: &[&str] = &[
    "targets",
    "format",
    "body",
    "chunked",
    "header",
    "timeout",
    "redirects",
    "keepalive",
    "laddr",
    "unix-socket",
    "connect-to",
    "resolvers",
    "dns-ttl",
    "root-certs",
    "cert",
    "key",
    "insecure",
    "session-tickets",
    "proxy-header",
    "http2",
    "h2c",
    "m",
    "seed",
    "json",
    "progress",
    "io",
    "pin",
    "rt",
];

/// What a search may raise.
const BY: [&str; 2] = ["rate", "connections"];
/// How the requests of an open loop may arrive.
const ARRIVALS: [&str; 2] = ["poisson", "constant"];

/// Its own.
const OWN: &[Flag<AttackFlags>] = &[
    Flag::new(
        "objective",
        ValueKind::Text("'p99<250ms, …'"),
        "",
        "What must hold: p50, p99.9, mean, max against a time, errors against a share.",
        |t: &mut AttackFlags, v| {
            t.seek.objective = Some(objective(v)?);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "by",
        ValueKind::Choice(&BY),
        "rate",
        "What is raised: the rate of an open loop, or the connections of a closed one.",
        |t: &mut AttackFlags, v| by(v).map(|by| t.seek.by = by),
    )
    .native(),
    Flag::new(
        "arrivals",
        ValueKind::Choice(&ARRIVALS),
        "poisson",
        "How requests of a rate arrive: at random, as from many users, or evenly.",
        |t: &mut AttackFlags, v| arrivals(v).map(|arrivals| t.seek.arrivals = arrivals),
    )
    .native(),
    Flag::new(
        "from",
        ValueKind::Text("N"),
        "10/s, or 1 connection",
        "The lowest load, where the search begins.",
        |t: &mut AttackFlags, v| load(v).map(|load| t.seek.from = Some(load)),
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Text("N"),
        "unlimited",
        "The highest load, where the search ends if it is met.",
        |t: &mut AttackFlags, v| load(v).map(|load| t.seek.to = Some(load)),
    )
    .native(),
    Flag::new(
        "step",
        ValueKind::Duration,
        "10s",
        "How long a step is measured; up to 4 times that where the objective needs the hits.",
        |t: &mut AttackFlags, v| {
            t.seek.step = some_time(v)?;
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "warmup",
        ValueKind::Duration,
        "3s",
        "What each step leaves out before; more where no steady state is reached by then.",
        |t: &mut AttackFlags, v| value::duration(v).map(|time| t.seek.warmup = time),
    )
    .native(),
    Flag::new(
        "cooldown",
        ValueKind::Duration,
        "1s",
        "The pause after a step, once nothing is under way; more where requests timed out.",
        |t: &mut AttackFlags, v| value::duration(v).map(|time| t.seek.cooldown = time),
    )
    .native(),
    Flag::new(
        "precision",
        ValueKind::Text("SHARE"),
        "5%",
        "The search ends when the answer is known within this, either way, with 95 %.",
        |t: &mut AttackFlags, v| value::share(v).map(|share| t.seek.precision = share),
    )
    .native(),
    Flag::new(
        "max-steps",
        ValueKind::Text("N"),
        "60",
        "The most steps; then the interval is what it is.",
        |t: &mut AttackFlags, v| value::count(v).map(|n| t.seek.max_steps = n),
    )
    .native(),
    Flag::new(
        "state",
        ValueKind::Path,
        "",
        "Keep the steps here; the same command goes on where it was stopped.",
        |t: &mut AttackFlags, v| {
            t.seek.state = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "plot",
        ValueKind::Path,
        "",
        "Draw latencies and achieved rate over load: .html, .svg or .png.",
        |t: &mut AttackFlags, v| {
            t.seek.plot = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
];

/// What is raised.
fn by(text: &str) -> Result<By, ValueError> {
    Ok(match value::word(text, &BY)?.as_str() {
        "connections" => By::Connections,
        _ => By::Rate,
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
            "\"{floor}\" is kept the better the higher the load (expected < or <=)"
        ))),
    }
}

/// A load above 0: a rate as `-rate` takes it, or a number of connections.
fn load(text: &str) -> Result<f64, ValueError> {
    match load_value::rate(text)? {
        ParsedRate::Rate(rate) => Ok(rate.per_s()),
        _ => Err(ValueError::new(format!("\"{text}\" is no load (expected more than 0)"))),
    }
}

/// A duration that is one.
fn some_time(text: &str) -> Result<Nanos, ValueError> {
    match value::duration(text)? {
        Nanos::ZERO => Err(ValueError::new("a step of no time sees nothing")),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shared_flag_is_there() {
        assert_eq!(table().len(), OWN.len() + SHARED.len() + 1);
    }

    #[test]
    fn words_are_read_as_what_they_mean() {
        assert_eq!(BY.map(|word| by(word).ok()), [Some(By::Rate), Some(By::Connections)]);
        let expect = [Some(Arrivals::Poisson), Some(Arrivals::Constant)];
        assert_eq!(ARRIVALS.map(|word| arrivals(word).ok()), expect);
        assert!(by("users").is_err() && arrivals("evenly").is_err());
    }

    #[test]
    fn objectives_are_ceilings() {
        assert!(objective("p99<=1s, errors<1%").is_ok());
        let wrong = objective("p99<1s, mean>1ms").expect_err("a floor");
        assert!(wrong.native.contains("\"mean>1ms\""), "{}", wrong.native);
    }
}
