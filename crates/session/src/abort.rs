//! `AbortObserver` (`-abort-when`): ends a run early that cannot come out well any more, and says why.

use std::collections::VecDeque;

use cli::{ExitCode, ValueError, eprint_line};
use metrics::{
    Batch, Event, GateFigures, Gates, Generator, JudgedRun, Snapshot, Summary, TargetTable,
};
use stdx::Nanos;
use workload::arrival::Shape;
use workload::{Load, Plan};

use crate::error::ObserverError;
use crate::observer::{Control, Observer};

/// The help text of the flag.
pub const ABORT_WHEN: &str = "End the run once a gate is surely crossed (code 7), or the asked rate is missed for 3s (code 14).";
/// What it may name.
pub const ABORT_CONDITIONS: &str = "gates,rate";

/// A rate that is off by more is missed; a request or two may lie on the other side of a moment.
const MISSED_SHARE: f64 = 0.05;
const MISSED_LEAST: u64 = 3;
/// A rate is missed over so many counts, which come once a second.
const MISSED_COUNTS: usize = 3;
/// By so many deviations a Poisson process falls below its mean once in 30,000 times.
const DEVIATIONS: f64 = 4.0;

/// When a run is ended early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbortWhen {
    /// Once a gate is surely crossed.
    pub gates: bool,
    /// Once the asked rate is missed.
    pub rate: bool,
}

impl AbortWhen {
    /// Reads the value of the flag.
    ///
    /// # Errors
    /// It names another condition.
    pub fn parse(text: &str) -> Result<Self, ValueError> {
        let mut when = Self::default();
        for word in text.split(',').map(str::trim) {
            match word {
                "gates" => when.gates = true,
                "rate" => when.rate = true,
                _ => {
                    let text = format!("\"{word}\" is not one of {ABORT_CONDITIONS}");
                    return Err(ValueError::new(text));
                }
            }
        }
        Ok(when)
    }

    /// Why this run cannot be ended so; `None` where it can.
    #[must_use]
    pub fn objection(self, plan: &Plan, gates: &Gates) -> Option<&'static str> {
        match &plan.load {
            _ if self.gates && gates.is_empty() => {
                Some("-abort-when=gates needs gates (give -fail-on)")
            }
            Load::Closed { .. } | Load::Users(_) if self.rate => {
                Some("-abort-when=rate needs a rate that was asked for; users have none")
            }
            _ => None,
        }
    }
}

/// Why a run was ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Gate,
    Rate,
}

/// How many requests were due and begun at a moment.
#[derive(Clone, Copy, Debug)]
struct Count {
    due: u64,
    begun: u64,
}

/// Ends a run early.
pub struct AbortObserver {
    when: AbortWhen,
    plan: Plan,
    figures: GateFigures,
    labels: TargetTable,
    summary: Summary,
    /// The last counts, the oldest first, at most [`MISSED_COUNTS`].
    counts: VecDeque<Count>,
    /// Someone changed the load: what the plan asks for says nothing any more.
    is_changed: bool,
    cause: Option<Cause>,
}

impl AbortObserver {
    /// Nothing seen yet; `None` where the run is never ended early. The labels are those of the plan.
    #[must_use]
    pub fn new(
        when: AbortWhen,
        plan: &Plan,
        gates: &Gates,
        labels: impl FnOnce() -> TargetTable,
    ) -> Option<Self> {
        (when.gates || when.rate).then(|| Self {
            when,
            plan: plan.clone(),
            figures: GateFigures::new(gates.clone()),
            labels: if when.gates { labels() } else { TargetTable::default() },
            summary: Summary::new(),
            counts: VecDeque::with_capacity(MISSED_COUNTS + 1),
            is_changed: false,
            cause: None,
        })
    }

