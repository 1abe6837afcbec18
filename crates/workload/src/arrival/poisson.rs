//! Poisson arrivals: the gaps are independent and exponential with mean `1 / rate`, so bursts come as they do from many
//! users who know nothing of one another.
//!
//! Every shard draws the whole sequence from the seed and keeps its share: the schedule is the same for any number of shards.

use stdx::{Nanos, Prng};

use super::rate::Rate;

#[derive(Clone, Debug)]
pub(super) struct Draw {
    rng: Prng,
    /// Mean gap in nanoseconds; not finite where there are no arrivals.
    gap_ns: f64,
    /// The moment of the last arrival drawn, in nanoseconds.
    at_ns: f64,
    /// How many arrivals were drawn.
    drawn: u64,
    end: Nanos,
}

impl Draw {
    pub(super) fn new(rate: Rate, seed: u64, duration: Option<Nanos>) -> Self {
        let gap_ns = 1e9 / rate.per_s();
        let end = duration.unwrap_or(Nanos::MAX);
        Self { rng: Prng::new(seed), gap_ns, at_ns: 0.0, drawn: 0, end }
    }

    /// When a hit is due; hits must be asked for in order.
    pub(super) fn due(&mut self, hit: u64) -> Option<Nanos> {
        if !self.gap_ns.is_finite() {
            return None;
        }
        while self.drawn <= hit {
            self.at_ns += self.rng.exponential() * self.gap_ns;
            self.drawn += 1;
            if self.at_ns > self.end.0 as f64 {
                return None;
            }
        }
        Some(Nanos(self.at_ns.round() as u64).min(self.end))
    }
}
