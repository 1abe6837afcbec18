//! `FailureCounts`: hits that failed, by reason: an answer without success, or the way a request got none.

use crate::{FailureKind, Outcome, Sample};

/// Reasons that are counted one by one; hits that failed for further ones are counted together.
const REASONS_MAX: usize = 16;

/// Why a hit was no success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReason {
    /// An answer that is no success.
    Outcome(Outcome),
    /// No answer, or none that could be read.
    Kind(FailureKind),
}

impl FailureReason {
    /// `status 503`, `status UNAVAILABLE`, `timed out`.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Outcome(outcome) => format!("status {outcome}"),
            Self::Kind(kind) => kind.in_words().to_owned(),
        }
    }

    /// The key of JSON: `503`, `UNAVAILABLE`, `timeout`.
    #[must_use]
    pub fn key(self) -> String {
        match self {
            Self::Outcome(outcome) => outcome.to_string(),
            Self::Kind(kind) => kind.name().to_owned(),
        }
    }
}

/// Failed hits by reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailureCounts {
    /// In the order they were first seen.
    list: Vec<(FailureReason, u64)>,
    /// Hits of further reasons.
    more: u64,
}

impl FailureCounts {
    /// Counts a hit that is no success.
    pub(crate) fn record(&mut self, sample: &Sample) {
        let reason = match sample.failure {
            FailureKind::None => FailureReason::Outcome(sample.outcome),
            kind => FailureReason::Kind(kind),
        };
        self.add(reason, 1);
    }

    /// Counts so many hits that failed for one reason.
    pub(crate) fn add(&mut self, reason: FailureReason, hits: u64) {
        let known = self.list.iter().position(|(known, _)| *known == reason);
        match known {
            Some(at) => self.list[at].1 += hits,
            None if hits == 0 => {}
            None if self.list.len() < REASONS_MAX => self.list.push((reason, hits)),
            None => self.more += hits,
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (reason, hits) in &other.list {
            self.add(*reason, *hits);
        }
        self.more += other.more;
    }

    /// The reasons with their hits, the most frequent first; at most 16.
    #[must_use]
    pub fn most_frequent(&self) -> Vec<(FailureReason, u64)> {
        let mut all = self.list.clone();
        all.sort_by_key(|(_, hits)| std::cmp::Reverse(*hits));
        all
    }

    /// Hits that failed for reasons beyond those counted one by one.
    #[must_use]
    pub fn more(&self) -> u64 {
        self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_reasons_come_first_and_no_more_than_sixteen() {
        let mut counts = FailureCounts::default();
        let status = |status| Sample { outcome: Outcome::Http(status), ..Sample::default() };
        let timeout = Sample { failure: FailureKind::Timeout, ..Sample::default() };
        for sample in [status(500), timeout, timeout] {
            counts.record(&sample);
        }
        let words: Vec<_> =
            counts.most_frequent().into_iter().map(|(why, n)| (why.in_words(), n)).collect();
        assert_eq!(words, [("timed out".to_owned(), 2), ("status 500".to_owned(), 1)]);
        assert_eq!(counts.most_frequent()[1].0.key(), "500");
        (501..550).for_each(|code| counts.record(&status(code)));
        let mut twice = counts.clone();
        twice.merge(&counts);
        assert_eq!((counts.most_frequent().len(), counts.more()), (16, 35));
        assert_eq!((twice.most_frequent()[0].1, twice.more()), (4, 70));
    }
}
