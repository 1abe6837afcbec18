//! `Assertion`: the result of a gate, or of a script's threshold or check, which the results have beside the hits.

use super::{Check, Contains, Kind, MetricSummary};
use crate::{GateOutcome, GateState};

/// A gate, a threshold or a check, with its result; or a metric of a script, which asserts nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Assertion {
    /// A threshold of a metric.
    Threshold {
        /// Its result.
        outcome: ThresholdOutcome,
        /// The metric's type.
        kind: Kind,
        /// What the metric's values are.
        contains: Contains,
    },
    /// A check with its passes and fails.
    Check(Check),
    /// A gate of the command line (`-fail-on`).
    Gate(GateOutcome),
    /// The statistics of a script's metric.
    Metric(MetricSummary),
}

/// The result of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdOutcome {
    /// The metric, with its selector.
    pub metric: String,
    /// The expression.
    pub source: String,
    /// The figure that was compared with the limit; `None` without samples.
    pub figure: Option<f64>,
    /// Whether the threshold is met.
    pub holds: bool,
    /// The results it is of, where a report has several; else empty. Results do not record it.
    pub run: String,
}

impl ThresholdOutcome {
    /// The aggregation that was compared: `p(95)` of `p(95)<300`.
    #[must_use]
    pub fn aggregation(&self) -> &str {
        self.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim()
    }
}

impl Assertion {
    /// Names the results it is of. Checks of one name are added up over all results, and have no such name.
    pub fn name_run(&mut self, name: &str) {
        let run = match self {
            Self::Threshold { outcome, .. } => &mut outcome.run,
            Self::Gate(outcome) => &mut outcome.run,
            Self::Metric(metric) => &mut metric.run,
            Self::Check(_) => return,
        };
        name.clone_into(run);
    }

    /// Whether the threshold is met, the check never failed, or the gate is decided and not crossed. A metric holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Threshold { outcome, .. } => outcome.holds,
            Self::Check(check) => check.fails == 0,
            Self::Gate(outcome) => outcome.state == GateState::Passed,
            Self::Metric(_) => true,
        }
    }
}
