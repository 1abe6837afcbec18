//! `Place`: a worker's place among those that take part in a schedule, which is one of fewer where the rate is low.

use workload::arrival::{Rate, Shard};

use crate::prepared::Prepared;
use crate::share::share;
use crate::worker_count::{may_lie_idle, workers_at_start};
use crate::worker_demand::WorkerDemand;

/// A worker's place among those that take part in a schedule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    worker: u64,
    /// The run's.
    workers: u64,
    /// Those that take part now; the first ones.
    taking_part: u64,
    /// How many a rate keeps busy; `None` where all take part at any rate.
    demand: Option<WorkerDemand>,
}

impl Place {
    /// The place of this worker, one of `workers`, in the load as planned.
    pub(crate) fn of(prepared: &Prepared, worker: u64, workers: u64) -> Self {
        let taking_part = workers_at_start(prepared, workers);
        let demand = may_lie_idle(prepared).then_some(prepared.demand);
        Self { worker, workers, taking_part, demand }
    }

    /// Its place once the load is of this rate.
    pub(crate) fn at(self, rate: Rate) -> Self {
        let busy = self.demand.map_or(self.workers, |demand| demand.workers_at(rate.per_s()));
        Self { taking_part: busy.min(self.workers), ..self }
    }

    /// Its hits, where it takes part.
    pub(crate) fn shard(self) -> Shard {
        Shard { first: self.worker, step: self.taking_part }
    }

    /// Whether it has no part in the load.
    pub(crate) fn is_idle(self) -> bool {
        self.worker >= self.taking_part
    }

    /// Whether as many take part there.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        self.taking_part == other.taking_part
    }

    /// Its share of a whole; that of a worker without a part in the load is what it would have if all took part.
    pub(crate) fn share(self, total: u64) -> u64 {
        let among = if self.is_idle() { self.workers } else { self.taking_part };
        share(total, self.worker, among)
    }

    /// The first number of a worker's hits, all of which come after those of all workers, of which there may have been so many:
    /// as many as expected, and what chance and uneven shares may add to them.
    pub(crate) fn number_past(self, expected: f64) -> u64 {
        let chance = 8.0 * expected.sqrt() + 16.0;
        (expected + chance).ceil() as u64 + self.workers
    }

    #[cfg(test)]
    pub(crate) fn of_test(
        worker: u64,
        workers: u64,
        planned: Rate,
        demand: Option<WorkerDemand>,
    ) -> Self {
        Self { worker, workers, taking_part: workers, demand }.at(planned)
    }
}
