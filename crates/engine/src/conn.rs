//! `Conn`: one connection and what is under way on it.

use std::sync::Arc;

use net::Sock;
use slab::Slab;
use stdx::Nanos;
use wire::content::ContentDecoder;
use wire::h1::response::ResponseDecoder;
use wire::tls::TlsSession;

use crate::hit::WAITING;
use crate::list::{Link, Linked, List};
use crate::origin::Tries;
use crate::streams::Streams;

/// The lists of connections that can take a hit, one an origin.
pub(crate) const READY: u8 = 0;

/// The connections of one worker.
pub(crate) type Conns = Slab<Conn>;

/// The numbers of one worker's connections: every `step`-th, so that no two of a run share one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serials {
    next: u32,
    step: u32,
}

impl Serials {
    /// The numbers of worker `worker`, counted from 0, of `workers`.
    pub(crate) fn of(worker: usize, workers: usize) -> Self {
        Self { next: worker as u32 + 1, step: workers as u32 }
    }

    pub(crate) fn next(&mut self) -> u32 {
        let serial = self.next;
        // After 4 billion connections they begin anew.
        self.next = serial.wrapping_add(self.step);
        serial
    }

    /// The number in the run, from 0, of the worker's owner of this number, from 1.
    pub(crate) fn of_owner(&self, owner: u32) -> u32 {
        let worker = self.next.wrapping_sub(1) % self.step;
        (owner - 1).wrapping_mul(self.step).wrapping_add(worker)
    }
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Conn {
    /// `None` between two attempts to connect.
    pub(crate) sock: Option<Sock>,
    pub(crate) origin: u32,
    /// The hit it serves: the one whose response is next.
    pub(crate) hit: Option<u32>,
    /// The hits sent behind it, in the order of their responses. RFC 9112, 9.3.2.
    pub(crate) behind: List<WAITING>,
    pub(crate) state: State,
    /// Its number in the run, from 1.
    pub(crate) serial: u32,
    /// How many hits it has served before this one.
    pub(crate) served: u64,
    /// Which of `tries` is under way, from 0.
    pub(crate) attempt: u32,
    /// What is tried.
    pub(crate) tries: Tries,
    /// When connecting, or the TLS handshake, began.
    pub(crate) since: Nanos,
    pub(crate) tls: Option<Box<TlsSession>>,
    /// What is under way where it speaks HTTP/2; `hit` and what is kept for it are then unused.
    pub(crate) streams: Option<Box<Streams>>,
    pub(crate) decoder: ResponseDecoder,
    pub(crate) content: Option<Box<ContentDecoder>>,
    /// Whether this response's body is coded, and decoded by us.
    pub(crate) coded: bool,
    /// What of the response is kept for the row.
    pub(crate) kept: Kept,
    /// Bytes that the socket had no room for.
    pub(crate) unsent: Unsent,
    /// It is on the list of connections to be flushed at the turn's end.
    pub(crate) gathered: bool,
    /// A large request body, and how much of it is sent.
    pub(crate) body: Option<(Arc<[u8]>, usize)>,
    /// A pipe whose user takes no more for now.
    pub(crate) is_held: bool,
    /// A pipe that is closed once all is sent.
    pub(crate) closes: bool,
    /// Its handshake waits for its turn.
    pub(crate) postponed: bool,
    ready: Link,
}

/// What of the response is kept for the row.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The reason phrase of a status outside 200..400.
    pub(crate) reason: Vec<u8>,
    /// The start of the decoded body.
    pub(crate) body: Vec<u8>,
    /// More of the body was wanted than [`crate::Capture::BODY_MAX`] allows.
    pub(crate) body_cut: bool,
    /// The header lines.
    pub(crate) headers: Vec<u8>,
    /// The status line and the header lines, where a user is to be told.
    pub(crate) head: Option<Arc<[u8]>>,
}

/// Room an idle connection keeps in each buffer for its next hit: 64 KiB. Thousands of idle connections must not each hold
/// the largest body, head or request they ever saw.
const IDLE_MAX: usize = 64 << 10;

impl Kept {
    /// Gives back what a large body or head took.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.reason, &mut self.body, &mut self.headers] {
            if buffer.capacity() > IDLE_MAX {
                *buffer = Vec::new();
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.reason.clear();
        self.body.clear();
        self.body_cut = false;
        self.headers.clear();
        self.head = None;
    }
}

/// Bytes that wait for room. Sending a part moves the rest only where that is the smaller part, so that taking all of them in
/// small pieces costs time in proportion to them.
#[derive(Debug, Default)]
pub(crate) struct Unsent {
    bytes: Vec<u8>,
    /// So many of them are sent.
    sent: usize,
}

impl Unsent {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    pub(crate) fn len(&self) -> usize {
        self.as_slice().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The first `len` bytes are sent.
    pub(crate) fn consume(&mut self, len: usize) {
        self.sent += len;
        if self.sent > self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Gives back what room there is beyond `max`; to be called where nothing waits.
    pub(crate) fn trim(&mut self, max: usize) {
        if self.bytes.capacity() > max {
            *self = Self::default();
        }
    }
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
    pub(crate) fn new(origin: u32, hit: u32, since: Nanos) -> Self {
        Self {
            sock: None,
            origin,
            hit: Some(hit),
            behind: List::default(),
            state: State::Dialing,
            serial: 0,
            served: 0,
            attempt: 0,
            tries: Tries::default(),
            since,
            tls: None,
            streams: None,
            decoder: ResponseDecoder::new(),
            content: None,
            coded: false,
            kept: Kept::default(),
            unsent: Unsent::default(),
            gathered: false,
            body: None,
            is_held: false,
            closes: false,
            postponed: false,
            ready: Link::default(),
        }
    }

    /// Gives back what large responses and requests took; to be called where nothing is under way.
    pub(crate) fn trim(&mut self) {
        debug_assert!(!self.has_unsent(), "an idle connection has sent everything");
        self.kept.trim();
        self.decoder.trim(IDLE_MAX);
        self.unsent.trim(IDLE_MAX);
    }

    /// Hits sent on it and not answered.
    pub(crate) fn unanswered(&self) -> usize {
        usize::from(self.hit.is_some()) + self.behind.len()
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
    fn what_waits_is_sent_in_order_and_moved_seldom() {
        let all: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (mut unsent, mut sent, mut moves) = (Unsent::default(), Vec::new(), 0);
        unsent.extend(&all[..600_000]);
        while !unsent.is_empty() {
            let len = unsent.len().min(100);
            sent.extend_from_slice(&unsent.as_slice()[..len]);
            unsent.consume(len);
            moves += usize::from(unsent.sent == 0);
            if sent.len() == 1_000 {
                unsent.extend(&all[600_000..]);
            }
        }
        assert_eq!(sent, all);
        assert!(moves < 30, "{moves}");
    }

    #[test]
    fn an_idle_connection_holds_no_large_buffer() {
        let mut conn = Conn::new(0, 0, Nanos::ZERO);
        conn.kept.headers.reserve(1 << 20);
        conn.kept.body.reserve(1 << 20);
        conn.unsent.extend(&[0; 1 << 20]);
        conn.unsent.consume(1 << 20);
        conn.kept.reason.reserve(100);
        conn.trim();
        let kept = &conn.kept;
        let room = [&kept.headers, &kept.body, &conn.unsent.bytes].map(Vec::capacity);
        assert_eq!(room, [0; 3]);
        assert!(kept.reason.capacity() >= 100, "what is small is kept");
    }
}
