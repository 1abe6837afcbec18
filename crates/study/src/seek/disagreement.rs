//! Steps that disagree: at about one load one is well within the objective and another far beyond it, as where a server has bursts
//! that one step holds and another does not.

use metrics::Objective;

use super::Step;
use super::level::{limit, plain_share};

/// Loads with logarithms closer than this are about the same.
const SAME_LOAD: f64 = 0.05;
/// A share so many times the allowed one is far beyond it, and so is one from which on a load is plainly too high.
const FAR: f64 = 10.0;

/// Two of these steps disagree.
pub(super) fn is_in(objective: &Objective, steps: &[&Step]) -> bool {
    let beyond = || steps.iter().filter(|step| is_far_beyond(objective, step));
    let mut within = steps.iter().filter(|step| is_within(objective, step));
    within.any(|one| beyond().any(|other| other.load <= one.load * (1.0 + SAME_LOAD)))
}

fn is_within(objective: &Objective, step: &Step) -> bool {
    let mut conditions = objective.conditions().iter().zip(&step.figures);
    conditions.all(|(condition, figure)| *figure < limit(condition, step.hits as f64))
}

/// Of shares alone: a mean is no share.
fn is_far_beyond(objective: &Objective, step: &Step) -> bool {
    let mut conditions = objective.conditions().iter().zip(&step.figures);
    conditions.any(|(condition, figure)| {
        let allowed = limit(condition, step.hits as f64);
        condition.allowed().is_some() && *figure >= plain_share(allowed).min(FAR * allowed)
    })
}
