//! `Shape`: how the rate of hits goes over time, and how many hits that makes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use super::constant;
use super::rate::{Rate, due_before};
use super::sine::{SineStart, Wave};
use super::steps::{self, Step};

/// How the rate of hits goes over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Shape {
    /// `hits` in every `per`, evenly spaced. No hits where either is 0.
    Constant {
        /// Hits in every `per`.
        hits: u64,
        /// The time they are spread over.
        per: Nanos,
    },
    /// From one rate to another along a straight line over the whole duration; without a duration `from` is held.
    Linear {
        /// The rate at the start.
        from: Rate,
        /// The rate at the end.
        to: Rate,
    },
    /// One constant rate after the other; the schedule ends with the last.
    Steps(Vec<Step>),
    /// Around `mean` like a sine.
    Sine {
        /// The rate in the middle.
        mean: Rate,
        /// How far the rate swings to either side; at most `mean`.
        amplitude: Rate,
        /// The time of one swing.
        period: Nanos,
        /// Where in the swing it begins.
        start_at: SineStart,
    },
    /// Independent arrivals: exponential gaps of mean `1 / rate`, drawn from the seed.
    Poisson {
        /// The mean rate.
        rate: Rate,
    },
    /// Hit `k` is due at the `k`-th moment, in order.
    Replay(#[serde(with = "stdx::shared")] Arc<[Nanos]>),
}

impl Shape {
    /// The shape of this many hits in every `per`.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self::Constant { hits: rate.hits, per: rate.per }
    }

    /// The time the shape itself takes: the sum of its steps, the last moment of a replay. `None` where it goes on forever.
    #[must_use]
    pub fn natural_duration(&self) -> Option<Nanos> {
        match self {
            Self::Steps(steps) => Some(steps::total(steps)),
            Self::Replay(moments) => Some(moments.last().copied().unwrap_or_default()),
            _ => None,
        }
    }

    /// How many hits the schedule has within `duration`; for Poisson arrivals the expected number. `None` where neither the
    /// duration nor the shape ends it.
    #[must_use]
    pub fn planned(&self, duration: Option<Nanos>) -> Option<u64> {
        let end = match (duration, self.natural_duration()) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b)?,
        };
        Some(match self {
            Self::Constant { hits, per } => constant::planned(*hits, *per, end),
            Self::Linear { from, to } => {
                due_before((from.per_s() + to.per_s()) / 2.0 * end.as_secs_f64())
            }
            Self::Steps(steps) => steps::planned(steps, end),
            Self::Sine { mean, amplitude, period, start_at } => {
                Wave::new(*mean, *amplitude, *period, *start_at)
                    .map_or(0, |wave| due_before(wave.hits(end.as_secs_f64())))
            }
            Self::Poisson { rate } => (rate.per_s() * end.as_secs_f64()).round() as u64,
            Self::Replay(moments) => moments.partition_point(|due| *due <= end) as u64,
        })
    }

    /// The greatest rate that it is ever at, in hits per second; of a replay that of its busiest second.
    #[must_use]
    pub fn rate_max_per_s(&self) -> f64 {
        match self {
            Self::Constant { hits, per } => Rate { hits: *hits, per: *per }.per_s(),
            Self::Poisson { rate } => rate.per_s(),
            Self::Linear { from, to } => from.per_s().max(to.per_s()),
            Self::Sine { mean, amplitude, .. } => mean.per_s() + amplitude.per_s(),
            Self::Steps(steps) => steps.iter().map(|step| step.rate.per_s()).fold(0.0, f64::max),
            Self::Replay(moments) => busiest_second(moments) as f64,
        }
    }

    /// The mean rate in hits per second over `duration`, or over the shape's own; without either, that of its start (for a
    /// sine, its middle).
    #[must_use]
    pub fn mean_rate_per_s(&self, duration: Option<Nanos>) -> f64 {
        match self {
            Self::Constant { hits, per } => Rate { hits: *hits, per: *per }.per_s(),
            Self::Poisson { rate } => rate.per_s(),
            Self::Linear { from, to } => match duration {
                Some(_) => (from.per_s() + to.per_s()) / 2.0,
                None => from.per_s(),
            },
            Self::Sine { mean, .. } if duration.is_none() => mean.per_s(),
            _ => {
                let end = duration.into_iter().chain(self.natural_duration()).min();
                let seconds = end.unwrap_or_default().as_secs_f64();
                let hits = self.planned(duration).unwrap_or(0) as f64;
                if seconds > 0.0 { hits / seconds } else { 0.0 }
            }
        }
    }
}

/// The most moments within a second.
fn busiest_second(moments: &[Nanos]) -> usize {
    let mut from = 0;
    let mut most = 0;
    for (at, moment) in moments.iter().enumerate() {
        while moment.saturating_sub(moments[from]) >= Nanos::SECOND {
            from += 1;
        }
        most = most.max(at + 1 - from);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::SineStart;

    #[test]
    fn the_greatest_rate_is_known_of_every_shape() {
        let rate = Rate::per_second;
        let lasts = Nanos::from_secs(1);
        let moments: Vec<Nanos> = [0, 900, 1000, 1500, 1899, 5000].map(Nanos::from_millis).into();
        let period = Nanos::from_secs(10);
        let sine = |start_at| Shape::Sine { mean: rate(5), amplitude: rate(3), period, start_at };
        let cases = [
            (Shape::constant(Rate { hits: 1, per: Nanos::from_secs(2) }), 0.5),
            (Shape::Poisson { rate: rate(7) }, 7.0),
            (Shape::Linear { from: rate(9), to: rate(1) }, 9.0),
            (sine(SineStart::default()), 8.0),
            (Shape::Steps([1, 6, 2].map(|hits| Step { rate: rate(hits), lasts }).into()), 6.0),
            (Shape::Steps(Vec::new()), 0.0),
            (Shape::Replay(moments.into()), 4.0),
            (Shape::Replay(Arc::from([])), 0.0),
        ];
        for (shape, expect) in cases {
            assert!((shape.rate_max_per_s() - expect).abs() < 1e-9, "{shape:?}");
        }
    }
}
