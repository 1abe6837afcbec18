//! `Timeline`: what was seen second by second, by the moment a hit was due. Its cells grow wider with the run's length, so
//! that memory is bounded.

use stdx::Nanos;

use crate::grid::{Grid, Joins};
use crate::{Batch, Sample, Sketch};

/// What was seen of the hits that were due in one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Hits, failed ones included.
    pub hits: u64,
    /// Hits not answered with a status in 200..400.
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
        Self { grid: Grid::new() }
    }

    /// Counts every sample of a batch. The first batch's epoch is where a cell begins.
    pub fn add(&mut self, batch: &Batch) {
        self.grid.begin_at(batch.epoch);
        // Neighbours in a batch mostly share a cell; then the cell's bounds spare the divisions.
        let (mut bounds, mut at) = (0..0, 0);
        for sample in &batch.samples {
            let unix_ns = batch.epoch.saturating_add_unsigned(sample.intended.0);
            if !bounds.contains(&unix_ns) {
                at = self.grid.at(unix_ns);
                bounds = self.grid.bounds(at);
            }
            self.grid.cell(at).record(sample);
        }
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

impl Cell {
    fn record(&mut self, sample: &Sample) {
        self.hits += 1;
        self.errors += u64::from(!sample.is_success());
        self.bytes_out = self.bytes_out.saturating_add(sample.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(sample.bytes_in);
        self.response.record(sample.response());
    }
}

impl Joins for Cell {
    fn join(&mut self, other: &Self) {
        self.hits += other.hits;
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
            status: 200,
            ..Sample::default()
        };
        Batch { epoch, samples: intended_ms.iter().map(sample).collect(), texts: Vec::new() }
    }

    fn hits(timeline: &Timeline) -> Vec<u64> {
        timeline.cells().map(|cell| cell.hits).collect()
    }

    #[test]
    fn seconds_begin_with_the_run() {
        let mut timeline = Timeline::new();
        timeline.add(&batch(500, &[0, 999, 1000, 3500]));
        assert_eq!(hits(&timeline), [2, 1, 0, 1]);
        assert_eq!((timeline.start(), timeline.width()), (500, Nanos::SECOND));
        timeline.add(&batch(500 - 2_000_000_000, &[0]));
        assert_eq!(hits(&timeline), [1, 0, 2, 1, 0, 1]);
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
            }
        }
    }
}
