//! What was measured, what of it can be fitted, and why it cannot be. No law is chosen here.

use super::model::{Kind, Model};
use crate::seek::By;

/// Measurements at most; further ones are left out and reported, as [`Sweep::bounded`] does.
pub const OBSERVATIONS_MAX: usize = 1000;
/// The most users, and hits per second, that a load may be.
pub const LOAD_MAX: f64 = 1e6;
/// The least ratio of the greatest load to the least: loads closer together do not determine a curve.
pub const RANGE_MIN: f64 = 1.5;
/// An open loop that is answered less than this share of its rate is overloaded: its queue grows while it is watched.
const KEEPING_UP: f64 = 0.95;
/// So far may users and hits under way by Little's law be apart without being taken for a delay between hits.
const LITTLE: f64 = 0.05;

/// What was measured at one load, once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// Users, or planned hits per second; above 0.
    pub load: f64,
    /// Answers per second.
    pub throughput_per_s: f64,
    /// Mean response time in seconds.
    pub mean_s: f64,
    /// Its median, where it is known.
    pub p50_s: Option<f64>,
    /// Its 99th percentile, where it is known.
    pub p99_s: Option<f64>,
}

/// Measurements at several loads.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// What a load is.
    pub by: By,
    /// What was measured, in any order; several at one load are its repeats. At most [`OBSERVATIONS_MAX`].
    pub observations: Vec<Observation>,
}

/// Why nothing is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Too few different loads that count.
    TooFewLoads {
        /// How many there are.
        loads: usize,
        /// How many the simplest model needs.
        needed: usize,
        /// Those left out since they were overloaded.
        overloaded: usize,
    },
    /// The loads are all about the same.
    TooClose {
        /// The least.
        least: f64,
        /// The greatest.
        greatest: f64,
    },
    /// Users, throughput and times cannot belong together.
    Little {
        /// The load.
        load: f64,
        /// Hits under way by Little's law, throughput times mean time.
        in_flight: f64,
    },
    /// Every model misses what was measured.
    Poor {
        /// The best of them.
        kind: Kind,
        /// Its typical error.
        error: f64,
        /// Where it misses most.
        load: f64,
        /// What was measured there: throughput per second of a closed loop, seconds of an open one.
        measured: f64,
        /// What it says.
        predicted: f64,
    },
}

impl Observation {
    /// Hits under way by Little's law.
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        self.throughput_per_s * self.mean_s
    }
}

/// Measurements that can be fitted.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) by: By,
    /// By rising load.
    pub(super) observations: Vec<Observation>,
    pub(super) overloaded: Vec<f64>,
    /// What an overloaded server does: its capacity, seen. `None` where it never was.
    pub(super) capacity_seen: Option<f64>,
    pub(super) think_s: f64,
}

impl Data {
    pub(super) fn of(sweep: &Sweep) -> Result<Self, Refusal> {
        debug_assert!(sweep.observations.len() <= OBSERVATIONS_MAX);
        let is_usable = |one: &&Observation| {
            let figures = [one.load, one.throughput_per_s, one.mean_s];
            figures.iter().all(|figure| *figure > 0.0 && figure.is_finite()) && one.load <= LOAD_MAX
        };
        let mut all: Vec<Observation> =
            sweep.observations.iter().filter(is_usable).copied().collect();
        all.sort_by(|a, b| a.load.total_cmp(&b.load));
        let is_overloaded = |one: &Observation| {
            sweep.by == By::Rate && one.throughput_per_s < KEEPING_UP * one.load
        };
        let (over, observations): (Vec<_>, Vec<_>) = all.into_iter().partition(is_overloaded);
        let rates: Vec<f64> = over.iter().map(|one| one.throughput_per_s).collect();
        let capacity_seen =
            (!rates.is_empty()).then(|| crate::stats::Tally::of_values(&rates).median());
        let mut overloaded: Vec<f64> = over.iter().map(|one| one.load).collect();
        overloaded.dedup();
        let data = Self { by: sweep.by, observations, overloaded, capacity_seen, think_s: 0.0 };
        data.check()?;
        let think_s = data.think()?;
        Ok(Self { think_s, ..data })
    }

