//! `Run`: a plan under way on its worker threads, and what they tell, merged.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use metrics::{Batch, Generator, Snapshot};
use net::{Io, NoUring, Reactor, Resolver, Waker, machine};
use stdx::Nanos;
use thiserror::Error;
use workload::arrival::Lane;
use workload::{Load, Plan, Target};

use crate::conn::Serials;
use crate::machine::Machine;
use crate::merge::Merge;
use crate::pace::{Closed, Open, Pace};
use crate::prepared::Prepared;
use crate::record::{Message, Outlet, Recorder, new_batch};
use crate::settings::Settings;
use crate::worker::{IN_FLIGHT_MAX, Orders, Start, Worker};

/// Messages of workers that may wait for the run's owner; past it rows are dropped, and counted.
const MESSAGES_MAX: usize = 64;
/// Emptied batches that may wait for one worker.
const BATCHES_MAX: usize = 8;
/// Snapshots a worker has besides the one it fills.
const SNAPSHOTS_SPARE: usize = 2;
/// Lazy targets that may wait for one worker.
const LAZY_MAX: usize = 1024;

/// A plan under way on its worker threads. Dropping it ends it.
#[derive(Debug)]
pub struct Run {
    epoch: i64,
    messages: Receiver<Message>,
    batches: Vec<SyncSender<Batch>>,
    merge: std::cell::RefCell<Merge>,
    orders: Arc<Orders>,
    prepared: Arc<Prepared>,
    wakers: Vec<Waker>,
    threads: Vec<JoinHandle<()>>,
    turn: std::cell::Cell<usize>,
}

/// What a run tells while it goes on.
#[derive(Debug)]
pub enum RunEvent {
    /// Rows of finished hits, in order of completion within one worker. Give the batch back with [`Run::recycle`].
    Rows(Batch),
    /// What all workers saw since the last one, once a second.
    Progress(Box<Snapshot>),
    /// Every worker ended; nothing follows. What was seen since the last progress, with the generator's last word.
    Finished(Box<Snapshot>),
}

/// Why a run could not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// A certificate or key given is no good.
    #[error("{flag}: {reason}")]
    Certificate {
        /// The flag that gave it.
        flag: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A proxy's address is no URL.
    #[error("proxy \"{0}\" is not a URL (expected http://host:port)")]
    Proxy(String),
    /// `io_uring` was asked for, and cannot be used here.
    #[error("--io=uring: {0}")]
    Uring(#[from] NoUring),
    /// The machine refused a thread, a poller or a timer.
    #[error("starting a worker: {0}")]
    Worker(#[from] std::io::Error),
}

/// Targets that come one by one (`-lazy`). It runs on a thread of its own and may block; an error ends the attack and
/// is reported by [`Run`]'s user, who made the iterator. An item that is an error makes a hit all the same, which fails with
/// these words.
pub type LazyTargets = Box<dyn Iterator<Item = Result<Target, String>> + Send>;

/// A worker's share of lazy targets.
#[derive(Debug)]
pub(crate) struct LazyLane {
    pub(crate) targets: Receiver<Box<Result<Target, String>>>,
    /// None was there when the last hit wanted one.
    pub(crate) starved: bool,
}

impl LazyLane {
    /// How many of `due` hits had a target here; how many more would have come, nobody can tell. Takes them out.
    pub(crate) fn count_waiting(&self, due: u64) -> u64 {
        let most = usize::try_from(due).unwrap_or(LAZY_MAX).min(LAZY_MAX);
        self.targets.try_iter().take(most).count() as u64
    }
}

/// What one worker thread is made of, before the clock starts.
struct Seat {
    machine: Machine,
    lazy: Option<LazyLane>,
    outlet: Outlet,
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
        let workers = worker_count(&plan, settings);
        let prepared = Arc::new(Prepared::new(plan, settings.clone())?);
        let resolver = Arc::new(Resolver::start(settings.resolvers.clone())?);
        let orders = Arc::new(Orders::default());
        let (message_sender, messages) = sync_channel(MESSAGES_MAX);
        let mut lanes = lazy_lanes(lazy, workers)?;
        let (mut seats, mut batches, mut wakers) = (Vec::new(), Vec::new(), Vec::new());
        let mut spares = Vec::new();
        let machines = Machine::several(workers, settings.io, &prepared.plan.load)?;
        let io = machines[0].name();
        for (worker, mut machine) in machines.into_iter().enumerate() {
            machine.set_resolver(Arc::clone(&resolver));
            wakers.push(machine.waker());
            let (batch_sender, batch_receiver) = sync_channel(BATCHES_MAX);
            let (snapshot_sender, snapshots) = sync_channel(SNAPSHOTS_SPARE);
            stock(&batch_sender, &snapshot_sender, settings.rows);
            batches.push(batch_sender);
            spares.push(snapshot_sender);
            let messages = message_sender.clone();
            let outlet = Outlet { worker, messages, batches: batch_receiver, snapshots };
            seats.push(Seat { machine, lazy: lanes.pop(), outlet });
        }
        drop(message_sender);
        let start = Instant::now();
        let epoch = unix_now();
        let told = told_by_plan(&prepared, workers, io);
        let mut run = Self {
            epoch,
            messages,
            batches,
            merge: std::cell::RefCell::new(Merge::new(told, spares)),
            orders,
            prepared,
            wakers,
            threads: Vec::new(),
            turn: std::cell::Cell::new(0),
        };
        for (worker, seat) in seats.into_iter().enumerate() {
            let thread =
                spawn(worker, workers, seat, (start, epoch), (&run.prepared, &run.orders))?;
            run.threads.push(thread);
        }
        Ok(run)
    }

    /// Unix time of the run's start, in nanoseconds.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
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
                        return Some(RunEvent::Progress(merged));
                    }
                }
                Ok(Message::Done(worker, snapshot)) => {
                    let interrupted = self.orders.is_given();
                    if let Some(last) = self.merge.borrow_mut().end(worker, &snapshot, interrupted)
                    {
                        return Some(RunEvent::Finished(last));
                    }
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => {
                    // A worker died without its last word; what the others said is all there is.
                    let last = self.merge.borrow_mut().give_up();
                    return last.map(RunEvent::Finished);
                }
            }
        }
    }

    /// Gives an emptied batch back to the workers.
    pub fn recycle(&self, mut batch: Batch) {
        batch.clear();
        for _ in 0..self.batches.len() {
            let turn = self.turn.get();
            self.turn.set((turn + 1) % self.batches.len());
            match self.batches[turn].try_send(batch) {
                Ok(()) => return,
                Err(
                    std::sync::mpsc::TrySendError::Full(back)
                    | std::sync::mpsc::TrySendError::Disconnected(back),
                ) => batch = back,
            }
        }
    }

    /// What gives orders to this run from any thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper { orders: Arc::clone(&self.orders), wakers: self.wakers.clone() }
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
        // Workers that wait for room to say their last word find nobody listening, and end.
        let (_, nobody) = sync_channel(0);
        drop(std::mem::replace(&mut self.messages, nobody));
        for thread in self.threads.drain(..) {
            // A panic of a worker was printed when it happened.
            thread.join().ok();
        }
    }
}

