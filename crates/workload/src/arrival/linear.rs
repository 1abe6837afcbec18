//! Linear ramp: the rate goes from `a` to `b` (hits/s) over the duration `D` (s) along a straight line.
//!
//! `H(t) = a t + s t^2 / 2` with the slope `s = (b - a) / D` (hits/s^2), as in Vegeta's `LinearPacer`. Solved for `H(t) = k` in
//! the form that loses no digits when `s` is small: `t = 2 k / (a + sqrt(a^2 + 2 s k))`.

use stdx::Nanos;

use super::rate::{Rate, due_before};

#[derive(Clone, Debug)]
pub(super) struct Ramp {
    /// Rate at the start, in hits per second.
    start_per_s: f64,
    /// Change of the rate, in hits per second per second.
    slope: f64,
    /// Hits of the whole schedule.
    planned: u64,
    duration: Nanos,
}

impl Ramp {
    pub(super) fn new(from: Rate, to: Rate, duration: Option<Nanos>) -> Self {
        let (start_per_s, end_per_s) = (from.per_s(), to.per_s());
        let Some(duration) = duration else {
            let planned = if start_per_s > 0.0 { u64::MAX } else { 0 };
            return Self { start_per_s, slope: 0.0, planned, duration: Nanos::MAX };
        };
        let seconds = duration.as_secs_f64();
        let slope = if seconds > 0.0 { (end_per_s - start_per_s) / seconds } else { 0.0 };
        let planned = due_before((start_per_s + end_per_s) / 2.0 * seconds);
        Self { start_per_s, slope, planned, duration }
    }

    /// When a hit is due. Rounding never takes the last hit past the end.
    pub(super) fn due(&self, hit: u64) -> Option<Nanos> {
        if hit >= self.planned {
            return None;
        }
        if hit == 0 {
            return Some(Nanos::ZERO);
        }
        let n = hit as f64;
        let end_per_s =
            (self.start_per_s * self.start_per_s + 2.0 * self.slope * n).max(0.0).sqrt();
        let seconds = 2.0 * n / (self.start_per_s + end_per_s);
        Some(Nanos::from_secs_f64(seconds).min(self.duration))
    }
}
