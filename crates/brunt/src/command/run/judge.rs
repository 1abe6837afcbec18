//! Thresholds: read before the run, judged after it.

use metrics::tally::{Tally, Threshold};
use report::Judged;
use script::Rule;
use stdx::Nanos;

/// A threshold of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    metric: String,
    threshold: Threshold,
}

/// Reads the thresholds, and has the submetrics counted that they want.
///
/// # Errors
/// One is no threshold, or of no metric; the text says which.
pub(super) fn read(rules: &[Rule], tally: &mut Tally) -> Result<Vec<Limit>, String> {
    rules.iter().map(|rule| limit(rule, tally)).collect()
}

fn limit(rule: &Rule, tally: &mut Tally) -> Result<Limit, String> {
    let named = |reason: &dyn std::fmt::Display| format!("threshold on {}: {reason}", rule.metric);
    let threshold = Threshold::parse(&rule.source).map_err(|error| named(&error))?;
    if let Some((base, selector)) = rule.metric.split_once('{') {
        let selector =
            selector.strip_suffix('}').ok_or_else(|| named(&"the tags have no closing brace"))?;
        tally.declare_sub(base, selector);
    }
    let value = tally.value(&rule.metric).ok_or_else(|| named(&"there is no such metric"))?;
    threshold.suits(value.kind()).map_err(|error| named(&error))?;
    Ok(Limit { metric: rule.metric.clone(), threshold })
}

/// Judges the thresholds. One without samples is crossed: it says nothing of what it was to guard.
pub(super) fn judge(limits: &[Limit], tally: &Tally, elapsed: Nanos) -> Vec<Judged> {
    let judged = |limit: &Limit| {
        let value = tally.value(&limit.metric);
        let figure = value.and_then(|value| limit.threshold.measure(value, elapsed));
        Judged {
            metric: limit.metric.clone(),
            source: limit.threshold.source.clone(),
            figure,
            holds: figure.is_some_and(|figure| limit.threshold.holds(figure)),
        }
    };
    limits.iter().map(judged).collect()
}
