//! `AbObserver`: counts a run's rows, prints progress, and ends the run where ab would.

use cli::eprint_line;
use metrics::{Batch, FailureKind, Generator, Sample, Snapshot, Summary};
use report::ab::{Figures, Outcome, Tls, log};
use session::{Control, Observer, ObserverError, SessionOutcome};
use stdx::Nanos;

use super::error::{AbError, NO_ADDRESS, no_name};
use super::flags::AbFlags;
use super::stdout::print;

/// How long after the time limit what is under way may still end.
const LATE_MAX: Nanos = Nanos::SECOND;
/// Connections that may fail for another reason than a refusal before ab gives up.
const CONNECT_FAILURES_MAX: u64 = 10;

/// The number of requests after which progress is printed each time; `None` where it is not.
pub(super) fn progress_interval(flags: &AbFlags) -> Option<u64> {
    (flags.requests > 150 && !flags.quiet).then(|| (flags.requests / 10).max(100))
}

/// Counts a run's rows and ends it where ab would.
pub(super) struct AbObserver<'a> {
    flags: &'a AbFlags,
    pub(super) figures: Figures,
    /// What the verdict is made from.
    pub(super) summary: Summary,
    /// The first failure that ends ab.
    fatal: Option<Fatal>,
    /// Requests that ended before it.
    ended_well: u64,
    /// When the last hit ended of which a row came.
    last_done: Nanos,
    ended_by: Option<End>,
    handshake_reported: bool,
}

/// How a run ended that was not ended by a failure.
#[derive(Clone, Debug, Default)]
pub(super) struct RunEnd {
    /// The user ended it.
    pub(super) interrupted: bool,
    /// How long the test took, if it did not end with its last response.
    pub(super) taken: Nanos,
    /// The generator's final record.
    pub(super) generator: Option<Generator>,
    /// How connections were secured.
    pub(super) tls: Option<Tls>,
}

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    TimeUp,
    Interrupt,
    Failure,
    Silence,
}

/// A failure that ends ab.
#[derive(Clone, Copy, Debug)]
struct Fatal {
    kind: FailureKind,
    done: Nanos,
    /// It is the last of several.
    after_several: bool,
}

impl<'a> AbObserver<'a> {
    pub(super) fn new(flags: &'a AbFlags, figures: Figures) -> Self {
        Self {
            flags,
            figures,
            summary: Summary::new(),
            fatal: None,
            ended_well: 0,
            last_done: Nanos::ZERO,
            ended_by: None,
            handshake_reported: false,
        }
    }

    /// The run's outcome. `name` is the host that was looked up, for the message that it is unknown.
    pub(super) fn conclude(&self, outcome: SessionOutcome, name: &str) -> Result<RunEnd, AbError> {
        if self.ended_by == Some(End::Silence) {
            self.print_total(self.figures.complete);
            return Err(silent(self.flags.timeout));
        }
        if let Some(fatal) = self.fatal {
            return Err(self.fatal(fatal, name));
        }
        let limit = seconds(self.flags.time_limit.unwrap_or(0));
        Ok(RunEnd {
            interrupted: self.ended_by == Some(End::Interrupt),
            taken: match self.ended_by {
                Some(End::TimeUp) => limit,
                Some(_) => outcome.ended,
                None => Nanos::ZERO,
            },
            generator: Some(outcome.generator),
            tls: None,
        })
    }

    /// Rows known up to `now` say how long nothing ended.
    fn check_idle_timeout(&mut self, now: Nanos) {
        let limit = seconds(self.flags.time_limit.unwrap_or(0));
        if limit > Nanos::ZERO && now >= limit + LATE_MAX {
            self.ended_by.get_or_insert(End::TimeUp);
        } else if self.flags.timeout > 0
            && now.saturating_sub(self.last_done) >= seconds(self.flags.timeout)
        {
            self.ended_by.get_or_insert(End::Silence);
        }
    }

