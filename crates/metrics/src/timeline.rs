//! `Timeline`: what was seen over time, by the moment a hit was due. Its cells are a sixteenth of a second wide at first and
//! grow wider with the run's length, so that memory is bounded.

use std::ops::Range;

use stdx::Nanos;

use crate::grid::{Grid, Joins};
use crate::{Batch, FailureKind, Outcome, Sample, Sketch};

/// Responses per cell that are enough for a percentile, on average over the cells of [`Timeline::fitted`].
const HITS_WANTED: u64 = 20;
/// Cells that are enough for a curve: [`Timeline::fitted`] has no more, unless they are a second wide.
const CELLS_WANTED: usize = 128;

/// What was seen of the hits that were due in one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Hits, failed ones included.
    pub hits: u64,
    /// Responses that ended in this cell, whenever they were due; those with an error's status included.
    pub answered: u64,
    /// Responses with success that ended in this cell, whenever they were due.
    pub succeeded: u64,
    /// Hits that ended in this cell in any way but a timeout, which takes a hit out of sight and not out of the server's queue.
    pub ended: u64,
    /// Hits not answered with success.
    pub errors: u64,
    /// Request body bytes.
    pub bytes_out: u64,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Response times, to 1 %.
    pub response: Sketch,
}

/// What was seen over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    grid: Grid<Cell>,
}

impl Timeline {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self { grid: Grid::narrow() }
    }

    /// Counts every sample of a batch. The first batch's epoch is where a cell begins.
    pub fn add(&mut self, batch: &Batch) {
        self.add_samples(batch.epoch, &batch.samples);
    }

    /// Counts samples with times from this epoch on (Unix time in ns).
    pub fn add_samples<'a>(&mut self, epoch: i64, samples: impl IntoIterator<Item = &'a Sample>) {
        self.grid.begin_at(epoch);
        let unix_ns = |time: Nanos| epoch.saturating_add_unsigned(time.0);
        // Neighbours in a batch mostly share their cells; then the cells' bounds spare the divisions.
        let (mut due, mut done) = (Place::default(), Place::default());
        for sample in samples {
            if due.moves_to(unix_ns(sample.intended), &mut self.grid) {
                done = Place::default();
            }
            self.grid.cell(due.at).record(sample);
            if sample.failure == FailureKind::Timeout {
                continue;
            }
            if done.moves_to(unix_ns(sample.done), &mut self.grid) {
                due = Place::default();
            }
            self.grid.cell(done.at).end(sample);
        }
    }

    /// The same with cells at least this wide.
    #[must_use]
    pub fn widened(&self, width: Nanos) -> Self {
        Self { grid: self.grid.widened(width) }
    }

    /// The same with cells that suit a curve: narrow ones for a short run, but of 20 hits on average, and 128 at most. Cells
    /// wider than a second stay as they are.
    #[must_use]
    pub fn fitted(&self) -> Self {
        let hits: u64 = self.cells().map(|cell| cell.hits).sum();
        let (narrow, mut times) = (self.cells().len(), 1);
        while self.width().0 * times < Nanos::SECOND.0 {
            let cells = narrow.div_ceil(times as usize);
            if cells <= CELLS_WANTED && hits >= HITS_WANTED * cells as u64 {
                break;
            }
            times *= 2;
        }
        self.widened(Nanos(self.width().0 * times))
    }

    /// Width of a cell.
    #[must_use]
    pub fn width(&self) -> Nanos {
        self.grid.width()
    }

    /// Unix time (ns) at which the first cell begins.
    #[must_use]
    pub fn start(&self) -> i64 {
        self.grid.bounds(0).start
    }

    /// The cells in order of time without gaps, each [`Timeline::width`] wide; at most [`crate::CELLS_MAX`].
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &Cell> + '_ {
        self.grid.cells()
    }
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new()
    }
}

/// A cell that was found, and the moments that belong to it.
#[derive(Default)]
struct Place {
    bounds: Range<i64>,
    at: usize,
}

impl Place {
    /// Finds the cell of a moment; `true` where every other place is void now.
    fn moves_to(&mut self, unix_ns: i64, grid: &mut Grid<Cell>) -> bool {
        if self.bounds.contains(&unix_ns) {
            return false;
        }
        let layout = grid.layout();
        self.at = grid.at(unix_ns);
        self.bounds = grid.bounds(self.at);
        layout != grid.layout()
    }
}

