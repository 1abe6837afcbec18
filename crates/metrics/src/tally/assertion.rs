//! `Assertion`: what a script asked of its test, and what came of it, as the results keep it beside the hits.

use super::{Check, Contains, Kind};

/// What was asked, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Assertion {
    /// A limit of a metric.
    Threshold {
        /// What became of it.
        judged: Judged,
        /// The metric's type.
        kind: Kind,
        /// What the metric's values are.
        contains: Contains,
    },
    /// A check, with how often it held.
    Check(Check),
}

/// What became of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The metric, with its selector.
    pub metric: String,
    /// The expression.
    pub source: String,
    /// What was compared with the limit; `None` without samples.
    pub figure: Option<f64>,
    /// Whether it holds.
    pub holds: bool,
}

impl Judged {
    /// What of the metric was compared: `p(95)` of `p(95)<300`.
    #[must_use]
    pub fn aggregation(&self) -> &str {
        self.source.split(['<', '>', '=', '!']).next().unwrap_or_default().trim()
    }
}

impl Assertion {
    /// Whether it holds: a threshold that is kept, a check that never failed.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Threshold { judged, .. } => judged.holds,
            Self::Check(check) => check.fails == 0,
        }
    }
}
