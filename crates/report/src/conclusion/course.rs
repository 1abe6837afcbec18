//! `Course`: how response times went over a run, in three parts of it.

use metrics::{Cell, Timeline};
use stdx::Nanos;

/// Response times in an overloaded open loop grow by `λ/μ - 1` seconds per second, with the rate `λ` of requests and the rate
/// `μ` of answers. A growth below this share is within what a server at its limit does by chance.
const GROWTH_MIN: f64 = 0.02;
/// The last part's median must be this many times the first part's: below it, the growth is small beside the time itself.
const TIMES_MIN: f64 = 2.0;
/// A rise by so much is one, however slow it is: a queue that fills within minutes, a leak.
const RISE_MIN: Nanos = Nanos::SECOND;

/// A third of a run, by the moment requests were due.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Third {
    /// How long it is.
    pub(super) length: Nanos,
    /// Requests that were due in it.
    pub(super) requests: u64,
    /// The median of their response times.
    pub(super) p50: Nanos,
    /// Their 95th percentile.
    pub(super) p95: Nanos,
}

/// Three parts of a run, about a third of it each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Course {
    pub(super) thirds: [Third; 3],
}

impl Course {
    /// `None` where the run is too short for three parts with requests. `earliest` and `latest` are the times (Unix ns) of the
    /// first and the last request that was due: the cells that they are in have requests for a part of their width alone.
    pub(super) fn of(timeline: &Timeline, (earliest, latest): (i64, i64)) -> Option<Self> {
        let timeline = timeline.widened(Nanos::SECOND);
        let cells: Vec<&Cell> = timeline.cells().collect();
        let first = cells.iter().position(|cell| cell.hits > 0)?;
        let last = cells.iter().rposition(|cell| cell.hits > 0)?;
        let count = last - first + 1;
        if count < 3 {
            return None;
        }
        let width = timeline.width().0;
        let begin = |cell: usize| {
            let offset = width.saturating_mul(cell as u64);
            timeline.start().saturating_add_unsigned(offset).clamp(earliest, latest)
        };
        let third = |at: usize| {
            let [from, to] = [at, at + 1].map(|bound| first + count * bound / 3);
            third(&cells[from..to], Nanos(begin(from).abs_diff(begin(to))))
        };
        let thirds = [third(0), third(1), third(2)];
        thirds.iter().all(|third| third.requests > 0).then_some(Self { thirds })
    }

    /// Whether requests were due at about the same rate all the time: no third has a fifth more or less than its share, beyond
    /// three standard deviations of random arrivals.
    pub(super) fn is_even(&self) -> bool {
        let requests: u64 = self.thirds.iter().map(|third| third.requests).sum();
        let length: f64 = self.thirds.iter().map(|third| third.length.as_secs_f64()).sum();
        self.thirds.iter().all(|third| {
            let expected = requests as f64 * third.length.as_secs_f64() / length.max(1e-9);
            let off = (third.requests as f64 - expected).abs();
            off <= 0.2 * expected + 3.0 * expected.sqrt()
        })
    }

    /// Seconds by which the median response time grew per second of the run.
    pub(super) fn growth(&self) -> f64 {
        let [first, middle, last] = self.thirds.map(|third| third.length.as_secs_f64());
        let between = first / 2.0 + middle + last / 2.0;
        let [from, _, to] = self.thirds.map(|third| third.p50.as_secs_f64());
        (to - from) / between.max(1e-9)
    }

    /// Whether response times, or those of the slowest, rose all through the run by more than a second and to several times as much.
    pub(super) fn is_rising(&self) -> bool {
        let rises = |times: [Nanos; 3]| {
            let [first, middle, last] = times.map(|time| time.as_secs_f64());
            let is_much = last - first >= RISE_MIN.as_secs_f64() && last >= TIMES_MIN * first;
            first < middle && middle < last && is_much
        };
        self.is_growing()
            || rises(self.thirds.map(|third| third.p50))
            || rises(self.thirds.map(|third| third.p95))
    }

    /// Whether a backlog grew all through the run, so that each request waited longer than those before it.
    pub(super) fn is_growing(&self) -> bool {
        let [first, middle, last] = self.thirds.map(|third| third.p50.as_secs_f64());
        let rises = first < middle && middle < last && last >= TIMES_MIN * first;
        rises && self.growth() >= GROWTH_MIN
    }
}

fn third(cells: &[&Cell], length: Nanos) -> Third {
    let mut times = metrics::Sketch::new();
    cells.iter().for_each(|cell| times.merge(&cell.response));
    let requests = cells.iter().map(|cell| cell.hits).sum();
    Third { length, requests, p50: times.quantile(0.5), p95: times.quantile(0.95) }
}

#[cfg(test)]
mod tests {
    use metrics::{Batch, Sample};

    use super::*;

    /// A request each 100 ms, from `from_ms` to `to_ms` after the run's start.
    fn course(from_ms: u64, to_ms: u64) -> Option<Course> {
        let due = (from_ms..to_ms).step_by(100).map(Nanos::from_millis);
        let samples = due.map(|intended| Sample {
            intended,
            done: intended,
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        });
        let batch = Batch { epoch: 0, samples: samples.collect(), texts: Vec::new() };
        let mut timeline = Timeline::new();
        timeline.add(&batch);
        let ns = |at: Option<&Sample>| at.unwrap().intended.0.cast_signed();
        Course::of(&timeline, (ns(batch.samples.first()), ns(batch.samples.last())))
    }

    #[test]
    fn a_load_that_begins_within_a_cell_is_even() {
        for (from, to) in [(0, 3_000), (700, 3_800), (900, 6_000), (5_900, 9_200)] {
            let course = course(from, to).unwrap();
            assert!(course.is_even(), "{from} ms to {to} ms: {course:?}");
            let length: u64 = course.thirds.iter().map(|third| third.length.0).sum();
            assert_eq!(
                length,
                (to - from - 100) * 1_000_000,
                "the time in which requests were due"
            );
        }
        assert_eq!(course(0, 1_900), None, "too short for three parts");
    }
}
