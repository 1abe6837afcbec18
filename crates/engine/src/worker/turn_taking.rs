//! Taking turns: hits wait for a dial, and connections for their TLS handshake, so that events are handled in between.
//! [`WorkBudget`](crate::work_budget::WorkBudget) bounds how long either goes on.

use metrics::FailureKind;
use net::Io;
use stdx::Nanos;
use workload::PollBudget;

use super::Worker;
use crate::conn::State;
use crate::failure::Failure;
use crate::ids::{ConnId, HitId, OriginId};
use crate::schedule::Schedule;

impl<I: Io> Worker<I> {
    /// Whether a connection may be shaken hands with or ended now.
    pub(super) fn has_budget(&mut self) -> bool {
        self.now = self.io.now();
        self.work_budget.allows(self.now)
    }

    /// Whether a connection may be dialled now.
    pub(super) fn may_dial(&mut self) -> bool {
        self.now = self.io.now();
        self.work_budget.allows_dial(self.now)
    }

    /// Makes an origin's hits wait until a dial is allowed.
    pub(super) fn defer(&mut self, origin_id: OriginId) {
        let origin = &mut self.origins.list[origin_id];
        if !std::mem::replace(&mut origin.deferred, true) {
            self.deferred.push_back(origin_id);
        }
    }

    /// Dials for hits that waited for it, as far as it is their turn.
    pub(super) fn serve_deferred(&mut self) {
        while let Some(&origin_id) = self.deferred.front() {
            let waits = self.origins.list[origin_id].waiting.len() > 0;
            if waits && !self.may_dial() {
                return;
            }
            self.deferred.pop_front();
            self.origins.list[origin_id].deferred = false;
            if waits {
                self.serve(origin_id);
            }
        }
    }

    /// Whether hits wait for their dial, or connections for their handshake: then no more are begun.
    pub(super) fn has_backlog(&self) -> bool {
        !self.deferred.is_empty() || !self.waiting_handshakes.is_empty()
    }

    /// Whether as many wait for a name's addresses as are begun at once: users of a closed loop begin after them, since all
    /// would be dialled late once the name is resolved. A rate does not wait for it.
    pub(super) fn awaits_name(&self) -> bool {
        let origin = self.unresolved.and_then(|origin_id| self.origins.list.get(origin_id));
        origin.is_some_and(|origin| origin.resolving)
    }

    /// When what waits for its turn goes on.
    pub(super) fn next_turn(&self) -> Option<Nanos> {
        let dial = (!self.deferred.is_empty()).then(|| self.work_budget.next_dial(self.now));
        if self.waiting_handshakes.is_empty() { dial } else { Some(self.now) }
    }

    /// How much users may begin now.
    pub(super) fn poll_budget(&mut self) -> PollBudget {
        match self.has_backlog() || self.awaits_name() {
            // Hits that wait for a descriptor do not keep others from using open connections.
            true if self.work_budget.is_paused(self.now) => PollBudget::ONE,
            true => PollBudget::NONE,
            false if self.work_budget.allows(self.now) => PollBudget::FULL,
            false => PollBudget::ONE,
        }
    }

    /// Queues a connection's handshake for a later turn.
    pub(super) fn defer_handshake(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        if let Some(sock) = conn.sock
            && !std::mem::replace(&mut conn.handshake_deferred, true)
        {
            self.waiting_handshakes.push_back((conn_id, sock));
        }
    }

    /// Whether what came for a connection has to wait: it is part of a handshake, and others have their turn.
    pub(super) fn waits_for_turn(&mut self, conn_id: ConnId) -> bool {
        let Some(conn) = self.conns.get(conn_id) else { return false };
        conn.state == State::Securing && (!conn.has_begun_handshake() || !self.has_budget())
    }

    /// Goes on with handshakes that waited, as far as it is their turn.
    pub(super) fn continue_handshakes(&mut self) {
        while let Some(&(conn_id, sock)) = self.waiting_handshakes.front() {
            if !self.has_budget() {
                return;
            }
            self.waiting_handshakes.pop_front();
            let conn = self.conns.get_mut(conn_id).filter(|conn| conn.sock == Some(sock));
            let Some(conn) = conn else { continue };
            conn.handshake_deferred = false;
            if !conn.has_begun_handshake() {
                self.begin_handshake(conn_id);
            }
            // There is no further event for what came meanwhile.
            if self.sock_of(conn_id) == Some(sock) {
                self.read(conn_id, true);
            }
        }
    }

    /// A hit's dial failed. Where the system has no descriptor or port left, users pause: the schedule of a rate does not.
    pub(super) fn fail_dial(&mut self, hit: HitId, failure: &Failure) {
        let is_want =
            matches!(failure.kind, FailureKind::DescriptorsExhausted | FailureKind::PortsExhausted);
        if is_want && matches!(self.schedule, Schedule::Closed(_) | Schedule::Users(_)) {
            self.self_metrics.pauses += u64::from(self.work_budget.pause(self.now));
        }
        self.fail(hit, failure);
    }
}
