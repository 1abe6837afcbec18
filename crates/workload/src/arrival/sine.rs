//! Sine: the rate swings around its middle, `r(t) = M + A sin(O + 2 pi t / P)`, with the mean `M` and the amplitude `A <= M`
//! (hits/s), the period `P` (s) and the phase `O` at the start.
//!
//! `H(t) = M t + (A P / 2 pi) (cos O - cos(O + 2 pi t / P))`, as in Vegeta's `SinePacer`. `H(t) = n` has no closed solution:
//! Newton's method finds it, held in a bracket that bisection narrows where Newton would leave it.

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use super::rate::{Rate, due_before};

/// Where in its swing a sine begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SineStart {
    /// In the middle, rising.
    #[default]
    MeanUp,
    /// At the top.
    Peak,
    /// In the middle, falling.
    MeanDown,
    /// At the bottom.
    Trough,
}

impl SineStart {
    fn phase(self) -> f64 {
        match self {
            Self::MeanUp => 0.0,
            Self::Peak => PI / 2.0,
            Self::MeanDown => PI,
            Self::Trough => 3.0 * PI / 2.0,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Wave {
    mean_per_s: f64,
    amplitude_per_s: f64,
    period_s: f64,
    phase: f64,
}

impl Wave {
    /// The wave around `mean`; `None` where mean or period is 0.
    pub(super) fn new(
        mean: Rate,
        amplitude: Rate,
        period: Nanos,
        start_at: SineStart,
    ) -> Option<Self> {
        let mean_per_s = mean.per_s();
        (mean_per_s > 0.0 && period > Nanos::ZERO).then(|| Self {
            mean_per_s,
            amplitude_per_s: amplitude.per_s().min(mean_per_s),
            period_s: period.as_secs_f64(),
            phase: start_at.phase(),
        })
    }

    fn angle(&self, t: f64) -> f64 {
        self.phase + TAU * (t / self.period_s)
    }

    /// `A P / 2 pi`, in hits.
    fn swing(&self) -> f64 {
        self.amplitude_per_s * self.period_s / TAU
    }

    /// `H(t)`: the hits due until `t` seconds.
    pub(super) fn hits(&self, t: f64) -> f64 {
        self.mean_per_s * t + self.swing() * (self.phase.cos() - self.angle(t).cos())
    }

    /// The time (s) at which `H` reaches `n`. It depends on `n` alone, so every shard finds the same.
    fn solve(&self, n: f64) -> f64 {
        let swing_s = self.amplitude_per_s * self.period_s / PI / self.mean_per_s;
        let mut low = (n / self.mean_per_s - swing_s).max(0.0);
        let mut high = (n / self.mean_per_s + swing_s).max(low);
        let mut t = (n / self.mean_per_s).clamp(low, high);
        for _ in 0..ROUNDS_MAX {
            let (sin, cos) = self.angle(t).sin_cos();
            let off = self.mean_per_s * t + self.swing() * (self.phase.cos() - cos) - n;
            if off > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let rate = self.mean_per_s + self.amplitude_per_s * sin;
            let newton = t - off / rate;
            let inside = newton > low && newton < high;
            let next = if inside { newton } else { (low + high) / 2.0 };
            let step = (next - t).abs();
            // Newton's next error is at most step^2 H'' / 2 H', and H'' at most 2 pi A / P.
            let error = step * step * self.amplitude_per_s * PI / self.period_s / rate;
            if step < CLOSE_S || (inside && error < CLOSE_S) {
                return next;
            }
            t = next;
        }
        t
    }
}

/// Bisection alone halves the bracket 64 times, to below a nanosecond from any bracket up to 584 years.
const ROUNDS_MAX: usize = 64;
/// A tenth of a nanosecond.
const CLOSE_S: f64 = 1e-10;

#[derive(Clone, Debug)]
pub(super) struct Swing {
    wave: Option<Wave>,
    planned: u64,
    end: Nanos,
}

impl Swing {
    pub(super) fn new(wave: Option<Wave>, duration: Option<Nanos>) -> Self {
        let planned = match (&wave, duration) {
            (None, _) => 0,
            (Some(wave), Some(duration)) => due_before(wave.hits(duration.as_secs_f64())),
            (Some(_), None) => u64::MAX,
        };
        Self { wave, planned, end: duration.unwrap_or(Nanos::MAX) }
    }

    /// When a hit is due.
    pub(super) fn due(&self, hit: u64) -> Option<Nanos> {
        let wave = self.wave.as_ref().filter(|_| hit < self.planned)?;
        if hit == 0 {
            return Some(Nanos::ZERO);
        }
        let seconds = wave.solve(hit as f64);
        Some(Nanos::from_secs_f64(seconds).min(self.end))
    }
}
