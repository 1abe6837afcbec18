//! `GhzObserver`: counts the calls of a run as they end, and whether it was interrupted.

use std::collections::{BTreeMap, VecDeque};

use engine::{LoadChange, LoadChangeError};
use grpc::Code;
use metrics::{Batch, FailureKind, GrpcStatus, Histogram, Outcome, Sample, Summary};
use session::{Control, Observer, ObserverError};
use stdx::Nanos;

use super::workers::Workers;

/// Calls whose details are listed: ghz keeps so many. Our percentiles are of all.
pub(super) const DETAILS_MAX: usize = 1_000_000;
/// Texts of errors that are counted one by one.
const ERRORS_MAX: usize = 1_000;
/// What stands for further ones.
const OTHERS: &str = "other errors";

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Detail {
    /// When it began, in nanoseconds of Unix time.
    pub(super) timestamp_ns: i64,
    pub(super) latency: Nanos,
    pub(super) status: Code,
    /// Number of its error among [`Calls::errors`]; `None` for a success.
    pub(super) error: Option<u32>,
}

/// The calls of a run.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) count: u64,
    /// The first of them, in the order in which they ended.
    pub(super) details: Vec<Detail>,
    /// Latencies that count for percentiles.
    pub(super) latencies: Histogram,
    pub(super) fastest: Nanos,
    pub(super) slowest: Nanos,
    /// All latencies together, errors included.
    pub(super) sum_ns: u128,
    pub(super) statuses: BTreeMap<u32, u64>,
    /// Texts of errors, and how often each came.
    pub(super) errors: Vec<(String, u64)>,
    /// When the last call ended, since the start.
    pub(super) ended: Nanos,
    numbers: BTreeMap<String, u32>,
}

/// The rules of counting, and the workers that come or go meanwhile.
#[derive(Clone, Debug)]
pub(super) struct CountRules {
    /// The first calls, which are left out.
    pub(super) skip: u64,
    /// The calls whose latencies count for percentiles.
    pub(super) latencies: Latencies,
    /// Whether calls that the end of the run cut off are left out.
    pub(super) drops_cut: bool,
    /// The numbers of workers after the start.
    pub(super) workers: VecDeque<Workers>,
}

/// The calls whose latencies count for percentiles, fastest and slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latencies {
    /// Those that succeeded.
    OfSuccesses,
    /// All.
    OfAll,
}

impl Latencies {
    /// Whether that of a call counts which has this error.
    pub(super) fn have(self, error: Option<u32>) -> bool {
        self == Self::OfAll || error.is_none()
    }
}

/// Counts the calls of a run.
pub(super) struct GhzObserver {
    pub(super) calls: Calls,
    /// What the verdict is made from.
    pub(super) summary: Summary,
    pub(super) is_interrupted: bool,
    rules: CountRules,
    left_out: u64,
}

impl GhzObserver {
    pub(super) fn new(rules: CountRules) -> Self {
        let calls = Calls {
            count: 0,
            details: Vec::new(),
            latencies: Histogram::new(),
            fastest: Nanos::MAX,
            slowest: Nanos::ZERO,
            sum_ns: 0,
            statuses: BTreeMap::new(),
            errors: Vec::new(),
            ended: Nanos::ZERO,
            numbers: BTreeMap::new(),
        };
        Self { calls, summary: Summary::new(), is_interrupted: false, rules, left_out: 0 }
    }
}

impl Observer for GhzObserver {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.summary.add(batch);
        for sample in &batch.samples {
            if sample.failure == FailureKind::Stopped && self.rules.drops_cut {
                continue;
            }
            if self.left_out < self.rules.skip {
                self.left_out += 1;
                continue;
            }
            self.calls.add(sample, batch, self.rules.latencies);
        }
        Ok(())
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        self.is_interrupted |= control.interrupts() > 0;
        while let Some(next) = self.rules.workers.front().copied()
            && next.from <= control.elapsed()
        {
            self.rules.workers.pop_front();
            match control.change_load(LoadChange::Users(next.count)) {
                // Nothing follows where the run is over.
                Ok(()) | Err(LoadChangeError::Over) => {}
                Err(error) => session::warn(&format!("--concurrency-schedule: {error}")),
            }
        }
    }
}

