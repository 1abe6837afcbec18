//! `Grid`: cells of equal width along a run's time. They are one second wide at first; when there would be too many,
//! neighbours are joined and the width doubles, so memory is bounded whatever the run's length. What a cell counts it
//! leaves to others.

use std::collections::VecDeque;
use std::ops::Range;

use stdx::Nanos;

/// The most cells of a grid.
pub const CELLS_MAX: usize = 600;

/// What a cell counts: two neighbours join into one.
pub(crate) trait Joins: Default {
    /// Adds what the neighbour counted.
    fn join(&mut self, other: &Self);
}

/// Cells of equal width without gaps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid<C> {
    /// Unix time (ns) at which cell number 0 begins; cell numbers may be negative.
    origin: i64,
    /// Width of a cell in seconds, a power of two.
    width_s: i64,
    /// The number of the first cell in `cells`.
    first: i64,
    cells: VecDeque<C>,
}

impl<C: Joins> Grid<C> {
    pub(crate) fn new() -> Self {
        Self { origin: 0, width_s: 1, first: 0, cells: VecDeque::new() }
    }

    /// Has a cell begin at this Unix time (ns), as long as there is no cell.
    pub(crate) fn begin_at(&mut self, origin: i64) {
        if self.cells.is_empty() {
            self.origin = origin;
        }
    }

    /// Unix times (ns) from the start of the cell with this index to its end, clamped to 64 bits.
    pub(crate) fn bounds(&self, at: usize) -> Range<i64> {
        let begin = |number: i64| {
            let offset = i128::from(number) * i128::from(self.width_s) * 1_000_000_000;
            (i128::from(self.origin) + offset).clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        begin(self.first + at as i64)..begin(self.first + at as i64 + 1)
    }

    /// The index of the cell of a moment; makes room, joins cells, as needed. Indices given before are void then.
    pub(crate) fn at(&mut self, unix_ns: i64) -> usize {
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
                self.cells.push_front(C::default());
                self.first -= 1;
            }
            let at = (number - self.first) as usize;
            if at >= self.cells.len() {
                self.cells.resize_with(at + 1, C::default);
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
                self.cells[at].join(&cell);
            }
        }
    }

    /// Width of a cell.
    pub(crate) fn width(&self) -> Nanos {
        Nanos::from_secs(self.width_s.unsigned_abs())
    }

    /// The cell with this index.
    pub(crate) fn cell(&mut self, at: usize) -> &mut C {
        &mut self.cells[at]
    }

    /// The cells in order of time; at most [`CELLS_MAX`].
    pub(crate) fn cells(&self) -> impl ExactSizeIterator<Item = &C> + '_ {
        self.cells.iter()
    }
}
