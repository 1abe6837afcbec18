//! `ResponseReader`: a response that is read as it comes: its head, its messages, its trailers.

use crate::call::{CallOutcome, Reply, ReplyHead, no_grpc};
use crate::frame::{Deframer, FrameError};
use crate::metadata::{Metadata, field};
use crate::status::{Code, Status};

/// Messages that the end of a response still gives, at most.
const LEFT_MAX: usize = 2;

/// A response that is read as it comes.
#[derive(Clone, Debug)]
pub struct ResponseReader {
    deframer: Deframer,
    headers: Metadata,
    /// What a head that says a status says: the trailers of a response that has nothing else.
    only: Option<Vec<u8>>,
    /// Why it is no response of gRPC, or why its messages cannot be read.
    failure: Option<Status>,
    /// The failure is the head's, whatever else the server says.
    is_refused: bool,
    has_body: bool,
}

impl ResponseReader {
    /// Of a response with this head, whose messages have at most `max` bytes.
    #[must_use]
    pub fn new(head: &ReplyHead<'_>, max: usize) -> Self {
        let coding = field(head.lines, "grpc-encoding").map(String::from_utf8_lossy);
        let mut failure = no_grpc(head);
        let headers = Metadata::of_lines(head.lines).unwrap_or_else(|error| {
            failure.get_or_insert_with(|| Status::new(Code::INTERNAL, error.to_string()));
            Metadata::default()
        });
        let only = field(head.lines, "grpc-status").map(|_| head.lines.to_vec());
        let deframer = Deframer::new(max, coding.as_deref());
        let is_refused = failure.is_some();
        Self { deframer, headers, only, failure, is_refused, has_body: false }
    }

    /// Takes bytes of the body, from any split of it.
    pub fn push(&mut self, bytes: &[u8]) {
        self.has_body |= !bytes.is_empty();
        if self.failure.is_none() {
            self.deframer.push(bytes);
        }
    }

    /// The next message that is whole; `None` where more bytes are needed, or [no message follows](Self::failure).
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        if self.failure.is_some() {
            return None;
        }
        self.deframer.next_message().unwrap_or_else(|error| {
            self.failure = Some(status_of(&error));
            None
        })
    }

    /// The bytes that are held of messages that are not whole.
    #[must_use]
    pub fn bytes_held(&self) -> usize {
        self.deframer.bytes_held()
    }

    /// Why no message follows, whatever comes.
    #[must_use]
    pub const fn failure(&self) -> Option<&Status> {
        self.failure.as_ref()
    }

    /// The response has ended with these trailer lines. The outcome has the messages that were not taken, two of them at most: a second
    /// one shows already that there are too many, and a body of small compressed ones may hold more than there is memory.
    #[must_use]
    pub fn finish(mut self, trailers: &[u8]) -> CallOutcome {
        let mut messages = Vec::new();
        while messages.len() < LEFT_MAX
            && let Some(message) = self.next_message()
        {
            messages.push(message);
        }
        if self.failure.is_none() && messages.len() < LEFT_MAX {
            self.failure = self.deframer.finish().err().as_ref().map(status_of);
        }
        // A server that has nothing but a status sends it in the head.
        let only = self.only.filter(|_| trailers.is_empty() && !self.has_body);
        let (headers, lines) = match &only {
            Some(only) => (Metadata::default(), only.as_slice()),
            None => (self.headers, trailers),
        };
        let (trailers, said) = match Metadata::of_lines(lines) {
            Ok(trailers) => (trailers, Status::of_lines(lines)),
            Err(error) => {
                let failed = CallOutcome::failed(Code::INTERNAL, error.to_string());
                return CallOutcome { messages, ..failed };
            }
        };
        let status = match (self.failure, said) {
            (Some(failure), _) if self.is_refused => failure,
            (_, Some(said)) if said.code != Code::OK => said,
            (Some(failure), _) => failure,
            (None, Some(said)) => said,
            (None, None) if lines.is_empty() && self.has_body => {
                Status::new(Code::INTERNAL, "server closed the stream without sending trailers")
            }
            (None, None) => Status::new(Code::UNKNOWN, ""),
        };
        CallOutcome { status, headers, trailers, messages }
    }
}

