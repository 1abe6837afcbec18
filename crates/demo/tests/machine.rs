//! The machine driven by hand, in virtual time: every route, the queue, order, bounds and seeds.

use std::io::Read;

use demo::{Config, KeepAlive, ServerMachine, ServiceTime};
use net::{Key, Output, Peer};
use proptest::prelude::*;
use stdx::{Bytes, Nanos, Prng};

const MS: fn(u64) -> Nanos = Nanos::from_millis;

/// A machine, its clock, and what it sent.
struct Hand {
    machine: ServerMachine,
    now: Nanos,
    next_key: Key,
}

#[derive(Debug, Default, PartialEq)]
struct ServerOutput {
    bytes: Vec<u8>,
    end: Option<Output>,
}

impl ServerOutput {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn body(&self) -> &[u8] {
        let at = self.bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head's end");
        &self.bytes[at + 4..]
    }
}

impl Hand {
    fn new(change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        change(&mut config);
        Self { machine: ServerMachine::new(config).expect("valid"), now: MS(1), next_key: 0 }
    }

    fn open(&mut self) -> Key {
        self.next_key += 1;
        self.machine.handle_open(self.now, self.next_key);
        self.next_key
    }

    fn send(&mut self, conn: Key, bytes: &[u8]) {
        self.machine.handle_bytes(self.now, conn, bytes);
    }

    /// Takes all there is to take now, up to about `limit` bytes, as a network that takes everything.
    fn take_output(&mut self, limit: usize) -> ServerOutput {
        let mut answer = ServerOutput::default();
        while let Some((key, output)) = self.machine.poll_output() {
            match output {
                Output::Bytes(bytes) => answer.bytes.extend(bytes),
                end => answer.end = Some(end),
            }
            if answer.bytes.len() > limit {
                break;
            }
            self.machine.handle_drained(self.now, key);
        }
        answer
    }

    fn advance(&mut self, to: Nanos) {
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= to) {
            self.now = due;
            self.machine.handle_deadline(due);
        }
        self.now = to;
    }

    fn ask(&mut self, request: &str) -> ServerOutput {
        let conn = self.open();
        self.send(conn, request.as_bytes());
        self.take_output(2 << 20)
    }

    fn get(&mut self, target: &str) -> ServerOutput {
        self.ask(&get(target))
    }
}

fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n")
}

fn plain() -> Hand {
    Hand::new(|_| ())
}

