//! The least squares of each law. Workers come in whole numbers, so they are tried one by one, and the rest is searched for
//! each.

use super::data::Data;
use super::simplex::least;
use super::{Kind, Model, Usl};
use crate::queueing::{Closed, Mgc, Mmc};
use crate::seek::By;

/// Up to so many workers each number is tried; beyond, each step is [`STEP`] times the last.
const WORKERS_EACH: u32 = 64;
const STEP: f64 = 1.05;
/// Workers of an open loop, at most.
const WORKERS_MAX: u32 = 2000;
/// Steps from the fewest to the most workers that are tried near a model.
const NEAR_STEPS: u32 = 12;
/// Errors below this share do not justify a further parameter, and do not distinguish numbers of workers.
const NOISE: f64 = 0.003;
/// Student's t that 95 % stay within, of one and of two degrees of freedom.
const T_FEW: [f64; 2] = [12.706, 4.303];
/// The same of a normal variable.
const Z: f64 = 1.960;

/// A law's best parameters.
#[derive(Clone, Debug)]
pub(super) struct BestFit {
    /// The law with them.
    pub(super) model: Model,
    /// Its typical error.
    pub(super) error: f64,
    /// The corrected information criterion: the less the better.
    pub(super) criterion: f64,
    /// How many parameters were free.
    pub(super) free: usize,
    /// Numbers of workers that do about as well, from and to.
    pub(super) workers: Option<(u32, u32)>,
}

/// The best of a law; `None` where there are too few loads for it.
pub(super) fn search(kind: Kind, data: &Data) -> Option<BestFit> {
    if data.loads() < kind.loads_min() {
        return None;
    }
    if kind == Kind::Usl {
        let points = data.observations.iter().map(|one| (one.load, one.throughput_per_s));
        let usl = Usl::of(&points.collect::<Vec<_>>())?;
        return Some(best_fit(Model::Usl(usl), data, 3, None));
    }
    let tried: Vec<(u32, Model, f64)> =
        workers(data).map(|workers| with_workers(kind, data, workers)).collect();
    let best = tried.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
    let free = free(kind, data);
    let most = deviance(data, best.2) + likely(data.observations.len(), free);
    let likely = tried.iter().filter(|one| deviance(data, one.2) <= most);
    let likely: Vec<u32> = likely.map(|one| one.0).collect();
    let range = (*likely.iter().min()?, *likely.iter().max()?);
    Some(best_fit(best.1, data, free, Some(range)))
}

/// The best of a law near a model that was found before, for the bootstrap.
pub(super) fn search_near(kind: Kind, near: &BestFit, data: &Data) -> Option<Model> {
    let Some(range) = near.workers else {
        return search(kind, data).map(|found| found.model);
    };
    let best = near.model.server().map(|server| server.workers);
    let tried = workers_near(range, best).into_iter();
    let tried = tried.map(|workers| with_workers(kind, data, workers));
    tried.min_by(|a, b| a.2.total_cmp(&b.2)).map(|best| best.1)
}

/// The numbers of workers to try about a range of them, and the best. From 3 to 4 is as far as from 30 to 40: steps are by a
/// factor, or a wide range would have none near its low end.
fn workers_near((low, high): (u32, u32), best: Option<u32>) -> Vec<u32> {
    let low_end = (f64::from(low) * 0.8).floor().max(1.0);
    let high_end = (f64::from(high) * 1.25).max(f64::from(high) + 1.0);
    let at = |step: u32| {
        let share = f64::from(step) / f64::from(NEAR_STEPS);
        (low_end * (high_end / low_end).powf(share)).round() as u32
    };
    let mut workers: Vec<u32> = (0..=NEAR_STEPS).map(at).chain(best).collect();
    workers.sort_unstable();
    workers.dedup();
    workers
}

/// The difference of two log-likelihoods of so many measurements that is significant at 95 %. The size of errors is known from
/// the measurements alone, and a few of them may lie close to a wrong law by chance: hence Fisher's F of one and the spare
/// degrees of freedom, `n / 2 ln(1 + F / spare)`, and not its limit for very many (1.92, half of chi-square's 3.84). Without
/// spare degrees nothing is significant. (Seber and Wild, Nonlinear Regression, 1989, 5.3.)
fn likely(count: usize, free: usize) -> f64 {
    let spare = count.saturating_sub(free);
    if spare == 0 {
        return f64::INFINITY;
    }
    count as f64 / 2.0 * (student(spare).powi(2) / spare as f64).ln_1p()
}

