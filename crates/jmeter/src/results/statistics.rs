//! `Statistics`: what JMeter's dashboard says of each label, as `statistics.json` has it.

use std::collections::BTreeMap;

use stdx::MemoryShare;

use super::sample::{SampleKind, SampleResult};

/// What is known of each label.
#[derive(Debug, Default)]
pub struct Statistics {
    labels: BTreeMap<String, Label>,
    /// Bytes of the labels' names and times.
    bytes: usize,
    share: MemoryShare,
    left_out: u64,
}

/// Labels at most; what has another, or one that there is no memory for, is in the total alone.
const LABELS_MAX: usize = 10_000;
/// Times from which percentiles are made: of the last samples.
const TIMES_MAX: usize = 20_000;
/// Bytes of the first times of a label.
const TIMES_FIRST_BYTES: usize = 4 * size_of::<u32>();
/// The sum of all labels.
const TOTAL: &str = "Total";

#[derive(Clone, Debug, Default)]
struct Label {
    count: u64,
    errors: u64,
    sum_ms: u64,
    min_ms: Option<u64>,
    max_ms: u64,
    received: u64,
    sent: u64,
    began_ms: Option<i64>,
    ended_ms: i64,
    /// The last times, the oldest overwritten.
    times: Vec<u32>,
}

impl Label {
    /// Counts a sample; by how many bytes the times have grown.
    fn add(&mut self, sample: &SampleResult) -> usize {
        let (time, before) =
            (u32::try_from(sample.elapsed_ms).unwrap_or(u32::MAX), self.times.capacity());
        match self.times.len() {
            TIMES_MAX => self.times[(self.count % TIMES_MAX as u64) as usize] = time,
            _ => self.times.push(time),
        }
        self.count += 1;
        self.errors += u64::from(!sample.is_success);
        self.sum_ms += sample.elapsed_ms;
        self.min_ms = Some(self.min_ms.unwrap_or(u64::MAX).min(sample.elapsed_ms));
        self.max_ms = self.max_ms.max(sample.elapsed_ms);
        self.received += sample.bytes();
        self.sent += sample.sent_bytes;
        self.began_ms = Some(self.began_ms.unwrap_or(i64::MAX).min(sample.start_ms));
        self.ended_ms = self.ended_ms.max(sample.end_ms());
        (self.times.capacity() - before) * size_of::<u32>()
    }

    /// Names and values in JMeter's order, but for the label's name.
    fn fields(&self) -> Vec<(&'static str, f64)> {
        let mut times = self.times.clone();
        times.sort_unstable();
        let took_s =
            self.began_ms.map_or(0, |began| (self.ended_ms - began).max(1)) as f64 / 1000.0;
        let per_s = |amount: f64| if took_s > 0.0 { amount / took_s } else { 0.0 };
        let count = self.count.max(1) as f64;
        vec![
            ("sampleCount", self.count as f64),
            ("errorCount", self.errors as f64),
            ("errorPct", self.errors as f64 * 100.0 / count),
            ("meanResTime", self.sum_ms as f64 / count),
            ("medianResTime", percentile(&times, 50.0)),
            ("minResTime", self.min_ms.unwrap_or(0) as f64),
            ("maxResTime", self.max_ms as f64),
            ("pct1ResTime", percentile(&times, 90.0)),
            ("pct2ResTime", percentile(&times, 95.0)),
            ("pct3ResTime", percentile(&times, 99.0)),
            ("throughput", per_s(self.count as f64)),
            ("receivedKBytesPerSec", per_s(self.received as f64 / 1024.0)),
            ("sentKBytesPerSec", per_s(self.sent as f64 / 1024.0)),
        ]
    }
}

/// A percentile of sorted values, as Apache's library for mathematics has it.
fn percentile(sorted: &[u32], percent: f64) -> f64 {
    let Some(last) = sorted.last() else { return 0.0 };
    let place = percent / 100.0 * (sorted.len() as f64 + 1.0);
    let at = place.floor() as usize;
    if at == 0 {
        return f64::from(sorted[0]);
    }
    if at >= sorted.len() {
        return f64::from(*last);
    }
    let (low, high) = (f64::from(sorted[at - 1]), f64::from(sorted[at]));
    low + (place - at as f64) * (high - low)
}

impl Statistics {
    /// Counts a sample, and those below it.
    pub fn add(&mut self, sample: &SampleResult) {
        self.add_to(&sample.label, sample);
        if sample.kind != SampleKind::Transaction {
            self.add_to(TOTAL, sample);
        }
        sample.children.iter().for_each(|child| self.add(child));
    }

    fn add_to(&mut self, name: &str, sample: &SampleResult) {
        if let Some(label) = self.labels.get_mut(name) {
            self.bytes += label.add(sample);
            // Times of labels that are there stay within their own bound.
            return self.share.hold(self.bytes);
        }
        let bytes = self.bytes + name.len() + size_of::<Label>() + TIMES_FIRST_BYTES;
        let has_room = self.labels.len() < LABELS_MAX && self.share.resize(bytes).is_ok();
        if name != TOTAL && !has_room {
            self.left_out += 1;
            return;
        }
        self.bytes = bytes;
        self.labels.entry(name.to_owned()).or_default().add(sample);
    }

    /// The labels with the names and values of their statistics.
    pub fn rows(&self) -> impl Iterator<Item = (&str, Vec<(&'static str, f64)>)> {
        self.labels.iter().map(|(name, label)| (name.as_str(), label.fields()))
    }

    /// Samples that are in the total alone, since there was no room for their labels.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_their_figures() {
        let mut statistics = Statistics::default();
        for (at, elapsed_ms) in [10, 20, 30, 40].into_iter().enumerate() {
            statistics.add(&SampleResult {
                label: "a".to_owned(),
                start_ms: at as i64 * 1000,
                elapsed_ms,
                is_success: at != 3,
                ..SampleResult::default()
            });
        }
        let kind = SampleKind::Transaction;
        statistics.add(&SampleResult { label: "t".to_owned(), kind, ..SampleResult::default() });
        let rows: Vec<(&str, Vec<(&str, f64)>)> = statistics.rows().collect();
        let names: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["Total", "a", "t"]);
        let value = |row: usize, name: &str| {
            rows[row].1.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        assert_eq!([value(0, "sampleCount"), value(1, "errorPct")], [Some(4.0), Some(25.0)]);
        assert_eq!([value(1, "medianResTime"), value(1, "pct1ResTime")], [Some(25.0), Some(40.0)]);
        assert_eq!(percentile(&[], 50.0), 0.0);
    }
}
