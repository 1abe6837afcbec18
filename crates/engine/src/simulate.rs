//! A whole run on the calling thread, over any [`Io`]: the simulated world's way to run a plan. It is the same worker and
//! the same loop as a real run's; only the threads and the clock are missing.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use metrics::{Batch, Snapshot};
use net::Io;
use stdx::Nanos;
use workload::Plan;

use crate::error::StartError;
use crate::load_change::{LoadChange, LoadChangeError};
use crate::merge::Merge;
use crate::orders::Orders;
use crate::prepared::Prepared;
use crate::record::{Message, Outlet, Recorder};
use crate::run::RunEvent;
use crate::schedule::Schedule;
use crate::serials::Serials;
use crate::settings::Settings;
use crate::worker::{Start, TargetOrigins, Worker};

/// Messages that wait between two turns; a turn makes far fewer.
const MESSAGES_MAX: usize = 4096;

/// The result of a run.
#[derive(Debug)]
pub struct SimulationResult {
    /// The rows, in order of completion.
    pub batches: Vec<Batch>,
    /// All counts, with the generator's final record.
    pub total: Snapshot,
}

/// Runs a plan to its end in the world that `io` is part of. Its offset 0 is the Unix epoch.
///
/// # Errors
/// The settings cannot be used.
pub fn simulate<I: Io>(
    io: I,
    plan: Plan,
    settings: &Settings,
) -> Result<SimulationResult, StartError> {
    let mut run = Simulation::new(io, plan, settings)?;
    let mut result = SimulationResult { batches: Vec::new(), total: Snapshot::new() };
    while let Some(event) = run.next_event(Nanos::MAX) {
        match event {
            RunEvent::Rows(batch) => result.batches.push(batch),
            RunEvent::Progress(account) | RunEvent::Finished(account) => {
                // Each account's generator is cumulative: the last one stands for all.
                result.total.generator.clear();
                result.total.in_flight = 0;
                result.total.merge(&account);
                result.total.generator = account.generator;
            }
        }
    }
    Ok(result)
}

/// A run of one worker on the calling thread, event by event, as [`Run`](crate::Run) reports them. Its clock is that of the
/// [`Io`] it runs over.
#[derive(Debug)]
pub struct Simulation<I: Io> {
    /// `None` once the run is over.
    worker: Option<Worker<I>>,
    inbox: Receiver<Message>,
    merge: Merge,
    orders: Arc<Orders>,
    prepared: Arc<Prepared>,
    now: Nanos,
}

impl<I: Io> Simulation<I> {
    /// A run that has not taken its first turn.
    ///
    /// # Errors
    /// The settings cannot be used.
    pub fn new(io: I, plan: Plan, settings: &Settings) -> Result<Self, StartError> {
        let prepared = Arc::new(Prepared::new(plan, settings.clone())?);
        let (messages, inbox) = sync_channel(MESSAGES_MAX);
        let (_, batches) = sync_channel(1);
        let (spare, snapshots) = sync_channel(1);
        spare.try_send(Box::new(Snapshot::new())).ok();
        let outlet = Outlet { worker: 0, messages, batches, snapshots };
        let merge = Merge::new(prepared.generator(1, "sim"), vec![spare]);
        let orders = Arc::new(Orders::default());
        let start = Start {
            schedule: Schedule::of_worker(&prepared, 0, 1),
            targets: TargetOrigins::of(&prepared),
            orders: Arc::clone(&orders),
            lazy: None,
            serials: Serials::of(0, 1),
            conns_max: settings.max_connections.unwrap_or(usize::MAX),
            idle_max: settings.connections,
            recorder: Recorder::new(outlet, settings, 0),
            prepared: Arc::clone(&prepared),
        };
        let worker = Worker::new(io, start);
        let now = worker.now();
        Ok(Self { worker: Some(worker), inbox, merge, orders, prepared, now })
    }

    /// The next event; `None` once `timeout` has passed on the simulated clock without one, and after
    /// [`RunEvent::Finished`].
    pub fn next_event(&mut self, timeout: Nanos) -> Option<RunEvent> {
        let until = self.now.saturating_add(timeout);
        loop {
            if let Some(event) = self.received() {
                return Some(event);
            }
            let worker = self.worker.as_mut()?;
            if self.now >= until {
                return None;
            }
            let is_over = worker.turn();
            self.now = worker.now();
            if is_over && let Some(worker) = self.worker.take() {
                worker.finish();
            }
        }
    }

    /// The next event that the worker has already reported.
    fn received(&mut self) -> Option<RunEvent> {
        while let Ok(message) = self.inbox.try_recv() {
            let event = match message {
                Message::Rows(batch) => Some(RunEvent::Rows(batch)),
                Message::Counts(worker, counts) => {
                    let counts = self.merge.add(worker, counts);
                    counts.map(|counts| RunEvent::Progress(self.with_means(counts)))
                }
                Message::Done(worker, counts) => {
                    let interrupted = self.orders.is_stop_requested();
                    let counts = self.merge.end(worker, counts, interrupted);
                    counts.map(|counts| RunEvent::Finished(self.with_means(counts)))
                }
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    /// As in [`Run`](crate::Run).
    fn with_means(&self, mut counts: Box<Snapshot>) -> Box<Snapshot> {
        self.orders.load.write_means(
            &mut counts.generator,
            &self.prepared.plan,
            self.orders.stopped(),
        );
        counts
    }

    /// Offers another load from now on. Returns when, since the start of the run.
    ///
    /// # Errors
    /// This run's load cannot be changed so.
    pub fn change_load(&self, change: LoadChange) -> Result<Nanos, LoadChangeError> {
        if self.orders.is_stop_requested() {
            return Err(LoadChangeError::Over);
        }
        self.orders.load.add(self.now, change, (&self.prepared.plan, 1))?;
        Ok(self.now)
    }

    /// The simulated time since the start of the run.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.now
    }

    /// What the run's first TLS handshake agreed on, once there was one.
    #[must_use]
    pub fn tls_agreed(&self) -> Option<wire::tls::Agreed> {
        self.prepared.tls_agreed()
    }

    /// Begins no more hits; waits for those under way.
    pub fn drain(&self) {
        self.orders.request_stop(Orders::DRAIN, self.now);
    }

    /// Ends now; what is under way is counted as stopped.
    pub fn abort(&self) {
        self.orders.request_stop(Orders::ABORT, self.now);
    }
}
