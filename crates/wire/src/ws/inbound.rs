//! What comes in: frames to messages, from any split of the bytes. RFC 6455, 5; RFC 7692, 7.2.2.

use stdx::MemoryShare;

use super::deflate::Inflater;
use super::event::{Event, Role};
use super::extension::Takeover;
use super::fault::{WsError, is_close_code};
use super::frame::{HEADER_MAX, Header, Opcode};
use super::mask;
use super::utf8::Utf8;

/// Masked or compressed bytes are taken in pieces of this size: 4 KiB.
const PIECE: usize = 4 << 10;

/// The receiving half of a session.
#[derive(Debug)]
pub(super) struct Inbound {
    pub(super) role: Role,
    /// How the peer compresses, if that was agreed upon.
    pub(super) deflate: Option<Takeover>,
    pub(super) message_bytes_max: usize,
    /// A header that came in part.
    header: [u8; HEADER_MAX],
    header_len: u8,
    /// The frame whose payload comes, and how much of that is to come.
    frame: Option<Header>,
    left: u64,
    /// The message that comes, if one has begun.
    message: Option<Message>,
    /// The bytes of the message so far, inflated; behind them, those of a control frame in its midst.
    buf: Vec<u8>,
    memory: MemoryShare,
    utf8: Utf8,
    inflater: Option<Box<Inflater>>,
    end: Option<End>,
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct Message {
    kind: Kind,
    compressed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Binary,
}

/// Why nothing more is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The peer said that it will send no more.
    Closed,
    Failed(WsError),
}

/// Takes what came.
type Each<'a> = dyn FnMut(Event<'_>) + 'a;

impl Inbound {
    pub(super) fn new(role: Role, deflate: Option<Takeover>, message_bytes_max: usize) -> Self {
        Self {
            role,
            deflate,
            message_bytes_max,
            header: [0; HEADER_MAX],
            header_len: 0,
            frame: None,
            left: 0,
            message: None,
            buf: Vec::new(),
            memory: MemoryShare::default(),
            utf8: Utf8::default(),
            inflater: None,
            end: None,
        }
    }

    /// Whether the peer's close frame came.
    pub(super) fn is_closed(&self) -> bool {
        self.end == Some(End::Closed)
    }

    /// Takes bytes and gives each whole event. After a close frame it ignores bytes; after a failure it returns the same error again.
    pub(super) fn handle_bytes(
        &mut self,
        bytes: &[u8],
        each: &mut Each<'_>,
    ) -> Result<(), WsError> {
        let result = self.advance(bytes, each);
        if let Err(error) = result {
            self.end = Some(End::Failed(error));
            (self.buf, self.inflater) = (Vec::new(), None);
        }
        self.give_back();
        result
    }

    fn advance(&mut self, bytes: &[u8], each: &mut Each<'_>) -> Result<(), WsError> {
        let mut rest = bytes;
        loop {
            rest = match (self.end, self.frame) {
                (Some(End::Closed), _) => return Ok(()),
                (Some(End::Failed(error)), _) => return Err(error),
                (None, Some(frame)) if self.left == 0 || !rest.is_empty() => {
                    self.take_payload(frame, rest, each)?
                }
                (None, None) if !rest.is_empty() => self.take_header(rest)?,
                (None, _) => return Ok(()),
            };
        }
    }

    /// Between messages nothing is kept but what the peer's compressor refers to.
    fn give_back(&mut self) {
        if self.buf.is_empty() {
            (self.buf, self.memory) = (Vec::new(), MemoryShare::default());
        }
        if self.message.is_none() && self.deflate == Some(Takeover::Dropped) {
            self.inflater = None;
        }
    }