impl Calls {
    fn add(&mut self, sample: &Sample, batch: &Batch, counted: Latencies) {
        let (status, text) = status_of(sample, &String::from_utf8_lossy(batch.text(sample.error)));
        let latency = sample.response();
        self.count += 1;
        self.sum_ns += u128::from(latency.0);
        self.ended = self.ended.max(sample.done);
        *self.statuses.entry(status.0).or_default() += 1;
        let error = (status != Code::OK).then(|| self.note_error(&text));
        if counted.have(error) {
            self.latencies.record(latency);
            self.fastest = self.fastest.min(latency);
            self.slowest = self.slowest.max(latency);
        }
        if self.details.len() < DETAILS_MAX {
            let timestamp_ns = batch.epoch.saturating_add(sample.intended.0 as i64);
            self.details.push(Detail { timestamp_ns, latency, status, error });
        }
    }

    fn note_error(&mut self, text: &str) -> u32 {
        let key = if self.numbers.len() < ERRORS_MAX || self.numbers.contains_key(text) {
            text
        } else {
            OTHERS
        };
        let next = self.errors.len() as u32;
        let number = *self.numbers.entry(key.to_owned()).or_insert(next);
        if number == next {
            self.errors.push((key.to_owned(), 0));
        }
        self.errors[number as usize].1 += 1;
        number
    }
}

/// The status of a call, and its error in Go's words.
fn status_of(sample: &Sample, error: &str) -> (Code, String) {
    let (code, message) = match (sample.failure, sample.outcome) {
        (FailureKind::None, Outcome::Grpc(status)) => {
            let name = status.name();
            let message = error.strip_prefix(name).unwrap_or(error);
            (code_of(status), message.strip_prefix(": ").unwrap_or_default().to_owned())
        }
        (FailureKind::None, _) => (Code::UNKNOWN, error.to_owned()),
        (FailureKind::Timeout, _) => {
            (Code::DEADLINE_EXCEEDED, "context deadline exceeded".to_owned())
        }
        (FailureKind::Stopped, _) => {
            (Code::CANCELLED, "grpc: the client connection is closing".to_owned())
        }
        (FailureKind::StreamReset, _) => (Code::INTERNAL, plain(error).to_owned()),
        _ => {
            let text = format!("connection error: desc = \"transport: {}\"", plain(error));
            (Code::UNAVAILABLE, text)
        }
    };
    let name = code.go_name();
    (code, format!("rpc error: code = {name} desc = {message}"))
}

fn code_of(status: GrpcStatus) -> Code {
    let names = 0..GrpcStatus::ALL;
    Code(names.into_iter().find(|n| GrpcStatus::from_number(*n) == status).unwrap_or(2))
}

/// A failure's text without the request before it.
fn plain(error: &str) -> &str {
    match error.strip_prefix("Post \"") {
        Some(rest) => rest.split_once("\": ").map_or(error, |(_, text)| text),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(samples: &[(FailureKind, Outcome, u64, &str)]) -> Batch {
        let mut batch = Batch::default();
        for (failure, outcome, ms, error) in samples {
            let error = batch.add_text(error.as_bytes());
            let done = Nanos::from_millis(*ms);
            batch.samples.push(Sample {
                failure: *failure,
                outcome: *outcome,
                done,
                error,
                ..Sample::default()
            });
        }
        batch
    }

    #[test]
    fn calls_are_counted_by_their_status() {
        let invalid = Outcome::Grpc(GrpcStatus::from_number(3));
        let ok = Outcome::Grpc(GrpcStatus::OK);
        let rows = batch(&[
            (FailureKind::None, ok, 1, ""),
            (FailureKind::None, ok, 4, ""),
            (FailureKind::None, ok, 3, ""),
            (FailureKind::None, invalid, 100, "INVALID_ARGUMENT: bad arg"),
            (
                FailureKind::Refused,
                Outcome::None,
                1,
                "Post \"http://h/\": dial tcp h: connection refused",
            ),
            (FailureKind::Stopped, Outcome::None, 1, "stopped"),
        ]);
        let rules = CountRules {
            skip: 1,
            latencies: Latencies::OfSuccesses,
            drops_cut: true,
            workers: VecDeque::new(),
        };
        let mut observer = GhzObserver::new(rules);
        observer.rows(&rows).expect("rows");
        let calls = &observer.calls;
        assert_eq!((calls.count, calls.details.len()), (4, 4));
        let ms = Nanos::from_millis;
        assert_eq!(
            (calls.fastest, calls.slowest),
            (ms(3), ms(4)),
            "errors and the first are left out"
        );
        assert_eq!(calls.sum_ns, 108_000_000);
        let texts: Vec<&str> = calls.errors.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "rpc error: code = InvalidArgument desc = bad arg",
                "rpc error: code = Unavailable desc = connection error: desc = \"transport: dial tcp h: connection refused\"",
            ]
        );
        assert_eq!(calls.statuses, BTreeMap::from([(0, 2), (3, 1), (14, 1)]));
    }
}
