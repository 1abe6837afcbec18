//! `shares`: cuts a load by weights, as k6's execution segments. Numbers of users, iterations and requests stay global: each
//! agent has its own of them, spread as evenly as can be, and together they are those of one machine.

use serde::{Deserialize, Serialize};
use thiserror::Error;
use workload::{Segment, SegmentError};

use crate::ids::AGENTS_MAX;

/// The largest weight: cores of an agent, or its measured capacity in any unit.
pub const WEIGHT_MAX: u64 = 1 << 20;

/// An agent's part of the load, in the form of k6's options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// `executionSegment`, such as `1/4:1/2`.
    pub segment: String,
    /// `executionSegmentSequence`, such as `0,1/4,1/2,1`.
    pub sequence: String,
}

/// Why a load cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SplitError {
    /// No agent, or too many.
    #[error("a fleet has 1 to {AGENTS_MAX} agents, not {0}")]
    Agents(usize),
    /// A weight is 0 or too large.
    #[error("a weight is 1 to {WEIGHT_MAX}, not {0}")]
    Weight(u64),
    /// The weights have no common measure that is coarse enough.
    #[error(
        "the weights are too fine to cut a load by them: their sum is {0}, in the smallest numbers"
    )]
    Fine(u64),
}

/// The shares of agents with these weights, in their order.
///
/// # Errors
/// There is no agent, there are too many, or a weight is out of range.
pub fn shares(weights: &[u64]) -> Result<Vec<Share>, SplitError> {
    if weights.is_empty() || weights.len() > AGENTS_MAX {
        return Err(SplitError::Agents(weights.len()));
    }
    if let Some(weight) = weights.iter().find(|weight| !(1..=WEIGHT_MAX).contains(*weight)) {
        return Err(SplitError::Weight(*weight));
    }
    let common = weights.iter().fold(0, |a, b| stdx::greatest_common_divisor(a, *b));
    let sum = weights.iter().sum::<u64>() / common;
    let mut end = 0;
    let mut borders = vec!["0".to_owned()];
    for weight in weights {
        end += weight / common;
        borders.push(if end == sum { "1".to_owned() } else { format!("{end}/{sum}") });
    }
    let sequence = borders.join(",");
    let of = |pair: &[String]| Share {
        segment: format!("{}:{}", pair[0], pair[1]),
        sequence: sequence.clone(),
    };
    let shares: Vec<Share> = borders.windows(2).map(of).collect();
    match shares[0].segment() {
        Ok(_) => Ok(shares),
        Err(_) => Err(SplitError::Fine(sum)),
    }
}

impl Share {
    /// The numbers that are this share's.
    ///
    /// # Errors
    /// The texts are no segment of a sequence: the message that brought them is false.
    pub fn segment(&self) -> Result<Segment, SegmentError> {
        Segment::parse(&self.segment, Some(&self.sequence))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// k6's rule, place by place, as its documentation states it: of `period` places, each goes to the first segment, in order
    /// of length, that is not ahead of its even share.
    fn places(weights: &[u64]) -> Vec<usize> {
        let period: u64 = weights.iter().sum();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(weights[*at]));
        let mut taken = vec![0_u64; weights.len()];
        let next = |place: u64, taken: &[u64]| {
            let is_due = |at: &&usize| taken[**at] * period <= place * weights[**at];
            *order.iter().filter(|at| taken[**at] < weights[**at]).find(is_due).unwrap()
        };
        (0..period)
            .map(|place| {
                let at = next(place, &taken);
                taken[at] += 1;
                at
            })
            .collect()
    }

    /// The numbers below `all` of each share.
    fn numbers(weights: &[u64], all: u64) -> Vec<Vec<u64>> {
        let of = |share: &Share| {
            let segment = share.segment().unwrap();
            let count = segment.vus().count(all);
            (0..count).map(|own| segment.vus().number(own)).collect()
        };
        shares(weights).unwrap().iter().map(of).collect()
    }

    /// How many of 1 to 8 users each agent has: FLEET.md's example of k6, and cases worked out by its rule.
    #[test]
    fn users_are_cut_as_k6_cuts_them() {
        let cases: [(&[u64], usize, [u64; 8]); 10] = [
            (&[2, 1, 1], 0, [1, 1, 2, 2, 3, 3, 4, 4]),
            (&[2, 1, 1], 1, [0, 1, 1, 1, 1, 2, 2, 2]),
            (&[2, 1, 1], 2, [0, 0, 0, 1, 1, 1, 1, 2]),
            (&[1, 1], 0, [1, 1, 2, 2, 3, 3, 4, 4]),
            (&[1, 1], 1, [0, 1, 1, 2, 2, 3, 3, 4]),
            (&[1, 1, 1], 0, [1, 1, 1, 2, 2, 2, 3, 3]),
            (&[1, 1, 1], 2, [0, 0, 1, 1, 1, 2, 2, 2]),
            (&[4, 4], 0, [1, 1, 2, 2, 3, 3, 4, 4]),
            (&[1], 0, [1, 2, 3, 4, 5, 6, 7, 8]),
            (&[1, 3], 0, [0, 1, 1, 1, 1, 2, 2, 2]),
        ];
        for (weights, at, expect) in cases {
            let share = &shares(weights).unwrap()[at];
            let segment = share.segment().unwrap();
            let counts: Vec<u64> = (1..=8).map(|all| segment.vus().count(all)).collect();
            assert_eq!(counts, expect, "{weights:?}, share {at}");
        }
    }

    #[test]
    fn texts_are_those_of_k6s_options() {
        let shares = shares(&[8, 4, 4]).unwrap();
        assert_eq!(shares[0].segment, "0:2/4");
        assert_eq!(shares[1].segment, "2/4:3/4");
        assert_eq!(shares[2], Share { segment: "3/4:1".into(), sequence: "0,2/4,3/4,1".into() });
    }

    #[test]
    fn what_cannot_be_cut_is_refused() {
        assert_eq!(shares(&[]), Err(SplitError::Agents(0)));
        assert_eq!(shares(&[1, 0]), Err(SplitError::Weight(0)));
        assert_eq!(shares(&[1, WEIGHT_MAX + 1]), Err(SplitError::Weight(WEIGHT_MAX + 1)));
        assert_eq!(shares(&[1, WEIGHT_MAX]), Err(SplitError::Fine(WEIGHT_MAX + 1)));
        assert!(shares(&[WEIGHT_MAX; 4]).is_ok(), "equal weights are as good as 1");
    }

    proptest! {
        #[test]
        fn every_number_is_of_one_share_by_k6s_rule(
            weights in proptest::collection::vec(1_u64..32, 1..12),
            cycles in 1_u64..3,
        ) {
            let common = weights.iter().fold(0, |a, b| stdx::greatest_common_divisor(a, *b));
            let weights: Vec<u64> = weights.iter().map(|weight| weight / common).collect();
            let places = places(&weights);
            let all = cycles * places.len() as u64;
            for (at, numbers) in numbers(&weights, all).into_iter().enumerate() {
                let is_own = |number: &u64| places[(number % places.len() as u64) as usize] == at;
                let expect: Vec<u64> = (0..all).filter(is_own).collect();
                prop_assert_eq!(numbers, expect, "share {} of {:?}", at, weights);
            }
        }
    }
}
