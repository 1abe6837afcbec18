//! `Summariser`: the lines that JMeter prints while a test goes on and at its end.

use super::sample::{SampleKind, SampleResult};

/// Counts of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Totals {
    /// Samples.
    pub count: u64,
    /// Those that failed.
    pub errors: u64,
    /// The sum of their times, in milliseconds.
    sum_ms: u64,
    min_ms: i64,
    max_ms: i64,
    began_ms: Option<i64>,
    ended_ms: i64,
}

impl Default for Totals {
    /// As Java's longs begin.
    fn default() -> Self {
        Self {
            count: 0,
            errors: 0,
            sum_ms: 0,
            min_ms: i64::MAX,
            max_ms: i64::MIN,
            began_ms: None,
            ended_ms: 0,
        }
    }
}

impl Totals {
    fn add(&mut self, sample: &SampleResult) {
        let (count, errors) = sample.counts;
        self.count += count.max(1);
        self.errors += errors.max(u64::from(!sample.is_success));
        self.sum_ms += sample.elapsed_ms;
        self.min_ms = self.min_ms.min(sample.elapsed_ms as i64);
        self.max_ms = self.max_ms.max(sample.elapsed_ms as i64);
        let began = self.began_ms.get_or_insert(sample.start_ms);
        *began = (*began).min(sample.start_ms);
        self.ended_ms = self.ended_ms.max(sample.end_ms());
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.sum_ms += other.sum_ms;
        self.min_ms = self.min_ms.min(other.min_ms);
        self.max_ms = self.max_ms.max(other.max_ms);
        self.began_ms = self.began_ms.into_iter().chain(other.began_ms).min();
        self.ended_ms = self.ended_ms.max(other.ended_ms);
    }

    /// The line of these counts; `sign` is `+` for a part and `=` for all.
    fn line(&self, name: &str, sign: char) -> String {
        let took_ms = self.began_ms.map_or(0, |began| (self.ended_ms - began).max(0)) as u64;
        let seconds = (took_ms + 500) / 1000;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let rate = match took_ms {
            0 => "******".to_owned(),
            took => format!("{:.1}", self.count as f64 * 1000.0 / took as f64),
        };
        let average = self.sum_ms.checked_div(self.count).unwrap_or_default();
        let (min, max) = (self.min_ms, self.max_ms.max(if self.count == 0 { i64::MIN } else { 0 }));
        let share = match self.count {
            0 => "0.00%".to_owned(),
            count => format!("{:.2}%", self.errors as f64 * 100.0 / count as f64),
        };
        format!(
            "{name} {sign} {:6} in {hours:02}:{minutes:02}:{:02} = {rate:>6}/s Avg: {average:5} Min: {min:5} Max: {max:5} Err: {:5} ({share})",
            self.count,
            seconds % 60,
            self.errors,
        )
    }
}

/// The lines that JMeter prints.
#[derive(Clone, Debug, Default)]
pub struct Summariser {
    name: String,
    part: Totals,
    before: Totals,
    parts: u32,
    has_any: bool,
}

impl Summariser {
    /// Of a name: `summary`.
    #[must_use]
    pub fn new(name: String) -> Self {
        Self { name, ..Self::default() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Counts a sample. Transactions are not counted.
    pub fn add(&mut self, sample: &SampleResult) {
        self.has_any = true;
        if sample.kind != SampleKind::Transaction {
            self.part.add(sample);
        }
    }

    /// The lines of a part of the run, and of all so far; none where nothing was counted. `threads` are those at work, begun and ended.
    pub fn report(&mut self, threads: (u64, u64, u64)) -> Vec<String> {
        if self.part.count == 0 {
            return Vec::new();
        }
        let part = std::mem::take(&mut self.part);
        self.before.merge(&part);
        self.parts += 1;
        let (active, started, finished) = threads;
        let line = part.line(&self.name, '+');
        let mut lines =
            vec![format!("{line} Active: {active} Started: {started} Finished: {finished}")];
        if self.parts > 1 {
            lines.push(self.before.line(&self.name, '='));
        }
        lines
    }

    /// The lines at the end: of the last part, where there were others before it, and of all.
    pub fn finish(&mut self, threads: (u64, u64, u64)) -> Vec<String> {
        let mut lines = if self.parts > 0 { self.report(threads) } else { Vec::new() };
        self.before.merge(&std::mem::take(&mut self.part));
        if self.before.count == 0 && self.has_any {
            return lines;
        }
        lines.retain(|line| line.contains(" + "));
        lines.push(self.before.line(&self.name, '='));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(start_ms: i64, elapsed_ms: u64, is_success: bool) -> SampleResult {
        SampleResult { start_ms, elapsed_ms, is_success, ..SampleResult::default() }
    }

    #[test]
    fn lines_have_jmeters_widths() {
        let mut summariser = Summariser::new("summary".to_owned());
        summariser.add(&sample(0, 10, true));
        summariser.add(&sample(1000, 1000, false));
        assert_eq!(
            summariser.finish((0, 1, 1)),
            [
                "summary =      2 in 00:00:02 =    1.0/s Avg:   505 Min:    10 Max:  1000 Err:     1 (50.00%)"
            ]
        );
        let empty = Summariser::new("summary".to_owned()).finish((0, 0, 0));
        assert_eq!(
            empty,
            [
                "summary =      0 in 00:00:00 = ******/s Avg:     0 Min: 9223372036854775807 Max: -9223372036854775808 Err:     0 (0.00%)"
            ]
        );
    }

    #[test]
    fn parts_are_followed_by_all() {
        let mut summariser = Summariser::new("s".to_owned());
        summariser.add(&sample(0, 1, true));
        assert_eq!(summariser.report((1, 1, 0)).len(), 1);
        summariser.add(&sample(5, 1, true));
        let lines = summariser.finish((0, 1, 1));
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("s +") && lines[1].starts_with("s =      2"), "{lines:?}");
    }
}
