//! `Assertion`: the result of a gate, or of a script's threshold or check, and what else results have of a run as a whole beside
//! its hits.

use super::{Check, Contains, Kind, MetricSummary};
use crate::{AgentRecord, Event, GateOutcome, GateState, Provenance};

/// A gate, a threshold or a check, with its result; or a metric of a script, an agent of a fleet, an event of the run or how it was
/// made, which assert nothing.
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
    /// What an agent of a fleet did.
    Agent(Box<AgentRecord>),
    /// What was done to the run while it went on.
    Event(Event),
    /// How the run was made.
    Provenance(Box<Provenance>),
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
    /// The agents among these.
    pub fn agents(all: &[Self]) -> impl Iterator<Item = &AgentRecord> {
        all.iter().filter_map(|one| match one {
            Self::Agent(agent) => Some(&**agent),
            _ => None,
        })
    }

    /// The events among these.
    pub fn events(all: &[Self]) -> impl Iterator<Item = &Event> {
        all.iter().filter_map(|one| match one {
            Self::Event(event) => Some(event),
            _ => None,
        })
    }

    /// How the runs among these were made.
    pub fn provenances(all: &[Self]) -> impl Iterator<Item = &Provenance> {
        all.iter().filter_map(|one| match one {
            Self::Provenance(provenance) => Some(&**provenance),
            _ => None,
        })
    }

    /// Names the results it is of. Checks of one name are added up over all results, and have no such name.
    pub fn name_run(&mut self, name: &str) {
        let run = match self {
            Self::Threshold { outcome, .. } => &mut outcome.run,
            Self::Gate(outcome) => &mut outcome.run,
            Self::Metric(metric) => &mut metric.run,
            Self::Event(event) => &mut event.run,
            Self::Provenance(provenance) => &mut provenance.run,
            Self::Check(_) | Self::Agent(_) => return,
        };
        name.clone_into(run);
    }

    /// Whether the threshold is met, the check never failed, or the gate is decided and not crossed. A metric, an agent, an
    /// event and a provenance hold.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Threshold { outcome, .. } => outcome.holds,
            Self::Check(check) => check.fails == 0,
            Self::Gate(outcome) => outcome.state == GateState::Passed,
            Self::Metric(_) | Self::Agent(_) | Self::Event(_) | Self::Provenance(_) => true,
        }
    }
}
