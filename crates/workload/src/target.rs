//! `Target` and `Targets`: the requests to send, and the order they are chosen in.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stdx::mix;

/// One request to send, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The method, as sent.
    pub method: String,
    /// The URL, as given.
    pub url: String,
    /// Header fields in order, names as given; repeats are kept.
    pub headers: Vec<(String, String)>,
    /// The request body; may be empty.
    #[serde(with = "stdx::shared")]
    pub body: Arc<[u8]>,
    /// How often it is chosen, relative to the others; 1 unless given.
    pub weight: u32,
    /// A name to group by; may be empty.
    pub name: String,
}

/// The requests to send and the order they are chosen in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Targets {
    /// Shared by all copies of a plan: there may be a million of them.
    #[serde(with = "stdx::shared")]
    list: Arc<[Target]>,
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
        Self { list: list.into(), cumulative }
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
