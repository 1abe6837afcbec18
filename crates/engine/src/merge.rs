//! `Merge`: adds the counts of several workers up.

use std::sync::mpsc::SyncSender;

use metrics::{Generator, Histogram, Sketch, Snapshot};

/// Adds the counts of several workers up.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The plan's part of the generator's record, which the workers do not know.
    plan: Generator,
    workers: Vec<WorkerCounts>,
    /// The counts since the last account.
    sum: Snapshot,
    /// All schedule lag so far; workers send it piece by piece.
    lag: Histogram,
    /// Likewise [`Generator::on_time`].
    on_time: Sketch,
    /// Ways back for the workers' snapshots.
    spares: Vec<SyncSender<Box<Snapshot>>>,
    over: bool,
}

/// The last counts of one worker.
#[derive(Debug, Default)]
struct WorkerCounts {
    generator: Generator,
    in_flight: u64,
    since_last: bool,
    ended: bool,
}

impl Merge {
    pub(crate) fn new(plan: Generator, spares: Vec<SyncSender<Box<Snapshot>>>) -> Self {
        let workers = spares.iter().map(|_| WorkerCounts::default()).collect();
        let (lag, on_time) = (Histogram::new(), Sketch::new());
        Self { plan, workers, sum: Snapshot::new(), lag, on_time, spares, over: false }
    }

    /// A worker's counts; gives the account once every worker that still runs has sent its counts.
    pub(crate) fn add(
        &mut self,
        worker: usize,
        mut snapshot: Box<Snapshot>,
    ) -> Option<Box<Snapshot>> {
        self.take(worker, &mut snapshot);
        snapshot.clear();
        // The worker may have ended meanwhile; its snapshot is then not needed.
        self.spares[worker].try_send(snapshot).ok();
        let complete = self.workers.iter().all(|worker| worker.ended || worker.since_last);
        complete.then(|| self.account())
    }

    /// A worker's last counts; gives the last account after the last worker.
    pub(crate) fn end(
        &mut self,
        worker: usize,
        mut snapshot: Box<Snapshot>,
        interrupted: bool,
    ) -> Option<Box<Snapshot>> {
        self.take(worker, &mut snapshot);
        self.workers[worker].ended = true;
        if !self.workers.iter().all(|worker| worker.ended) {
            return None;
        }
        self.over = true;
        let mut last = self.account();
        last.generator.finished = true;
        last.generator.interrupted = interrupted;
        Some(last)
    }

    /// The workers are gone without a final record; gives the counts so far, once.
    pub(crate) fn give_up(&mut self) -> Option<Box<Snapshot>> {
        if std::mem::replace(&mut self.over, true) {
            return None;
        }
        Some(self.account())
    }

    fn take(&mut self, worker: usize, snapshot: &mut Snapshot) {
        // The record is copied without its histograms, which are large and summed up here.
        let lag = std::mem::take(&mut snapshot.generator.lag);
        let on_time = std::mem::take(&mut snapshot.generator.on_time);
        self.sum.merge(snapshot);
        self.lag.merge(&lag);
        self.on_time.merge(&on_time);
        let counts = &mut self.workers[worker];
        counts.generator = snapshot.generator.clone();
        counts.in_flight = snapshot.in_flight;
        counts.since_last = true;
        (snapshot.generator.lag, snapshot.generator.on_time) = (lag, on_time);
    }

    fn account(&mut self) -> Box<Snapshot> {
        let mut account = Box::new(self.sum.compact());
        self.sum.clear();
        let mut generator = Generator::default();
        for worker in &mut self.workers {
            generator.merge(&worker.generator);
            worker.since_last = false;
        }
        account.in_flight = self.workers.iter().map(|worker| worker.in_flight).sum();
        account.generator = Generator {
            workers: self.plan.workers,
            io: self.plan.io.clone(),
            tick: self.plan.tick,
            max_in_flight: self.plan.max_in_flight,
            users: self.plan.users,
            server_here: self.plan.server_here,
            self_paced: self.plan.self_paced,
            rate_per_s: self.plan.rate_per_s,
            seed: self.plan.seed,
            lag: self.lag.compact(),
            on_time: self.on_time.compact(),
            ..generator
        };
        account
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use metrics::Sample;
    use stdx::Nanos;

    use super::*;

    /// Counts of one hit that took so long, a millisecond late.
    fn counts(took_ms: u64) -> Box<Snapshot> {
        let mut snapshot = Box::new(Snapshot::new());
        let done = Nanos::from_millis(took_ms);
        snapshot.record(&Sample {
            done,
            outcome: metrics::Outcome::Http(200),
            ..Sample::default()
        });
        snapshot.generator.lag.record(Nanos::MILLI);
        snapshot.generator.on_time.record(done);
        snapshot.generator.workers = 1;
        snapshot
    }

    #[test]
    fn each_account_has_the_counts_since_the_last_and_all_lag() {
        let (spare, given_back) = sync_channel(1);
        let mut merge = Merge::new(Generator::default(), vec![spare]);
        for turn in 1..=3 {
            let account = merge.add(0, counts(turn)).expect("one worker makes an account");
            assert_eq!(
                (
                    account.hits(),
                    account.outcomes.of(metrics::Outcome::Http(200)),
                    account.successes
                ),
                (1, 1, 1)
            );
            assert_eq!(account.response.max(), Nanos::from_millis(turn));
            assert_eq!(account.generator.lag.count(), turn, "of the whole run");
            assert_eq!(account.generator.on_time.count(), turn);
            let emptied = given_back.try_recv().expect("the snapshot is given back");
            assert_eq!((emptied.hits(), emptied.generator.lag.count()), (0, 0));
        }
        let last = merge.end(0, counts(9), false).expect("the last account");
        assert_eq!((last.hits(), last.generator.lag.count()), (1, 4));
        assert!(last.generator.finished);
    }
}
