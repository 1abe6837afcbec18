//! `Worker`: all that one worker owns, and how its parts find each other.

use std::collections::VecDeque;
use std::sync::Arc;

use metrics::{Histogram, Sketch};
use net::{Io, Sock};
use stdx::Nanos;
use workload::{Commands, Pipe};

use super::request_cache::RequestCache;
use crate::conn::{Conns, State};
use crate::deadlines::Deadlines;
use crate::decoders::Decoders;
use crate::hit::{Hit, Hits};
use crate::ids::{Arena, ConnId, HitId, OriginId};
use crate::lazy::LazyShard;
use crate::named_by::NamedBy;
use crate::orders::Orders;
use crate::origin::Origin;
use crate::origins::Origins;
use crate::prepared::Prepared;
use crate::promptness::Promptness;
use crate::record::{PERIOD, Recorder};
use crate::request::Request;
use crate::response_handler::HeadCache;
use crate::schedule::Schedule;
use crate::self_metrics::SelfMetrics;
use crate::serials::Serials;
use crate::work_budget::WorkBudget;

/// Room for one read: 64 KiB.
pub(super) const INPUT_LEN: usize = 64 << 10;
/// One worker of a run.
#[derive(Debug)]
pub(crate) struct Worker<I: Io> {
    pub(super) io: I,
    pub(super) now: Nanos,
    pub(super) prepared: Arc<Prepared>,
    pub(super) orders: Arc<Orders>,
    pub(super) applied_stop: u8,
    pub(super) schedule: Schedule,
    pub(super) lazy: Option<LazyShard>,
    pub(super) hits: Hits,
    pub(super) deadlines: Deadlines,
    pub(super) conns: Conns,
    pub(super) serials: Serials,
    pub(super) origins: Origins,
    /// The origin of each of the plan's targets; `None` where the target cannot be sent.
    pub(super) target_origins: Vec<Option<OriginId>>,
    /// Origins with hits waiting and, perhaps, room for a connection.
    pub(super) service_queue: Vec<OriginId>,
    /// Decides which work is next: to make and end connections, or to handle events.
    pub(super) work_budget: WorkBudget,
    /// Origins with hits that wait for a dial.
    pub(super) deferred: VecDeque<OriginId>,
    /// An origin that had many hits waiting for its addresses at the last check.
    pub(super) unresolved: Option<OriginId>,
    /// Connections whose handshake waits for its turn.
    pub(super) waiting_handshakes: VecDeque<(ConnId, Sock)>,
    /// Events were left for the next turn.
    pub(super) has_events: bool,
    /// Connections that gave up their turn with more to read.
    pub(super) unread: VecDeque<(ConnId, Sock)>,
    /// Connections with something to send at the turn's end.
    pub(super) corked: Vec<ConnId>,
    /// Connecting sockets, and when the next address is tried instead.
    pub(super) fallbacks: VecDeque<(Nanos, ConnId, Sock)>,
    /// Pipes that are closed with bytes unsent, and when they are dropped.
    pub(super) closing: VecDeque<(Nanos, Pipe)>,
    /// Connections per origin, at most.
    pub(super) conns_max: usize,
    pub(super) idle_max: usize,
    /// Unanswered requests on one connection, at most.
    pub(super) pipeline: usize,
    /// Streams on one HTTP/2 connection, at most.
    pub(super) streams_max: usize,
    pub(super) recorder: Recorder,
    pub(super) self_metrics: SelfMetrics,
    pub(super) lag: Histogram,
    pub(super) on_time: Sketch,
    /// When what is being read had come, where the kernel says so.
    pub(super) arrived: Option<Nanos>,
    /// The kernel stamped what was read last.
    pub(super) reads_are_stamped: bool,
    /// Whose answers may lie unread for a moment.
    pub(super) promptness: Promptness,
    /// The loop slept through what happened, and has not looked at it yet.
    pub(super) unpolled: bool,
    /// Hits due before this waited for the limit of hits under way, not for us.
    pub(super) freed_at: Nanos,
    /// When the last target came that was waited for: hits due before waited for it.
    pub(super) fed_at: Nanos,
    pub(super) next_report: Nanos,
    /// When what was due was last begun.
    pub(super) begun_at: Nanos,
    /// Changes of the load that were taken up.
    pub(super) changes_applied: usize,
    /// When the next of them is, while hits that fell due before it are to be begun first.
    pub(super) changes_at: Nanos,
    /// What fell due before this is not begun any more.
    pub(super) skipped: Nanos,
    pub(super) input: Box<[u8]>,
    pub(super) output: Vec<u8>,
    pub(super) plain: Vec<u8>,
    /// What a proxy's TLS carried, and its records; empty where no proxy is spoken to over TLS.
    pub(super) proxy_plain: Vec<u8>,
    pub(super) proxy_records: Vec<u8>,
    /// When users that decide for themselves want to be asked again.
    pub(super) next_poll: Option<Nanos>,
    /// Users got answers since they were polled: they are polled before the loop sleeps.
    pub(super) has_answers: bool,
    /// What they want; kept for its memory.
    pub(super) commands: Commands,
    /// Their requests' numbers.
    pub(super) next_seq: u64,
    /// The hits of their streams, by the numbers that they gave them; of those that have ended too.
    pub(super) user_streams: Vec<HitId>,
    /// Their last targets, made ready.
    pub(super) request_cache: RequestCache,
    /// The last response heads, by the number of the target.
    pub(super) head_caches: [HeadCache; HEAD_CACHES],
    /// Content decoders between two bodies.
    pub(super) decoders: Decoders,
}

/// Targets beyond these share the memos of others.
const HEAD_CACHES: usize = 8;

