//! Steps that disagree: at about one load one is well within the objective and another far beyond it, as where a server has bursts
//! that one step holds and another does not.

use metrics::Objective;

use super::level::{limit, plain_share};
use super::step::{SAME_LOAD, Step};

/// A share so many times the allowed one is far beyond it, and so is one from which on a load is plainly too high.
const FAR: f64 = 10.0;

/// Two steps at about one load that disagree, each with its load and its share of wrong hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disagreement {
    /// The place of the condition in the objective.
    pub condition: usize,
    /// The step that meets the objective.
    pub within: (f64, f64),
    /// The step that is far beyond it, at no higher load.
    pub beyond: (f64, f64),
}

/// The two of these steps that disagree most, where any do.
#[must_use]
pub fn disagreement(objective: &Objective, steps: &[&Step]) -> Option<Disagreement> {
    let within = steps.iter().filter(|step| is_within(objective, step));
    let pairs = within.flat_map(|one| {
        let same_load = steps.iter().filter(|other| other.load <= one.load * (1.0 + SAME_LOAD));
        same_load.filter_map(|other| pair(objective, one, other))
    });
    pairs.max_by(|a, b| a.beyond.1.total_cmp(&b.beyond.1))
}

fn pair(objective: &Objective, within: &Step, beyond: &Step) -> Option<Disagreement> {
    let condition = far_beyond(objective, beyond)?;
    let of = |step: &Step| (step.load, step.figures[condition]);
    Some(Disagreement { condition, within: of(within), beyond: of(beyond) })
}

fn is_within(objective: &Objective, step: &Step) -> bool {
    let mut conditions = objective.conditions().iter().zip(&step.figures);
    conditions.all(|(condition, figure)| *figure < limit(condition, step.hits as f64))
}

/// The condition by whose share a step is far beyond the objective: a mean is no share.
fn far_beyond(objective: &Objective, step: &Step) -> Option<usize> {
    let mut conditions = objective.conditions().iter().zip(&step.figures);
    conditions.position(|(condition, figure)| {
        let allowed = limit(condition, step.hits as f64);
        condition.allowed().is_some() && *figure >= plain_share(allowed).min(FAR * allowed)
    })
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::super::Trial;
    use super::super::tests::wrong;
    use super::*;

    #[test]
    fn steps_at_about_one_load_disagree() {
        let objective: Objective = "p99<5ms".parse().unwrap();
        let check = |steps: &[(f64, f64)], expected: Option<(f64, f64)>| {
            let step = |(load, share): &(f64, f64)| {
                let (warmup, measure) = (Nanos::SECOND, Nanos::from_secs(10));
                wrong(Trial { load: *load, warmup, measure }, *share)
            };
            let steps: Vec<Step> = steps.iter().map(step).collect();
            let found = disagreement(&objective, &steps.iter().collect::<Vec<_>>());
            assert_eq!(found.map(|found| (found.within.0, found.beyond.1)), expected, "{steps:?}");
        };
        check(&[(90.0, 0.0), (92.0, 0.4), (91.0, 0.2)], Some((90.0, 0.4)));
        check(&[(90.0, 0.0), (60.0, 0.2)], Some((90.0, 0.2)));
        check(&[(90.0, 0.0), (99.0, 0.9)], None);
        check(&[(90.0, 0.0), (91.0, 0.05)], None);
        check(&[(90.0, 0.02), (91.0, 0.5)], None);
    }
}
