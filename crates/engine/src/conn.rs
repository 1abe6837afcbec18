//! `Conn`: one connection and what is under way on it.

use std::sync::Arc;

use net::Sock;
use stdx::Nanos;
use wire::content::ContentDecoder;
use wire::h1::response::ResponseDecoder;
use wire::socks5::Socks5;
use wire::tls::TlsSession;

use crate::captured::{CapturedResponse, IDLE_MAX};
use crate::dial_addresses::DialAddresses;
use crate::ids::{Arena, ConnId, HitId, OriginId};
use crate::list::{Link, Linked, List, READY, WAITING};
use crate::streams::Streams;
use crate::unsent::UnsentBytes;

/// The connections of one worker.
pub(crate) type Conns = Arena<ConnId, Conn>;

/// One connection.
#[derive(Debug)]
pub(crate) struct Conn {
    /// `None` between two attempts to connect.
    pub(crate) sock: Option<Sock>,
    pub(crate) origin: OriginId,
    /// The hit it serves: the one whose response is next.
    pub(crate) hit: Option<HitId>,
    /// The hits sent behind it, in the order of their responses. RFC 9112, 9.3.2.
    pub(crate) pipelined: List<WAITING, HitId>,
    pub(crate) state: State,
    /// Its number in the run, from 1.
    pub(crate) serial: u32,
    /// How many hits it has served before this one.
    pub(crate) served: u64,
    /// Which of `addresses` is under way, from 0.
    pub(crate) attempt: u32,
    /// What is tried.
    pub(crate) addresses: DialAddresses,
    /// When it was first dialled.
    pub(crate) dialled: Nanos,
    /// When connecting, or the TLS handshake, began.
    pub(crate) since: Nanos,
    pub(crate) tls: Option<Box<TlsSession>>,
    /// The TLS with a proxy, which carries all else; `tls` is the one with the server.
    pub(crate) proxy_tls: Option<Box<TlsSession>>,
    /// The handshake with a SOCKS proxy, while it is under way.
    pub(crate) socks: Option<Box<Socks5>>,
    /// What is under way where it speaks HTTP/2; `hit` and what is kept for it are then unused.
    pub(crate) streams: Option<Box<Streams>>,
    pub(crate) decoder: ResponseDecoder,
    pub(crate) content: Option<Box<ContentDecoder>>,
    /// Whether this response's body is coded, and decoded by us.
    pub(crate) coded: bool,
    /// What of the response is kept for the row.
    pub(crate) captured: CapturedResponse,
    /// Bytes that the socket had no room for.
    pub(crate) unsent: UnsentBytes,
    /// It is on the list of connections to be flushed at the turn's end.
    pub(crate) corked: bool,
    /// A large request body, and how much of it is sent.
    pub(crate) body: Option<(Arc<[u8]>, usize)>,
    /// A pipe whose user takes no more for now.
    pub(crate) is_paused: bool,
    /// A pipe that is closed once all is sent.
    pub(crate) closes: bool,
    /// Its handshake waits for its turn.
    pub(crate) handshake_deferred: bool,
    /// A channel whose server has said GOAWAY: it ends with its last stream, and another may be connected.
    pub(crate) is_leaving: bool,
    ready: Link,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Connecting.
    Dialing,
    /// Asking the proxy for a tunnel.
    Tunneling,
    /// Shaking hands.
    Securing,
    /// A request is sent, or its response is under way.
    Busy,
    /// Nothing is under way.
    Idle,
    /// It speaks HTTP/2, with any number of streams.
    Streaming,
    /// It has left HTTP: its bytes are a user's.
    Piped,
}

impl Conn {
    pub(crate) fn new(origin: OriginId, hit: HitId, since: Nanos) -> Self {
        Self {
            sock: None,
            origin,
            hit: Some(hit),
            pipelined: List::default(),
            state: State::Dialing,
            serial: 0,
            served: 0,
            attempt: 0,
            addresses: DialAddresses::default(),
            dialled: since,
            since,
            tls: None,
            proxy_tls: None,
            socks: None,
            streams: None,
            decoder: ResponseDecoder::new(),
            content: None,
            coded: false,
            captured: CapturedResponse::default(),
            unsent: UnsentBytes::default(),
            corked: false,
            body: None,
            is_paused: false,
            closes: false,
            handshake_deferred: false,
            is_leaving: false,
            ready: Link::default(),
        }
    }

    /// Gives back what large responses and requests took; to be called where nothing is under way.
    pub(crate) fn trim(&mut self) {
        debug_assert!(!self.has_unsent(), "an idle connection has sent everything");
        self.captured.trim();
        self.decoder.trim(IDLE_MAX);
        self.unsent.trim(IDLE_MAX);
    }

    /// Whether the TLS handshake that is its next step has sent its first message.
    pub(crate) fn has_begun_handshake(&self) -> bool {
        let with_proxy = self.proxy_tls.as_ref().is_some_and(|tls| tls.is_handshaking());
        self.tls.is_some() || with_proxy
    }

    /// Hits that it has served, and those that are under way on it.
    pub(crate) fn hits(&self) -> u64 {
        let streams = self.streams.as_ref().map_or(0, |streams| streams.session.streams_open());
        self.served + self.unanswered() as u64 + streams as u64
    }

    /// Hits sent on it and not answered.
    pub(crate) fn unanswered(&self) -> usize {
        usize::from(self.hit.is_some()) + self.pipelined.len()
    }

    /// Whether it is on its origin's list of those that can take a hit.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.is_member()
    }

    /// Whether something waits for room in the socket.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || self.body.is_some()
    }
}

impl Linked<READY> for Conn {
    fn link(&mut self) -> &mut Link {
        &mut self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_connection_holds_no_large_buffer() {
        let mut conn = Conn::new(OriginId(0), HitId(0), Nanos::ZERO);
        conn.captured.headers.reserve(1 << 20);
        conn.captured.body.reserve(1 << 20);
        conn.unsent.extend(&[0; 1 << 20]);
        conn.unsent.consume(1 << 20);
        conn.captured.reason.reserve(100);
        conn.trim();
        let captured = &conn.captured;
        let room = [&captured.headers, &captured.body, &conn.unsent.bytes].map(Vec::capacity);
        assert_eq!(room, [0; 3]);
        assert!(captured.reason.capacity() >= 100, "what is small is kept");
    }
}
