//! Bytes out and bytes in: requests onto sockets, responses off them, through TLS where there is TLS.

use net::{Io, Progress, Sock};
use wire::h1::response::{DecodeError, ResponseDecoder};

use super::Worker;
use crate::conn::{Conn, State};
use crate::failure::Failure;
use crate::hit::Hit;
use crate::ids::{ConnId, HitId};
use crate::origin::KnownProtocol;
use crate::response_handler::{Decode, ResponseHandler};
use crate::settings::CapturedHeaders;
use metrics::FailureKind;
use stdx::Nanos;

/// Reads of one connection before others get their turn.
const READS_MAX: usize = 16;
/// A large body is handed to TLS in pieces of this size.
pub(super) const BODY_PIECE: usize = 64 << 10;

impl<I: Io> Worker<I> {
    /// Sends the request that a new connection was made for, in the version that both sides speak.
    pub(super) fn send_first(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let origin_id = conn.origin;
        let origin = &mut self.origins.list[origin_id];
        origin.connecting -= 1;
        if let Some(tls) = &conn.tls {
            origin.protocol =
                if tls.agreed_on_http2() { KnownProtocol::Http2 } else { KnownProtocol::Http1 };
        }
        let (protocol, is_channel) = (origin.protocol, origin.channel().is_some());
        match (conn.hit, protocol) {
            (Some(hit), KnownProtocol::Http2) => self.begin_streams(conn_id, hit),
            (Some(_), _) if is_channel => {
                let text = "credentials: cannot check peer: missing selected ALPN property";
                self.fail_connection(conn_id, &Failure::other(FailureKind::Tls, text));
            }
            (Some(hit), KnownProtocol::Http1 | KnownProtocol::Unknown) => {
                self.send_request(conn_id, hit);
            }
            (None, _) => {}
        }
        self.queue_service(origin_id);
    }

    /// Sends the request of a hit that a connection serves, or has behind the one it serves.
    pub(super) fn send_request(&mut self, conn_id: ConnId, hit_id: HitId) {
        let conn = &mut self.conns[conn_id];
        let hit = &mut self.hits[hit_id];
        let Some(request) = Self::request(&self.prepared, hit) else { return };
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        request.template.render(hit.seq, &mut output);
        conn.body = request.template.large_body().map(|body| (body.clone(), 0));
        hit.reused = conn.served > 0 || conn.unanswered() > 1;
        hit.first_byte = None;
        if hit.sent.is_none() {
            hit.sent = Some(self.now);
        }
        if conn.hit == Some(hit_id) {
            self.expect_response(conn_id);
        }
        self.note_sent_elsewhere(hit_id);
        self.mark_ready(conn_id);
        self.transmit(conn_id, &output);
        self.output = output;
        if self.conns.get(conn_id).is_some_and(|c| c.body.is_some() && c.unsent.is_empty()) {
            self.flush(conn_id);
        }
    }

    /// Makes a connection ready for the response to the hit it serves.
    pub(super) fn expect_response(&mut self, conn_id: ConnId) {
        let conn = &mut self.conns[conn_id];
        let hit = conn.hit.map(|hit| &self.hits[hit]);
        let Some(request) = hit.and_then(|hit| Self::request(&self.prepared, hit)) else { return };
        conn.decoder.begin(request.template.response_method());
        conn.captured.clear();
        conn.state = State::Busy;
    }

    /// Sends plain bytes, through TLS where the connection has it.
    pub(super) fn transmit(&mut self, conn_id: ConnId, plain: &[u8]) {
        if self.conns[conn_id].tls.is_none() {
            return self.put(conn_id, plain);
        }
        let (mut rest, sock) = (plain, self.sock_of(conn_id));
        loop {
            // The session takes a bounded part, and more once its records are out; fields of a redirect can be longer.
            let Some(session) = &mut self.conns[conn_id].tls else { return };
            let taken = session.send(rest);
            rest = &rest[taken..];
            self.transmit_records(conn_id);
            if rest.is_empty() || self.sock_of(conn_id) != sock {
                return;
            }
            if taken == 0 {
                let reason = "the TLS session takes no more".to_owned();
                return self.fail_connection(conn_id, &Failure::other(FailureKind::Tls, reason));
            }
        }
    }

    /// Sends the TLS records that wait.
    pub(super) fn transmit_records(&mut self, conn_id: ConnId) {
        let mut records = std::mem::take(&mut self.plain);
        records.clear();
        if let Some(session) = &mut self.conns[conn_id].tls {
            session.poll_transmit(&mut records);
        }
        if !records.is_empty() {
            self.put(conn_id, &records);
        }
        self.plain = records;
    }

