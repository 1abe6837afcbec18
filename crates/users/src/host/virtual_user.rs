//! `VirtualUser` and `UserProgram`: what a pool needs of the users that it keeps busy, whatever they run.

use std::rc::Rc;

use stdx::MemoryShare;

use super::action::{Action, ActionResult, Ticket};
use super::call::{Call, StepResult};
use super::exception::Exception;
use super::execution::ExecutionInfo;
use super::metrics::MetricRegistry;
use super::sample::{Sample, TagList};
use super::traits::Host;

/// A virtual user. From a [call](Self::call) until its end it does one step after another, and each returns as soon as the user
/// has to wait: what it wants done meanwhile are its actions.
pub trait VirtualUser {
    /// Where the next call stands in the test.
    fn set_execution(&mut self, _execution: ExecutionInfo) {}

    /// Begins an iteration. None is under way.
    fn call(&mut self, call: Call) -> StepResult;

    /// Brings the result of an action. `None`: the user waits for something else; the result is kept, or dropped where it comes
    /// too late.
    fn answer(&mut self, ticket: Ticket, answer: ActionResult) -> Option<StepResult>;

    /// The time that a step waited for has come. `None`: no iteration is under way.
    fn wake(&mut self) -> Option<StepResult>;

    /// Ends the iteration that is under way, if one is.
    fn stop(&mut self);

    /// Whether the user asked for something since the last time.
    fn has_actions(&self) -> bool;

    /// Takes what the user asked for since the last time; gives the memory that it takes until it is carried out.
    fn take_actions(&mut self, into: &mut Vec<Action>) -> MemoryShare;

    /// Results of a ticket that came while the user was busy with something else, and wait for it; and the bytes in them. A
    /// socket that has too many stalls.
    fn backlog(&self, _ticket: Ticket) -> (usize, usize) {
        (0, 0)
    }

    /// Whether the user made samples of its own since the last time.
    fn has_samples(&self) -> bool {
        false
    }

    /// Takes the samples that the user made since the last time.
    fn take_samples(&mut self, _into: &mut Vec<Sample>) {}

    /// The tags and the metadata that the user gives all its samples.
    fn tags(&self) -> (Option<Rc<TagList>>, Option<Rc<TagList>>) {
        (None, None)
    }

    /// Samples that were made faster than they were taken, and are lost.
    fn samples_dropped(&self) -> u64 {
        0
    }
}

/// What virtual users run, the same on all workers, and how a worker makes its users.
pub trait UserProgram: 'static {
    /// A user.
    type User: VirtualUser;
    /// What the users of one worker share.
    type Shared;

    /// What a user takes of the process' memory at least, beside what it counts itself.
    const USER_BYTES: usize;

    /// What the users of a worker share, where so many threads have the like.
    ///
    /// # Errors
    /// There is no memory for it.
    fn share(&self, threads: usize) -> Result<Self::Shared, Exception>;

    /// A user of this number, from 1; 0 for the one that calls `setup` and `teardown`.
    ///
    /// # Errors
    /// It cannot be made: what it runs is wrong, or there is no memory for it.
    fn spawn(
        shared: &Self::Shared,
        host: Rc<dyn Host>,
        number: u64,
    ) -> Result<Self::User, Exception>;

    /// What bounds the memory of users, in words.
    fn memory_bound(_shared: &Self::Shared) -> String {
        stdx::memory_limit_in_words()
    }

    /// The metrics that users declare.
    fn metrics(&self) -> MetricRegistry {
        MetricRegistry::default()
    }
}
