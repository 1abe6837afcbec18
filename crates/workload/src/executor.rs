//! k6's executors: when the iterations of a scenario begin, and on how many virtual users (VUs). Times are offsets from the
//! scenario's start.

use stdx::Nanos;

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
        /// Iterations a second at the start.
        start_per_s: f64,
        /// How long each stage takes, and the iterations a second at its end.
        stages: Vec<(Nanos, f64)>,
        /// VUs made before the start.
        vus: u64,
        /// VUs at most.
        vus_max: u64,
    },
    /// A number of VUs that somebody outside of the test changes.
    ExternallyControlled {
        /// VUs at the start.
        vus: u64,
        /// VUs at most.
        vus_max: u64,
        /// How long; `Nanos::MAX` until it is stopped.
        duration: Nanos,
    },
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
            Self::ArrivalRate { start_per_s, stages, .. } => match stages.as_slice() {
                [(_, rate)] if *rate == *start_per_s => "constant-arrival-rate",
                _ => "ramping-arrival-rate",
            },
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

    /// When iteration `number`, from 0, of an arrival rate is due; `None` where it never is.
    #[must_use]
    pub fn due(&self, number: u64) -> Option<Nanos> {
        let Self::ArrivalRate { start_per_s, stages, .. } = self else { return None };
        let (mut left, mut from, mut begin) = (number as f64, *start_per_s, Nanos::ZERO);
        for (time, to) in stages {
            let seconds = time.0 as f64 / 1e9;
            let whole = (from + to) / 2.0 * seconds;
            if left < whole {
                let offset = reached(left, (from, *to), seconds);
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
fn reached(count: f64, (a, b): (f64, f64), time: f64) -> f64 {
    let slope = (b - a) / time;
    // The stable root: it holds for a slope of 0 as well.
    let root = (a * a + 2.0 * slope * count).max(0.0).sqrt();
    if a + root == 0.0 { 0.0 } else { 2.0 * count / (a + root) }
}

fn total(times: impl Iterator<Item = Nanos>) -> Nanos {
    times.fold(Nanos::ZERO, Nanos::saturating_add)
}

/// The whole VUs of a ramp at a time: a VU is there once the line has reached it.
fn ramped(start: u64, stages: &[(Nanos, u64)], at: Nanos) -> u64 {
    let (mut from, mut begin) = (start, Nanos::ZERO);
    for (time, to) in stages {
        let end = begin.saturating_add(*time);
        if at < end {
            let share = (at.0 - begin.0) as f64 / time.0 as f64;
            return (from as f64 + (*to as f64 - from as f64) * share + 1e-9).floor() as u64;
        }
        (from, begin) = (*to, end);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vus_ramp_linearly() {
        let stages = vec![(Nanos::from_secs(10), 10), (Nanos::ZERO, 4), (Nanos::from_secs(4), 0)];
        let ramp = Executor::RampingVus { start: 0, stages, graceful_ramp_down: Nanos::ZERO };
        for (second, vus) in [(0, 0), (1, 1), (5, 5), (9, 9), (10, 4), (11, 3), (13, 1), (14, 0)] {
            assert_eq!(ramp.vus_at(Nanos::from_secs(second)), vus, "{second} s");
        }
        assert_eq!((ramp.vus_max(), ramp.duration()), (10, Nanos::from_secs(14)));
    }

    #[test]
    fn iterations_are_due_by_the_rate() {
        let flat =
            |stages, start_per_s| Executor::ArrivalRate { start_per_s, stages, vus: 1, vus_max: 1 };
        let constant = flat(vec![(Nanos::from_secs(2), 50.0)], 50.0);
        assert_eq!(constant.due(0), Some(Nanos::ZERO));
        assert_eq!(constant.due(25), Some(Nanos::from_millis(500)));
        assert_eq!((constant.due(99).is_some(), constant.due(100)), (true, None));
        // From 0 to 10 a second in 10 s: 50 in all, the first 12.5 in 5 s.
        let ramp = flat(vec![(Nanos::from_secs(10), 10.0), (Nanos::from_secs(1), 10.0)], 0.0);
        let seconds = |number| ramp.due(number).map(|due| due.0 as f64 / 1e9);
        assert!((seconds(32).unwrap() - 8.0).abs() < 1e-6);
        assert!((seconds(55).unwrap() - 10.5).abs() < 1e-6);
        assert_eq!(seconds(60), None);
    }
}
