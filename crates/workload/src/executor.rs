//! k6's executors: when the iterations of a scenario begin, and on how many virtual users (VUs). Times are offsets from the
//! scenario's start.

use std::cmp::Ordering;

use stdx::Nanos;

use crate::segment::SegmentSlice;

/// A scenario: an executor and what it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The script's function.
    pub exec: String,
    /// When it begins, from the start of the test.
    pub start: Nanos,
    /// How long iterations may go on after its end.
    pub graceful_stop: Nanos,
    /// Tags of all its samples.
    pub tags: Vec<(String, String)>,
    /// What stands in the script's environment above the test's own.
    pub env: Vec<(String, String)>,
    /// When iterations begin.
    pub executor: Executor,
}

impl Scenario {
    /// When its last iteration has ended, from the start of the test.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.start.saturating_add(self.executor.duration()).saturating_add(self.graceful_stop)
    }
}

/// When iterations begin.
#[derive(Clone, Debug, PartialEq)]
pub enum Executor {
    /// VUs share so many iterations.
    SharedIterations {
        /// VUs.
        vus: u64,
        /// Iterations of all.
        iterations: u64,
        /// None begins after this.
        max_duration: Nanos,
    },
    /// Each VU does so many iterations.
    PerVuIterations {
        /// VUs.
        vus: u64,
        /// Iterations of each.
        iterations: u64,
        /// None begins after this.
        max_duration: Nanos,
    },
    /// VUs iterate for a time.
    ConstantVus {
        /// VUs.
        vus: u64,
        /// How long.
        duration: Nanos,
    },
    /// A number of VUs that changes, stage by stage, linearly.
    RampingVus {
        /// VUs at the start.
        start: u64,
        /// How long each stage takes, and the VUs at its end.
        stages: Vec<(Nanos, u64)>,
        /// How long iterations of VUs that are one too many may go on.
        graceful_ramp_down: Nanos,
    },
    /// Iterations begin at a rate that changes, stage by stage, linearly; a constant one has one flat stage.
    ArrivalRate {
        /// Whether it may change.
        kind: ArrivalKind,
        /// Iterations a second at the start.
        start_per_s: f64,
        /// How long each stage takes, and the iterations a second at its end.
        stages: Vec<(Nanos, f64)>,
        /// VUs made before the start.
        vus: u64,
        /// VUs at most.
        vus_max: u64,
    },
    /// A number of VUs that is changed from outside the test.
    ExternallyControlled {
        /// VUs at the start.
        vus: u64,
        /// VUs at most.
        vus_max: u64,
        /// How long; `Nanos::MAX` until it is stopped.
        duration: Nanos,
    },
}

/// The two executors of arrival rates. Their first iterations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrivalKind {
    /// The first iteration is due at the start.
    Constant,
    /// The first is due once the rate has come to a whole iteration.
    Ramping,
}

