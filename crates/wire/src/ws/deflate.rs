//! permessage-deflate (RFC 7692, 7.2): a message's payload deflated, without the four bytes that end each flush.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::fault::WsError;

/// What ends a flush and is left out of the message. RFC 7692, 7.2.1.
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// The least room made for inflated bytes at once; the most is a MiB.
const ROOM_MIN: usize = 1 << 10;
const ROOM_MAX: usize = 1 << 20;
/// A message's compressed bytes may be so many more than five quarters of what they came to. Honest ones never are: a byte takes
/// nine bits at most, and a flush five bytes.
const SPARE_BYTES: usize = 64 << 10;
/// A message may hold this many blocks that say they are the last one, and one more for each KiB: each makes the inflater begin
/// anew.
const ENDS_MAX: usize = 64;
const BYTES_PER_END: usize = 1 << 10;
/// The two are looked at each time that so many bytes more were taken, so that it is all the same how they were split.
const STRIDE_BYTES: usize = 16 << 10;

/// Inflates messages; some 45 KiB.
#[derive(Debug)]
pub(super) struct Inflater {
    decompress: Decompress,
    /// The message's compressed bytes so far.
    taken: usize,
    /// How often a block said that it is the last one.
    ends: usize,
}

/// Deflates messages; some 300 KiB.
#[derive(Debug)]
pub(super) struct Deflater(Compress);

impl Inflater {
    pub(super) fn new() -> Self {
        Self { decompress: Decompress::new(false), taken: 0, ends: 0 }
    }

    /// Forgets the messages so far.
    pub(super) fn reset(&mut self) {
        self.decompress.reset(false);
    }

    /// Appends what a piece of a message inflates to.
    ///
    /// # Errors
    /// It is no deflate data, or next to nothing but ends of blocks, or `buf` would pass `bytes_max`; nothing is inflated beyond
    /// that but one piece of room.
    pub(super) fn inflate(
        &mut self,
        mut piece: &[u8],
        bytes_max: usize,
        buf: &mut Vec<u8>,
    ) -> Result<(), WsError> {
        loop {
            let room = buf.len().clamp(ROOM_MIN, ROOM_MAX);
            buf.reserve(room);
            let (before, made) = (self.decompress.total_in(), buf.len());
            let stride = &piece[..piece.len().min(STRIDE_BYTES - self.taken % STRIDE_BYTES)];
            let step = self.decompress.decompress_vec(stride, buf, FlushDecompress::None);
            let status = step.map_err(|_| WsError::Inflate)?;
            let taken = (self.decompress.total_in() - before) as usize;
            piece = &piece[taken..];
            self.taken += taken;
            if buf.len() > bytes_max {
                return Err(WsError::TooBig(bytes_max));
            }
            let hollow = self.taken > SPARE_BYTES + buf.len() + buf.len() / 4;
            if hollow && self.taken.is_multiple_of(STRIDE_BYTES) {
                return Err(WsError::Hollow);
            }
            if status == Status::StreamEnd {
                // RFC 7692, 7.2.3.4: a block may say that it is the last one; what follows begins anew.
                self.ends += 1;
                if self.ends > ENDS_MAX + self.taken / BYTES_PER_END {
                    return Err(WsError::Hollow);
                }
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
        let done = self.inflate(&TAIL, bytes_max, buf);
        (self.taken, self.ends) = (0, 0);
        done
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
