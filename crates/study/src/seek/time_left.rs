//! How long a search still takes.

use stdx::Nanos;

use super::pace::{measure, overhead, spent};
use super::propose::{REFINED_MIN, estimate};
use super::{BRACKET, Search, Step, levels};

/// How long a search still takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// As far as can be foreseen; `None` as long as no load missed the objective.
    pub about: Option<Nanos>,
    /// By the budget, or by the steps that are left.
    pub at_most: Nanos,
}

/// How long the search still takes after these steps; `None` before the first.
#[must_use]
pub fn time_left(search: &Search, steps: &[Step]) -> Option<TimeLeft> {
    let load = steps.last()?.load;
    let of = |count: f64, share: f64| {
        let step = measure(search, steps, load, share).as_secs_f64();
        let one = step + search.warmup.as_secs_f64() * share + overhead(steps).as_secs_f64();
        Nanos::from_secs_f64(count * one)
    };
    let by_steps = of(search.steps_max.saturating_sub(steps.len()) as f64, 1.0);
    let by_budget = search.budget.map(|budget| budget.saturating_sub(spent(steps)));
    let at_most = by_budget.map_or(by_steps, |left| left.min(by_steps));
    let about = estimate(search, steps, &levels(&search.objective, steps)).map(|estimate| {
        let half = (estimate.high - estimate.low) / (2.0 * estimate.load);
        // The interval of n steps is as wide as one over the root of n.
        let known = estimate.steps as f64;
        let needed = known * (half / search.precision).powi(2);
        let refine = (needed - known).max(REFINED_MIN as f64 - known).max(0.0);
        let wide = (estimate.high / estimate.low).ln() / BRACKET.ln();
        let halvings = if known < 3.0 { wide.max(1.0).log2() } else { 0.0 };
        (of(halvings, search.probe) + of(refine, 1.0)).min(at_most)
    });
    Some(TimeLeft { about, at_most })
}
