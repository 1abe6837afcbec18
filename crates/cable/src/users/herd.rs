//! The herd: all come at once; once all are up and have stayed for a while, they are cut off, and all come back.

use stdx::Nanos;
use workload::PollBudget;

use super::connect::Settled;
use super::state::{CableUsers, Phase};
use super::user::Stage;
use super::user_table::UserId;

impl CableUsers {
    /// Gives up the users that are not subscribed in time, and begins the next round when it is due.
    pub(super) fn run_herd(&mut self, now: Nanos, give_up: Nanos) {
        self.cut_some(now);
        if now >= self.round_began.saturating_add(give_up) && self.end().is_none() {
            self.users.ids().for_each(|user| self.settle(user, now, Settled::GivenUp));
        }
        let end = self.end().filter(|end| *end <= now && !self.is_cutting());
        let Some(end) = end else { return };
        if self.phase == Phase::Running && self.round + 1 < self.cable.barrier.rounds() {
            self.round += 1;
            self.round_began = end;
            self.next_cut = 0;
        }
    }

    /// Cuts the next of the connections that the round's start cuts.
    fn cut_some(&mut self, now: Nanos) {
        while self.is_cutting() && self.budget.is_left() {
            self.budget.spend(PollBudget::CONNECTION);
            self.cut_off(UserId(self.next_cut as u32), now);
            self.next_cut += 1;
        }
    }

    /// Whether some are to be cut off still.
    pub(super) fn is_cutting(&self) -> bool {
        self.next_cut < self.users.len()
    }

    /// A user's connection is cut, as a network would: without a word.
    fn cut_off(&mut self, user: UserId, now: Nanos) {
        match self.users[user].stage {
            // Its handshake counts for the new round; or it comes when its wait is over.
            Stage::Opening(_) | Stage::Away => {}
            Stage::Gone => self.settle(user, now, Settled::GivenUp),
            Stage::Greeting | Stage::Subscribing | Stage::Subscribed => {
                let began = self.round_began;
                self.disconnect(user);
                self.users[user].lost_at = Some(began);
                self.reconnect_within_jitter(user, began);
            }
        }
    }
}