    /// The exit code of a run whose gates and verdict gave this one.
    #[must_use]
    pub fn conclude(&self, code: ExitCode) -> ExitCode {
        match (code, self.cause) {
            (ExitCode::Ok | ExitCode::Invalid, Some(Cause::Gate)) => ExitCode::Changed,
            (ExitCode::Ok | ExitCode::Undecided | ExitCode::Invalid, Some(Cause::Rate)) => {
                ExitCode::Missed
            }
            (code, _) => code,
        }
    }

    /// How many requests may still end; without a limit where that is not known.
    fn rest(&self) -> u64 {
        let planned = match &self.plan.load {
            Load::Open { shape, .. } if !self.is_changed => {
                // How many of a Poisson process come is chance.
                let is_known = !matches!(shape, Shape::Poisson { .. });
                is_known.then(|| shape.planned(self.plan.begins_for())).flatten()
            }
            _ => None,
        };
        let all = planned.into_iter().chain(self.plan.hits_max).min();
        all.map_or(UNKNOWN, |all| all.saturating_sub(self.summary.requests))
    }

    fn lost_gate(&self, generator: &Generator) -> Option<String> {
        let run = JudgedRun {
            summary: &self.summary,
            is_part: false,
            generator: Some(generator),
            has_service_times: true,
            asserted: &[],
        };
        let gate = self.figures.lost(&run, self.rest())?;
        Some(format!("gate {} is surely crossed", gate.expression))
    }

    /// Whether too few of the requests that fell due over the last counts began.
    fn missed_rate(&mut self, snapshot: &Snapshot) -> Option<String> {
        let Load::Open { shape, .. } = &self.plan.load else { return None };
        let generator = &snapshot.generator;
        let begins_for = self.plan.begins_for().unwrap_or(Nanos(u64::MAX));
        let due = shape.planned(Some(snapshot.to.min(begins_for))).unwrap_or(0);
        let due = self.plan.hits_max.map_or(due, |max| due.min(max));
        let now = Count { due, begun: generator.sent + generator.warmup_hits };
        self.counts.push_back(now);
        let before = match self.counts.len() > MISSED_COUNTS {
            true => self.counts.pop_front()?,
            false => return None,
        };
        let (asked, begun) =
            (now.due.saturating_sub(before.due), now.begun.saturating_sub(before.begun));
        let chance = match shape {
            Shape::Poisson { .. } => DEVIATIONS * (asked as f64).sqrt(),
            _ => 0.0,
        };
        let short = asked.saturating_sub(begun);
        let is_missed =
            short >= MISSED_LEAST && short as f64 > MISSED_SHARE * asked as f64 + chance;
        (is_missed && !self.is_changed).then(|| {
            format!(
                "the asked rate is missed: of {asked} requests in {MISSED_COUNTS}s {begun} began"
            )
        })
    }
}

/// More requests than any run has.
const UNKNOWN: u64 = u64::MAX / 4;

impl Observer for AbortObserver {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        if self.when.gates && self.cause.is_none() {
            self.figures.add(batch, &self.labels);
            self.summary.add(batch);
        }
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        // What an interrupt has ended, ends by itself.
        if self.cause.is_some() || control.interrupts() > 0 {
            return;
        }
        let gate = self.when.gates.then(|| self.lost_gate(&snapshot.generator)).flatten();
        let rate = match self.when.rate {
            true => self.missed_rate(snapshot),
            false => None,
        };
        let cause = if gate.is_some() { Cause::Gate } else { Cause::Rate };
        if let Some(reason) = gate.or(rate) {
            self.cause = Some(cause);
            eprint_line(&format!("brunt: the run ends early (-abort-when): {reason}"));
            cli::annotate_failure("load test", &format!("ended early: {reason}"));
            control.end_early(reason);
        }
    }

    fn event(&mut self, event: &Event) {
        self.is_changed |= event.what.changes_load();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read() {
        let both = AbortWhen { gates: true, rate: true };
        assert_eq!(AbortWhen::parse("rate, gates").unwrap(), both);
        assert!(AbortWhen::parse("errors>1%").is_err() && AbortWhen::parse("").is_err());
    }
}
