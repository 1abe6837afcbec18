//! The session against frames written by hand. RFC 9113, 4.1 and 6.

use std::sync::Arc;

use super::*;
use crate::h1::request::{HeadStyle, RequestSpec, TargetForm};
use crate::url::Url;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

fn request(style: HeadStyle, headers: &[(&str, &str)], body: &[u8]) -> H2Request {
    changed(style, headers, body, |_| {})
}

fn changed(
    style: HeadStyle,
    headers: &[(&str, &str)],
    body: &[u8],
    change: fn(&mut RequestSpec<'_>),
) -> H2Request {
    asked("http://u:p@h:81/p?q", style, headers, body, change)
}

fn asked(
    url: &str,
    style: HeadStyle,
    headers: &[(&str, &str)],
    body: &[u8],
    change: fn(&mut RequestSpec<'_>),
) -> H2Request {
    let url = Url::parse(url).expect("a URL");
    let headers: Vec<_> = headers.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let mut spec = RequestSpec {
        method: if body.is_empty() { "GET" } else { "POST" },
        url: &url,
        headers: &headers,
        body: Arc::from(body),
        style,
        keepalive: true,
        chunked: false,
        attack_name: "big",
        target_form: TargetForm::Origin,
        proxy_authorization: None,
        user_agent: "brunt/1",
    };
    change(&mut spec);
    H2Request::new(&spec).expect("a request")
}

/// A session whose server has said its settings.
fn session(max_streams: u32) -> H2Session {
    let mut session = H2Session::client();
    let setting = [&3u16.to_be_bytes()[..], &max_streams.to_be_bytes()[..]].concat();
    session.handle_bytes(&frame(SETTINGS, 0, 0, &setting)).expect("room");
    assert!(session.poll_event().is_none());
    session
}

/// All that happens, in words.
fn event_texts(session: &mut H2Session) -> Vec<String> {
    std::iter::from_fn(|| session.poll_event())
        .map(|(stream, event)| match event {
            StreamEvent::Head { status, .. } => format!("{stream}: {}", status.as_u16()),
            StreamEvent::Data(data) => format!("{stream}: {}", String::from_utf8_lossy(&data)),
            StreamEvent::End { trailers: None } => format!("{stream}: end"),
            StreamEvent::End { trailers: Some(fields) } => format!("{stream}: end {fields:?}"),
            StreamEvent::Failed(error) => format!("{stream}: {error}"),
        })
        .collect()
}

#[test]
fn streams_are_answered_in_any_order() {
    let mut session = session(2);
    let get = request(HeadStyle::Native, &[], b"");
    let first = session.open(&get, 0).expect("room");
    let second = session.open(&get, 1).expect("room");
    assert!(!session.can_open() && !session.is_closing(), "the server allows two");
    let mut out = Vec::new();
    assert!(session.poll_event().is_none());
    assert!(session.poll_transmit(&mut out));
    assert!(out.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    let answer = [
        frame(HEADERS, END_HEADERS, 3, &[0x88]),
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x8d]),
        frame(DATA, END_STREAM, 3, b"body"),
    ]
    .concat();
    // Byte by byte, so that every place of a cut is tried.
    let mut happened = Vec::new();
    for byte in answer {
        session.handle_bytes(&[byte]).expect("room");
        happened.extend(event_texts(&mut session));
    }
    let expect = [
        format!("{second}: 200"),
        format!("{first}: 404"),
        format!("{first}: end"),
        format!("{second}: body"),
        format!("{second}: end"),
    ];
    assert_eq!(happened, expect);
    assert!(session.can_open() && session.streams_open() == 0);
}

#[test]
fn streams_that_the_server_ends_are_distinguished() {
    let reset = frame(RST_STREAM, 0, 1, &2u32.to_be_bytes());
    let refused = frame(GOAWAY, 0, 0, &[0u32.to_be_bytes(), 0u32.to_be_bytes()].concat());
    let processed = [
        frame(GOAWAY, 0, 0, &[1u32.to_be_bytes(), 0u32.to_be_bytes()].concat()),
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x88]),
    ]
    .concat();
    let cases = [
        (reset, vec!["0: stream error: INTERNAL_ERROR; received from peer"]),
        (refused, vec!["0: server sent GOAWAY and closed the connection; ErrCode=NO_ERROR"]),
        (processed, vec!["0: 200", "0: end"]),
        (frame(DATA, 0, 0, b"x"), vec!["0: PROTOCOL_ERROR"]),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec!["0: FRAME_SIZE_ERROR"]),
    ];
    for (bytes, expect) in cases {
        let mut session = session(100);
        session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
        assert!(session.poll_event().is_none());
        session.handle_bytes(&bytes).expect("room");
        assert_eq!(event_texts(&mut session), expect);
    }
}

