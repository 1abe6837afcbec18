//! The loop of a worker: one turn after the other, until the run is over.

use net::{Event, Io, Ready};
use stdx::Nanos;

use super::Worker;
use crate::conn::Conn;
use crate::failure::Failure;
use crate::pace::Pace;
use crate::record::PERIOD;
use crate::stop::Orders;

/// The loop wakes at least this often, to hear of signals and to see that it stood still.
const HEARTBEAT: Nanos = Nanos::from_millis(50);
/// Events are handled so long at a stretch, at most; then what is due is begun.
const EVENTS_MAX: Nanos = Nanos::from_millis(10);

impl<I: Io> Worker<I> {
    /// Runs to the end of the plan, or to the end of orders.
    pub(crate) fn run(mut self) {
        while !self.turn() {}
        self.finish();
    }

    /// Says the last word.
    pub(crate) fn finish(mut self) {
        self.write_counts();
        self.recorder.finish();
    }

    /// One turn of the loop; `true` when the run is over.
    pub(crate) fn turn(&mut self) -> bool {
        self.obey();
        // Before the dials, which would take all of their turns and leave what is overdue unended; and before the queues: what
        // ends here makes room for hits that wait, and has its streams reset.
        self.expire();
        self.drop_closing();
        self.shake_hands();
        self.serve_deferred();
        self.begin_due();
        self.serve_listed();
        self.flush_gathered();
        self.report_when_due();
        if matches!(self.pace, Pace::Over) && self.hits.is_empty() {
            return true;
        }
        if self.has_events {
            self.now = self.io.now();
            self.watch.go_on(self.now);
        } else {
            self.wait();
        }
        self.read_unread();
        self.has_events = self.handle_events();
        false
    }

    /// Sleeps until something happens or is due.
    fn wait(&mut self) {
        let until = self.next_deadline();
        let slept = self.io.now();
        self.watch.sleep(slept);
        self.now = self.io.wait(Some(until));
        // A deadline that had passed before the sleep began says nothing about the sleep.
        self.watch.wake(until.max(slept), self.now);
        self.burst.renew();
    }

    /// Handles what happened; gives whether some of it is left.
    fn handle_events(&mut self) -> bool {
        let until = self.now + EVENTS_MAX;
        while let Some(event) = self.io.next_event() {
            self.handle(event);
            self.serve_deferred();
            self.begin_idle_users();
            self.serve_listed();
            self.flush_gathered();
            if self.now >= until {
                return true;
            }
        }
        false
    }

    fn obey(&mut self) {
        let order = self.orders.current();
        if order != self.obeyed {
            self.obeyed = order;
            self.end_pace(self.now);
            if order >= Orders::ABORT {
                self.stop_users();
            }
        }
        while order >= Orders::ABORT
            && let Some(hit) = self.by_deadline.first()
            && self.may_go_on()
        {
            self.end_early(hit, &Failure::stopped());
        }
    }

    /// When the loop has to go on at the latest.
    fn next_deadline(&self) -> Nanos {
        // A connection that was lost while sending may have listed its origin again.
        let is_aborted = self.obeyed >= Orders::ABORT && !self.hits.is_empty();
        let is_idle = self.unread.is_empty() && self.listed.is_empty() && self.gathered.is_empty();
        if is_aborted || !is_idle {
            return self.now;
        }
        let turn = self.next_turn();
        let begin = match &self.pace {
            // Who waits for a dial begins before.
            _ if self.is_behind() => None,
            Pace::Open(open) if self.has_room(open.in_flight_max) => open.next_begin(),
            Pace::Closed(closed) => {
                let due = closed.next_due(self.now);
                [due, self.prepared.plan.duration].into_iter().flatten().min()
            }
            Pace::Users(_) => self.wake,
            _ => None,
        };
        let lazy = self.lazy.as_ref().filter(|lane| lane.starved).map(|_| self.now + Nanos::MILLI);
        let overdue = self.by_deadline.first().map(|hit| self.hits[hit as usize].deadline);
        let fallback = self.fallbacks.front().map(|&(at, ..)| at);
        let closing = self.closing.front().map(|&(at, _)| at);
        let heartbeat = self.now + HEARTBEAT;
        let begin = if lazy.is_some() { None } else { begin };
        [turn, begin, lazy, overdue, fallback, closing, Some(self.next_report)]
            .into_iter()
            .flatten()
            .fold(heartbeat, Nanos::min)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Ready(conn, ready) => self.ready(conn, ready),
            Event::Connected(conn) => {
                self.now = self.io.now();
                self.connected(conn);
            }
            Event::Refused(conn, failure) => {
                self.now = self.io.now();
                self.refused(conn, failure);
            }
            Event::Resolved(origin, answer) => {
                self.now = self.io.now();
                self.resolved(origin, answer);
            }
            Event::Woken | Event::Accepted { .. } => {}
        }
    }

    fn ready(&mut self, conn: u32, ready: Ready) {
        if ready.writable && self.conns.get(conn as usize).is_some_and(Conn::has_unsent) {
            self.now = self.io.now();
            self.flush(conn);
        }
        if !(ready.readable || ready.closed) {
            return;
        }
        if self.waits_for_turn(conn) {
            return self.postpone(conn);
        }
        self.read(conn, ready.closed);
    }

    /// Goes on reading where a long response was left for others' sake.
    fn read_unread(&mut self) {
        for _ in 0..self.unread.len() {
            let Some((conn, sock)) = self.unread.pop_front() else { return };
            if self.conns.get(conn as usize).is_some_and(|c| c.sock == Some(sock)) {
                self.read(conn, true);
            }
        }
    }

    fn report_when_due(&mut self) {
        if self.now < self.next_report {
            return;
        }
        self.next_report = Nanos((self.now.0 / PERIOD.0 + 1) * PERIOD.0);
        self.recorder.send_rows();
        self.write_counts();
        if !self.recorder.send_counts() {
            // Nobody listens: the run was dropped.
            self.orders.give(Orders::ABORT);
        }
    }

    /// Writes our own state into the snapshot; the lag's histogram is moved there.
    fn write_counts(&mut self) {
        let snapshot = &mut self.recorder.snapshot;
        snapshot.to = self.now;
        snapshot.in_flight = self.hits.len() as u64;
        snapshot.generator.lag.merge(&self.lag);
        self.lag.clear();
        self.watch.tell(&mut snapshot.generator, self.now);
        snapshot.generator.rows_dropped = self.recorder.rows_dropped;
    }
}
