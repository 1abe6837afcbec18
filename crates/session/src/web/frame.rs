//! `Frame`: what happened in one period of a run, as the live page gets it. Frames merge: their counts add up.

use metrics::Snapshot;
use serde_json::{Value, json};
use stdx::Nanos;

/// Rows of the heat map are so many times as high as the ones below them.
const ROW: f64 = 1.05;
/// The lowest row ends at this time (ns).
const ROW_LEAST: f64 = 1000.0;
/// Quantiles that a frame has.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// What happened in one period.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Frame {
    /// From when, since the run's start.
    pub(super) from: Nanos,
    /// Until when.
    pub(super) to: Nanos,
    /// Requests that fell due; `None` where the load has no rate.
    pub(super) due: Option<u64>,
    pub(super) sent: u64,
    pub(super) ended: u64,
    pub(super) succeeded: u64,
    pub(super) under_way: u64,
    pub(super) bytes_in: u64,
    /// Time of CPU that the workers used.
    pub(super) cpu: Nanos,
    /// Response times: the rows of the heat map and their counts, by rising row.
    pub(super) heat: Vec<(u16, u64)>,
    /// [`QUANTILES`] and the maximum, of a frame that was not merged (ns).
    pub(super) times: Option<[u64; 5]>,
    /// What was read of the servers, by line of the page's charts.
    pub(super) server: Vec<Option<f64>>,
}

impl Frame {
    /// The period of a snapshot, after a period that had ended with this many requests due and sent and this much CPU time.
    pub(super) fn of(snapshot: &Snapshot, before: &Totals, has_rate: bool) -> Self {
        let generator = &snapshot.generator;
        let response = &snapshot.response;
        let quantiles = QUANTILES.map(|q| response.quantile(q).0);
        let [p50, p90, p95, p99] = quantiles;
        let since = |now: u64, before: u64| now.saturating_sub(before);
        Self {
            from: snapshot.from,
            to: snapshot.to,
            due: has_rate.then(|| since(generator.planned, before.planned)),
            sent: since(generator.sent, before.sent),
            ended: snapshot.hits(),
            succeeded: snapshot.successes,
            under_way: snapshot.in_flight,
            bytes_in: snapshot.wire_in.max(snapshot.bytes_in),
            cpu: generator.cpu.saturating_sub(before.cpu),
            heat: heat(response),
            times: (snapshot.hits() > 0).then(|| [p50, p90, p95, p99, response.max().0]),
            server: Vec::new(),
        }
    }

    /// This period and the one after it as one.
    pub(super) fn and(&self, next: &Self) -> Self {
        let due = self.due.zip(next.due).map(|(one, other)| one + other);
        let mut heat = self.heat.clone();
        for &(row, count) in &next.heat {
            match heat.binary_search_by_key(&row, |(row, _)| *row) {
                Ok(at) => heat[at].1 += count,
                Err(at) => heat.insert(at, (row, count)),
            }
        }
        Self {
            from: self.from,
            to: next.to,
            due,
            sent: self.sent + next.sent,
            ended: self.ended + next.ended,
            succeeded: self.succeeded + next.succeeded,
            under_way: next.under_way,
            bytes_in: self.bytes_in + next.bytes_in,
            cpu: self.cpu.saturating_add(next.cpu),
            heat,
            times: None,
            server: means(&self.server, &next.server),
        }
    }

    /// For the page: times in nanoseconds, the period in seconds.
    pub(super) fn json(&self) -> Value {
        let heat: Vec<u64> =
            self.heat.iter().flat_map(|(row, count)| [u64::from(*row), *count]).collect();
        json!({
            "from": self.from.as_secs_f64(),
            "to": self.to.as_secs_f64(),
            "due": self.due,
            "sent": self.sent,
            "ended": self.ended,
            "ok": self.succeeded,
            "underWay": self.under_way,
            "bytes": self.bytes_in,
            "cpu": self.cpu.as_secs_f64(),
            "heat": heat,
            "times": self.times,
            "server": self.server,
        })
    }
}

/// The means of two periods, by line; those of one where the other has none.
fn means(one: &[Option<f64>], next: &[Option<f64>]) -> Vec<Option<f64>> {
    let at = |values: &[Option<f64>], line: usize| values.get(line).copied().flatten();
    let lines = one.len().max(next.len());
    let mean = |line| match (at(one, line), at(next, line)) {
        (Some(one), Some(next)) => Some(f64::midpoint(one, next)),
        (one, next) => one.or(next),
    };
    (0..lines).map(mean).collect()
}

/// Counts from the run's start at the end of a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    planned: u64,
    sent: u64,
    cpu: Nanos,
}

impl Totals {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let generator = &snapshot.generator;
        Self { planned: generator.planned, sent: generator.sent, cpu: generator.cpu }
    }
}

/// The rows of the heat map.
fn heat(response: &metrics::Histogram) -> Vec<(u16, u64)> {
    let mut rows: Vec<(u16, u64)> = Vec::new();
    for (low, high, count) in response.buckets() {
        let middle = (low.0 as f64 + high.0 as f64) / 2.0;
        let row = (middle.max(ROW_LEAST) / ROW_LEAST).ln() / ROW.ln();
        let row = row as u16;
        match rows.last_mut() {
            Some((last, sum)) if *last == row => *sum += count,
            _ => rows.push((row, count)),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use metrics::Sample;

    use super::*;

    #[test]
    fn frames_merge_without_loss() {
        let mut snapshot = Snapshot::new();
        for millis in [1, 1, 5, 200] {
            let done = Nanos::from_millis(millis);
            snapshot.record(&Sample {
                done,
                outcome: metrics::Outcome::Http(200),
                ..Sample::default()
            });
        }
        (snapshot.from, snapshot.to) = (Nanos::ZERO, Nanos::from_secs(1));
        let one = Frame::of(&snapshot, &Totals::default(), false);
        let one = Frame { server: vec![Some(1.0), None], ..one };
        assert_eq!((one.ended, one.succeeded, one.due), (4, 4, None));
        assert_eq!(one.times.unwrap()[4] / 1_000_000, 200);
        let rows: Vec<u16> = one.heat.iter().map(|(row, _)| *row).collect();
        // 1 ms is 1.05^141.6 µs, 5 ms 1.05^174.6 µs, 200 ms 1.05^250.2 µs.
        assert_eq!(rows, [141, 174, 250]);
        let server = vec![Some(3.0), None, Some(7.0)];
        let both = one.and(&Frame { from: one.to, to: Nanos::from_secs(2), server, ..one.clone() });
        assert_eq!(both.server, [Some(2.0), None, Some(7.0)]);
        let total: u64 = both.heat.iter().map(|(_, count)| count).sum();
        assert_eq!((both.ended, total, both.times, both.to), (8, 8, None, Nanos::from_secs(2)));
    }
}
