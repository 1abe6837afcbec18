//! The order of reasons: by what they cost the run, the most first. The first reason is the one that a report names and gives a
//! remedy for.

use super::Reason;
use crate::Generator;

/// Sorts reasons by what they cost; those that cost alike stay as they are.
pub(super) fn sort(reasons: &mut [Reason], generator: Option<&Generator>) {
    let is_by_stall = generator.is_some_and(stalls_explain_unsent);
    reasons.sort_by_key(|reason| match reason {
        Reason::Stalls { .. } if is_by_stall => Cost::Cause,
        reason => cost(reason),
    });
}

/// What a reason costs the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cost {
    /// It is why requests were not sent.
    Cause,
    /// Requests that were to be sent.
    Load,
    /// Requests that failed for want of something on the generator's machine.
    Failures,
    /// Rows of requests that were made.
    Rows,
    /// Time of the generator, and what took it.
    Time,
    /// The exactness of response times.
    Quantiles,
    /// What single agents say, beside the sums of the fleet.
    Agents,
}

fn cost(reason: &Reason) -> Cost {
    match reason {
        Reason::Targets { .. }
        | Reason::NotSent { .. }
        | Reason::NotBegun { .. }
        | Reason::NeverAnswered { .. }
        | Reason::Rate { .. } => Cost::Load,
        Reason::Descriptors { .. } | Reason::Ports { .. } => Cost::Failures,
        Reason::RowsDropped { .. } | Reason::CutOff | Reason::Lost(_) => Cost::Rows,
        Reason::Throttled { .. }
        | Reason::Neighbour { .. }
        | Reason::TimeLost { .. }
        | Reason::Stalls { .. } => Cost::Time,
        Reason::Late { .. } | Reason::Lag { .. } | Reason::Busy { .. } => Cost::Quantiles,
        Reason::Agent { .. } => Cost::Agents,
    }
}

/// Whether no more was left out than fell due while the generator stood still: neither users nor a limit on requests were too few.
fn stalls_explain_unsent(generator: &Generator) -> bool {
    let due = generator.planned as f64 * generator.stalled_share();
    generator.not_sent > 0 && generator.stalls > 0 && generator.not_sent as f64 <= due
}
