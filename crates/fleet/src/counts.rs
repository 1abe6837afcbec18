//! `Counts`: what became of the requests of one agent, as a delta or from its start.

use serde::{Deserialize, Serialize};

/// What became of requests. `planned = answered + failed + not_sent`, and those still under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Requests that fell due.
    pub planned: u64,
    /// Requests that ended with a response.
    pub answered: u64,
    /// Requests that ended without one.
    pub failed: u64,
    /// Requests that fell due and were never sent.
    pub not_sent: u64,
}

impl Counts {
    /// The sum of both; `None` where a count passes 2^64, which only a false message can cause.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self {
            planned: self.planned.checked_add(other.planned)?,
            answered: self.answered.checked_add(other.answered)?,
            failed: self.failed.checked_add(other.failed)?,
            not_sent: self.not_sent.checked_add(other.not_sent)?,
        })
    }

    /// Requests that fell due and whose end these counts do not have: under way while the agent runs, *unknown* once it died.
    #[must_use]
    pub fn open(self) -> u64 {
        let ended = self.answered.saturating_add(self.failed).saturating_add(self.not_sent);
        self.planned.saturating_sub(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_requests_are_the_difference() {
        let counts = Counts { planned: 10, answered: 6, failed: 1, not_sent: 1 };
        assert_eq!(counts.open(), 2);
        let twice = counts.checked_add(counts).unwrap();
        assert_eq!((twice.planned, twice.open()), (20, 4));
        let most = Counts { failed: u64::MAX, ..Counts::default() };
        assert_eq!(most.checked_add(counts), None);
        assert_eq!(most.open(), 0, "false counts do not overflow");
    }
}