/// Student's t that 95 % stay within, of so many degrees of freedom, by its expansion (Abramowitz and Stegun, 26.7.5).
fn student(spare: usize) -> f64 {
    if let Some(t) = spare.checked_sub(1).and_then(|at| T_FEW.get(at)) {
        return *t;
    }
    let terms = [
        (Z.powi(3) + Z) / 4.0,
        (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0,
        (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0,
    ];
    let spare = spare as f64;
    Z + terms.iter().zip(1..).map(|(term, power)| term / spare.powi(power)).sum::<f64>()
}

/// Half of minus twice the log-likelihood, of a sum of squares.
fn deviance(data: &Data, squares: f64) -> f64 {
    let count = data.observations.len() as f64;
    count / 2.0 * (squares / count).max(NOISE * NOISE).ln()
}

fn best_fit(model: Model, data: &Data, free: usize, workers: Option<(u32, u32)>) -> BestFit {
    let residuals = data.residuals(&model);
    let (count, free_f) = (residuals.len() as f64, free as f64);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let error = data.typical_error(&model, free);
    let spare = count - free_f - 1.0;
    let penalty = if spare > 0.0 { free_f * count / spare } else { free_f * count };
    BestFit { model, error, criterion: deviance(data, squares) + penalty, free, workers }
}

/// How many parameters are free: with two loads a closed network has no delay of its own.
fn free(kind: Kind, data: &Data) -> usize {
    match kind {
        Kind::Closed if data.loads() < 3 => 2,
        Kind::Mmc => 2,
        _ => 3,
    }
}

/// The numbers of workers to try.
fn workers(data: &Data) -> impl Iterator<Item = u32> {
    let most = data.observations.last().map_or(1.0, |one| match data.by {
        // More workers than users are never seen.
        By::Connections => one.load,
        By::Rate => f64::from(WORKERS_MAX),
    });
    let most = (most.ceil() as u32).clamp(1, WORKERS_MAX);
    let next = |workers: &u32| {
        let step = (f64::from(*workers) * STEP).ceil() as u32;
        Some(if *workers < WORKERS_EACH { workers + 1 } else { step })
    };
    std::iter::successors(Some(1), next).take_while(move |workers| *workers <= most)
}

/// The best for so many workers, and its squares.
fn with_workers(kind: Kind, data: &Data, workers: u32) -> (u32, Model, f64) {
    let squares = |model: &Model| {
        let of_data: f64 = data.residuals(model).iter().map(|residual| residual * residual).sum();
        // What an overloaded server did is its capacity.
        let seen = data.capacity_seen.zip(model.capacity_per_s());
        of_data + seen.map_or(0.0, |(seen, capacity)| (seen / capacity).ln().powi(2))
    };
    let start = service_start(data, workers);
    let build = |at: &[f64]| built(kind, workers, at);
    let starts: &[f64] = match kind {
        Kind::Closed if data.loads() >= 3 => &[0.1, 1.0],
        Kind::Mgc => &[1.0, 0.6],
        _ => &[],
    };
    let mut tried = match starts {
        [] => vec![least(&[start], 0.2, |at| squares(&build(at)))],
        _ => starts
            .iter()
            .map(|other| least(&[start, *other], 0.2, |at| squares(&build(at))))
            .collect(),
    };
    tried.sort_by(|a, b| a.1.total_cmp(&b.1));
    let (at, squares) = tried.swap_remove(0);
    (workers, build(&at), squares)
}

/// The law with the parameters at a point of the search: the logarithm of the service time, and the root of what the law has
/// beside it (the delay in service times, or the variability), so that neither falls below 0.
fn built(kind: Kind, workers: u32, at: &[f64]) -> Model {
    let service_s = at[0].exp();
    let server = Mmc { workers, service_s };
    let other = at.get(1).map(|root| root * root);
    match kind {
        Kind::Closed => Model::Closed(Closed { server, delay_s: other.unwrap_or(0.0) * service_s }),
        _ => Model::Open(Mgc { server, variability: other.unwrap_or(1.0) }),
    }
}

/// A service time that neither the least mean time nor the greatest throughput contradicts.
fn service_start(data: &Data, workers: u32) -> f64 {
    let all = data.observations.iter();
    let quickest = all.clone().map(|one| one.mean_s).fold(f64::INFINITY, f64::min);
    let most = all.map(|one| one.throughput_per_s).fold(0.0, f64::max);
    let most = data.capacity_seen.unwrap_or(most * 1.02);
    quickest.min(f64::from(workers) / most).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_measurements_distinguish_less() {
        for (spare, t) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (6, 2.447), (10, 2.228), (60, 2.000)]
        {
            assert!((student(spare) / t - 1.0).abs() < 0.01, "{spare}: {}", student(spare));
        }
        assert_eq!(likely(3, 3), f64::INFINITY);
        assert!((likely(5, 3) - 5.82).abs() < 0.05, "{}", likely(5, 3));
        assert!((likely(1000, 3) - 1.92).abs() < 0.02, "{}", likely(1000, 3));
    }

    #[test]
    fn wide_ranges_have_steps_at_their_low_end() {
        assert_eq!(workers_near((1, 1), Some(1)), [1, 2]);
        assert_eq!(workers_near((3, 4), Some(3)), [2, 3, 4, 5]);
        let wide = workers_near((1, 64), Some(5));
        assert_eq!(wide[..6], [1, 2, 3, 4, 5, 6], "{wide:?}");
        assert_eq!((wide.last(), wide.len()), (Some(&80), 13), "{wide:?}");
        assert_eq!(workers_near((40, 50), Some(41)).first(), Some(&32));
    }
}
