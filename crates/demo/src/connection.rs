//! `Connection`: one client's requests in, its answers out in the same order, neither more than there is room for.

use std::collections::VecDeque;

use stdx::Nanos;
use wire::h1::Version;
use wire::h1::server::{
    Connection as Wish, RequestDecoder, RequestFault, RequestHead, RequestSink,
};

use crate::answer::{Fate, More, Parts, RequestInfo, Site, Stream, Then, Verdict};
use crate::route::{Route, Service};
use crate::upgrade::Upgrade;
use crate::{KeepAlive, Stats};

/// Requests of one connection that may be under way at once; further ones are not read yet.
pub(crate) const PIPELINE: usize = 64;
/// No more is written while so many bytes (64 KiB) have not been taken by the network.
pub(crate) const ROOM: usize = 64 << 10;
/// What `/echo` keeps of a request's body: 1 MiB.
const ECHO_MAX: usize = 1 << 20;

/// One client's connection.
#[derive(Debug)]
pub(crate) struct Connection {
    /// A number that earlier connections of the same key did not have.
    pub(crate) serial: u64,
    decoder: RequestDecoder,
    draft: Draft,
    /// Bytes that were not read because of [`PIPELINE`] or [`ROOM`].
    pub(crate) backlog: Vec<u8>,
    slots: VecDeque<Slot>,
    /// The number of the first slot; they count from 0 for each connection.
    first: u64,
    stream: Option<Stream>,
    /// The stream waits for its time.
    paused: bool,
    pub(crate) out: Vec<u8>,
    pub(crate) unsent: usize,
    pub(crate) ending: Option<CloseKind>,
    /// It stands in the machine's list of those with output.
    pub(crate) listed: bool,
    requests: u32,
    /// The last request has been read.
    read_closed: bool,
}

/// How a connection ends when its output is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseKind {
    Close,
    Reset,
}

/// A request under way.
#[derive(Debug)]
struct Slot {
    asked: RequestInfo,
    /// None until it is decided and due.
    verdict: Option<Verdict>,
}

/// The result of some input.
#[derive(Debug)]
pub(crate) enum ReadOutcome {
    /// A request's end: its slot's number, and whether it has to be queued.
    Request(u64, Service),
    /// It becomes a WebSocket; what comes after the request is its.
    Upgrade(Box<Upgrade>),
    /// No request was completed, or none may be.
    Nothing,
    /// The bytes are no HTTP; the answer to it is due already.
    Malformed,
}

impl Connection {
    pub(crate) fn new(serial: u64) -> Self {
        Self {
            serial,
            decoder: RequestDecoder::new(),
            draft: Draft::default(),
            backlog: Vec::new(),
            slots: VecDeque::new(),
            first: 0,
            stream: None,
            paused: false,
            out: Vec::new(),
            unsent: 0,
            ending: None,
            listed: false,
            requests: 0,
            read_closed: false,
        }
    }

    /// Whether another request may be read now.
    pub(crate) fn can_read(&self) -> bool {
        !self.read_closed && self.slots.len() < PIPELINE && self.has_room()
    }

    /// Whether nothing that is read will ever matter.
    pub(crate) fn is_read_closed(&self) -> bool {
        self.read_closed
    }

    /// Whether there is something to be taken by the driver.
    pub(crate) fn has_output(&self) -> bool {
        !self.out.is_empty() || self.ending.is_some()
    }

    fn has_room(&self) -> bool {
        self.ending.is_none() && self.out.len() + self.unsent < ROOM
    }

    /// Reads on until a request ends; takes what it used off `input`.
    pub(crate) fn read(&mut self, input: &mut &[u8], keep_alive: KeepAlive) -> ReadOutcome {
        if input.is_empty() || !self.can_read() {
            return ReadOutcome::Nothing;
        }
        match self.decoder.handle_bytes(input, &mut self.draft) {
            Ok(progress) => {
                *input = &input[progress.consumed..];
                self.invite_body();
                if progress.done { self.take_draft(keep_alive) } else { ReadOutcome::Nothing }
            }
            Err(fault) => self.malformed(fault),
        }
    }

