//! `Live`: what is seen of the crews' work while it goes on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::tally::Tally;
use stdx::Nanos;

/// What is seen of the crews' work while it goes on: each tells of itself a few times a second.
#[derive(Debug, Default)]
pub struct Live {
    parts: Mutex<Vec<Part>>,
    /// Somebody wants to know the metrics as well, once a second.
    wants_tally: bool,
}

/// One crew's.
#[derive(Debug)]
struct Part {
    lane: u64,
    counts: Counts,
    tally: Option<Tally>,
}

/// How much was done, and by how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// VUs that were made.
    pub vus: u64,
    /// Those of them that are in an iteration.
    pub busy: u64,
    /// Iterations that came to their end, by the number of their scenario.
    pub iterations: Vec<u64>,
    /// Iterations that were ended before.
    pub interrupted: u64,
}

/// How often a crew tells of itself.
pub(super) const COUNTS_EVERY: Nanos = Nanos::from_millis(200);
/// How often of its metrics.
pub(super) const TALLY_EVERY: Nanos = Nanos::from_secs(1);

impl Live {
    /// Nothing seen yet.
    #[must_use]
    pub fn new(wants_tally: bool) -> Self {
        Self { parts: Mutex::default(), wants_tally }
    }

    /// Whether somebody wants to know the metrics.
    pub(super) fn wants_tally(&self) -> bool {
        self.wants_tally
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Part>> {
        // What is locked here is whole at any moment.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A crew tells of itself.
    pub(super) fn tell(&self, lane: u64, counts: Counts, tally: Option<Tally>) {
        let mut parts = self.parts();
        match parts.iter_mut().find(|part| part.lane == lane) {
            Some(part) => {
                part.counts = counts;
                part.tally = tally.or(part.tally.take());
            }
            None => parts.push(Part { lane, counts, tally }),
        }
    }

    /// What all crews told last.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for Part { counts, .. } in self.parts().iter() {
            all.vus += counts.vus;
            all.busy += counts.busy;
            all.interrupted += counts.interrupted;
            all.iterations.resize(all.iterations.len().max(counts.iterations.len()), 0);
            all.iterations.iter_mut().zip(&counts.iterations).for_each(|(sum, n)| *sum += n);
        }
        all
    }

    /// Adds the metrics that all crews told last.
    pub fn add_tally(&self, into: &mut Tally) {
        for part in self.parts().iter() {
            part.tally.iter().for_each(|tally| into.merge(tally));
        }
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::{MetricId, Value};

    use super::*;

    #[test]
    fn the_last_word_of_each_crew_counts() {
        let live = Live::new(true);
        let counts = |n: u64| Counts { vus: 1, busy: 1, iterations: vec![n], interrupted: 0 };
        let mut tally = Tally::default();
        tally.add(MetricId::ITERATIONS, 1.0, &());
        live.tell(0, counts(3), Some(tally.clone()));
        live.tell(1, counts(4), Some(tally));
        live.tell(0, counts(5), None);
        assert_eq!(live.counts(), Counts { vus: 2, busy: 2, iterations: vec![9], interrupted: 0 });
        let mut all = Tally::default();
        live.add_tally(&mut all);
        assert_eq!(all.value("iterations").map(Value::count), Some(2));
    }
}
