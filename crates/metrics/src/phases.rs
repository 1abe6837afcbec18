//! `Phases`: what hits spent their time on, apart for those that were answered, as the reports of other tools want it. Its
//! memory does not grow with the run.

use std::collections::BTreeMap;

use stdx::Nanos;

use crate::summary::cut;
use crate::{Batch, ERRORS_MAX, FailureKind, Histogram, Pulse, Sample};

/// What hits spent their time on. A hit is answered when its response came whole, whatever its status.
#[derive(Clone, Debug)]
pub struct Phases {
    /// Hits answered.
    pub answered: u64,
    /// Of them, those answered on a reused connection.
    pub reused: u64,
    /// Response times of the answered, from the moment a hit was due.
    pub response: Histogram,
    /// Service times of the answered, from the moment the request was written.
    pub service: Histogram,
    /// Service times of the successes.
    pub successes: Histogram,
    /// Answered hits, from the request written to the first byte of the response.
    pub waiting: Histogram,
    /// Answered hits, from the first byte of the response to its end.
    pub receiving: Histogram,
    /// All hits, looking up the name of the host; 0 for those that needed no look-up. What the generator was late is not in it.
    pub blocked: Histogram,
    /// When hits were answered.
    pub pulse: Pulse,
    /// Hits that failed with further texts than those of [`Phases::failures`].
    pub failures_more: u64,
    hits: u64,
    dns: Histogram,
    dial: Histogram,
    tls: Histogram,
    connect: Histogram,
    failures: BTreeMap<String, u64>,
}

impl Phases {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            answered: 0,
            reused: 0,
            response: Histogram::new(),
            service: Histogram::new(),
            successes: Histogram::new(),
            waiting: Histogram::new(),
            receiving: Histogram::new(),
            blocked: Histogram::new(),
            pulse: Pulse::new(),
            failures_more: 0,
            hits: 0,
            dns: Histogram::default(),
            dial: Histogram::default(),
            tls: Histogram::default(),
            connect: Histogram::default(),
            failures: BTreeMap::new(),
        }
    }

    /// Counts every sample of a batch.
    pub fn add(&mut self, batch: &Batch) {
        for sample in &batch.samples {
            self.hits += 1;
            self.blocked.record(sample.dns);
            record_some(&mut self.dial, sample.dial);
            record_some(&mut self.tls, sample.tls);
            if sample.failure == FailureKind::None {
                self.add_answered(batch.epoch, sample);
            } else {
                self.add_failure(batch, sample);
            }
        }
    }

    fn add_answered(&mut self, epoch: i64, sample: &Sample) {
        self.answered += 1;
        self.reused += u64::from(sample.reused);
        self.response.record(sample.response());
        self.service.record(sample.service());
        if sample.is_success() {
            self.successes.record(sample.service());
        }
        self.waiting.record(sample.first_byte.saturating_sub(sample.sent));
        self.receiving.record(sample.done.saturating_sub(sample.first_byte));
        let connect = sample.dns.saturating_add(sample.dial).saturating_add(sample.tls);
        record_some(&mut self.dns, sample.dns);
        record_some(&mut self.connect, connect);
        self.pulse.count(epoch, epoch.saturating_add_unsigned(sample.done.0));
    }

    /// A stopped hit did not fail: its outcome is unknown.
    fn add_failure(&mut self, batch: &Batch, sample: &Sample) {
        if sample.failure == FailureKind::Stopped {
            return;
        }
        let text = String::from_utf8_lossy(cut(batch.text(sample.error)));
        if let Some(hits) = self.failures.get_mut(text.as_ref()) {
            *hits += 1;
        } else if self.failures.len() < ERRORS_MAX {
            self.failures.insert(text.into_owned(), 1);
        } else {
            self.failures_more += 1;
        }
    }

    /// Adds hits of a format that has only their start and end: the response times, which then also stand in for the service
    /// times.
    pub fn keep_responses(&mut self) {
        self.service.clone_from(&self.response);
        for phase in [&mut self.waiting, &mut self.receiving, &mut self.blocked] {
            phase.clear();
        }
        for phase in [&mut self.dns, &mut self.dial, &mut self.tls, &mut self.connect] {
            phase.clear();
        }
        self.hits = 0;
    }

    /// Name lookups of the answered; 0 for those that needed none.
    #[must_use]
    pub fn dns(&self) -> Histogram {
        with_zeros(&self.dns, self.answered_timed())
    }

    /// Connecting, of all hits; 0 on a reused connection.
    #[must_use]
    pub fn dial(&self) -> Histogram {
        with_zeros(&self.dial, self.hits)
    }

    /// TLS handshakes of all hits; 0 where there was none.
    #[must_use]
    pub fn tls(&self) -> Histogram {
        with_zeros(&self.tls, self.hits)
    }

    /// Name lookup, connecting and TLS together, of the answered; 0 on a reused connection.
    #[must_use]
    pub fn connect(&self) -> Histogram {
        with_zeros(&self.connect, self.answered_timed())
    }

    /// The answered hits with a known time of connecting: none after [`Phases::keep_responses`].
    fn answered_timed(&self) -> u64 {
        self.answered.min(self.hits)
    }

    /// The texts of failed hits and how many failed with each, sorted; at most [`ERRORS_MAX`]. Hits that were stopped with
    /// the run, and answers of whatever status, are not among them.
    #[must_use]
    pub fn failures(&self) -> &BTreeMap<String, u64> {
        &self.failures
    }
}

