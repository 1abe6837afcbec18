//! HTTP/2: hits as streams of one connection. RFC 9113. Here, and here alone, a hit asks for memory and takes locks (which
//! nobody else holds): each stream's head and state are the `h2` crate's.

use metrics::FailureKind;
use net::Io;
use wire::h1::response::{Head, ResponseSink as _};
use wire::h1::{Header, Version};
use wire::h2::{HeaderMap, StatusCode, StreamEvent};

use super::Worker;
use crate::conn::State;
use crate::failure::Failure;
use crate::request;
use crate::response_handler::{Decode, ResponseHandler};
use crate::settings::Redirects;
use crate::streams::Streams;

impl<I: Io> Worker<I> {
    /// Speaks HTTP/2 on a connection from now on; the hit it was made for is its first stream.
    pub(super) fn begin_streams(&mut self, number: u32, hit: u32) {
        let conn = &mut self.conns[number as usize];
        conn.hit = None;
        conn.state = State::Streaming;
        conn.streams = Some(Box::new(Streams::new()));
        self.open_stream(number, hit);
    }

    /// Opens a stream for a hit.
    pub(super) fn open_stream(&mut self, number: u32, hit_number: u32) {
        let conn = &mut self.conns[number as usize];
        let hit = &mut self.hits[hit_number as usize];
        let request = Self::request(&self.prepared, hit).and_then(|request| request.h2.as_ref());
        let (streams, request) = match (&mut conn.streams, request) {
            (Some(streams), Some(Ok(request))) => (streams, request),
            (_, made) => {
                let text = match made {
                    Some(Err(error)) => error.to_string(),
                    _ => "http2: a request that was not made for it".to_owned(),
                };
                hit.conn = None;
                self.fail(hit_number, &Failure::new(FailureKind::Target, text));
                // The preface of a new connection has to go out, and other hits may use it.
                self.cork(number);
                return self.mark_ready(number);
            }
        };
        match streams.session.open(request, hit.seq) {
            Ok(stream) => {
                streams.begin(stream, hit_number);
                (hit.conn, hit.stream) = (Some(number), Some(stream));
                hit.reused = conn.served > 0 || streams.session.streams_open() > 1;
                hit.first_byte = None;
                if hit.sent.is_none() {
                    hit.sent = Some(self.now);
                }
                self.cork(number);
                self.mark_ready(number);
            }
            Err(_) if streams.session.is_closing() => {
                hit.conn = None;
                self.retire(number);
                self.dispatch(hit_number);
            }
            Err(error) => {
                hit.conn = None;
                self.fail(hit_number, &Failure::stream(error));
            }
        }
    }

    /// Whether an HTTP/2 connection can take another hit.
    pub(super) fn has_stream_left(&mut self, number: u32) -> bool {
        let conn = &mut self.conns[number as usize];
        let max = if self.prepared.settings.keepalive { self.streams_max } else { 1 };
        let fresh = self.prepared.settings.keepalive || conn.served == 0;
        conn.streams.as_mut().is_some_and(|streams| {
            fresh && streams.session.streams_open() < max && streams.session.can_open()
        })
    }

    /// Bytes of an HTTP/2 connection.
    pub(super) fn feed_streams(&mut self, number: u32, bytes: &[u8]) {
        if let Some(streams) = &mut self.conns[number as usize].streams
            && let Err(error) = streams.session.handle_bytes(bytes)
        {
            return self.fail_streams(number, &Failure::stream(error));
        }
        self.cork(number);
        self.handle_stream_events(number);
    }

    /// The server closed its side: what it left unanswered fails.
    pub(super) fn end_streams(&mut self, number: u32) {
        let sock = self.sock_of(number);
        if let Some(streams) = &mut self.conns[number as usize].streams {
            streams.session.handle_eof();
        }
        self.handle_stream_events(number);
        if self.sock_of(number) == sock {
            self.fail_streams(number, &Failure::new(FailureKind::Eof, "EOF"));
        }
    }

    /// Handles all that happened on a connection's streams, and has its frames written.
    pub(super) fn handle_stream_events(&mut self, number: u32) {
        let sock = self.sock_of(number);
        while self.sock_of(number) == sock {
            let streams = self.conns.get_mut(number as usize).and_then(|c| c.streams.as_mut());
            let Some((stream, event)) = streams.and_then(|s| s.session.poll_event()) else { break };
            self.stream_event(number, stream, event);
        }
        self.note_streams_max(number);
        if self.sock_of(number) == sock {
            self.retire(number);
        }
        if self.sock_of(number) == sock {
            self.mark_ready(number);
        }
    }

    /// Has the origin know how many streams its server allows, for the dials to come.
    fn note_streams_max(&mut self, number: u32) {
        let Some(conn) = self.conns.get(number as usize) else { return };
        let stated = conn.streams.as_ref().and_then(|streams| streams.session.streams_max_stated());
        if let Some(stated) = stated {
            let origin = &mut self.origins.list[conn.origin as usize];
            origin.streams_max = origin.streams_max.min(stated);
        }
    }

    /// Closes a connection that will have no stream any more.
    fn retire(&mut self, number: u32) {
        let Some(conn) = self.conns.get_mut(number as usize) else { return };
        let used_up = !self.prepared.settings.keepalive && conn.served > 0;
        let over = conn.streams.as_mut().is_some_and(|streams| {
            streams.session.streams_open() == 0 && (used_up || streams.session.is_closing())
        });
        if over {
            self.drop_conn(number);
        }
    }

