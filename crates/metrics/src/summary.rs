//! `Summary`: the figures of a report, by Vegeta's definitions, built from batches of samples. It has counts and two
//! histograms, so its memory does not grow with the run; it formats nothing.

use std::collections::{BTreeMap, HashMap};

use stdx::Nanos;

use crate::{
    Batch, FailureCounts, FailureKind, FailureReason, Histogram, Outcome, OutcomeCounts,
    STATUS_MAX, Sample, Snapshot,
};

/// Error texts at most; hits with other texts are counted in [`Summary::errors_more`].
pub const ERRORS_MAX: usize = 1000;

/// Bytes of an error's text or of a group's key, at most: a file of another's may have texts of megabytes, a thousand of them.
pub(crate) const TEXT_MAX: usize = 4 << 10;

/// A text as far as figures keep it.
pub(crate) fn cut(text: &[u8]) -> &[u8] {
    &text[..text.len().min(TEXT_MAX)]
}

/// Response times stored individually, for [`Summary::quantile_between`] of few hits.
const FEW_MAX: usize = 100;

/// The figures of a report. Summaries of several inputs merge.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Hits, failed ones included.
    pub requests: u64,
    /// Hits answered with success.
    pub successes: u64,
    /// Unix time (ns) of the first due hit; meaningless without requests, as are the next two.
    pub earliest: i64,
    /// Unix time (ns) of the last due hit.
    pub latest: i64,
    /// Unix time (ns) at which the last hit ended.
    pub end: i64,
    /// Time between consecutive runs, in which none was running: it is not part of [`Summary::elapsed`]. A reader of several
    /// results computes it ([`apart`]); [`Summary::merge`] does not add it up.
    pub apart: Nanos,
    /// How long the runs before such a time waited, from their last due hit to their last end: it is part of [`Summary::wait`]
    /// and not of [`Summary::duration`]. It is known and merged like [`Summary::apart`].
    pub waits_before: Nanos,
    /// The least response time and the least service time of hits that ran into their timeout: from there on, times show how
    /// long the client waited, and not how long the response would have taken. `None` without timeouts.
    pub timed_out_from: Option<(Nanos, Nanos)>,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Request body bytes.
    pub bytes_out: u64,
    /// Response bytes on the wire; 0 in formats that do not know them.
    pub wire_in: u64,
    /// Hits whose request went out on a connection that had served others; 0 in formats that do not know it.
    pub reused: u64,
    /// Response times, from the moment a hit was due: Vegeta's latencies.
    pub response: Histogram,
    /// Service times, from the moment the request was written.
    pub service: Histogram,
    /// Hits failed, by [`FailureKind`]; index 0 counts those that did not fail.
    pub failures: [u64; FailureKind::ALL.len()],
    /// Failed hits with a text that is not among [`Summary::errors`], since there were too many texts.
    pub errors_more: u64,
    outcomes: OutcomeCounts,
    /// Statuses that HTTP does not define, from foreign files.
    statuses_odd: BTreeMap<u16, u64>,
    errors: Vec<(String, u64)>,
    errors_index: HashMap<Box<[u8]>, usize>,
    /// The first response times, at most [`FEW_MAX`].
    few: Vec<u64>,
}

impl Summary {
    /// A summary of nothing, with its histograms' memory.
    #[must_use]
    pub fn new() -> Self {
        Self {
            requests: 0,
            successes: 0,
            earliest: i64::MAX,
            latest: i64::MIN,
            end: i64::MIN,
            apart: Nanos::ZERO,
            waits_before: Nanos::ZERO,
            timed_out_from: None,
            bytes_in: 0,
            bytes_out: 0,
            wire_in: 0,
            reused: 0,
            response: Histogram::new(),
            service: Histogram::new(),
            failures: [0; FailureKind::ALL.len()],
            errors_more: 0,
            outcomes: OutcomeCounts::new(),
            statuses_odd: BTreeMap::new(),
            errors: Vec::new(),
            errors_index: HashMap::new(),
            few: Vec::with_capacity(FEW_MAX),
        }
    }