    /// RFC 9110, 10.1.1. A client that has other answers coming before this one goes on by itself.
    fn invite_body(&mut self) {
        if std::mem::take(&mut self.draft.expects_continue) && self.slots.is_empty() {
            self.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
    }

    fn take_draft(&mut self, keep_alive: KeepAlive) -> ReadOutcome {
        self.requests = self.requests.saturating_add(1);
        let mut draft = std::mem::take(&mut self.draft);
        match draft.upgrade.take() {
            Some(upgrade) if self.slots.is_empty() => return ReadOutcome::Upgrade(upgrade),
            // Answers to earlier requests are still to be sent; or it is no handshake.
            _ if matches!(draft.route, Route::WsEcho(_) | Route::Cable) => {
                draft.route = Route::Status(400);
            }
            _ => (),
        }
        let last = matches!(keep_alive, KeepAlive::Requests(n) if self.requests >= n);
        let fate = if last { Fate::Close } else { draft.fate };
        self.read_closed = fate == Fate::Close;
        let asked = RequestInfo { route: draft.route, parts: draft.parts, fate, echo: draft.echo };
        ReadOutcome::Request(self.push(asked, None), draft.service)
    }

    fn malformed(&mut self, fault: RequestFault) -> ReadOutcome {
        self.read_closed = true;
        let (route, parts) = (Route::Wrong, Parts::Whole);
        let asked = RequestInfo { route, parts, fate: Fate::Close, echo: Vec::new() };
        self.push(asked, Some(Verdict::Malformed(fault.status())));
        ReadOutcome::Malformed
    }

    fn push(&mut self, asked: RequestInfo, verdict: Option<Verdict>) -> u64 {
        self.slots.push_back(Slot { asked, verdict });
        self.first + self.slots.len() as u64 - 1
    }

    /// The additional delay that the request in a slot asks for.
    pub(crate) fn delay_of(&self, slot: u64) -> Nanos {
        let index = slot.checked_sub(self.first).map(|i| i as usize);
        match index.and_then(|i| self.slots.get(i)).map(|slot| &slot.asked.route) {
            Some(Route::Slow(delay)) => *delay,
            _ => Nanos::ZERO,
        }
    }

    /// Decides how the request in a slot is answered: its answer may be sent from now on.
    pub(crate) fn decide(&mut self, slot: u64, verdict: Verdict) {
        let index = slot.checked_sub(self.first).map(|i| i as usize);
        if let Some(slot) = index.and_then(|i| self.slots.get_mut(i)) {
            slot.verdict = Some(verdict);
        }
    }

    /// The stream's time has come.
    pub(crate) fn resume(&mut self) {
        self.paused = false;
    }

    /// Writes what is due and has room. Gives the time after which [`Connection::resume`] is to be called, if at all.
    pub(crate) fn pump(&mut self, site: &Site, stats: &mut Stats) -> Option<Nanos> {
        while self.has_room() && !self.paused {
            if let Some(stream) = &mut self.stream {
                match stream.piece(&mut self.out) {
                    More::Now => (),
                    More::Nothing => self.finish(),
                    More::After(pause) => {
                        self.paused = true;
                        return Some(pause);
                    }
                }
                continue;
            }
            let slot = self.slots.front()?;
            let verdict = slot.verdict?;
            stats.answers += 1;
            match site.answer(&slot.asked, verdict, stats, &mut self.out) {
                Then::Done => self.finish(),
                Then::Stream(stream) => self.stream = Some(stream),
                Then::Close => self.end(CloseKind::Close),
                Then::Reset => self.end(CloseKind::Reset),
                Then::Never => {
                    self.read_closed = true;
                    self.paused = true;
                }
            }
        }
        None
    }

    /// The first answer is complete.
    fn finish(&mut self) {
        self.stream = None;
        self.first += 1;
        let done = self.slots.pop_front();
        if done.is_some_and(|slot| slot.asked.fate == Fate::Close) {
            self.end(CloseKind::Close);
        }
    }

    fn end(&mut self, ending: CloseKind) {
        self.read_closed = true;
        self.slots.clear();
        self.ending = Some(ending);
    }
}

/// The request that is being read.
#[derive(Debug)]
struct Draft {
    route: Route,
    service: Service,
    parts: Parts,
    fate: Fate,
    expects_continue: bool,
    echo: Vec<u8>,
    upgrade: Option<Box<Upgrade>>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            route: Route::Page,
            service: Service::Queued,
            parts: Parts::Whole,
            fate: Fate::Keep,
            expects_continue: false,
            echo: Vec::new(),
            upgrade: None,
        }
    }
}

impl RequestSink for Draft {
    fn head(&mut self, head: &RequestHead<'_>) {
        (self.route, self.service) = Route::parse(head.target);
        self.parts = if head.method == "HEAD" { Parts::HeadOnly } else { Parts::Whole };
        self.fate = match (head.connection, head.version) {
            (Wish::Close, _) => Fate::Close,
            (Wish::Keep, Version::Http10) => Fate::KeepOld,
            (Wish::Keep, Version::Http11) => Fate::Keep,
        };
        self.upgrade = Upgrade::of_request(head, &self.route).map(Box::new);
        self.expects_continue = head.expects_continue;
        if self.route == Route::Echo {
            self.echo = echo_head(head);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if self.route == Route::Echo {
            let room = ECHO_MAX.saturating_sub(self.echo.len());
            self.echo.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

/// The request line and the header fields as they came, and an empty line.
fn echo_head(head: &RequestHead<'_>) -> Vec<u8> {
    let minor = if head.version == Version::Http10 { 0 } else { 1 };
    let mut text = format!("{} {} HTTP/1.{minor}\r\n", head.method, head.target).into_bytes();
    for field in head.headers {
        text.extend_from_slice(field.name.as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(field.value);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}
