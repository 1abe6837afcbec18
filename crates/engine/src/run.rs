//! `Run`: a plan under way on its worker threads, with their counts merged.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use metrics::{Batch, Snapshot};
use net::{Resolver, Waker};
use stdx::Nanos;
use workload::Plan;

use crate::error::StartError;
use crate::lazy::{LazyTargets, lazy_lanes};
use crate::load_change::{LoadChange, LoadChangeError};
use crate::merge::Merge;
use crate::orders::Orders;
use crate::prepared::Prepared;
use crate::record::{self, BATCHES_MAX, Message, Outlet, new_batch};
use crate::settings::Settings;
use crate::start_gate::{Clock, StartGate};
use crate::thread::WorkerThread;
use crate::worker_count::worker_count;
use crate::worker_io::WorkerIo;

/// How far ahead a run's start lies once its workers are ready: they are in their loops when the first hits are due.
const LEAD: Duration = Duration::from_millis(2);
/// Messages of workers that may wait for the run's owner; past it rows are dropped, and counted.
const MESSAGES_MAX: usize = 128;
/// Batches a worker has at first besides the one it fills.
const BATCHES_SPARE: usize = 5;
/// Snapshots a worker has besides the one it fills.
const SNAPSHOTS_SPARE: usize = 2;

/// A plan under way on its worker threads. Dropping it ends it.
#[derive(Debug)]
pub struct Run {
    epoch: i64,
    start: Instant,
    messages: Receiver<Message>,
    batches: Vec<SyncSender<Batch>>,
    merge: RefCell<Merge>,
    orders: Arc<Orders>,
    prepared: Arc<Prepared>,
    wakers: Vec<Waker>,
    threads: Vec<JoinHandle<()>>,
    turn: Cell<usize>,
}

/// What a run reports while it goes on.
#[derive(Debug)]
pub enum RunEvent {
    /// Rows of finished hits, in order of completion within one worker. Give the batch back with [`Run::recycle`].
    Rows(Batch),
    /// What all workers saw since the last one, once a second.
    Progress(Box<Snapshot>),
    /// Every worker ended; nothing follows. The counts since the last progress, with the generator's final record.
    Finished(Box<Snapshot>),
}

impl Run {
    /// Starts the workers. `epoch`, the Unix time of the run's start, is taken here. With `lazy`, targets come from
    /// that iterator, each used once in order, until it ends (`Plan::targets` is then empty).
    ///
    /// # Errors
    /// The settings cannot be used, or the machine refuses; nothing was sent.
    pub fn start(
        plan: Plan,
        settings: &Settings,
        lazy: Option<LazyTargets>,
    ) -> Result<Self, StartError> {
        Ok(ReadyRun::new(plan, settings, lazy)?.start_soon())
    }