/// Most hits do not connect: only those that did are recorded, and the zeros are added on read.
fn record_some(histogram: &mut Histogram, time: Nanos) {
    if time > Nanos::ZERO {
        histogram.record(time);
    }
}

fn with_zeros(some: &Histogram, hits: u64) -> Histogram {
    let mut all = some.clone();
    all.record_n(Nanos::ZERO, hits - some.count());
    all
}

impl Default for Phases {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(times: [u64; 4], dial: u64, status: u16, failure: FailureKind) -> Sample {
        let [intended, sent, first_byte, done] = times.map(Nanos::from_millis);
        Sample {
            intended,
            sent,
            first_byte,
            done,
            dial: Nanos::from_millis(dial),
            reused: dial == 0,
            outcome: crate::Outcome::http(status),
            failure,
            ..Sample::default()
        }
    }

    fn batch() -> Batch {
        let mut batch = Batch {
            epoch: 1_700_000_000_000_000_000,
            samples: vec![
                sample([0, 5, 25, 30], 4, 200, FailureKind::None),
                sample([30, 30, 40, 40], 0, 404, FailureKind::None),
                sample([40, 50, 50, 50], 0, 0, FailureKind::Refused),
                sample([50, 50, 90, 90], 0, 0, FailureKind::Stopped),
            ],
            texts: Vec::new(),
        };
        batch.samples[1].error = batch.add_text(b"404 Not Found");
        batch.samples[2].error = batch.add_text(b"refused");
        batch
    }

    #[test]
    fn the_answered_are_distinguished() {
        let mut phases = Phases::new();
        phases.add(&batch());
        assert_eq!((phases.answered, phases.reused), (2, 1));
        assert_eq!((phases.service.count(), phases.successes.count()), (2, 1));
        assert_eq!(phases.response.max(), Nanos::from_millis(30));
        assert_eq!(phases.service.max(), Nanos::from_millis(25));
        assert_eq!(phases.waiting.max(), Nanos::from_millis(20));
        assert_eq!(phases.receiving.max(), Nanos::from_millis(5));
        assert_eq!((phases.blocked.count(), phases.blocked.max()), (4, Nanos::ZERO));
    }

    #[test]
    fn regression_issue_41_lateness_blocks_nothing() {
        let (mut phases, mut batch) = (Phases::new(), batch());
        batch.samples[1].dns = Nanos::MILLI;
        phases.add(&batch);
        let blocked = &phases.blocked;
        assert_eq!(
            (blocked.count(), blocked.max(), blocked.mean()),
            (4, Nanos::MILLI, Nanos::MILLI / 4)
        );
    }

    #[test]
    fn hits_without_a_connect_count_as_zero() {
        let mut phases = Phases::new();
        phases.add(&batch());
        let dial = phases.dial();
        assert_eq!(
            (dial.count(), dial.mean(), dial.max()),
            (4, Nanos::MILLI, Nanos::from_millis(4))
        );
        assert_eq!(phases.connect().max(), Nanos::from_millis(4));
        assert_eq!((phases.dns().max(), phases.tls().max()), (Nanos::ZERO, Nanos::ZERO));
    }

    #[test]
    fn a_failed_connect_is_no_connect_of_the_answered() {
        let mut phases = Phases::new();
        let mut batch = batch();
        for sample in &mut batch.samples[2..] {
            (sample.dns, sample.dial) = (Nanos::SECOND, Nanos::SECOND);
        }
        phases.add(&batch);
        let (connect, dns) = (phases.connect(), phases.dns());
        assert_eq!((connect.count(), connect.max()), (2, Nanos::from_millis(4)));
        assert_eq!((dns.count(), dns.max()), (2, Nanos::ZERO));
        assert_eq!((phases.dial().count(), phases.dial().max() >= Nanos::SECOND), (4, true));
    }

    #[test]
    fn what_a_format_lacks_is_empty() {
        let mut phases = Phases::new();
        phases.add(&batch());
        phases.keep_responses();
        assert_eq!(phases.service, phases.response);
        assert_eq!(
            (phases.dial().count(), phases.blocked.count(), phases.waiting.count()),
            (0, 0, 0)
        );
        assert_eq!((phases.connect().count(), phases.dns().count()), (0, 0));
    }

    #[test]
    fn failures_are_neither_answers_nor_stops() {
        let mut phases = Phases::new();
        phases.add(&batch());
        assert_eq!(phases.failures(), &BTreeMap::from([("refused".to_owned(), 1)]));
        for n in 0..ERRORS_MAX + 5 {
            let mut batch = Batch::default();
            batch.samples.push(sample([0, 1, 1, 1], 0, 0, FailureKind::Eof));
            batch.samples[0].error = batch.add_text(format!("text {n}").as_bytes());
            phases.add(&batch);
        }
        assert_eq!((phases.failures().len(), phases.failures_more), (ERRORS_MAX, 6));
    }
}