    /// How many different loads there are.
    pub(super) fn loads(&self) -> usize {
        self.observations.chunk_by(|a, b| a.load == b.load).count()
    }

    fn check(&self) -> Result<(), Refusal> {
        let (loads, overloaded) = (self.loads(), self.overloaded.len());
        if loads < 2 {
            return Err(Refusal::TooFewLoads { loads, needed: 2, overloaded });
        }
        let ends = (self.observations.first(), self.observations.last());
        let (Some(least), Some(greatest)) = ends else { return Ok(()) };
        let (least, greatest) = (least.load, greatest.load);
        if greatest / least < RANGE_MIN {
            return Err(Refusal::TooClose { least, greatest });
        }
        Ok(())
    }

    /// What users do between hits: `Z = N / X - R`, its median over the loads where Little's law does not hold without it.
    fn think(&self) -> Result<f64, Refusal> {
        if self.by == By::Rate {
            return Ok(0.0);
        }
        let beyond = |one: &&Observation| one.in_flight() > one.load * (1.0 + 2.0 * LITTLE);
        if let Some(one) = self.observations.iter().find(beyond) {
            return Err(Refusal::Little { load: one.load, in_flight: one.in_flight() });
        }
        // At a saturated server a user's delay is lost in the queue: only the loads where it shows determine it.
        let shows = |one: &&Observation| one.in_flight() < one.load * (1.0 - LITTLE);
        let delays = self.observations.iter().filter(shows);
        let delays = delays.map(|one| one.load / one.throughput_per_s - one.mean_s);
        Ok(crate::stats::Tally::of_values(&delays.collect::<Vec<_>>()).median().max(0.0))
    }

    /// What is fitted: the throughput of a closed loop, the mean time of an open one.
    fn response(&self, one: &Observation) -> f64 {
        match self.by {
            By::Connections => one.throughput_per_s,
            By::Rate => one.mean_s,
        }
    }

    /// What a model says of it.
    pub(super) fn predicted(&self, model: &Model, load: f64) -> f64 {
        match self.by {
            By::Connections => model.throughput_per_s(load, self.think_s),
            By::Rate => model.mean_s(load, self.think_s),
        }
    }

    /// `ln(measured / predicted)` of each measurement.
    pub(super) fn residuals(&self, model: &Model) -> Vec<f64> {
        let of = |one: &Observation| (self.response(one) / self.predicted(model, one.load)).ln();
        self.observations.iter().map(of).collect()
    }

    /// By how much a model misses, as a share, over what its parameters leave free: of an open loop's times the root of the
    /// mean square of `ln(measured / predicted)`; of throughputs the root of the mean square of their differences, by that of
    /// the throughputs, so that a server's warm-up with one user does not outweigh what it does when it is full.
    pub(super) fn typical_error(&self, model: &Model, free: usize) -> f64 {
        let spare = self.observations.len().saturating_sub(free).max(1) as f64;
        if self.by == By::Rate {
            let squares: f64 =
                self.residuals(model).iter().map(|residual| residual * residual).sum();
            return (squares / spare).sqrt();
        }
        let sums = self.observations.iter().fold((0.0, 0.0), |(missed, all), one| {
            let away = self.response(one) - self.predicted(model, one.load);
            (missed + away * away, all + self.response(one).powi(2))
        });
        (sums.0 / spare / (sums.1 / self.observations.len() as f64)).sqrt()
    }

    /// Where a model misses most: the load, what was measured, what it says.
    pub(super) fn worst(&self, model: &Model) -> (f64, f64, f64) {
        let residuals = self.residuals(model);
        let pairs = self.observations.iter().zip(&residuals);
        let worst = pairs.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        worst.map_or((0.0, 0.0, 0.0), |(one, _)| {
            (one.load, self.response(one), self.predicted(model, one.load))
        })
    }
}
