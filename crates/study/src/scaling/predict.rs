//! What a fit says of loads, measured or not, and of one worker more.

use super::bootstrap::interval;
use super::{Estimate, Fit, Model, Observation};
use crate::queueing::{Closed, Mgc, Mmc};

/// What a fit says of one load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The load.
    pub load: f64,
    /// Answers per second.
    pub throughput_per_s: Estimate,
    /// Mean response time in seconds; infinite where the rate of an open loop exceeds the capacity.
    pub mean_s: Estimate,
    /// The median, by the shape of the times at the nearest load measured; `None` where no median was measured.
    pub p50_s: Option<f64>,
    /// The 99th percentile, in the same manner.
    pub p99_s: Option<f64>,
    /// Busy workers as a share; `None` where the law has no workers.
    pub utilisation: Option<f64>,
    /// The load lies outside of those measured.
    pub is_extrapolated: bool,
    /// The measurements determine the values. Where they do not, as beyond loads that are all far below the knee, only the intervals
    /// say anything.
    pub is_determined: bool,
}

/// What loads far below the knee say of a server: it bears what it was seen to bear, and perhaps much more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowerBound {
    /// Answers per second, the most that were measured.
    pub capacity_per_s: f64,
    /// The load whose measurement would tell more.
    pub next_load: f64,
}

/// A capacity of which no more than this share was measured is not known. M/M/c with six workers answers in 1.01 times the service
/// time at 40 % of its capacity, which noise of 1 % hides, and in 1.04 times at half of it.
const MEASURED_SHARE_MIN: f64 = 0.5;
/// The next load, in loads measured.
const NEXT: f64 = 2.0;

/// What one worker more would bring at the highest load measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The load.
    pub load: f64,
    /// Workers now.
    pub workers: u32,
    /// The most per second, now and then.
    pub capacity_per_s: (f64, f64),
    /// Answers per second at the load, now and then.
    pub throughput_per_s: (f64, f64),
    /// Mean seconds at the load, now and then.
    pub mean_s: (f64, f64),
}

impl Fit {
    /// What these loads say where the greatest of them is far below the knee: the capacity may, by its estimate or by its interval, be
    /// more than twice what was measured. `None` where it is known.
    #[must_use]
    pub fn lower_bound(&self) -> Option<LowerBound> {
        let throughputs = self.observations.iter().map(|one| one.throughput_per_s);
        let most = throughputs.fold(0.0, f64::max);
        let (_, capacity) = self.parameters.iter().find(|(name, _)| *name == "capacity")?;
        let greatest = capacity.interval.map_or(capacity.value, |(_, high)| high);
        let is_far = most < MEASURED_SHARE_MIN * greatest.max(capacity.value);
        (is_far && self.overloaded.is_empty())
            .then(|| LowerBound { capacity_per_s: most, next_load: NEXT * self.range().1 })
    }

    /// What is expected at a load above 0.
    #[must_use]
    pub fn predict(&self, load: f64) -> Prediction {
        let throughput = self.model.throughput_per_s(load, self.think_s);
        let mean = self.model.mean_s(load, self.think_s);
        let estimate = |value: f64, of: &dyn Fn(&Model) -> f64| {
            let interval = interval(&self.drawn, |model| Some(of(model)));
            Estimate {
                value,
                interval: interval.map(|(low, high)| (low.min(value), high.max(value))),
            }
        };
        let shaped = |quantile: fn(&Observation) -> Option<f64>| {
            self.shape(load, quantile).map(|shape| shape * mean)
        };
        let (least, greatest) = self.range();
        let is_far = self.lower_bound().is_some();
        Prediction {
            load,
            throughput_per_s: estimate(throughput, &|m| m.throughput_per_s(load, self.think_s)),
            mean_s: estimate(mean, &|m| m.mean_s(load, self.think_s)),
            p50_s: shaped(|one| one.p50_s).filter(|_| !is_far || load <= greatest),
            p99_s: shaped(|one| one.p99_s).filter(|_| !is_far || load <= greatest),
            utilisation: self.model.utilisation(throughput).filter(|_| !is_far),
            is_extrapolated: load < least || load > greatest,
            is_determined: !is_far || load <= greatest,
        }
    }

    /// The least and the greatest load that count.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        let ends = (self.observations.first(), self.observations.last());
        (ends.0.map_or(0.0, |one| one.load), ends.1.map_or(0.0, |one| one.load))
    }

    /// How many times the mean a quantile is, at the load nearest by its logarithm where it was measured. A server's times
    /// keep their shape while it is full: only the queue grows.
    fn shape(&self, load: f64, quantile: fn(&Observation) -> Option<f64>) -> Option<f64> {
        let known = self.observations.iter().filter(|one| quantile(one).is_some());
        let nearest = known.map(|one| ((one.load / load).ln().abs(), one));
        let nearest = nearest.min_by(|a, b| a.0.total_cmp(&b.0))?.1.load;
        let there = self.observations.iter().filter(|one| one.load == nearest);
        let shapes = there.filter_map(|one| Some(quantile(one)? / one.mean_s));
        Some(crate::stats::Tally::of_values(&shapes.collect::<Vec<_>>()).median())
    }

    /// The gain of one more worker; `None` where the law has no workers, or these loads do not determine their number.
    #[must_use]
    pub fn one_more_worker(&self) -> Option<Gain> {
        if self.lower_bound().is_some() {
            return None;
        }
        let workers = self.parameters.iter().find(|(name, _)| *name == "workers")?.1;
        let (low, high) = workers.interval?;
        let more = |server: Mmc| Mmc { workers: server.workers + 1, ..server };
        let (now, then) = match self.model {
            Model::Closed(closed) => {
                (closed.server, Model::Closed(Closed { server: more(closed.server), ..closed }))
            }
            Model::Open(open) => {
                (open.server, Model::Open(Mgc { server: more(open.server), ..open }))
            }
            Model::Usl(_) => return None,
        };
        // Of two to three workers one more is a half or a third: a usable answer. Of one to eight it is not.
        if high > 2.0 * low {
            return None;
        }
        let load = self.range().1;
        let both = |of: &dyn Fn(&Model) -> f64| (of(&self.model), of(&then));
        Some(Gain {
            load,
            workers: now.workers,
            capacity_per_s: (now.capacity_per_s(), more(now).capacity_per_s()),
            throughput_per_s: both(&|model| model.throughput_per_s(load, self.think_s)),
            mean_s: both(&|model| model.mean_s(load, self.think_s)),
        })
    }
}
