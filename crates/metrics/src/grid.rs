//! `Grid`: cells of equal width along a run's time. They are a second wide at first, or a sixteenth of one; when there would
//! be too many, neighbours are joined and the width doubles, so memory is bounded whatever the run's length. What a cell
//! counts it leaves to others.

use std::collections::VecDeque;
use std::ops::Range;

use stdx::Nanos;

/// The most cells of a grid.
pub const CELLS_MAX: usize = 600;
/// The most cells narrower than a second: they are for the details of short runs, and each takes memory.
const NARROW_MAX: usize = 160;
const SECOND_NS: i64 = 1_000_000_000;
/// The least width of a cell; a second is this times a power of two.
const NARROWEST_NS: i64 = SECOND_NS / 16;

/// What a cell counts: two neighbours join into one.
pub(crate) trait Joins: Default {
    /// Adds what the neighbour counted.
    fn join(&mut self, other: &Self);
}

/// The number of the first cell, and the width of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    first: i64,
    width_ns: i64,
}

/// Cells of equal width without gaps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grid<C> {
    /// Unix time (ns) at which cell number 0 begins; cell numbers may be negative.
    origin: i64,
    /// Width of a cell: [`NARROWEST_NS`] times a power of two.
    width_ns: i64,
    /// The number of the first cell in `cells`.
    first: i64,
    cells: VecDeque<C>,
}

impl<C: Joins> Grid<C> {
    /// Without cells; the first are a second wide.
    pub(crate) fn new() -> Self {
        Self { origin: 0, width_ns: SECOND_NS, first: 0, cells: VecDeque::new() }
    }

    /// Without cells; the first are a sixteenth of a second wide.
    pub(crate) fn narrow() -> Self {
        Self { width_ns: NARROWEST_NS, ..Self::new() }
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
            let offset = i128::from(number) * i128::from(self.width_ns);
            (i128::from(self.origin) + offset).clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        begin(self.first + at as i64)..begin(self.first + at as i64 + 1)
    }

    /// What the indices of cells depend on: as long as it is the same, an index is that of the same cell.
    pub(crate) fn layout(&self) -> Layout {
        Layout { first: self.first, width_ns: self.width_ns }
    }

    /// The index of the cell of a moment; makes room, joins cells, as needed. Indices given before are void then, if the
    /// [layout](Self::layout) is another one.
    pub(crate) fn at(&mut self, unix_ns: i64) -> usize {
        loop {
            let number = self.number(unix_ns);
            if self.cells.is_empty() {
                self.first = number;
            }
            let last = self.first + self.cells.len() as i64 - 1;
            let most = if self.width_ns < SECOND_NS { NARROW_MAX } else { CELLS_MAX };
            if number.max(last) - number.min(self.first) >= most as i64 {
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
        offset.div_euclid(i128::from(self.width_ns)) as i64
    }

    /// Joins neighbours: cells `2k` and `2k + 1` become cell `k`.
    fn double(&mut self) {
        let (first, old) = (self.first, std::mem::take(&mut self.cells));
        self.width_ns *= 2;
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
        Nanos(self.width_ns.unsigned_abs())
    }

    /// The same with cells at least this wide, the first of which begins with the first cell: joined with a neighbour before
    /// it, it would be filled in part.
    pub(crate) fn widened(&self, width: Nanos) -> Self
    where
        C: Clone,
    {
        let mut wide = self.clone();
        if wide.width() < width {
            (wide.origin, wide.first) = (self.bounds(0).start, 0);
        }
        while wide.width() < width {
            wide.double();
        }
        wide
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