#[test]
fn plain_answers_are_complete_and_keep_the_connection() {
    let answer = plain().get("/");
    let expect =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, world!\n";
    assert_eq!((answer.text().as_str(), answer.end), (expect, None));
    let head = plain().ask("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    assert_eq!(head.text(), expect.replace("Hello, world!\n", ""));
}

#[test]
fn long_bodies_are_exact() {
    for len in [0, 1, 16_384, 16_385, 1_000_000] {
        assert_eq!(plain().get(&format!("/bytes/{len}")).body().len(), len, "{len}");
        let mut hand = Hand::new(|c| c.body = Bytes(len as u64));
        assert_eq!(hand.get("/").body().len(), len, "{len}");
    }
}

#[test]
fn texts_and_statuses() {
    let cases = [
        ("/status/204", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("/status/404", "HTTP/1.1 404 Not Found\r\n"),
        ("/status/nope", "HTTP/1.1 400 "),
        ("/redirect/0", "HTTP/1.1 200 OK\r\n"),
        ("/redirect/3", "Location: /redirect/2\r\n"),
        ("/redirect-to?url=http%3A//a/b", "Location: http://a/b\r\n"),
        ("/1xx", "HTTP/1.1 103 "),
        ("/1xx", "\r\n\r\nHTTP/1.1 200 OK\r\n"),
        ("/chunked", "Transfer-Encoding: chunked\r\n\r\n1\r\nT\r\n2\r\nhe\r\n"),
        ("/trailers", "0\r\nX-Trailer: after the body\r\n"),
        ("/stats", "\"requests\":1,\"answers\":1,"),
        ("/zstd", "Content-Encoding: zstd\r\n"),
        ("/huge-headers", "X-Filler-0: 0"),
        ("/endless", "Transfer-Encoding: chunked\r\n"),
    ];
    for (target, part) in cases {
        let answer = plain().get(target);
        assert!(answer.text().contains(part), "{target}: {}", answer.text());
        assert_eq!(answer.end, None, "{target}");
    }
    assert!(plain().get("/pid").text().ends_with(&format!("\r\n\r\n{}\n", std::process::id())));
}

#[test]
fn faults_end_as_they_should() {
    let cases = [
        ("/reset", Some(Output::Reset), Some(500)),
        ("/truncate", Some(Output::Close), Some(500)),
        ("/garbage", Some(Output::Close), None),
        ("/eof", Some(Output::Close), Some(4416)),
        ("/close", Some(Output::Close), None),
        ("/hang", None, None),
    ];
    for (target, end, body_len) in cases {
        let answer = plain().get(target);
        assert_eq!(answer.end, end, "{target}");
        match body_len {
            Some(len) => assert_eq!(answer.body().len(), len, "{target}"),
            None => assert!(!answer.bytes.starts_with(b"HTTP"), "{target}"),
        }
    }
}

#[test]
fn echo_returns_the_request() {
    let answer =
        plain().ask("POST /echo?a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello");
    let expect = "POST /echo?a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello";
    assert_eq!(String::from_utf8_lossy(answer.body()), expect);
}

#[test]
fn a_body_is_invited_when_the_client_asks() {
    let mut hand = plain();
    let conn = hand.open();
    let head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    hand.send(conn, head);
    assert_eq!(hand.take_output(999).text(), "HTTP/1.1 100 Continue\r\n\r\n");
    hand.send(conn, b"ab");
    assert!(hand.take_output(999).text().starts_with("HTTP/1.1 200 OK"));
}

#[test]
fn the_bomb_is_a_gib_of_zeros() {
    let mut hand = plain();
    let conn = hand.open();
    hand.send(conn, get("/bomb").as_bytes());
    let answer = hand.take_output(4 << 20);
    assert!(answer.bytes.len() < 2 << 20, "{}", answer.bytes.len());
    let mut decoder = flate2::read::GzDecoder::new(answer.body());
    let (mut buf, mut total) = (vec![0; 1 << 20], 0u64);
    loop {
        let len = decoder.read(&mut buf).expect("one whole gzip member with the right checksum");
        if len == 0 {
            break;
        }
        assert!(buf[..len].iter().all(|b| *b == 0));
        total += len as u64;
    }
    assert_eq!(total, 1 << 30);
    let length = format!("Content-Length: {}\r\n", answer.body().len());
    assert!(String::from_utf8_lossy(&answer.bytes[..300]).contains(&length));
}

#[test]
fn drip_gives_a_byte_each_second() {
    let mut hand = plain();
    let first = hand.get("/drip?bytes=3");
    assert_eq!(first.body(), b"H");
    hand.advance(MS(1000));
    assert_eq!(hand.take_output(99).bytes, b"");
    hand.advance(MS(1001));
    assert_eq!(hand.take_output(99).bytes, b"e");
    hand.advance(MS(5000));
    assert_eq!(hand.take_output(99).bytes, b"l");
    assert_eq!(hand.machine.next_deadline(), None);
}

#[test]
fn endless_routes_wait_for_the_network() {
    for target in ["/endless", "/huge-headers", "/bytes/1000000000000", "/bomb"] {
        let mut hand = plain();
        let conn = hand.open();
        hand.send(conn, get(target).as_bytes());
        let mut undrained = 0;
        while let Some((_, output)) = hand.machine.poll_output() {
            if let Output::Bytes(bytes) = output {
                undrained += bytes.len();
            }
        }
        assert!((16 << 10..128 << 10).contains(&undrained), "{target}: {undrained}");
        hand.machine.handle_drained(hand.now, conn);
        assert!(hand.machine.poll_output().is_some(), "{target} goes on");
    }
}

#[test]
fn a_client_that_never_reads_is_not_read_either() {
    let mut hand = plain();
    let conn = hand.open();
    hand.send(conn, get("/").repeat(10_000).as_bytes());
    let mut undrained = 0;
    while let Some((_, Output::Bytes(bytes))) = hand.machine.poll_output() {
        undrained += bytes.len();
    }
    assert!(undrained < 128 << 10, "{undrained}");
    assert!(!hand.machine.wants_bytes(conn));
    assert!(hand.machine.stats().requests < 2000);
    hand.machine.handle_drained(hand.now, conn);
    while !hand.take_output(usize::MAX).bytes.is_empty() {}
    assert_eq!((hand.machine.stats().answers, hand.machine.wants_bytes(conn)), (10_000, true));
}

#[test]
fn pipelined_answers_keep_their_order() {
    let mut hand = plain();
    let conn = hand.open();
    let requests = [get("/slow?ms=50"), get("/status/404"), get("/slow?ms=20"), get("/status/500")];
    hand.send(conn, requests.concat().as_bytes());
    hand.advance(MS(49));
    assert_eq!(hand.take_output(9999).bytes, b"");
    hand.advance(MS(51));
    let answer = hand.take_output(9999).text();
    let codes: Vec<&str> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    assert_eq!(codes, ["200", "404", "200", "500"]);
}

#[test]
fn one_queue_for_all_connections_and_503_when_full() {
    let mut hand = Hand::new(|c| {
        c.workers = 2;
        c.queue_limit = 1;
        c.service = ServiceTime::Fixed(MS(60));
    });
    let refused = (0..4).filter(|_| hand.get("/").text().contains(" 503 ")).count();
    assert_eq!(refused, 1);
    let stats = hand.machine.stats();
    assert_eq!((stats.in_service, stats.queue, stats.queue_max, stats.refused), (2, 1, 1, 1));
    for (at, answers) in [(60, 1), (61, 3), (120, 3), (121, 4)] {
        hand.advance(MS(at));
        hand.take_output(9999);
        assert_eq!(hand.machine.stats().answers, answers, "at {at} ms");
    }
}

#[test]
fn fault_routes_queue_only_when_asked() {
    let mut hand = Hand::new(|c| {
        c.workers = 1;
        c.service = ServiceTime::Fixed(MS(60));
    });
    assert!(!hand.get("/status/404").bytes.is_empty());
    assert!(hand.get("/status/404?service=1").bytes.is_empty());
    hand.advance(MS(61));
    assert!(hand.take_output(999).text().starts_with("HTTP/1.1 404"));
}

#[test]
fn a_delay_keeps_no_worker() {
    let mut hand = Hand::new(|c| {
        c.workers = 1;
        c.service = ServiceTime::Fixed(MS(10));
        c.delay = MS(100);
    });
    hand.get("/");
    hand.get("/");
    hand.advance(MS(110));
    assert_eq!(hand.take_output(999).bytes, b"");
    hand.advance(MS(111));
    assert!(hand.take_output(999).text().starts_with("HTTP/1.1 200"));
    hand.advance(MS(121));
    assert!(hand.take_output(999).text().starts_with("HTTP/1.1 200"));
}

#[test]
fn connections_end_when_they_should() {
    let mut hand = Hand::new(|c| c.keep_alive = KeepAlive::Requests(2));
    let two = hand.ask(&get("/").repeat(3));
    assert_eq!(two.text().matches("200 OK").count(), 2);
    assert_eq!(two.text().matches("Connection: close").count(), 1);
    assert_eq!(two.end, Some(Output::Close));
    let close = plain().ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    assert_eq!(close.end, Some(Output::Close));
    assert_eq!(plain().ask("GET / HTTP/1.0\r\n\r\n").end, Some(Output::Close));
    let old = plain().ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!((old.text().contains("Connection: keep-alive"), old.end), (true, None));
    let mut wrong = plain();
    let answer = wrong.ask("what?\r\n\r\n");
    assert_eq!(
        (answer.text().starts_with("HTTP/1.1 400"), answer.end),
        (true, Some(Output::Close))
    );
    assert_eq!((wrong.machine.stats().malformed, wrong.machine.stats().connections), (1, 0));
}

#[test]
fn a_closed_clients_answer_never_reaches_its_successor() {
    let mut hand = Hand::new(|c| c.service = ServiceTime::Fixed(MS(60)));
    let conn = hand.open();
    hand.send(conn, get("/").as_bytes());
    hand.machine.handle_close(hand.now, conn);
    hand.machine.handle_open(hand.now, conn);
    hand.advance(MS(100));
    assert_eq!(hand.take_output(999), ServerOutput::default());
}

/// Requests at random times on random connections; when each answer came and what it was.
fn story(seed: u64) -> Vec<(Nanos, String)> {
    let mut hand = Hand::new(|c| {
        c.workers = 2;
        c.service = ServiceTime::Lognormal { median: MS(5), sigma: 0.5 };
        c.error_rate = 0.2;
        c.seed = seed;
    });
    let mut rng = Prng::new(99);
    let conns: Vec<Key> = (0..5).map(|_| hand.open()).collect();
    let mut answers = Vec::new();
    for _ in 0..500 {
        let at = hand.now + Nanos(rng.below(4_000_000));
        hand.advance(at);
        hand.send(conns[rng.below(5) as usize], get("/").as_bytes());
        answers.push((hand.now, hand.take_output(9999).text()));
    }
    answers
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(story(3), story(3));
    assert_ne!(story(3), story(4));
    let failed = story(3).iter().map(|(_, text)| text.matches(" 500 ").count()).sum::<usize>();
    assert!((50..150).contains(&failed), "{failed}");
}

/// The mean wait of M/M/c, in seconds (Erlang's C formula).
fn erlang_wait_s(workers: u32, service_s: f64, rate_per_s: f64) -> f64 {
    let load = service_s * rate_per_s;
    let blocked = (1..=workers).fold(1.0, |b, n| load * b / (f64::from(n) + load * b));
    let busy = load / f64::from(workers);
    let waits = blocked / (1.0 - busy * (1.0 - blocked));
    waits / (f64::from(workers) / service_s - rate_per_s)
}

#[test]
fn six_exponential_workers_wait_as_erlang_says() {
    for rate in [50.0, 85.0] {
        let mut hand = Hand::new(|c| {
            c.workers = 6;
            c.service = ServiceTime::Exponential(MS(60));
        });
        let conns: Vec<Key> = (0..64).map(|_| hand.open()).collect();
        let (mut rng, n) = (Prng::new(7), 1_000_000);
        // All waiting taken together is the time integral of the queue's length.
        let (mut arrival_s, mut waited_s) = (0.0, 0.0);
        for i in 0..n {
            arrival_s += rng.exponential() / rate;
            let at = MS(1) + Nanos::from_secs_f64(arrival_s);
            while hand.now < at {
                let next = hand.machine.next_deadline().map_or(at, |due| due.min(at));
                waited_s += hand.machine.stats().queue as f64 * (next - hand.now).as_secs_f64();
                hand.advance(next);
            }
            hand.take_output(usize::MAX);
            hand.send(conns[i % 64], b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        }
        let (measured, expected) = (waited_s / n as f64, erlang_wait_s(6, 0.06, rate));
        assert!((measured / expected - 1.0).abs() < 0.05, "{measured} against {expected}");
        assert_eq!(hand.machine.stats().requests, n as u64);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_do_no_harm(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8)) {
        let mut hand = plain();
        let conn = hand.open();
        for chunk in chunks {
            hand.send(conn, &chunk);
            hand.take_output(1 << 20);
        }
    }

    #[test]
    fn almost_requests_do_no_harm(targets in prop::collection::vec("/(slow|bytes|status|redirect|drip|echo|hang|eof)?[?/]?(ms=|url=)?[0-9a-f%]{0,6}", 1..20), cut in 1usize..50) {
        let mut hand = plain();
        let conn = hand.open();
        let text: String = targets.iter().map(|target| get(target)).collect();
        for piece in text.as_bytes().chunks(cut) {
            hand.send(conn, piece);
            hand.take_output(1 << 20);
            hand.advance(hand.now + MS(10));
        }
    }
}
