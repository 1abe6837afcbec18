//! `Snapshot`: what was seen in a stretch of time; moved from a core to the collector and merged there.

use stdx::Nanos;

use crate::{FailureKind, Generator, Histogram, OutcomeCounts, Sample};

/// What was seen in a stretch of time. Snapshots of several cores or stretches merge without loss.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Begin of the stretch, from the run's start.
    pub from: Nanos,
    /// End of the stretch.
    pub to: Nanos,
    /// Response times of hits that ended in it.
    pub response: Histogram,
    /// Service times of the same.
    pub service: Histogram,
    /// Hits ended, by outcome.
    pub outcomes: OutcomeCounts,
    /// Hits failed, by [`FailureKind`].
    pub failures: [u64; FailureKind::ALL.len()],
    /// Hits ended with success.
    pub successes: u64,
    /// Hits begun and not ended at the stretch's end.
    pub in_flight: u64,
    /// Request body bytes.
    pub bytes_out: u64,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Response bytes on the wire.
    pub wire_in: u64,
    /// The generator's measurements of itself, from the run's start (not of the interval only).
    pub generator: Generator,
}

impl Snapshot {
    /// An empty snapshot with all its memory, so that recording never allocates.
    #[must_use]
    pub fn new() -> Self {
        Self {
            from: Nanos::ZERO,
            to: Nanos::ZERO,
            response: Histogram::new(),
            service: Histogram::new(),
            outcomes: OutcomeCounts::new(),
            failures: [0; FailureKind::ALL.len()],
            successes: 0,
            in_flight: 0,
            bytes_out: 0,
            bytes_in: 0,
            wire_in: 0,
            generator: Generator::new(),
        }
    }

    /// Hits ended, failed ones included.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.response.count()
    }

    /// Counts a hit that ended. No allocation.
    pub fn record(&mut self, sample: &Sample) {
        self.response.record(sample.response());
        self.service.record(sample.service());
        self.outcomes.record(sample.outcome);
        self.failures[sample.failure as usize] += 1;
        self.successes += u64::from(sample.is_success());
        self.bytes_out += sample.bytes_out;
        self.bytes_in += sample.bytes_in;
        self.wire_in += sample.wire_in;
    }

    /// Adds what another core, or a later stretch of this one, saw. `in_flight` and `generator` are added too: for a later
    /// stretch of the same core, clear them here first, since both are states and not counts.
    pub fn merge(&mut self, other: &Self) {
        (self.from, self.to) = match (self.is_blank(), other.is_blank()) {
            (_, true) => (self.from, self.to),
            (true, false) => (other.from, other.to),
            (false, false) => (self.from.min(other.from), self.to.max(other.to)),
        };
        self.response.merge(&other.response);
        self.service.merge(&other.service);
        self.outcomes.merge(&other.outcomes);
        for (mine, theirs) in self.failures.iter_mut().zip(&other.failures) {
            *mine += theirs;
        }
        self.successes += other.successes;
        self.in_flight += other.in_flight;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.wire_in += other.wire_in;
        self.generator.merge(&other.generator);
    }

    /// The same counts in the memory of those octaves that have values, without the generator's record.
    #[must_use]
    pub fn compact(&self) -> Self {
        Self {
            response: self.response.compact(),
            service: self.service.compact(),
            outcomes: self.outcomes.clone(),
            generator: Generator::default(),
            ..*self
        }
    }

    /// No time has passed in it.
    fn is_blank(&self) -> bool {
        self.from == self.to
    }

    /// Empties it, the generator's record too; it retains its memory.
    pub fn clear(&mut self) {
        (self.from, self.to) = (Nanos::ZERO, Nanos::ZERO);
        self.response.clear();
        self.service.clear();
        self.outcomes.clear();
        self.failures.fill(0);
        (self.successes, self.in_flight) = (0, 0);
        (self.bytes_out, self.bytes_in, self.wire_in) = (0, 0, 0);
        self.generator.clear();
    }
}

impl Default for Snapshot {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn sample(status: u16, failure: FailureKind, done: u64) -> Sample {
        Sample {
            sent: Nanos(10),
            done: Nanos(done),
            bytes_out: 1,
            bytes_in: 2,
            wire_in: 3,
            outcome: Outcome::http(status),
            failure,
            ..Sample::default()
        }
    }

    fn samples() -> [Sample; 4] {
        [
            sample(200, FailureKind::None, 100),
            sample(404, FailureKind::None, 200),
            sample(0, FailureKind::Timeout, 300),
            sample(5000, FailureKind::None, 400),
        ]
    }

    #[test]
    fn hits_are_counted_once_everywhere() {
        let mut snapshot = Snapshot::new();
        samples().iter().for_each(|sample| snapshot.record(sample));
        assert_eq!((snapshot.hits(), snapshot.successes), (4, 1));
        assert_eq!(
            [Outcome::Http(200), Outcome::Http(404), Outcome::None]
                .map(|o| snapshot.outcomes.of(o)),
            [1, 1, 2]
        );
        assert_eq!(snapshot.failures[FailureKind::Timeout as usize], 1);
        assert_eq!((snapshot.bytes_out, snapshot.bytes_in, snapshot.wire_in), (4, 8, 12));
        assert_eq!((snapshot.response.max(), snapshot.service.max()), (Nanos(400), Nanos(390)));
    }

    #[test]
    fn cores_merge_to_the_whole() {
        let (mut whole, mut left, mut right) = (Snapshot::new(), Snapshot::new(), Snapshot::new());
        for (at, sample) in samples().iter().enumerate() {
            whole.record(sample);
            if at % 2 == 0 { left.record(sample) } else { right.record(sample) }
        }
        (left.from, left.to) = (Nanos(5), Nanos(9));
        (right.from, right.to) = (Nanos(4), Nanos(8));
        let mut merged = Snapshot::new();
        merged.merge(&left);
        merged.merge(&right);
        assert_eq!((merged.from, merged.to), (Nanos(4), Nanos(9)));
        assert_eq!((&merged.response, &merged.service), (&whole.response, &whole.service));
        assert_eq!((merged.outcomes, merged.failures), (whole.outcomes, whole.failures));
        left.clear();
        assert_eq!((left.hits(), left.bytes_in, left.to), (0, 0, Nanos(0)));
    }
}
