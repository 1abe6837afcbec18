//! The load at which the share of wrong hits crosses the allowed one, from all steps near the crossing.
//!
//! One step near the limit is weak evidence: queues come in bursts, so of two equal runs one has no slow hit and the other a
//! hundred. The mean over many runs of the *share* of slow hits is unbiased, so shares are fitted and not percentiles
//! (`p99 < t` is "less than 1 % take longer than t"). The model, per condition:
//!
//! ```text
//! logit(share) = logit(allowed) + b (ln load - x)          a share of hits: percentiles, max, errors
//! ln(mean)     = ln(limit)      + b (ln load - x)          a mean
//! ```
//!
//! `x` is the logarithm of the limit and `b > 0` the steepness. With `D(x, b)` the (quasi-)deviance of the steps (McCullagh and
//! Nelder, Generalized Linear Models, 1989, 9.2), `D0` the least of all, and `f` the dispersion after Pearson at that least,
//! the weight of `(x, b)` is `prior(b) * (1 + (D - D0) / (f n))^(-(n + 1) / 2)`, summed over a grid (Kontsevich and Tyler,
//! Bayesian adaptive estimation of psychometric slope and threshold, 1999). The answer is the mean of `x`, its interval the
//! middle 95 %. It always converges, and steps that are all clean below and all wrong above give a wide interval, not an
//! infinite slope.
//!
//! `f` is combined with a prior that counts as `DISPERSION_STEPS` of the `n` steps: hits that are due soon after one another
//! wait in the same queue, so slow hits come in bunches. Without the prior, a few quiet steps at the start would look like
//! certainty.

use metrics::{Condition, Objective};

use super::disagreement::disagreement;
use super::level::{plain_share, tolerated};
use super::{BRACKET, Step};

/// How far from where the limit was last seen, in `ln load`, it is looked for.
pub(super) const REACH: f64 = 0.16;
/// The window's edge, where steps no longer count, in reaches.
const EDGE: f64 = 1.2;
/// Points of the grid on either side of its centre.
const POINTS: i32 = 50;
/// The grid of steepness, from and to, and its points.
const GRID: (f64, f64, i32) = (1.0, 1000.0, 16);
/// What is thought of the steepness beforehand is log-normal about this median, unless loads far below the limit say that it is less,
/// with this sigma. A single queue at 90 % load has about 35 for its p99.
pub(super) const STEEPNESS: f64 = 30.0;
const SIGMA: f64 = 1.2;
/// The length of a bunch of slow hits in the prior, as a multiple of the limit. In a queue at 90 % load the waits of hits ten
/// limits apart are still correlated.
pub(super) const BUNCH: f64 = 10.0;
/// How many steps the dispersion thought of beforehand counts for: `k`.
const DISPERSION_STEPS: f64 = 4.0;
/// A mean of so many times its limit shows only that the load is too high, and a limit of so many times the mean that it is not.
const PLAIN_RATIO: f64 = 3.0;
/// Steps that say with this chance that the limit is above `most` know better.
const BEYOND_MAX: f64 = 0.99;
/// An interval of this share of a window's width or more is cut off by it, ...
const CUT_OFF: f64 = 0.55;
/// ... and where steps disagree is looked for in one that reaches so many times as far.
const WIDER: f64 = 1.5;
/// Rounds in which the window follows the estimate.
const ROUNDS: usize = 2;

/// Where the limit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The limit.
    pub load: f64,
    /// It is above this, with 97.5 %.
    pub low: f64,
    /// It is below this, with 97.5 %.
    pub high: f64,
    /// How many steps it comes from.
    pub steps: usize,
    /// The condition of the objective that has the least limit, by its place.
    pub condition: usize,
    /// How fast its share of wrong hits grows with the load: `b`.
    pub steepness: f64,
}

