//! How long the steps of a search are.
//!
//! A search with a budget divides it: shorter steps for the climb and the halving, whose answers are plain, and a dozen longer ones
//! near the limit, where a queue must have the time to build up. What the steps before took, with their pauses and with the
//! requests that were waited for, says what the next one takes.

use metrics::{Condition, Objective};
use stdx::Nanos;

use super::search::{By, Search, Trial};
use super::{Step, level};

/// So many times the hits that the objective needs, since arrivals at random and a longer warm-up leave fewer than planned.
const SPARE: f64 = 1.25;
/// A step is made longer, up to so many times, where the objective needs more hits to be judged.
const LONGER_MAX: f64 = 4.0;
/// A step near the limit is at least so many times as long as the longest time that the objective allows, ...
const LIMITS_OF_STEP: f64 = 10.0;
/// ... and at most this share of the budget.
const STEP_OF_BUDGET_MAX: f64 = 0.2;
/// A step of the climb is this share of a step near the limit.
const PROBE: f64 = 0.5;
/// The longest step is this part of the budget.
const STEPS_OF_BUDGET: f64 = 12.0;
/// A step that must end early for the sake of the budget is run if at least this share of it fits.
const SHORTEST: f64 = 0.5;

/// A step that is measured for so much of a step near the limit is long; a shortened last one is.
const LONG: f64 = 0.45;

/// The lengths of a search's steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// How long a step near the limit is measured.
    pub step: Nanos,
    /// What it leaves out before that.
    pub warmup: Nanos,
    /// The pause after a step.
    pub cooldown: Nanos,
    /// How long a step of the climb and of the halving is, as a share of one near the limit.
    pub probe: f64,
}

impl Lengths {
    /// Those of a search that may take as long as it needs.
    pub const UNBOUNDED: Self = Self {
        step: Nanos::from_secs(10),
        warmup: Nanos::from_secs(3),
        cooldown: Nanos::SECOND,
        probe: 1.0,
    };

    /// Those that use a budget best, as simulated on a queue of six workers: a twelfth of it for a step near the limit
    /// with its warm-up, and no more than without a budget. A shorter step than ten times the longest time that the objective allows
    /// ends before a queue has grown to it, so that fewer steps are made instead; the steps that find the range stay as short.
    #[must_use]
    pub fn of_budget(budget: Nanos, objective: &Objective) -> Self {
        let part = budget.as_secs_f64() / STEPS_OF_BUDGET;
        let part_of =
            |most: Nanos, share: f64| Nanos::from_secs_f64((part * share).min(most.as_secs_f64()));
        let most = Self::UNBOUNDED;
        let step = part_of(most.step, 0.75).as_secs_f64();
        let limits = objective.conditions().iter().filter_map(Condition::limit_time);
        let grows = limits.max().map_or(0.0, |limit| LIMITS_OF_STEP * limit.as_secs_f64());
        let longest = grows.min(budget.as_secs_f64() * STEP_OF_BUDGET_MAX);
        let whole = step.max(longest.min(most.step.as_secs_f64()));
        Self {
            step: Nanos::from_secs_f64(whole),
            warmup: part_of(most.warmup, 0.2),
            cooldown: part_of(most.cooldown, 0.05),
            probe: PROBE * step / whole,
        }
    }
}

/// What a step is for, which decides how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To find the bracket.
    Probe,
    /// To narrow the interval.
    Refine,
}

/// How long all steps took together, with the pauses between them.
#[must_use]
pub fn spent(steps: &[Step]) -> Nanos {
    steps.iter().fold(Nanos::ZERO, |sum, step| sum.saturating_add(step.took))
}

/// The step at this load; `None` where what is left of the budget is too short for it.
pub(super) fn trial(search: &Search, steps: &[Step], load: f64, purpose: Purpose) -> Option<Trial> {
    let share = match purpose {
        Purpose::Probe => search.probe,
        Purpose::Refine => 1.0,
    };
    let warmup = Nanos::from_secs_f64(search.warmup.as_secs_f64() * share);
    let whole = measure(search, steps, load, share);
    let Some(budget) = search.budget else { return Some(Trial { load, warmup, measure: whole }) };
    let left = budget.saturating_sub(spent(steps)).saturating_sub(overhead(steps));
    let measure = whole.min(left.saturating_sub(warmup));
    let fits = measure.as_secs_f64() >= SHORTEST * whole.as_secs_f64();
    (fits || steps.is_empty()).then_some(Trial { load, warmup, measure: measure.max(Nanos::MILLI) })
}

/// A step long enough for a queue to build up; what was cut has one.
pub(super) fn is_long(search: &Search, step: &Step) -> bool {
    step.cut || step.measured.as_secs_f64() >= LONG * search.step.as_secs_f64()
}

/// How long a step is measured, so that three hits may be on the wrong side where the objective is just met (with
/// fewer, none at all would prove nothing: the rule of three).
pub(super) fn measure(search: &Search, steps: &[Step], load: f64, share: f64) -> Nanos {
    let step = search.step.as_secs_f64() * share;
    if search.probe < 1.0 && share < 1.0 {
        return Nanos::from_secs_f64(step);
    }
    let last_valid = || steps.iter().rfind(|step| step.spoilt.is_none());
    let rate_per_s = match search.by {
        By::Rate => load,
        By::Connections => last_valid().map_or(0.0, |step| step.achieved_per_s),
    };
    let needed = search.objective.conditions().iter().filter_map(level::hits_needed);
    let seconds = match needed.reduce(f64::max) {
        Some(hits) if rate_per_s > 0.0 => SPARE * hits / rate_per_s,
        _ => 0.0,
    };
    let part = search.budget.map_or(f64::INFINITY, |all| all.as_secs_f64() / STEPS_OF_BUDGET);
    Nanos::from_secs_f64(seconds.clamp(step, (LONGER_MAX * step).min(part).max(step)))
}

/// What a step takes besides its load, as it was so far: the pause, and the hits that were waited for.
pub(super) fn overhead(steps: &[Step]) -> Nanos {
    let beside = steps.iter().map(|step| step.took.saturating_sub(step.warmup + step.measured).0);
    let all: u64 = beside.fold(0, u64::saturating_add);
    Nanos(all / (steps.len() as u64).max(1))
}
