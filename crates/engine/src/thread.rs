//! The thread of one worker: what it is made of, and how it is settled on its core.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use net::machine;

use crate::lazy::LazyShard;
use crate::orders::Orders;
use crate::prepared::Prepared;
use crate::record::{Outlet, Recorder};
use crate::schedule::Schedule;
use crate::serials::Serials;
use crate::settings::Settings;
use crate::share::share;
use crate::worker::{Start, Worker};
use crate::worker_io::WorkerIo;

/// The start of a run, on both clocks.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) start: Instant,
    /// Unix time, in nanoseconds.
    pub(crate) epoch: i64,
}

/// What one worker thread is made of, before the clock starts.
pub(crate) struct WorkerThread {
    /// How many workers the run has.
    pub(crate) workers: usize,
    pub(crate) machine: WorkerIo,
    pub(crate) lazy: Option<LazyShard>,
    pub(crate) outlet: Outlet,
}

impl WorkerThread {
    /// Starts the worker on a thread of its own.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(crate) fn spawn(
        self,
        clock: Clock,
        prepared: &Arc<Prepared>,
        orders: &Arc<Orders>,
    ) -> std::io::Result<JoinHandle<()>> {
        let (prepared, orders) = (Arc::clone(prepared), Arc::clone(orders));
        let name = format!("brunt-worker-{}", self.outlet.worker);
        std::thread::Builder::new().name(name).spawn(move || self.run(clock, prepared, orders))
    }

    fn run(self, clock: Clock, prepared: Arc<Prepared>, orders: Arc<Orders>) {
        let Self { workers, mut machine, lazy, outlet } = self;
        let shared = Arc::clone(&orders);
        let (worker, settings) = (outlet.worker, &prepared.settings);
        settle_thread(worker, settings);
        let share_of = |total: usize| share(total as u64, worker as u64, workers as u64) as usize;
        // Users that decide for themselves never leave their thread.
        let schedule = Schedule::of_worker(&prepared, worker as u64, workers as u64);
        machine.set_start(clock.start);
        let start = Start {
            orders,
            schedule,
            lazy,
            serials: Serials::of(worker, workers),
            conns_max: settings.max_connections.map_or(usize::MAX, share_of),
            idle_max: share_of(settings.connections),
            recorder: Recorder::new(outlet, settings, clock.epoch),
            prepared,
        };
        match machine {
            WorkerIo::Reactor(io) => {
                let worker = Worker::new(*io, start);
                clock.wait(&shared);
                worker.run();
            }
            WorkerIo::Uring(io) => {
                let worker = Worker::new(*io, start);
                clock.wait(&shared);
                worker.run();
            }
        }
    }
}

/// How often a worker that waits for the start of the run checks for an order to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

impl Clock {
    /// Waits for the start of the run, or for an order to stop.
    fn wait(self, orders: &Orders) {
        loop {
            let left = self.start.saturating_duration_since(Instant::now());
            if left.is_zero() || orders.is_stop_requested() {
                return;
            }
            std::thread::sleep(left.min(STOP_CHECK));
        }
    }
}

/// Makes the thread punctual; pins it and makes it real-time where asked for. A refusal prints a warning on stderr, once.
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
