//! `Traffic`: the load generator's work on the wire, from its rows: how many hits were under way second by second, and how its
//! sends were spaced. Memory is bounded; what exceeds a bound is counted.

use stdx::Nanos;

use crate::grid::{Grid, Joins};
use crate::{Batch, Histogram, Outcome, Sample};

/// The most sends whose order is not settled yet; up to twice as many wait, of 8 bytes each. Rows come in the order in which their
/// hits ended, and each worker's once a second, so sends come out of order; one that comes later than this many others is
/// [`Sends::late`].
pub const SENDS_WINDOW: usize = 256 << 10;
/// The window of a single worker's sends at first. It is doubled whenever a send comes later than half of it. A short run at
/// 200,000/s spent 3 % of its CPU time on touching 4 MiB for the first time.
const SENDS_WINDOW_FIRST: usize = 32 << 10;

/// How many hits were under way, and how sends were spaced.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// Hits under way over time.
    pub in_flight: InFlight,
    /// The time from send to send.
    pub sends: Sends,
}

impl Traffic {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same of a single worker, whose rows come as their hits end: sends wait in less memory, as long as they come nearly in
    /// order. A send that comes later than 32,768 others when none did before may be [`Sends::late`].
    #[must_use]
    pub fn of_one_worker() -> Self {
        Self { sends: Sends::with_window(SENDS_WINDOW_FIRST), ..Self::default() }
    }

    /// Counts every sample of a batch. Where it is not known when requests were sent, call [`InFlight::add`] of
    /// [`Traffic::in_flight`] instead: the gaps between sends would be made up.
    pub fn add(&mut self, batch: &Batch) {
        self.in_flight.add(batch);
        self.sends.add(batch);
    }
}

/// Hits under way over time: from when a hit was due until it ended. Its mean over the run is the `N` of Little's law.
#[derive(Clone, Debug, PartialEq)]
pub struct InFlight {
    grid: Grid<Busy>,
    /// Unix time (ns) from the first due hit to the last end.
    from: i64,
    to: i64,
}

/// Nanoseconds of hits that lie in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Busy(u128);

impl Joins for Busy {
    fn join(&mut self, other: &Self) {
        self.0 += other.0;
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self { grid: Grid::narrow(), from: i64::MAX, to: i64::MIN }
    }
}

impl InFlight {
    /// Counts every sample of a batch.
    pub fn add(&mut self, batch: &Batch) {
        self.grid.begin_at(batch.epoch);
        // Most hits lie in the cell in which the one before them ended; then its bounds spare the divisions.
        let (mut bounds, mut at) = (0..0, 0);
        for sample in &batch.samples {
            let unix_ns = |time: Nanos| batch.epoch.saturating_add_unsigned(time.0);
            let (from, to) = (unix_ns(sample.intended), unix_ns(sample.done));
            (self.from, self.to) = (self.from.min(from), self.to.max(to));
            if bounds.contains(&from) && bounds.contains(&to) {
                self.grid.cell(at).0 += u128::from(to.abs_diff(from));
            } else {
                at = self.add_span(from, to);
                bounds = self.grid.bounds(at);
            }
        }
    }

    /// Adds a hit to all its cells; returns the index of the last one.
    fn add_span(&mut self, from: i64, to: i64) -> usize {
        // The later moment first: making room for it may join cells, and void the other's index.
        self.grid.at(to);
        let mut at = self.grid.at(from);
        let mut begin = from;
        loop {
            let end = self.grid.bounds(at).end;
            let until = end.min(to);
            self.grid.cell(at).0 += u128::from(until.abs_diff(begin));
            if to <= end || end == i64::MAX {
                return at;
            }
            (begin, at) = (end, at + 1);
        }
    }

    /// The same with cells at least this wide.
    #[must_use]
    pub fn widened(&self, width: Nanos) -> Self {
        Self { grid: self.grid.widened(width), ..self.clone() }
    }

    /// Width of a cell.
    #[must_use]
    pub fn width(&self) -> Nanos {
        self.grid.width()
    }

    /// Hits under way on average, cell by cell in order of time; the first and the last cell count as far as the run
    /// reached into them.
    pub fn cells(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.grid.cells().enumerate().map(|(at, busy)| {
            let bounds = self.grid.bounds(at);
            let (from, to) = (bounds.start.max(self.from), bounds.end.min(self.to));
            let width = i128::from(to) - i128::from(from);
            if width <= 0 { 0.0 } else { busy.0 as f64 / width as f64 }
        })
    }
}

