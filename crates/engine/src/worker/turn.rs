//! The loop of a worker: one turn after the other, until the run is over.

use net::{Event, Io, Ready};
use stdx::Nanos;
use workload::PollBudget;

use super::Worker;
use super::begin::GRACE;
use crate::conn::Conn;
use crate::failure::Failure;
use crate::ids::{ConnId, OriginId};
use crate::orders::Orders;
use crate::record::PERIOD;
use crate::schedule::Schedule;

/// The loop wakes at least this often, to check for signals and to notice pauses of its own.
const HEARTBEAT: Nanos = Nanos::from_millis(50);
/// The same where users wait for answers: a stop is noticed less this, and 200 wake-ups a second are a thousandth of a core.
const BEAT: Nanos = Nanos::from_millis(5);
/// Events are handled so long at a stretch, at most; then what is due is begun.
const EVENTS_MAX: Nanos = Nanos::from_millis(10);
/// So many events are handled before users act on them: what reads answers stays in the processor's cache meanwhile, and no answer
/// waits to be read until the scripts of seven others have run. As many users as one poll may have begin something.
const EVENTS_PER_POLL: u32 = PollBudget::FULL.connections();

impl<I: Io> Worker<I> {
    /// When the current turn began, since the start of the run.
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// Runs to the end of the plan, or to the end of orders.
    pub(crate) fn run(mut self) {
        while !self.turn() {}
        self.finish();
    }

    /// Sends the final record.
    pub(crate) fn finish(mut self) {
        self.write_counts();
        self.recorder.finish();
    }

    /// One turn of the loop; `true` when the run is over.
    pub(crate) fn turn(&mut self) -> bool {
        self.apply_stop();
        // What came while the loop slept may end what seems overdue.
        if !self.unpolled {
            // Before the dials, which would take all of their turns and leave what is overdue unended; and before the queues:
            // what ends here makes room for hits that wait, and has its streams reset.
            self.expire();
        }
        self.drop_closing();
        self.continue_handshakes();
        self.serve_deferred();
        self.begin_due();
        self.run_service_queue();
        self.flush_corked();
        self.report_when_due();
        if matches!(self.schedule, Schedule::Ended) && self.hits.is_empty() {
            return true;
        }
        if self.has_events {
            self.now = self.io.now();
            self.self_metrics.go_on(self.now);
        } else if self.unpolled {
            self.unpolled = false;
            self.now = self.io.wait(Some(Nanos::ZERO));
            self.self_metrics.go_on(self.now);
        } else if self.sleep_through() {
            return false;
        } else {
            self.wait();
        }
        self.read_unread();
        self.has_events = self.handle_events();
        false
    }

    /// Sleeps until something happens or is due.
    fn wait(&mut self) {
        let slept = self.io.now();
        let until = self.next_deadline().min(self.next_beat(slept));
        self.self_metrics.sleep(slept);
        self.now = self.io.wait(Some(until));
        // A deadline that had passed before the sleep began says nothing about the sleep.
        self.unpolled = self.self_metrics.wake(until.max(slept), self.now);
        self.work_budget.renew();
    }

    /// When a loop that waits for answers looks at the clock. Users have nothing else due meanwhile, so that a loop which was
    /// stopped would take itself for one that waited for its server.
    fn next_beat(&self, now: Nanos) -> Nanos {
        let waits = !self.hits.is_empty() && !matches!(self.schedule, Schedule::Open(_));
        if waits { now.saturating_add(BEAT) } else { Nanos::MAX }
    }

    /// Handles what happened; gives whether some of it is left.
    fn handle_events(&mut self) -> bool {
        let until = self.now + EVENTS_MAX;
        let mut unseen = 0;
        while let Some(event) = self.io.next_event() {
            self.handle(event);
            self.serve_deferred();
            unseen += 1;
            if unseen >= self.events_per_poll() {
                unseen = 0;
                self.begin_idle_users();
            }
            self.run_service_queue();
            self.flush_corked();
            if self.now >= until {
                return true;
            }
        }
        // Users see the last ones as soon as the next turn begins what is due, before any wait.
        false
    }

    /// After how many events users act. One who is due does not wait for the answers of others.
    fn events_per_poll(&self) -> u32 {
        let is_due = self.next_poll.is_some_and(|at| at <= self.now);
        if matches!(self.schedule, Schedule::Users(_)) && !is_due { EVENTS_PER_POLL } else { 1 }
    }

