//! Flow control actions and the status actions of results: what a thread, or the test, is to do.

use super::after::After;
use super::scope::Thread;
use crate::plan::group::OnError;
use crate::plan::node::Part;
use crate::walk::Logic;
use crate::world::Stopping;

/// What a flow control action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The thread waits so many milliseconds.
    Pause(u64),
    /// The thread goes on elsewhere, or ends.
    Leave(After),
}

impl Thread {
    /// Reads a flow control action, and stops the test where it says so.
    pub(crate) fn action(&mut self, part: &Part) -> Action {
        let element = &part.element;
        let number: i64 =
            self.property_text(element, "ActionProcessor.action").trim().parse().unwrap_or(0);
        let target: i64 =
            self.property_text(element, "ActionProcessor.target").trim().parse().unwrap_or(0);
        let how = match number {
            1 => {
                let time = self.property_text(element, "ActionProcessor.duration");
                return Action::Pause(time.trim().parse().unwrap_or(0));
            }
            3 => return Action::Leave(After::Go(Logic::NextThreadLoop)),
            4 => return Action::Leave(After::Go(Logic::NextLoop)),
            5 => return Action::Leave(After::Go(Logic::BreakLoop)),
            2 => Stopping::Now,
            _ => Stopping::Gracefully,
        };
        if target == 2 {
            self.world.stop(self.kind(), how);
        }
        Action::Leave(After::Stop)
    }

    /// What becomes of the thread whose sample failed, by its group.
    pub(crate) fn after_failure(&mut self) -> After {
        match self.program.groups[self.group].on_error {
            OnError::Continue => After::Go(Logic::Continue),
            OnError::NextLoop => After::Go(Logic::NextThreadLoop),
            OnError::StopThread => After::Stop,
            OnError::StopTest => self.stop_test(Stopping::Gracefully),
            OnError::StopTestNow => self.stop_test(Stopping::Now),
        }
    }

    pub(crate) fn stop_test(&mut self, how: Stopping) -> After {
        self.world.stop(self.kind(), how);
        After::Stop
    }

    /// What a status action does after a sample that failed: JMeter's numbers.
    pub(crate) fn status_action(&mut self, part: &Part) -> After {
        let number = self.property_text(&part.element, "OnError.action");
        match number.trim().parse().unwrap_or(0) {
            1 => After::Stop,
            2 => self.stop_test(Stopping::Gracefully),
            3 => self.stop_test(Stopping::Now),
            4 => After::Go(Logic::NextThreadLoop),
            5 => After::Go(Logic::NextLoop),
            6 => After::Go(Logic::BreakLoop),
            _ => After::Go(Logic::Continue),
        }
    }
}
