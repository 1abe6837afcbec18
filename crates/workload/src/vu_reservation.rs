//! `VuReservation`: how many VUs the scenarios of a test may keep busy at once, and until when, in one segment of it.

use std::collections::VecDeque;

use stdx::Nanos;

use crate::executor::{Executor, Scenario};
use crate::segment::SegmentSlice;

/// What a test may take of the VUs of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VuReservation {
    /// VUs at once, at most.
    pub vus: u64,
    /// When the last of them is free, from the start of the test; scenarios without an end left aside.
    pub end: Nanos,
}

impl VuReservation {
    /// Of these scenarios: each holds its VUs until its iterations have ended or were stopped, and a VU that a ramp gives up
    /// until its graceful ramp down is over.
    #[must_use]
    pub fn of(scenarios: &[Scenario], own: &SegmentSlice) -> Self {
        let mut changes = Vec::new();
        for scenario in scenarios {
            let mut before = 0;
            // What has no end gives nothing back.
            for (at, global) in steps(scenario).into_iter().filter(|step| step.0 < Nanos::MAX) {
                let vus = own.count(global);
                if vus != before {
                    changes.push((scenario.start.saturating_add(at), before, vus));
                    before = vus;
                }
            }
        }
        changes.sort_by_key(|change| change.0);
        let (mut vus, mut most, mut end) = (0u64, 0, Nanos::ZERO);
        // Changes of one moment count together.
        for moment in changes.chunk_by(|a, b| a.0 == b.0) {
            for (at, before, after) in moment {
                vus = vus.saturating_add(*after).saturating_sub(*before);
                end = *at;
            }
            most = most.max(vus);
        }
        Self { vus: most, end }
    }
}

/// The VUs of the whole test that a scenario holds, from each of these moments on; the last is 0.
fn steps(scenario: &Scenario) -> Vec<(Nanos, u64)> {
    let executor = &scenario.executor;
    let end = executor.duration().saturating_add(scenario.graceful_stop);
    let Executor::RampingVus { graceful_ramp_down, .. } = executor else {
        return vec![(Nanos::ZERO, executor.vus_max()), (end, 0)];
    };
    held(&executor.ramp(), *graceful_ramp_down, end)
}

/// The most that was wanted within the time `hold` before each moment, until `end`.
fn held(wanted: &[(Nanos, u64)], hold: Nanos, end: Nanos) -> Vec<(Nanos, u64)> {
    let mut held = Vec::new();
    // What still counts: numbers that fall, each with the moment at which it ends.
    let mut open: VecDeque<(u64, Nanos)> = VecDeque::new();
    let until =
        |at: usize| wanted.get(at + 1).map_or(end, |next| next.0.saturating_add(hold).min(end));
    for (index, (at, vus)) in wanted.iter().enumerate() {
        expire(&mut open, *at, &mut held);
        while open.back().is_some_and(|(last, _)| last <= vus) {
            open.pop_back();
        }
        open.push_back((*vus, until(index)));
        held.push((*at, open.front().map_or(0, |first| first.0)));
    }
    expire(&mut open, Nanos::MAX, &mut held);
    held.push((end, 0));
    held
}

/// Ends what ends before `now`.
fn expire(open: &mut VecDeque<(u64, Nanos)>, now: Nanos, held: &mut Vec<(Nanos, u64)>) {
    while let Some((_, over)) = open.front().copied().filter(|(_, over)| *over <= now) {
        open.pop_front();
        held.push((over, open.front().map_or(0, |next| next.0)));
    }
}