    fn apply_stop(&mut self) {
        let order = self.orders.stop();
        if order != self.applied_stop {
            self.applied_stop = order;
            // What fell due a moment ago would have been begun in this turn: that it is not is the stop's work.
            let moment = GRACE.saturating_add(self.prepared.settings.tick);
            self.end_schedule(self.now.saturating_sub(moment));
            if order >= Orders::ABORT {
                self.stop_users();
            }
        }
        // What came while the loop slept is read first.
        while order >= Orders::ABORT
            && !self.unpolled
            && let Some(hit) = self.deadlines.first()
            && self.has_budget()
        {
            self.abort_hit(hit, &Failure::stopped());
        }
    }

    /// When the loop has to go on at the latest.
    pub(super) fn next_deadline(&self) -> Nanos {
        // A connection that was lost while sending may have listed its origin again.
        let is_aborted = self.applied_stop >= Orders::ABORT && !self.hits.is_empty();
        let is_idle =
            self.unread.is_empty() && self.service_queue.is_empty() && self.corked.is_empty();
        if is_aborted || !is_idle {
            return self.now;
        }
        let turn = self.next_turn();
        let begin = match &self.schedule {
            // Hits that wait for a dial begin before new ones.
            _ if self.has_backlog() => None,
            Schedule::Open(open) if self.has_room(open.in_flight_max) => open.next_begin(),
            Schedule::Closed(closed) => {
                let due = closed.next_due(self.now);
                [due, self.prepared.plan.duration].into_iter().flatten().min()
            }
            Schedule::Users(_) if self.has_answers => Some(self.now),
            Schedule::Users(_) => self.next_poll,
            _ => None,
        };
        let lazy = self.lazy.as_ref().filter(|lane| lane.starved).map(|_| self.now + Nanos::MILLI);
        let overdue = self.deadlines.next(&self.hits);
        let fallback = self.fallbacks.front().map(|&(at, ..)| at);
        let closing = self.closing.front().map(|&(at, _)| at);
        let heartbeat = self.now + HEARTBEAT;
        let begin = if lazy.is_some() { None } else { begin };
        let delivery = self.recorder.next_delivery();
        [turn, begin, lazy, overdue, fallback, closing, delivery, Some(self.next_report)]
            .into_iter()
            .flatten()
            .fold(heartbeat, Nanos::min)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Ready(key, ready) => self.handle_ready(ConnId(key), ready),
            Event::Connected(key) => {
                self.now = self.io.now();
                self.handle_connected(ConnId(key));
            }
            Event::Refused(key, failure) => {
                self.now = self.io.now();
                self.handle_refused(ConnId(key), failure);
            }
            Event::Resolved(key, answer) => {
                self.now = self.io.now();
                self.handle_resolved(OriginId(key), answer);
            }
            Event::Woken | Event::Accepted { .. } => {}
        }
    }

    fn handle_ready(&mut self, conn: ConnId, ready: Ready) {
        if ready.writable && self.conns.get(conn).is_some_and(Conn::has_unsent) {
            self.now = self.io.now();
            self.flush(conn);
        }
        if !(ready.readable || ready.closed) {
            return;
        }
        if self.waits_for_turn(conn) {
            return self.defer_handshake(conn);
        }
        self.read(conn, ready.closed);
    }

    /// Goes on reading where a long response was left for others' sake.
    fn read_unread(&mut self) {
        for _ in 0..self.unread.len() {
            let Some((conn, sock)) = self.unread.pop_front() else { return };
            if self.conns.get(conn).is_some_and(|c| c.sock == Some(sock)) {
                self.read(conn, true);
            }
        }
    }

    fn report_when_due(&mut self) {
        self.recorder.deliver(self.now);
        if self.now < self.next_report {
            return;
        }
        self.next_report = Nanos((self.now.0 / PERIOD.0 + 1) * PERIOD.0);
        self.recorder.send_rows();
        self.write_counts();
        if !self.recorder.send_counts() {
            // The receiver is gone: the run was dropped.
            self.orders.request_stop(Orders::ABORT, self.now);
        }
    }

    /// Writes our own state into the snapshot; the histograms of the generator's lateness are moved there.
    fn write_counts(&mut self) {
        let snapshot = &mut self.recorder.snapshot;
        snapshot.to = self.now;
        snapshot.in_flight = self.hits.len() as u64;
        snapshot.generator.lag.merge(&self.lag);
        self.lag.clear();
        snapshot.generator.on_time.merge(&self.on_time);
        self.on_time.clear();
        self.self_metrics.write_to(&mut snapshot.generator, self.now);
        snapshot.generator.rows_dropped = self.recorder.rows_dropped;
    }
}