    /// Puts bytes on the socket; what it has no room for waits. Where several requests go out on one connection, all
    /// bytes of a turn are gathered and sent with one call.
    fn put(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if self.conns[conn_id].proxy_tls.is_some() {
            return self.put_through_proxy(conn_id, bytes);
        }
        self.put_on_socket(conn_id, bytes);
    }

    /// The same for bytes that are as they go over the wire.
    pub(super) fn put_on_socket(&mut self, conn_id: ConnId, bytes: &[u8]) {
        let conn = &mut self.conns[conn_id];
        let Some(sock) = conn.sock else { return };
        let is_pipe = conn.state == State::Piped;
        let gather = self.pipeline > 1 || conn.streams.is_some() || is_pipe;
        if gather || !conn.unsent.is_empty() {
            conn.unsent.extend(bytes);
            if gather {
                self.cork(conn_id);
            }
            return;
        }
        match self.io.send(sock, bytes) {
            Progress::Bytes(n) if n == bytes.len() => {}
            Progress::Bytes(n) => self.keep_unsent(conn_id, &bytes[n..]),
            Progress::Later => self.keep_unsent(conn_id, bytes),
            Progress::Failed(failure) => {
                self.fail_connection(conn_id, &Failure::write(failure));
            }
        }
    }

    /// The rest goes out as soon as there is room.
    fn keep_unsent(&mut self, conn_id: ConnId, rest: &[u8]) {
        let conn = &mut self.conns[conn_id];
        conn.unsent.extend(rest);
        if let Some(hit) = conn.hit {
            self.promptness.hasten(&mut self.hits[hit]);
        }
    }

    /// Delays a connection's send to the turn's end.
    pub(super) fn cork(&mut self, conn_id: ConnId) {
        if let Some(conn) = self.conns.get_mut(conn_id)
            && !std::mem::replace(&mut conn.corked, true)
        {
            self.corked.push(conn_id);
        }
    }

    /// Sends what was gathered in this turn.
    pub(super) fn flush_corked(&mut self) {
        while let Some(conn_id) = self.corked.pop() {
            if self.conns.get(conn_id).is_some_and(|conn| conn.corked) {
                self.flush(conn_id);
            }
            if let Some(conn) = self.conns.get_mut(conn_id) {
                conn.corked = false;
            }
        }
    }

    /// Takes what HTTP/2 has to send now; gives whether there was anything.
    fn pull(&mut self, conn_id: ConnId) -> bool {
        self.handle_stream_events(conn_id);
        let Some(conn) = self.conns.get_mut(conn_id) else { return false };
        let Some(streams) = &mut conn.streams else { return false };
        let mut output = std::mem::take(&mut self.output);
        output.clear();
        let any = streams.session.poll_transmit(&mut output);
        output.chunks(BODY_PIECE).for_each(|piece| self.transmit(conn_id, piece));
        self.output = output;
        any
    }

    /// Goes on sending what waits for room.
    pub(super) fn flush(&mut self, conn_id: ConnId) {
        let mut waited = false;
        loop {
            let Some(conn) = self.conns.get_mut(conn_id) else { return };
            let Some(sock) = conn.sock else { return };
            if !conn.unsent.is_empty() {
                waited = true;
                match self.io.send(sock, conn.unsent.as_slice()) {
                    Progress::Bytes(n) => conn.unsent.consume(n),
                    Progress::Later => return,
                    Progress::Failed(failure) => {
                        return self.fail_connection(conn_id, &Failure::write(failure));
                    }
                }
                continue;
            }
            if conn.streams.is_some() {
                if self.pull(conn_id) {
                    continue;
                }
                return;
            }
            if conn.state == State::Piped {
                return self.pipe_sent(conn_id);
            }
            let Some((body, sent)) = &mut conn.body else {
                if waited {
                    self.note_all_sent(conn_id);
                }
                return;
            };
            let (body, from) = (body.clone(), *sent);
            if from == body.len() {
                conn.body = None;
                self.note_all_sent(conn_id);
                return self.mark_ready(conn_id);
            }
            let piece = &body[from..body.len().min(from + BODY_PIECE)];
            *sent += piece.len();
            self.transmit(conn_id, piece);
        }
    }

    /// The last byte of a request that did not go out at once was taken. Only of such is it noted when: the others are spared
    /// the look at the clock.
    fn note_all_sent(&mut self, conn_id: ConnId) {
        let hit = self.conns.get(conn_id).and_then(|conn| conn.hit);
        if let Some(hit) = hit.filter(|_| self.pipeline == 1) {
            self.now = self.io.now();
            self.hits[hit].all_sent = self.now;
        }
    }

