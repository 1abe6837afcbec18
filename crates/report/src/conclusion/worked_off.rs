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
}

impl WorkedOff {
    /// Of instants: the time (s), how long the requests of then wait (s), and how many there are.
    pub(super) fn of(instants: &[(f64, f64, f64)]) -> Option<Self> {
        let most = instants.iter().map(|one| one.2).fold(0.0, f64::max);
        let peak = instants.iter().enumerate().max_by(|a, b| a.1.1.total_cmp(&b.1.1))?.0;
        let delay = instants[peak].1;
        let is_low = |one: &&(f64, f64, f64)| one.1 <= REST_MAX * delay;
        let third = &instants[instants.len() - instants.len().div_ceil(3)..];
        if delay < DELAY_MIN || most < WAITING_MIN || !third.iter().all(|one| is_low(&one)) {
            return None;
        }
        let from = instants[..peak].iter().rev().find(is_low).map_or(0.0, |one| one.0);
        let until = instants[peak..].iter().find(is_low)?.0;
        Some(Self { from: Nanos::from_secs_f64(from), until: Nanos::from_secs_f64(until), most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(delays: &[f64]) -> Option<WorkedOff> {
        let instants =
            delays.iter().enumerate().map(|(at, delay)| (at as f64, *delay, 50.0 * delay));
        WorkedOff::of(&instants.collect::<Vec<_>>())
    }

    #[test]
    fn a_burst_is_worked_off_and_an_overload_is_not() {
        let burst = of(&[0.0, 0.1, 2.0, 4.0, 3.0, 1.0, 0.1, 0.0, 0.1, 0.0]).unwrap();
        assert_eq!((burst.from.as_secs_f64(), burst.until.as_secs_f64()), (1.0, 6.0));
        assert_eq!(burst.most, 200.0);
        let cold = of(&[2.0, 3.0, 1.0, 0.0, 0.0, 0.0]).unwrap();
        assert_eq!((cold.from.as_secs_f64(), cold.until.as_secs_f64()), (0.0, 3.0));
        assert_eq!(of(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(of(&[0.0, 2.0, 4.0, 3.0, 2.0, 1.0]), None, "not gone yet");
        assert_eq!(of(&[0.0, 0.5, 0.0, 0.0, 0.0, 0.0]), None, "less than a second");
    }
}
