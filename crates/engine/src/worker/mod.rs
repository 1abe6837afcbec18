//! `Worker`: THE loop. One thread, one `Io`; it owns its connections, hits, counts and random numbers, and shares nothing.
//!
//! ```text
//! turn:  go on, begin what is due ─▶ end what is overdue ─▶ use the room, send ─▶ tell the collector ─▶ wait ─▶ handle events
//!        burst.rs, begin.rs         finish.rs               dial.rs, transfer.rs  mod.rs                        all but begin.rs
//! ```

mod begin;
mod burst;
mod dial;
mod finish;
mod pipes;
mod strangers;
mod streams;
mod transfer;
mod users;

pub(crate) use begin::IN_FLIGHT_MAX;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use metrics::Histogram;
use net::{Event, Io, Ready, Sock};
use slab::Slab;
use stdx::Nanos;
use workload::{Pipe, Wishes};

use crate::burst::Burst;
use crate::conn::{Conns, Serials, State};
use crate::decoders::Decoders;
use crate::exchange::Memo;
use crate::failure::Failure;
use crate::hit::{BY_DEADLINE, Hit, Hits};
use crate::list::List;
use crate::origin::{Named, Origin, Origins};
use crate::pace::Pace;
use crate::prepared::Prepared;
use crate::record::{PERIOD, Recorder};
use crate::request::Request;
use crate::run::LazyLane;
use crate::watch::Watch;

/// Room for one read.
const INPUT_LEN: usize = 64 << 10;
/// The loop wakes at least this often, to hear of signals and to see that it stood still.
const HEARTBEAT: Nanos = Nanos::from_millis(50);
/// Events are handled so long at a stretch, at most; then what is due is begun.
const EVENTS_MAX: Nanos = Nanos::from_millis(10);

/// What the run's owner wants of its workers.
#[derive(Debug, Default)]
pub(crate) struct Orders(AtomicU8);

impl Orders {
    /// Begin no more hits.
    pub(crate) const DRAIN: u8 = 1;
    /// End now.
    pub(crate) const ABORT: u8 = 2;

    pub(crate) fn give(&self, order: u8) {
        self.0.fetch_max(order, Ordering::Relaxed);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.current() > 0
    }

