//! HTTP/2: hits as streams of one connection. RFC 9113. Here, and here alone, a hit allocates memory and takes locks (which no
//! other thread holds): each stream's head and state are the `h2` crate's.

use metrics::FailureKind;
use net::Io;
use wire::content::ContentError;
use wire::h1::response::{Head, ResponseSink as _};
use wire::h1::{Header, Version};
use wire::h2::{HeaderMap, StatusCode, StreamEvent};
use workload::ChannelEnd;

use super::Worker;
use crate::conn::State;
use crate::failure::Failure;
use crate::failure_reason::FailureReason;
use crate::hit::Hit;
use crate::ids::{ConnId, HitId, Id as _, OriginId, StreamId};
use crate::request;
use crate::response_handler::{Decode, ResponseHandler};
use crate::streams::Streams;

impl<I: Io> Worker<I> {
    /// Speaks HTTP/2 on a connection from now on; the hit it was made for is its first stream.
    pub(super) fn begin_streams(&mut self, conn_id: ConnId, hit: HitId) {
        let conn = &mut self.conns[conn_id];
        conn.state = State::Streaming;
        conn.streams = Some(Box::new(Streams::new()));
        if self.hits[hit].kind.is_dial() {
            // It waits for the server's first words; the preface goes out.
            return self.cork(conn_id);
        }
        conn.hit = None;
        self.open_stream(conn_id, hit);
    }

    /// A channel is connected, as a hit wanted it that asks for nothing.
    fn end_dial(&mut self, hit: HitId) {
        self.hits[hit].conn = None;
        self.write_row(hit, None);
        self.remove_hit(hit);
    }

    /// The server has said something: what waited for the connection alone is done.
    fn end_dial_on(&mut self, conn_id: ConnId) {
        let hit = self.conns.get_mut(conn_id).and_then(|conn| conn.hit.take());
        if let Some(hit) = hit {
            self.end_dial(hit);
        }
    }

    /// Closes a user's channel.
    pub(super) fn close_channel(&mut self, end: ChannelEnd) {
        for origin_id in self.origins.owned_by(end.owner.saturating_add(1)) {
            if self.origins.list[origin_id].channel() != Some(end.channel) {
                continue;
            }
            // Calls that wait for a stream would have the connection made anew.
            while let Some(hit) = self.origins.list[origin_id].waiting.pop_first(&mut self.hits) {
                self.fail(hit, &Failure::unwanted());
            }
            while let Some(conn) = self.origins.list[origin_id].ready.pop_last(&mut self.conns) {
                self.fail_connection(conn, &Failure::unwanted());
            }
            while let Some(conn) = self.taken_conn(origin_id) {
                self.fail_connection(conn, &Failure::unwanted());
            }
        }
    }

    /// A connection to an origin whose streams are all taken: such a one stands in no list, but its calls know it.
    fn taken_conn(&self, origin_id: OriginId) -> Option<ConnId> {
        if self.origins.list[origin_id].open == 0 {
            return None;
        }
        let of_origin = |conn: &ConnId| self.conns[*conn].origin == origin_id;
        self.hits.values().filter_map(|hit| hit.conn).find(of_origin)
    }

    /// Opens a stream for a hit.
    pub(super) fn open_stream(&mut self, conn_id: ConnId, hit_id: HitId) {
        if self.hits[hit_id].kind.is_dial() {
            self.end_dial(hit_id);
            return self.mark_ready(conn_id);
        }
        let conn = &mut self.conns[conn_id];
        let hit = &mut self.hits[hit_id];
        let request = Self::request(&self.prepared, hit).and_then(|request| request.h2.as_ref());
        let (streams, request) = match (&mut conn.streams, request) {
            (Some(streams), Some(Ok(request))) => (streams, request),
            (_, made) => {
                let reason = match made {
                    Some(Err(error)) => FailureReason::Request(error.clone()),
                    _ => FailureReason::Other("http2: a request that was not made for it".into()),
                };
                hit.conn = None;
                self.fail(hit_id, &Failure::new(FailureKind::Target, reason));
                // The preface of a new connection has to go out, and other hits may use it.
                self.cork(conn_id);
                return self.mark_ready(conn_id);
            }
        };
        let opened = match &hit.parted {
            None => streams.session.open(request, hit.seq),
            Some(_) => streams.session.open_in_parts(request, hit.seq),
        };
        match opened {
            Ok(stream) => {
                let stream = StreamId::from_index(stream);
                streams.begin(stream, hit_id);
                (hit.conn, hit.stream) = (Some(conn_id), Some(stream));
                hit.reused = conn.served > 0 || streams.session.streams_open() > 1;
                hit.first_byte = None;
                if hit.sent.is_none() {
                    hit.sent = Some(self.now);
                }
                self.begin_parts(conn_id, hit_id);
                if !self.hits.contains(hit_id) {
                    return self.mark_ready(conn_id);
                }
                self.note_sent_elsewhere(hit_id);
                self.cork(conn_id);
                self.mark_ready(conn_id);
            }
            Err(_) if streams.session.is_closing() => {
                hit.conn = None;
                self.retire(conn_id);
                self.dispatch(hit_id);
            }
            Err(error) => {
                hit.conn = None;
                self.fail(hit_id, &Failure::stream(error));
            }
        }
    }

