//! Sleeping through answers: where the kernel stamps what comes and the loop wakes soon to send, an answer need not wake it. That is
//! one wake-up a request instead of two, and none of them is part of what is measured.
//!
//! ```text
//! turn n:    begin what is due, send ─▶ sleep to the next begin, whatever comes
//! turn n+1:  begin what is due where a connection is free, send ─▶ poll without sleep, read all
//! turn n+2:  end what is overdue, begin the rest, … ─▶ sleep to the next begin
//! ```
//!
//! It does so only while no answer under way could be measured worse for it: [`Promptness`](crate::promptness::Promptness).

use net::Io;
use stdx::Nanos;

use super::Worker;
use crate::ids::HitId;
use crate::origin::Origin;
use crate::schedule::Schedule;

/// What came is read at the latest after this time.
const UNREAD_MAX: Nanos = Nanos::MILLI;
/// An answer of more bytes may have filled the window: a server that waits for room is not to wait for us.
const ANSWER_MAX: u64 = 16 << 10;
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
        until > self.now
            && until.saturating_sub(self.now) <= UNREAD_MAX
            && open.next_begin() == Some(until)
            // The next hit but one is not to wait for room that an unread answer would make.
            && self.hits.len() + 1 < open.in_flight_max
            && self.promptness.allows_sleep()
            && self.pipeline == 1
            && self.is_at_rest()
    }

    /// Whether each origin has a connection for its next hit. Where one has none, an answer that lies unread may be on the
    /// connection that the hit is to have.
    pub(super) fn has_ready_connections(&self) -> bool {
        self.origins.list.values().all(|origin| origin.ready.len() > 0 || origin.open == 0)
    }

    /// The loop looks at what it slept through before it does anything that could depend on it.
    pub(super) fn must_poll(&self) -> bool {
        self.unpolled && !self.has_ready_connections()
    }

    /// A hit ended at `done`: looks whether its answer came whole with one stamped read, in a known length and as plain bytes. One that
    /// ends with its connection, fails, comes in parts, is decoded or leads elsewhere is not to lie unread.
    pub(super) fn note_answer(&mut self, hit_id: HitId, failed: bool, done: Nanos) {
        if self.promptness.is_empty() {
            return;
        }
        let hit = &self.hits[hit_id];
        let is_coded = hit.conn.is_some_and(|conn| self.conns[conn].coded);
        let whole = !failed
            && self.arrived.is_some()
            && hit.first_byte == Some(done)
            && hit.redirects == 0
            && !hit.retried
            && hit.all_sent == Nanos::ZERO
            && hit.progress.wire_in < ANSWER_MAX
            && !is_coded;
        self.promptness.note(hit.target, whole);
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

    /// Looks at a read that gave bytes.
    pub(super) fn note_read(&mut self) {
        // Not those of Unix sockets, and none just after the wall clock was set.
        self.reads_are_stamped = self.arrived.is_some();
    }
}