    fn current(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One worker of a run.
#[derive(Debug)]
pub(crate) struct Worker<I: Io> {
    io: I,
    now: Nanos,
    prepared: Arc<Prepared>,
    orders: Arc<Orders>,
    obeyed: u8,
    pace: Pace,
    lazy: Option<LazyLane>,
    hits: Hits,
    by_deadline: List<BY_DEADLINE>,
    conns: Conns,
    serials: Serials,
    origins: Origins,
    /// The origin of each of the plan's targets; `None` where the target cannot be sent.
    target_origins: Vec<Option<u32>>,
    /// Origins with hits waiting and, perhaps, room for a connection.
    listed: Vec<u32>,
    /// Whose turn it is: what makes and ends connections, or events.
    burst: Burst,
    /// Origins whose hits wait for a dial.
    deferred: VecDeque<u32>,
    /// An origin whose name had many hits waiting for its addresses when it was last looked at.
    unresolved: Option<u32>,
    /// Connections whose handshake waits for its turn.
    shaking: VecDeque<(u32, Sock)>,
    /// Events were left for the next turn.
    has_events: bool,
    /// Connections that gave up their turn with more to read.
    unread: VecDeque<(u32, Sock)>,
    /// Connections with something to send at the turn's end.
    gathered: Vec<u32>,
    /// Connecting sockets, and when the next address is tried instead.
    fallbacks: VecDeque<(Nanos, u32, Sock)>,
    /// Pipes that are closed with bytes unsent, and when they are dropped.
    closing: VecDeque<(Nanos, Pipe)>,
    /// Connections per origin, at most.
    conns_max: usize,
    idle_max: usize,
    /// Unanswered requests on one connection, at most.
    pipeline: usize,
    /// Streams on one HTTP/2 connection, at most.
    streams_max: usize,
    recorder: Recorder,
    watch: Watch,
    lag: Histogram,
    /// Hits due before this waited for the limit of hits under way, not for us.
    freed_at: Nanos,
    next_report: Nanos,
    input: Box<[u8]>,
    output: Vec<u8>,
    plain: Vec<u8>,
    /// When users that decide for themselves want to be asked again.
    wake: Option<Nanos>,
    /// What they want; kept for its memory.
    wishes: Wishes,
    /// Their requests' numbers.
    asked: u64,
    /// Their last targets, made ready.
    prepared_asks: users::PreparedAsks,
    /// The last response heads, by the number of the target.
    memos: [Memo; MEMOS],
    /// Content decoders between two bodies.
    decoders: Decoders,
}

/// Targets beyond these share the memos of others.
const MEMOS: usize = 8;

/// What a worker starts with.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) orders: Arc<Orders>,
    pub(crate) pace: Pace,
    pub(crate) lazy: Option<LazyLane>,
    pub(crate) serials: Serials,
    pub(crate) conns_max: usize,
    pub(crate) idle_max: usize,
    pub(crate) recorder: Recorder,
}

/// Hits and connections there is room for before memory is asked for.
const ROOM: usize = 1024;

impl<I: Io> Worker<I> {
    pub(crate) fn new(mut io: I, start: Start) -> Self {
        let Start { prepared, orders, pace, lazy, serials, conns_max, idle_max, recorder } = start;
        let now = io.now();
        let settings = &prepared.settings;
        let pipeline = if settings.keepalive { settings.pipeline.max(1) } else { 1 };
        let streams_max = settings.streams.max(1);
        let mut origins = Origins::default();
        let target_origins = prepared
            .requests
            .iter()
            .map(|request| origins.number(request.as_ref().ok()?, 0, settings, Named::ByUser))
            .collect();
        Self {
            io,
            now,
            prepared,
            orders,
            obeyed: 0,
            pace,
            lazy,
            hits: Slab::with_capacity(ROOM),
            by_deadline: List::default(),
            conns: Slab::with_capacity(ROOM),
            serials,
            origins,
            target_origins,
            listed: Vec::with_capacity(64),
            burst: Burst::default(),
            deferred: VecDeque::with_capacity(64),
            unresolved: None,
            shaking: VecDeque::new(),
            has_events: false,
            unread: VecDeque::with_capacity(64),
            gathered: Vec::with_capacity(64),
            fallbacks: VecDeque::new(),
            closing: VecDeque::new(),
            conns_max,
            idle_max,
            pipeline,
            streams_max,
            recorder,
            watch: Watch::new(now),
            lag: Histogram::new(),
            freed_at: Nanos::ZERO,
            next_report: now + PERIOD,
            input: vec![0; INPUT_LEN].into_boxed_slice(),
            output: Vec::with_capacity(INPUT_LEN),
            plain: Vec::with_capacity(INPUT_LEN),
            wake: None,
            wishes: Wishes::default(),
            asked: 0,
            prepared_asks: users::PreparedAsks::default(),
            memos: Default::default(),
            decoders: Decoders::default(),
        }
    }

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
        if ready.writable
            && self.conns.get(conn as usize).is_some_and(crate::conn::Conn::has_unsent)
        {
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

    fn has_room(&self, in_flight_max: usize) -> bool {
        self.hits.len() < in_flight_max
    }

    fn origin(&mut self, number: u32) -> &mut Origin {
        &mut self.origins.list[number as usize]
    }

    /// The request of a hit.
    fn request<'a>(prepared: &'a Prepared, hit: &'a Hit) -> Option<&'a Request> {
        match (&hit.own_request, hit.target) {
            (Some(request), _) => Some(request),
            (None, Some(target)) => prepared.requests[target as usize].as_ref().ok(),
            (None, None) => None,
        }
    }

    /// The first request of a hit, before any redirect.
    fn first_request<'a>(prepared: &'a Prepared, hit: &'a Hit) -> Option<&'a Request> {
        match hit.target {
            Some(target) => prepared.requests[target as usize].as_ref().ok(),
            None => hit.lazy_request.as_deref().or(hit.own_request.as_deref()),
        }
    }

    /// Closes a connection and forgets it; gives the hit it served.
    fn drop_conn(&mut self, number: u32) -> Option<u32> {
        let conn = &mut self.conns[number as usize];
        if let Some(sock) = conn.sock.take() {
            self.io.close(sock);
        }
        debug_assert_eq!(conn.behind.len(), 0, "hits on a connection end before it");
        let (origin_number, hit, state) = (conn.origin, conn.hit.take(), conn.state);
        let origin = &mut self.origins.list[origin_number as usize];
        if matches!(state, State::Dialing | State::Tunneling | State::Securing) {
            origin.connecting -= 1;
        }
        origin.ready.remove(&mut self.conns, number);
        origin.open -= 1;
        self.conns.remove(number as usize);
        self.list_origin(origin_number);
        if let Some(hit) = hit {
            self.hits[hit as usize].conn = None;
        }
        hit
    }

    /// Has an origin looked at: a waiting hit may find room now.
    fn list_origin(&mut self, number: u32) {
        let origin = &mut self.origins.list[number as usize];
        if origin.waiting.len() > 0 && !origin.listed {
            origin.listed = true;
            self.listed.push(number);
        }
    }
}
