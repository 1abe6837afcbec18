//! `Cable`: a test of Action Cable under way: what its users share.

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stdx::Nanos;

use crate::cable_report::CableReport;
use crate::connected_barrier::ConnectedBarrier;
use crate::in_flight_messages::InFlightMessages;
use crate::part_record::{PartEnd, PartRecord, WorkerEnd};
use crate::plan::CablePlan;
use crate::token::RunToken;
use crate::users::PartLog;

/// A test of Action Cable under way: what its users share.
#[derive(Debug)]
pub struct Cable {
    pub(crate) plan: CablePlan,
    pub(crate) run_token: RunToken,
    pub(crate) barrier: ConnectedBarrier,
    pub(crate) in_flight: InFlightMessages,
    pub(crate) report: Mutex<CableReport>,
    /// Of one of several machines: the messages that its record has not yet, and what became of its workers' subscribers.
    pub(crate) part_log: Mutex<PartLog>,
    /// How many workers there are, once they have begun.
    pub(crate) workers: AtomicU16,
    pub(crate) worker_ends: Mutex<Vec<WorkerEnd>>,
}

impl Cable {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new(plan: CablePlan) -> Arc<Self> {
        Arc::new(Self {
            run_token: run_token(&plan),
            barrier: ConnectedBarrier::new(plan.own_users(), plan.rounds(), plan.part.is_some()),
            in_flight: InFlightMessages::new(plan.window()),
            report: Mutex::default(),
            part_log: Mutex::default(),
            workers: AtomicU16::new(0),
            worker_ends: Mutex::default(),
            plan,
        })
    }

    /// What is tested.
    #[must_use]
    pub fn plan(&self) -> &CablePlan {
        &self.plan
    }

    /// Sockets open now, after their handshake.
    #[must_use]
    pub fn open(&self) -> u32 {
        self.barrier.open()
    }

    /// How many of the points are reached at which the users of several machines wait for each other: all of this machine's are
    /// up, round by round.
    #[must_use]
    pub fn barriers_reached(&self) -> u32 {
        self.barrier.reached()
    }

    /// The users of all machines are up: those of this one go on from this time. Barriers count from 1.
    pub fn pass_barrier(&self, barrier: u32, at: Nanos) {
        self.barrier.pass(barrier.saturating_sub(1), at);
    }

    /// What a part of a broadcast did since the last call.
    #[must_use]
    pub fn take_record(&self) -> PartRecord {
        let workers = self.workers.load(Ordering::Relaxed);
        let PartLog { sent, received } = std::mem::take(&mut *lock(&self.part_log));
        PartRecord { workers, sent, received, end: None }
    }

    /// The rest of it, once all workers have ended.
    #[must_use]
    pub fn take_last_record(&self) -> PartRecord {
        let ends = std::mem::take(&mut *lock(&self.worker_ends));
        let end = PartEnd { report: self.report(), workers: ends };
        PartRecord { end: Some(Box::new(end)), ..self.take_record() }
    }

    /// What was seen by the users of all workers that have ended.
    #[must_use]
    pub fn report(&self) -> CableReport {
        let mut report = lock(&self.report).clone();
        report.open_most = self.barrier.open_most();
        report
    }
}

fn run_token(plan: &CablePlan) -> RunToken {
    let token = RunToken::of_run(plan.seed);
    if plan.part.is_some() { token.with_times() } else { token }
}

/// The lock of a mutex, whether a holder panicked or not: what it guards are counts.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
