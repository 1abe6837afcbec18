//! The least squares of each law. Workers come in whole numbers, so they are tried one by one, and the rest is searched for
//! each.

use super::simplex::least;
use super::{Data, Kind, Model, Usl};
use crate::queueing::{Closed, Mgc, Mmc};
use crate::seek::By;

/// Workers looked at one by one; beyond them each step is [`STEP`] times the last.
const WORKERS_EACH: u32 = 64;
const STEP: f64 = 1.05;
/// Workers of an open loop, at most.
const WORKERS_MAX: u32 = 2000;
/// Errors below this share are not worth a further parameter, and do not tell numbers of workers apart.
const NOISE: f64 = 0.003;
/// Two log-likelihoods further apart than this are told apart with 95 % (half of chi-square's 3.84).
const LIKELY: f64 = 1.92;

/// A law's best parameters.
#[derive(Clone, Debug)]
pub(super) struct Found {
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
pub(super) fn search(kind: Kind, data: &Data) -> Option<Found> {
    if data.loads() < kind.loads_min() {
        return None;
    }
    if kind == Kind::Usl {
        let points = data.observations.iter().map(|one| (one.load, one.throughput_per_s));
        let usl = Usl::of(&points.collect::<Vec<_>>())?;
        return Some(found(Model::Usl(usl), data, 3, None));
    }
    let tried: Vec<(u32, Model, f64)> =
        workers(data).map(|workers| with_workers(kind, data, workers)).collect();
    let best = tried.iter().min_by(|a, b| a.2.total_cmp(&b.2))?;
    let likely = tried.iter().filter(|one| deviance(data, one.2) - deviance(data, best.2) < LIKELY);
    let likely: Vec<u32> = likely.map(|one| one.0).collect();
    let range = (*likely.iter().min()?, *likely.iter().max()?);
    Some(found(best.1, data, free(kind, data), Some(range)))
}

/// The best of a law near a model that was found before, for the bootstrap.
pub(super) fn search_near(kind: Kind, near: &Found, data: &Data) -> Option<Model> {
    let Some((low, high)) = near.workers else {
        return search(kind, data).map(|found| found.model);
    };
    let low = (f64::from(low) * 0.8).floor().max(1.0);
    let step = ((f64::from(high) * 1.25 - low) / 12.0).max(1.0);
    let tried = (0..=12).map(|at| (low + f64::from(at) * step).round() as u32);
    let tried = tried.map(|workers| with_workers(kind, data, workers));
    tried.min_by(|a, b| a.2.total_cmp(&b.2)).map(|best| best.1)
}

/// Half of minus twice the log-likelihood, of a sum of squares.
fn deviance(data: &Data, squares: f64) -> f64 {
    let count = data.observations.len() as f64;
    count / 2.0 * (squares / count).max(NOISE * NOISE).ln()
}

fn found(model: Model, data: &Data, free: usize, workers: Option<(u32, u32)>) -> Found {
    let residuals = data.residuals(&model);
    let (count, free_f) = (residuals.len() as f64, free as f64);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let error = data.typical_error(&model, free);
    let spare = count - free_f - 1.0;
    let penalty = if spare > 0.0 { free_f * count / spare } else { free_f * count };
    Found { model, error, criterion: deviance(data, squares) + penalty, free, workers }
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
