//! `Moment`: how much was due and how much had ended, at some instants of a run.

use super::worked_off::Instant;

/// The most instants at which the backlog is looked at.
const MOMENTS: usize = 40;

/// The state at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moment {
    /// The cell whose end it is.
    pub(super) cell: usize,
    /// Seconds since the first request was due.
    pub(super) at: f64,
    /// Requests due until then.
    pub(super) due: f64,
    /// Requests that ended until then.
    pub(super) ended: f64,
    /// The rate asked in the time before it (1/s).
    pub(super) rate: f64,
    /// How long before the last request that was due then the one was due that is next to end, did they end in their order (s).
    pub(super) delay: f64,
}

impl Moment {
    pub(super) fn backlog(&self) -> f64 {
        (self.due - self.ended).max(0.0)
    }

    pub(super) fn instant(&self) -> Instant {
        Instant { at: self.at, delay: self.delay, waiting: self.backlog(), rate: self.rate }
    }
}

/// The state at the ends of cells, until the last one was due. Cells begin at `start`, each with how many fell due and how many ended.
pub(super) fn moments(
    cells: impl Iterator<Item = (u64, u64)>,
    (start, width): (i64, i64),
    (earliest, latest): (i64, i64),
) -> Vec<Moment> {
    let mut all = vec![Moment::default()];
    let mut last = Moment::default();
    let mut dues = Dues::default();
    let mut end = start;
    for (cell, one) in cells.enumerate() {
        end = end.saturating_add(width);
        let at = end.saturating_sub(earliest) as f64 / 1e9;
        let (due, ended) = (last.due + one.0 as f64, last.ended + one.1 as f64);
        dues.add(at, due);
        last = Moment { cell, at, due, ended, rate: 0.0, delay: dues.since(ended) };
        if end > earliest && end <= latest {
            all.push(last);
        }
    }
    let count = all.len().saturating_sub(1);
    let wanted = count.min(MOMENTS);
    let chosen = (0..=wanted).map(|at| all[at * count / wanted.max(1)]).collect::<Vec<_>>();
    // The rate of a twentieth of the run.
    let back = (wanted / 20).max(1);
    (1..chosen.len())
        .map(|at| {
            let (from, to) = (chosen[at.saturating_sub(back)], chosen[at]);
            Moment { rate: (to.due - from.due) / (to.at - from.at).max(1e-9), ..to }
        })
        .collect()
}

/// When requests were due, as the ends of cells in which some were.
#[derive(Default)]
struct Dues {
    /// The time (s), and how many were due until then.
    steps: Vec<(f64, f64)>,
    /// The step in which the request is due that is next to end.
    next: usize,
}

impl Dues {
    fn add(&mut self, at: f64, due: f64) {
        if self.steps.last().map_or(0.0, |step| step.1) < due {
            self.steps.push((at, due));
        }
    }

    /// The time from when the first request was due that has not ended, where so many have, to when the last one was. `ended` never
    /// falls. Time in which nothing is due does not count: it is no load.
    fn since(&mut self, ended: f64) -> f64 {
        let Some(last) = self.steps.last().filter(|last| last.1 > ended) else { return 0.0 };
        while self.steps[self.next].1 <= ended {
            self.next += 1;
        }
        let (at, due) = self.steps[self.next];
        let (from, before) = self.next.checked_sub(1).map_or((0.0, 0.0), |step| self.steps[step]);
        // Within its cell by the number of the requests, from the end of the cell before it where that had some.
        let share = (ended - before) / (due - before).max(1e-9);
        (last.0 - (from + share * (at - from))).max(0.0)
    }
}