mod regression {
    use super::*;

    /// Interim heads had no bound, as those of HTTP/1 have.
    #[test]
    fn issue_19_interim_heads_without_end() {
        let interim = frame(HEADERS, END_HEADERS, 1, b"\x08\x03103");
        let end = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x88]);
        let cases = [
            (16, vec!["0: 200", "0: end"]),
            (17, vec!["0: too many 1xx informational responses"]),
            (4_000, vec!["0: too many 1xx informational responses"]),
        ];
        for (count, expect) in cases {
            // All at once, and one after the other.
            for pieces in [1, count] {
                let mut session = session(100);
                session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
                let mut found = event_texts(&mut session);
                for _ in 0..pieces {
                    let piece = interim.repeat(count / pieces);
                    session.handle_bytes(&piece).expect("room");
                    found.extend(event_texts(&mut session));
                }
                session.handle_bytes(&end).expect("room");
                found.extend(event_texts(&mut session));
                assert_eq!(found, expect, "{count} in {pieces}");
                assert!(session.can_open() && session.streams_open() == 0, "it can be used again");
            }
        }
    }
}

#[test]
fn a_goaway_ends_what_can_be_opened() {
    let mut session = session(100);
    session
        .handle_bytes(&frame(GOAWAY, 0, 0, &[0u32.to_be_bytes(), 0u32.to_be_bytes()].concat()))
        .expect("room");
    assert!(event_texts(&mut session).is_empty());
    assert!(session.is_closing() && !session.can_open());
}

#[test]
fn an_end_of_the_connection_fails_its_streams() {
    let mut session = session(100);
    session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
    session.handle_eof();
    assert_eq!(event_texts(&mut session), ["0: connection closed"]);
    assert!(session.is_closing());
}

#[test]
fn a_server_that_never_reads_costs_bounded_memory() {
    let mut session = session(100);
    session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
    let pings = frame(PING, 0, 0, &[0; 8]).repeat(1000);
    // What is sent is never taken: the pipe fills with answers, and then what came stays unread.
    let taken = (0..1000).take_while(|_| {
        let room = session.handle_bytes(&pings);
        assert!(event_texts(&mut session).is_empty());
        room.is_ok()
    });
    let taken = taken.count() * pings.len();
    assert!((1 << 20..4 << 20).contains(&taken), "{taken} bytes were taken");
    assert_eq!(session.handle_bytes(&pings), Err(H2Error::Flood));
}

#[test]
fn bytes_are_those_of_the_stream_with_their_framing() {
    let mut session = session(100);
    assert_eq!(session.streams_max_stated(), Some(100));
    let get = request(HeadStyle::Native, &[], b"");
    let [first, second] = [0, 1].map(|hit| session.open(&get, hit).expect("room"));
    assert!(event_texts(&mut session).is_empty());
    let answer = [
        frame(HEADERS, 0, 1, &[]),
        frame(CONTINUATION, END_HEADERS, 1, &[0x88]),
        frame(HEADERS, END_HEADERS, 3, &[0x88]),
        frame(PING, 0, 0, &[0; 8]),
        frame(DATA, END_STREAM, 3, b"body"),
        frame(DATA, 0, 1, b"bo"),
        frame(WINDOW_UPDATE, 0, 1, &1u32.to_be_bytes()),
        frame(DATA, END_STREAM, 1, b""),
    ]
    .concat();
    for step in [1, 7, answer.len()] {
        let mut other = H2Session::client();
        assert_eq!(other.streams_max_stated(), None);
        other.handle_bytes(&frame(SETTINGS, 0, 0, &[])).expect("room");
        let [first, second] = [0, 1].map(|hit| other.open(&get, hit).expect("room"));
        let mut seen = [0, 0];
        for piece in answer.chunks(step) {
            other.handle_bytes(piece).expect("room");
            event_texts(&mut other);
            seen[0] += other.take_wire_bytes(first);
            seen[1] += other.take_wire_bytes(second);
        }
        assert_eq!(seen, [9 + 10 + 11 + 9, 10 + 13], "in pieces of {step}");
    }
    session.handle_bytes(&answer[..19]).expect("room");
    session.cancel(first);
    session.handle_bytes(&answer[19..]).expect("room");
    assert_eq!([first, second].map(|stream| session.take_wire_bytes(stream)), [19, 23]);
}