    /// Whether an HTTP/2 connection can take another hit.
    pub(super) fn has_stream_left(&mut self, conn_id: ConnId) -> bool {
        let conn = &self.conns[conn_id];
        // A channel is made once, whatever becomes of other connections.
        let is_channel = self.origins.list[conn.origin].channel().is_some();
        let is_kept = self.prepared.settings.keepalive || is_channel;
        let max = if is_kept { self.streams_max } else { 1 };
        let fresh = is_kept || conn.served == 0;
        let fresh = fresh && !self.is_to_be_renewed(conn_id);
        let conn = &mut self.conns[conn_id];
        conn.streams.as_mut().is_some_and(|streams| {
            fresh && streams.session.streams_open() < max && streams.session.can_open()
        })
    }

    /// Bytes of an HTTP/2 connection.
    pub(super) fn feed_streams(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if let Some(streams) = &mut self.conns[conn_id].streams
            && let Err(error) = streams.session.handle_bytes(bytes)
        {
            return self.fail_streams(conn_id, &Failure::stream(error));
        }
        self.cork(conn_id);
        self.end_dial_on(conn_id);
        self.handle_stream_events(conn_id);
    }

    /// The server closed its side: what it left unanswered fails.
    pub(super) fn end_streams(&mut self, conn_id: ConnId) {
        let sock = self.sock_of(conn_id);
        if let Some(streams) = &mut self.conns[conn_id].streams {
            streams.session.handle_eof();
        }
        self.handle_stream_events(conn_id);
        if self.sock_of(conn_id) == sock {
            self.fail_streams(conn_id, &Failure::eof());
        }
    }

    /// Handles all that happened on a connection's streams, and has its frames written.
    pub(super) fn handle_stream_events(&mut self, conn_id: ConnId) {
        let sock = self.sock_of(conn_id);
        while self.sock_of(conn_id) == sock {
            let streams = self.conns.get_mut(conn_id).and_then(|c| c.streams.as_mut());
            let Some((stream, event)) = streams.and_then(|s| s.session.poll_event()) else { break };
            self.stream_event(conn_id, StreamId::from_index(stream), event);
        }
        self.note_streams_max(conn_id);
        if self.sock_of(conn_id) == sock {
            self.retire(conn_id);
        }
        if self.sock_of(conn_id) == sock {
            self.mark_ready(conn_id);
        }
    }

    /// Notes for an origin how many streams its server allows, for later dials.
    fn note_streams_max(&mut self, conn_id: ConnId) {
        let Some(conn) = self.conns.get(conn_id) else { return };
        let stated = conn.streams.as_ref().and_then(|streams| streams.session.streams_max_stated());
        if let Some(stated) = stated {
            let origin = &mut self.origins.list[conn.origin];
            origin.streams_max = origin.streams_max.min(stated);
        }
    }

    /// Closes a connection that will have no stream any more.
    pub(super) fn retire(&mut self, conn_id: ConnId) {
        let is_old = self.conns.get(conn_id).is_some() && self.is_to_be_renewed(conn_id);
        let Some(conn) = self.conns.get_mut(conn_id) else { return };
        let is_channel = self.origins.list[conn.origin].channel().is_some();
        let is_kept = self.prepared.settings.keepalive || is_channel;
        let used_up = is_old || (!is_kept && conn.served > 0);
        let over = conn.streams.as_mut().is_some_and(|streams| {
            streams.session.streams_open() == 0 && (used_up || streams.session.is_closing())
        });
        if over {
            self.drop_conn(conn_id);
        } else if is_channel {
            self.note_leaving(conn_id);
        }
    }

