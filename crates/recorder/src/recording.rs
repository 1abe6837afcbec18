//! `Recording`: what has passed so far, within its limits, and what of it a terminal has not shown yet.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use stdx::{MemoryShare, Nanos};

use crate::exchange::{Body, Exchange, Mark, Message, RequestHead, ResponseHead};
use crate::limits::{
    EXCHANGES_MAX, HOST_BYTES_MAX, LEFT_OUT_NAMES_MAX, LINES_MAX, Limits, MARK_CHARS_MAX, MARKS_MAX,
};
use crate::line::Line;
use crate::scope::Scope;

/// What has passed so far. It is shared by the proxy, which fills it, and its owner, who shows it and takes it at the end.
#[derive(Debug)]
pub struct Recording {
    begin: Instant,
    epoch_us: i64,
    limits: Limits,
    state: Mutex<State>,
}

/// An exchange of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeId(usize);

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// When the recording began, in microseconds since 1970.
    pub epoch_us: i64,
    /// The exchanges, in the order in which they began.
    pub exchanges: Vec<Exchange>,
    /// Where groups begin, in their order.
    pub marks: Vec<Mark>,
    /// Hosts that were left out, and how many requests or connections of each; those beyond a thousand hosts are under `…`.
    pub left_out: BTreeMap<String, u64>,
    /// Hosts whose clients refused our certificate.
    pub untrusted: BTreeMap<String, u64>,
    /// What did not fit.
    pub losses: Losses,
}

/// What did not fit into a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Requests that are not kept at all.
    pub exchanges: u64,
    /// Answers of which the status is kept, and no field.
    pub heads: u64,
    /// Bodies that are kept in part.
    pub bodies: u64,
    /// What is missing of these, in bytes.
    pub body_bytes: u64,
    /// Messages of WebSockets that are not kept.
    pub messages: u64,
    /// Marks that are not kept.
    pub marks: u64,
    /// Lines of the live list that were not shown.
    pub lines: u64,
}

#[derive(Debug, Default)]
struct State {
    scope: Scope,
    /// `None`: left out since the scope is known.
    exchanges: Vec<Option<Exchange>>,
    marks: Vec<Mark>,
    left_out: BTreeMap<String, u64>,
    untrusted: BTreeMap<String, u64>,
    /// What all that is kept takes, in bytes.
    bytes: u64,
    /// The same, of the memory of the process.
    memory: MemoryShare,
    losses: Losses,
    lines: VecDeque<Line>,
}

