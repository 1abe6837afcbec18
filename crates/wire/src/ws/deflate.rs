//! permessage-deflate (RFC 7692, 7.2): a message's payload deflated, without the four bytes that end each flush.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::WsError;

/// What ends a flush and is left out of the message. RFC 7692, 7.2.1.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// The least room made for inflated bytes at once; the most is a MiB.
const ROOM_MIN: usize = 1 << 10;
const ROOM_MAX: usize = 1 << 20;

/// Inflates messages; some 45 KiB.
#[derive(Debug)]
pub(super) struct Inflater(Decompress);

/// Deflates messages; some 300 KiB.
#[derive(Debug)]
pub(super) struct Deflater(Compress);

impl Inflater {
    pub(super) fn new() -> Self {
        Self(Decompress::new(false))
    }

    /// Forgets the messages so far.
    pub(super) fn reset(&mut self) {
        self.0.reset(false);
    }

    /// Appends what a piece of a message inflates to.
    ///
    /// # Errors
    /// It is no deflate data, or `buf` would pass `bytes_max`; nothing is inflated beyond that but one piece of room.
    pub(super) fn inflate(
        &mut self,
        mut piece: &[u8],
        bytes_max: usize,
        buf: &mut Vec<u8>,
    ) -> Result<(), WsError> {
        loop {
            let room = buf.len().clamp(ROOM_MIN, ROOM_MAX);
            buf.reserve(room);
            let (before, made) = (self.0.total_in(), buf.len());
            let step = self.0.decompress_vec(piece, buf, FlushDecompress::None);
            let status = step.map_err(|_| WsError::Inflate)?;
            let taken = (self.0.total_in() - before) as usize;
            piece = &piece[taken..];
            if buf.len() > bytes_max {
                return Err(WsError::TooBig(bytes_max));
            }
            if status == Status::StreamEnd {
                // RFC 7692, 7.2.3.4: a block may say that it is the last one; what follows begins anew.
                self.reset();
            } else if piece.is_empty() && buf.len() < buf.capacity() {
                return Ok(());
            } else if taken == 0 && buf.len() == made {
                return Err(WsError::Inflate);
            }
        }
    }

    /// The message is complete. RFC 7692, 7.2.2.
    pub(super) fn finish(&mut self, bytes_max: usize, buf: &mut Vec<u8>) -> Result<(), WsError> {
        self.inflate(&TAIL, bytes_max, buf)
    }
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self(Compress::new(Compression::fast(), false))
    }

    /// Appends the message's deflated form. RFC 7692, 7.2.1.
    pub(super) fn deflate(&mut self, mut message: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        loop {
            out.reserve(message.len() / 2 + 64);
            let before = self.0.total_in();
            let step = self.0.compress_vec(message, out, FlushCompress::Sync);
            step.expect(
                "deflating fails only when it is used after its end, which is never asked for",
            );
            message = &message[(self.0.total_in() - before) as usize..];
            if message.is_empty() && out.len() < out.capacity() {
                break;
            }
        }
        if out[start..].ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
        if out.len() == start {
            // RFC 7692, 7.2.3.6: nothing is one empty block.
            out.push(0);
        }
    }
}
