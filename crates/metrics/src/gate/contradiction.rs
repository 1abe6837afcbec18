//! Gates of which every run crosses one: `p99>300ms, p50<500ms`.

use super::{Gate, GateError, GateMetric, Statistic};
use crate::Op;

/// Refuses two gates of which every run crosses one.
///
/// # Errors
/// There are such two.
pub(super) fn check(gates: &[Gate]) -> Result<(), GateError> {
    for (at, one) in gates.iter().enumerate() {
        for other in &gates[at + 1..] {
            if exclude(one, other) || exclude(other, one) {
                let (one, other) = (one.expression.clone(), other.expression.clone());
                return Err(GateError::Contradiction(one, other));
            }
        }
    }
    Ok(())
}

/// Whether no run keeps both: the first wants a figure above its limit, the second wants it, or one that is never smaller,
/// below a lower limit.
fn exclude(floor: &Gate, ceiling: &Gate) -> bool {
    let is_ordered = floor.selector == ceiling.selector
        && floor.unit == ceiling.unit
        && is_never_above(floor.metric, ceiling.metric);
    let (Some(least), Some(most)) = (floor.least(), ceiling.most()) else { return false };
    let none_between = least.0 > most.0 || least.0 == most.0 && !(least.1 && most.1);
    is_ordered && none_between
}

/// Whether the first figure is at most the second in every run.
fn is_never_above(first: GateMetric, second: GateMetric) -> bool {
    let ranks = |(first, second)| match (rank(first), rank(second)) {
        (Some(first), Some(second)) => first <= second,
        _ => first == second || first == Statistic::Min || second == Statistic::Max,
    };
    match (first, second) {
        (GateMetric::Response(first), GateMetric::Response(second))
        | (GateMetric::Service(first), GateMetric::Service(second))
        // A request is sent after it is due.
        | (GateMetric::Service(first), GateMetric::Response(second)) => ranks((first, second)),
        _ => first == second,
    }
}

/// The place of a statistic among the sorted times, 0 to 100; the mean has none.
fn rank(statistic: Statistic) -> Option<f64> {
    match statistic {
        Statistic::Min => Some(0.0),
        Statistic::Percentile(percent) => Some(percent),
        Statistic::Max => Some(100.0),
        Statistic::Mean => None,
    }
}

impl Gate {
    /// The least figure of a run that keeps it, and whether that figure itself keeps it.
    fn least(&self) -> Option<(f64, bool)> {
        match self.op {
            Op::Below => Some((self.limit, true)),
            Op::AtMost => Some((self.limit, false)),
            Op::Above | Op::AtLeast => None,
        }
    }

    /// The greatest figure of a run that keeps it, and whether that figure itself keeps it.
    fn most(&self) -> Option<(f64, bool)> {
        match self.op {
            Op::Above => Some((self.limit, true)),
            Op::AtLeast => Some((self.limit, false)),
            Op::Below | Op::AtMost => None,
        }
    }
}
