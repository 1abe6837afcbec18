//! `OutcomeCounts`: hits by outcome, in memory of a fixed size.

use crate::{GrpcStatus, Outcome};

/// Statuses of HTTP counted one by one; others are counted with those without an answer.
pub const STATUS_MAX: usize = 1000;

/// Hits by outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// By status of HTTP; index 0 counts those without an answer.
    http: Box<[u64; STATUS_MAX]>,
    /// By status of gRPC.
    grpc: [u64; GrpcStatus::ALL as usize],
    messages: u64,
}

impl OutcomeCounts {
    /// Of nothing, with all its memory, so that recording never allocates.
    #[must_use]
    pub fn new() -> Self {
        Self { http: Box::new([0; STATUS_MAX]), grpc: [0; _], messages: 0 }
    }

    /// Counts a hit.
    pub fn record(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::None => self.http[0] += 1,
            Outcome::Http(status) => {
                let status = usize::from(status);
                self.http[if status < STATUS_MAX { status } else { 0 }] += 1;
            }
            Outcome::Grpc(status) => self.grpc[usize::from(status.number())] += 1,
            Outcome::Message => self.messages += 1,
        }
    }

    /// The hits of an outcome.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::None => self.http[0],
            Outcome::Http(status) => self.http.get(usize::from(status)).copied().unwrap_or(0),
            Outcome::Grpc(status) => self.grpc[usize::from(status.number())],
            Outcome::Message => self.messages,
        }
    }

    /// Adds all that another counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.http.iter_mut().zip(other.http.iter()) {
            *mine += theirs;
        }
        for (mine, theirs) in self.grpc.iter_mut().zip(&other.grpc) {
            *mine += theirs;
        }
        self.messages += other.messages;
    }

    /// Back to nothing; the memory stays.
    pub fn clear(&mut self) {
        self.http.fill(0);
        self.grpc.fill(0);
        self.messages = 0;
    }

    /// The outcomes with hits: no answer, HTTP's statuses, those of gRPC, messages.
    pub fn list(&self) -> impl Iterator<Item = (Outcome, u64)> {
        let http = self.http.iter().enumerate();
        let http = http.map(|(status, hits)| (Outcome::http(status as u16), *hits));
        let grpc = (0..).zip(&self.grpc);
        let grpc = grpc.map(|(n, hits)| (Outcome::Grpc(GrpcStatus::from_number(n)), *hits));
        let messages = [(Outcome::Message, self.messages)];
        http.chain(grpc).chain(messages).filter(|(_, hits)| *hits > 0)
    }
}

impl Default for OutcomeCounts {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_counted_once_and_in_order() {
        let unavailable = Outcome::Grpc(GrpcStatus::from_number(14));
        let seen = [Outcome::Message, unavailable, Outcome::Http(404), Outcome::None, unavailable];
        let mut counts = OutcomeCounts::new();
        seen.into_iter().for_each(|outcome| counts.record(outcome));
        let mut twice = counts.clone();
        twice.merge(&counts);
        let expect =
            [(Outcome::None, 2), (Outcome::Http(404), 2), (unavailable, 4), (Outcome::Message, 2)];
        assert_eq!(twice.list().collect::<Vec<_>>(), expect);
        assert!(expect.iter().all(|(outcome, hits)| twice.of(*outcome) == *hits));
        twice.clear();
        assert_eq!(twice, OutcomeCounts::new());
    }
}