/// Where the limit is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// A load below it, and one above it.
    pub bracket: (f64, f64),
    /// It is no higher than this.
    pub most: f64,
    /// The median of what is thought of the steepness beforehand.
    pub steepness: f64,
}

/// Where the objective's limit is, looked for around the bracket. `None` without steps near it.
#[must_use]
pub fn estimate(objective: &Objective, steps: &[&Step], place: Place) -> Option<Estimate> {
    let Place { bracket: (low, high), steepness, .. } = place;
    // A wide bracket, as of two whole numbers, is used whole. Of a flat curve, loads say less of the limit's place, and those that
    // say something are farther away.
    let reach = (REACH * (STEEPNESS / steepness).sqrt()).max((high / low).ln());
    let found = follow(objective, steps, place, reach)?;
    if found.is_cut_off_by(reach) && disagreement(objective, steps).is_some() {
        let wide = follow(objective, steps, place, WIDER * reach);
        return wide.map(|wide| Estimate {
            low: found.low.min(wide.low),
            high: found.high.max(wide.high),
            ..found
        });
    }
    Some(found)
}

/// The estimate by a window of this reach that follows it.
fn follow(objective: &Objective, steps: &[&Step], place: Place, reach: f64) -> Option<Estimate> {
    let Place { bracket: (low, high), most, steepness } = place;
    let mut centre = (low * high).sqrt();
    let mut found = None;
    for _ in 0..ROUNDS {
        let window = Window { centre, reach, most, steepness };
        found = window.estimate(objective, steps);
        // The window stays with the bracket, so that a single step far from it, spoilt by a hiccup, does not draw it away.
        centre = found?.load.clamp(low / BRACKET, high * BRACKET);
    }
    found
}

impl Estimate {
    /// The interval is about as wide as a window of this reach: the limit may lie beyond it.
    fn is_cut_off_by(&self, reach: f64) -> bool {
        (self.high / self.low).ln() > CUT_OFF * 2.0 * reach
    }
}

/// The loads around a centre.
struct Window {
    centre: f64,
    reach: f64,
    /// The limit is no higher than this.
    most: f64,
    /// The median of the steepness's prior.
    steepness: f64,
}

/// One step as one condition sees it.
struct Point {
    /// `ln(load / centre)`.
    x: f64,
    /// How much it counts, 0 to 1.
    weight: f64,
    hits: f64,
    figure: f64,
    rate_per_s: f64,
}

impl Window {
    fn estimate(&self, objective: &Objective, steps: &[&Step]) -> Option<Estimate> {
        let near =
            steps.iter().filter(|step| self.weight(step.load) > 0.0 && step.hits > 0).count();
        if near == 0 {
            return None;
        }
        let conditions = objective.conditions().iter().enumerate();
        let mut seen: Vec<(usize, &Condition, Vec<Point>)> =
            conditions.map(|(at, condition)| (at, condition, self.points(at, steps))).collect();
        let is_strained = |(_, condition, points): &(usize, &Condition, Vec<Point>)| {
            condition.allowed().is_none() || points.iter().any(|point| point.figure > 0.0)
        };
        // A condition without one wrong hit in the whole window is not what limits.
        if seen.iter().any(is_strained) {
            seen.retain(is_strained);
        }
        // The objective's limit is the least of its conditions' limits: above x with the product of the chances.
        let mut above = vec![1.0; self.grid().count()];
        let mut least: Option<(f64, usize, f64)> = None;
        for (at, condition, points) in &seen {
            let limit = self.weights(condition, points);
            let mut rest = 1.0;
            for (above, weight) in above.iter_mut().zip(&limit.weights) {
                rest -= weight;
                *above *= rest.max(0.0);
            }
            if least.is_none_or(|(mean, ..)| limit.mean < mean) {
                least = Some((limit.mean, *at, limit.steepness));
            }
        }
        let (_, condition, steepness) = least?;
        self.cut_off(&mut above);
        Some(Estimate { condition, steepness, ..self.summed_up(&above, near) })
    }

