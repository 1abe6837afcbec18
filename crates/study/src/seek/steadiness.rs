//! Whether the server was the same one during the whole search. The interval of an answer says how far chance reaches, and chance
//! is all it knows: a neighbour that loads the machine for a minute is not in it.
//!
//! Two tests. *Loads that contradict the answer*: by Markov's inequality, the chance that a step shows `s` times the wrong hits
//! that are allowed is at most `e / s`, with `e` those that the fit expects at its load, `(load / low)^b`. A step that met the
//! objective above the interval is judged by the bunches of hits that wait in one queue: none of `m` bunches is slow with
//! a chance of `(1 - share)^m`. *Drift*: the limits by the first and by the second half of the steps near it, on a logarithmic
//! scale, are further apart than `DRIFT` standard errors of their difference.
//!
//! Both are silent about steps that the queue's own bunches explain, however different they are.

use metrics::Condition;

use super::fit::{self, BUNCH, Estimate};
use super::level::{self, RUNS_MAX, levels};
use super::{Search, Step, pace};

/// What is less likely than this is not put down to chance. A search has ten to sixty steps, each of which is tested.
const CHANCE: f64 = 0.001;
/// Standard errors beyond which the limit moved. The intervals allow for bunches, and are wider than those of a normal
/// estimate. With 1.6, 2 of 15 simulated searches of a queue that held still were called unsteady; with 2, at most one.
const DRIFT: f64 = 2.0;
/// Steps whose load is so close to the limit, in `ln load`, are near it, wherever it was at the time.
const WIDE: f64 = 2.0 * fit::REACH;
/// A 95 % interval is so many standard errors wide.
const INTERVAL: f64 = 3.92;
/// Steps near the limit that a half has at least.
const HALF_MIN: usize = 4;

/// What speaks against a server that was the same one throughout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steadiness {
    /// Loads away from the limit at which steps say otherwise than the others, by rising load.
    pub contradictions: Vec<Contradiction>,
    /// The limit moved.
    pub drift: Option<Drift>,
}

/// A load at which steps say otherwise than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contradiction {
    /// The load.
    pub load: f64,
    /// Valid steps at it.
    pub runs: usize,
    /// Those that contradict the answer.
    pub against: usize,
    /// They met the objective above the limit; else they missed it below.
    pub is_met: bool,
}

/// The limit before and after the middle of the steps near it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// By the steps of the first half.
    pub before: Estimate,
    /// By those of the second half.
    pub after: Estimate,
}

impl Contradiction {
    /// It is no outlier: half of the steps at this load or more contradict.
    #[must_use]
    pub fn stands(self) -> bool {
        2 * self.against >= self.runs
    }
}

impl Steadiness {
    /// Of these steps, with the estimate that they give.
    pub(super) fn of(search: &Search, steps: &[Step], estimate: &Estimate) -> Self {
        let valid: Vec<&Step> = steps.iter().filter(|step| step.spoilt.is_none()).collect();
        Self {
            contradictions: contradictions(search, steps, estimate),
            drift: drift(search, &valid, estimate),
        }
    }

    /// Nothing speaks against it.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.drift.is_none() && !self.contradictions.iter().any(|one| one.stands())
    }

    /// A load to be run again, since too few steps say whether it contradicts the answer.
    pub(super) fn doubtful(&self) -> Option<f64> {
        self.contradictions.iter().find(|one| one.runs < RUNS_MAX).map(|one| one.load)
    }

    /// The estimate, so wide that it includes what contradicts it.
    pub(super) fn widened(&self, estimate: Estimate) -> Estimate {
        let standing = self.contradictions.iter().filter(|one| one.stands());
        let loads = standing.map(|one| (one.load, one.load));
        let halves = self.drift.iter().flat_map(|drift| [drift.before, drift.after]);
        loads.chain(halves.map(|half| (half.low, half.high))).fold(estimate, |wide, (low, high)| {
            Estimate { low: wide.low.min(low), high: wide.high.max(high), ..wide }
        })
    }
}

