//! `Cable`: a test of Action Cable under way: what its users share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cable_report::CableReport;
use crate::connected_barrier::ConnectedBarrier;
use crate::in_flight_messages::InFlightMessages;
use crate::plan::CablePlan;
use crate::token::RunToken;

/// A test of Action Cable under way: what its users share.
#[derive(Debug)]
pub struct Cable {
    pub(crate) plan: CablePlan,
    pub(crate) run_token: RunToken,
    pub(crate) barrier: ConnectedBarrier,
    pub(crate) in_flight: InFlightMessages,
    pub(crate) report: Mutex<CableReport>,
}

impl Cable {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new(plan: CablePlan) -> Arc<Self> {
        Arc::new(Self {
            run_token: RunToken::of_run(plan.seed),
            barrier: ConnectedBarrier::new(plan.users, plan.rounds()),
            in_flight: InFlightMessages::new(plan.window()),
            report: Mutex::default(),
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

    /// What was seen by the users of all workers that have ended.
    #[must_use]
    pub fn report(&self) -> CableReport {
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner).clone();
        report.open_most = self.barrier.open_most();
        report
    }
}