    /// Reads what came, and takes it apart.
    pub(super) fn read(&mut self, conn_id: ConnId, closed: bool) {
        let mut input = std::mem::take(&mut self.input);
        let mut reads = 0;
        while let Some(sock) = self.sock_of(conn_id) {
            let conn = &self.conns[conn_id];
            if conn.is_paused || conn.handshake_deferred {
                break;
            }
            if reads == READS_MAX {
                self.unread.push_back((conn_id, sock));
                break;
            }
            reads += 1;
            let progress = self.io.recv(sock, &mut input);
            self.now = self.io.now();
            self.arrived = self.io.arrived().map(|at| at.min(self.now));
            match progress {
                Progress::Bytes(0) => {
                    self.end_of_stream(conn_id);
                    break;
                }
                Progress::Bytes(n) => {
                    self.note_read();
                    self.feed(conn_id, &input[..n]);
                    let short = n < input.len();
                    if (short && !closed) || self.sock_of(conn_id) != Some(sock) {
                        break;
                    }
                }
                Progress::Later => break,
                Progress::Failed(failure) => {
                    self.fail_connection(conn_id, &Failure::read(failure));
                    break;
                }
            }
        }
        self.arrived = None;
        self.input = input;
    }

    /// When an answer's first bytes came, of those that are being read.
    pub(super) fn first_byte_at(now: Nanos, arrived: Option<Nanos>, hit: &Hit) -> Nanos {
        arrived.map_or(now, |at| at.max(hit.sent.unwrap_or(at)))
    }

    pub(super) fn sock_of(&self, conn_id: ConnId) -> Option<Sock> {
        self.conns.get(conn_id)?.sock
    }

    /// Takes bytes off the wire, out of TLS where there is TLS.
    fn feed(&mut self, conn_id: ConnId, bytes: &[u8]) {
        if self.conns[conn_id].proxy_tls.is_some() {
            return self.feed_from_proxy(conn_id, bytes);
        }
        self.feed_from_server(conn_id, bytes);
    }

    /// The same for bytes that a proxy has passed on.
    pub(super) fn feed_from_server(&mut self, conn_id: ConnId, bytes: &[u8]) {
        let sock = self.sock_of(conn_id);
        let conn = &mut self.conns[conn_id];
        let secured = conn.tls.is_some() && conn.state != State::Tunneling;
        if !secured {
            return self.feed_plain(conn_id, bytes);
        }
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let outcome = conn.tls.as_mut().map(|session| session.handle_bytes(bytes, &mut plain));
        if let Some(Err(error)) = outcome {
            self.plain = plain;
            self.transmit_records(conn_id);
            if self.sock_of(conn_id) == sock {
                self.fail_connection(conn_id, &Failure::tls(error));
            }
            return;
        }
        // `plain` holds what was decrypted; records to send go through a buffer of their own.
        let mut records = std::mem::take(&mut self.output);
        records.clear();
        if let Some(session) = &mut self.conns[conn_id].tls {
            session.poll_transmit(&mut records);
        }
        if !records.is_empty() {
            self.put(conn_id, &records);
        }
        self.output = records;
        // A failed write loses the connection, and its hit may be on a new one of the same number by now.
        if self.sock_of(conn_id) == sock {
            self.secured(conn_id);
        }
        if !plain.is_empty() && self.sock_of(conn_id) == sock {
            self.feed_plain(conn_id, &plain);
        }
        self.plain = plain;
        // RFC 8446, 6.1: nothing follows, even where the socket stays open until we close it.
        let is_over = self
            .conns
            .get(conn_id)
            .and_then(|conn| conn.tls.as_ref())
            .is_some_and(|tls| tls.peer_closed() && !tls.is_handshaking());
        if is_over && self.sock_of(conn_id) == sock {
            self.end_of_stream(conn_id);
        }
    }

    /// Sends the request once the handshake is over.
    fn secured(&mut self, conn_id: ConnId) {
        let Some(conn) = self.conns.get(conn_id) else { return };
        let over = conn.tls.as_ref().is_some_and(|session| !session.is_handshaking());
        if conn.state != State::Securing || !over {
            return;
        }
        if let Some(hit) = conn.hit {
            self.hits[hit].tls += self.now.saturating_sub(conn.since);
        }
        // The caller holds our plaintext buffer: the request's records need one of their own.
        let held = std::mem::take(&mut self.plain);
        self.send_first(conn_id);
        self.plain = held;
    }