    /// A channel whose server has said GOAWAY makes room for another connection, though streams of it go on.
    fn note_leaving(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let is_closing = conn.streams.as_mut().is_some_and(|streams| streams.session.is_closing());
        if is_closing && !conn.is_leaving {
            conn.is_leaving = true;
            let origin = conn.origin;
            self.origins.list[origin].leaving += 1;
            self.queue_service(origin);
        }
    }

    fn stream_event(&mut self, conn_id: ConnId, stream: StreamId, event: StreamEvent) {
        self.count_wire(conn_id, stream);
        match event {
            StreamEvent::Head { status, headers } => {
                self.stream_head(conn_id, stream, status, &headers);
            }
            StreamEvent::Data(data) => {
                let Some(mut handler) = self.stream_handler(conn_id, stream) else { return };
                let body_max = handler.body_max;
                if body_max == Hit::PARTED {
                    return self.give_stream_data(conn_id, stream, &data);
                }
                handler.body(&data);
                let is_too_long = handler.progress.bytes_in > body_max;
                if let Some(error) = handler.failure {
                    self.cancel_stream(conn_id, stream);
                    self.fail_stream(conn_id, stream, &Failure::content(error));
                } else if is_too_long {
                    self.cancel_stream(conn_id, stream);
                    self.fail_stream(conn_id, stream, &Failure::too_long(body_max));
                }
            }
            StreamEvent::End { trailers } => {
                if let Some(fields) = trailers
                    && let Err(error) = self.stream_trailers(conn_id, stream, &fields)
                {
                    return self.fail_stream(conn_id, stream, &Failure::content(error));
                }
                self.complete_stream(conn_id, stream);
            }
            StreamEvent::Failed(error) => {
                let hit = self.hit_of(conn_id, stream);
                // The server said so itself: no method does harm, and bodies lie in memory.
                if error.is_unprocessed()
                    && let Some(hit) = hit.filter(|hit| self.can_be_sent_again(*hit))
                {
                    self.release_stream(conn_id, stream);
                    self.mark_sent_again(hit);
                    return self.dispatch(hit);
                }
                self.fail_stream(conn_id, stream, &Failure::stream(error));
            }
        }
    }

    /// Whether a hit that the server did not process can be sent once more.
    fn can_be_sent_again(&self, hit: HitId) -> bool {
        let hit = &self.hits[hit];
        !hit.retried && hit.parted.as_ref().is_none_or(|parted| parted.is_whole())
    }

    /// Counts the bytes of a stream's response for its hit.
    fn count_wire(&mut self, conn_id: ConnId, stream: StreamId) {
        let Some(streams) = &mut self.conns[conn_id].streams else { return };
        let bytes = streams.session.take_wire_bytes(stream.index());
        if let Some(hit) = streams.get(stream).and_then(|entry| entry.hit) {
            self.hits[hit].progress.wire_in += bytes;
        }
    }

