//! What goes out: one frame a message, masked where a client sends it. RFC 6455, 5; RFC 7692, 7.2.1.

use stdx::mix;

use super::deflate::Deflater;
use super::event::{Event, Role};
use super::extension::Takeover;
use super::fault::SendError;
use super::frame::{CONTROL_MAX, Header, Opcode};
use super::mask;

/// The longest reason of a close frame: 123 bytes.
const REASON_MAX: usize = CONTROL_MAX - 2;
/// The code that stands for "there was none" and is never sent. RFC 6455, 7.4.1.
const NO_CODE: u16 = 1005;

/// The sending half of a session.
#[derive(Debug)]
pub(super) struct Outbound {
    pub(super) role: Role,
    /// How we compress, if that was agreed upon.
    pub(super) deflate: Option<Takeover>,
    pub(super) deflate_bytes_min: usize,
    /// Masking keys follow from it and how many there were.
    mask_seed: u64,
    masks: u64,
    deflater: Option<Box<Deflater>>,
    closed: bool,
}

impl Outbound {
    pub(super) fn new(
        role: Role,
        deflate: Option<Takeover>,
        deflate_bytes_min: usize,
        mask_seed: u64,
    ) -> Self {
        Self {
            role,
            deflate,
            deflate_bytes_min,
            mask_seed,
            masks: 0,
            deflater: None,
            closed: false,
        }
    }

    /// Whether the close frame has been given out.
    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Appends a message of one frame.
    pub(super) fn message(
        &mut self,
        opcode: Opcode,
        message: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        if self.closed {
            return Err(SendError::Closed);
        }
        match self.deflate {
            Some(takeover) if message.len() >= self.deflate_bytes_min => {
                self.compressed(opcode, takeover, message, out);
            }
            _ => self.frame(opcode, message, out),
        }
        Ok(())
    }

    /// Appends a ping or a pong.
    pub(super) fn control(
        &mut self,
        opcode: Opcode,
        payload: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), SendError> {
        if self.closed {
            return Err(SendError::Closed);
        }
        if payload.len() > CONTROL_MAX {
            return Err(SendError::ControlTooLong(payload.len()));
        }
        self.frame(opcode, payload, out);
        Ok(())
    }

    /// Appends the close frame, once. A reason that is too long is cut between two characters.
    pub(super) fn close(&mut self, code: Option<u16>, reason: &str, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.deflater = None;
        let mut payload = Vec::new();
        if let Some(code) = code.filter(|code| *code != NO_CODE) {
            payload.extend_from_slice(&code.to_be_bytes());
            payload.extend_from_slice(&reason.as_bytes()[..reason.floor_char_boundary(REASON_MAX)]);
        }
        self.frame(Opcode::Close, &payload, out);
    }

    /// Appends what the protocol answers this event with. RFC 6455, 5.5.1 and 5.5.2.
    pub(super) fn answer(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match event {
            Event::Ping(payload) if !self.closed => self.frame(Opcode::Pong, payload, out),
            Event::Close { code, .. } => self.close(*code, "", out),
            _ => (),
        }
    }

    fn compressed(
        &mut self,
        opcode: Opcode,
        takeover: Takeover,
        message: &[u8],
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        let deflater = self.deflater.get_or_insert_with(|| Box::new(Deflater::new()));
        deflater.deflate(message, out);
        if takeover == Takeover::Dropped {
            self.deflater = None;
            // What the window does not hold need not be sent either.
            if out.len() - start >= message.len() {
                out.truncate(start);
                return self.frame(opcode, message, out);
            }
        }
        let key = self.next_key();
        let len = (out.len() - start) as u64;
        let header = Header { opcode, last: true, compressed: true, key, len };
        if let Some(key) = key {
            mask::apply(key, 0, &mut out[start..]);
        }
        let mut bytes = Vec::new();
        header.encode(&mut bytes);
        out.splice(start..start, bytes);
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
        let key = self.next_key();
        let len = payload.len() as u64;
        Header { opcode, last: true, compressed: false, key, len }.encode(out);
        let start = out.len();
        out.extend_from_slice(payload);
        if let Some(key) = key {
            mask::apply(key, 0, &mut out[start..]);
        }
    }

    /// A fresh key for a client's frame. RFC 6455, 5.3 wants it unpredictable to the script's author; a load tester's
    /// author is its owner, so it follows from the seed.
    fn next_key(&mut self) -> Option<[u8; 4]> {
        if self.role == Role::Server {
            return None;
        }
        self.masks += 1;
        Some((mix(self.mask_seed, self.masks) as u32).to_ne_bytes())
    }
}
