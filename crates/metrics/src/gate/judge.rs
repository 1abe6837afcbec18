//! `GateFigures`: counts the requests that gates select, and judges the gates when the run has ended.

use super::{
    Gap, Gate, GateMetric, GateOutcome, GateState, GateUnit, Gates, JudgedRun, Selector, Statistic,
    successes, tagged, unmeasured,
};
use crate::{Batch, Op, Sample, Summary, TargetTable, row_tag};

/// Figures this close to their limit, as a share of it, are at the limit.
const ROUNDING: f64 = 1e-9;

/// The figures that gates need beside those of the whole run. Memory: one [`Summary`] for each selector.
#[derive(Clone, Debug)]
pub struct GateFigures {
    gates: Gates,
    /// Rows have the tags of a script.
    rows_have_tags: bool,
    selected: Vec<(Selector, Summary)>,
}

impl GateFigures {
    /// Nothing counted yet.
    #[must_use]
    pub fn new(gates: Gates) -> Self {
        Self::of(gates, false)
    }

    /// The same for rows that are read and have the tags of a script.
    #[must_use]
    pub fn of_tagged_rows(gates: Gates) -> Self {
        Self::of(gates, true)
    }

    fn of(gates: Gates, rows_have_tags: bool) -> Self {
        let mut selected: Vec<(Selector, Summary)> = Vec::new();
        let of_rows = |gate: &&Gate| rows_have_tags || !gate.selector.has_tags();
        for gate in gates.list().iter().filter(of_rows) {
            for selector in [gate.selector.clone(), gate.selector.of_every_status()] {
                if !selector.is_empty() && !selected.iter().any(|(known, _)| *known == selector) {
                    selected.push((selector, Summary::new()));
                }
            }
        }
        Self { gates, rows_have_tags, selected }
    }

    /// Counts the selected samples of a batch; `targets` is the table that its samples number.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        for (selector, summary) in &mut self.selected {
            for sample in &batch.samples {
                if selector.selects(sample, batch, targets) {
                    summary.add_sample(batch.epoch, sample);
                }
            }
        }
    }

    /// The results of the gates, in their order.
    #[must_use]
    pub fn outcomes(&self, run: &JudgedRun<'_>) -> Vec<GateOutcome> {
        self.gates.list().iter().map(|gate| self.outcome(gate, run)).collect()
    }

    fn outcome(&self, gate: &Gate, run: &JudgedRun<'_>) -> GateOutcome {
        let figure = self.figure(gate, run);
        let state = match figure {
            Ok((value, least)) => {
                let state = gate.judge(value, least);
                let gap = unmeasured::gap(gate, (value, state), run)
                    .or_else(|| successes::gap(gate, state, self.successes(gate, run)));
                gap.map_or(state, GateState::Undecided)
            }
            Err(gap) => GateState::Undecided(gap),
        };
        let (expression, value) = (gate.expression.clone(), figure.ok().map(|(value, _)| value));
        GateOutcome { expression, value, unit: gate.unit, state, run: String::new() }
    }

    /// How many of a gate's requests succeeded, and of how many.
    fn successes(&self, gate: &Gate, run: &JudgedRun<'_>) -> [u64; 2] {
        let by_tag = || tagged::successes(gate, run).filter(|_| gate.selector.has_tags());
        by_tag().unwrap_or_else(|| {
            let summary = self.summary_of(&gate.selector, run);
            [summary.successes, summary.requests]
        })
    }

    /// A gate's figure, and whether the true one may be greater.
    fn figure(&self, gate: &Gate, run: &JudgedRun<'_>) -> Result<(f64, bool), Gap> {
        if gate.selector.has_tags() {
            let by_metrics = tagged::by_tag(gate, run);
            // The metrics of the run have only what its own gates and thresholds asked for.
            if by_metrics.is_ok() || !self.rows_have_tags {
                return by_metrics;
            }
        }
        let summary = self.summary_of(&gate.selector, run);
        let every_status = gate.selector.of_every_status();
        let base = self.summary_of(&every_status, run);
        let exact = |value: f64| Ok((value, false));
        match gate.metric {
            GateMetric::Thresholds => tagged::thresholds(run).and_then(exact),
            GateMetric::Checks => tagged::checks(gate, run).and_then(exact),
            GateMetric::Response(_) | GateMetric::Service(_) => time(gate.metric, summary, run),
            GateMetric::Requests => exact(summary.requests as f64),
            GateMetric::Bytes if summary.requests == 0 => Err(Gap::NoRequest),
            GateMetric::Bytes => exact(summary.bytes_in_mean()),
            _ if base.requests == 0 => Err(Gap::NoRequest),
            GateMetric::Rate => rate(gate, summary, run).and_then(exact),
            GateMetric::Errors => exact(part(gate, summary.requests - summary.successes, base)),
            GateMetric::Success => exact(part(gate, base.successes, base)),
            GateMetric::Status(set) => {
                let outcomes = base.outcomes();
                let hits = outcomes.iter().filter(|(outcome, _)| set.contains(*outcome));
                exact(part(gate, hits.map(|(_, hits)| hits).sum(), base))
            }
        }
    }

    pub(super) fn gates(&self) -> &[Gate] {
        self.gates.list()
    }

    pub(super) fn summary_of<'a>(
        &'a self,
        selector: &Selector,
        run: &JudgedRun<'a>,
    ) -> &'a Summary {
        let found = self.selected.iter().find(|(known, _)| known == selector);
        found.map_or(run.summary, |(_, summary)| summary)
    }
}

