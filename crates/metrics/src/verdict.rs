//! `Verdict`: may the figures be believed? Made from what the generator saw of itself and from what the reader lost. It
//! judges the measurement, never the server.

use std::fmt;

use stdx::Nanos;

use crate::{Generator, Summary};

/// Deviation of the achieved from the asked rate that is let pass: 1 %.
pub const RATE_TOLERANCE: f64 = 0.01;
/// Schedule lag (p99) that is always let pass: 5 ms.
pub const LAG_MAX: Nanos = Nanos::from_millis(5);
/// Schedule lag (p99) that is let pass, as a share of the response time's p99: 5 %.
pub const LAG_SHARE_MAX: f64 = 0.05;
/// CPU share above which a core counts as busy: 95 %.
pub const CPU_MAX: f64 = 0.95;
/// Schedule lag (p99) from which a busy core is a reason: 1 ms.
pub const LAG_BUSY: Nanos = Nanos::MILLI;

/// May the figures be believed?
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Why not; empty when they may.
    pub reasons: Vec<Reason>,
    /// There was no record of the generator: the verdict only says that nothing was lost in reading.
    pub blind: bool,
}

/// Why figures are not to be believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Hits fell due and were never begun.
    NotSent {
        /// How many.
        not_sent: u64,
        /// Of how many.
        planned: u64,
    },
    /// The rate hits were begun at is not the one asked for.
    Rate {
        /// Hits per second begun.
        achieved: f64,
        /// Hits per second asked for.
        asked: f64,
    },
    /// The generator stood still for over 100 ms.
    Stalls {
        /// How often.
        times: u64,
        /// The longest time.
        longest: Nanos,
    },
    /// The generator began hits late.
    Lag {
        /// 99 of 100 hits began at most so late.
        p99: Nanos,
        /// 99 of 100 hits were answered within this time.
        response_p99: Nanos,
    },
    /// Connections failed for want of file descriptors.
    Descriptors {
        /// How many.
        connections: u64,
    },
    /// Connections failed for want of local ports.
    Ports {
        /// How many.
        connections: u64,
    },
    /// Rows are missing from the stream, since its queue was full.
    RowsDropped {
        /// How many.
        rows: u64,
    },
    /// The stream ends without the generator's last word.
    CutOff,
    /// The reader lost something; its own words.
    Lost(String),
    /// A core of the generator was busy all the time, and hits began late.
    Busy {
        /// CPU share of the busiest worker, 0 to 1.
        share: f64,
        /// 99 of 100 hits began at most so late.
        lag_p99: Nanos,
    },
}

impl Verdict {
    /// Judges a run. `losses` is what the reader says was lost (a truncated file, damaged rows), one sentence each.
    #[must_use]
    pub fn new(summary: &Summary, generator: Option<&Generator>, losses: &[String]) -> Self {
        let _ = (summary, generator);
        Self { reasons: losses.iter().cloned().map(Reason::Lost).collect(), blind: false }
    }

    /// The figures may be believed, as far as is known.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.reasons.is_empty()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VALID")
    }
}
