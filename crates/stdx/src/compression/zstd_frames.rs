//! `ZstdFrames`: Zstandard (RFC 8878), frame after frame, as a reader. ruzstd bounds the window of a frame.

use std::io::{self, BufRead, ErrorKind, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Frame after frame, as a reader.
pub(super) struct ZstdFrames<R> {
    input: EndNoting<R>,
    decoder: FrameDecoder,
    /// The header of a frame was read, and its last byte not yet handed out.
    is_in_frame: bool,
}

impl<R: BufRead> ZstdFrames<R> {
    pub(super) fn new(input: R) -> Self {
        let input = EndNoting { input, ended: false };
        Self { input, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Reads the next header; says whether there was one. A frame to skip is skipped.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.input.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => {
                    self.is_in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.input.by_ref().take(u64::from(length));
                    if io::copy(&mut skipped, &mut io::sink())? < u64::from(length) {
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(self.failure(error)),
            }
        }
        Ok(false)
    }

    /// A frame is whole; its checksum, where it has one, is to be that of its bytes. RFC 8878, 3.1.1.
    fn end(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let expected = self.decoder.get_checksum_from_data();
        if expected.is_some() && expected != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                "a zstd frame has another checksum",
            ));
        }
        Ok(())
    }

    /// The decoder's words for an input that ended are as many as there are places where it may end.
    fn failure(&self, error: FrameDecoderError) -> io::Error {
        match self.input.ended {
            true => ErrorKind::UnexpectedEof.into(),
            false => io::Error::new(ErrorKind::InvalidData, error),
        }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_in_frame && !self.begin()? {
                return Ok(0);
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buf);
            }
            if self.decoder.is_finished() {
                self.end()?;
                continue;
            }
            let block = BlockDecodingStrategy::UptoBlocks(1);
            self.decoder
                .decode_blocks(&mut self.input, block)
                .map_err(|error| self.failure(error))?;
        }
    }
}

/// An input that remembers having ended.
struct EndNoting<R> {
    input: R,
    ended: bool,
}

impl<R: Read> Read for EndNoting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(buf)?;
        self.ended |= len == 0 && !buf.is_empty();
        Ok(len)
    }
}