    /// Takes a header, or what there is of it, and gives what comes after it.
    fn take_header<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], WsError> {
        let had = usize::from(self.header_len);
        if had == 0
            && let Some((header, len)) = Header::parse(bytes)?
        {
            self.begin_frame(header)?;
            return Ok(&bytes[len..]);
        }
        let more = bytes.len().min(HEADER_MAX - had);
        self.header[had..had + more].copy_from_slice(&bytes[..more]);
        match Header::parse(&self.header[..had + more])? {
            Some((header, len)) => {
                self.header_len = 0;
                self.begin_frame(header)?;
                Ok(&bytes[len - had..])
            }
            None => {
                self.header_len = (had + more) as u8;
                Ok(&bytes[more..])
            }
        }
    }

    /// Whether the frame may come now.
    fn begin_frame(&mut self, header: Header) -> Result<(), WsError> {
        match (self.role, header.key) {
            (Role::Client, Some(_)) => return Err(WsError::Masked),
            (Role::Server, None) => return Err(WsError::Unmasked),
            _ => (),
        }
        match header.opcode {
            Opcode::Text => self.begin_message(Kind::Text, header)?,
            Opcode::Binary => self.begin_message(Kind::Binary, header)?,
            Opcode::Continuation if self.message.is_none() => {
                return Err(WsError::ContinuationAlone);
            }
            // RFC 7692, 6.1: only a message's first frame says that it is compressed.
            Opcode::Continuation if header.compressed => return Err(WsError::ReservedBits),
            _ => (),
        }
        let compressed = self.message.is_some_and(|message| message.compressed);
        let room = self.message_bytes_max.saturating_sub(self.buf.len()) as u64;
        if !header.opcode.is_control() && !compressed && header.len > room {
            return Err(WsError::TooBig(self.message_bytes_max));
        }
        (self.frame, self.left) = (Some(header), header.len);
        Ok(())
    }

    fn begin_message(&mut self, kind: Kind, header: Header) -> Result<(), WsError> {
        if self.message.is_some() {
            return Err(WsError::MessageInside);
        }
        if header.compressed && self.deflate.is_none() {
            return Err(WsError::ReservedBits);
        }
        self.message = Some(Message { kind, compressed: header.compressed });
        self.utf8 = Utf8::default();
        Ok(())
    }

    /// Takes payload until the frame or the bytes end, and gives what comes after that.
    fn take_payload<'b>(
        &mut self,
        frame: Header,
        bytes: &'b [u8],
        each: &mut Each<'_>,
    ) -> Result<&'b [u8], WsError> {
        let len = usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
        let (piece, after) = bytes.split_at(len);
        let offset = frame.len - self.left;
        self.left -= len as u64;
        let done = self.left == 0;
        if done {
            self.frame = None;
        }
        if frame.opcode.is_control() {
            self.take_control(frame, offset, piece, each)?;
        } else if offset == 0 && done && frame.key.is_none() && self.is_plain_and_whole(frame) {
            self.take_whole(piece, each)?;
        } else {
            self.take_data(frame, offset, piece)?;
            if done && frame.last {
                self.end_message(each)?;
            }
        }
        Ok(after)
    }

    /// Whether the frame is a message of its own that has to be neither inflated nor put together.
    fn is_plain_and_whole(&self, frame: Header) -> bool {
        frame.last && frame.opcode != Opcode::Continuation && !frame.compressed
    }

    /// A message that lies in the input as it is.
    fn take_whole(&mut self, message: &[u8], each: &mut Each<'_>) -> Result<(), WsError> {
        let kind = self.message.take().map(|message| message.kind);
        each(if kind == Some(Kind::Text) { text(message)? } else { Event::Binary(message) });
        Ok(())
    }

    /// Adds a piece to the message.
    fn take_data(&mut self, frame: Header, offset: u64, piece: &[u8]) -> Result<(), WsError> {
        let Some(message) = self.message else { return Err(WsError::ContinuationAlone) };
        let checked = self.buf.len();
        let taken = match frame.key {
            None if message.compressed => {
                piece.chunks(PIECE).try_for_each(|part| self.inflate(part))
            }
            Some(key) if message.compressed => {
                let mut space = [0; PIECE];
                let mut parts = (offset..).step_by(PIECE).zip(piece.chunks(PIECE));
                parts.try_for_each(|(at, part)| self.inflate(unmasked(key, at, part, &mut space)))
            }
            key => self.make_room(piece.len()).map(|()| self.append(key, offset, piece)),
        };
        // What came before a fault is looked at first, so that the finding does not depend on how the bytes were split.
        self.check_text(message.kind, checked)?;
        taken
    }

    /// A text is UTF-8 from this place on.
    fn check_text(&mut self, kind: Kind, from: usize) -> Result<(), WsError> {
        match kind {
            Kind::Text => self.utf8.handle_bytes(&self.buf[from..]),
            Kind::Binary => Ok(()),
        }
    }

    fn append(&mut self, key: Option<[u8; 4]>, offset: u64, piece: &[u8]) {
        let start = self.buf.len();
        self.buf.extend_from_slice(piece);
        if let Some(key) = key {
            mask::apply(key, offset, &mut self.buf[start..]);
        }
    }

    fn inflate(&mut self, piece: &[u8]) -> Result<(), WsError> {
        let inflater = self.inflater.get_or_insert_with(|| Box::new(Inflater::new()));
        inflater.inflate(piece, self.message_bytes_max, &mut self.buf)?;
        self.make_room(0)
    }

    /// Takes memory for so much more of the message.
    fn make_room(&mut self, more: usize) -> Result<(), WsError> {
        self.memory.make_room(&self.buf, more).map_err(|_| WsError::OutOfMemory)
    }

    /// The message's last frame has come.
    fn end_message(&mut self, each: &mut Each<'_>) -> Result<(), WsError> {
        let Some(message) = self.message.take() else { return Err(WsError::ContinuationAlone) };
        if message.compressed {
            let checked = self.buf.len();
            let inflater = self.inflater.get_or_insert_with(|| Box::new(Inflater::new()));
            inflater.finish(self.message_bytes_max, &mut self.buf)?;
            if self.deflate == Some(Takeover::Dropped) {
                inflater.reset();
            }
            self.check_text(message.kind, checked)?;
        }
        each(if message.kind == Kind::Text { text(&self.buf)? } else { Event::Binary(&self.buf) });
        self.buf.clear();
        Ok(())
    }

    /// Takes a control frame's payload; it may come in pieces, and in the midst of a message.
    fn take_control(
        &mut self,
        frame: Header,
        offset: u64,
        piece: &[u8],
        each: &mut Each<'_>,
    ) -> Result<(), WsError> {
        self.append(frame.key, offset, piece);
        if self.left > 0 {
            return Ok(());
        }
        let start = self.buf.len() - frame.len as usize;
        let payload = &self.buf[start..];
        match frame.opcode {
            Opcode::Ping => each(Event::Ping(payload)),
            Opcode::Pong => each(Event::Pong(payload)),
            _ => {
                each(close(payload)?);
                self.end = Some(End::Closed);
            }
        }
        self.buf.truncate(start);
        Ok(())
    }
}

fn unmasked<'s>(key: [u8; 4], offset: u64, part: &[u8], space: &'s mut [u8; PIECE]) -> &'s [u8] {
    let space = &mut space[..part.len()];
    space.copy_from_slice(part);
    mask::apply(key, offset, space);
    space
}

fn text(bytes: &[u8]) -> Result<Event<'_>, WsError> {
    std::str::from_utf8(bytes).map(Event::Text).map_err(|_| WsError::Utf8)
}

/// Reads a close frame's payload. RFC 6455, 5.5.1.
fn close(payload: &[u8]) -> Result<Event<'_>, WsError> {
    let (code, reason) = match payload {
        [] => return Ok(Event::Close { code: None, reason: "" }),
        [_] => return Err(WsError::CloseBody),
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
    };
    if !is_close_code(code) {
        return Err(WsError::CloseCode(code));
    }
    let reason = std::str::from_utf8(reason).map_err(|_| WsError::Utf8)?;
    Ok(Event::Close { code: Some(code), reason })
}