impl Recording {
    /// An empty recording that begins now.
    #[must_use]
    pub fn new(scope: Scope, limits: Limits) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            begin: Instant::now(),
            epoch_us: i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            limits,
            state: Mutex::new(State { scope, ..State::default() }),
        }
    }

    /// The time since its begin.
    #[must_use]
    pub fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether requests to this host are kept.
    #[must_use]
    pub fn covers(&self, host: &str) -> bool {
        self.state().scope.covers(host)
    }

    /// Counts a request or a connection to a host that is left out.
    pub fn leave_out(&self, host: &str) {
        count(&mut self.state().left_out, host);
    }

    /// Counts a client that refused our certificate.
    pub fn add_untrusted(&self, host: &str) {
        count(&mut self.state().untrusted, host);
    }

    /// How many handshakes clients have refused so far, because of our certificate.
    #[must_use]
    pub fn untrusted(&self) -> u64 {
        self.state().untrusted.values().sum()
    }

    /// Begins an exchange; `None` where it is not kept.
    pub fn begin(&self, request: RequestHead, now: Nanos) -> Option<ExchangeId> {
        let mut state = self.state();
        if !state.scope.covers(&request.host) {
            count(&mut state.left_out, &request.host);
            return None;
        }
        if state.exchanges.len() >= EXCHANGES_MAX || !state.take(self.limits, request.bytes()) {
            state.losses.exchanges += 1;
            return None;
        }
        state.exchanges.push(Some(Exchange { started: now, request, ..Exchange::default() }));
        Some(ExchangeId(state.exchanges.len() - 1))
    }

    /// Adds to the body of a request.
    pub fn add_sent(&self, id: ExchangeId, bytes: &[u8]) {
        self.state().add(self.limits, id, bytes, |exchange| &mut exchange.sent);
    }

    /// Adds to the body of an answer.
    pub fn add_received(&self, id: ExchangeId, bytes: &[u8]) {
        self.state().add(self.limits, id, bytes, |exchange| &mut exchange.received);
    }

    /// The head of the answer is there. That of the first page says which host is kept.
    pub fn answer(&self, id: ExchangeId, mut response: ResponseHead, now: Nanos) {
        let mut state = self.state();
        let Some(exchange) = state.exchange(id) else { return };
        let is_page = response.is_page() && exchange.request.may_be_navigation();
        let host = exchange.request.host.clone();
        if !state.take(self.limits, response.bytes()) {
            response.headers.clear();
            state.losses.heads += 1;
        }
        if let Some(exchange) = state.exchange(id) {
            (exchange.response, exchange.answered) = (Some(response), now);
        }
        if is_page && state.scope == Scope::FirstPage {
            state.narrow_to(host);
        }
    }

    /// A message of a WebSocket passed.
    pub fn add_message(&self, id: ExchangeId, message: Message) {
        let mut state = self.state();
        if state.exchange(id).is_none() {
            return;
        }
        if !state.take(self.limits, message.bytes()) {
            state.losses.messages += 1;
        } else if let Some(exchange) = state.exchange(id) {
            exchange.messages.push(message);
        }
    }

    /// Counts messages of a WebSocket that are not kept.
    pub fn lose_message(&self) {
        self.state().losses.messages += 1;
    }

    /// The last byte has passed, or with a reason none will.
    pub fn end(&self, id: ExchangeId, failure: Option<String>, now: Nanos) {
        let mut state = self.state();
        let Some(exchange) = state.exchange(id).filter(|exchange| exchange.ended.is_none()) else {
            return;
        };
        (exchange.ended, exchange.failure) = (Some(now), failure);
        let line = Line::of(exchange);
        state.show(line);
    }

    /// Begins a group; `false` where there are too many, or the name is empty.
    pub fn mark(&self, name: &str, now: Nanos) -> bool {
        let name: String = stdx::terminal_line(name.trim()).chars().take(MARK_CHARS_MAX).collect();
        if name.is_empty() {
            return false;
        }
        let mut state = self.state();
        let mark = Mark { at: now, name };
        let is_taken = state.marks.len() < MARKS_MAX && state.take(self.limits, mark.bytes());
        if is_taken {
            state.marks.push(mark);
        } else {
            state.losses.marks += 1;
        }
        is_taken
    }

    /// Counts lines that were taken and could not be shown.
    pub fn lose_lines(&self, count: u64) {
        self.state().losses.lines += count;
    }

    /// The lines of exchanges that ended since the last call.
    #[must_use]
    pub fn take_lines(&self) -> Vec<Line> {
        self.state().lines.drain(..).collect()
    }

    /// Takes all that was recorded. What is under way is in it as far as it came; nothing is kept from now on. Its memory counts as
    /// taken until the recording is dropped.
    #[must_use]
    pub fn finish(&self) -> Record {
        let mut state = self.state().end();
        let exchanges: Vec<Exchange> = state.exchanges.drain(..).flatten().collect();
        let bodies = exchanges.iter().flat_map(|exchange| [&exchange.sent, &exchange.received]);
        for body in bodies.filter(|body| body.is_cut()) {
            state.losses.bodies += 1;
            state.losses.body_bytes += body.len - body.bytes.len() as u64;
        }
        Record {
            epoch_us: self.epoch_us,
            exchanges,
            marks: state.marks,
            left_out: state.left_out,
            untrusted: state.untrusted,
            losses: state.losses,
        }
    }
}

impl State {
    fn exchange(&mut self, id: ExchangeId) -> Option<&mut Exchange> {
        self.exchanges.get_mut(id.0)?.as_mut()
    }

