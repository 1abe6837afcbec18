//! The input of reports in other tools' layouts: the measurements, and the load on the command line.

use metrics::{FailureKind, Generator, Phases, Summary};
use stdx::Nanos;

/// What was seen.
#[derive(Clone, Copy, Debug)]
pub struct Measurement<'a> {
    /// The figures.
    pub summary: &'a Summary,
    /// What hits spent their time on.
    pub phases: &'a Phases,
    /// What the generator saw of itself; absent in foreign formats.
    pub generator: Option<&'a Generator>,
}

/// The load on the command line, which those tools repeat at the top of their reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The URL, as the tool prints it.
    pub url: String,
    /// Threads.
    pub threads: u64,
    /// Connections, in all or for each thread, as the tool counts.
    pub connections: u64,
    /// How long it was to take.
    pub duration: Nanos,
    /// Connections are reused.
    pub keepalive: bool,
}

impl Offered {
    /// The load that the results suggest, where the command line is unknown.
    #[must_use]
    pub fn guessed(url: &str, seen: &Measurement<'_>) -> Self {
        let generator = seen.generator;
        let connections = generator.map_or(0, |generator| match generator.users {
            0 => generator.connections,
            users => users,
        });
        Self {
            url: url.to_owned(),
            threads: generator.map_or(1, |generator| u64::from(generator.workers)).max(1),
            connections: connections.max(1),
            duration: seen.elapsed(),
            keepalive: seen.phases.reused > 0,
        }
    }
}

impl Measurement<'_> {
    /// From the first hit's due time to the last hit's end.
    pub(crate) fn elapsed(&self) -> Nanos {
        self.summary.duration().saturating_add(self.summary.wait())
    }

    /// `n` in each second of the time that passed; 0 where none did.
    pub(crate) fn per_second(&self, n: f64) -> f64 {
        let elapsed = self.elapsed().as_secs_f64();
        if elapsed > 0.0 { n / elapsed } else { 0.0 }
    }

    /// Response bytes on the wire; the bodies' where the format does not know them.
    pub(crate) fn bytes_read(&self) -> u64 {
        if self.summary.wire_in > 0 { self.summary.wire_in } else { self.summary.bytes_in }
    }

    /// Hits that failed in one of these ways.
    pub(crate) fn failed(&self, kinds: &[FailureKind]) -> u64 {
        kinds.iter().map(|kind| self.summary.failures[*kind as usize]).sum()
    }

    /// Hits that were under way when the run was stopped.
    pub(crate) fn stopped(&self) -> u64 {
        self.failed(&[FailureKind::Stopped])
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use metrics::{Batch, Sample};

    use super::*;

    /// The load of a small run.
    pub(crate) fn offered() -> Offered {
        Offered {
            url: "http://h:1/p".to_owned(),
            threads: 2,
            connections: 4,
            duration: Nanos::from_secs(2),
            keepalive: true,
        }
    }

    /// Six responses of 11 to 60 ms, the first two on connections of their own, one a 404; one refused, one reset, one stopped
    /// with the run, 300 ms after its start.
    pub(crate) fn batch() -> Batch {
        let mut batch = Batch { epoch: 1_700_000_000_000_000_000, ..Batch::default() };
        let ms = Nanos::from_millis;
        let mut push = |due: u64, took: u64, status, failure, text: &str| {
            let error = batch.add_text(text.as_bytes());
            let first = due < 30;
            batch.samples.push(Sample {
                intended: ms(due),
                sent: ms(due + 1),
                first_byte: ms(due + took),
                done: ms(due + 1 + took),
                dial: if first { Nanos::from_micros(500) } else { Nanos::ZERO },
                bytes_in: 400,
                bytes_out: 10,
                wire_in: 500,
                reused: !first,
                outcome: metrics::Outcome::http(status),
                failure,
                error,
                ..Sample::default()
            });
        };
        for (due, took) in [(0, 11), (20, 20), (40, 30), (90, 30), (140, 50)] {
            push(due, took, 200, FailureKind::None, "");
        }
        push(200, 60, 404, FailureKind::None, "404 Not Found");
        for sample in &mut batch.samples {
            sample.seq = sample.intended.0;
        }
        let mut fail = |failure, text: &str, done| {
            let error = batch.add_text(text.as_bytes());
            let (sent, done) = (ms(250), ms(done));
            batch.samples.push(Sample {
                intended: sent,
                sent,
                first_byte: done,
                done,
                failure,
                error,
                ..Sample::default()
            });
        };
        fail(
            FailureKind::Refused,
            "Get \"http://h:1/p\": dial tcp 0.0.0.0:0->127.0.0.1:1: connect: connection refused",
            250,
        );
        fail(FailureKind::Reset, "read: reset", 260);
        fail(FailureKind::Stopped, "stopped", 300);
        batch
    }

    /// The result of `look` for that run.
    pub(crate) fn seen_by<T>(look: impl FnOnce(&Measurement<'_>) -> T) -> T {
        let (mut summary, mut phases, batch) = (Summary::new(), Phases::new(), batch());
        summary.add(&batch);
        phases.add(&batch);
        let generator = Generator { workers: 2, users: 4, connections: 2, ..Generator::new() };
        look(&Measurement { summary: &summary, phases: &phases, generator: Some(&generator) })
    }

    #[test]
    fn the_load_is_guessed_from_the_results() {
        let guess = seen_by(|seen| Offered::guessed("http://h:1/p", seen));
        assert_eq!(guess, Offered { duration: Nanos::from_millis(300), ..offered() });
    }
}
