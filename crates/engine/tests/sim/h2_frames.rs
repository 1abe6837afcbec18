//! Frames of HTTP/2 as the simulated servers read and write them: no more of the protocol than they need.

use std::collections::HashMap;

use net::Key;

const PREFACE: usize = 24;
const HEAD: usize = 9;

/// A frame that a client sent.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// The stream's number as it stands in the frame.
    pub(crate) stream: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

/// What came on each connection and is no whole frame yet.
#[derive(Debug, Default)]
pub(crate) struct FrameReader(HashMap<Key, Vec<u8>>);

impl FrameReader {
    pub(crate) fn open(&mut self, conn: Key) {
        self.0.insert(conn, Vec::new());
    }

    pub(crate) fn close(&mut self, conn: Key) {
        self.0.remove(&conn);
    }

    /// The frames that these bytes complete.
    pub(crate) fn read(&mut self, conn: Key, bytes: &[u8]) -> Vec<Frame> {
        let input = self.0.entry(conn).or_default();
        input.extend_from_slice(bytes);
        let mut frames = Vec::new();
        let mut at = if input.starts_with(b"PRI") { PREFACE.min(input.len()) } else { 0 };
        while let Some(head) = input.get(at..at + HEAD) {
            let len = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
            let (kind, flags, stream) = (head[3], head[4], head[5..].to_vec());
            let Some(payload) = input.get(at + HEAD..at + HEAD + len) else { break };
            frames.push(Frame { kind, flags, stream, payload: payload.to_vec() });
            at += HEAD + len;
        }
        input.drain(..at);
        frames
    }
}

/// The bytes of a frame.
pub(crate) fn frame(kind_and_flags: [u8; 2], stream: &[u8], payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_be_bytes();
    [&len[1..], &kind_and_flags, stream, payload].concat()
}

/// A field as HPACK has it without any table.
pub(crate) fn field(name: &str, value: &str) -> Vec<u8> {
    let (name_len, value_len) = ([0, name.len() as u8], [value.len() as u8]);
    [&name_len, name.as_bytes(), &value_len, value.as_bytes()].concat()
}
