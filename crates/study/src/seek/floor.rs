//! What is wrong at loads far below the limit: a server that pauses now and then, or has some slow requests, misses a little of its
//! objective at every load. A step may hold such a pause or none, so that a single one says little, and the share of wrong hits
//! grows slowly with the load.

use metrics::{Condition, Objective};

use super::level::{is_beyond, tolerated};
use super::{Step, fit};

/// A load is far below the limit that is so many times as high, ...
const FAR: f64 = 2.0;
/// ... and far below one that is too high for the server that is so many times as high.
const FAR_BELOW_BEYOND: f64 = 4.0;
/// Steps far below the limit that show how they vary.
const STEPS_MIN: usize = 4;
/// Wrong hits that may be chance, where more are one pause.
const HITS_MIN: f64 = 3.0;
/// A share far below the limit that is less than this part of the allowed one is what a queue does.
const PART_MIN: f64 = 0.2;
/// Near its limit a curve rises so many times as steeply as all the way up to it: a queue grows like `1 / (1 - load)`.
const NEARBY: f64 = 3.0;
/// The least steepness that is thought of beforehand.
const STEEPNESS_MIN: f64 = 1.5;
/// Standard errors of a mean within which 95 % of them are.
const ERRORS: f64 = 2.0;

/// The wrong hits of steps far below the limit, of the condition that they come nearest to missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// The place of the condition in the objective.
    pub condition: usize,
    /// The share of wrong hits: the mean of the steps, by the time for which each was measured.
    pub share: f64,
    /// Its standard error, by how much the steps differ.
    pub error: f64,
    /// The share that is allowed.
    pub allowed: f64,
    /// The steps.
    pub steps: usize,
    /// The least and the greatest share of a step.
    pub range: [f64; 2],
    /// The lowest and the highest load of these steps.
    pub loads: [f64; 2],
}

impl Floor {
    /// The objective is missed at every load.
    #[must_use]
    pub fn is_missed(self) -> bool {
        self.steps >= STEPS_MIN && self.share - ERRORS * self.error > self.allowed
    }

    /// Chance decides whether it is missed at every load.
    #[must_use]
    pub fn is_open(self) -> bool {
        !self.is_missed() && self.share + ERRORS * self.error > self.allowed && self.steps > 1
    }
}

/// The floor far below this limit; `None` where so few hits are wrong that they say nothing.
pub(super) fn below(objective: &Objective, steps: &[Step], limit: f64) -> Option<Floor> {
    let most = most(objective, steps, limit);
    let far = || steps.iter().filter(move |step| is_far(step, most));
    let conditions = objective.conditions().iter().enumerate();
    let floors = conditions.filter_map(|(at, condition)| floor(condition, at, far()));
    floors.max_by(|a, b| (a.share / a.allowed).total_cmp(&(b.share / b.allowed)))
}

/// What is thought of the steepness of the curve at this limit beforehand: what it has at most with this floor.
pub(super) fn steepness(objective: &Objective, steps: &[Step], limit: f64) -> f64 {
    let Some(floor) = below(objective, steps, limit) else { return fit::STEEPNESS };
    let most = most(objective, steps, limit);
    let far = steps.iter().filter(|step| is_far(step, most));
    let (time, logs) = far.fold((0.0, 0.0), |(time, logs), step| {
        let measured = step.measured.as_secs_f64();
        (time + measured, logs + measured * (limit / step.load).ln())
    });
    let rise = (fit::odds(floor.allowed) / fit::odds(floor.share)).ln();
    match logs > 0.0 {
        true => (NEARBY * rise * time / logs).clamp(STEEPNESS_MIN, fit::STEEPNESS),
        // It is as high above the limit.
        false => STEEPNESS_MIN,
    }
}

/// The highest load that is far below the limit, or far below what the server can do: a curve that crosses the allowed share there is
/// flat.
fn most(objective: &Objective, steps: &[Step], limit: f64) -> f64 {
    let beyond = steps.iter().filter(|step| step.spoilt.is_none() && is_beyond(objective, step));
    let lowest = beyond.map(|step| step.load).reduce(f64::min);
    (limit / FAR).max(lowest.map_or(0.0, |load| load / FAR_BELOW_BEYOND))
}

fn is_far(step: &Step, most: f64) -> bool {
    step.spoilt.is_none() && step.hits > 0 && step.load <= most
}

fn floor<'a>(
    condition: &Condition,
    at: usize,
    steps: impl Iterator<Item = &'a Step>,
) -> Option<Floor> {
    let steps: Vec<(f64, f64, &Step)> =
        steps.map(|step| (step.measured.as_secs_f64(), step.figures[at], step)).collect();
    let hits: f64 = steps.iter().map(|(_, _, step)| step.hits as f64).sum();
    let wrong: f64 = steps.iter().map(|(_, share, step)| share * step.hits as f64).sum();
    let allowed = tolerated(condition.allowed()?, hits);
    if wrong < HITS_MIN {
        return None;
    }
    let time: f64 = steps.iter().map(|(time, ..)| time).sum();
    let share = steps.iter().map(|(time, share, _)| time * share).sum::<f64>() / time;
    if share < PART_MIN * allowed {
        return None;
    }
    let off = |(time, one, _): &(f64, f64, &Step)| (time * (one - share)).powi(2);
    let count = steps.len() as f64;
    let spread = steps.iter().map(off).sum::<f64>() * count / (count - 1.0).max(1.0);
    let extent = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, 0.0f64], |[low, high], one| [low.min(one), high.max(one)])
    };
    Some(Floor {
        condition: at,
        share,
        error: spread.sqrt() / time,
        allowed,
        steps: steps.len(),
        range: extent(&mut steps.iter().map(|(_, share, _)| *share)),
        loads: extent(&mut steps.iter().map(|(_, _, step)| step.load)),
    })
}
