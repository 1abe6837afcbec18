//! `VuStats`: what a pool of VUs has counted.

use std::collections::BTreeMap;

use metrics::tally::Tally;

use crate::host::exception::Exception;

/// What scenarios and groups did, by the scenario's name (empty for what is in none) and the group's path (empty for all of
/// the scenario).
pub type GroupTallies = BTreeMap<(String, String), Tally>;

/// What was seen of the work of one pool, or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VuStats {
    /// The metrics.
    pub tally: Tally,
    /// The same of each scenario and group, where the plan wants it.
    pub parts: GroupTallies,
    /// Iterations that were completed.
    pub iterations: u64,
    /// Iterations that were ended before.
    pub interrupted: u64,
    /// What the function returned last, as JSON.
    pub returned: Option<String>,
    /// The first exception of an iteration.
    pub exception: Option<Exception>,
    /// Samples that scripts made faster than they were taken.
    pub samples_dropped: u64,
}

impl VuStats {
    /// Adds another pool's.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        for (at, tally) in &other.parts {
            merge_part(&mut self.parts, at.clone(), tally);
        }
        self.iterations += other.iterations;
        self.interrupted += other.interrupted;
        self.samples_dropped += other.samples_dropped;
        self.returned = self.returned.take().or_else(|| other.returned.clone());
        self.exception = self.exception.take().or_else(|| other.exception.clone());
    }
}

/// Adds what another counted of a part.
pub(crate) fn merge_part(all: &mut GroupTallies, at: (String, String), other: &Tally) {
    match all.get_mut(&at) {
        Some(known) => known.merge(other),
        None => drop(all.insert(at, other.clone())),
    }
}
