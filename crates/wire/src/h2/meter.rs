//! `Meter`: how many bytes came for each stream: its frames of head and body with their headers, read off the frame headers
//! that pass. It checks nothing; that is the `h2` crate's. RFC 9113, 4.1.

use std::collections::HashMap;

use stdx::NumberHash;

const HEAD_LEN: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// The bytes of one connection's streams.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// The header of the frame that comes, as far as it came.
    head: [u8; HEAD_LEN],
    have: usize,
    /// What is to come of the frame's payload.
    left: usize,
    /// The stream of the frame, by our number; `None` where it is not counted.
    owner: Option<u32>,
    /// A whole frame came.
    begun: bool,
    /// Our numbers of the streams that are open, by those of the wire. Both are chosen on our side, so no peer can make them collide.
    numbers: HashMap<u32, u32, NumberHash>,
    /// By our numbers.
    streams: Vec<Metered>,
}

/// What came of one stream.
#[derive(Clone, Copy, Debug, Default)]
struct Metered {
    bytes: u64,
    /// Frames of HEADERS: the head, trailers, and interim heads before them.
    heads: u32,
}

impl Meter {
    /// A stream was opened: `number` by us, `id` on the wire.
    pub(super) fn begin(&mut self, number: u32, id: u32) {
        let len = self.streams.len().max(number as usize + 1);
        self.streams.resize(len, Metered::default());
        self.streams[number as usize] = Metered::default();
        self.numbers.insert(id, number);
    }

    /// A stream has ended; its bytes can still be taken.
    pub(super) fn end(&mut self, id: u32) {
        if let Some(number) = self.numbers.remove(&id)
            && self.owner == Some(number)
        {
            self.owner = None;
        }
    }

    /// The bytes of a stream that came since it was last asked.
    pub(super) fn take(&mut self, number: u32) -> u64 {
        let stream = self.streams.get_mut(number as usize);
        stream.map(|stream| std::mem::take(&mut stream.bytes)).unwrap_or_default()
    }

    /// Frames of HEADERS that came for a stream.
    pub(super) fn heads(&self, number: u32) -> u32 {
        self.streams.get(number as usize).map_or(0, |stream| stream.heads)
    }

    /// Whether the first frame came, which is the server's settings. RFC 9113, 3.4.
    pub(super) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Takes bytes that came.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let len = if self.left > 0 { self.payload(bytes.len()) } else { self.header(bytes) };
            bytes = &bytes[len..];
            self.begun |= self.left == 0 && self.have == 0;
        }
    }

    fn payload(&mut self, len: usize) -> usize {
        let len = len.min(self.left);
        self.left -= len;
        self.count(len);
        len
    }

    fn header(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(HEAD_LEN - self.have);
        self.head[self.have..self.have + len].copy_from_slice(&bytes[..len]);
        self.have += len;
        if self.have == HEAD_LEN {
            self.have = 0;
            let [a, b, c, kind, _, id @ ..] = self.head;
            self.left = u32::from_be_bytes([0, a, b, c]) as usize;
            let id = u32::from_be_bytes(id) & !(1 << 31);
            let counts = matches!(kind, DATA | HEADERS | CONTINUATION);
            self.owner = self.numbers.get(&id).copied().filter(|_| counts);
            self.count(HEAD_LEN);
            if let Some(number) = self.owner.filter(|_| kind == HEADERS) {
                self.streams[number as usize].heads += 1;
            }
        }
        len
    }

    fn count(&mut self, len: usize) {
        if let Some(number) = self.owner {
            self.streams[number as usize].bytes += len as u64;
        }
    }
}