    fn stream_head(
        &mut self,
        conn_id: ConnId,
        stream: StreamId,
        status: StatusCode,
        headers: &HeaderMap,
    ) {
        // There is no phrase on the wire; Go's client takes the usual one, and so do the texts of our rows.
        let (status, reason) = (status.as_u16(), status.canonical_reason().unwrap_or_default());
        let location = headers.get("location").filter(|_| request::is_redirect(status));
        let location = location.map(|value| {
            let mut text = String::new();
            wire::url::push_reference(value.as_bytes(), &mut text);
            text
        });
        let Some(mut handler) = self.stream_handler(conn_id, stream) else { return };
        let list: Vec<Header<'_>> = headers
            .iter()
            .map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() })
            .collect();
        handler.head(&Head { status, reason, version: Version::Http11, headers: &list });
        let streams = self.conns[conn_id].streams.as_mut();
        let Some(entry) = streams.and_then(|streams| streams.get_mut(stream)) else { return };
        entry.location = location;
        if let Some(hit) = entry.hit.filter(|hit| self.hits[*hit].parted.is_some()) {
            // What its user gets is what the server sends.
            entry.coded = false;
            entry.location = None;
            let head = entry.captured.head.clone().unwrap_or_default();
            self.give_stream_head(hit, status, &head);
        }
    }

    fn stream_trailers(
        &mut self,
        conn_id: ConnId,
        stream: StreamId,
        fields: &HeaderMap,
    ) -> Result<(), ContentError> {
        let Some(mut handler) = self.stream_handler(conn_id, stream) else { return Ok(()) };
        let fields = fields.iter();
        let list: Vec<Header<'_>> = fields
            .map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() })
            .collect();
        handler.trailers(&list);
        handler.failure.map_or(Ok(()), Err)
    }

    /// The parts that take a stream's response apart, borrowed side by side.
    fn stream_handler(&mut self, conn_id: ConnId, stream: StreamId) -> Option<ResponseHandler<'_>> {
        let entry = self.conns[conn_id].streams.as_mut()?.get_mut(stream)?;
        let hit = &mut self.hits[entry.hit?];
        if hit.first_byte.is_none() {
            hit.first_byte = Some(Self::first_byte_at(self.now, self.arrived, hit));
        }
        let decode = Self::request(&self.prepared, hit)
            .map_or(Decode::Nothing, |request| self.prepared.decode(request));
        let (capture, body_most) = self.prepared.body_limits(hit);
        Some(ResponseHandler {
            head_cache: None,
            progress: &mut hit.progress,
            content: &mut entry.content,
            decoders: &mut self.decoders,
            captured: &mut entry.captured,
            capture,
            body_most,
            body_max: hit.body_max,
            decode,
            coded: &mut entry.coded,
            streamed: true,
            failure: None,
        })
    }

    pub(super) fn hit_of(&self, conn_id: ConnId, stream: StreamId) -> Option<HitId> {
        self.conns[conn_id].streams.as_ref()?.get(stream)?.hit
    }

    /// A stream's response is complete.
    fn complete_stream(&mut self, conn_id: ConnId, stream: StreamId) {
        let Some(hit) = self.hit_of(conn_id, stream) else { return };
        let streams = self.conns[conn_id].streams.as_mut();
        let Some(entry) = streams.and_then(|streams| streams.get_mut(stream)) else { return };
        if entry.coded
            && let Some(Err(error)) = entry.content.as_mut().map(|content| content.finish())
        {
            return self.fail_stream(conn_id, stream, &Failure::content(error));
        }
        if let Some(location) = entry.location.take() {
            if let Some(max) = self.redirects_to(hit, &location) {
                self.release_stream(conn_id, stream);
                return self.follow_redirect(hit, &location, max);
            }
            self.note_redirect(hit, &location);
        }
        self.note_landing(hit);
        self.write_row(hit, None);
        self.release_stream(conn_id, stream);
        self.remove_hit(hit);
    }

    /// A stream's hit fails.
    pub(super) fn fail_stream(&mut self, conn_id: ConnId, stream: StreamId, failure: &Failure) {
        let Some(hit) = self.hit_of(conn_id, stream) else { return };
        self.count_wire(conn_id, stream);
        self.write_row(hit, Some((failure, None)));
        self.release_stream(conn_id, stream);
        self.remove_hit(hit);
    }

    /// Resets a stream.
    pub(super) fn cancel_stream(&mut self, conn_id: ConnId, stream: StreamId) {
        if let Some(streams) = &mut self.conns[conn_id].streams {
            streams.session.cancel(stream.index());
        }
        self.cork(conn_id);
    }

    /// A stream has done its hit.
    fn release_stream(&mut self, conn_id: ConnId, stream: StreamId) {
        let conn = &mut self.conns[conn_id];
        conn.served += 1;
        let streams = conn.streams.as_mut();
        if let Some(entry) = streams.and_then(|streams| streams.get_mut(stream)) {
            self.decoders.give(entry.content.take());
        }
        let hit = conn.streams.as_mut().and_then(|streams| streams.end(stream));
        if let Some(hit) = hit {
            (self.hits[hit].conn, self.hits[hit].stream) = (None, None);
        }
    }

    /// An HTTP/2 connection is lost, and every hit on it with it.
    pub(super) fn fail_streams(&mut self, conn_id: ConnId, failure: &Failure) {
        let streams = self.conns[conn_id].streams.as_ref();
        let ids = streams.map(|streams| streams.ids());
        for stream in ids.into_iter().flatten() {
            self.fail_stream(conn_id, stream, failure);
        }
        if let Some(hit) = self.drop_conn(conn_id) {
            self.fail(hit, failure);
        }
    }
}