    /// Takes room for so many bytes more; `false` where there is none.
    fn take(&mut self, limits: Limits, bytes: u64) -> bool {
        let sum = self.bytes + bytes;
        let has_room = sum <= limits.recording_bytes_max.0;
        let is_taken = has_room && self.memory.resize(size(sum)).is_ok();
        if is_taken {
            self.bytes = sum;
        }
        is_taken
    }

    /// Gives back what is no longer kept.
    fn give_back(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.memory.hold(size(self.bytes));
    }

    /// All of it, so that nothing more is kept.
    fn end(&mut self) -> Self {
        let mut rest = Self { scope: Scope::Hosts(vec![]), ..Self::default() };
        std::mem::swap(&mut rest.memory, &mut self.memory);
        std::mem::replace(self, rest)
    }

    /// Keeps as much of the bytes as the limits allow.
    fn add(
        &mut self,
        limits: Limits,
        id: ExchangeId,
        bytes: &[u8],
        body: fn(&mut Exchange) -> &mut Body,
    ) {
        let in_all = limits.recording_bytes_max.0.saturating_sub(self.bytes);
        let Some(exchange) = self.exchange(id) else { return };
        let kept = body(exchange);
        // A body with a gap would be another body.
        let has_gap = kept.is_cut();
        let room = limits.body_bytes_max.0.saturating_sub(kept.bytes.len() as u64).min(in_all);
        kept.len += bytes.len() as u64;
        let len = if has_gap { 0 } else { size(room).min(bytes.len()) };
        if len > 0
            && self.take(limits, len as u64)
            && let Some(exchange) = self.exchange(id)
        {
            body(exchange).keep(&bytes[..len]);
        }
    }

    /// Keeps the host of a page from now on, and those that led to it by redirects.
    fn narrow_to(&mut self, page: String) {
        let mut hosts = vec![page];
        for exchange in self.exchanges.iter().rev().flatten() {
            if exchange.redirect_host().is_some_and(|host| hosts.contains(&host)) {
                hosts.push(exchange.request.host.clone());
            }
        }
        self.narrow(Scope::of_pages(hosts.iter().map(String::as_str)));
    }

    /// From now on fewer hosts are kept, and of what there is only theirs.
    fn narrow(&mut self, scope: Scope) {
        let mut bytes = 0;
        for slot in &mut self.exchanges {
            let outside = |exchange: &mut Exchange| !scope.covers(&exchange.request.host);
            if let Some(exchange) = slot.take_if(outside) {
                bytes += exchange.bytes();
                count(&mut self.left_out, &exchange.request.host);
            }
        }
        self.give_back(bytes);
        self.scope = scope;
    }