    /// What snapshots of a run saw together; `epoch` is the Unix time of its start, in nanoseconds. Texts of errors are unknown to
    /// them, and when hits were due: the run's stretch stands for that.
    #[must_use]
    pub fn of_snapshot(total: &Snapshot, epoch: i64) -> Self {
        let at = |time: Nanos| epoch.saturating_add_unsigned(time.0);
        Self {
            requests: total.hits(),
            successes: total.successes,
            earliest: at(total.from),
            latest: at(total.to),
            end: at(total.to),
            bytes_in: total.bytes_in,
            bytes_out: total.bytes_out,
            wire_in: total.wire_in,
            response: total.response.clone(),
            service: total.service.clone(),
            failures: total.failures,
            outcomes: total.outcomes.clone(),
            ..Self::new()
        }
    }

    /// Counts every sample of a batch.
    pub fn add(&mut self, batch: &Batch) {
        for sample in &batch.samples {
            self.add_sample(batch.epoch, sample);
            if sample.error.len > 0 {
                self.add_error(batch.text(sample.error), 1);
            }
        }
    }

    /// Counts one sample, but not its error text.
    pub(crate) fn add_sample(&mut self, epoch: i64, sample: &Sample) {
        let intended = epoch.saturating_add_unsigned(sample.intended.0);
        self.requests += 1;
        self.successes += u64::from(sample.is_success());
        self.earliest = self.earliest.min(intended);
        self.latest = self.latest.max(intended);
        self.end = self.end.max(epoch.saturating_add_unsigned(sample.done.0));
        self.bytes_in = self.bytes_in.saturating_add(sample.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(sample.bytes_out);
        self.wire_in = self.wire_in.saturating_add(sample.wire_in);
        self.reused += u64::from(sample.reused);
        self.response.record(sample.response());
        if self.few.len() < FEW_MAX {
            self.few.push(sample.response().0);
        }
        self.service.record(sample.service());
        self.failures[sample.failure as usize] += 1;
        if sample.failure == FailureKind::Timeout {
            self.timed_out(sample.response(), sample.service());
        }
        match sample.outcome {
            Outcome::Http(odd) if usize::from(odd) >= STATUS_MAX => {
                *self.statuses_odd.entry(odd).or_default() += 1;
            }
            outcome => self.outcomes.record(outcome),
        }
    }

    fn timed_out(&mut self, response: Nanos, service: Nanos) {
        let (least_response, least_service) = self.timed_out_from.unwrap_or((response, service));
        self.timed_out_from = Some((least_response.min(response), least_service.min(service)));
    }

    fn add_error(&mut self, text: &[u8], hits: u64) {
        let text = cut(text);
        if let Some(&at) = self.errors_index.get(text) {
            self.errors[at].1 += hits;
        } else if self.errors.len() < ERRORS_MAX {
            self.errors_index.insert(text.into(), self.errors.len());
            self.errors.push((String::from_utf8_lossy(text).into_owned(), hits));
        } else {
            self.errors_more += hits;
        }
    }

    /// Adds all that another summary counted; its new error texts come after those known here.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.successes += other.successes;
        self.earliest = self.earliest.min(other.earliest);
        self.latest = self.latest.max(other.latest);
        self.end = self.end.max(other.end);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
        self.wire_in = self.wire_in.saturating_add(other.wire_in);
        self.reused += other.reused;
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.few.extend(other.few.iter().take(FEW_MAX - self.few.len()));
        for (mine, theirs) in self.failures.iter_mut().zip(&other.failures) {
            *mine += theirs;
        }
        if let Some((response, service)) = other.timed_out_from {
            self.timed_out(response, service);
        }
        self.outcomes.merge(&other.outcomes);
        for (&status, &hits) in &other.statuses_odd {
            *self.statuses_odd.entry(status).or_default() += hits;
        }
        self.errors_more += other.errors_more;
        for (text, hits) in &other.errors {
            self.add_error(text.as_bytes(), *hits);
        }
    }