/// A statistic of times; a quantile among timeouts may be greater in truth.
fn time(metric: GateMetric, summary: &Summary, run: &JudgedRun<'_>) -> Result<(f64, bool), Gap> {
    let is_service = matches!(metric, GateMetric::Service(_));
    if summary.requests == 0 {
        return Err(Gap::NoRequest);
    }
    if is_service && !run.has_service_times {
        return Err(Gap::NoService);
    }
    let (GateMetric::Response(statistic) | GateMetric::Service(statistic)) = metric else {
        return Err(Gap::Unknown);
    };
    let times = if is_service { &summary.service } else { &summary.response };
    let value = match statistic {
        Statistic::Percentile(percent) => times.percentile(percent),
        Statistic::Mean => times.mean(),
        Statistic::Min => times.min(),
        Statistic::Max => times.max(),
    };
    let from = summary.timed_out_from.map(|(response, service)| match is_service {
        true => service,
        false => response,
    });
    // The mean of a run with timeouts is one of the times that users waited, and is compared as such.
    let is_cut = statistic != Statistic::Mean && from.is_some_and(|from| value >= from);
    Ok((value.0 as f64, is_cut))
}

/// Answered requests per second of the whole run, or their share of the planned rate.
fn rate(gate: &Gate, summary: &Summary, run: &JudgedRun<'_>) -> Result<f64, Gap> {
    let answered = (summary.requests - summary.failed()) as f64;
    let seconds = run.summary.elapsed().as_secs_f64();
    let per_second = if seconds > 0.0 { answered / seconds } else { answered };
    if gate.unit != GateUnit::ShareOfPlanned {
        return Ok(per_second);
    }
    // What was planned was planned for all requests.
    let generator = run.generator.filter(|_| !run.is_part);
    let planned = generator.map(|generator| generator.rate_per_s);
    let planned = planned.filter(|rate| *rate > 0.0).ok_or(Gap::NoPlannedRate)?;
    Ok(per_second / planned)
}

/// A number of requests in the gate's unit.
fn part(gate: &Gate, hits: u64, of: &Summary) -> f64 {
    share(gate, hits, of.requests)
}

/// The same of a number of requests.
pub(super) fn share(gate: &Gate, hits: u64, of: u64) -> f64 {
    match gate.unit {
        GateUnit::Share => hits as f64 / of.max(1) as f64,
        _ => hits as f64,
    }
}

impl Gate {
    /// Whether a figure crosses it; `is_cut` where the true one may be greater.
    pub(super) fn judge(&self, value: f64, is_cut: bool) -> GateState {
        // Both were divided, and differ in the last digits where they are the same.
        let is_same = (value - self.limit).abs() <= ROUNDING * self.limit;
        let is_true = self.op.holds(if is_same { self.limit } else { value }, self.limit);
        let is_ceiling = matches!(self.op, Op::Above | Op::AtLeast);
        match (is_true, is_cut && is_true != is_ceiling) {
            (_, true) => GateState::Undecided(Gap::TimedOut),
            (true, _) => GateState::Crossed,
            (false, _) => GateState::Passed,
        }
    }
}

impl Selector {
    /// Whether it selects this request. Tags are those of rows that are read: a run under way has them only in its metrics.
    #[must_use]
    pub fn selects(&self, sample: &Sample, batch: &Batch, targets: &TargetTable) -> bool {
        let label = targets.get(sample.target);
        let is_named = |name: &String| match label {
            Some(label) => label.name == *name,
            None => batch.text(sample.name) == name.as_bytes(),
        };
        let is_target = |target: &String| match label {
            Some(label) => target
                .strip_prefix(label.method)
                .and_then(|rest| rest.strip_prefix(' '))
                .is_some_and(|url| url == label.url),
            None => batch.text(sample.line) == target.as_bytes(),
        };
        let is_method = |method: &String| match label {
            Some(label) => label.method == *method,
            None => {
                batch.text(sample.line).split(|byte| *byte == b' ').next()
                    == Some(method.as_bytes())
            }
        };
        let has_tag = |(name, value): &(String, String)| {
            let found = match label {
                Some(label) => row_tag(label.tags, name),
                None => row_tag(&String::from_utf8_lossy(batch.text(sample.tags)), name),
            };
            found.as_ref() == Some(value)
        };
        self.status.is_none_or(|set| set.contains(sample.outcome))
            && self.method.as_ref().is_none_or(is_method)
            && self.name.as_ref().is_none_or(is_named)
            && self.target.as_ref().is_none_or(is_target)
            && self.tags.iter().all(has_tag)
    }
}
