//! Whether response times were the same all through a run, and `Steady`: how many requests would have ended by when, if they were. A
//! server that is overloaded changes them, in whatever order it takes its queue: the first third of the requests waits less than the
//! last one, or where the newest are taken first, those of it that wait do so for longer.

use metrics::{FailureKind, Histogram, Sketch, Summary, Timeline};
use stdx::Nanos;

/// How long the requests of a run took. Those that timed out never ended.
pub(super) struct Waits<'a> {
    response: &'a Histogram,
    ended: u64,
}

impl<'a> Waits<'a> {
    pub(super) fn of(summary: &'a Summary) -> Self {
        let timeouts = summary.failures[FailureKind::Timeout as usize];
        let response = &summary.response;
        Self { response, ended: response.count().saturating_sub(timeouts) }
    }

    pub(super) fn has_timeouts(&self) -> bool {
        self.ended < self.response.count()
    }

    /// The share of the requests that end within this time. Timeouts are taken for the longest.
    fn within(&self, time: Nanos) -> f64 {
        let below = self.response.count_below(time).min(self.ended);
        below as f64 / self.response.count().max(1) as f64
    }
}

/// The number of requests that have ended by the end of each cell of a timeline.
pub(super) struct Steady {
    ended: Vec<f64>,
}

impl Steady {
    pub(super) fn of(timeline: &Timeline, waits: &Waits<'_>) -> Self {
        let width = timeline.width().0;
        let hits: Vec<f64> = timeline.cells().map(|cell| cell.hits as f64).collect();
        // Requests are due in the middle of their cell.
        let age =
            |cells: usize| Nanos(width.saturating_mul(cells as u64).saturating_add(width / 2));
        let within: Vec<f64> = (0..hits.len()).map(|cells| waits.within(age(cells))).collect();
        let at = |cell: usize| (0..=cell).map(|due| hits[due] * within[cell - due]).sum();
        Self { ended: (0..hits.len()).map(at).collect() }
    }

    /// By the end of this cell.
    pub(super) fn ended(&self, cell: usize) -> f64 {
        self.ended.get(cell).copied().unwrap_or(0.0)
    }
}

/// Times that differ by less than this factor are alike.
const ALIKE: f64 = 1.1;
/// The least distance of two distributions that is beyond chance, by the root of the mean number of their values (two-sample test of
/// Kolmogorov and Smirnov; 2.2 % of alike ones are farther apart).
const DISTANCE: f64 = 1.5;
/// Means that are farther apart than so many standard errors differ. Where a server takes the newest first, a few requests of each
/// third wait, which the distance of the distributions hardly shows.
const MEANS: f64 = 3.0;

/// Whether the response times of the first and of the last third of the requests that were due are alike, as far as chance allows.
pub(super) fn is_alike(timeline: &Timeline) -> bool {
    let (first, last) = thirds(timeline);
    let allowed = allowed(&first, &last);
    lead(&first, &last).max(lead(&last, &first)) <= allowed && are_means_alike(&first, &last)
}

/// The requests of the last third took longer than those of the first, beyond chance.
pub(super) fn is_slower(timeline: &Timeline) -> bool {
    let (first, last) = thirds(timeline);
    let is_mean_higher = last.mean() > first.mean() && !are_means_alike(&first, &last);
    lead(&first, &last) > allowed(&first, &last) || is_mean_higher
}

/// The response times of the first and of the last third of the requests that were due.
fn thirds(timeline: &Timeline) -> (Sketch, Sketch) {
    let all: u64 = timeline.cells().map(|cell| cell.hits).sum();
    let (mut first, mut last, mut seen) = (Sketch::new(), Sketch::new(), 0);
    for cell in timeline.cells() {
        match seen {
            few if 3 * (few + cell.hits) <= all => first.merge(&cell.response),
            many if 3 * many >= 2 * all => last.merge(&cell.response),
            _ => {}
        }
        seen += cell.hits;
    }
    (first, last)
}

fn allowed(first: &Sketch, last: &Sketch) -> f64 {
    let (some, others) = (first.count() as f64, last.count() as f64);
    DISTANCE * ((some + others) / (some * others).max(1.0)).sqrt()
}

fn are_means_alike(some: &Sketch, others: &Sketch) -> bool {
    let variance = |of: &Sketch| of.stddev_ns().powi(2) / of.count().max(1) as f64;
    let apart = some.mean().0.abs_diff(others.mean().0) as f64;
    let scale = (ALIKE - 1.0) * some.mean().max(others.mean()).0 as f64;
    apart <= scale.max(MEANS * (variance(some) + variance(others)).sqrt())
}

/// By how much the share of values within a time is greater among `quick` than among `slow` within [`ALIKE`] times as long, at most.
fn lead(quick: &Sketch, slow: &Sketch) -> f64 {
    let within = |of: &Sketch, time: f64| {
        of.count_below(Nanos((time as u64).saturating_add(1))) as f64 / of.count().max(1) as f64
    };
    let leads = quick
        .buckets()
        .map(|(_, high, _)| within(quick, high.0 as f64) - within(slow, ALIKE * high.0 as f64));
    leads.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A results file may say that a request took as long as a number can say.
    #[test]
    fn the_longest_time_is_compared_too() {
        let (mut some, mut others) = (Sketch::new(), Sketch::new());
        some.record(Nanos(u64::MAX));
        others.record(Nanos(1));
        assert_eq!((lead(&some, &others), lead(&others, &some)), (0.0, 1.0));
    }
}
