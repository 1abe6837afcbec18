//! Gates that a run decides only by what its load generator did not do: it was late itself, or did not send what was planned.
//!
//! Lag only adds to a response time. So a ceiling that holds with the lag in it holds without it, and one that is crossed is
//! only crossed where the figure without the lag crosses it too.

use super::{Gap, Gate, GateMetric, GateState, JudgedRun, Statistic};
use crate::Generator;
use crate::tally::{Assertion, MetricSummary};
use crate::verdict::{knows_on_time, time_lost_share};

/// The share of what was planned that may be missing from a run whose gates pass: 1 %.
const MISSING_SHARE_MAX: f64 = 0.01;

/// Why this figure does not decide the gate that it seems to; `None` where it does.
pub(super) fn gap(
    gate: &Gate,
    (value, state): (f64, GateState),
    run: &JudgedRun<'_>,
) -> Option<Gap> {
    if matches!(state, GateState::Undecided(_)) {
        return None;
    }
    let otherwise = |figure: &f64| gate.judge(*figure, false) != state;
    if let Some(on_time) = on_time(gate, value, run).filter(otherwise) {
        return Some(Gap::Late { on_time });
    }
    match state {
        GateState::Passed => missing(run),
        _ => with_unsent(gate, value, run).filter(otherwise).and_then(|_| not_sent(run)),
    }
}

/// The figure as it would be had the generator been on time; `None` where it is not known.
fn on_time(gate: &Gate, value: f64, run: &JudgedRun<'_>) -> Option<f64> {
    let is_whole = !run.is_part && gate.selector.is_empty();
    let known = |generator: &&Generator| is_whole && knows_on_time(run.summary, generator);
    let generator = run.generator.filter(known)?;
    let times = &generator.on_time;
    let figure = match gate.metric {
        GateMetric::Response(Statistic::Percentile(percent)) => times.percentile(percent),
        GateMetric::Response(Statistic::Mean) => times.mean(),
        GateMetric::Response(Statistic::Min) => times.min(),
        GateMetric::Response(Statistic::Max) => times.max(),
        GateMetric::Rate => {
            let lost = time_lost_share(run.summary, generator)?;
            return (lost < 1.0).then(|| value / (1.0 - lost));
        }
        _ => return None,
    };
    // Its buckets are wider than those of the response times.
    Some((figure.0 as f64).min(value))
}

/// The number or the rate of the requests if those that the generator did not send had been answered. Where a limit on
/// requests under way held them back it was the server that was slow.
fn with_unsent(gate: &Gate, value: f64, run: &JudgedRun<'_>) -> Option<f64> {
    let is_whole = !run.is_part && gate.selector.is_empty();
    let generator = run.generator.filter(|generator| is_whole && generator.held == 0)?;
    let (unsent, answered) = (generator.not_sent, run.summary.requests - run.summary.failed());
    match gate.metric {
        GateMetric::Requests => Some(value + unsent as f64),
        GateMetric::Rate if answered > 0 => {
            Some(value * (answered + unsent) as f64 / answered as f64)
        }
        _ => None,
    }
}

/// What is missing of the plan, where it is more than [`MISSING_SHARE_MAX`].
fn missing(run: &JudgedRun<'_>) -> Option<Gap> {
    if let Some(gap) = run.generator.and_then(users_missing) {
        return Some(gap);
    }
    // What scenarios leave undone at their time's end, as shared iterations, never fell due.
    if run.generator.is_some_and(|generator| generator.not_sent == 0) {
        return None;
    }
    let is_much = |missing: u64, of: u64| missing as f64 > MISSING_SHARE_MAX * of as f64;
    let counts = ["dropped_iterations", "iterations"].map(|name| count(name, run.asserted));
    if let [Some(dropped), begun] = counts {
        let all = dropped.saturating_add(begun.unwrap_or(0));
        return is_much(dropped, all).then_some(Gap::NotBegun { iterations: dropped });
    }
    let generator = run.generator?;
    is_much(generator.not_sent, generator.planned).then(|| not_sent(run)).flatten()
}

/// A load of fewer users is another one than the gate is about.
fn users_missing(generator: &Generator) -> Option<Gap> {
    let (users, of) = (generator.users_missing()?, generator.users);
    (users as f64 > MISSING_SHARE_MAX * of as f64).then_some(Gap::NeverAnswered { users, of })
}

/// What the generator did not send, or not begin.
fn not_sent(run: &JudgedRun<'_>) -> Option<Gap> {
    let generator = run.generator.filter(|generator| generator.not_sent > 0)?;
    let (not_sent, planned) = (generator.not_sent, generator.planned);
    Some(match generator.self_paced {
        true => Gap::NotBegun { iterations: not_sent },
        false => Gap::NotSent { not_sent, planned },
    })
}

/// How often a script counted something, in all results together; `None` where it never did.
fn count(name: &str, asserted: &[Assertion]) -> Option<u64> {
    let of_test = |one: &&MetricSummary| {
        one.metric == name && one.scenario.is_empty() && one.group.is_empty()
    };
    let metrics = asserted.iter().filter_map(|one| match one {
        Assertion::Metric(metric) => Some(metric),
        _ => None,
    });
    let counts = metrics.filter(of_test).filter_map(|metric| {
        metric.statistics.iter().find(|(statistic, _)| statistic == "count").map(|(_, n)| *n as u64)
    });
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0).saturating_add(count)))
}
