//! Sleeping through answers: where the kernel stamps what comes and the loop wakes soon to send, an answer need not wake it. That is
//! one wake-up a request instead of two, and none of them is part of what is measured.
//!
//! ```text
//! turn n:    begin what is due, send ─▶ sleep to the next begin, whatever comes
//! turn n+1:  begin what is due, send ─▶ poll without sleep, read all ─▶ hits without a connection get one that came free, or dial
//! turn n+2:  end what is overdue, … ─▶ sleep to the next begin
//! ```

use net::Io;
use stdx::Nanos;

use super::Worker;
use crate::origin::Origin;
use crate::schedule::Schedule;

/// What came is read at the latest after this time.
const UNREAD_MAX: Nanos = Nanos::MILLI;
/// How long every event wakes the loop after something that should not wait.
const AWAKE: Nanos = Nanos::from_secs(1);
/// More than this in one read may have filled the window: a server that waits for room is not to wait for us.
const READ_LARGE: usize = 16 << 10;
/// With more origins than this the loop does not look whether all are at rest.
const ORIGINS_MAX: usize = 8;

impl<I: Io> Worker<I> {
    /// Sleeps until the next hit is due, if nothing is lost by it; gives whether it did.
    pub(super) fn sleep_through(&mut self) -> bool {
        if !self.reads_are_stamped {
            return false;
        }
        let until = self.next_deadline();
        if !self.may_sleep_through(until) {
            return false;
        }
        let slept = self.io.now();
        self.self_metrics.sleep(slept);
        self.now = self.io.sleep(until);
        self.self_metrics.wake(until.max(slept), self.now);
        self.work_budget.renew();
        self.unpolled = true;
        true
    }

    fn may_sleep_through(&self, until: Nanos) -> bool {
        let Schedule::Open(open) = &self.schedule else { return false };
        self.now >= self.awake_until
            && until > self.now
            && until.saturating_sub(self.now) <= UNREAD_MAX
            && open.next_begin() == Some(until)
            // The next hit but one is not to wait for room that an unread answer would make.
            && self.hits.len() + 1 < open.in_flight_max
            && (self.hits.len() <= 1 || !self.shares_connections())
            && self.is_at_rest()
    }

    /// Whether several answers may come on one connection: the kernel stamps what was read, not each of them.
    fn shares_connections(&self) -> bool {
        self.pipeline > 1 || self.origins.list.values().any(Origin::has_streams)
    }

    /// Whether no connection is being made or closed, and no hit waits for one.
    fn is_at_rest(&self) -> bool {
        let origins = &self.origins.list;
        self.fallbacks.is_empty()
            && self.closing.is_empty()
            && self.lazy.is_none()
            && self.applied_stop == 0
            && origins.len() <= ORIGINS_MAX
            && origins.values().all(Origin::is_at_rest)
    }

    /// Something came, or is to go out, that should not wait for the next hit.
    pub(super) fn stay_awake(&mut self) {
        self.awake_until = self.awake_until.max(self.now.saturating_add(AWAKE));
    }

    /// Looks at a read that gave so many bytes.
    pub(super) fn note_read(&mut self, bytes: usize) {
        // Not those of Unix sockets, and none just after the wall clock was set.
        self.reads_are_stamped = self.arrived.is_some();
        if bytes >= READ_LARGE {
            self.stay_awake();
        }
    }
}