    /// Spreads the chance of what lies above `most` over the rest, unless there is none to speak of.
    fn cut_off(&self, above: &mut [f64]) {
        let is_beyond = |x: f64| self.centre * x.exp() > self.most;
        let first = self.grid().position(is_beyond).unwrap_or(above.len());
        let beyond = above.get(first).copied().unwrap_or(0.0);
        if beyond > BEYOND_MAX {
            return;
        }
        above[first..].fill(0.0);
        above[..first].iter_mut().for_each(|one| *one = (*one - beyond) / (1.0 - beyond));
    }

    /// The mean and the middle 95 % of a distribution given by its chances to lie above each point of the grid.
    fn summed_up(&self, above: &[f64], steps: usize) -> Estimate {
        let (mut mean, mut before) = (0.0, 1.0);
        for (x, above) in self.grid().zip(above) {
            mean += x * (before - above);
            before = *above;
        }
        let quantile = |chance: f64| {
            let at = above.iter().position(|above| *above <= chance).unwrap_or(above.len() - 1);
            // Between the point that is passed and the one before, in proportion.
            let (before, here) = (if at == 0 { 1.0 } else { above[at - 1] }, above[at]);
            let part = (chance - here) / (before - here).max(1e-12);
            let step = self.reach / f64::from(POINTS);
            self.centre * (self.grid().nth(at).unwrap_or(0.0) - step * part.clamp(0.0, 1.0)).exp()
        };
        let load = self.centre * mean.exp();
        let (low, high) = (quantile(0.975).min(load), quantile(0.025).max(load));
        Estimate { load, low, high, steps, condition: 0, steepness: 1.0 }
    }

    /// The grid of `x`.
    fn grid(&self) -> impl Iterator<Item = f64> {
        let reach = self.reach;
        (-POINTS..=POINTS).map(move |at| reach * f64::from(at) / f64::from(POINTS))
    }

    /// Tukey's tricube: 1 at the centre, 0 at the reach.
    fn weight(&self, load: f64) -> f64 {
        let distance = ((load / self.centre).ln() / (EDGE * self.reach)).abs().min(1.0);
        (1.0 - distance.powi(3)).powi(3)
    }

    fn points(&self, at: usize, steps: &[&Step]) -> Vec<Point> {
        let points = steps.iter().map(|step| Point {
            x: (step.load / self.centre).ln(),
            weight: self.weight(step.load),
            hits: step.hits as f64,
            figure: step.figures[at],
            rate_per_s: step.achieved_per_s,
        });
        points.filter(|point| point.weight > 0.0 && point.hits > 0.0).collect()
    }

    /// Where the limit of one condition is.
    fn weights(&self, condition: &Condition, points: &[Point]) -> Limit {
        let models: Vec<Vec<(f64, Model)>> = self
            .grid()
            .map(|x| {
                steepnesses(self.steepness)
                    .map(|(b, prior)| (prior, Model::of(condition, points, x, b)))
                    .collect()
            })
            .collect();
        let best = models.iter().flatten().min_by(|a, b| a.1.deviance.total_cmp(&b.1.deviance));
        let best = best.expect("the grid has points").1;
        let count: f64 = points.iter().map(|point| point.weight).sum();
        let thought = 1.0 + BUNCH * bunch(condition, points);
        let freedom = count + DISPERSION_STEPS;
        let dispersion = (best.pearson + DISPERSION_STEPS * thought) / freedom;
        let weight = |(prior, model): &(f64, Model)| {
            let worse = (model.deviance - best.deviance) / dispersion;
            (prior - (freedom + 1.0) / 2.0 * (1.0 + worse / freedom).ln()).exp()
        };
        let rows = models.iter().map(|row| row.iter().map(weight).collect());
        Limit::of(self.grid(), &rows.collect::<Vec<Vec<f64>>>())
    }
}

