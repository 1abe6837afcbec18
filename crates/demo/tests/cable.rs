//! The server's WebSockets driven by hand, in virtual time: echo, Action Cable in each codec, every defect, and its bounds.

use std::alloc::System;
use std::collections::HashMap;

use demo::{Cable, Config, ServerMachine, ServiceTime, SocketStats};
use net::{Key, Output, Peer};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stdx::Nanos;
use wire::cable::{Codec, Command, CommandKind, Kind};
use wire::ws::{Agreed, DeflateOffer, Event, Limits, Offer, Role, WsSession};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const MS: fn(u64) -> Nanos = Nanos::from_millis;
const CHAT: &str = r#"{"channel":"ChatChannel","id":"1"}"#;
const ECHO: &str = r#"{"channel":"EchoChannel"}"#;
const PROTOCOLS: [&str; 3] =
    ["actioncable-v1-json", "actioncable-v1-msgpack", "actioncable-v1-protobuf"];

/// A machine with its clients, and the messages that they received.
struct World {
    machine: ServerMachine,
    now: Nanos,
    clients: HashMap<Key, Client>,
}

/// One WebSocket's client.
struct Client {
    session: WsSession,
    codec: Codec,
    /// The answer's head, until it is whole.
    head: Option<Vec<u8>>,
    offer: Offer,
    agreed: Agreed,
    got: Vec<String>,
    end: Option<Output>,
}

impl World {
    fn new(cable: Option<Cable>) -> Self {
        let config = Config { cable, ..Config::default() };
        let machine = ServerMachine::new(config).expect("valid");
        Self { machine, now: MS(1), clients: HashMap::new() }
    }

    /// Asks for a WebSocket, as the user with the number `key` (7 is Kay).
    fn connect(&mut self, key: Key, target: &str, protocol: &str, deflate: DeflateOffer) {
        let offer = Offer::new([7; 16], vec![protocol.to_owned()], deflate).expect("an offer");
        let mut request =
            format!("GET {target} HTTP/1.1\r\nHost: h\r\nCookie: uid=user{key}/{key}\r\n");
        for (name, value) in offer.fields() {
            request.extend([name, ": ", &value, "\r\n"]);
        }
        request.push_str("\r\n");
        let session = WsSession::new(Role::Client, &Agreed::default(), Limits::default(), 1);
        let codec = Codec::of_subprotocol(protocol)
            .unwrap_or(Codec::of_subprotocol(PROTOCOLS[0]).expect("JSON"));
        let (head, agreed) = (Some(Vec::new()), Agreed::default());
        let client = Client { session, codec, head, offer, agreed, got: Vec::new(), end: None };
        self.clients.insert(key, client);
        self.machine.handle_open(self.now, key);
        self.machine.handle_bytes(self.now, key, request.as_bytes());
        self.settle();
    }

    /// A cable's client, subscribed.
    fn join(&mut self, key: Key, protocol: &str, identifier: &str) {
        self.connect(key, "/cable", protocol, DeflateOffer::None);
        self.command(key, CommandKind::Subscribe, identifier, None);
    }

    fn command(&mut self, key: Key, kind: CommandKind, identifier: &str, data: Option<&str>) {
        let client = self.clients.get_mut(&key).expect("a client");
        let (mut message, mut out) = (Vec::new(), Vec::new());
        client
            .codec
            .encode(&Command { data, ..Command::new(kind, identifier) }, &mut message)
            .expect("a command");
        let sent = match std::str::from_utf8(&message).ok().filter(|_| client.codec.is_text()) {
            Some(text) => client.session.send_text(text, &mut out),
            None => client.session.send_binary(&message, &mut out),
        };
        sent.expect("an open socket");
        self.raw(key, &out);
    }

    fn speak(&mut self, key: Key, message: &str) {
        let data = format!("{{\"action\":\"speak\",\"message\":{message}}}");
        self.command(key, CommandKind::Message, CHAT, Some(&data));
    }

