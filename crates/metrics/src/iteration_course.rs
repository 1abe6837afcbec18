//! `IterationCourse`: how many iterations of scripts fell due by an arrival rate, and how many ended, over a run. Rows have requests
//! alone, of which a slow iteration sends fewer, so that they show no backlog of iterations.

use stdx::Nanos;

/// Cells of a course, at most; a longer run has wider ones.
const CELLS_MAX: usize = 128;
/// Width of a cell at first.
const WIDTH: Nanos = Nanos::from_millis(100);

/// Iterations in a span of a run, or until a moment of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IterationCounts {
    /// Fell due, whether or not they were begun.
    pub due: u64,
    /// Came to their end.
    pub ended: u64,
}

impl IterationCounts {
    fn add(&mut self, other: Self) {
        self.due = self.due.saturating_add(other.due);
        self.ended = self.ended.saturating_add(other.ended);
    }

    fn since(self, before: Self) -> Self {
        Self {
            due: self.due.saturating_sub(before.due),
            ended: self.ended.saturating_sub(before.ended),
        }
    }
}

/// Iterations by the time of the run at which they fell due or ended. Courses of workers can be merged, since their cells begin with the
/// run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IterationCourse {
    /// Each is twice as wide as at first, or four times, and so on.
    doublings: u32,
    cells: Vec<IterationCounts>,
}

impl IterationCourse {
    /// The course of these cells; `None` where no course has such.
    #[must_use]
    pub fn from_cells(width: Nanos, cells: Vec<IterationCounts>) -> Option<Self> {
        let doublings = (width.0 / WIDTH.0).checked_ilog2()?;
        let is_one = width.0 == WIDTH.0 << doublings && cells.len() <= CELLS_MAX;
        is_one.then_some(Self { doublings, cells })
    }

    /// Nothing fell due.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Width of a cell.
    #[must_use]
    pub fn width(&self) -> Nanos {
        Nanos(WIDTH.0 << self.doublings)
    }

    /// The cells from the run's start on.
    #[must_use]
    pub fn cells(&self) -> &[IterationCounts] {
        &self.cells
    }

    /// All iterations.
    #[must_use]
    pub fn total(&self) -> IterationCounts {
        self.cells.iter().fold(IterationCounts::default(), |mut sum, cell| {
            sum.add(*cell);
            sum
        })
    }

    /// Counts what came at this time of the run.
    fn count(&mut self, at: Nanos, counts: IterationCounts) {
        while at.0 / self.width().0 >= CELLS_MAX as u64 {
            self.widen();
        }
        let cell = (at.0 / self.width().0) as usize;
        self.reach(cell + 1);
        self.cells[cell].add(counts);
    }

    fn reach(&mut self, cells: usize) {
        if self.cells.len() < cells {
            self.cells.resize(cells, IterationCounts::default());
        }
    }

    fn widen(&mut self) {
        for pair in 0..self.cells.len().div_ceil(2) {
            let mut cell = self.cells[2 * pair];
            cell.add(self.cells.get(2 * pair + 1).copied().unwrap_or_default());
            self.cells[pair] = cell;
        }
        self.cells.truncate(self.cells.len().div_ceil(2));
        self.doublings += 1;
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        let doublings = self.doublings.max(other.doublings);
        for course in [&mut *self, &mut other] {
            (course.doublings..doublings).for_each(|_| course.widen());
        }
        self.reach(other.cells.len());
        self.cells.iter_mut().zip(&other.cells).for_each(|(cell, more)| cell.add(*more));
    }
}

/// A worker's course while it is under way.
#[derive(Clone, Debug, Default)]
pub struct IterationMeter {
    course: IterationCourse,
    seen: IterationCounts,
}

impl IterationMeter {
    /// So many fell due and ended until now, from the run's start on.
    pub fn note(&mut self, now: Nanos, until_now: IterationCounts) {
        if until_now != self.seen {
            self.course.count(now, until_now.since(self.seen));
            self.seen = until_now;
        }
    }

    /// What was noted.
    #[must_use]
    pub fn course(&self) -> &IterationCourse {
        &self.course
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(due: u64, ended: u64) -> IterationCounts {
        IterationCounts { due, ended }
    }

    /// One iteration a second falls due, and ends a second later.
    fn course(seconds: u64) -> IterationCourse {
        let mut meter = IterationMeter::default();
        for second in 0..seconds {
            meter.note(Nanos::from_secs(second), counts(second + 1, second));
        }
        meter.course().clone()
    }

    #[test]
    fn a_course_is_bounded_and_whole() {
        let short = course(10);
        assert_eq!((short.width(), short.cells().len()), (WIDTH, 91));
        assert_eq!((short.cells()[0], short.cells()[10]), (counts(1, 0), counts(1, 1)));
        let long = course(3_600);
        assert!(long.cells().len() <= CELLS_MAX && long.cells().len() >= CELLS_MAX / 2);
        assert_eq!(long.total(), counts(3_600, 3_599));
    }

    #[test]
    fn courses_of_any_width_can_be_merged() {
        let (short, long) = (course(10), course(3_600));
        for (mut one, other) in [(short.clone(), &long), (long.clone(), &short)] {
            one.merge(other);
            assert_eq!((one.total(), one.width()), (counts(3_610, 3_608), long.width()));
            assert_eq!(one.cells()[0], counts(62, 60), "of 51.2 s");
        }
        let mut none = IterationCourse::default();
        none.merge(&short);
        assert_eq!(none, short);
    }

    #[test]
    fn only_what_can_be_a_course_is_one() {
        let long = course(3_600);
        let again = IterationCourse::from_cells(long.width(), long.cells().to_vec());
        assert_eq!(again, Some(long));
        for (width, cells) in [(0, 1), (1, 1), (150_000_000, 1), (100_000_000, 129)] {
            let cells = vec![counts(1, 1); cells];
            assert_eq!(IterationCourse::from_cells(Nanos(width), cells), None, "{width}");
        }
        let far = IterationCourse::from_cells(Nanos(u64::MAX), Vec::new());
        assert_eq!(far, None);
    }
}