impl Cell {
    fn record(&mut self, sample: &Sample) {
        self.hits += 1;
        self.errors += u64::from(!sample.is_success());
        self.bytes_out = self.bytes_out.saturating_add(sample.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(sample.bytes_in);
        self.response.record(sample.response());
    }

    fn end(&mut self, sample: &Sample) {
        self.ended += 1;
        self.answered += u64::from(sample.outcome != Outcome::None);
        self.succeeded += u64::from(sample.is_success());
    }
}

impl Joins for Cell {
    fn join(&mut self, other: &Self) {
        self.hits += other.hits;
        self.answered += other.answered;
        self.succeeded += other.succeeded;
        self.ended += other.ended;
        self.errors += other.errors;
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.response.merge(&other.response);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::CELLS_MAX;

    fn batch(epoch: i64, intended_ms: &[u64]) -> Batch {
        let sample = |&at: &u64| Sample {
            intended: Nanos(at * 1_000_000),
            done: Nanos((at + 20) * 1_000_000),
            bytes_in: 7,
            outcome: Outcome::Http(200),
            ..Sample::default()
        };
        Batch { epoch, samples: intended_ms.iter().map(sample).collect(), texts: Vec::new() }
    }

    fn hits(timeline: &Timeline) -> Vec<u64> {
        timeline.cells().map(|cell| cell.hits).collect()
    }

    fn by_second(timeline: &Timeline) -> Vec<u64> {
        hits(&timeline.widened(Nanos::SECOND))
    }

    #[test]
    fn seconds_begin_with_the_run() {
        let mut timeline = Timeline::new();
        timeline.add(&batch(500, &[0, 999, 1000, 3500]));
        assert_eq!(by_second(&timeline), [2, 1, 0, 1]);
        assert_eq!((timeline.start(), timeline.width()), (500, Nanos(62_500_000)));
        timeline.add(&batch(500 - 2_000_000_000, &[0]));
        assert_eq!(by_second(&timeline), [1, 0, 2, 1, 0, 1]);
        assert_eq!(timeline.start(), 500 - 2_000_000_000);
        let p50 = timeline.cells().next().map(|cell| cell.response.quantile(0.5));
        assert_eq!(p50, Some(Nanos::from_millis(20)));
    }

    #[test]
    fn long_runs_have_wider_cells() {
        let mut timeline = Timeline::new();
        let day: Vec<u64> = (0..86_400).map(|second| second * 1000).collect();
        timeline.add(&batch(0, &day));
        assert!(timeline.cells().len() <= CELLS_MAX);
        assert_eq!(timeline.width(), Nanos::from_secs(256));
        assert!(
            timeline.cells().take(300).all(|cell| cell.hits == 256 && cell.bytes_in == 7 * 256)
        );
    }

    /// A stall that began at 1.5 s of a 3 s run was drawn as a climb from 0 s to 2 s: cells were a second wide.
    #[test]
    fn short_runs_have_narrow_cells() {
        let at_200: Vec<u64> = (0..600).map(|n| n * 5).collect();
        let mut timeline = Timeline::new();
        timeline.add(&batch(0, &at_200));
        let fitted = timeline.fitted();
        assert_eq!(fitted.width(), Nanos::from_millis(125), "25 hits a cell");
        assert!(fitted.cells().take(24).all(|cell| cell.hits == 25));
        let first: Vec<u64> = fitted.cells().take(2).map(|cell| cell.hits).collect();
        timeline.add(&batch(-60_000_000, &[0]));
        let begins: Vec<u64> = timeline.fitted().cells().take(2).map(|cell| cell.hits).collect();
        assert_eq!(
            (first, begins),
            (vec![25, 25], vec![14, 25]),
            "the first cell begins with the run"
        );
        let mut slow = Timeline::new();
        slow.add(&batch(0, &[0, 500, 1000, 1500, 2000, 2500]));
        assert_eq!(slow.fitted().width(), Nanos::SECOND, "a percentile needs hits");
        let mut long = Timeline::new();
        long.add(&batch(0, &(0..60_000).collect::<Vec<u64>>()));
        assert_eq!(
            long.fitted().width(),
            Nanos::from_millis(500),
            "half a minute has 60 cells, a minute 121"
        );
    }

    #[test]
    fn responses_count_when_they_end() {
        let sample = |due: u64, took: u64, status: u16| Sample {
            intended: Nanos::from_millis(due),
            done: Nanos::from_millis(due + took),
            outcome: Outcome::http(status),
            ..Sample::default()
        };
        let mut samples = vec![sample(100, 2000, 200), sample(200, 100, 500), sample(300, 2500, 0)];
        samples.push(Sample { failure: FailureKind::Timeout, ..sample(400, 300, 0) });
        let mut timeline = Timeline::new();
        timeline.add(&Batch { epoch: 0, samples, texts: Vec::new() });
        let wide = timeline.widened(Nanos::SECOND);
        let counts: Vec<[u64; 4]> = wide
            .cells()
            .map(|cell| [cell.hits, cell.answered, cell.succeeded, cell.ended])
            .collect();
        assert_eq!(counts, [[4, 1, 0, 1], [0; 4], [0, 1, 1, 2]], "a timeout ends nothing");
    }

    #[test]
    fn absurd_times_end() {
        let mut timeline = Timeline::new();
        for epoch in [0, i64::MAX, i64::MIN, -1] {
            timeline.add(&batch(epoch, &[0]));
        }
        assert_eq!(hits(&timeline).iter().sum::<u64>(), 4);
        assert!(timeline.cells().len() <= CELLS_MAX);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(times in prop::collection::vec(0u64..10_000_000, 1..200)) {
            let mut timeline = Timeline::new();
            timeline.add(&batch(0, &times));
            prop_assert_eq!(hits(&timeline).iter().sum::<u64>(), times.len() as u64);
            prop_assert!(timeline.cells().len() <= CELLS_MAX);
            let (start, width) = (timeline.start() as u64, timeline.width().0);
            for (at, cell) in (0u64..).zip(timeline.cells()) {
                let range = start + at * width..start + (at + 1) * width;
                let inside = times.iter().filter(|&&time| range.contains(&(time * 1_000_000))).count();
                prop_assert_eq!(cell.hits, inside as u64);
                let ended = |time: &&u64| range.contains(&((**time + 20) * 1_000_000));
                prop_assert_eq!(cell.answered, times.iter().filter(ended).count() as u64);
            }
        }
    }
}