    /// Whether a TLS connection ended within a record.
    fn is_cut_off(&self, conn_id: ConnId) -> bool {
        let conn = &self.conns[conn_id];
        [&conn.tls, &conn.proxy_tls].into_iter().flatten().any(|session| !session.may_end())
    }

    fn feed_plain(&mut self, conn_id: ConnId, bytes: &[u8]) {
        match self.conns[conn_id].state {
            State::Busy => self.respond(conn_id, bytes),
            State::Tunneling => self.tunnel_reply(conn_id, bytes),
            State::Streaming => self.feed_streams(conn_id, bytes),
            State::Piped => self.feed_pipe(conn_id, bytes),
            // No request is under way: the bytes answer nothing.
            State::Idle | State::Dialing | State::Securing => {
                if self.drop_conn(conn_id).is_some() {
                    unreachable!("a connection that serves a hit is not idle");
                }
            }
        }
    }

    /// Bytes of one response, or of several that were asked for.
    fn respond(&mut self, conn_id: ConnId, mut bytes: &[u8]) {
        let sock = self.sock_of(conn_id);
        loop {
            let Some((decoder, mut handler)) = self.response_handler(conn_id) else { return };
            let outcome = decoder.handle_bytes(bytes, &mut handler);
            let content_failure = handler.failure;
            match (outcome, content_failure) {
                (_, Some(error)) => return self.fail_connection(conn_id, &Failure::content(error)),
                (Err(error), _) => return self.fail_connection(conn_id, &Failure::decode(error)),
                (Ok(progress), _) => {
                    handler.progress.wire_in += progress.consumed as u64;
                    if !progress.done {
                        return;
                    }
                    bytes = &bytes[progress.consumed..];
                    self.complete(conn_id, bytes.is_empty());
                }
            }
            // What is left belongs to the next hit's response, if the connection is there still.
            if bytes.is_empty() || sock.is_none() || self.sock_of(conn_id) != sock {
                return;
            }
            if self.conns[conn_id].state == State::Piped {
                return self.feed_pipe(conn_id, bytes);
            }
        }
    }

    /// The parts that take a response apart, borrowed side by side.
    pub(super) fn response_handler(
        &mut self,
        conn_id: ConnId,
    ) -> Option<(&mut ResponseDecoder, ResponseHandler<'_>)> {
        let conn: &mut Conn = &mut self.conns[conn_id];
        let hit = &mut self.hits[conn.hit?];
        if hit.first_byte.is_none() {
            hit.first_byte = Some(Self::first_byte_at(self.now, self.arrived, hit));
        }
        let decode = Self::request(&self.prepared, hit)
            .map_or(Decode::Nothing, |request| self.prepared.decode(request));
        let slot = hit.head_cache as usize % self.head_caches.len();
        let headers = &self.prepared.settings.capture.headers;
        let wanted = !matches!(headers, CapturedHeaders::Nothing | CapturedHeaders::WholeHead);
        let handler = ResponseHandler {
            head_cache: if wanted { None } else { Some(&mut self.head_caches[slot]) },
            progress: &mut hit.progress,
            content: &mut conn.content,
            decoders: &mut self.decoders,
            captured: &mut conn.captured,
            capture: self.prepared.settings.capture,
            body_most: self.prepared.body_most,
            body_max: u64::MAX,
            decode,
            coded: &mut conn.coded,
            streamed: false,
            failure: None,
        };
        Some((&mut conn.decoder, handler))
    }

    /// The server closed its side.
    pub(super) fn end_of_stream(&mut self, conn_id: ConnId) {
        let state = self.conns[conn_id].state;
        match state {
            State::Idle => {
                self.drop_conn(conn_id);
            }
            State::Busy => {
                let Some((decoder, mut handler)) = self.response_handler(conn_id) else { return };
                match decoder.handle_eof(&mut handler) {
                    // A body that ends with the connection ends with a record: without a close_notify too (RFC 8446, 6.1 would
                    // have one), as Go's client and curl see it, since many servers send none.
                    Ok(()) if self.is_cut_off(conn_id) => {
                        self.fail_connection(conn_id, &Failure::decode(DecodeError::Truncated));
                    }
                    Ok(()) => self.complete(conn_id, false),
                    Err(error) => self.fail_connection(conn_id, &Failure::decode(error)),
                }
            }
            State::Streaming => self.end_streams(conn_id),
            State::Piped => self.end_pipe(conn_id, None),
            State::Dialing | State::Tunneling | State::Securing => {
                self.fail_connection(conn_id, &Failure::eof());
            }
        }
    }
}
