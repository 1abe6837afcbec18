//! `serve` and `demo`.

use std::io::{Read, Write};
use std::net::TcpStream;

use wire::cable::{Codec, Command, CommandKind, Dialect, Format, Kind};
use wire::ws::{DeflateOffer, Event, Limits, Offer, Role, WsSession};

use crate::{LIMIT, Scratch, brunt, first_line, pipe, signal, start, text};

#[test]
fn serve_says_where_and_counts_what() {
    let scratch = Scratch::new("serve");
    let socket = text(&scratch.path("socket"));
    let args = format!(
        "serve --listen 127.0.0.1:0 --listen unix:{socket} --workers 2 --service fixed:5ms --body 1KB"
    );
    let mut server = start(brunt(&args));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line
        .strip_prefix("listening on ")
        .and_then(|rest| rest.split(' ').next())
        .unwrap()
        .to_owned();
    assert!(line.ends_with(&format!(" unix:{socket}")), "{line}");
    let (_, ran) =
        pipe("attack -rate=20 -duration=500ms", &format!("GET {url}/\n"), "report -type=json");
    let json = ran.json();
    assert_eq!((&json["requests"], &json["bytes_in"]["total"]), (&10.into(), &(10 * 1024).into()));
    assert!(json["latencies"]["min"].as_u64().unwrap() >= 5_000_000, "{json}");
    signal("TERM", server.pid());
    let ran = server.wait().with_code(0);
    assert!(ran.stderr.contains("\"requests\":10"), "{}", ran.stderr);
}

#[test]
fn serve_speaks_tls() {
    let mut server = start(brunt("serve --listen=127.0.0.1:0 --tls"));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let url = line.strip_prefix("listening on ").unwrap();
    assert!(url.starts_with("https://"), "{url}");
    let (_, ran) = pipe(
        "attack -insecure -rate=20 -duration=500ms",
        &format!("GET {url}/\n"),
        "report -type=json",
    );
    assert_eq!(ran.json()["status_codes"]["200"], 10);
    signal("INT", server.pid());
    server.wait().with_code(0);
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = start(brunt(&format!("serve --listen {address}"))).wait().with_code(1);
    ran.complains_once(&[&address, "address already in use"]);
    let ran = start(brunt("serve --listen nonsense")).wait().with_code(2);
    ran.complains_once(&["-listen", "nonsense", "expected ADDR:PORT"]);
}

#[test]
fn the_demo_shows_saturation() {
    let scratch = Scratch::new("demo");
    let mut command = brunt("demo");
    command.current_dir(&scratch.0);
    let ran = start(command).wait().with_code(0);
    let requests: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with("Requests")).collect();
    assert_eq!(requests.len(), 2, "{}", ran.stdout);
    assert!(requests[0].contains("560, ") && requests[1].contains("1040, "), "{requests:?}");
    assert!(ran.stdout.contains("Below saturation") && ran.stdout.contains("Above saturation"));
    let page = scratch.path("brunt-demo.html");
    assert!(ran.stdout.contains("brunt-demo.html") && page.exists());
    assert!(ran.stdout.contains("brunt help attack"), "what to try next");
    assert_eq!(ran.stderr, "", "no live progress where it is no terminal");
}

#[test]
fn serve_speaks_action_cable() {
    let mut server = start(brunt("serve --listen=127.0.0.1:0 --cable --cable-loss 1"));
    let line = first_line(server.child().stdout.as_mut().unwrap());
    let port = line.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap();
    let mut client = CableClient::connect(port);
    let identifier = r#"{"channel":"ChatChannel","id":"1"}"#;
    client.send(&Command::new(CommandKind::Subscribe, identifier));
    let data = r#"{"action":"speak","message":"hi"}"#;
    client.send(&Command::with_data(CommandKind::Message, identifier, data));
    client.until(&[Kind::Welcome, Kind::Confirm]);
    // The broadcast was lost, as asked: a ping is the next that comes.
    client.until(&[Kind::Ping]);
    signal("TERM", server.pid());
    let ran = server.wait().with_code(0);
    for count in ["\"cable_broadcasts\":1", "\"cable_lost\":1", "\"cable_sent\":0"] {
        assert!(ran.stderr.contains(count), "{}", ran.stderr);
    }
    let ran = start(brunt("serve --cable-loss 1%")).wait().with_code(2);
    assert!(ran.stderr.contains("need -cable"), "{}", ran.stderr);
}

/// A client of the cable over a socket.
struct CableClient {
    stream: TcpStream,
    session: WsSession,
    codec: Codec,
}

impl CableClient {
    fn connect(port: u16) -> Self {
        let codec = Codec { format: Format::Json, dialect: Dialect::Base };
        let offer =
            Offer::new([3; 16], vec![codec.subprotocol().to_owned()], DeflateOffer::None).unwrap();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let fields: String =
            offer.fields().iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write!(stream, "GET /cable HTTP/1.1\r\nHost: h\r\nCookie: uid=Kay/7\r\n{fields}\r\n")
            .unwrap();
        let (mut head, mut byte) = (String::new(), [0]);
        while !head.ends_with("\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0].into());
        }
        let fields = head.lines().filter_map(|line| line.split_once(": "));
        let agreed = offer
            .check(101, fields.map(|(name, value)| (name.as_bytes(), value.as_bytes())))
            .unwrap();
        Self { stream, session: WsSession::new(Role::Client, &agreed, Limits::default(), 1), codec }
    }

    fn send(&mut self, command: &Command<'_>) {
        let (mut message, mut out) = (Vec::new(), Vec::new());
        self.codec.encode(command, &mut message).unwrap();
        self.session.send_text(std::str::from_utf8(&message).unwrap(), &mut out).unwrap();
        self.stream.write_all(&out).unwrap();
    }

    /// Reads until so many messages came, which are of these kinds.
    fn until(&mut self, kinds: &[Kind]) {
        let (mut got, mut bytes) = (Vec::new(), [0; 4096]);
        while got.len() < kinds.len() {
            let len = self.stream.read(&mut bytes).unwrap();
            let codec = self.codec;
            let heard = self.session.handle_bytes(&bytes[..len], &mut Vec::new(), &mut |event| {
                let Event::Text(text) = event else { panic!("{event:?}") };
                got.push(codec.decode(text.as_bytes()).unwrap().kind);
            });
            assert!(len > 0 && heard.is_ok(), "{heard:?}");
        }
        assert_eq!(got, kinds);
    }
}