impl Executor {
    /// k6's name of it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::SharedIterations { .. } => "shared-iterations",
            Self::PerVuIterations { .. } => "per-vu-iterations",
            Self::ConstantVus { .. } => "constant-vus",
            Self::RampingVus { .. } => "ramping-vus",
            Self::ArrivalRate { kind: ArrivalKind::Constant, .. } => "constant-arrival-rate",
            Self::ArrivalRate { kind: ArrivalKind::Ramping, .. } => "ramping-arrival-rate",
            Self::ExternallyControlled { .. } => "externally-controlled",
        }
    }

    /// When it begins nothing new any more.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        match self {
            Self::SharedIterations { max_duration, .. }
            | Self::PerVuIterations { max_duration, .. } => *max_duration,
            Self::ConstantVus { duration, .. } | Self::ExternallyControlled { duration, .. } => {
                *duration
            }
            Self::RampingVus { stages, .. } => total(stages.iter().map(|stage| stage.0)),
            Self::ArrivalRate { stages, .. } => total(stages.iter().map(|stage| stage.0)),
        }
    }

    /// The same of a process that has this part of the VUs: a ramp is over once it has come down to no VU.
    #[must_use]
    pub fn duration_of(&self, own: &SegmentSlice) -> Nanos {
        let Self::RampingVus { start, stages, .. } = self else { return self.duration() };
        // The number of our first VU, from 1.
        let first = own.number(0).saturating_add(1);
        let (mut end, mut from, mut begin) = (Nanos::ZERO, *start, Nanos::ZERO);
        for (time, to) in stages {
            let over = begin.saturating_add(*time);
            if *to >= first {
                end = over;
            } else if from >= first {
                let stage = VuStage { from, to: *to, time: *time };
                end = begin.saturating_add(stage.changed_by(from - (first - 1)));
            }
            (from, begin) = (*to, over);
        }
        end
    }

    /// The most VUs it uses.
    #[must_use]
    pub fn vus_max(&self) -> u64 {
        match self {
            Self::SharedIterations { vus, .. }
            | Self::PerVuIterations { vus, .. }
            | Self::ConstantVus { vus, .. } => *vus,
            Self::RampingVus { start, stages, .. } => {
                stages.iter().map(|stage| stage.1).fold(*start, u64::max)
            }
            Self::ArrivalRate { vus_max, .. } | Self::ExternallyControlled { vus_max, .. } => {
                *vus_max
            }
        }
    }

    /// The VUs that it has from its start: all but those that an arrival rate may ask for later.
    #[must_use]
    pub fn vus_from_start(&self) -> u64 {
        match self {
            Self::ArrivalRate { vus, .. } => *vus,
            other => other.vus_max(),
        }
    }

    /// How many VUs are to be active at a time. Those of arrival rates are active when there is work.
    #[must_use]
    pub fn vus_at(&self, at: Nanos) -> u64 {
        if at >= self.duration() {
            return 0;
        }
        match self {
            Self::RampingVus { start, stages, .. } => ramped(*start, stages, at),
            Self::ExternallyControlled { vus, .. } => *vus,
            _ => self.vus_max(),
        }
    }

    /// The number of VUs at the end of a ramp; `None` of an executor that does not ramp.
    #[must_use]
    pub fn vus_at_end(&self) -> Option<u64> {
        let Self::RampingVus { start, stages, .. } = self else { return None };
        Some(stages.last().map_or(*start, |stage| stage.1))
    }

    /// When a ramp wants another number of VUs than it does at this time, at the earliest; `None` where that is never.
    #[must_use]
    pub fn next_change(&self, at: Nanos) -> Option<Nanos> {
        let Self::RampingVus { start, stages, .. } = self else { return None };
        let (mut from, mut begin) = (*start, Nanos::ZERO);
        for (time, to) in stages {
            let end = begin.saturating_add(*time);
            if at < end {
                let stage = VuStage { from, to: *to, time: *time };
                return Some(begin.saturating_add(stage.next_change(at - begin)));
            }
            (from, begin) = (*to, end);
        }
        None
    }

    /// Each number of VUs that a ramp comes to, with the moment, in their order; none of an executor that does not ramp.
    #[must_use]
    pub fn ramp(&self) -> Vec<(Nanos, u64)> {
        let Self::RampingVus { start, stages, .. } = self else { return Vec::new() };
        let (mut steps, mut from, mut begin) = (vec![(Nanos::ZERO, *start)], *start, Nanos::ZERO);
        for (time, to) in stages {
            let stage = VuStage { from, to: *to, time: *time };
            steps.extend((1..=from.abs_diff(*to)).map(|change| {
                let vus = if *to < from { from - change } else { from + change };
                (begin.saturating_add(stage.changed_by(change)), vus)
            }));
            (from, begin) = (*to, begin.saturating_add(*time));
        }
        steps
    }

    /// When iteration `number`, from 0, of an arrival rate is due; `None` where it never is.
    #[must_use]
    pub fn due(&self, number: u64) -> Option<Nanos> {
        let Self::ArrivalRate { kind, start_per_s, stages, .. } = self else { return None };
        let (mut left, mut from, mut begin) = (number as f64, *start_per_s, Nanos::ZERO);
        if *kind == ArrivalKind::Ramping {
            left += 1.0;
        }
        for (time, to) in stages {
            let seconds = time.0 as f64 / 1e9;
            let whole = (from + to) / 2.0 * seconds;
            let is_in_stage = match kind {
                ArrivalKind::Constant => left < whole,
                // The last one may be due at the very end.
                ArrivalKind::Ramping => left <= whole,
            };
            if is_in_stage {
                let offset = reached(left, from, *to, seconds);
                return Some(begin.saturating_add(Nanos::from_secs_f64(offset)));
            }
            left -= whole;
            (from, begin) = (*to, begin.saturating_add(*time));
        }
        None
    }
}