/// What a worker starts with.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) orders: Arc<Orders>,
    pub(crate) schedule: Schedule,
    pub(crate) targets: TargetOrigins,
    pub(crate) lazy: Option<LazyShard>,
    pub(crate) serials: Serials,
    pub(crate) conns_max: usize,
    pub(crate) idle_max: usize,
    pub(crate) recorder: Recorder,
}

/// The origins of a plan's targets, as one worker has them. To find them takes time in proportion to the targets, so that it is
/// done before the run starts.
#[derive(Debug)]
pub(crate) struct TargetOrigins {
    origins: Origins,
    target_origins: Vec<Option<OriginId>>,
}

impl TargetOrigins {
    /// The origins of all targets.
    pub(crate) fn of(prepared: &Prepared) -> Self {
        let (mut origins, settings) = (Origins::default(), &prepared.settings);
        let target_origins = prepared
            .requests
            .iter()
            .map(|request| origins.id_of(request.as_ref().ok()?, 0, settings, NamedBy::User))
            .collect();
        Self { origins, target_origins }
    }
}

/// Hits and connections there is room for before memory is asked for.
const ROOM: usize = 1024;

impl<I: Io> Worker<I> {
    pub(crate) fn new(mut io: I, start: Start) -> Self {
        let Start { prepared, orders, schedule, targets, lazy, serials, .. } = start;
        let Start { conns_max, idle_max, recorder, .. } = start;
        let TargetOrigins { origins, target_origins } = targets;
        let now = io.now();
        let settings = &prepared.settings;
        let pipeline = if settings.keepalive { settings.pipeline.max(1) } else { 1 };
        let streams_max = settings.streams.max(1);
        let promptness = Promptness::new(&prepared.plan);
        Self {
            io,
            now,
            prepared,
            orders,
            applied_stop: 0,
            schedule,
            lazy,
            hits: Arena::with_capacity(ROOM),
            deadlines: Deadlines::default(),
            conns: Arena::with_capacity(ROOM),
            serials,
            origins,
            target_origins,
            service_queue: Vec::with_capacity(64),
            work_budget: WorkBudget::default(),
            deferred: VecDeque::with_capacity(64),
            unresolved: None,
            waiting_handshakes: VecDeque::new(),
            has_events: false,
            unread: VecDeque::with_capacity(64),
            corked: Vec::with_capacity(64),
            fallbacks: VecDeque::new(),
            closing: VecDeque::new(),
            conns_max,
            idle_max,
            pipeline,
            streams_max,
            recorder,
            self_metrics: SelfMetrics::new(now),
            lag: Histogram::new(),
            on_time: Sketch::new(),
            arrived: None,
            reads_are_stamped: false,
            promptness,
            unpolled: false,
            freed_at: Nanos::ZERO,
            fed_at: Nanos::ZERO,
            next_report: now + PERIOD,
            begun_at: now,
            changes_applied: 0,
            changes_at: Nanos::MAX,
            skipped: Nanos::ZERO,
            input: vec![0; INPUT_LEN].into_boxed_slice(),
            output: Vec::with_capacity(INPUT_LEN),
            plain: Vec::with_capacity(INPUT_LEN),
            proxy_plain: Vec::new(),
            proxy_records: Vec::new(),
            next_poll: None,
            has_answers: false,
            commands: Commands::default(),
            next_seq: 0,
            user_streams: Vec::new(),
            request_cache: RequestCache::default(),
            head_caches: Default::default(),
            decoders: Decoders::default(),
        }
    }

    pub(super) fn has_room(&self, in_flight_max: usize) -> bool {
        self.hits.len() < in_flight_max
    }

    pub(super) fn origin(&mut self, origin_id: OriginId) -> &mut Origin {
        &mut self.origins.list[origin_id]
    }

    /// The request of a hit.
    pub(super) fn request<'a>(prepared: &'a Prepared, hit: &'a Hit) -> Option<&'a Request> {
        match (&hit.own_request, hit.target) {
            (Some(request), _) => Some(request),
            (None, target) => prepared.planned(target)?.as_ref().ok(),
        }
    }

    /// The first request of a hit, before any redirect.
    pub(super) fn first_request<'a>(prepared: &'a Prepared, hit: &'a Hit) -> Option<&'a Request> {
        match prepared.planned(hit.target) {
            Some(request) => request.as_ref().ok(),
            None => hit.lazy_request.as_deref().or(hit.own_request.as_deref()),
        }
    }

    /// Closes a connection and forgets it; gives the hit it served.
    pub(super) fn drop_conn(&mut self, conn_id: ConnId) -> Option<HitId> {
        let conn = &mut self.conns[conn_id];
        if let Some(sock) = conn.sock.take() {
            self.io.close(sock);
        }
        debug_assert_eq!(conn.pipelined.len(), 0, "hits on a connection end before it");
        let (origin_id, hit, state) = (conn.origin, conn.hit.take(), conn.state);
        let is_leaving = conn.is_leaving;
        let origin = &mut self.origins.list[origin_id];
        origin.leaving -= usize::from(is_leaving);
        if matches!(state, State::Dialing | State::Tunneling | State::Securing) {
            origin.connecting -= 1;
        }
        origin.ready.remove(&mut self.conns, conn_id);
        origin.open -= 1;
        self.conns.remove(conn_id);
        self.queue_service(origin_id);
        if let Some(hit) = hit {
            self.hits[hit].conn = None;
        }
        hit
    }

    /// Queues an origin for service: a waiting hit may find room now.
    pub(super) fn queue_service(&mut self, origin_id: OriginId) {
        let origin = &mut self.origins.list[origin_id];
        if origin.waiting.len() > 0 && !origin.needs_service {
            origin.needs_service = true;
            self.service_queue.push(origin_id);
        }
    }
}
