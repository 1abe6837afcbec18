//! The WebSockets of a worker's VUs: those on their way to be opened, and open ones.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::rc::Rc;

use stdx::{Nanos, NumberHash, Prng};
use users::{HttpRequest, SocketApi, SocketEvent, SystemTag, SystemTags, Ticket, masked};
use wire::cable::Kind;
use wire::ws::{Offer, WsSession};
use workload::Pipe;

use super::slot::{RequestOwner, VuSlot};

/// Unanswered pings of a socket that are remembered.
const PINGS_MAX: usize = 1_024;

/// The WebSockets of a worker's VUs.
#[derive(Default)]
pub(super) struct Sockets {
    pub(super) open: HashMap<Pipe, Socket, NumberHash>,
    /// Which pipe a VU's socket has, by the VU's place and the ticket.
    pub(super) pipes: HashMap<(VuSlot, Ticket), Pipe, NumberHash>,
    /// What came in one go; kept for its memory.
    pub(super) events: Vec<SocketEvent>,
    /// What goes out; kept for its memory.
    pub(super) out: Vec<u8>,
    /// Keys of handshakes and of masks.
    pub(super) random: Option<Prng>,
}

/// A socket on its way to be opened.
#[derive(Clone, Debug)]
pub(super) struct PendingSocket {
    pub(super) offer: Offer,
    /// The socket's URL as the script wrote it.
    pub(super) url: String,
    pub(super) api: SocketApi,
}

/// An open socket.
pub(super) struct Socket {
    pub(super) owner: RequestOwner,
    pub(super) session: WsSession,
    pub(super) labels: Rc<SocketLabels>,
    pub(super) since: Nanos,
    /// The numbers of pings whose pongs have not come, and when they were sent.
    pub(super) pings: VecDeque<(u64, Nanos)>,
    /// Pings so far.
    pub(super) pinged: u64,
    pub(super) api: SocketApi,
    /// Subscriptions whose messages are only counted.
    pub(super) ignored: Vec<String>,
}

/// What the samples of a socket bear.
#[derive(Clone, Debug)]
pub(super) struct SocketLabels {
    pub(super) http: Box<HttpRequest>,
    pub(super) status: u16,
    pub(super) protocol: String,
    pub(super) url: String,
    pub(super) ip: Option<IpAddr>,
}

impl Sockets {
    /// A number by chance, from 0 to 1.
    pub(super) fn chance(&mut self) -> f64 {
        self.random.as_mut().map_or(0.0, Prng::next_f64)
    }
}

impl SocketLabels {
    /// A tag, if it is one of a socket's, and wanted.
    pub(super) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
        let (tag, value) = match name {
            "status" => (SystemTag::Status, Cow::Owned(self.status.to_string())),
            "subproto" => (SystemTag::Subproto, Cow::Borrowed(self.protocol.as_str())),
            "url" => (SystemTag::Url, Cow::Borrowed(self.url.as_str())),
            "ip" => (SystemTag::Ip, Cow::Owned(self.ip?.to_string())),
            _ => return None,
        };
        let answered = self.status != 0 || name == "url";
        (system.has(tag) && answered).then_some(value)
    }

    pub(super) fn url(http: &HttpRequest, url: &str) -> String {
        let shown = || masked(url).unwrap_or_else(|| url.to_owned());
        http.name.clone().unwrap_or_else(shown)
    }
}

impl Socket {
    /// Sends a ping; its number is in it. Gives whether it could be sent.
    pub(super) fn ping(&mut self, now: Nanos, out: &mut Vec<u8>) -> bool {
        let sent = self.session.ping(self.pinged.to_string().as_bytes(), out).is_ok();
        if sent {
            if self.pings.len() == PINGS_MAX {
                self.pings.pop_front();
            }
            self.pings.push_back((self.pinged, now));
            self.pinged += 1;
        }
        sent
    }

    /// When the ping was sent that a pong answers. RFC 6455, 5.5.3: those before it may never be answered.
    pub(super) fn pong(&mut self, payload: &[u8]) -> Option<Nanos> {
        let number: u64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let at = self.pings.iter().position(|(known, _)| *known == number)?;
        let sent = self.pings.get(at).map(|(_, sent)| *sent);
        self.pings.drain(..=at);
        sent
    }

    /// Whether an event is only counted.
    pub(super) fn ignores(&self, event: &SocketEvent) -> bool {
        let SocketEvent::Cable(event) = event else { return false };
        event.kind == Kind::Message && self.ignored.contains(&event.identifier)
    }
}