/// Gives orders to a run, from any thread, any number of times.
#[derive(Clone, Debug)]
pub struct Stopper {
    orders: Arc<Orders>,
    wakers: Vec<Waker>,
}

impl Stopper {
    /// Begins no more hits; waits for those under way.
    pub fn drain(&self) {
        self.give(Orders::DRAIN);
    }

    /// Ends now; what is under way is counted as stopped.
    pub fn abort(&self) {
        self.give(Orders::ABORT);
    }

    fn give(&self, order: u8) {
        self.orders.give(order);
        self.wakers.iter().for_each(Waker::wake);
    }
}

/// How many workers a plan can use: no more than its users, its limit of hits under way, or of connections.
fn worker_count(plan: &Plan, settings: &Settings) -> usize {
    let limit = match plan.load {
        Load::Open { max_in_flight, .. } => max_in_flight,
        Load::Closed { users } => Some(users),
        Load::Users(ref crew) => Some(crew.users),
    };
    let conns = settings.max_connections.map_or(usize::MAX, |n| n);
    let limit = limit.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
    settings.workers.min(limit).min(conns).max(1)
}

/// A worker's share of a whole that is dealt out evenly.
pub(crate) fn share(total: u64, worker: u64, workers: u64) -> u64 {
    total / workers + u64::from(worker < total % workers)
}

/// A worker's share of the users: where they share connections evenly, as many as its connections carry.
fn users_share(users: u64, settings: &Settings, worker: u64, workers: u64) -> u64 {
    match settings.max_connections.map(|n| n as u64) {
        Some(conns) if conns > 0 && users.is_multiple_of(conns) => {
            share(conns, worker, workers) * (users / conns)
        }
        _ => share(users, worker, workers),
    }
}

/// When a worker begins its hits.
pub(crate) fn pace(prepared: &Prepared, worker: u64, workers: u64) -> Pace {
    let plan = &prepared.plan;
    match &plan.load {
        Load::Open { shape, max_in_flight } => {
            let limit = max_in_flight.map_or(u64::MAX, |n| share(n, worker, workers));
            let in_flight_max = usize::try_from(limit).unwrap_or(usize::MAX).min(IN_FLIGHT_MAX);
            let lane = Lane { first: worker, step: workers };
            let cursor = shape.cursor(plan.seed, lane, plan.duration);
            Pace::Open(Open { cursor, in_flight_max, tick: prepared.settings.tick })
        }
        Load::Closed { users } => {
            let users = users_share(*users, &prepared.settings, worker, workers);
            let left = plan.hits_max.map_or(u64::MAX, |max| share(max, worker, workers));
            Pace::Closed(Closed::new(users, (worker, workers), left))
        }
        Load::Users(crew) => Pace::Users((crew.make)(Lane { first: worker, step: workers })),
    }
}