    /// Unix time of the run's start, in nanoseconds.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The time since the start of the run.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.start.elapsed().into()
    }

    /// What the run's first TLS handshake agreed on, once there was one.
    #[must_use]
    pub fn tls_agreed(&self) -> Option<wire::tls::Agreed> {
        self.prepared.tls_agreed()
    }

    /// The next event; `None` when `timeout` passed without one, and after [`RunEvent::Finished`].
    #[must_use]
    pub fn next_event(&self, timeout: Duration) -> Option<RunEvent> {
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.messages.recv_timeout(left) {
                Ok(Message::Rows(batch)) => return Some(RunEvent::Rows(batch)),
                Ok(Message::Counts(worker, snapshot)) => {
                    if let Some(merged) = self.merge.borrow_mut().add(worker, snapshot) {
                        return Some(RunEvent::Progress(self.with_means(merged)));
                    }
                }
                Ok(Message::Done(worker, snapshot)) => {
                    let interrupted = self.orders.is_stop_requested();
                    if let Some(last) = self.merge.borrow_mut().end(worker, snapshot, interrupted) {
                        return Some(RunEvent::Finished(self.with_means(last)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    // A worker died without its final record; the counts of the others are all there is.
                    let last = self.merge.borrow_mut().give_up();
                    return last.map(RunEvent::Finished);
                }
            }
        }
    }

    /// The same counts, whose record has what was asked for on average where the load was changed.
    fn with_means(&self, mut counts: Box<Snapshot>) -> Box<Snapshot> {
        let Prepared { plan, .. } = &*self.prepared;
        self.orders.load.write_means(&mut counts.generator, plan, self.orders.stopped());
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
        let at = self.elapsed();
        self.orders.load.add(at, change, (&self.prepared.plan, self.wakers.len()))?;
        self.wakers.iter().for_each(Waker::wake);
        Ok(at)
    }

    /// Gives an emptied batch back to the workers.
    pub fn recycle(&self, mut batch: Batch) {
        record::empty(&mut batch);
        for _ in 0..self.batches.len() {
            let turn = self.turn.get();
            self.turn.set((turn + 1) % self.batches.len());
            match self.batches[turn].try_send(batch) {
                Ok(()) => return,
                Err(TrySendError::Full(back) | TrySendError::Disconnected(back)) => batch = back,
            }
        }
    }

    /// What gives orders to this run from any thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { start: self.start, orders: Arc::clone(&self.orders), wakers: self.wakers.clone() }
    }

    /// Begins no more hits; waits for those under way (first SIGINT).
    pub fn drain(&self) {
        self.stopper().drain();
    }

    /// Ends now; what is under way is counted as stopped (second SIGINT).
    pub fn abort(&self) {
        self.stopper().abort();
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.abort();
        // Workers that wait for room for their last counts find the channel closed, and end.
        let (_, nobody) = sync_channel(0);
        drop(std::mem::replace(&mut self.messages, nobody));
        for thread in self.threads.drain(..) {
            // A panic of a worker was printed when it happened.
            thread.join().ok();
        }
    }
}

/// A run whose requests are rendered, whose sockets can be opened and whose workers are ready: it waits for the instant of its
/// start.
pub struct ReadyRun {
    prepared: Arc<Prepared>,
    threads: WaitingThreads,
    orders: Arc<Orders>,
    messages: Receiver<Message>,
    batches: Vec<SyncSender<Batch>>,
    spares: Vec<SyncSender<Box<Snapshot>>>,
    wakers: Vec<Waker>,
    io: &'static str,
}

impl ReadyRun {
    /// Makes everything ready that a run needs before its first request, its workers too: no time of the run passes before.
    ///
    /// # Errors
    /// As [`Run::start`].
    pub fn new(
        plan: Plan,
        settings: &Settings,
        lazy: Option<LazyTargets>,
    ) -> Result<Self, StartError> {
        let prepared = Arc::new(Prepared::new(plan, settings.clone())?);
        let workers = worker_count(&prepared);
        let resolver = Arc::new(Resolver::start(settings.resolvers.clone())?);
        let (message_sender, messages) = sync_channel(MESSAGES_MAX);
        let gate = Arc::new(StartGate::new(workers));
        let mut lanes = lazy_lanes(lazy, workers)?;
        let machines = WorkerIo::several(workers, settings, &prepared.plan.load)?;
        let mut ready = Self {
            io: machines[0].name(),
            prepared,
            threads: WaitingThreads { gate: Arc::clone(&gate), handles: Vec::new() },
            orders: Arc::new(Orders::default()),
            messages,
            batches: Vec::new(),
            spares: Vec::new(),
            wakers: Vec::new(),
        };
        for (worker, mut machine) in machines.into_iter().enumerate() {
            machine.set_resolver(Arc::clone(&resolver));
            ready.wakers.push(machine.waker());
            let (batch_sender, batch_receiver) = sync_channel(BATCHES_MAX);
            let (snapshot_sender, snapshots) = sync_channel(SNAPSHOTS_SPARE);
            stock(&batch_sender, &snapshot_sender, settings.rows);
            ready.batches.push(batch_sender);
            ready.spares.push(snapshot_sender);
            let messages = message_sender.clone();
            let outlet = Outlet { worker, messages, batches: batch_receiver, snapshots };
            let thread = WorkerThread { workers, machine, lazy: lanes.pop(), outlet };
            ready.threads.handles.push(thread.spawn(&gate, &ready.prepared, &ready.orders)?);
        }
        gate.wait_for_workers();
        Ok(ready)
    }

