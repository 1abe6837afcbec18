//! `LiveMetrics`: the metrics of pools while their work goes on.

use std::sync::{Mutex, MutexGuard, PoisonError};

use metrics::tally::Tally;
use stdx::Nanos;

/// The metrics of all pools while the test runs, as each published them last.
#[derive(Debug, Default)]
pub struct LiveMetrics(Mutex<Vec<(u64, Tally)>>);

/// How often a pool publishes its metrics.
pub(crate) const PUBLISH_EVERY: Nanos = Nanos::from_secs(1);

impl LiveMetrics {
    fn parts(&self) -> MutexGuard<'_, Vec<(u64, Tally)>> {
        // What is locked here is whole at any moment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the metrics of a pool, or of a machine with pools, named by its lane.
    pub fn publish(&self, lane: u64, tally: &Tally) {
        let mut parts = self.parts();
        match parts.iter_mut().find(|part| part.0 == lane) {
            Some(part) => part.1.clone_from(tally),
            None => parts.push((lane, tally.clone())),
        }
    }

    /// Adds what all pools published last.
    pub fn add(&self, into: &mut Tally) {
        self.parts().iter().for_each(|part| into.merge(&part.1));
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::{MetricId, Value};

    use super::*;

    #[test]
    fn the_last_word_of_each_crew_counts() {
        let live = LiveMetrics::default();
        let mut tally = Tally::default();
        for lane in [0, 1, 0] {
            tally.add(MetricId::ITERATIONS, 1.0, &());
            live.publish(lane, &tally);
        }
        let mut all = Tally::default();
        live.add(&mut all);
        assert_eq!(all.value("iterations").map(Value::count), Some(3 + 2));
    }
}
