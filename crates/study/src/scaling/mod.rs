//! From measurements at several loads to a model of the server: what it can do, and what it would do at loads nobody ran.
//!
//! ```text
//! Runs ─▶ Sweep::bounded, or measurements from elsewhere
//!   ▼
//! Sweep (throughput and time at each load) ─▶ each model's least squares ─▶ the one that explains most with least
//!        └─▶ Refusal: too few loads, too close, or none fits          └─▶ Fit: parameters, intervals, predict, one worker more
//! ```
//!
//! Loads are users of a closed loop or rates of an open one:
//!
//! | loop | models |
//! |---|---|
//! | users | [`Model::Closed`]: workers, service and delay by mean value analysis; [`Model::Usl`]: the Universal Scalability Law |
//! | rates | [`Model::Open`]: M/M/c, and M/G/c by Allen and Cunneen |
//!
//! A model that does not fit is refused and not used: nothing is said from a curve that misses what was measured.

mod bootstrap;
mod predict;
mod runs;
mod search;
mod simplex;
mod usl;

use crate::queueing::{Closed, Mgc, Mmc};
use crate::seek::By;

pub use predict::{Gain, Prediction};
pub use runs::{RunFigures, by_most, load_of};
pub use usl::Usl;

/// Measurements that are taken, at most; further ones must be left out, and that be said, as [`Sweep::bounded`] does.
pub const OBSERVATIONS_MAX: usize = 1000;
/// The most users, and hits per second, that a load may be.
pub const LOAD_MAX: f64 = 1e6;
/// Loads whose greatest is less than this many times the least say nothing of the rest.
pub const RANGE_MIN: f64 = 1.5;
/// A model whose typical error is more than this share is refused.
pub const ERROR_MAX: f64 = 0.15;
/// An open loop that is answered less than this share of its rate is overloaded: its queue grows while it is watched.
const KEEPING_UP: f64 = 0.95;
/// So far may users and hits under way by Little's law be apart without being taken for a delay between hits.
const LITTLE: f64 = 0.05;

/// What was measured at one load, once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// Users, or hits per second asked for; above 0.
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

/// Which law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A closed network: a server of several workers, and a delay.
    Closed,
    /// M/M/c.
    Mmc,
    /// M/G/c.
    Mgc,
    /// The Universal Scalability Law.
    Usl,
}

/// A law with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// A closed network.
    Closed(Closed),
    /// An open server; M/M/c is the one of variability 1.
    Open(Mgc),
    /// The Universal Scalability Law.
    Usl(Usl),
}

/// A value and its 95 % interval, where there were measurements enough for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The interval.
    pub interval: Option<(f64, f64)>,
}

/// A model that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What a load is.
    pub by: By,
    /// Which law.
    pub kind: Kind,
    /// With its parameters.
    pub model: Model,
    /// The typical error as a share: of throughputs in a closed loop, of mean times in an open one.
    pub error: f64,
    /// Each parameter's name, value and interval: seconds, workers, per second, or a number.
    pub parameters: Vec<(&'static str, Estimate)>,
    /// What was considered and left aside, with its typical error; `None` where it could not be fitted.
    pub others: Vec<(Kind, Option<f64>)>,
    /// Seconds between an answer and the next request of a user, by Little's law; 0 in an open loop.
    pub think_s: f64,
    /// What was measured, by rising load, without overloaded loads of an open loop.
    pub observations: Vec<Observation>,
    /// Loads of an open loop that it could not keep up with.
    pub overloaded: Vec<f64>,
    /// Models of the bootstrap.
    drawn: Vec<Model>,
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

impl Kind {
    /// Its name, which is never changed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Mmc => "mmc",
            Self::Mgc => "mgc",
            Self::Usl => "usl",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Mmc, Self::Mgc, Self::Usl];

    /// Those for this kind of load.
    #[must_use]
    pub fn of(by: By) -> [Self; 2] {
        match by {
            By::Connections => [Self::Closed, Self::Usl],
            By::Rate => [Self::Mmc, Self::Mgc],
        }
    }

    /// The fewest different loads it can be fitted to.
    const fn loads_min(self) -> usize {
        match self {
            Self::Closed | Self::Mmc => 2,
            Self::Mgc | Self::Usl => 4,
        }
    }
}

impl Observation {
    /// Hits under way by Little's law.
    #[must_use]
    pub fn in_flight(&self) -> f64 {
        self.throughput_per_s * self.mean_s
    }
}

impl Model {
    /// The server in it; `None` where a law has no workers.
    const fn server(&self) -> Option<Mmc> {
        match self {
            Self::Closed(closed) => Some(closed.server),
            Self::Open(open) => Some(open.server),
            Self::Usl(_) => None,
        }
    }

    /// Answers per second at a load, with `think_s` between a user's hits; an open loop's rate as far as it can be met.
    #[must_use]
    pub fn throughput_per_s(&self, load: f64, think_s: f64) -> f64 {
        match self {
            Self::Closed(closed) => {
                Closed { delay_s: closed.delay_s + think_s, ..*closed }.throughput_per_s(load)
            }
            Self::Open(server) => load.min(server.server.capacity_per_s()),
            Self::Usl(usl) => usl.throughput_per_s(load),
        }
    }