/// After how many seconds of a linear ramp from `a` to `b` a second over `time` seconds so many have come:
/// `a·t + (b − a)·t²/(2·time) = count`.
fn reached(count: f64, a: f64, b: f64, time: f64) -> f64 {
    let slope = (b - a) / time;
    // The stable root: it holds for a slope of 0 as well.
    let root = (a * a + 2.0 * slope * count).max(0.0).sqrt();
    if a + root == 0.0 { 0.0 } else { 2.0 * count / (a + root) }
}

fn total(times: impl Iterator<Item = Nanos>) -> Nanos {
    times.fold(Nanos::ZERO, Nanos::saturating_add)
}

/// The whole VUs of a ramp at a time: on the way up a VU is there once the line has reached it, on the way down until the line
/// has reached the one before.
fn ramped(start: u64, stages: &[(Nanos, u64)], at: Nanos) -> u64 {
    let (mut from, mut begin) = (start, Nanos::ZERO);
    for (time, to) in stages {
        let end = begin.saturating_add(*time);
        if at < end {
            return VuStage { from, to: *to, time: *time }.vus_at(at - begin);
        }
        (from, begin) = (*to, end);
    }
    from
}

/// One stage of a ramp of VUs.
#[derive(Clone, Copy)]
struct VuStage {
    from: u64,
    to: u64,
    time: Nanos,
}

impl VuStage {
    /// The whole VUs at a time from its beginning.
    fn vus_at(self, at: Nanos) -> u64 {
        let (from, to) = (self.from as f64, self.to as f64);
        let line = from + (to - from) * (at.0 as f64 / self.time.0 as f64);
        if self.to < self.from {
            (line - CLOSE).ceil() as u64
        } else {
            (line + CLOSE).floor() as u64
        }
    }

    /// When the VUs change next after a time, or its end.
    fn next_change(self, at: Nanos) -> Nanos {
        let now = self.vus_at(at);
        match self.to.cmp(&self.from) {
            Ordering::Less => self.changed_by(self.from + 1 - now),
            Ordering::Equal => self.time,
            Ordering::Greater => self.changed_by(now + 1 - self.from),
        }
    }

    /// When so many of its VUs have come or gone, or its end.
    fn changed_by(self, vus: u64) -> Nanos {
        let whole = u128::from(self.from.abs_diff(self.to).max(1));
        let offset = (u128::from(self.time.0) * u128::from(vus)).div_ceil(whole);
        Nanos(u64::try_from(offset).unwrap_or(u64::MAX)).min(self.time)
    }
}