/// The time from one send to the next, over all connections and workers of the run.
#[derive(Clone, Debug)]
pub struct Sends {
    /// From each send to the one after it.
    pub gaps: Histogram,
    /// Sends that came too late to be put in order; they are in no gap.
    pub late: u64,
    /// Unix times (ns) that are not in `gaps` yet.
    waiting: Vec<i64>,
    /// The last so many wait until there are twice as many.
    window: usize,
    last: Option<i64>,
}

impl Default for Sends {
    fn default() -> Self {
        Self::with_window(SENDS_WINDOW)
    }
}

impl Sends {
    fn with_window(window: usize) -> Self {
        let (gaps, waiting) = (Histogram::default(), Vec::new());
        Self { gaps, late: 0, waiting, window, last: None }
    }

    fn add(&mut self, batch: &Batch) {
        let sent = batch.samples.iter().filter(|sample| was_sent(sample));
        for sample in sent {
            if self.waiting.len() == 2 * self.window {
                self.make_room();
            }
            self.waiting.push(batch.epoch.saturating_add_unsigned(sample.sent.0));
        }
    }

    /// Counts the gaps of the first half, or widens the window where sends come too much out of order for it.
    fn make_room(&mut self) {
        if self.window < SENDS_WINDOW && self.is_scattered() {
            self.window = (2 * self.window).min(SENDS_WINDOW);
        } else {
            self.settle(self.window);
        }
    }

    /// Whether a send of the newer half comes later than half a window of others: fewer than that were sent before it.
    fn is_scattered(&self) -> bool {
        let (older, newer) = self.waiting.split_at(self.window);
        let earliest = newer.iter().min().copied().unwrap_or(i64::MAX);
        older.iter().filter(|time| **time < earliest).count() < self.window / 2
    }

    /// Counts the gaps between all but the last so many sends.
    fn settle(&mut self, unsettled: usize) {
        // Rows come nearly in order, which a sort that detects runs exploits.
        self.waiting.sort();
        let settled = self.waiting.len().saturating_sub(unsettled);
        for time in self.waiting.drain(..settled) {
            match self.last {
                Some(last) if time < last => {
                    self.late += 1;
                    self.window = SENDS_WINDOW;
                }
                Some(last) => {
                    self.gaps.record(Nanos(time.abs_diff(last)));
                    self.last = Some(time);
                }
                None => self.last = Some(time),
            }
        }
    }

    /// The same with every send so far in its gap. More may come after it, to the original.
    #[must_use]
    pub fn settled(&self) -> Self {
        let mut all = self.clone();
        all.settle(0);
        all
    }

    /// The gaps' coefficient of variation: standard deviation by mean. 0 for a metronome, 1 for a Poisson stream, more for
    /// bursts; 0 without gaps.
    #[must_use]
    pub fn variation(&self) -> f64 {
        let mean = self.gaps.sum() as f64 / self.gaps.count().max(1) as f64;
        if mean == 0.0 { 0.0 } else { self.gaps.stddev_ns() / mean }
    }
}

