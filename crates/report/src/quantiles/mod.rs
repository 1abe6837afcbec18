//! How far quantiles of the response times may lie from what a run shows; none of a run that was not stationary, of a part of the
//! requests, and of several runs.

mod block_means;

use metrics::{Sketch, Timeline};
use stdx::Nanos;

use self::block_means::{BLOCKS, interval, is_stationary};
pub(crate) use self::block_means::{Interval, LEVEL};
use crate::Input;

/// The quantiles, with their names and their keys in JSON.
const QUANTILES: [(&str, &str, f64); 5] = [
    ("50", "50th", 0.5),
    ("90", "90th", 0.9),
    ("95", "95th", 0.95),
    ("99", "99th", 0.99),
    ("99.9", "99.9th", 0.999),
];

/// A quantile with its interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantileBounds {
    pub(crate) name: &'static str,
    pub(crate) key: &'static str,
    pub(crate) value: Nanos,
    pub(crate) interval: Option<Interval>,
}

/// The interval of the 95th percentile by the response times alone, whatever the load was.
pub(crate) fn of_p95(input: &Input<'_>) -> Option<Interval> {
    of_blocks(input)?.into_iter().find(|one| one.name == "95")?.interval
}

/// The quantiles with their intervals by the response times alone, whatever the load was; `None` where no run as a whole was seen
/// over time.
pub(crate) fn of_blocks(input: &Input<'_>) -> Option<Vec<QuantileBounds>> {
    let summary = input.summary;
    let is_whole = summary.apart == Nanos::ZERO && input.selected.is_empty();
    let timeline = input.timeline.filter(|_| is_whole && summary.requests > 0)?;
    let blocks = blocks(timeline);
    let all = &summary.response;
    let is_steady = is_stationary(&blocks, all);
    let cut = summary.timed_out_from.map(|from| from.0);
    let of = |(name, key, q): &(&'static str, &'static str, f64)| {
        let value = all.quantile(*q);
        let is_cut = |time: Nanos| cut.is_some_and(|from| time.0 as f64 >= from.0 as f64 * 0.999);
        let found = interval(&blocks, all, *q).filter(|_| is_steady && !is_cut(value));
        let interval =
            found.map(|one| Interval { high: one.high.filter(|at| !is_cut(*at)), ..one });
        QuantileBounds { name, key, value, interval }
    };
    Some(QUANTILES.iter().map(of).collect())
}

/// The response times in blocks of about as many hits, in the order in which they were due.
fn blocks(timeline: &Timeline) -> Vec<Sketch> {
    let all: u64 = timeline.cells().map(|cell| cell.hits).sum();
    let mut blocks = vec![Sketch::new(); BLOCKS];
    let mut before = 0;
    for cell in timeline.cells().filter(|cell| cell.hits > 0) {
        // By the middle of the cell.
        let at = (2 * before + cell.hits) * BLOCKS as u64 / (2 * all.max(1));
        blocks[(at as usize).min(BLOCKS - 1)].merge(&cell.response);
        before += cell.hits;
    }
    blocks.retain(|block| block.count() > 0);
    blocks
}