/// A line so near to a whole number has reached it.
const CLOSE: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Segment;

    #[test]
    fn vus_ramp_linearly() {
        let stages = vec![(Nanos::from_secs(10), 10), (Nanos::ZERO, 4), (Nanos::from_secs(4), 0)];
        let ramp = Executor::RampingVus { start: 0, stages, graceful_ramp_down: Nanos::ZERO };
        for (second, vus) in [(0, 0), (1, 1), (5, 5), (9, 9), (10, 4), (11, 3), (13, 1), (14, 0)] {
            assert_eq!(ramp.vus_at(Nanos::from_secs(second)), vus, "{second} s");
        }
        // A second's half: one fewer on the way up, one more on the way down.
        for (ms, vus) in [(500, 0), (1_500, 1), (9_999, 9), (10_500, 4), (12_999, 2), (13_500, 1)] {
            assert_eq!(ramp.vus_at(Nanos::from_millis(ms)), vus, "{ms} ms");
        }
        assert_eq!((ramp.vus_max(), ramp.duration()), (10, Nanos::from_secs(14)));
    }

    #[test]
    fn a_ramp_is_over_once_nobody_is_wanted() {
        let second = Nanos::from_secs;
        let of = |stages: &[(u64, u64)]| Executor::RampingVus {
            start: 2,
            stages: stages.iter().map(|(time, to)| (second(*time), *to)).collect(),
            graceful_ramp_down: Nanos::ZERO,
        };
        let third = |text| Segment::parse(text, Some("0,1/3,2/3,1")).unwrap().vus().clone();
        let whole = SegmentSlice::default();
        for (stages, own, expect) in [
            (&[(4, 4), (4, 0)][..], &whole, 8),
            (&[(4, 4), (4, 0), (9, 0)], &whole, 8),
            (&[(4, 4), (4, 0), (9, 0), (1, 1)], &whole, 18),
            (&[(4, 4), (0, 0), (3, 0)], &whole, 4),
            // Of four VUs the last third has the third, which leaves when there are two.
            (&[(4, 4), (4, 0)], &third("2/3:1"), 6),
            (&[(4, 4), (4, 0)], &third("0:1/3"), 8),
            (&[(4, 2)], &third("2/3:1"), 0),
        ] {
            assert_eq!(of(stages).duration_of(own), second(expect), "{stages:?} {own:?}");
        }
    }

    /// A ramp that is read at its changes alone has the right number of VUs at every millisecond.
    #[test]
    fn next_change_misses_no_change_of_a_ramp() {
        let ms = Nanos::from_millis;
        let stages = [(4_000, 3), (0, 7), (1_700, 7), (3_700, 2), (900, 5), (1_300, 0)];
        let stages: Vec<_> = stages.into_iter().map(|(time, to)| (ms(time), to)).collect();
        let ramp = Executor::RampingVus { start: 1, stages, graceful_ramp_down: Nanos::ZERO };
        let (mut next, mut seen) = (Nanos::ZERO, 0);
        for at in (0..11_600).map(ms) {
            while next <= at {
                seen = ramp.vus_at(next);
                next = ramp.next_change(next).unwrap_or(Nanos::MAX);
            }
            assert_eq!(ramp.vus_at(at), seen, "{at}");
        }
        assert_eq!((ramp.next_change(ms(11_600)), ramp.vus_at_end()), (None, Some(0)));
    }

    #[test]
    fn iterations_are_due_by_the_rate() {
        let of = |kind, stages, start_per_s| Executor::ArrivalRate {
            kind,
            start_per_s,
            stages,
            vus: 1,
            vus_max: 1,
        };
        let flat = vec![(Nanos::from_secs(2), 50.0)];
        let constant = of(ArrivalKind::Constant, flat.clone(), 50.0);
        assert_eq!(constant.due(0), Some(Nanos::ZERO));
        assert_eq!(constant.due(25), Some(Nanos::from_millis(500)));
        assert_eq!((constant.due(99).is_some(), constant.due(100)), (true, None));
        // One that might ramp begins when it has come to a whole iteration, as k6 1.8.1 does.
        let level = of(ArrivalKind::Ramping, flat, 50.0);
        assert_eq!(level.due(0), Some(Nanos::from_millis(20)));
        assert_eq!((level.due(99), level.due(100)), (Some(Nanos::from_secs(2)), None));
        assert_eq!(
            (constant.name(), level.name()),
            ("constant-arrival-rate", "ramping-arrival-rate")
        );
        // From 0 to 10 a second in 10 s: 50 in all, the first 12.5 in 5 s.
        let stages = vec![(Nanos::from_secs(10), 10.0), (Nanos::from_secs(1), 10.0)];
        let ramp = of(ArrivalKind::Ramping, stages, 0.0);
        let seconds = |number| ramp.due(number).map(|due| due.0 as f64 / 1e9);
        assert!((seconds(31).unwrap() - 8.0).abs() < 1e-6);
        assert!((seconds(54).unwrap() - 10.5).abs() < 1e-6);
        assert_eq!(seconds(60), None);
    }
}