impl CallOutcome {
    /// What a response says, whose messages have at most `max` bytes.
    #[must_use]
    pub fn of(reply: &Reply<'_>, max: usize) -> Self {
        let mut reader = ResponseReader::new(&reply.head(), max);
        reader.push(reply.body);
        let mut outcome = reader.finish(reply.trailers);
        if outcome.status.code == Code::OK && outcome.messages.len() > 1 {
            let text = "cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message";
            outcome.status = Status::new(Code::INTERNAL, text);
        }
        outcome
    }
}

/// The status of a body that cannot be taken apart.
fn status_of(error: &FrameError) -> Status {
    let code = match error {
        FrameError::TooLarge { .. } | FrameError::Bomb { .. } => Code::RESOURCE_EXHAUSTED,
        FrameError::Coding(_) => Code::UNIMPLEMENTED,
        FrameError::Flag(_) | FrameError::Unnamed | FrameError::Gzip(_) | FrameError::Truncated => {
            Code::INTERNAL
        }
    };
    Status::new(code, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::encode_frame;

    const LINES: &[u8] = b"content-type: application/grpc\r\n";

    fn reader(lines: &[u8]) -> ResponseReader {
        ResponseReader::new(&ReplyHead { http_status: 200, http_reason: "OK", lines }, 100)
    }

    #[test]
    fn messages_are_there_before_the_end() {
        let mut reader = reader(LINES);
        let mut body = Vec::new();
        [&b"abc"[..], b"", b"d"].iter().for_each(|message| encode_frame(message, &mut body));
        let mut messages = Vec::new();
        for byte in body {
            reader.push(&[byte]);
            messages.extend(reader.next_message());
        }
        assert_eq!(messages, [&b"abc"[..], b"", b"d"]);
        let outcome = reader.finish(b"grpc-status: 5\r\n");
        assert_eq!((outcome.status.code, outcome.messages.len()), (Code(5), 0));
    }

    /// 1,000 compressed messages of 100 bytes each would be 100,000 bytes: a call with one message keeps two of them.
    #[test]
    fn a_body_of_many_messages_is_not_unpacked() {
        let mut body = Vec::new();
        (0..1000).for_each(|_| encode_frame(&[7; 100], &mut body));
        let body = crate::frame::compress_frames(&body);
        let lines = b"content-type: application/grpc\r\ngrpc-encoding: gzip\r\n";
        let (http_status, http_reason) = (200, "OK");
        let trailers = b"grpc-status: 0\r\n";
        let reply = Reply { http_status, http_reason, head: lines, body: &body, trailers };
        let outcome = CallOutcome::of(&reply, 100);
        assert_eq!((outcome.status.code, outcome.messages.len()), (Code::INTERNAL, 2));
        assert!(outcome.status.message.starts_with("cardinality violation"));
    }

    #[test]
    fn what_cannot_be_read_is_known_at_once() {
        let mut large = reader(LINES);
        large.push(b"\0\0\0\0\x65");
        assert_eq!(large.next_message(), None);
        let text = "grpc: received message larger than max (101 vs. 100)";
        assert_eq!(large.failure(), Some(&Status::new(Code::RESOURCE_EXHAUSTED, text)));
        let page = reader(b"content-type: text/html\r\n");
        assert_eq!(page.failure().map(|status| status.code), Some(Code::UNKNOWN));
        let mut cut = reader(LINES);
        cut.push(b"\0\0");
        let outcome = cut.finish(b"grpc-status: 0\r\n");
        assert_eq!(outcome.status, Status::new(Code::INTERNAL, "unexpected EOF"));
    }
}