    fn raw(&mut self, key: Key, bytes: &[u8]) {
        self.machine.handle_bytes(self.now, key, bytes);
        self.settle();
    }

    /// Lets time pass, and the machine do what falls due in it.
    fn pass(&mut self, time: Nanos) {
        let end = self.now.saturating_add(time);
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= end) {
            self.now = due;
            self.machine.handle_deadline(due);
            self.settle();
        }
        self.now = end;
    }

    /// Takes what the machine says to its clients, as a network that takes everything.
    fn settle(&mut self) {
        while let Some((key, output)) = self.machine.poll_output() {
            let client = self.clients.get_mut(&key).expect("a client");
            match output {
                Output::Bytes(bytes) => {
                    client.handle_bytes(&bytes);
                    self.machine.handle_drained(self.now, key);
                }
                end => client.end = Some(end),
            }
        }
    }

    fn got(&mut self, key: Key) -> Vec<String> {
        std::mem::take(&mut self.clients.get_mut(&key).expect("a client").got)
    }

    fn counts(&self) -> SocketStats {
        self.machine.stats().sockets
    }
}

impl Client {
    fn handle_bytes(&mut self, bytes: &[u8]) {
        let mut bytes = bytes.to_vec();
        if let Some(mut head) = self.head.take() {
            head.append(&mut bytes);
            let end =
                head.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head") + 4;
            bytes = head.split_off(end);
            let head = String::from_utf8(head).expect("text");
            if !head.starts_with("HTTP/1.1 101 ") {
                return self.got.push(head.lines().next().unwrap_or_default().to_owned());
            }
            let fields = head.lines().filter_map(|line| line.split_once(": "));
            let fields = fields.map(|(name, value)| (name.as_bytes(), value.as_bytes()));
            self.agreed = self.offer.check(101, fields).expect("agreed");
            self.session = WsSession::new(Role::Client, &self.agreed, Limits::default(), 1);
        }
        let (codec, got) = (self.codec, &mut self.got);
        let cable = self.agreed.protocol.as_deref().is_some_and(|name| name == codec.subprotocol());
        let received =
            self.session.handle_bytes(&bytes, &mut Vec::new(), &mut |event| match event {
                Event::Text(text) if cable => got.push(printed(codec, text.as_bytes())),
                Event::Binary(bytes) if cable => got.push(printed(codec, bytes)),
                other => got.push(format!("{other:?}")),
            });
        received.expect("the server keeps to the protocol");
    }
}

/// A message of the server in a few words.
fn printed(codec: Codec, bytes: &[u8]) -> String {
    let incoming = codec.decode(bytes).expect("a message");
    let message = incoming.message.to_json().expect("JSON");
    match incoming.kind {
        Kind::Message => message.expect("a message").into_owned(),
        Kind::Disconnect => {
            format!("Disconnect {} {:?}", incoming.reason.decoded(), incoming.reconnect)
        }
        kind => format!("{kind:?}"),
    }
}

fn chat_message(message: &str, key: Key) -> String {
    format!(
        "{{\"action\":\"newMessage\",\"author\":\"user{key}\",\"author_id\":\"{key}\",\"message\":{message}}}"
    )
}

#[test]
fn messages_are_echoed() {
    for deflate in [DeflateOffer::None, DeflateOffer::Plain, DeflateOffer::NoTakeover] {
        let mut world = World::new(None);
        world.connect(1, "/ws-echo", "chat", deflate);
        let client = world.clients.get_mut(&1).expect("a client");
        assert_eq!(client.agreed.protocol.as_deref(), Some("chat"));
        assert_eq!(client.agreed.deflate.is_some(), deflate != DeflateOffer::None);
        let long = "long ".repeat(100);
        let mut out = Vec::new();
        client.session.send_text(&long, &mut out).expect("open");
        client.session.send_binary(b"\xff", &mut out).expect("open");
        client.session.ping(b"p", &mut out).expect("open");
        client.session.close(Some(1000), "", &mut out);
        for byte in out {
            world.raw(1, &[byte]);
        }
        let expect = [
            format!("Text({long:?})"),
            "Binary([255])".into(),
            "Pong([112])".into(),
            "Close { code: Some(1000), reason: \"\" }".into(),
        ];
        assert_eq!(world.got(1), expect);
        assert_eq!(world.clients[&1].end, Some(Output::Close));
        assert_eq!((world.counts().sockets, world.counts().ws_messages), (0, 2));
    }
}