fn contradictions(search: &Search, steps: &[Step], estimate: &Estimate) -> Vec<Contradiction> {
    let contradiction = |load: f64| {
        let at_load = steps.iter().filter(|step| step.spoilt.is_none() && step.load == load);
        let against =
            at_load.filter(|step| chance(search, step, estimate).is_some_and(|p| p < CHANCE));
        (against.count(), load)
    };
    levels(&search.objective, steps)
        .iter()
        .map(|level| (level.runs, contradiction(level.load)))
        .filter(|(_, (against, _))| *against > 0)
        .map(|(runs, (against, load))| Contradiction {
            load,
            runs,
            against,
            is_met: load > estimate.high,
        })
        .collect()
}

/// The greatest chance that a step away from the limit shows what it does; `None` near the limit, and where it shows what is
/// expected.
fn chance(search: &Search, step: &Step, estimate: &Estimate) -> Option<f64> {
    let conditions = search.objective.conditions();
    if step.load < estimate.low {
        let worst = conditions.iter().zip(&step.figures).map(|(condition, figure)| {
            let strain = figure / level::limit(condition, step.hits as f64);
            let wrong = condition.allowed().map_or(f64::INFINITY, |_| figure * step.hits as f64);
            if wrong >= level::PLAIN_HITS { strain } else { 0.0 }
        });
        let strain = worst.fold(0.0, f64::max);
        let expected = (step.load / estimate.low).powf(estimate.steepness);
        return (strain >= level::PLAIN).then(|| expected / strain);
    }
    let is_met = level::judge_alone(&search.objective, step).is_met();
    if step.load > estimate.high && is_met {
        let condition = &conditions[estimate.condition];
        let expected = (step.load / estimate.high).powf(estimate.steepness);
        return Some(met_by_luck(condition, step, expected));
    }
    None
}

/// The chance that no bunch of a step's hits is slow, where the odds to be slow are so many times those at the limit.
fn met_by_luck(condition: &Condition, step: &Step, expected: f64) -> f64 {
    let allowed = condition.allowed();
    let odds =
        allowed.map_or(1.0, |allowed| fit::odds(level::tolerated(allowed, step.hits as f64)));
    let clean = match allowed {
        Some(_) => 1.0 / (1.0 + odds * expected),
        // A mean so many times the limit is below it no oftener than in one of so many bunches.
        None => 1.0 / expected,
    };
    let limit_s = condition.limit_time().map_or(0.0, |limit| limit.as_secs_f64());
    let bunch = (BUNCH * limit_s * step.achieved_per_s).max(1.0);
    clean.powf((step.hits as f64 / bunch).max(1.0))
}

fn drift(search: &Search, valid: &[&Step], estimate: &Estimate) -> Option<Drift> {
    let is_near = |step: &Step| (step.load / estimate.load).ln().abs() < WIDE && step.hits > 0;
    let is_one = |step: &&&Step| is_near(step) && pace::is_long(search, step);
    let near: Vec<&Step> = valid.iter().filter(is_one).copied().collect();
    let (first, second) = near.split_at(near.len() / 2);
    if first.len() < HALF_MIN {
        return None;
    }
    let of = |half: &[&Step]| {
        let loads = || half.iter().map(|step| step.load);
        let bracket = (loads().reduce(f64::min)?, loads().reduce(f64::max)?);
        let steepness = fit::STEEPNESS;
        let place = fit::Place { bracket, most: f64::INFINITY, steepness };
        fit::estimate(&search.objective, half, place)
    };
    let (before, after) = (of(first)?, of(second)?);
    let error = |half: Estimate| (half.high / half.low).ln() / INTERVAL;
    let apart = (before.load / after.load).ln().abs();
    (apart > DRIFT * error(before).hypot(error(after))).then_some(Drift { before, after })
}
