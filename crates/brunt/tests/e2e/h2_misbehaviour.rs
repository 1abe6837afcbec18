//! A server of HTTP/2 that breaks the protocol, or stays within it to do harm: in the spirit of h2spec, the other way round. Each case
//! ends in time, with every request counted by its kind of failure, and with little memory. RFC 9113.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::start;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const PRIORITY_FLAG: u8 = 0x20;
/// `:status: 200` of the static table. RFC 7541, A.
const OK: u8 = 0x88;

/// Requests of each case, and the streams and connections they share.
const HITS: u64 = 6;
/// No case takes longer: the timeout of a request, some connections, and a slow machine.
const TIME_MAX: Duration = Duration::from_secs(30);
/// The memory that brunt may reserve, in KiB.
const MEMORY_KIB: u64 = 2 << 20;

/// When a case speaks.
#[derive(Clone, Copy)]
enum Moment {
    /// Instead of the server's settings, as the first thing on a connection.
    First,
    /// In answer to each request, with the number of its stream.
    Answer,
}

/// What becomes of the connection after an answer.
#[derive(Clone, Copy, PartialEq)]
enum After {
    /// It stays open.
    Open,
    /// The server's side is closed.
    Close,
    /// The bytes are sent again and again, until the client has gone.
    Again,
}

/// One way to misbehave, and the kinds of failure that its requests may have; `success` among them where an answer is one.
struct Case {
    name: &'static str,
    moment: Moment,
    bytes: fn(u32) -> Vec<u8>,
    after: After,
    kinds: &'static [&'static str],
}

/// A frame. RFC 9113, 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// The header of a frame alone, which says that so many bytes follow.
fn header(kind: u8, flags: u8, stream: u32, len: u32) -> Vec<u8> {
    let mut out = len.to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out
}

fn setting(number: u16, value: u32) -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[&number.to_be_bytes()[..], &value.to_be_bytes()[..]].concat())
}

/// A field without an index. RFC 7541, 6.2.2.
fn field(name: &str, value: &str) -> Vec<u8> {
    let mut out = vec![0];
    for text in [name, value] {
        out.push(text.len() as u8);
        out.extend(text.as_bytes());
    }
    out
}

/// The head of an answer, which its stream goes on after.
fn head(stream: u32, fields: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &[&[OK][..], fields].concat())
}

fn two_numbers(first: u32, second: u32) -> Vec<u8> {
    [first.to_be_bytes(), second.to_be_bytes()].concat()
}

/// A header list that a small block becomes: one field of 4,000 bytes enters the table, and is referred to again and again.
fn bomb(stream: u32) -> Vec<u8> {
    // RFC 7541, 6.2.1 and 5.1: with an index, a name of one letter, a value of 127 + 3,873 bytes.
    let mut block = vec![OK, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e];
    block.extend(vec![b'x'; 4000]);
    block.extend(vec![0x80 | 62; 12_000]);
    let (first, rest) = block.split_at(16_000);
    let continued = frame(CONTINUATION, END_HEADERS, stream, rest);
    [frame(HEADERS, 0, stream, first), continued].concat()
}

const ANY: &[&str] = &["malformed", "eof", "reset", "stream reset", "goaway", "too large"];

