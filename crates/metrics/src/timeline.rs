//! `Timeline`: what was seen second by second, by the moment a hit was due. Cells are one second wide at first; when there
//! would be too many, neighbours are joined and the width doubles, so memory is bounded whatever the run's length.

use std::collections::VecDeque;

use stdx::Nanos;

use crate::{Batch, Sample, Sketch};

/// The most cells of a timeline.
pub const CELLS_MAX: usize = 600;

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Unix time (ns) at which cell number 0 begins; cell numbers may be negative.
    origin: i64,
    /// Width of a cell in seconds, a power of two.
    width_s: i64,
    /// The number of the first cell in `cells`.
    first: i64,
    cells: VecDeque<Cell>,
}

impl Timeline {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self { width_s: 1, ..Self::default() }
    }

    /// Counts every sample of a batch. The first batch's epoch is where a cell begins.
    pub fn add(&mut self, batch: &Batch) {
        if self.cells.is_empty() {
            self.origin = batch.epoch;
        }
        for sample in &batch.samples {
            let at = self.at(batch.epoch.saturating_add_unsigned(sample.intended.0));
            self.cells[at].record(sample);
        }
    }

    /// The index in `cells` of a moment; makes room, joins cells, as needed.
    fn at(&mut self, unix_ns: i64) -> usize {
        loop {
            let number = self.number(unix_ns);
            if self.cells.is_empty() {
                self.first = number;
            }
            let last = self.first + self.cells.len() as i64 - 1;
            if number.max(last) - number.min(self.first) >= CELLS_MAX as i64 {
                self.double();
                continue;
            }
            while number < self.first {
                self.cells.push_front(Cell::default());
                self.first -= 1;
            }
            let at = (number - self.first) as usize;
            if at >= self.cells.len() {
                self.cells.resize_with(at + 1, Cell::default);
            }
            return at;
        }
    }

    fn number(&self, unix_ns: i64) -> i64 {
        let offset = i128::from(unix_ns) - i128::from(self.origin);
        let seconds = offset.div_euclid(1_000_000_000) as i64;
        seconds.div_euclid(self.width_s)
    }

    /// Joins neighbours: cells `2k` and `2k + 1` become cell `k`.
    fn double(&mut self) {
        let (first, old) = (self.first, std::mem::take(&mut self.cells));
        self.width_s *= 2;
        self.first = first.div_euclid(2);
        for (number, cell) in (first..).zip(old) {
            let at = (number.div_euclid(2) - self.first) as usize;
            if at == self.cells.len() {
                self.cells.push_back(cell);
            } else {
                self.cells[at].merge(&cell);
            }
        }
    }

    /// Width of a cell.
    #[must_use]
    pub fn width(&self) -> Nanos {
        Nanos::from_secs(self.width_s.unsigned_abs())
    }

    /// Unix time (ns) at which the first cell begins.
    #[must_use]
    pub fn start(&self) -> i64 {
        let offset = i128::from(self.first) * i128::from(self.width_s) * 1_000_000_000;
        (i128::from(self.origin) + offset).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// The cells in order of time without gaps, each [`Timeline::width`] wide; at most [`CELLS_MAX`].
    pub fn cells(&self) -> impl ExactSizeIterator<Item = &Cell> + '_ {
        self.cells.iter()
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

    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.errors += other.errors;
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.response.merge(&other.response);
    }
}