/// Hits time out by the thousand, and the server answers them all.
#[test]
fn late_answers_harm_nobody() {
    let mut session = session(100);
    let get = request(HeadStyle::Native, &[], b"");
    let mut out = Vec::new();
    for hit in 0..2000 {
        let stream = session.open(&get, hit).expect("room");
        assert!(event_texts(&mut session).is_empty());
        session.cancel(stream);
        assert!(event_texts(&mut session).is_empty());
        session.poll_transmit(&mut out);
    }
    for stream in 0..2000 {
        let late = frame(HEADERS, END_HEADERS | END_STREAM, 2 * stream + 1, &[0x88]);
        session.handle_bytes(&late).expect("room");
        assert!(event_texts(&mut session).is_empty());
        session.poll_transmit(&mut out);
    }
    assert!(session.can_open(), "the connection goes on");
}

#[test]
fn a_cancelled_stream_is_reset_and_silent() {
    let mut session = session(100);
    let stream = session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
    assert!(session.poll_event().is_none());
    let mut out = Vec::new();
    session.poll_transmit(&mut out);
    out.clear();
    session.cancel(stream);
    assert!(event_texts(&mut session).is_empty());
    assert!(session.poll_transmit(&mut out));
    assert_eq!(out, frame(RST_STREAM, 0, 1, &8u32.to_be_bytes()));
}

#[test]
fn fields_are_those_of_the_style() {
    let headers = [("Host", "other"), ("Connection", "close"), ("X-A", " 1 "), ("X-A", "2")];
    let show = |style| {
        let head = request(style, &headers, b"body").head(7);
        let fields: Vec<String> = head
            .headers()
            .iter()
            .map(|(n, v)| format!("{n}: {}", String::from_utf8_lossy(v.as_bytes())))
            .collect();
        format!("{} {} | {}", head.method(), head.uri(), fields.join(", "))
    };
    assert_eq!(
        show(HeadStyle::Native),
        "POST http://other/p?q | x-a: 1, x-a: 2, user-agent: brunt/1, accept-encoding: gzip, \
         authorization: Basic dTpw, content-length: 4"
    );
    assert_eq!(
        show(HeadStyle::Go),
        "POST http://other/p?q | x-a: 1, x-a: 2, user-agent: Go-http-client/2.0, \
         accept-encoding: gzip, x-vegeta-attack: big, authorization: Basic dTpw, \
         content-length: 4, x-vegeta-seq: 7"
    );
}

#[test]
fn fields_of_the_target_go_as_far_as_http2_lets_them() {
    let headers = [("TE", "trailers"), ("te", "gzip"), ("X-Vegeta-Attack", "mine")];
    let chunked = |spec: &mut RequestSpec<'_>| spec.chunked = true;
    let head = changed(HeadStyle::Go, &headers, b"body", chunked).head(7);
    let all = |name: &str| head.headers().get_all(name).iter().collect::<Vec<_>>();
    assert_eq!(all("te"), ["trailers"]);
    assert_eq!(all("x-vegeta-attack"), ["big"], "the attack's name wins, as in HTTP/1.1");
    assert!(all("content-length").is_empty(), "chunks have no length");
    let nameless = |spec: &mut RequestSpec<'_>| spec.attack_name = "";
    let head = changed(HeadStyle::Go, &headers, b"", nameless).head(7);
    assert_eq!(head.headers()["x-vegeta-attack"], "mine");
}

#[test]
fn targets_that_http1_can_send_are_sent() {
    let cases = [
        ("http://h/p?q=a%20b", "http://h/p?q=a%20b"),
        ("http://h/{p}?q=\"a\"&r=<b>|c", "http://h/%7Bp%7D?q=%22a%22&r=%3Cb%3E%7Cc"),
    ];
    for (url, expect) in cases {
        let request = asked(url, HeadStyle::Native, &[], b"", |_| {});
        assert_eq!(request.head(0).uri(), expect);
    }
}

/// Issue 43: trailers arrive, in pieces too; pseudo fields among them do not.
#[test]
fn trailers_end_a_stream() {
    let mut session = session(2);
    session.open(&request(HeadStyle::Native, &[], b""), 0).expect("room");
    assert!(session.poll_event().is_none());
    // Literal fields without indexing. RFC 7541, 6.2.2.
    let field = |name: &str, value: &str| {
        let mut out = vec![0, name.len() as u8];
        out.extend(name.as_bytes());
        out.push(value.len() as u8);
        out.extend(value.as_bytes());
        out
    };
    let trailers = field("grpc-status", "14");
    let answer = [
        frame(HEADERS, END_HEADERS, 1, &[0x88]),
        frame(DATA, 0, 1, b"body"),
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &trailers),
    ]
    .concat();
    let mut happened = Vec::new();
    for byte in answer {
        session.handle_bytes(&[byte]).expect("room");
        happened.extend(event_texts(&mut session));
    }
    assert_eq!(happened, ["0: 200", "0: body", "0: end {\"grpc-status\": \"14\"}"]);
    assert_eq!(session.streams_open(), 0);
}