/// Where one condition's limit is.
struct Limit {
    /// How likely each `x` of the grid is, whatever the steepness; their sum is 1.
    weights: Vec<f64>,
    /// The mean of `x`.
    mean: f64,
    /// The steepness: its geometric mean.
    steepness: f64,
}

impl Limit {
    /// By a row of weights for each `x`, with one for each steepness; not normalised.
    fn of(grid: impl Iterator<Item = f64>, rows: &[Vec<f64>]) -> Self {
        let total: f64 = rows.iter().flatten().sum();
        let weights: Vec<f64> = rows.iter().map(|row| row.iter().sum::<f64>() / total).collect();
        let mean = grid.zip(&weights).map(|(x, weight)| x * weight).sum();
        let of_row = |row: &Vec<f64>| {
            row.iter()
                .zip(steepnesses(STEEPNESS))
                .map(|(weight, (b, _))| weight * b.ln())
                .sum::<f64>()
        };
        let logarithm = rows.iter().map(of_row).sum::<f64>() / total;
        Self { weights, mean, steepness: logarithm.exp() }
    }
}

/// Each steepness of the grid, with the logarithm of its prior.
fn steepnesses(median: f64) -> impl Iterator<Item = (f64, f64)> {
    let (from, to, count) = GRID;
    (0..count).map(move |at| {
        let steepness = from * (to / from).powf(f64::from(at) / f64::from(count - 1));
        let off = (steepness / median).ln() / SIGMA;
        (steepness, -off * off / 2.0)
    })
}

/// How badly a limit and a steepness describe the steps: 0 is not at all badly.
#[derive(Clone, Copy, Debug, Default)]
struct Model {
    /// The quasi-deviance, by which models are compared.
    deviance: f64,
    /// Pearson's sum of squares, from which the dispersion comes.
    pearson: f64,
}

impl Model {
    fn of(condition: &Condition, points: &[Point], x: f64, steepness: f64) -> Self {
        let mut model = Self::default();
        for point in points {
            let along = (steepness * (point.x - x)).clamp(-40.0, 40.0).exp();
            let (deviance, square) = match condition.allowed() {
                Some(allowed) => {
                    let allowed = tolerated(allowed, point.hits);
                    let most = plain_share(allowed);
                    let odds = odds(allowed) * along;
                    let expected = (odds / (1.0 + odds)).clamp(1e-12, most);
                    let wrong = point.figure.min(most);
                    let off = (wrong - expected) * (wrong - expected);
                    (
                        part(wrong, expected) + part(1.0 - wrong, 1.0 - expected),
                        off / (expected * (1.0 - expected)),
                    )
                }
                None => {
                    // Gamma: the longer a queue, the more its length varies.
                    let plain = |ratio: f64| ratio.clamp(1.0 / PLAIN_RATIO, PLAIN_RATIO);
                    let ratio = plain(point.figure / condition.limit) / plain(along);
                    (ratio - 1.0 - ratio.ln(), (ratio - 1.0) * (ratio - 1.0))
                }
            };
            let weight = point.weight * point.hits;
            model.deviance += 2.0 * weight * deviance;
            model.pearson += weight * square;
        }
        model
    }
}

/// Hits that are due within one limit, at the rate of the steps; 0 for errors, which are independent.
fn bunch(condition: &Condition, points: &[Point]) -> f64 {
    let rate = points.iter().map(|point| point.rate_per_s).fold(0.0, f64::max);
    condition.limit_time().map_or(0.0, |limit| rate * limit.as_secs_f64())
}

pub(super) fn odds(share: f64) -> f64 {
    let share = share.clamp(1e-9, 1.0 - 1e-9);
    share / (1.0 - share)
}

/// `y ln(y / m)`, and 0 for nothing.
fn part(seen: f64, expected: f64) -> f64 {
    if seen > 0.0 { seen * (seen / expected).ln() } else { 0.0 }
}
