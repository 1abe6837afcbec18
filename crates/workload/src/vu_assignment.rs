//! Which virtual users (VUs) work in which scenario: scenarios that are not under way at the same time share theirs, as k6 does.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use stdx::Nanos;

use crate::executor::Scenario;
use crate::segment::Segment;

/// The numbers of the VUs of each scenario, from 1, in the scenarios' order. Those that an arrival rate may ask for later are
/// not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VuAssignment {
    /// By scenario.
    pub numbers: Vec<Vec<u64>>,
    /// How many VUs there are in all.
    pub total: u64,
}

impl VuAssignment {
    /// Gives each scenario the lowest numbers that no other has at that time, so that there are no more VUs than are ever
    /// wanted at once. Those of a segment are counted by themselves, from 1.
    #[must_use]
    pub fn new(scenarios: &[Scenario], segment: &Segment) -> Self {
        let mut order: Vec<usize> = (0..scenarios.len()).collect();
        order.sort_by_key(|at| scenarios[*at].start);
        let mut assignment = Self { numbers: vec![Vec::new(); scenarios.len()], total: 0 };
        let mut free: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        let mut busy: BinaryHeap<Reverse<(Nanos, usize)>> = BinaryHeap::new();
        for at in order {
            let scenario = &scenarios[at];
            while let Some(Reverse((until, other))) = busy.peek().copied() {
                if until > scenario.start {
                    break;
                }
                busy.pop();
                free.extend(assignment.numbers[other].iter().copied().map(Reverse));
            }
            for _ in 0..segment.vus().count(scenario.executor.vus_from_start()) {
                let number = free.pop().map(|Reverse(number)| number).unwrap_or_else(|| {
                    assignment.total += 1;
                    assignment.total
                });
                assignment.numbers[at].push(number);
            }
            busy.push(Reverse((scenario.end(), at)));
        }
        assignment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Executor;

    fn scenario(vus: u64, start: u64, time: u64) -> Scenario {
        Scenario {
            name: "s".to_owned(),
            exec: "default".to_owned(),
            start: Nanos::from_secs(start),
            graceful_stop: Nanos::from_secs(1),
            tags: Vec::new(),
            env: Vec::new(),
            executor: Executor::ConstantVus { vus, duration: Nanos::from_secs(time) },
        }
    }

    #[test]
    fn scenarios_share_vus_over_time() {
        for (scenarios, numbers, total) in [
            (vec![scenario(2, 0, 5), scenario(3, 0, 5)], vec![vec![1, 2], vec![3, 4, 5]], 5),
            // The second begins once the graceful stop of the first is over.
            (vec![scenario(2, 0, 5), scenario(3, 6, 5)], vec![vec![1, 2], vec![1, 2, 3]], 3),
            (vec![scenario(2, 0, 5), scenario(1, 5, 5)], vec![vec![1, 2], vec![3]], 3),
            (
                vec![scenario(1, 20, 1), scenario(2, 0, 5), scenario(1, 0, 30)],
                vec![vec![1], vec![1, 2], vec![3]],
                3,
            ),
        ] {
            assert_eq!(
                VuAssignment::new(&scenarios, &Segment::default()),
                VuAssignment { numbers, total }
            );
        }
    }
}