    /// Notes the first failure that ends ab.
    fn note_failure(&mut self, sample: &Sample, batch: &Batch) {
        let error = batch.text(sample.error);
        if sample.failure == FailureKind::Tls && !self.handshake_reported {
            self.handshake_reported = true;
            let reason = report::ab::printable(error);
            eprint_line(&format!("SSL handshake failed (1).\nbrunt ab: {reason}"));
        }
        let several = self.figures.connect > CONNECT_FAILURES_MAX;
        let ends = match (sample.failure, Outcome::of(sample, error)) {
            (FailureKind::Dns | FailureKind::DescriptorsExhausted, _) => true,
            (FailureKind::Refused, _) | (_, Outcome::Receive) => !self.flags.go_on,
            (FailureKind::Dial | FailureKind::PortsExhausted, _) => several,
            _ => false,
        };
        if self.fatal.is_some_and(|fatal| sample.done >= fatal.done) {
            return;
        }
        if ends {
            let (kind, done) = (sample.failure, sample.done);
            let after_several = matches!(kind, FailureKind::Dial | FailureKind::PortsExhausted);
            self.fatal = Some(Fatal { kind, done, after_several });
        } else {
            self.ended_well += 1;
        }
    }

    /// The error text of a failure that ended ab.
    fn fatal(&self, fatal: Fatal, name: &str) -> AbError {
        if fatal.kind == FailureKind::Dns {
            return no_name(name);
        }
        self.print_total(self.ended_well);
        let (call, words, code, advice) = match fatal.kind {
            FailureKind::Reset => {
                ("apr_socket_recv", "Connection reset by peer", 104, "-r counts resets and goes on")
            }
            FailureKind::Refused => {
                ("apr_socket_recv", "Connection refused", 111, "nobody listens there")
            }
            FailureKind::DescriptorsExhausted => {
                ("socket", "Too many open files", 24, "ulimit -n allows no more connections")
            }
            FailureKind::PortsExhausted => (
                "apr_socket_connect()",
                "Cannot assign requested address",
                NO_ADDRESS,
                "no local port was left; -k needs fewer of them",
            ),
            _ => ("apr_socket_connect()", "No route to host", 113, "there is no way there"),
        };
        let before = if fatal.after_several { "\nTest aborted after 10 failures\n\n" } else { "" };
        let text = format!("{before}{call}: {words} ({code})\nbrunt ab: {advice}");
        AbError::Message { code, text }
    }

    fn print_total(&self, completed: u64) {
        if completed > 0 {
            print(&format!("Total of {completed} requests completed\n"));
        }
    }
}

impl Observer for AbObserver<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.summary.add(batch);
        for sample in &batch.samples {
            let before = self.figures.complete;
            self.figures.add_one(sample, batch);
            self.last_done = self.last_done.max(sample.done);
            if let Some(interval) = progress_interval(self.flags)
                && self.figures.complete > before
                && self.figures.complete.is_multiple_of(interval)
            {
                eprint_line(&format!("Completed {} requests", self.figures.complete));
            }
            if self.flags.verbosity >= 2 && sample.failure == FailureKind::None {
                print(&log(sample, batch, self.flags.verbosity));
            }
            self.note_failure(sample, batch);
        }
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, _: &mut Control<'_>) {
        self.check_idle_timeout(snapshot.to);
    }

    /// Ends the run where it is to end before its plan does.
    fn tick(&mut self, control: &mut Control<'_>) {
        if self.ended_by.is_none() {
            self.ended_by = if control.interrupts() > 0 {
                Some(End::Interrupt)
            } else if self.fatal.is_some() {
                Some(End::Failure)
            } else {
                return;
            };
        }
        control.abort();
    }
}

/// The error text if no request ended for so many seconds.
pub(super) fn silent(timeout: i64) -> AbError {
    let text = format!(
        "apr_pollset_poll: The timeout specified has expired (70007)\nbrunt ab: no request ended for {timeout} s (-s)"
    );
    AbError::Message { code: TIMEOUT, text }
}

/// The low byte of APR's number for a timeout.
const TIMEOUT: u8 = 119;

/// Whole seconds; a negative number is zero.
fn seconds(count: i64) -> Nanos {
    Nanos::from_secs(u64::try_from(count).unwrap_or(0))
}