/// The send time of a hit without a request on the wire is its end.
fn was_sent(sample: &Sample) -> bool {
    sample.sent < sample.done || sample.outcome != Outcome::None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hit(intended_ms: u64, took_ms: u64) -> Sample {
        let intended = Nanos::from_millis(intended_ms);
        let done = intended + Nanos::from_millis(took_ms);
        Sample { intended, sent: intended, done, outcome: Outcome::Http(200), ..Sample::default() }
    }

    fn batch(epoch: i64, samples: Vec<Sample>) -> Batch {
        Batch { epoch, samples, texts: Vec::new() }
    }

    fn seen(samples: Vec<Sample>) -> Traffic {
        let mut traffic = Traffic::new();
        traffic.add(&batch(0, samples));
        traffic
    }

    #[test]
    fn hits_under_way_second_by_second() {
        // Two hits over the first second, one of them half a second into the next; then a rest; then three for 100 ms.
        let mut hits = vec![hit(0, 1000), hit(0, 1500)];
        hits.extend([hit(3000, 100), hit(3000, 100), hit(3000, 100)]);
        let in_flight = seen(hits).in_flight.widened(Nanos::SECOND);
        let cells: Vec<f64> = in_flight.cells().collect();
        assert_eq!(cells, [2.0, 0.5, 0.0, 3.0]);
    }

    #[test]
    fn absurd_times_end() {
        let mut traffic = Traffic::new();
        for epoch in [0, i64::MAX, i64::MIN, -1] {
            let all = Sample { done: Nanos::MAX, ..Sample::default() };
            traffic.add(&batch(epoch, vec![all, hit(0, 1)]));
        }
        assert!(traffic.in_flight.cells().len() <= crate::CELLS_MAX);
        assert!(traffic.in_flight.cells().all(f64::is_finite));
    }

    #[test]
    fn a_metronome_has_no_variation() {
        let sends = seen((0..100).rev().map(|n| hit(n * 20, 5)).collect()).sends.settled();
        assert_eq!((sends.gaps.count(), sends.late), (99, 0));
        assert_eq!((sends.gaps.min(), sends.gaps.max()), (Nanos(20_000_000), Nanos(20_000_000)));
        assert!(sends.variation() < 1e-3, "{}", sends.variation());
    }

    #[test]
    fn a_poisson_stream_has_a_variation_of_one() {
        let mut rng = stdx::Prng::new(3);
        let mut at = 0.0;
        let hits = (0..100_000).map(|_| {
            at += rng.exponential() * 1e6;
            let sent = Nanos(at as u64);
            Sample {
                intended: sent,
                sent,
                done: sent + Nanos(9),
                outcome: Outcome::Http(200),
                ..Sample::default()
            }
        });
        let sends = seen(hits.collect()).sends.settled();
        assert!((sends.variation() - 1.0).abs() < 0.02, "{}", sends.variation());
        assert!((sends.gaps.mean().as_millis_f64() - 1.0).abs() < 0.02);
    }

    #[test]
    fn what_was_not_sent_is_no_send() {
        let refused =
            Sample { outcome: Outcome::None, sent: Nanos(7), done: Nanos(7), ..Sample::default() };
        assert_eq!(seen(vec![hit(0, 5), refused, hit(2, 5)]).sends.settled().gaps.count(), 1);
    }

    /// 1,024 hits, a millisecond apart.
    fn thousand(from: usize) -> Batch {
        batch(0, (from as u64..).take(1 << 10).map(|n| hit(n, 1)).collect())
    }

    #[test]
    fn the_window_of_one_worker_widens_where_sends_come_out_of_order() {
        for (apart, window) in [(0, SENDS_WINDOW_FIRST), (20 << 10, 2 * SENDS_WINDOW_FIRST)] {
            let mut traffic = Traffic::of_one_worker();
            // Two streams of answers, one of which is so many sends ahead of the other.
            for at in (0..512 << 10).step_by(1 << 10) {
                traffic.add(&thousand(apart + at));
                if at >= apart {
                    traffic.add(&thousand(at));
                }
            }
            assert_eq!((traffic.sends.window, traffic.sends.settled().late), (window, 0));
        }
    }

    #[test]
    fn a_late_send_widens_the_window_of_one_worker_at_once() {
        let mut traffic = Traffic::of_one_worker();
        (1..=65).for_each(|at| traffic.add(&thousand(at << 10)));
        assert_eq!(traffic.sends.waiting.len(), SENDS_WINDOW_FIRST + (1 << 10));
        traffic.add(&thousand(0));
        (66..200).for_each(|at| traffic.add(&thousand(at << 10)));
        assert_eq!((traffic.sends.late, traffic.sends.window), (1 << 10, SENDS_WINDOW));
        (200..2000).for_each(|at| traffic.add(&thousand(at << 10)));
        assert!(traffic.sends.waiting.len() <= 2 * SENDS_WINDOW);
        assert!(traffic.sends.waiting.len() >= SENDS_WINDOW);
    }

    #[test]
    fn a_send_that_comes_too_late_is_counted() {
        let mut traffic = Traffic::new();
        let thousands = 2 * SENDS_WINDOW / (1 << 10) + 2;
        (1..=thousands).for_each(|at| traffic.add(&thousand(at << 10)));
        assert!(traffic.sends.waiting.len() <= 2 * SENDS_WINDOW);
        traffic.add(&thousand(0));
        let sends = traffic.sends.settled();
        assert_eq!(sends.late, 1 << 10);
        assert_eq!(sends.gaps.max(), Nanos::MILLI);
    }

    proptest! {
        #[test]
        fn no_hit_is_lost(hits in prop::collection::vec((0u64..2_000_000, 0u64..90_000), 1..60)) {
            let traffic = seen(hits.iter().map(|&(at, took)| hit(at, took)).collect());
            let busy: u128 = traffic.in_flight.grid.cells().map(|busy| busy.0).sum();
            let sum: u64 = hits.iter().map(|hit| hit.1 * 1_000_000).sum();
            prop_assert_eq!(busy, u128::from(sum));
            prop_assert_eq!(traffic.sends.settled().gaps.count() + 1, hits.len() as u64);
        }
    }
}