    /// Vegeta's attack time: from the first due hit to the last; of runs one after the other that of each, added up.
    #[must_use]
    pub fn duration(&self) -> Nanos {
        let between = self.apart.saturating_add(self.waits_before);
        span(self.earliest, self.latest).saturating_sub(between)
    }

    /// Vegeta's wait: from the last due hit to the last end; of runs one after the other that of each, added up.
    #[must_use]
    pub fn wait(&self) -> Nanos {
        span(self.latest, self.end).saturating_add(self.waits_before)
    }

    /// Why requests failed, in plain words, and how many did; the most frequent first.
    #[must_use]
    pub fn failures_in_words(&self) -> Vec<(&'static str, u64)> {
        let kinds = FailureKind::ALL.into_iter().zip(self.failures).skip(1);
        let mut failed: Vec<_> = kinds
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| (kind.in_words(), count))
            .collect();
        failed.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        failed
    }

    /// Hits that are no successes, by reason.
    #[must_use]
    pub fn failure_counts(&self) -> FailureCounts {
        let mut counts = FailureCounts::default();
        for (kind, hits) in FailureKind::ALL.into_iter().zip(self.failures).skip(1) {
            counts.add(FailureReason::Kind(kind), hits);
        }
        for (outcome, hits) in self.outcomes() {
            // A hit without an answer has its kind.
            if outcome != Outcome::None && !outcome.is_success() {
                counts.add(FailureReason::Outcome(outcome), hits);
            }
        }
        counts
    }

    /// Attack and wait: from the first due hit to the last end, without the time between runs ([`Summary::apart`]).
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.duration().saturating_add(self.wait())
    }

    /// Bytes received per second of attack and wait, heads included; bodies only for formats without bytes on the wire. 0 where
    /// no time passed.
    #[must_use]
    pub fn received_per_s(&self) -> f64 {
        let bytes = if self.wire_in > 0 { self.wire_in } else { self.bytes_in };
        let elapsed = self.elapsed();
        if elapsed == Nanos::ZERO { 0.0 } else { per_second(bytes, elapsed) }
    }

    /// Hits per second of the attack time; the number of hits where that is 0.
    #[must_use]
    pub fn rate(&self) -> f64 {
        per_second(self.requests, self.duration())
    }

    /// Successes per second of attack and wait; their number where that is 0.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        per_second(self.successes, self.elapsed())
    }

    /// Vegeta's throughput: the number of successes where the attack time is 0, whatever the wait; else
    /// [`Summary::throughput`].
    #[must_use]
    pub fn throughput_as_vegeta(&self) -> f64 {
        match self.duration() {
            Nanos::ZERO => self.successes as f64,
            _ => self.throughput(),
        }
    }

    /// A quantile of the response times as Vegeta reckons it, between the two values next to it: with the values `x_1 <= … <= x_n`
    /// at the ranks 1 to n, that at rank `q n + 1/2`, linear in between and cut to `x_1` and `x_n` (R. J. Hyndman and Y. Fan,
    /// Sample Quantiles in Statistical Packages, 1996, definition 5). Exact to the nanosecond, rounded down, of up to 100
    /// hits; beyond them [`LogLinear::quantile`](crate::LogLinear::quantile), since Vegeta's own is an estimate there.
    #[must_use]
    pub fn quantile_between(&self, q: f64) -> Nanos {
        if self.few.is_empty() || self.requests > FEW_MAX as u64 {
            return self.response.quantile(q);
        }
        let mut times = self.few.clone();
        times.sort_unstable();
        let last = times.len() - 1;
        let rank = (q.clamp(0.0, 1.0) * times.len() as f64 - 0.5).clamp(0.0, last as f64);
        let (low, part) = (rank.floor() as usize, rank.fract());
        let (from, to) = (times[low] as f64, times[(low + 1).min(last)] as f64);
        Nanos((from * (1.0 - part) + to * part) as u64)
    }

    /// Hits per second of attack and wait, failed ones included: the `X` of Little's law, and what ab calls requests per
    /// second; their number where that is 0.
    #[must_use]
    pub fn completions(&self) -> f64 {
        per_second(self.requests, self.elapsed())
    }

    /// Hits under way on average, from the first due hit to the last end: Little's law, `N = X R`, with the times the
    /// hits took summed up. 0 where no time passed.
    #[must_use]
    pub fn concurrency(&self) -> f64 {
        let elapsed = self.elapsed();
        if elapsed == Nanos::ZERO { 0.0 } else { self.response.sum() as f64 / elapsed.0 as f64 }
    }

    /// Share of successes, 0 to 1; 0 without hits.
    #[must_use]
    pub fn success_ratio(&self) -> f64 {
        mean(self.successes, self.requests)
    }

    /// Response body bytes per hit.
    #[must_use]
    pub fn bytes_in_mean(&self) -> f64 {
        mean(self.bytes_in, self.requests)
    }

    /// Request body bytes per hit.
    #[must_use]
    pub fn bytes_out_mean(&self) -> f64 {
        mean(self.bytes_out, self.requests)
    }

    /// Hits by outcome: no answer, HTTP's statuses, those of gRPC, messages; outcomes without hits are left out.
    #[must_use]
    pub fn outcomes(&self) -> Vec<(Outcome, u64)> {
        let odd = self.statuses_odd.iter().map(|(status, hits)| (Outcome::Http(*status), *hits));
        let mut all: Vec<_> = self.outcomes.list().chain(odd).collect();
        all.sort_unstable_by_key(|(outcome, _)| *outcome);
        all
    }

    /// Hits by status of HTTP, 0 for the failed, for layouts that have nothing else: other outcomes count as the status that
    /// means the same ([`Outcome::code`]). Statuses without hits are left out.
    #[must_use]
    pub fn status_codes(&self) -> BTreeMap<u16, u64> {
        let mut codes = BTreeMap::new();
        for (outcome, hits) in self.outcomes() {
            *codes.entry(outcome.code()).or_default() += hits;
        }
        codes
    }

    /// The error texts in the order they were first seen, with their hits; at most [`ERRORS_MAX`].
    #[must_use]
    pub fn errors(&self) -> &[(String, u64)] {
        &self.errors
    }

    /// Hits that failed without an answer.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures[1..].iter().sum()
    }
}

