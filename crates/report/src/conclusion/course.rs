//! `Course`: how response times went over a run, in three parts of it.

use metrics::{Cell, Timeline};
use stdx::Nanos;

/// Response times in an overloaded open loop grow by `λ/μ - 1` seconds per second, with the rate `λ` of requests and the rate
/// `μ` of answers. A growth below this share is within what a server at its limit does by chance.
const GROWTH_MIN: f64 = 0.02;
/// The last part's median must be this many times the first part's: below it, the growth is small beside the time itself.
const TIMES_MIN: f64 = 2.0;

/// A third of a run, by the moment requests were due.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Third {
    /// How long it is.
    pub(super) length: Nanos,
    /// Requests that were due in it.
    pub(super) requests: u64,
    /// The median of their response times.
    pub(super) p50: Nanos,
}

/// Three parts of a run, about a third of it each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Course {
    pub(super) thirds: [Third; 3],
}

impl Course {
    /// `None` where the run is too short for three parts with requests. `duration` is the time in which requests were due.
    pub(super) fn of(timeline: &Timeline, duration: Nanos) -> Option<Self> {
        let timeline = timeline.widened(Nanos::SECOND);
        let cells: Vec<&Cell> = timeline.cells().collect();
        let last = cells.iter().rposition(|cell| cell.hits > 0)?;
        let cells = &cells[..=last];
        let count = cells.len();
        if count < 3 {
            return None;
        }
        let width = timeline.width();
        let bounds = [0, count / 3, count * 2 / 3, count];
        let third = |at: usize| {
            let all = &cells[bounds[at]..bounds[at + 1]];
            let until = Nanos(width.0.saturating_mul(bounds[at + 1] as u64)).min(duration);
            let from = Nanos(width.0.saturating_mul(bounds[at] as u64));
            third(all, until.saturating_sub(from))
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
    Third { length, requests, p50: times.quantile(0.5) }
}