/// Of the connection as a whole.
const CONNECTIONS: [Case; 8] = [
    Case {
        name: "HTTP/1.1 instead of settings",
        moment: Moment::First,
        bytes: |_| b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec(),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "another frame instead of settings",
        moment: Moment::First,
        bytes: |_| frame(PING, 0, 0, &[0; 8]),
        after: After::Close,
        kinds: ANY,
    },
    Case {
        name: "settings of five bytes",
        moment: Moment::First,
        bytes: |_| frame(SETTINGS, 0, 0, &[0; 5]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "settings on a stream",
        moment: Moment::First,
        bytes: |_| frame(SETTINGS, 0, 1, &[]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "an initial window beyond 2^31 - 1",
        moment: Moment::First,
        bytes: |_| setting(4, u32::MAX),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a largest frame of one byte",
        moment: Moment::First,
        bytes: |_| setting(5, 1),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "no stream allowed",
        moment: Moment::First,
        bytes: |_| setting(3, 0),
        after: After::Open,
        kinds: &["timeout"],
    },
    Case {
        name: "silence from the beginning",
        moment: Moment::First,
        bytes: |_| Vec::new(),
        after: After::Close,
        kinds: ANY,
    },
];

/// Of frames and their streams.
const STREAMS: [Case; 13] = [
    Case {
        name: "data on stream 0",
        moment: Moment::Answer,
        bytes: |_| frame(DATA, 0, 0, b"x"),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a head on stream 0",
        moment: Moment::Answer,
        bytes: |_| frame(HEADERS, END_HEADERS, 0, &[OK]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a head on a stream that was not opened",
        moment: Moment::Answer,
        bytes: |stream| frame(HEADERS, END_HEADERS, stream + 1000, &[OK]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "data before the head",
        moment: Moment::Answer,
        bytes: |stream| frame(DATA, END_STREAM, stream, b"x"),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a head that is its stream's dependency",
        moment: Moment::Answer,
        bytes: |stream| {
            let priority = [&stream.to_be_bytes()[..], &[16, OK][..]].concat();
            let flags = END_HEADERS | END_STREAM | PRIORITY_FLAG;
            frame(HEADERS, flags, stream, &priority)
        },
        after: After::Open,
        kinds: &["malformed", "stream reset", "success"],
    },
    Case {
        name: "a priority that is its stream's dependency",
        moment: Moment::Answer,
        bytes: |stream| {
            let priority = [&stream.to_be_bytes()[..], &[16][..]].concat();
            let answer = frame(HEADERS, END_HEADERS | END_STREAM, stream, &[OK]);
            [frame(PRIORITY, 0, stream, &priority), answer].concat()
        },
        after: After::Open,
        kinds: &["malformed", "stream reset", "success"],
    },
    Case {
        name: "a push promise",
        moment: Moment::Answer,
        bytes: |stream| {
            let promise = [&2u32.to_be_bytes()[..], &[OK][..]].concat();
            frame(PUSH_PROMISE, END_HEADERS, stream, &promise)
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a frame larger than allowed",
        moment: Moment::Answer,
        bytes: |stream| [head(stream, &[]), header(DATA, 0, stream, 0xff_ffff)].concat(),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a continuation without a head",
        moment: Moment::Answer,
        bytes: |stream| frame(CONTINUATION, END_HEADERS, stream, &[OK]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a head that is interrupted",
        moment: Moment::Answer,
        bytes: |stream| [frame(HEADERS, 0, stream, &[OK]), frame(PING, 0, 0, &[0; 8])].concat(),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "padding longer than its frame",
        moment: Moment::Answer,
        bytes: |stream| [head(stream, &[]), frame(DATA, 8, stream, &[200, 0, 0])].concat(),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a reset of stream 0",
        moment: Moment::Answer,
        bytes: |_| frame(RST_STREAM, 0, 0, &8u32.to_be_bytes()),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a reset of three bytes",
        moment: Moment::Answer,
        bytes: |stream| frame(RST_STREAM, 0, stream, &[0; 3]),
        after: After::Open,
        kinds: ANY,
    },
];

/// Of windows, endings and what an answer says of itself.
const ANSWERS: [Case; 13] = [
    Case {
        name: "a window update of zero",
        moment: Moment::Answer,
        bytes: |_| frame(WINDOW_UPDATE, 0, 0, &[0; 4]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a window beyond 2^31 - 1",
        moment: Moment::Answer,
        bytes: |_| frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffffu32.to_be_bytes()).repeat(2),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        // A window that no request needs any more may be passed over.
        name: "a stream's window beyond 2^31 - 1",
        moment: Moment::Answer,
        bytes: |stream| frame(WINDOW_UPDATE, 0, stream, &0x7fff_ffffu32.to_be_bytes()).repeat(2),
        after: After::Open,
        kinds: &["malformed", "stream reset", "timeout"],
    },
    Case {
        name: "a goaway that takes the streams along",
        moment: Moment::Answer,
        bytes: |_| frame(GOAWAY, 0, 0, &two_numbers(0, 2)),
        after: After::Close,
        kinds: &["goaway", "eof"],
    },
    Case {
        name: "a goaway of a stream beyond all, and silence",
        moment: Moment::Answer,
        bytes: |_| frame(GOAWAY, 0, 0, &two_numbers(0x7fff_ffff, 0)),
        after: After::Open,
        kinds: &["timeout"],
    },
    Case {
        name: "a goaway of four bytes",
        moment: Moment::Answer,
        bytes: |_| frame(GOAWAY, 0, 0, &[0; 4]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "trailers with a pseudo-header",
        moment: Moment::Answer,
        bytes: |stream| {
            let trailers = frame(HEADERS, END_HEADERS | END_STREAM, stream, &[OK]);
            [head(stream, &[]), frame(DATA, 0, stream, b"x"), trailers].concat()
        },
        after: After::Open,
        kinds: &["malformed", "stream reset", "success"],
    },
    Case {
        name: "more body than its length says",
        moment: Moment::Answer,
        bytes: |stream| {
            let fields = field("content-length", "1");
            [head(stream, &fields), frame(DATA, END_STREAM, stream, b"xx")].concat()
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "less body than its length says",
        moment: Moment::Answer,
        bytes: |stream| {
            let fields = field("content-length", "9");
            [head(stream, &fields), frame(DATA, END_STREAM, stream, b"xx")].concat()
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        // The h2 crate takes it for 200.
        name: "a head without a status",
        moment: Moment::Answer,
        bytes: |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &field("a", "b")),
        after: After::Open,
        kinds: &["malformed", "stream reset", "success"],
    },
    Case {
        name: "a name in capitals",
        moment: Moment::Answer,
        bytes: |stream| {
            let fields = [&[OK][..], &field("A", "b")[..]].concat();
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields)
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a head, and no more of it",
        moment: Moment::Answer,
        bytes: |stream| head(stream, &[]),
        after: After::Close,
        kinds: ANY,
    },
    Case {
        name: "half a frame, and the end",
        moment: Moment::Answer,
        bytes: |stream| head(stream, &[])[..5].to_vec(),
        after: After::Close,
        kinds: ANY,
    },
];

/// Of compression and floods.
const FLOODS: [Case; 13] = [
    Case {
        name: "an index that the table has not",
        moment: Moment::Answer,
        bytes: |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &[OK, 0xff, 0x80, 0x08]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a number without end",
        moment: Moment::Answer,
        bytes: |stream| frame(HEADERS, END_HEADERS, stream, &[0xff; 64]),
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a larger table than was allowed",
        moment: Moment::Answer,
        bytes: |stream| {
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0x3f, 0xff, 0xff, 0x7f, OK])
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "a small block of many fields",
        moment: Moment::Answer,
        bytes: bomb,
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "continuations without end",
        moment: Moment::Answer,
        bytes: |stream| {
            let more = frame(CONTINUATION, 0, stream, &field("a", "b")).repeat(100_000);
            [frame(HEADERS, 0, stream, &[OK]), more].concat()
        },
        after: After::Open,
        kinds: ANY,
    },
    Case {
        name: "empty continuations without end",
        moment: Moment::Answer,
        bytes: |stream| {
            let more = frame(CONTINUATION, 0, stream, &[]).repeat(400_000);
            [frame(HEADERS, 0, stream, &[OK]), more].concat()
        },
        after: After::Open,
        kinds: &["malformed", "eof", "reset", "goaway", "too large", "timeout"],
    },
    Case {
        name: "interim heads without end",
        moment: Moment::Answer,
        bytes: |stream| frame(HEADERS, END_HEADERS, stream, b"\x08\x03103").repeat(10_000),
        after: After::Open,
        kinds: &["too large"],
    },
    Case {
        name: "pings without end",
        moment: Moment::Answer,
        bytes: |_| frame(PING, 0, 0, &[0; 8]).repeat(10_000),
        after: After::Again,
        kinds: &["too large", "reset", "eof", "malformed", "goaway", "timeout"],
    },
    Case {
        name: "settings without end",
        moment: Moment::Answer,
        bytes: |_| setting(4, 65_535).repeat(10_000),
        after: After::Again,
        kinds: &["too large", "reset", "eof", "malformed", "goaway", "timeout"],
    },
    Case {
        name: "empty data without end",
        moment: Moment::Answer,
        bytes: |stream| [head(stream, &[]), frame(DATA, 0, stream, &[]).repeat(10_000)].concat(),
        after: After::Open,
        kinds: &["malformed", "goaway", "too large", "timeout"],
    },
    Case {
        name: "resets of every stream, and of all before it",
        moment: Moment::Answer,
        bytes: |stream| {
            let all = (1..=stream).step_by(2);
            all.flat_map(|one| frame(RST_STREAM, 0, one, &8u32.to_be_bytes())).collect()
        },
        after: After::Open,
        kinds: &["stream reset", "malformed", "goaway"],
    },
    Case {
        name: "streams that are refused, always",
        moment: Moment::Answer,
        bytes: |stream| frame(RST_STREAM, 0, stream, &7u32.to_be_bytes()),
        after: After::Open,
        kinds: &["stream reset"],
    },
    Case {
        name: "data beyond the window",
        moment: Moment::Answer,
        bytes: |stream| {
            let data = frame(DATA, 0, stream, &[b'x'; 16_384]).repeat(500);
            [head(stream, &[]), data].concat()
        },
        after: After::Open,
        // What is read is given back at once, so that the window may never be passed.
        kinds: &["malformed", "goaway", "stream reset", "timeout"],
    },
];

/// Serves one case on a port of its own.
fn serve(case: &Case) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (moment, bytes, after) = (case.moment, case.bytes, case.after);
    std::thread::spawn(move || {
        for conn in listener.incoming().flatten() {
            // The client goes away when it likes.
            std::thread::spawn(move || speak(conn, moment, bytes, after).ok());
        }
    });
    url
}

fn speak(
    mut conn: TcpStream,
    moment: Moment,
    bytes: fn(u32) -> Vec<u8>,
    after: After,
) -> std::io::Result<()> {
    conn.read_exact(&mut [0; 24])?;
    match moment {
        Moment::First => answer(&mut conn, &bytes(0), after)?,
        Moment::Answer => conn.write_all(&frame(SETTINGS, 0, 0, &[]))?,
    }
    loop {
        let mut head = [0; 9];
        conn.read_exact(&mut head)?;
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        conn.read_exact(&mut vec![0; len])?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        if head[3] == HEADERS && matches!(moment, Moment::Answer) {
            answer(&mut conn, &bytes(stream), after)?;
        }
    }
}

fn answer(conn: &mut TcpStream, bytes: &[u8], after: After) -> std::io::Result<()> {
    conn.write_all(bytes)?;
    match after {
        After::Again => loop {
            conn.write_all(bytes)?;
        },
        After::Close => {
            // What was not read would make the end a reset.
            conn.shutdown(Shutdown::Write)?;
            conn.read_to_end(&mut Vec::new()).map(|_| ())
        }
        After::Open => Ok(()),
    }
}

/// The result of a load test against a case, in a bounded address space.
fn measure(url: &str) -> serde_json::Value {
    let mut command = Command::new("sh");
    let limit = format!("ulimit -v {MEMORY_KIB}; exec \"$@\"");
    command.args(["-c", &limit, "sh", env!("CARGO_BIN_EXE_brunt")]);
    let line = format!("bench -h2c -c 2 -m 2 -n {HITS} -timeout 1s -cpus 1 -json {url}");
    command.args(line.split_whitespace());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    start(command).wait().with_code(0).json()
}

fn check(cases: &[Case]) {
    for case in cases {
        let (url, begun) = (serve(case), Instant::now());
        let json = measure(&url);
        let took = begun.elapsed();
        let name = case.name;
        assert!(took < TIME_MAX, "{name}: {took:?}");
        assert_eq!(json["requests"], HITS, "{name}: {json}");
        let failures = json["brunt"]["failures"].as_object();
        let mut counted = json["status_codes"]["200"].as_u64().unwrap_or(0);
        assert!(counted == 0 || case.kinds.contains(&"success"), "{name}: {json}");
        for (kind, count) in failures.into_iter().flatten() {
            let count = count.as_u64().unwrap();
            assert!(count == 0 || case.kinds.contains(&kind.as_str()), "{name}: {json}");
            counted += count;
        }
        assert_eq!(counted, HITS, "{name}: each has a kind: {json}");
    }
}

#[test]
fn connections_that_begin_wrong_are_counted_failures() {
    check(&CONNECTIONS);
}

#[test]
fn frames_where_they_do_not_belong_are_counted_failures() {
    check(&STREAMS);
}

#[test]
fn answers_that_contradict_themselves_are_counted_failures() {
    check(&ANSWERS);
}

#[test]
fn compression_and_floods_are_counted_failures() {
    check(&FLOODS);
}