impl Default for Summary {
    fn default() -> Self {
        Self::new()
    }
}

/// The time between runs in which none of them is running ([`Summary::apart`]), and how long those before it waited
/// ([`Summary::waits_before`]). Each run is given by the due time of its first hit, that of its last, and the end of its last
/// hit (Unix times in ns).
#[must_use]
pub fn apart(mut runs: Vec<(i64, i64, i64)>) -> (Nanos, Nanos) {
    runs.sort_unstable();
    let (mut apart, mut waits) = (Nanos::ZERO, Nanos::ZERO);
    let Some(&(_, mut latest, mut end)) = runs.first() else { return (apart, waits) };
    for (from, last_due, last_end) in runs {
        if from > end {
            apart = apart.saturating_add(span(end, from));
            waits = waits.saturating_add(span(latest, end));
        }
        (latest, end) = (latest.max(last_due), end.max(last_end));
    }
    (apart, waits)
}

/// The time from one moment to another; 0 where the order is wrong or there are no such moments.
fn span(from: i64, to: i64) -> Nanos {
    Nanos(u64::try_from(i128::from(to) - i128::from(from)).unwrap_or(0))
}

fn per_second(count: u64, time: Nanos) -> f64 {
    if time == Nanos::ZERO { count as f64 } else { count as f64 / time.as_secs_f64() }
}