    fn show(&mut self, line: Line) {
        if self.lines.len() >= LINES_MAX {
            self.losses.lines += 1;
        } else {
            self.lines.push_back(line);
        }
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Counts a name, which a hostile client may make up.
fn count(names: &mut BTreeMap<String, u64>, name: &str) {
    let is_full = names.len() >= LEFT_OUT_NAMES_MAX && !names.contains_key(name);
    let name = if is_full || name.len() > HOST_BYTES_MAX { "…" } else { name };
    *names.entry(name.to_owned()).or_default() += 1;
}

#[cfg(test)]
mod tests {
    use stdx::Bytes;

    use super::*;
    use crate::exchange::{Direction, MESSAGE_BYTES, Payload};

    fn request(host: &str) -> RequestHead {
        let url = format!("https://{host}/");
        RequestHead {
            method: "GET".into(),
            url,
            host: host.into(),
            version: "HTTP/1.1",
            headers: vec![],
        }
    }

    fn page() -> ResponseHead {
        let headers = vec![("Content-Type".to_owned(), "text/html; charset=utf-8".to_owned())];
        ResponseHead { status: 200, headers, ..ResponseHead::default() }
    }

    #[test]
    fn the_first_page_says_which_host_is_kept() {
        let recording = Recording::new(Scope::FirstPage, Limits::default());
        let noise = recording.begin(request("update.vendor.test"), Nanos(1)).unwrap();
        recording.add_received(noise, b"0123456789");
        let shop = recording.begin(request("www.shop.example"), Nanos(2)).unwrap();
        recording.answer(shop, page(), Nanos(3));
        recording.end(shop, None, Nanos(4));
        // What is left out is no more: later events of it go nowhere.
        recording.add_received(noise, b"x");
        recording.end(noise, None, Nanos(5));
        assert_eq!(recording.begin(request("cdn.test"), Nanos(6)), None);
        assert!(recording.begin(request("api.shop.example"), Nanos(6)).is_some());
        assert_eq!(recording.take_lines().len(), 1);
        let record = recording.finish();
        let hosts: Vec<&str> = record.exchanges.iter().map(|one| &*one.request.host).collect();
        assert_eq!(hosts, ["www.shop.example", "api.shop.example"]);
        let left_out = [("cdn.test".to_owned(), 1), ("update.vendor.test".to_owned(), 1)];
        assert_eq!(record.left_out, BTreeMap::from(left_out));
    }

    #[test]
    fn hosts_that_lead_to_the_first_page_are_kept() {
        let recording = Recording::new(Scope::FirstPage, Limits::default());
        let lead = |from: &str, to: &str| {
            let headers = vec![("Location".to_owned(), to.to_owned())];
            let id = recording.begin(request(from), Nanos(1)).unwrap();
            let response = ResponseHead { status: 302, headers, ..ResponseHead::default() };
            recording.answer(id, response, Nanos(2));
        };
        lead("noise.test", "https://other.test/");
        lead("shop.example", "/de");
        lead("shop.example", "https://id.login.test/start");
        lead("id.login.test", "/form");
        let page = self::page();
        let id = recording.begin(request("id.login.test"), Nanos(1)).unwrap();
        recording.answer(id, page, Nanos(2));
        let kept = recording.finish().exchanges;
        let hosts: Vec<&str> = kept.iter().map(|one| &*one.request.host).collect();
        assert_eq!(hosts, ["shop.example", "shop.example", "id.login.test", "id.login.test"]);
    }

    #[test]
    fn a_script_that_a_page_loads_is_no_page() {
        let recording = Recording::new(Scope::FirstPage, Limits::default());
        let mut frame = request("ads.test");
        frame.headers.push(("Sec-Fetch-Dest".into(), "iframe".into()));
        let id = recording.begin(frame, Nanos(1)).unwrap();
        recording.answer(id, page(), Nanos(2));
        assert!(recording.covers("shop.example"), "not decided yet");
    }

    #[test]
    fn bodies_are_kept_to_their_limits_and_what_is_cut_is_counted() {
        // Room for both heads and 22 bytes.
        let in_all = 2 * request("a.test").bytes() + 22;
        let limits = Limits { body_bytes_max: Bytes(10), recording_bytes_max: Bytes(in_all) };
        let recording = Recording::new(Scope::AllHosts, limits);
        let ids = [(); 2].map(|()| recording.begin(request("a.test"), Nanos(1)).unwrap());
        recording.add_sent(ids[0], b"0123456");
        recording.add_sent(ids[0], b"789abc");
        recording.add_sent(ids[0], b"d");
        recording.add_received(ids[0], b"0123456789");
        recording.add_received(ids[1], b"0123456789");
        recording.add_sent(ids[1], b"01");
        let text = "0123456789".repeat(7);
        let message = crate::Message {
            at: Nanos(2),
            direction: crate::Direction::Sent,
            payload: crate::Payload::Text(text),
        };
        recording.add_message(ids[1], message);
        recording.lose_message();
        let record = recording.finish();
        assert_eq!(record.exchanges[0].sent, Body { bytes: b"0123456789".to_vec(), len: 14 });
        assert!(!record.exchanges[0].received.is_cut());
        let kept: u64 = record.exchanges.iter().map(Exchange::bytes).sum();
        assert!(kept <= limits.recording_bytes_max.0, "{kept}");
        assert_eq!(record.losses.bodies, 3, "{record:?}");
        assert_eq!(record.losses.messages, 2);
        assert!(recording.begin(request("a.test"), Nanos(3)).is_none(), "it is over");
    }

    #[test]
    fn requests_beyond_the_limits_are_counted() {
        let limits = Limits { recording_bytes_max: Bytes(5000), ..Limits::default() };
        let recording = Recording::new(Scope::AllHosts, limits);
        let kept = (0..100).filter(|_| recording.begin(request("a.test"), Nanos(1)).is_some());
        let kept = kept.count() as u64;
        assert!((1..20).contains(&kept), "{kept}");
        assert_eq!(recording.finish().losses.exchanges, 100 - kept);
    }

    /// Fault of an attack: empty messages, heads and marks were free, and filled the memory.
    #[test]
    fn empty_messages_heads_and_marks_are_charged_and_counted() {
        let limits = Limits { recording_bytes_max: Bytes(100_000), ..Limits::default() };
        let recording = Recording::new(Scope::AllHosts, limits);
        let id = recording.begin(request("a.test"), Nanos(1)).unwrap();
        for _ in 0..10_000 {
            let payload = Payload::Text(String::new());
            recording
                .add_message(id, Message { at: Nanos(2), direction: Direction::Received, payload });
        }
        let headers = vec![("content-type".to_owned(), "text/html".to_owned()); 2000];
        recording.answer(
            id,
            ResponseHead { status: 201, headers, ..ResponseHead::default() },
            Nanos(3),
        );
        for number in 0..20 {
            recording.mark(&format!("{number}{}", "x".repeat(90)), Nanos(4));
        }
        let record = recording.finish();
        let (one, losses) = (&record.exchanges[0], record.losses);
        let kept = one.messages.len() as u64;
        assert!((200..=100_000 / MESSAGE_BYTES).contains(&kept), "{kept}");
        assert_eq!((kept + losses.messages, losses.heads), (10_000, 1));
        assert!(losses.marks > 15 && record.marks.len() as u64 + losses.marks == 20, "{losses:?}");
        let response = one.response.as_ref().unwrap();
        assert_eq!((response.status, response.headers.len()), (201, 0), "the status has its place");
        assert_eq!(recording.state().bytes, 0);
        assert!(recording.state().memory.taken() >= 100_000, "until it is written");
    }

    #[test]
    fn what_is_left_out_gives_its_room_back() {
        let recording = Recording::new(Scope::FirstPage, Limits::default());
        let noise = recording.begin(request("noise.test"), Nanos(1)).unwrap();
        recording.add_received(noise, &[0; 1 << 20]);
        let shop = recording.begin(request("shop.example"), Nanos(2)).unwrap();
        assert!(recording.state().memory.taken() > 1 << 20);
        recording.answer(shop, page(), Nanos(3));
        let record = recording.state().exchanges.iter().flatten().map(Exchange::bytes).sum::<u64>();
        assert_eq!(recording.state().bytes, record);
        assert_eq!(recording.state().memory.taken(), 0, "little is not counted");
    }

    #[test]
    fn hosts_that_a_client_makes_up_take_bounded_memory() {
        let recording = Recording::new(Scope::named(&["a.test".to_owned()]), Limits::default());
        for number in 0..5000 {
            recording.leave_out(&format!("h{number}.test"));
        }
        let left_out = recording.finish().left_out;
        assert_eq!(left_out.len(), LEFT_OUT_NAMES_MAX + 1);
        assert_eq!(left_out["…"], 4000);
    }

    #[test]
    fn marks_are_short_lines() {
        let recording = Recording::new(Scope::AllHosts, Limits::default());
        assert!(recording.mark(" log-in\n", Nanos(1)) && !recording.mark("  ", Nanos(2)));
        assert!(recording.mark(&"x".repeat(1000), Nanos(3)) && recording.mark("\x1b[2J", Nanos(4)));
        let names: Vec<String> =
            recording.finish().marks.into_iter().map(|mark| mark.name).collect();
        assert_eq!(names, ["log-in", &"x".repeat(MARK_CHARS_MAX), "\u{fffd}[2J"]);
    }
}
