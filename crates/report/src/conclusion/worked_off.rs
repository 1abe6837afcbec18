//! `WorkedOff`: a backlog that grew for a part of a run, and was gone before its end: a burst, or a server that was cold.

use stdx::Nanos;

/// The last requests of such a backlog waited for this long or longer (s), ...
const DELAY_MIN: f64 = 1.0;
/// ... so many waited at once, ...
const WAITING_MIN: f64 = 12.0;
/// ... and at its sides, and in the run's last third, requests wait for no more than this share of that.
const REST_MAX: f64 = 0.1;

/// When a backlog was there, and how large it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WorkedOff {
    /// After the first request was due.
    pub(super) from: Nanos,
    pub(super) until: Nanos,
    /// Requests that waited at once.
    pub(super) most: f64,
    /// The highest rate asked from then until most waited (1/s).
    pub(super) asked: f64,
}

/// The state at an instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instant {
    /// (s)
    pub(super) at: f64,
    /// How long the requests of then wait (s).
    pub(super) delay: f64,
    /// How many there are.
    pub(super) waiting: f64,
    /// The rate asked (1/s).
    pub(super) rate: f64,
}

impl WorkedOff {
    /// Of the instants of a run.
    pub(super) fn of(instants: &[Instant]) -> Option<Self> {
        let most = instants.iter().map(|one| one.waiting).fold(0.0, f64::max);
        let peak = instants.iter().enumerate().max_by(|a, b| a.1.delay.total_cmp(&b.1.delay))?.0;
        let delay = instants[peak].delay;
        let is_low = |one: &&Instant| one.delay <= REST_MAX * delay;
        let third = &instants[instants.len() - instants.len().div_ceil(3)..];
        if delay < DELAY_MIN || most < WAITING_MIN || !third.iter().all(|one| is_low(&one)) {
            return None;
        }
        let from = instants[..peak].iter().rev().find(is_low).map_or(0.0, |one| one.at);
        let until = instants[peak..].iter().find(is_low)?.at;
        let grew = instants[..=peak].iter().filter(|one| one.at > from);
        let asked = grew.map(|one| one.rate).fold(0.0, f64::max);
        let [from, until] = [from, until].map(Nanos::from_secs_f64);
        Some(Self { from, until, most, asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays: &[f64]) -> Option<WorkedOff> {
        let instants = delays.iter().enumerate().map(|(at, delay)| Instant {
            at: at as f64,
            delay: *delay,
            waiting: 50.0 * delay,
            rate: 10.0 * at as f64,
        });
        WorkedOff::of(&instants.collect::<Vec<_>>())
    }

    #[test]
    fn a_burst_is_worked_off_and_an_overload_is_not() {
        let burst = of(&[0.0, 0.1, 2.0, 4.0, 3.0, 1.0, 0.1, 0.0, 0.1, 0.0]).unwrap();
        assert_eq!((burst.from.as_secs_f64(), burst.until.as_secs_f64()), (1.0, 6.0));
        assert_eq!((burst.most, burst.asked), (200.0, 30.0));
        let cold = of(&[2.0, 3.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!((cold.from.as_secs_f64(), cold.until.as_secs_f64()), (0.0, 3.0));
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(of(&[0.0, 2.0, 4.0, 3.0, 2.0, 1.0]), None, "not gone yet");
        assert_eq!(of(&[0.0, 0.5, 0.0, 0.0, 0.0, 0.0]), None, "less than a second");
    }
}
