//! `Compressor`: bytes into a file, compressed or as they are. What is flushed can be read if the process is killed afterwards.

use std::io::{self, Write};

use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::Compression;

/// Bytes into a file, compressed or as they are.
pub struct Compressor<W: Write> {
    to: To<W>,
    /// Something was written since the last flush: flushing nothing would make a compressed file longer.
    has_more: bool,
}

enum To<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    /// Frame after frame, each of what was written since the one before: the encoder wants whole texts.
    Zstd {
        file: W,
        frame: Vec<u8>,
    },
}

/// Bytes of a frame, at most: more of them compress hardly better.
const FRAME_MAX: usize = 1 << 20;

impl<W: Write> Compressor<W> {
    /// Bytes into this file.
    pub fn new(compression: Compression, file: W) -> Self {
        let to = match compression {
            Compression::None => To::Plain(file),
            // The quickest level: a load generator has other work.
            Compression::Gzip => To::Gzip(GzEncoder::new(file, flate2::Compression::fast())),
            Compression::Zstd => To::Zstd { file, frame: Vec::new() },
        };
        Self { to, has_more: false }
    }

    /// Writes what is left, and the end of what is compressed. Nothing can be written afterwards.
    ///
    /// # Errors
    /// The file refuses it.
    pub fn finish(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Plain(file) => file.flush(),
            To::Gzip(file) => {
                file.try_finish()?;
                file.get_mut().flush()
            }
            To::Zstd { file, frame } => {
                write_frame(file, frame)?;
                file.flush()
            }
        }
    }
}

impl<W: Write> Write for Compressor<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.has_more |= !bytes.is_empty();
        match &mut self.to {
            To::Plain(file) => file.write(bytes),
            To::Gzip(file) => file.write(bytes),
            To::Zstd { file, frame } => {
                frame.extend_from_slice(bytes);
                if frame.len() >= FRAME_MAX {
                    write_frame(file, frame)?;
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let has_more = std::mem::take(&mut self.has_more);
        match &mut self.to {
            To::Plain(file) => file.flush(),
            To::Gzip(file) if has_more => file.flush(),
            To::Gzip(file) => file.get_mut().flush(),
            To::Zstd { file, frame } => {
                write_frame(file, frame)?;
                file.flush()
            }
        }
    }
}

fn write_frame(file: &mut impl Write, frame: &mut Vec<u8>) -> io::Result<()> {
    if !frame.is_empty() {
        file.write_all(&compress_to_vec(&frame[..], CompressionLevel::Fastest))?;
        frame.clear();
    }
    Ok(())
}
