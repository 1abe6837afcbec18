//! `Targets`: the requests to send, and the order they are chosen in.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stdx::mix;

use crate::target_list::TargetList;

/// The requests to send and the order they are chosen in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Targets {
    /// Shared by all copies of a plan: there may be a million of them.
    #[serde(with = "whole_list")]
    list: Arc<TargetList>,
    /// Cumulative weights; empty when all weights are alike, and hit `k` then goes to target `k mod n`.
    cumulative: Vec<u64>,
}

impl Targets {
    /// Takes the targets in their order. With unequal weights each hit's target is drawn by weight from the seed.
    #[must_use]
    pub fn new(list: impl Into<TargetList>) -> Self {
        let list = list.into();
        let weights = || list.iter().map(|target| u64::from(target.weight));
        let uneven = weights().zip(weights().skip(1)).any(|(one, next)| one != next);
        let sum_to = |sum: &mut u64, weight: u64| {
            *sum += weight;
            Some(*sum)
        };
        let cumulative = if uneven { weights().scan(0u64, sum_to).collect() } else { Vec::new() };
        Self { list: Arc::new(list), cumulative }
    }

    /// The targets in their order.
    #[must_use]
    pub fn list(&self) -> &TargetList {
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

/// A shared list for serde, as the list that it is.
mod whole_list {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::TargetList;

    pub(super) fn serialize<S: Serializer>(
        list: &Arc<TargetList>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<TargetList>, D::Error> {
        TargetList::deserialize(from).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    fn targets(weights: &[u32]) -> Targets {
        let target = |(at, &weight): (usize, &u32)| Target {
            method: "GET".to_owned(),
            url: format!("http://h/{at}"),
            headers: Vec::new(),
            body: Arc::from([]),
            weight,
            name: String::new(),
        };
        Targets::new(weights.iter().enumerate().map(target).collect::<Vec<_>>())
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
