//! `decompressed`: the bytes of a file that may be compressed. Which it is, its first bytes say; its name says nothing.

use std::io::{self, BufReader, Chain, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use super::Compression;
use super::zstd_frames::ZstdFrames;

/// The bytes of an input, decompressed if they are compressed. Nothing is read before the first read. One that is cut fails with
/// [`ErrorKind::UnexpectedEof`] after the bytes that came.
pub fn decompressed<R: Read + Send + 'static>(input: R) -> impl Read + Send + use<R> {
    Decompressor { input: Some(input), mark: Vec::new(), from: From::Unknown }
}

struct Decompressor<R> {
    /// `None` once it is known what it is compressed with.
    input: Option<R>,
    /// The first bytes, until they are as many as are needed.
    mark: Vec<u8>,
    from: From<Chain<Cursor<Vec<u8>>, R>>,
}

enum From<R> {
    Unknown,
    Plain(R),
    Gzip(Box<MultiGzDecoder<R>>),
    Zstd(Box<ZstdFrames<BufReader<R>>>),
}

impl<R: Read> Decompressor<R> {
    /// Reads the first bytes, and no more of a live pipe than it needs.
    fn look(&mut self) -> io::Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        while self.mark.len() < Compression::MARK_LEN {
            let mut bytes = [0; Compression::MARK_LEN];
            let room = Compression::MARK_LEN - self.mark.len();
            match input.read(&mut bytes[..room]) {
                Ok(0) => break,
                Ok(len) => self.mark.extend_from_slice(&bytes[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let mark = std::mem::take(&mut self.mark);
        let compression = Compression::of_bytes(&mark);
        let Some(input) = self.input.take() else { return Ok(()) };
        let whole = Cursor::new(mark).chain(input);
        self.from = match compression {
            Compression::None => From::Plain(whole),
            Compression::Gzip => From::Gzip(Box::new(MultiGzDecoder::new(whole))),
            Compression::Zstd => From::Zstd(Box::new(ZstdFrames::new(BufReader::new(whole)))),
        };
        Ok(())
    }
}

impl<R: Read> Read for Decompressor<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.look()?;
        match &mut self.from {
            From::Unknown => Ok(0),
            From::Plain(input) => input.read(buf),
            From::Gzip(input) => input.read(buf),
            From::Zstd(input) => input.read(buf),
        }
    }
}