#[test]
fn other_requests_than_handshakes_and_other_frames_are_refused() {
    let mut world = World::new(None);
    world.connect(1, "/ws-echo?close=4001", "x", DeflateOffer::None);
    assert_eq!(world.got(1), ["Close { code: Some(4001), reason: \"as asked\" }"]);
    world.pass(MS(2000));
    assert_eq!(world.clients[&1].end, Some(Output::Close), "it did not answer");
    world.connect(2, "/cable", PROTOCOLS[0], DeflateOffer::None);
    assert_eq!(
        world.got(2),
        ["Close { code: Some(1008), reason: \"as asked\" }"],
        "there is no cable"
    );
    world.connect(3, "/ws-echo", "x", DeflateOffer::None);
    world.raw(3, b"\x81\x01a");
    assert_eq!(world.got(3), ["Close { code: Some(1002), reason: \"\" }"], "it is not masked");
    assert_eq!(
        (world.clients[&3].end.clone(), world.counts().ws_malformed),
        (Some(Output::Close), 1)
    );
    let mut machine = ServerMachine::new(Config::default()).expect("valid");
    machine.handle_open(MS(1), 1);
    machine.handle_bytes(MS(1), 1, b"GET /ws-echo HTTP/1.1\r\nHost: h\r\n\r\n");
    let Some((1, Output::Bytes(bytes))) = machine.poll_output() else { panic!("no answer") };
    assert!(bytes.starts_with(b"HTTP/1.1 400 "));
}

