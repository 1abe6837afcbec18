//! HTTP/2: frames of a server that is small and sound, mutated. RFC 9113.

use std::collections::{HashMap, VecDeque};

use engine::{Protocol, Settings};
use net::{Key, Output, Peer};
use stdx::{Nanos, mix};

use crate::frames::H2_FRAMES;
use crate::http1::load;
use crate::trial::{Trial, run_all};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The client's preface. RFC 9113, 3.4.
const PREFACE: usize = 24;
/// The header of a frame.
const HEAD: usize = 9;
/// `:status: 200` and `:status: 404` of the static table. RFC 7541, A.
const OK: u8 = 0x88;
const NOT_FOUND: u8 = 0x8d;

/// Answers each request with one of a dozen forms of answer, as a seed says.
struct Server {
    seed: u64,
    answered: u64,
    /// Bytes of each connection that are no whole frame yet, and whether the preface has come.
    inputs: HashMap<Key, (bool, Vec<u8>)>,
    outputs: VecDeque<(Key, Output)>,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

/// A field without an index, its name and value as they are. RFC 7541, 6.2.2.
fn field(name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    [vec![0], text(name), text(value)].concat()
}

impl Server {
    fn new(seed: u64) -> Self {
        Self { seed, answered: 0, inputs: HashMap::new(), outputs: VecDeque::new() }
    }

    fn send(&mut self, conn: Key, bytes: Vec<u8>) {
        self.outputs.push_back((conn, Output::Bytes(bytes)));
    }

    /// One frame of the client.
    fn handle_frame(&mut self, conn: Key, kind: u8, flags: u8, stream: u32) {
        match kind {
            SETTINGS if flags & ACK == 0 => self.send(conn, frame(SETTINGS, ACK, 0, &[])),
            PING if flags & ACK == 0 => self.send(conn, frame(PING, ACK, 0, &[0; 8])),
            HEADERS => {
                self.answered += 1;
                let bytes = answer(mix(self.seed, self.answered) % 14, stream);
                self.send(conn, bytes);
            }
            _ => {}
        }
    }
}

/// An answer of this form to a stream.
fn answer(form: u64, stream: u32) -> Vec<u8> {
    let head = |block: &[u8]| frame(HEADERS, END_HEADERS, stream, block);
    let end = |block: &[u8]| frame(HEADERS, END_HEADERS | END_STREAM, stream, block);
    let data = |flags, len: usize| frame(DATA, flags, stream, &vec![b'x'; len]);
    let interim = [vec![0x08, 3], b"103".to_vec(), field("link", "</a>; rel=preload")].concat();
    let redirect = [vec![0x08, 3], b"302".to_vec(), field("location", "/elsewhere")].concat();
    let number = |number: u32| number.to_be_bytes();
    let parts: Vec<Vec<u8>> = match form {
        0 => vec![end(&[OK])],
        1 => vec![head(&[OK]), data(0, 100), data(END_STREAM, 20)],
        2 => vec![head(&interim), head(&[OK]), data(END_STREAM, 5)],
        3 => vec![
            frame(HEADERS, 0, stream, &[OK]),
            frame(CONTINUATION, END_HEADERS, stream, &field("a", "b")),
            data(END_STREAM, 5),
        ],
        4 => vec![head(&[OK]), data(0, 5), end(&field("grpc-status", "0"))],
        5 => vec![frame(RST_STREAM, 0, stream, &number(7))],
        6 => vec![frame(GOAWAY, 0, 0, &[number(stream), number(0)].concat()), end(&[OK])],
        7 => vec![
            frame(PING, 0, 0, b"12345678"),
            frame(SETTINGS, 0, 0, &[&[0, 4][..], &number(1 << 20)[..]].concat()),
            frame(WINDOW_UPDATE, 0, 0, &number(1 << 10)),
            frame(WINDOW_UPDATE, 0, stream, &number(1)),
            end(&[NOT_FOUND]),
        ],
        8 => vec![end(&redirect)],
        9 => {
            // RFC 9113, 6.6: we do not take pushes.
            let promise = [&number(2)[..], &[OK][..]].concat();
            vec![frame(PUSH_PROMISE, END_HEADERS, stream, &promise), end(&[OK])]
        }
        10 => {
            let block = [&[OK][..], &field("content-length", "5")[..]].concat();
            vec![head(&block), data(END_STREAM, 5)]
        }
        11 => {
            let coded = [&[OK][..], &field("content-encoding", "gzip")[..]].concat();
            vec![head(&coded), frame(DATA, END_STREAM, stream, GZIP)]
        }
        // RFC 7541, 6.3: another size of the table; and a field that enters it.
        12 => {
            let sizes: &[u8] = &[0x20, 0x3f, 0xe1, 0x1f, OK, 0x40];
            vec![end(&[sizes, &field("n", "v")[1..]].concat())]
        }
        _ => vec![head(&[OK]), data(0, 16_384), data(0, 16_384), data(END_STREAM, 0)],
    };
    parts.concat()
}

/// `hello`, stored.
const GZIP: &[u8] = &[
    0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 5, 0, 0xfa, 0xff, b'h', b'e', b'l', b'l', b'o', 0x86,
    0xa6, 0x10, 0x36, 5, 0, 0, 0,
];

impl Peer for Server {
    fn handle_open(&mut self, _: Nanos, conn: Key) {
        self.inputs.insert(conn, (false, Vec::new()));
        let streams = [&[0, 3][..], &50u32.to_be_bytes()[..]].concat();
        self.send(conn, frame(SETTINGS, 0, 0, &streams));
    }

    fn handle_bytes(&mut self, _: Nanos, conn: Key, bytes: &[u8]) {
        let Some((has_begun, mut input)) = self.inputs.remove(&conn) else { return };
        input.extend_from_slice(bytes);
        let mut at = if has_begun { 0 } else { PREFACE };
        if input.len() < at {
            self.inputs.insert(conn, (false, input));
            return;
        }
        while let Some(head) = input.get(at..at + HEAD) {
            let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            if input.len() < at + HEAD + len {
                break;
            }
            let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
            let (kind, flags) = (head[3], head[4]);
            self.handle_frame(conn, kind, flags, stream);
            at += HEAD + len;
        }
        input.drain(..at);
        self.inputs.insert(conn, (true, input));
    }

    fn handle_close(&mut self, _: Nanos, conn: Key) {
        self.inputs.remove(&conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.outputs.pop_front()
    }
}

#[test]
fn no_mutated_frame_of_http2_stops_a_run() {
    run_all("http2", |seed| {
        let (plan, settings) = load(seed, &["/"]);
        let streams = if seed % 3 == 1 { 4 } else { usize::MAX };
        let settings = Settings { protocol: Protocol::PriorKnowledge, streams, ..settings };
        let server = Box::new(Server::new(seed));
        (Trial { grammar: H2_FRAMES, server, plan, settings }, Box::new(String::new))
    });
}
