//! `Encode`: how an output adds samples up and writes them.

use crate::sample::Sample;

/// Makes payloads of samples.
pub(crate) trait Encode: Send {
    /// Takes a sample.
    fn add(&mut self, sample: &Sample<'_>);

    /// What is to be sent now, oldest first; each is sent on its own.
    fn payloads(&mut self, flush: Flush) -> Vec<Vec<u8>>;

    /// Whether payloads should not wait for the interval.
    fn is_full(&self) -> bool {
        false
    }

    /// Samples of series beyond the limit, which are not sent.
    fn refused(&self) -> u64 {
        0
    }
}

/// Why payloads are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flush {
    /// The Unix time in nanoseconds.
    pub(crate) unix_ns: i64,
    /// Whether the run is over.
    pub(crate) is_last: bool,
}
