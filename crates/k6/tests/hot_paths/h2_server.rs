//! `H2Server`: the server's side of HTTP/2, as little of it as a client needs: it answers each request with the same short
//! response. RFC 9113.

use std::collections::{HashMap, VecDeque};

use net::{Key, Output, Peer};
use stdx::Nanos;

/// RFC 9113, 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// RFC 9113, 4.1.
const HEAD_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// `:status: 200`, by its number in the static table. RFC 7541, appendix A.
const STATUS_200: &[u8] = &[0x88];
const BODY: &[u8] = b"hello world\n";

/// A server that answers at once.
#[derive(Default)]
pub(crate) struct H2Server {
    /// What each client sent and was not taken apart yet.
    unread: HashMap<Key, Vec<u8>>,
    output: VecDeque<(Key, Output)>,
}

impl H2Server {
    /// Takes whole frames from the front of `unread`; returns what to send.
    fn answer(unread: &mut Vec<u8>) -> Vec<u8> {
        let mut out = Vec::new();
        if unread.starts_with(PREFACE) {
            unread.drain(..PREFACE.len());
            frame(&mut out, SETTINGS, 0, 0, &[]);
        }
        while let Some(len) = frame_len(unread) {
            let (kind, flags) = (unread[3], unread[4]);
            let stream = u32::from_be_bytes([unread[5], unread[6], unread[7], unread[8]]);
            match kind {
                SETTINGS if flags & ACK == 0 => frame(&mut out, SETTINGS, ACK, 0, &[]),
                PING if flags & ACK == 0 => {
                    frame(&mut out, PING, ACK, 0, &unread[HEAD_BYTES..len]);
                }
                HEADERS => {
                    frame(&mut out, HEADERS, END_HEADERS, stream, STATUS_200);
                    frame(&mut out, DATA, END_STREAM, stream, BODY);
                }
                _ => {}
            }
            unread.drain(..len);
        }
        out
    }
}

/// The length of the first frame with its head, if it is there as a whole.
fn frame_len(bytes: &[u8]) -> Option<usize> {
    let [a, b, c, ..] = *bytes else { return None };
    let len = HEAD_BYTES + u32::from_be_bytes([0, a, b, c]) as usize;
    (bytes.len() >= len).then_some(len)
}

fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

impl Peer for H2Server {
    fn handle_open(&mut self, _now: Nanos, conn: Key) {
        self.unread.insert(conn, Vec::new());
    }

    fn handle_bytes(&mut self, _now: Nanos, conn: Key, bytes: &[u8]) {
        let unread = self.unread.entry(conn).or_default();
        unread.extend_from_slice(bytes);
        let out = Self::answer(unread);
        if !out.is_empty() {
            self.output.push_back((conn, Output::Bytes(out)));
        }
    }

    fn handle_close(&mut self, _now: Nanos, conn: Key) {
        self.unread.remove(&conn);
    }

    fn next_deadline(&self) -> Option<Nanos> {
        None
    }

    fn handle_deadline(&mut self, _now: Nanos) {}

    fn poll_output(&mut self) -> Option<(Key, Output)> {
        self.output.pop_front()
    }
}