fn mean(total: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { total as f64 / of as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_runs_is_no_part_of_the_attack() {
        let mut summary = Summary::new();
        let mut batch = seed_run(Nanos::from_millis(10));
        summary.add(&batch);
        let (rate, throughput) = (summary.rate(), summary.throughput());
        batch.epoch += 120_000_000_000;
        summary.add(&batch);
        assert!(summary.rate() < rate / 10.0, "over the gap");
        let first_end = summary.earliest + 4_980_000_000 + 10_000_000;
        summary.apart = Nanos((summary.latest - 4_980_000_000 - first_end) as u64);
        assert!((summary.rate() / rate - 1.0).abs() < 0.01, "{} {rate}", summary.rate());
        assert!((summary.throughput() / throughput - 1.0).abs() < 0.01);
    }

    #[test]
    fn gaps_are_what_no_span_covers() {
        type Runs = &'static [(i64, i64, i64)];
        let cases: [(Runs, u64, u64); 6] = [
            (&[], 0, 0),
            (&[(5, 8, 9)], 0, 0),
            (&[(0, 4, 5), (4, 8, 9), (1, 1, 2)], 0, 0),
            (&[(0, 1, 9), (5, 6, 7)], 0, 0),
            (&[(20, 28, 30), (0, 5, 5), (3, 7, 10)], 10, 3),
            (&[(0, 3, 5), (10, 11, 12), (40, 40, 41)], 5 + 28, 2 + 1),
        ];
        for (runs, gap, waits) in cases {
            assert_eq!(apart(runs.to_vec()), (Nanos(gap), Nanos(waits)), "{runs:?}");
        }
    }

    /// Two runs of 10 s, 100 hits a second each; a hit of the first, due in its middle, times out after 30 s.
    #[test]
    fn what_an_earlier_run_waited_is_no_part_of_the_attack() {
        let run = |from_s: u64, slowest: Nanos| {
            let sample = |seq: u64| {
                let due = Nanos::from_secs(from_s) + Nanos::from_millis(10 * seq);
                let took = if seq == 500 { slowest } else { Nanos::MILLI };
                Sample { seq, intended: due, sent: due, done: due + took, ..Sample::default() }
            };
            let mut summary = Summary::new();
            let samples = (0..1000).map(sample).collect();
            summary.add(&Batch { samples, ..Batch::default() });
            summary
        };
        let (first, second) = (run(0, Nanos::from_secs(30)), run(100, Nanos::MILLI));
        let mut both = first.clone();
        both.merge(&second);
        let spans = [&first, &second].map(|one| (one.earliest, one.latest, one.end));
        (both.apart, both.waits_before) = apart(spans.to_vec());
        assert_eq!(both.duration(), Nanos::from_millis(2 * 9_990));
        assert!((both.rate() - first.rate()).abs() < 1e-9, "{} {}", both.rate(), first.rate());
        // The first waits for 35 s - 9.99 s, the second for 1 ms.
        assert_eq!(both.wait(), Nanos::from_millis(25_010 + 1));
        assert_eq!(both.elapsed(), first.elapsed() + second.elapsed());
        assert_eq!(both.apart, Nanos::from_secs(65));
    }

    #[test]
    fn where_timeouts_begin_is_known() {
        let hit = |ms: u64, failure| Sample {
            sent: Nanos::MILLI,
            done: Nanos::from_millis(ms),
            failure,
            ..Sample::default()
        };
        let samples = vec![
            hit(900, FailureKind::None),
            hit(502, FailureKind::Timeout),
            hit(501, FailureKind::Timeout),
        ];
        let mut summary = Summary::new();
        summary.add(&Batch { samples: samples[..1].to_vec(), ..Batch::default() });
        assert_eq!(summary.timed_out_from, None);
        let mut other = Summary::new();
        other.add(&Batch { samples, ..Batch::default() });
        summary.merge(&other);
        let least = (Nanos::from_millis(501), Nanos::from_millis(500));
        assert_eq!(summary.timed_out_from, Some(least));
    }

    /// Vegeta's seed run: 250 hits, one every 20 ms, each answered after `response`.
    fn seed_run(response: Nanos) -> Batch {
        let sample = |seq: u64| Sample {
            seq,
            intended: Nanos::from_millis(20 * (seq + 1)),
            sent: Nanos::from_millis(20 * (seq + 1)) + Nanos::MICRO,
            done: Nanos::from_millis(20 * (seq + 1)) + response,
            bytes_in: 100,
            bytes_out: 3,
            wire_in: 250,
            outcome: Outcome::Http(200),
            ..Sample::default()
        };
        Batch {
            epoch: 1_700_000_000_000_000_000,
            samples: (0..250).map(sample).collect(),
            texts: vec![],
        }
    }

    fn fail(batch: &mut Batch, at: usize, text: &str) {
        let error = batch.add_text(text.as_bytes());
        let sample = &mut batch.samples[at];
        (sample.outcome, sample.failure, sample.error) =
            (Outcome::None, FailureKind::Timeout, error);
    }

    #[test]
    fn figures_are_vegetas() {
        let mut batch = seed_run(Nanos::from_millis(30));
        fail(&mut batch, 7, "late");
        let mut summary = Summary::new();
        summary.add(&batch);
        assert_eq!((summary.requests, summary.successes, summary.failed()), (250, 249, 1));
        assert_eq!(summary.duration(), Nanos::from_millis(4980));
        assert_eq!(summary.wait(), Nanos::from_millis(30));
        assert_eq!(format!("{:.2}", summary.rate()), "50.20");
        assert_eq!(format!("{:.2}", summary.throughput()), "49.70");
        assert_eq!(summary.success_ratio(), 249.0 / 250.0);
        // 250 hits of 30 ms in 5.01 s.
        assert_eq!(format!("{:.3}", summary.concurrency()), "1.497");
        assert_eq!((summary.bytes_in_mean(), summary.bytes_out_mean()), (100.0, 3.0));
        assert_eq!((summary.bytes_in, summary.bytes_out, summary.wire_in), (25_000, 750, 62_500));
        assert_eq!(summary.elapsed(), Nanos::from_millis(5010));
        assert_eq!(format!("{:.1}", summary.received_per_s()), "12475.0");
        let bodies = Summary { wire_in: 0, ..summary.clone() };
        assert_eq!(format!("{:.1}", bodies.received_per_s()), "4990.0");
        assert_eq!(summary.status_codes(), BTreeMap::from([(0, 1), (200, 249)]));
        assert_eq!(summary.response.mean(), Nanos::from_millis(30));
        assert_eq!(summary.service.mean(), Nanos(29_999_000));
        assert_eq!(summary.errors(), [("late".to_owned(), 1)]);
    }

    #[test]
    fn the_last_end_need_not_be_the_last_hits() {
        let mut batch = seed_run(Nanos::from_millis(30));
        batch.samples[0].done = Nanos::from_secs(35);
        let mut summary = Summary::new();
        summary.add(&batch);
        assert_eq!(summary.wait(), Nanos::from_secs(30));
    }

    #[test]
    fn few_hits_have_figures_too() {
        let mut summary = Summary::new();
        assert_eq!(
            (summary.rate(), summary.throughput(), summary.success_ratio()),
            (0.0, 0.0, 0.0)
        );
        assert_eq!(
            (summary.duration(), summary.wait(), summary.bytes_in_mean()),
            (Nanos(0), Nanos(0), 0.0)
        );
        assert_eq!((summary.elapsed(), summary.received_per_s()), (Nanos(0), 0.0));
        let mut one = seed_run(Nanos::from_millis(500));
        one.samples.truncate(1);
        one.samples[0].outcome = Outcome::Http(9999);
        summary.add(&one);
        assert_eq!((summary.rate(), summary.throughput()), (1.0, 0.0));
        one.samples[0].outcome = Outcome::Http(200);
        let mut answered = Summary::new();
        answered.add(&one);
        assert_eq!(
            (answered.rate(), answered.throughput(), answered.completions()),
            (1.0, 2.0, 2.0)
        );
        assert_eq!(answered.throughput_as_vegeta(), 1.0);
        assert_eq!(summary.status_codes(), BTreeMap::from([(9999, 1)]));
    }

    /// Vegeta 12.13 of hits that took these times.
    #[test]
    fn quantiles_of_few_hits_are_vegetas() {
        let times = [10_000_000, 20_000_000, 30_000_001, 70_000_000];
        let vegetas = [
            (1, [10_000_000; 4]),
            (2, [15_000_000, 20_000_000, 20_000_000, 20_000_000]),
            (3, [20_000_000, 30_000_001, 30_000_001, 30_000_001]),
            (4, [25_000_000, 70_000_000, 70_000_000, 70_000_000]),
        ];
        for (n, expected) in vegetas {
            let mut batch = seed_run(Nanos::ZERO);
            batch.samples.truncate(n);
            for (sample, time) in batch.samples.iter_mut().zip(times).rev() {
                sample.done = sample.intended + Nanos(time);
            }
            let (mut whole, mut part) = (Summary::new(), Summary::new());
            part.add(&batch);
            whole.merge(&part);
            let quantiles = [0.5, 0.9, 0.95, 0.99].map(|q| whole.quantile_between(q).0);
            assert_eq!(quantiles, expected, "of {n}");
        }
        let mut many = Summary::new();
        many.add(&seed_run(Nanos::from_millis(30)));
        assert_eq!(many.quantile_between(0.5), many.response.quantile(0.5));
        assert_eq!(Summary::new().quantile_between(0.5), Nanos::ZERO);
    }

    #[test]
    fn error_texts_are_bounded_and_keep_their_order() {
        let mut batch = Batch::default();
        batch.samples.resize(2 * ERRORS_MAX + 10, Sample::default());
        for at in 0..batch.samples.len() {
            fail(&mut batch, at, &format!("port {}", at % (ERRORS_MAX + 5)));
        }
        let mut summary = Summary::new();
        summary.add(&batch);
        assert_eq!(summary.errors().len(), ERRORS_MAX);
        assert_eq!(summary.errors()[1], ("port 1".to_owned(), 2));
        assert_eq!(summary.errors_more, 10);
    }

    /// Issue 42: 1,500 rows with texts of 700 KB each took 1.5 GB.
    #[test]
    fn error_texts_are_bounded_in_bytes() {
        let mut batch = Batch::default();
        batch.samples.resize(20, Sample::default());
        for at in 0..20 {
            fail(&mut batch, at, &format!("{at} {}", "a".repeat(1 << 20)));
        }
        let mut summary = Summary::new();
        summary.add(&batch);
        let mut groups = crate::Groups::by_request();
        for sample in &mut batch.samples {
            (sample.line, sample.target) = (sample.error, u32::MAX);
        }
        groups.add(&batch, &crate::TargetTable::default());
        let kept = |list: Vec<&str>| list.iter().map(|text| text.len()).sum::<usize>();
        let texts = summary.errors().iter().map(|(text, _)| text.as_str()).collect();
        let keys = groups.list().iter().map(|(key, _)| key.as_str()).collect();
        for kept in [kept(texts), kept(keys)] {
            assert!((20 * TEXT_MAX / 2..=20 * (TEXT_MAX + 8)).contains(&kept), "{kept}");
        }
    }

    #[test]
    fn parts_merge_to_the_whole() {
        let mut batch = seed_run(Nanos::from_millis(30));
        for (at, text) in [(3, "b"), (200, "a"), (201, "b")] {
            fail(&mut batch, at, text);
        }
        let (mut whole, mut left, mut right) = (Summary::new(), Summary::new(), Summary::new());
        whole.add(&batch);
        let mut second = batch.clone();
        second.samples.drain(..100);
        batch.samples.truncate(100);
        left.add(&batch);
        right.add(&second);
        left.merge(&right);
        assert_eq!(
            (left.requests, left.duration(), left.wait()),
            (250, whole.duration(), whole.wait())
        );
        assert_eq!((left.errors(), left.status_codes()), (whole.errors(), whole.status_codes()));
        assert_eq!((&left.response, left.failures), (&whole.response, whole.failures));
    }
}
