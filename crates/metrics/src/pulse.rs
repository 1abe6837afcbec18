//! `Pulse`: how many hits ended in each tenth of a second, and the rates that follow from it. Where a run is long, neighbours
//! are joined and the cells grow, so memory is bounded.

use std::collections::BTreeMap;

use stdx::Nanos;

/// Cells of a [`Pulse`] at most: ten minutes of tenths of a second with a hit in each.
const PULSE_CELLS_MAX: usize = 6000;
/// Width of a cell at first.
const WIDTH: Nanos = Nanos::from_millis(100);

/// Hits that ended, by the tenth of a second (or more, in a long run) in which they did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// Unix time (ns) at which cell number 0 begins, once there is a hit.
    origin: Option<i64>,
    width: Nanos,
    /// The cells that saw a hit, by number.
    cells: BTreeMap<i64, u64>,
    /// The cell of the last hits and their number, not yet in `cells`: neighbours mostly share it.
    current: (i64, u64),
}

impl Pulse {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self { origin: None, width: WIDTH, cells: BTreeMap::new(), current: (0, 0) }
    }

    /// Counts a hit of a run that began at `epoch` and that ended at `done`, both Unix time (ns).
    pub(crate) fn count(&mut self, epoch: i64, done: i64) {
        let origin = *self.origin.get_or_insert(epoch);
        let number = number(done, origin, self.width);
        if self.current.0 != number {
            self.keep_current();
            // Keeping it may have widened the cells.
            self.current.0 = self::number(done, origin, self.width);
        }
        self.current.1 += 1;
    }

    fn keep_current(&mut self) {
        let (number, hits) = std::mem::take(&mut self.current);
        if hits > 0 {
            *self.cells.entry(number).or_default() += hits;
        }
        while self.cells.len() > PULSE_CELLS_MAX {
            self.width = Nanos(self.width.0.saturating_mul(2));
            for (number, hits) in std::mem::take(&mut self.cells) {
                *self.cells.entry(number.div_euclid(2)).or_default() += hits;
            }
        }
    }

    /// Width of a cell.
    #[must_use]
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// Hits per second, one sample for each cell with a hit that was over at `end` (Unix time, ns): its hits divided by the
    /// time since the last such cell's end. Empty cells thus lower the next sample and are none themselves, as in wrk. A run
    /// too short for any has one sample, over its whole time.
    #[must_use]
    pub fn rates(&self, end: i64) -> Vec<f64> {
        let mut all = self.clone();
        all.keep_current();
        let Some(origin) = all.origin else { return Vec::new() };
        let over = number(end, origin, all.width);
        let (mut rates, mut since) =
            (Vec::new(), all.cells.keys().next().map_or(0, |k| (*k).min(0)));
        for (&number, &hits) in all.cells.range(..over) {
            let cells = (number + 1 - since).max(1);
            rates.push(hits as f64 / (cells as f64 * all.width.as_secs_f64()));
            since = number + 1;
        }
        if rates.is_empty() {
            let hits: u64 = all.cells.values().sum();
            let time = Nanos(u64::try_from(end.saturating_sub(origin)).unwrap_or(0));
            rates.extend((time > Nanos::ZERO).then(|| hits as f64 / time.as_secs_f64()));
        }
        rates
    }
}

impl Default for Pulse {
    fn default() -> Self {
        Self::new()
    }
}

/// The number of the cell in which a moment lies.
fn number(at: i64, origin: i64, width: Nanos) -> i64 {
    let offset = i128::from(at) - i128::from(origin);
    offset.div_euclid(i128::from(width.0)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPOCH: i64 = 1_700_000_000_000_000_000;

    fn pulse(ends_ms: impl IntoIterator<Item = i64>) -> Pulse {
        let mut pulse = Pulse::new();
        ends_ms.into_iter().for_each(|ms| pulse.count(EPOCH, EPOCH + ms * 1_000_000));
        pulse
    }

    fn rates(pulse: &Pulse, end_ms: i64) -> Vec<f64> {
        pulse.rates(EPOCH + end_ms * 1_000_000)
    }

    #[test]
    fn a_sample_for_each_tenth_of_a_second_that_is_over() {
        let pulse = pulse([1, 2, 3, 99, 100, 205, 206]);
        assert_eq!(rates(&pulse, 250), [40.0, 10.0]);
        assert_eq!(rates(&pulse, 300), [40.0, 10.0, 20.0]);
    }

    #[test]
    fn empty_cells_lower_the_next_sample() {
        assert_eq!(rates(&pulse([1000]), 1100), [1.0 / 1.1]);
        assert_eq!(rates(&pulse([50, 450]), 500), [10.0, 2.5]);
    }

    #[test]
    fn few_hits_have_a_rate_too() {
        assert_eq!(rates(&pulse([10, 20]), 50), [40.0]);
        assert!(rates(&pulse([]), 50).is_empty());
        assert!(rates(&pulse([0]), 0).is_empty());
    }

    #[test]
    fn a_day_is_bounded_and_whole() {
        let day = pulse((0..864_000).map(|tenth| tenth * 100));
        assert!(day.cells.len() <= PULSE_CELLS_MAX, "{}", day.cells.len());
        let rates = rates(&day, 86_400_000);
        assert!(rates.iter().all(|rate| (rate - 10.0).abs() < 1e-9), "{:?}", day.width());
    }

    #[test]
    fn absurd_times_end() {
        let mut pulse = Pulse::new();
        for done in [i64::MIN, i64::MAX, 0] {
            pulse.count(0, done);
        }
        assert!(pulse.rates(i64::MAX).iter().all(|rate| rate.is_finite()));
    }
}