#[test]
fn the_cable_in_every_codec() {
    let mut world = World::new(Some(Cable::default()));
    for (key, protocol) in (1..).zip(PROTOCOLS) {
        world.join(key, protocol, CHAT);
        world.command(key, CommandKind::Subscribe, ECHO, None);
        world.command(key, CommandKind::Subscribe, ECHO, None);
        world.command(key, CommandKind::Subscribe, r#"{"channel":"NoChannel"}"#, None);
        assert_eq!(world.got(key), ["Welcome", "Confirm", "Confirm", "Reject"], "{protocol}");
    }
    world.speak(2, r#""é\"""#);
    for key in 1..=3 {
        assert_eq!(world.got(key), [chat_message(r#""é\"""#, 2)]);
    }
    let data = r#"{"action":"echo","n":[1,null]}"#;
    world.command(3, CommandKind::Message, ECHO, Some(data));
    assert_eq!((world.got(3), world.got(1)), (vec![data.to_owned()], Vec::new()));
    // A client that unsubscribed or disconnected gets no more messages.
    world.command(1, CommandKind::Unsubscribe, CHAT, None);
    world.machine.handle_close(world.now, 2);
    world.speak(3, "1");
    assert_eq!(
        (world.got(1), world.got(2), world.got(3)),
        (vec![], vec![], vec![chat_message("1", 3)])
    );
    world.pass(MS(3000));
    assert_eq!((world.got(1), world.got(2)), (vec!["Ping".to_owned()], vec![]));
    // What is no command is counted, and nothing else.
    world.command(1, CommandKind::Message, ECHO, Some("no JSON"));
    world.command(1, CommandKind::Message, ECHO, Some(r#"{"action":"shout"}"#));
    let counts = world.counts();
    assert_eq!((counts.cable_malformed, counts.cable_broadcasts, counts.cable_sent), (2, 2, 5));
    assert_eq!((counts.sockets, counts.sockets_total), (2, 3));
}

/// What two subscribers received of 500 messages, and the counts.
fn receive_500(cable: Cable) -> ([Vec<String>; 2], SocketStats) {
    let mut world = World::new(Some(cable));
    for key in [1, 2] {
        world.join(key, PROTOCOLS[0], CHAT);
        world.got(key);
    }
    for n in 0..500 {
        world.speak(1, &n.to_string());
        world.pass(MS(1));
    }
    world.pass(MS(3500));
    let mut received = [world.got(1), world.got(2)];
    for got in &mut received {
        got.retain(|message| message != "Ping");
    }
    (received, world.counts())
}

fn all_500() -> Vec<String> {
    (0..500).map(|n| chat_message(&n.to_string(), 1)).collect()
}

#[test]
fn losses_and_duplicates_are_as_counted() {
    let (received, counts) = receive_500(Cable { loss: 0.1, ..Cable::default() });
    let got: usize = received.iter().map(Vec::len).sum();
    assert_eq!((got as u64, counts.cable_sent), (1000 - counts.cable_lost, got as u64));
    assert!((60..140).contains(&counts.cable_lost), "{counts:?}");
    assert_ne!(received[0], received[1], "each is lost alone");
    let (received, counts) = receive_500(Cable { duplicate: 0.1, ..Cable::default() });
    let got: usize = received.iter().map(Vec::len).sum();
    assert_eq!((got as u64, counts.cable_lost), (1000 + counts.cable_duplicated, 0));
    assert!((60..140).contains(&counts.cable_duplicated), "{counts:?}");
    for mut got in received {
        got.dedup();
        assert_eq!(got, all_500());
    }
}

#[test]
fn the_next_message_overtakes() {
    let (received, counts) = receive_500(Cable { reorder: 0.1, ..Cable::default() });
    let mut swapped = 0;
    for mut got in received {
        swapped += all_500().iter().zip(&got).filter(|(a, b)| a != b).count() as u64;
        got.sort();
        let mut all = all_500();
        all.sort();
        assert_eq!(got, all, "nothing is lost by it");
    }
    assert!(
        (50..150).contains(&counts.cable_reordered) && swapped >= counts.cable_reordered,
        "{swapped} {counts:?}"
    );
}

#[test]
fn delays_keep_the_order() {
    let law = ServiceTime::parse("uniform:10ms,200ms").expect("a law");
    let (received, counts) = receive_500(Cable { delay: law.clone(), ..Cable::default() });
    assert_eq!(
        (received[0].clone(), received[1].clone(), counts.cable_sent),
        (all_500(), all_500(), 1000)
    );
    let mut world = World::new(Some(Cable { delay: law, ..Cable::default() }));
    world.join(1, PROTOCOLS[0], CHAT);
    assert_eq!(world.got(1), ["Welcome", "Confirm"], "no defect acts on those");
    world.speak(1, "1");
    world.pass(MS(9));
    assert_eq!(world.got(1).len(), 0);
    world.pass(MS(192));
    assert_eq!(world.got(1).len(), 1);
}

#[test]
fn subscriptions_are_rejected_and_left_unanswered() {
    let answers = |cable: Cable| {
        let mut world = World::new(Some(cable));
        for key in 1..=200 {
            world.join(key, PROTOCOLS[0], CHAT);
        }
        world.speak(1, "1");
        let all: Vec<String> = (1..=200).flat_map(|key| world.got(key)).collect();
        let count = |word: &str| all.iter().filter(|one| *one == word).count() as u64;
        assert_eq!(count("Welcome"), 200);
        (count("Confirm"), count("Reject"), world.counts())
    };
    let (confirmed, rejected, counts) = answers(Cable { reject: 0.3, ..Cable::default() });
    assert_eq!((confirmed + rejected, counts.cable_rejected), (200, rejected));
    assert!((30..90).contains(&rejected), "{counts:?}");
    let (confirmed, rejected, counts) = answers(Cable { no_confirm: 0.3, ..Cable::default() });
    assert_eq!((rejected, counts.cable_unconfirmed), (0, 200 - confirmed));
    assert!((110..170).contains(&confirmed), "{counts:?}");
}

#[test]
fn clients_are_asked_to_reconnect() {
    let cable = Cable { disconnect_after: Some(MS(500)), ..Cable::default() };
    let mut world = World::new(Some(cable));
    for (key, protocol) in (1..).zip(PROTOCOLS) {
        world.join(key, protocol, CHAT);
    }
    world.pass(MS(499));
    assert_eq!(world.counts().cable_disconnected, 0);
    world.pass(MS(1));
    for key in 1..=3 {
        let expect = [
            "Welcome",
            "Confirm",
            "Disconnect server_restart Some(true)",
            "Close { code: Some(1000), reason: \"\" }",
        ];
        assert_eq!(world.got(key), expect);
    }
    // One answers the close, the others leave it.
    world.raw(1, b"\x88\x82\0\0\0\0\x03\xe8");
    assert!(world.clients[&1].end == Some(Output::Close) && world.clients[&2].end.is_none());
    world.pass(MS(2000));
    assert_eq!((world.clients[&2].end.clone(), world.counts().sockets), (Some(Output::Close), 0));
}

#[test]
fn who_does_not_read_is_dropped() {
    let mut world = World::new(Some(Cable::default()));
    world.join(1, PROTOCOLS[0], CHAT);
    world.join(2, PROTOCOLS[0], CHAT);
    let message = format!("\"{}\"", "x".repeat(10_000));
    let (mut out, mut sent_bytes) = (Vec::new(), Vec::new());
    let speak = Command::with_data(CommandKind::Message, CHAT, "");
    let data = format!("{{\"action\":\"speak\",\"message\":{message}}}");
    let mut command = Vec::new();
    let client = world.clients.get_mut(&1).expect("a client");
    client.codec.encode(&Command { data: Some(&data), ..speak }, &mut command).expect("a command");
    client.session.send_text(std::str::from_utf8(&command).expect("JSON"), &mut out).expect("open");
    // The network takes what is for the first, and nothing of what is for the second.
    for _ in 0..30 {
        world.machine.handle_bytes(world.now, 1, &out);
        while let Some((key, output)) = world.machine.poll_output() {
            match (key, output) {
                (1, _) => world.machine.handle_drained(world.now, 1),
                (_, Output::Bytes(bytes)) => sent_bytes.push(bytes.len()),
                (key, end) => assert_eq!((key, end), (2, Output::Reset)),
            }
        }
    }
    assert_eq!((world.counts().sockets_dropped, world.counts().sockets), (1, 1));
    assert!(sent_bytes.iter().sum::<usize>() <= 300_000, "{sent_bytes:?}");
}

#[test]
fn fifteen_thousand_cost_little_and_all_receive() {
    const CLIENTS: Key = 15_000;
    let mut machine =
        ServerMachine::new(Config { cable: Some(Cable::default()), ..Config::default() })
            .expect("valid");
    let offer =
        Offer::new([7; 16], vec![PROTOCOLS[0].into()], DeflateOffer::None).expect("an offer");
    let mut bytes = b"GET /cable HTTP/1.1\r\nHost: h\r\nCookie: uid=Kay/7\r\n".to_vec();
    for (name, value) in offer.fields() {
        bytes.extend([name, ": ", &value, "\r\n"].concat().bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    let mut session = WsSession::new(Role::Client, &Agreed::default(), Limits::default(), 1);
    let mut message = Vec::new();
    let json = Codec::of_subprotocol(PROTOCOLS[0]).expect("JSON");
    json.encode(&Command::new(CommandKind::Subscribe, CHAT), &mut message).expect("a command");
    session.send_text(std::str::from_utf8(&message).expect("JSON"), &mut bytes).expect("open");
    let region = Region::new(ALLOCATOR);
    let drain = |machine: &mut ServerMachine| {
        let mut sent = 0;
        while let Some((key, output)) = machine.poll_output() {
            assert!(matches!(output, Output::Bytes(_)));
            machine.handle_drained(MS(1), key);
            sent += 1;
        }
        sent
    };
    for key in 0..CLIENTS {
        machine.handle_open(MS(1), key);
        machine.handle_bytes(MS(1), key, &bytes);
        assert_eq!(drain(&mut machine), 1);
    }
    let change = region.change();
    let each =
        (change.bytes_allocated as i64 - change.bytes_deallocated as i64) / i64::from(CLIENTS);
    eprintln!("{each} bytes a client");
    assert!(each < 2048, "{each} bytes a client");
    let mut speak = Vec::new();
    message.clear();
    let data = r#"{"action":"speak","message":"hi"}"#;
    json.encode(&Command::with_data(CommandKind::Message, CHAT, data), &mut message)
        .expect("a command");
    session.send_text(std::str::from_utf8(&message).expect("JSON"), &mut speak).expect("open");
    machine.handle_bytes(MS(1), 7, &speak);
    assert_eq!(drain(&mut machine), CLIENTS);
    assert_eq!(machine.stats().sockets.cable_sent, u64::from(CLIENTS));
}

/// A client that reads everything is not dropped for the size of one message.
#[test]
fn a_message_too_large_is_refused_and_drops_nobody() {
    let mut world = World::new(Some(Cable::default()));
    world.join(1, PROTOCOLS[0], CHAT);
    world.join(2, PROTOCOLS[0], CHAT);
    world.speak(1, &format!("\"{}\"", "x".repeat(300 << 10)));
    let counts = world.counts();
    assert_eq!((counts.cable_malformed, counts.cable_sent, counts.sockets_dropped), (1, 0, 0));
    world.speak(1, &format!("\"{}\"", "x".repeat(100 << 10)));
    let counts = world.counts();
    assert_eq!((counts.cable_malformed, counts.cable_sent, counts.sockets_dropped), (1, 2, 0));
}

#[test]
fn what_comes_after_a_disconnect_is_not_counted_as_sent() {
    let cable = Cable { disconnect_after: Some(MS(100)), ..Cable::default() };
    let mut world = World::new(Some(cable));
    world.join(1, PROTOCOLS[0], CHAT);
    world.pass(MS(50));
    world.join(2, PROTOCOLS[0], CHAT);
    world.pass(MS(60));
    world.speak(2, "1");
    assert_eq!(world.counts().cable_sent, 1, "the first has its close by now");
}

/// Pings are bounded as messages are.
#[test]
fn who_does_not_read_its_pings_is_dropped() {
    let mut world = World::new(Some(Cable { ping: MS(1), ..Cable::default() }));
    world.join(1, PROTOCOLS[0], CHAT);
    // The network takes nothing of what is for it.
    let mut sent_bytes = 0;
    while world.counts().sockets == 1 && sent_bytes < 10 << 20 {
        world.now += MS(1);
        world.machine.handle_deadline(world.now);
        while let Some((_, output)) = world.machine.poll_output() {
            sent_bytes += if let Output::Bytes(bytes) = output { bytes.len() } else { 0 };
        }
    }
    assert_eq!(world.counts().sockets_dropped, 1);
    assert!((200_000..300_000).contains(&sent_bytes), "{sent_bytes}");
}

/// RFC 9110, 7.8.
#[test]
fn http_1_0_opens_no_socket() {
    let mut world = World::new(None);
    let head = "Host: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    for (key, version, sockets) in [(1, "1.0", 0), (2, "1.1", 1)] {
        world.machine.handle_open(world.now, key);
        let request = format!("GET /ws-echo HTTP/{version}\r\n{head}");
        world.machine.handle_bytes(world.now, key, request.as_bytes());
        assert_eq!(world.counts().sockets, sockets, "{version}");
    }
}
