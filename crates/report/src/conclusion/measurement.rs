//! `Measurement`: what the verdict on the load generator leaves of a run's figures.

use metrics::{Reason, Verdict};

/// The verdict on the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Measurement {
    #[default]
    Valid,
    /// Nothing speaks against it, and the results hold no record of the load generator.
    Blind,
    /// The generator was late, which adds to response times and to the backlog, and takes nothing from them.
    Late,
    /// Iterations fell due while all of a script's users were at work, and were not begun: the load was less than asked for, and what
    /// the server could not do with it stands.
    NotBegun,
    Invalid,
}

impl Measurement {
    /// That users were never answered is a fact of the server, which the first sentence has: it says what the load was, and takes nothing
    /// from what was answered.
    pub(super) fn of(verdict: &Verdict) -> Self {
        let is_load = |reason: &&Reason| matches!(reason, Reason::NeverAnswered { .. });
        let doubts: Vec<&Reason> = verdict.reasons.iter().filter(|one| !is_load(one)).collect();
        match doubts.as_slice() {
            [] if verdict.blind => Self::Blind,
            [] => Self::Valid,
            doubts if doubts.iter().all(|one| one.is_lateness()) => Self::Late,
            doubts if doubts.iter().all(|one| one.is_lateness() || is_not_begun(one)) => {
                Self::NotBegun
            }
            _ => Self::Invalid,
        }
    }

    /// No reason speaks against it.
    pub(super) const fn is_good(self) -> bool {
        matches!(self, Self::Valid | Self::Blind)
    }
}

fn is_not_begun(reason: &Reason) -> bool {
    matches!(reason, Reason::NotBegun { .. })
}
