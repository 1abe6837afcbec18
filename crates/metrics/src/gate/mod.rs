//! `Gates`: the conditions under which a run fails, such as `p99>300ms, errors>0.1%`, and their results.
//!
//! ```text
//! gates    = gate {"," gate}
//! gate     = metric ["{" selector {"," selector} "}"] ("<" | "<=" | ">" | ">=") limit
//! metric   = statistic | "service." statistic | "errors" | "success" | "status." status | "rate" | "requests" | "bytes"
//!          | "thresholds" | "checks"
//! statistic = any pNN.N | "mean" | "min" | "max"; or by another of its names (metric_name)
//! selector = ("name" | "method" | "status" | "target" | a tag of a script) ":" value; a value with a comma or a brace stands in double quotes
//! status   = "503" | "5xx"
//! ```
//!
//! Metrics, operators and shares are those of [`Objective`](crate::Objective). An objective says what must hold, a gate what
//! must not.

mod contradiction;
mod gap;
mod judge;
mod judged_run;
mod lost;
mod parse;
mod successes;
mod tagged;
#[cfg(test)]
mod tests;
mod unmeasured;

use thiserror::Error;

pub use self::gap::Gap;
pub use self::judge::GateFigures;
pub use self::judged_run::JudgedRun;
use crate::{GrpcStatus, Op, Outcome};

/// The most gates of a command line.
pub const GATES_MAX: usize = 32;

/// The gates of a run, at most [`GATES_MAX`], in the order they were given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {
    list: Vec<Gate>,
}

/// A condition under which a run fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// As it was written, without space around it.
    pub expression: String,
    /// The figure.
    pub metric: GateMetric,
    /// The requests that the figure is of.
    pub selector: Selector,
    /// On which side of the limit the run fails.
    pub op: Op,
    /// The limit, in [`Gate::unit`].
    pub limit: f64,
    /// The unit of the limit and of the figure.
    pub unit: GateUnit,
}

/// A figure that a gate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateMetric {
    /// A statistic of the response times, from the moment a request was due.
    Response(Statistic),
    /// A statistic of the service times, from the moment a request was sent.
    Service(Statistic),
    /// Requests not answered with success. Where a status is selected: those of this status, of all requests.
    Errors,
    /// Requests answered with success.
    Success,
    /// Requests with such a status.
    Status(StatusSet),
    /// Answered requests per second, from the first due request to the last end.
    Rate,
    /// The number of requests.
    Requests,
    /// Response body bytes per request.
    Bytes,
    /// Crossed thresholds of a script.
    Thresholds,
    /// Results of a script's checks that held, as a share of all.
    Checks,
}

/// A statistic of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The time that this percentage of the requests does not exceed; above 0 and below 100.
    Percentile(f64),
    /// The mean.
    Mean,
    /// The shortest.
    Min,
    /// The longest.
    Max,
}

/// One status, or a hundred of them, of HTTP; or one of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusSet {
    /// A status in 100..600.
    One(u16),
    /// The statuses that begin with this digit, 1 to 5.
    Class(u16),
    /// A status of gRPC.
    Grpc(GrpcStatus),
}

/// The requests that a figure is of; empty: all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Those of targets with this name.
    pub name: Option<String>,
    /// Those with this method.
    pub method: Option<String>,
    /// Those of this `METHOD URL`.
    pub target: Option<String>,
    /// Those answered with such a status.
    pub status: Option<StatusSet>,
    /// Those of a script with all these tags: names and values. Rows of a run under way do not have them.
    pub tags: Vec<(String, String)>,
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateUnit {
    /// Nanoseconds.
    Time,
    /// A share of the requests, 0 to 1.
    Share,
    /// A number of requests.
    Count,
    /// A number of something else.
    Number,
    /// Requests per second.
    PerSecond,
    /// A share of the planned rate.
    ShareOfPlanned,
    /// Bytes.
    Bytes,
}

impl GateUnit {
    /// Every unit.
    pub const ALL: [Self; 7] = [
        Self::Time,
        Self::Share,
        Self::Count,
        Self::Number,
        Self::PerSecond,
        Self::ShareOfPlanned,
        Self::Bytes,
    ];

    /// The unit's name in results and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Share => "share",
            Self::Count => "requests",
            Self::Number => "number",
            Self::PerSecond => "per_second",
            Self::ShareOfPlanned => "share_of_planned",
            Self::Bytes => "bytes",
        }
    }
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// The gate, as it was written.
    pub expression: String,
    /// The figure; `None` where there is none.
    pub value: Option<f64>,
    /// The unit of the figure.
    pub unit: GateUnit,
    /// Whether the run fails by it.
    pub state: GateState,
    /// The results it is of, where a report has several; else empty. Results do not record it.
    pub run: String,
}

