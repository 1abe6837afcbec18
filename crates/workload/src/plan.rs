//! `Plan`: the whole of what is to be offered, decided before the first request.

use std::sync::Arc;

use stdx::{Law, Nanos, Prng, mix};

use crate::arrival::Shape;
use crate::users::Crew;

/// What to offer, decided before the first request. The same plan and seed give the same schedule.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The attack's name (`-name`); may be empty.
    pub name: String,
    /// When hits begin.
    pub load: Load,
    /// How long hits are begun, the warm-up included; `None` goes on until stopped.
    pub duration: Option<Nanos>,
    /// Hits due before this are sent and counted nowhere (`--warmup`).
    pub warmup: Nanos,
    /// How long a user of a closed loop waits between an answer and its next hit (`--think`). The hit is due at its end.
    pub think: Law,
    /// The most hits that are begun after the warm-up; `None` is no limit.
    pub hits_max: Option<u64>,
    /// What is asked for.
    pub targets: Targets,
    /// Every random choice of the run follows from it.
    pub seed: u64,
}

impl Plan {
    /// How long the user of this hit thinks after it.
    #[must_use]
    pub fn think_after(&self, hit: u64) -> Nanos {
        match self.think {
            Law::None => Nanos::ZERO,
            ref law => law.draw(&mut Prng::new(mix(self.seed ^ THINKING, hit))),
        }
    }
}

/// Keeps the random numbers of thinking apart from those that choose targets.
const THINKING: u64 = 0x7468_696e_6b00_0000;

/// When hits begin.
#[derive(Clone, Debug)]
pub enum Load {
    /// By a schedule, whatever the server does.
    Open {
        /// The schedule.
        shape: Shape,
        /// The most hits under way at once (`-max-workers`); hits due beyond it wait, and the wait counts.
        max_in_flight: Option<u64>,
    },
    /// Each of so many users begins a hit as soon as its last one ended (`-rate=0 -max-workers=N`).
    Closed {
        /// Users; at least 1.
        users: u64,
    },
    /// By users that decide for themselves: a script's.
    Users(Crew),
}

/// One request to send, again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The method, as sent.
    pub method: String,
    /// The URL, as given.
    pub url: String,
    /// Header fields in order, names as given; repeats are kept.
    pub headers: Vec<(String, String)>,
    /// The request body; may be empty.
    pub body: Arc<[u8]>,
    /// How often it is chosen, relative to the others; 1 unless given.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: String,
}

/// The requests to send and the order they are chosen in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Targets {
    list: Vec<Target>,
    /// Cumulative weights; empty when all weights are alike, and hit `k` then goes to target `k mod n`.
    cumulative: Vec<u64>,
}

impl Targets {
    /// Takes the targets in their order. With unequal weights each hit's target is drawn by weight from the seed.
    #[must_use]
    pub fn new(list: Vec<Target>) -> Self {
        let uneven = list.windows(2).any(|pair| pair[0].weight != pair[1].weight);
        let cumulative = if uneven {
            list.iter()
                .scan(0u64, |sum, target| {
                    *sum += u64::from(target.weight);
                    Some(*sum)
                })
                .collect()
        } else {
            Vec::new()
        };
        Self { list, cumulative }
    }

    /// The targets in their order.
    #[must_use]
    pub fn list(&self) -> &[Target] {
        &self.list
    }

    /// The index of hit number `hit`'s target.
    ///
    /// # Panics
    /// There are no targets.
    #[must_use]
    pub fn pick(&self, seed: u64, hit: u64) -> usize {
        let Some(&total) = self.cumulative.last() else {
            return (hit % self.list.len() as u64) as usize;
        };
        let ticket = ((u128::from(mix(seed, hit)) * u128::from(total)) >> 64) as u64;
        self.cumulative.partition_point(|&upto| upto <= ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(weights: &[u32]) -> Targets {
        let target = |(at, &weight): (usize, &u32)| Target {
            method: "GET".to_owned(),
            url: format!("http://h/{at}"),
            headers: Vec::new(),
            body: Arc::from([]),
            weight,
            name: String::new(),
        };
        Targets::new(weights.iter().enumerate().map(target).collect())
    }

    #[test]
    fn equal_weights_take_turns() {
        for weights in [[1, 1, 1], [5, 5, 5]] {
            let targets = targets(&weights);
            let picks: Vec<usize> = (0..7).map(|hit| targets.pick(99, hit)).collect();
            assert_eq!(picks, [0, 1, 2, 0, 1, 2, 0]);
        }
        assert_eq!(targets(&[3]).pick(1, u64::MAX), 0);
    }

    #[test]
    fn weights_set_the_shares() {
        let targets = targets(&[1, 0, 7, 2]);
        let mut picks = [0u32; 4];
        for hit in 0..100_000 {
            picks[targets.pick(5, hit)] += 1;
        }
        assert_eq!(picks[1], 0, "weight 0 is never chosen");
        for (at, share) in [(0, 0.1), (2, 0.7), (3, 0.2)] {
            assert!((f64::from(picks[at]) / 100_000.0 - share).abs() < 0.01, "{picks:?}");
        }
    }

    #[test]
    fn a_pick_follows_from_seed_and_hit_alone() {
        let targets = targets(&[1, 2, 3]);
        let picks = |seed| (0..200).map(|hit| targets.pick(seed, hit)).collect::<Vec<_>>();
        let backwards: Vec<usize> = (0..200).rev().map(|hit| targets.pick(1, hit)).collect();
        assert!(picks(1).iter().rev().eq(&backwards));
        assert_ne!(picks(1), picks(2));
    }
}
