//! `Cable`: a test of Action Cable under way: what its users share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ledger::Ledger;
use crate::muster::Muster;
use crate::outcome::Outcome;
use crate::plan::CablePlan;
use crate::token::Mark;

/// A test of Action Cable under way: what its users share.
#[derive(Debug)]
pub struct Cable {
    pub(crate) plan: CablePlan,
    pub(crate) mark: Mark,
    pub(crate) muster: Muster,
    pub(crate) ledger: Ledger,
    pub(crate) outcome: Mutex<Outcome>,
}

impl Cable {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new(plan: CablePlan) -> Arc<Self> {
        Arc::new(Self {
            mark: Mark::of_run(plan.seed),
            muster: Muster::new(plan.users, plan.rounds()),
            ledger: Ledger::new(plan.window()),
            outcome: Mutex::default(),
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
        self.muster.open()
    }

    /// What was seen by all crowds that have ended.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
        outcome.open_most = self.muster.open_most();
        outcome
    }
}