/// Whether a run fails by a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateState {
    /// The expression is false.
    Passed,
    /// The expression is true.
    Crossed,
    /// The results do not say whether it is true, or the load generator kept it from being measured.
    Undecided(Gap),
}

/// Why a text is no gate. Each names the gate and says what to give instead.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GateError {
    /// There is no gate, or nothing between two commas.
    #[error("an empty gate (expected one such as p99>300ms, or several with commas between)")]
    Empty,
    /// There are more than [`GATES_MAX`].
    #[error("more than {GATES_MAX} gates")]
    TooMany,
    /// There is no `<`, `<=`, `>` or `>=`.
    #[error("\"{0}\" compares nothing (expected <, <=, > or >= as in p99>300ms)")]
    Operator(String),
    /// The metric is unknown.
    #[error(
        "\"{metric}\" in \"{part}\" is no metric (expected p99, mean, min, max, service.p99, errors, success, status.5xx, rate, \
         requests, bytes, or of a script thresholds or checks)"
    )]
    Metric {
        /// The gate.
        part: String,
        /// Its metric.
        metric: String,
    },
    /// A percentile is not between 0 and 100.
    #[error("\"{metric}\" in \"{part}\" is no percentile (expected above p0 and below p100)")]
    Percentile {
        /// The gate.
        part: String,
        /// Its metric.
        metric: String,
    },
    /// A status is none.
    #[error(
        "\"{status}\" in \"{part}\" is no status (expected 100 to 599, 1xx to 5xx, or a name of gRPC's such as UNAVAILABLE)"
    )]
    Status {
        /// The gate.
        part: String,
        /// The status.
        status: String,
    },
    /// What is between braces selects nothing.
    #[error(
        "\"{part}\": the braces select nothing (expected {{name:NAME}}, {{method:GET}}, {{status:5xx}}, {{target:\"METHOD URL\"}} or a \
         script's {{TAG:VALUE}})"
    )]
    Selector {
        /// The gate.
        part: String,
    },
    /// The figure is not of single requests, or says itself which status it is of.
    #[error("\"{part}\": {metric} cannot be selected by {selector} (leave it out)")]
    Unselectable {
        /// The gate.
        part: String,
        /// Its metric.
        metric: &'static str,
        /// What does not go with it.
        selector: &'static str,
    },
    /// The limit is not of the metric's unit.
    #[error("\"{limit}\" in \"{part}\" is no limit of this metric (expected {expected})")]
    Limit {
        /// The gate.
        part: String,
        /// Its limit.
        limit: String,
        /// What the metric needs.
        expected: &'static str,
    },
    /// No figure can be on that side of the limit.
    #[error(
        "\"{0}\" can never be true, so the gate cannot fail (give a limit that a run can cross)"
    )]
    Never(String),
    /// Every figure is on that side of the limit.
    #[error("\"{0}\" is always true, so every run fails (give a limit that a run can keep)")]
    Always(String),
    /// Every run crosses one of the two.
    #[error(
        "\"{0}\" and \"{1}\" contradict each other: every run crosses one of them (change a limit)"
    )]
    Contradiction(String, String),
}

impl Gates {
    /// The gates, in the order they were given.
    #[must_use]
    pub fn list(&self) -> &[Gate] {
        &self.list
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The first gate that compares with the planned rate, so that an open loop is needed.
    #[must_use]
    pub fn of_planned_rate(&self) -> Option<&Gate> {
        self.list.iter().find(|gate| gate.unit == GateUnit::ShareOfPlanned)
    }

    /// The first gate of a name that is not among these.
    pub fn of_other_name<'a>(&self, names: impl Fn(&str) -> bool + 'a) -> Option<(&Gate, &str)> {
        self.list.iter().find_map(|gate| {
            let name = gate.selector.name.as_deref().filter(|name| !names(name))?;
            Some((gate, name))
        })
    }
}

impl StatusSet {
    /// Whether it has this outcome's status.
    #[must_use]
    pub fn contains(self, outcome: Outcome) -> bool {
        match (self, outcome) {
            (Self::One(one), Outcome::Http(status)) => status == one,
            (Self::Class(digit), Outcome::Http(status)) => status / 100 == digit,
            (Self::Grpc(one), Outcome::Grpc(status)) => status == one,
            _ => false,
        }
    }
}

impl Selector {
    /// Whether it selects all requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The same, for every status.
    fn of_every_status(&self) -> Self {
        Self { status: None, ..self.clone() }
    }
}
