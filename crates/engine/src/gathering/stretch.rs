//! `Stretch`: what was seen of answers between two waits, and `Measure`, what it comes to. A stretch begins and ends where the loop
//! is about to wait: so each wake-up's answers are counted as a whole, and a rate has no error of half a batch.

use metrics::Sketch;
use stdx::Nanos;

/// Answers of a stretch, as they come.
#[derive(Debug, Default)]
pub(super) struct Stretch {
    /// When counting began; `None` while what comes may still be of the stretch before.
    began: Option<Nanos>,
    /// Not before this time does it begin.
    settled: Nanos,
    times: Sketch,
    /// Answers that took longer are slow.
    slow_from: Nanos,
    slow: u64,
}

/// What a stretch comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    /// Answers a second.
    pub(super) rate_per_s: f64,
    /// The median of service times, and their 99th percentile.
    pub(super) p50: Nanos,
    pub(super) p99: Nanos,
}

impl Stretch {
    pub(super) fn new() -> Self {
        let (settled, slow_from) = (Nanos::MAX, Nanos::MAX);
        Self { began: None, settled, times: Sketch::new(), slow_from, slow: 0 }
    }

    /// Begins anew: what comes until `settled` is not counted, and answers that take longer than `slow_from` are slow.
    pub(super) fn restart(&mut self, settled: Nanos, slow_from: Nanos) {
        self.times.clear();
        (self.began, self.settled, self.slow_from, self.slow) = (None, settled, slow_from, 0);
    }

    /// The loop is about to wait.
    pub(super) fn wait(&mut self, now: Nanos) {
        if self.began.is_none() && now >= self.settled {
            self.began = Some(now);
        }
    }

    /// An answer came, so long after its request was sent.
    pub(super) fn count(&mut self, service: Nanos) {
        if self.began.is_some() {
            self.times.record(service);
            self.slow += u64::from(service > self.slow_from);
        }
    }

    /// Whether the median lies above `slow_from`, beyond chance: slow ones are more than half of `n` by more than two standard
    /// deviations, `√n / 2` each. False before there are `least` answers.
    pub(super) fn is_slow(&self, least: u64) -> bool {
        let count = self.times.count();
        count >= least && self.slow as f64 > 0.5 * count as f64 + (count as f64).sqrt()
    }

    /// What it comes to if it ends now; `None` where fewer than `least` answers came.
    pub(super) fn measure(&self, now: Nanos, least: u64) -> Option<Measure> {
        let length = now.saturating_sub(self.began?);
        let answers = self.times.count();
        if length == Nanos::ZERO || answers < least.max(1) {
            return None;
        }
        Some(Measure {
            rate_per_s: answers as f64 * Nanos::SECOND.0 as f64 / length.0 as f64,
            p50: quantile(&self.times, 0.5),
            p99: quantile(&self.times, 0.99),
        })
    }
}

/// A quantile of times, which within a bucket are taken as evenly spread: what is compared differs by less than a bucket is wide.
fn quantile(times: &Sketch, q: f64) -> Nanos {
    let (rank, mut below) = (q * times.count() as f64, 0.0);
    for (low, high, count) in times.buckets() {
        let count = count as f64;
        if below + count >= rank {
            let width = high.saturating_sub(low).0 as f64;
            return low.saturating_add(Nanos((width * (rank - below) / count) as u64));
        }
        below += count;
    }
    times.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Nanos {
        Nanos::from_micros(us)
    }

    #[test]
    fn what_came_before_it_settled_is_not_counted() {
        let mut stretch = Stretch::new();
        stretch.restart(us(100), Nanos::MAX);
        stretch.wait(us(50));
        stretch.count(us(1));
        assert_eq!(stretch.measure(us(90), 0), None);
        stretch.wait(us(120));
        (0..99).for_each(|n| stretch.count(us(400 + n)));
        stretch.count(us(5_000));
        let measure = stretch.measure(us(1_120), 100).expect("a hundred answers");
        assert_eq!(measure.rate_per_s, 100_000.0, "since the wait, not since it settled");
        assert!(measure.p50.0.abs_diff(us(450).0) < us(1).0, "{measure:?}");
        assert!(measure.p99.0.abs_diff(us(499).0) < us(4).0, "{measure:?}");
        assert_eq!(stretch.measure(us(1_120), 101), None);
        stretch.restart(us(1_120), Nanos::MAX);
        stretch.wait(us(1_120));
        assert_eq!(stretch.measure(us(1_200), 0), None, "nothing came");
    }

    #[test]
    fn a_median_that_rose_is_seen_before_the_end() {
        let slow = |slow: u64, fast: u64| {
            let mut stretch = Stretch::new();
            stretch.restart(us(0), us(550));
            stretch.wait(us(0));
            (0..slow).for_each(|_| stretch.count(us(551)));
            (0..fast).for_each(|_| stretch.count(us(550)));
            stretch.is_slow(128)
        };
        assert!(slow(128, 0));
        assert!(!slow(127, 0), "too few");
        assert!(!slow(64, 64) && !slow(75, 53), "chance");
        assert!(slow(76, 52));
    }
}