    fn stream_event(&mut self, number: u32, stream: u32, event: StreamEvent) {
        self.count_wire(number, stream);
        match event {
            StreamEvent::Head { status, headers } => {
                self.stream_head(number, stream, status, &headers);
            }
            StreamEvent::Data(data) => {
                let Some(mut handler) = self.stream_exchange(number, stream) else { return };
                handler.body(&data);
                if let Some(error) = handler.failure {
                    self.cancel_stream(number, stream);
                    self.fail_stream(number, stream, &Failure::content(error));
                }
            }
            StreamEvent::End => self.complete_stream(number, stream),
            StreamEvent::Failed(error) => {
                let hit = self.hit_of(number, stream);
                // The server said so itself: no method does harm, and bodies lie in memory.
                if error.is_unprocessed()
                    && let Some(hit) = hit.filter(|hit| !self.hits[*hit as usize].retried)
                {
                    self.release_stream(number, stream);
                    self.hits[hit as usize].retried = true;
                    return self.dispatch(hit);
                }
                self.fail_stream(number, stream, &Failure::stream(error));
            }
        }
    }

    /// Counts what came of a stream's response for its hit.
    fn count_wire(&mut self, number: u32, stream: u32) {
        let Some(streams) = &mut self.conns[number as usize].streams else { return };
        let bytes = streams.session.take_wire_bytes(stream);
        if let Some(hit) = streams.get(stream).and_then(|entry| entry.hit) {
            self.hits[hit as usize].progress.wire_in += bytes;
        }
    }

    fn stream_head(&mut self, number: u32, stream: u32, status: StatusCode, headers: &HeaderMap) {
        // There is no phrase on the wire; Go's client takes the usual one, and so do the texts of our rows.
        let (status, reason) = (status.as_u16(), status.canonical_reason().unwrap_or_default());
        let location = headers.get("location").filter(|_| request::is_redirect(status));
        let location = location.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let Some(mut handler) = self.stream_exchange(number, stream) else { return };
        let list: Vec<Header<'_>> = headers
            .iter()
            .map(|(name, value)| Header { name: name.as_str(), value: value.as_bytes() })
            .collect();
        handler.head(&Head { status, reason, version: Version::Http11, headers: &list });
        if let Some(streams) = &mut self.conns[number as usize].streams
            && let Some(entry) = streams.get_mut(stream)
        {
            entry.location = location;
        }
    }

    /// The parts that take a stream's response apart, borrowed side by side.
    fn stream_exchange(&mut self, number: u32, stream: u32) -> Option<ResponseHandler<'_>> {
        let entry = self.conns[number as usize].streams.as_mut()?.get_mut(stream)?;
        let hit = &mut self.hits[entry.hit? as usize];
        if hit.first_byte.is_none() {
            hit.first_byte = Some(self.now);
        }
        let decode = Self::request(&self.prepared, hit)
            .map_or(Decode::Nothing, |request| self.prepared.decode(request));
        Some(ResponseHandler {
            head_cache: None,
            progress: &mut hit.progress,
            content: &mut entry.content,
            decoders: &mut self.decoders,
            captured: &mut entry.captured,
            capture: self.prepared.settings.capture,
            decode,
            coded: &mut entry.coded,
            streamed: true,
            failure: None,
        })
    }

    fn hit_of(&self, number: u32, stream: u32) -> Option<u32> {
        self.conns[number as usize].streams.as_ref()?.get(stream)?.hit
    }

    /// A stream's response is complete.
    fn complete_stream(&mut self, number: u32, stream: u32) {
        let Some(hit) = self.hit_of(number, stream) else { return };
        let streams = self.conns[number as usize].streams.as_mut();
        let Some(entry) = streams.and_then(|streams| streams.get_mut(stream)) else { return };
        if entry.coded
            && let Some(Err(error)) = entry.content.as_mut().map(|content| content.finish())
        {
            return self.fail_stream(number, stream, &Failure::content(error));
        }
        if let Redirects::Follow(max) = self.prepared.settings.redirects
            && let Some(location) = entry.location.take()
        {
            self.release_stream(number, stream);
            return self.follow_redirect(hit, &location, max);
        }
        self.write_row(hit, None);
        self.release_stream(number, stream);
        self.remove_hit(hit);
    }

    /// A stream's hit fails.
    pub(super) fn fail_stream(&mut self, number: u32, stream: u32, failure: &Failure) {
        let Some(hit) = self.hit_of(number, stream) else { return };
        self.count_wire(number, stream);
        self.write_row(hit, Some((failure, None)));
        self.release_stream(number, stream);
        self.remove_hit(hit);
    }

    /// Has the server told that we want no more of a stream.
    pub(super) fn cancel_stream(&mut self, number: u32, stream: u32) {
        if let Some(streams) = &mut self.conns[number as usize].streams {
            streams.session.cancel(stream);
        }
        self.cork(number);
    }

    /// A stream has done its hit.
    fn release_stream(&mut self, number: u32, stream: u32) {
        let conn = &mut self.conns[number as usize];
        conn.served += 1;
        let streams = conn.streams.as_mut();
        if let Some(entry) = streams.and_then(|streams| streams.get_mut(stream)) {
            self.decoders.give(entry.content.take());
        }
        let hit = conn.streams.as_mut().and_then(|streams| streams.end(stream));
        if let Some(hit) = hit {
            (self.hits[hit as usize].conn, self.hits[hit as usize].stream) = (None, None);
        }
    }

    /// An HTTP/2 connection is lost, and every hit on it with it.
    pub(super) fn fail_streams(&mut self, number: u32, failure: &Failure) {
        let streams = self.conns[number as usize].streams.as_ref();
        for stream in streams.map(|streams| streams.numbers()).unwrap_or_default() {
            self.fail_stream(number, stream, failure);
        }
        self.drop_conn(number);
    }
}