/// What the generator's record says of the plan itself.
pub(crate) fn told_by_plan(prepared: &Prepared, workers: usize, io: &str) -> Generator {
    let plan = &prepared.plan;
    let (max_in_flight, users, rate_per_s) = match &plan.load {
        Load::Open { shape, max_in_flight } => {
            (max_in_flight.unwrap_or(0), 0, shape.mean_rate_per_s(plan.duration))
        }
        Load::Closed { users } => (0, *users, 0.0),
        Load::Users(crew) => (0, crew.users, 0.0),
    };
    Generator {
        workers: workers as u32,
        io: io.to_owned(),
        tick: prepared.settings.tick,
        max_in_flight,
        users,
        self_paced: matches!(plan.load, Load::Users(_)),
        rate_per_s,
        seed: plan.seed,
        ..Generator::default()
    }
}

/// Gives a worker what it fills while the run goes on, so that it allocates nothing.
fn stock(batches: &SyncSender<Batch>, snapshots: &SyncSender<Box<Snapshot>>, rows: bool) {
    for _ in 0..if rows { BATCHES_MAX / 2 } else { 0 } {
        batches.try_send(new_batch()).ok();
    }
    for _ in 0..SNAPSHOTS_SPARE {
        snapshots.try_send(Box::new(Snapshot::new())).ok();
    }
}

/// Deals lazy targets out to the workers in turn, so that hit `k` gets target `k`.
fn lazy_lanes(lazy: Option<LazyTargets>, workers: usize) -> std::io::Result<Vec<LazyLane>> {
    let Some(targets) = lazy else { return Ok(Vec::new()) };
    let (mut senders, mut lanes) = (Vec::new(), Vec::new());
    for _ in 0..workers {
        let (sender, receiver) = sync_channel(LAZY_MAX);
        senders.push(sender);
        lanes.push(LazyLane { targets: receiver, starved: false });
    }
    lanes.reverse();
    std::thread::Builder::new().name("brunt-targets".to_owned()).spawn(move || {
        for (target, sender) in targets.zip(senders.iter().cycle()) {
            if sender.send(Box::new(target)).is_err() {
                return;
            }
        }
    })?;
    Ok(lanes)
}

fn spawn(
    worker: usize,
    workers: usize,
    seat: Seat,
    (start, epoch): (Instant, i64),
    (prepared, orders): (&Arc<Prepared>, &Arc<Orders>),
) -> std::io::Result<JoinHandle<()>> {
    let (prepared, orders) = (Arc::clone(prepared), Arc::clone(orders));
    std::thread::Builder::new().name(format!("brunt-worker-{worker}")).spawn(move || {
        let settings = &prepared.settings;
        settle_thread(worker, settings);
        let Seat { mut machine, lazy, outlet } = seat;
        // Users that decide for themselves never leave their thread.
        let pace = pace(&prepared, worker as u64, workers as u64);
        machine.set_start(start);
        let limit = settings
            .max_connections
            .map_or(usize::MAX, |n| share(n as u64, worker as u64, workers as u64) as usize);
        let idle = share(settings.connections as u64, worker as u64, workers as u64) as usize;
        let recorder = Recorder::new(outlet, settings, epoch);
        let start = Start {
            prepared: Arc::clone(&prepared),
            orders,
            pace,
            lazy,
            serials: Serials::of(worker, workers),
            conns_max: limit,
            idle_max: idle,
            recorder,
        };
        match machine {
            Machine::Mio(io) => Worker::new(io, start).run(),
            Machine::Uring(io) => Worker::new(*io, start).run(),
        }
    })
}

/// Makes the thread punctual; pins it and makes it real-time where asked for. What is refused is said on stderr, once.
fn settle_thread(worker: usize, settings: &Settings) {
    machine::make_timers_punctual();
    if settings.pin {
        let cores = machine::allowed_cores();
        if !cores.is_empty()
            && let Err(error) = machine::pin_thread(cores[worker % cores.len()])
        {
            eprintln!("brunt: --pin: {error}");
        }
    }
    if settings.real_time
        && let Err(error) = machine::make_thread_real_time()
    {
        eprintln!("brunt: --rt: {error}");
    }
}

fn unix_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// How late an empty loop is that does nothing but wait for each moment of a schedule: the machine's own noise.
#[must_use]
pub fn measure_empty_schedule(interval: Nanos, count: u64) -> metrics::Histogram {
    let mut lag = metrics::Histogram::new();
    machine::make_timers_punctual();
    let Ok(mut reactor) = Reactor::new(Instant::now()) else { return lag };
    let mut now = reactor.now();
    let first = now;
    for due in (1..=count).map(|k| first + interval * k) {
        while now < due {
            now = reactor.wait(Some(due));
        }
        lag.record(now.saturating_sub(due));
    }
    lag
}
