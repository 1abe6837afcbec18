//! `Statistics`: what JMeter's dashboard says of each label, as `statistics.json` has it.

use std::collections::BTreeMap;

use super::sample::{SampleKind, SampleResult};

/// What is known of each label.
#[derive(Clone, Debug, Default)]
pub struct Statistics(BTreeMap<String, Label>);

/// Labels at most; what has another is in the total alone.
const LABELS_MAX: usize = 10_000;
/// Times from which percentiles are made: of the last samples.
const TIMES_MAX: usize = 20_000;
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
    fn add(&mut self, sample: &SampleResult) {
        let time = u32::try_from(sample.elapsed_ms).unwrap_or(u32::MAX);
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
        if self.0.len() < LABELS_MAX || self.0.contains_key(&sample.label) {
            self.0.entry(sample.label.clone()).or_default().add(sample);
        }
        if sample.kind != SampleKind::Transaction {
            self.0.entry(TOTAL.to_owned()).or_default().add(sample);
        }
        sample.children.iter().for_each(|child| self.add(child));
    }

    /// The labels with the names and values of their statistics.
    pub fn rows(&self) -> impl Iterator<Item = (&str, Vec<(&'static str, f64)>)> {
        self.0.iter().map(|(name, label)| (name.as_str(), label.fields()))
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