    /// Mean response time in seconds at a load; infinite where an open loop asks for more than can be done.
    #[must_use]
    pub fn mean_s(&self, load: f64, think_s: f64) -> f64 {
        match self {
            Self::Open(server) => server.mean_response_s(load),
            // Little's law.
            _ => (load / self.throughput_per_s(load, think_s) - think_s).max(0.0),
        }
    }

    /// The most it can do per second, at whatever load; for the Universal Scalability Law that of its peak, if there is one.
    #[must_use]
    pub fn capacity_per_s(&self) -> Option<f64> {
        match self {
            Self::Closed(closed) => Some(closed.server.capacity_per_s()),
            Self::Open(server) => Some(server.server.capacity_per_s()),
            Self::Usl(usl) => usl.capacity_per_s(),
        }
    }

    /// Busy workers as a share, by the utilisation law `U = X s / c`; `None` where a law has no workers.
    #[must_use]
    pub fn utilisation(&self, throughput_per_s: f64) -> Option<f64> {
        match self {
            Self::Usl(_) => None,
            _ => self.capacity_per_s().map(|capacity| throughput_per_s / capacity),
        }
    }
}

/// Fits the laws for this kind of load, or only `wanted`, and gives the one with the least corrected information criterion
/// (Akaike's, for few measurements: Hurvich and Tsai, 1989). Intervals are of `seed`.
///
/// # Errors
/// The measurements do not suffice, contradict themselves, or no law fits them.
pub fn fit(sweep: &Sweep, wanted: Option<Kind>, seed: u64) -> Result<Fit, Refusal> {
    let data = Data::of(sweep)?;
    let kinds =
        Kind::of(sweep.by).into_iter().filter(|kind| wanted.is_none_or(|only| only == *kind));
    let tried: Vec<(Kind, Option<search::Found>)> =
        kinds.map(|kind| (kind, search::search(kind, &data))).collect();
    let found = || tried.iter().filter_map(|(kind, found)| Some((*kind, found.as_ref()?)));
    let Some((kind, best)) = found().min_by(|a, b| a.1.criterion.total_cmp(&b.1.criterion)) else {
        let needed = wanted.map_or(2, Kind::loads_min);
        let overloaded = data.overloaded.len();
        return Err(Refusal::TooFewLoads { loads: data.loads(), needed, overloaded });
    };
    let errors = |of: Kind| found().find(|(kind, _)| *kind == of).map(|(_, found)| found.error);
    let others = tried.iter().filter(|(of, _)| *of != kind).map(|(of, _)| (*of, errors(*of)));
    let others = others.collect();
    if best.error > ERROR_MAX {
        let at = data.worst(&best.model);
        let (load, measured, predicted) = at;
        return Err(Refusal::Poor { kind, error: best.error, load, measured, predicted });
    }
    let drawn = bootstrap::drawn(kind, best, &data, seed);
    Ok(Fit {
        by: sweep.by,
        kind,
        model: best.model,
        error: best.error,
        parameters: bootstrap::parameters(kind, best, &drawn),
        others,
        think_s: data.think_s,
        observations: data.observations,
        overloaded: data.overloaded,
        drawn,
    })
}

/// Measurements that can be fitted.
#[derive(Clone, Debug)]
struct Data {
    by: By,
    /// By rising load.
    observations: Vec<Observation>,
    overloaded: Vec<f64>,
    /// What an overloaded server does: its capacity, seen. `None` where it never was.
    capacity_seen: Option<f64>,
    think_s: f64,
}

impl Data {
    fn of(sweep: &Sweep) -> Result<Self, Refusal> {
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
    fn loads(&self) -> usize {
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
        // Where a server is full a user's delay drowns in its queue: only the loads where it shows tell how long it is.
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
    fn predicted(&self, model: &Model, load: f64) -> f64 {
        match self.by {
            By::Connections => model.throughput_per_s(load, self.think_s),
            By::Rate => model.mean_s(load, self.think_s),
        }
    }

    /// `ln(measured / predicted)` of each measurement.
    fn residuals(&self, model: &Model) -> Vec<f64> {
        let of = |one: &Observation| (self.response(one) / self.predicted(model, one.load)).ln();
        self.observations.iter().map(of).collect()
    }

    /// By how much a model misses, as a share, over what its parameters leave free: of an open loop's times the root of the
    /// mean square of `ln(measured / predicted)`; of throughputs the root of the mean square of their differences, by that of
    /// the throughputs, so that a server's warm-up with one user does not outweigh what it does when it is full.
    fn typical_error(&self, model: &Model, free: usize) -> f64 {
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
    fn worst(&self, model: &Model) -> (f64, f64, f64) {
        let residuals = self.residuals(model);
        let pairs = self.observations.iter().zip(&residuals);
        let worst = pairs.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        worst.map_or((0.0, 0.0, 0.0), |(one, _)| {
            (one.load, self.response(one), self.predicted(model, one.load))
        })
    }
}

#[cfg(test)]
mod tests;
