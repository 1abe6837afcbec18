//! The common tests of Action Cable without a script: echo, broadcast, idle, herd.
//!
//! ```text
//! CablePlan ─▶ Cable ──crew──▶ one Crowd a worker: Users to the engine
//!                │               asks for upgrades, speaks wire::ws and wire::cable over the pipes
//!                ├─ Muster: how many users are up, round by round         shared, atomic
//!                ├─ Ledger: messages in flight, who had them, and when    shared, atomic; a lock for each message sent
//!                └─ Outcome: counts and histograms, merged when a Crowd ends ──▶ report
//! ```
//!
//! It does no I/O, reads no clock and starts no thread: the engine hands it bytes and `now`.

mod crowd;
mod ledger;
mod muster;
mod outcome;
mod plan;
mod seen;
mod template;
mod token;

use std::sync::{Arc, Mutex, PoisonError};

use workload::Crew;

pub use outcome::{Deliveries, MESSAGES_MAX, MessageSeen, Outcome, RoundSeen, Subscribers};
pub use plan::{CablePlan, HERD_ROUNDS_MAX, Pattern, USERS_MAX};
pub use template::Template;

use crowd::Crowd;
use ledger::Ledger;
use muster::Muster;
use token::Mark;

/// A test of Action Cable under way: what its users share.
#[derive(Debug)]
pub struct Cable {
    plan: CablePlan,
    mark: Mark,
    muster: Muster,
    ledger: Ledger,
    outcome: Mutex<Outcome>,
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

    /// The users, for the engine.
    #[must_use]
    pub fn crew(self: &Arc<Self>) -> Crew {
        let cable = Arc::clone(self);
        Crew {
            users: u64::from(self.plan.users),
            make: Arc::new(move |lane| Box::new(Crowd::new(Arc::clone(&cable), lane))),
        }
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

#[cfg(test)]
mod tests;
