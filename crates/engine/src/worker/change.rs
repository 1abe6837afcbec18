//! Another load while the run goes on.

use net::Io;
use stdx::Nanos;

use super::Worker;
use super::begin::GRACE;
use crate::load_change::LoadChange;
use crate::schedule::{Schedule, UsersShare};

impl<I: Io> Worker<I> {
    /// Takes up changes of the load. Hits that fell due before one are begun first, for as long after it as after the end of a
    /// run.
    pub(super) fn change_load(&mut self) {
        if self.changes_applied < self.orders.load.count() {
            self.take_up_changes();
        }
        if self.changes_applied > 0
            && let Schedule::Open(open) = &mut self.schedule
        {
            open.follow(self.now);
        }
    }

    #[cold]
    fn take_up_changes(&mut self) {
        self.changes_at = Nanos::MAX;
        while let Some((at, change)) = self.orders.load.get(self.changes_applied) {
            if self.has_due_before(at) {
                let grace = GRACE.saturating_add(self.prepared.settings.tick);
                if self.now <= at.saturating_add(grace) {
                    self.changes_at = at;
                    return;
                }
                self.skip_before(at);
            }
            self.take_up(at, change);
            self.changes_applied += 1;
        }
    }

    /// Whether hits that fell due before then were not begun.
    fn has_due_before(&self, at: Nanos) -> bool {
        let Schedule::Open(open) = &self.schedule else { return false };
        open.peek().is_some_and(|(_, due)| due < at)
    }

    fn take_up(&mut self, at: Nanos, change: LoadChange) {
        match (&mut self.schedule, change) {
            (Schedule::Open(open), change) => {
                open.change(at, change, &self.prepared.plan);
                let connections = open.place.share(self.prepared.settings.connections as u64);
                self.idle_max = connections as usize;
            }
            (Schedule::Closed(closed), LoadChange::Pause) => closed.pause(),
            (Schedule::Closed(closed), LoadChange::Resume) => closed.resume(self.now),
            (Schedule::Closed(closed), LoadChange::Users(users)) => {
                let own = UsersShare::of(users, &self.prepared, closed.shard);
                closed.set_users(own.users);
                if let Some(connections) = own.connections {
                    // Those that are open stay so.
                    (self.conns_max, self.idle_max) =
                        (self.conns_max.max(connections), self.idle_max.max(connections));
                }
            }
            (Schedule::Closed(_), LoadChange::Rate(_))
            | (Schedule::Users(_) | Schedule::Ended, _) => {}
        }
    }
}