    /// Has the run begin nothing: it was interrupted while its targets were made ready.
    pub fn drain(&self) {
        self.orders.request_stop(Orders::DRAIN, Nanos::ZERO);
    }

    /// Starts the workers, as soon as all of them can be at the start in time.
    #[must_use]
    pub fn start_soon(self) -> Run {
        self.start(Instant::now() + LEAD)
    }

    /// Starts the workers. Time 0 of the run is `at`, for which they wait; where it has passed, what fell due since then is
    /// late, and counted so.
    #[must_use]
    pub fn start(mut self, at: Instant) -> Run {
        let clock = Clock { start: at, epoch: unix_at(at) };
        let generator = self.prepared.generator(self.threads.handles.len(), self.io);
        self.threads.gate.start(clock);
        Run {
            epoch: clock.epoch,
            start: clock.start,
            messages: self.messages,
            batches: self.batches,
            merge: RefCell::new(Merge::new(generator, self.spares)),
            orders: self.orders,
            prepared: self.prepared,
            wakers: self.wakers,
            threads: std::mem::take(&mut self.threads.handles),
            turn: Cell::new(0),
        }
    }
}

/// Workers that wait for the start of their run, and end where it does not come.
struct WaitingThreads {
    gate: Arc<StartGate>,
    handles: Vec<JoinHandle<()>>,
}

impl Drop for WaitingThreads {
    fn drop(&mut self) {
        self.gate.end();
        for thread in self.handles.drain(..) {
            // A panic of a worker was printed when it happened.
            thread.join().ok();
        }
    }
}

/// Gives orders to a run, from any thread, any number of times.
#[derive(Clone, Debug)]
pub struct Stopper {
    start: Instant,
    orders: Arc<Orders>,
    wakers: Vec<Waker>,
}

impl Stopper {
    /// Begins no more hits; waits for those under way.
    pub fn drain(&self) {
        self.request(Orders::DRAIN);
    }

    /// Ends now; what is under way is counted as stopped.
    pub fn abort(&self) {
        self.request(Orders::ABORT);
    }

    /// Sends none of the requests of an open loop that fell due before this instant and were not begun: they are counted as
    /// not sent. For a process that stood still, and would send all of them at once.
    pub fn skip_overdue(&self, before: Instant) {
        self.orders.skip(before.saturating_duration_since(self.start).into());
        self.wakers.iter().for_each(Waker::wake);
    }

    fn request(&self, order: u8) {
        self.orders.request_stop(order, self.start.elapsed().into());
        self.wakers.iter().for_each(Waker::wake);
    }
}

/// Gives a worker what it fills while the run goes on, so that it allocates nothing.
fn stock(batches: &SyncSender<Batch>, snapshots: &SyncSender<Box<Snapshot>>, rows: bool) {
    for _ in 0..if rows { BATCHES_SPARE } else { 0 } {
        batches.try_send(new_batch()).ok();
    }
    for _ in 0..SNAPSHOTS_SPARE {
        snapshots.try_send(Box::new(Snapshot::new())).ok();
    }
}

/// The Unix time of an instant, in nanoseconds, by the system's clock now.
fn unix_at(at: Instant) -> i64 {
    let (now, unix) = (Instant::now(), SystemTime::now());
    let unix = unix.duration_since(UNIX_EPOCH).unwrap_or_default();
    let unix = (unix + at.saturating_duration_since(now))
        .saturating_sub(now.saturating_duration_since(at));
    i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX)
}
