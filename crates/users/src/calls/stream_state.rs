//! `StreamState`: how far the response to a stream is.

use grpc::{Code, ReplyHead, ResponseReader, Status};
use stdx::{MemoryShare, OutOfMemory};

use crate::host::grpc::Replies;

/// How far the response to a stream is.
#[derive(Clone, Debug)]
pub(crate) struct StreamState {
    replies: Replies,
    receive_max: usize,
    reader: Option<ResponseReader>,
    memory: PartMemory,
    /// The one message of a response that has one, until the call has ended.
    pub(crate) only: Option<Vec<u8>>,
    /// Why we ended it.
    pub(crate) end: Option<Status>,
}

impl StreamState {
    pub(crate) const fn new(replies: Replies, receive_max: usize) -> Self {
        let memory = PartMemory(None);
        Self { replies, receive_max, reader: None, memory, only: None, end: None }
    }

    /// Takes the head of the response: its status, and its lines.
    pub(crate) fn begin(&mut self, http_status: u16, lines: &[u8]) {
        let reason = reason(lines);
        let head = ReplyHead { http_status, http_reason: &reason, lines };
        self.reader = Some(ResponseReader::new(&head, self.receive_max));
        self.note_failure();
    }

    /// Takes a part of the body; gives each message that it completes and that is not to wait for the end.
    pub(crate) fn push(&mut self, bytes: &[u8], give: &mut dyn FnMut(Vec<u8>)) {
        let Some(reader) = self.reader.as_mut().filter(|_| self.end.is_none()) else { return };
        reader.push(bytes);
        if self.memory.count(reader.bytes_held()).is_err() {
            self.end = Some(Status::new(Code::RESOURCE_EXHAUSTED, OutOfMemory.to_string()));
            return;
        }
        while let Some(message) = reader.next_message() {
            match (self.replies, &self.only) {
                (Replies::Many, _) => give(message),
                (Replies::One, None) => self.only = Some(message),
                (Replies::One, Some(_)) => {
                    self.end = Some(one_too_many());
                    return;
                }
            }
        }
        self.note_failure();
    }

    fn note_failure(&mut self) {
        if self.end.is_none() {
            self.end = self.reader.as_ref().and_then(ResponseReader::failure).cloned();
        }
    }

    /// The reader, where the head has come.
    pub(crate) fn into_reader(self) -> Option<ResponseReader> {
        self.reader
    }
}

/// The share of the memory for the part of a message that has come so far; none where it is small.
#[derive(Debug)]
struct PartMemory(Option<MemoryShare>);

/// Parts up to this size are not counted, as other buffers of connections are not: 64 KiB.
const UNCOUNTED_MAX: usize = 64 << 10;

impl PartMemory {
    fn count(&mut self, bytes: usize) -> Result<(), OutOfMemory> {
        match &mut self.0 {
            None if bytes <= UNCOUNTED_MAX => Ok(()),
            share => share.get_or_insert_with(MemoryShare::default).resize(bytes),
        }
    }
}

impl Clone for PartMemory {
    /// A copy counts for itself once it grows.
    fn clone(&self) -> Self {
        Self(None)
    }
}

/// A server sends a second message where the method has one. In the words of grpc-go.
pub(crate) fn one_too_many() -> Status {
    let text = "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
    Status::new(Code::INTERNAL, text)
}

/// The words behind the status in a status line.
pub(crate) fn reason(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"HTTP/2.0 200 OK\r\ncontent-type: application/grpc\r\n";
    const MESSAGE: &[u8] = b"\0\0\0\0\x01x";

    fn given(state: &mut StreamState, bytes: &[u8]) -> usize {
        let mut count = 0;
        state.push(bytes, &mut |_| count += 1);
        count
    }

    #[test]
    fn one_message_waits_for_the_end() {
        let mut many = StreamState::new(Replies::Many, 10);
        many.begin(200, HEAD);
        assert_eq!(given(&mut many, &MESSAGE.repeat(3)), 3);
        let mut one = StreamState::new(Replies::One, 10);
        one.begin(200, HEAD);
        assert_eq!(given(&mut one, MESSAGE), 0);
        assert_eq!((one.only.as_deref(), one.end.as_ref()), (Some(&b"x"[..]), None));
        given(&mut one, MESSAGE);
        assert_eq!(one.end, Some(one_too_many()));
    }

    #[test]
    fn what_cannot_be_read_ends_it() {
        let mut page = StreamState::new(Replies::Many, 10);
        page.begin(502, b"HTTP/2.0 502 Bad Gateway\r\ncontent-type: text/html\r\n");
        let end = page.end.clone().expect("it is no gRPC");
        assert!(end.message.contains("502 (Bad Gateway)"), "{}", end.message);
        assert_eq!(given(&mut page, MESSAGE), 0);
        let mut large = StreamState::new(Replies::Many, 10);
        large.begin(200, HEAD);
        given(&mut large, b"\0\0\0\0\x0b");
        assert_eq!(large.end.map(|end| end.code), Some(Code::RESOURCE_EXHAUSTED));
    }
}
