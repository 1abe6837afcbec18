//! The thread of one worker: what it is made of, and how it is settled on its core.

use std::sync::Arc;
use std::thread::JoinHandle;

use net::machine;

use crate::lazy::LazyShard;
use crate::orders::Orders;
use crate::prepared::Prepared;
use crate::record::{Outlet, Recorder};
use crate::schedule::Schedule;
use crate::serials::Serials;
use crate::settings::Settings;
use crate::share::share;
use crate::start_gate::StartGate;
use crate::worker::{Start, TargetOrigins, Worker};
use crate::worker_io::WorkerIo;

/// What one worker thread is made of, before the clock starts.
pub(crate) struct WorkerThread {
    /// How many workers the run has.
    pub(crate) workers: usize,
    pub(crate) machine: WorkerIo,
    pub(crate) lazy: Option<LazyShard>,
    pub(crate) outlet: Outlet,
}

impl WorkerThread {
    /// Makes the worker ready on a thread of its own, where it waits for the start of the run.
    ///
    /// # Errors
    /// The system refuses the thread.
    pub(crate) fn spawn(
        self,
        gate: &Arc<StartGate>,
        prepared: &Arc<Prepared>,
        orders: &Arc<Orders>,
    ) -> std::io::Result<JoinHandle<()>> {
        let (prepared, orders, gate) = (Arc::clone(prepared), Arc::clone(orders), Arc::clone(gate));
        let name = format!("brunt-worker-{}", self.outlet.worker);
        std::thread::Builder::new().name(name).spawn(move || self.run(&gate, prepared, orders))
    }

    fn run(self, gate: &StartGate, prepared: Arc<Prepared>, orders: Arc<Orders>) {
        let preparing = gate.preparing();
        let Self { workers, mut machine, lazy, outlet } = self;
        let shared = Arc::clone(&orders);
        let (worker, settings) = (outlet.worker, &prepared.settings);
        settle_thread(worker, settings);
        let share_of = |total: usize| share(total as u64, worker as u64, workers as u64) as usize;
        // Users that decide for themselves never leave their thread.
        let schedule = Schedule::of_worker(&prepared, worker as u64, workers as u64);
        let idle_max = schedule.idle_share(settings.connections, worker, workers);
        let targets = TargetOrigins::of(&prepared);
        let Some(clock) = preparing.wait() else { return };
        machine.set_start(clock.start);
        let start = Start {
            orders,
            schedule,
            targets,
            lazy,
            serials: Serials::of(worker, workers),
            conns_max: settings.max_connections.map_or(usize::MAX, share_of),
            idle_max,
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
