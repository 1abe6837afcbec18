//! The WebSockets of a worker's VUs: those on their way to be opened, and open ones.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::rc::Rc;

use stdx::{Nanos, NumberHash, Prng};
use wire::cable::Kind;
use wire::ws::{Offer, WsSession};
use workload::Pipe;

use crate::host::action::Ticket;
use crate::host::http::{HttpRequest, masked};
use crate::host::socket::{SocketApi, SocketEvent};
use crate::host::system_tags::{SystemTag, SystemTags};
use crate::pool::slot::{RequestOwner, VuSlot};

/// Unanswered pings of a socket that are remembered.
const PINGS_MAX: usize = 1_024;

/// The WebSockets of a worker's VUs.
#[derive(Default)]
pub(crate) struct Sockets {
    pub(crate) open: HashMap<Pipe, Socket, NumberHash>,
    /// Which pipe a VU's socket has, by the VU's place and the ticket.
    pub(crate) pipes: HashMap<(VuSlot, Ticket), Pipe, NumberHash>,
    /// What came in one go; kept for its memory.
    pub(crate) events: Vec<SocketEvent>,
    /// What goes out; kept for its memory.
    pub(crate) out: Vec<u8>,
    /// Keys of handshakes and of masks.
    pub(crate) random: Option<Prng>,
}

/// A socket on its way to be opened.
#[derive(Clone, Debug)]
pub(crate) struct PendingSocket {
    pub(crate) offer: Offer,
    /// The socket's URL as the script wrote it.
    pub(crate) url: String,
    pub(crate) api: SocketApi,
}

/// An open socket.
pub(crate) struct Socket {
    pub(crate) owner: RequestOwner,
    pub(crate) session: WsSession,
    pub(crate) labels: Rc<SocketLabels>,
    pub(crate) since: Nanos,
    /// The numbers of pings whose pongs have not come, and when they were sent.
    pub(crate) pings: VecDeque<(u64, Nanos)>,
    /// Pings so far.
    pub(crate) pinged: u64,
    pub(crate) api: SocketApi,
    /// Subscriptions whose messages are only counted.
    pub(crate) ignored: Vec<String>,
}

/// What the samples of a socket bear.
#[derive(Clone, Debug)]
pub(crate) struct SocketLabels {
    pub(crate) http: Box<HttpRequest>,
    pub(crate) status: u16,
    pub(crate) protocol: String,
    pub(crate) url: String,
    pub(crate) ip: Option<IpAddr>,
}

impl Sockets {
    /// A number by chance, from 0 to 1.
    pub(crate) fn chance(&mut self) -> f64 {
        self.random.as_mut().map_or(0.0, Prng::next_f64)
    }
}

impl SocketLabels {
    /// A tag, if it is one of a socket's, and wanted.
    pub(crate) fn tag(&self, name: &str, system: SystemTags) -> Option<Cow<'_, str>> {
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

    pub(crate) fn url(http: &HttpRequest, url: &str) -> String {
        let shown = || masked(url).unwrap_or_else(|| url.to_owned());
        http.name.clone().unwrap_or_else(shown)
    }
}

impl Socket {
    /// Sends a ping; its number is in it. Gives whether it could be sent.
    pub(crate) fn ping(&mut self, now: Nanos, out: &mut Vec<u8>) -> bool {
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
    pub(crate) fn pong(&mut self, payload: &[u8]) -> Option<Nanos> {
        let number: u64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
        let at = self.pings.iter().position(|(known, _)| *known == number)?;
        let sent = self.pings.get(at).map(|(_, sent)| *sent);
        self.pings.drain(..=at);
        sent
    }

    /// Whether an event is only counted.
    pub(crate) fn ignores(&self, event: &SocketEvent) -> bool {
        let SocketEvent::Cable(event) = event else { return false };
        event.kind == Kind::Message && self.ignored.contains(&event.identifier)
    }
}
