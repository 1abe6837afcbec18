//! Bodies made in advance: filler, one text in four content codings, and the parts of a gzip bomb.

use std::io::Write;
use std::sync::LazyLock;

use flate2::write::{GzEncoder, ZlibEncoder};
use flate2::{Compress, Compression, Crc, FlushCompress};

use crate::route::Coding;

/// What plain bodies consist of, over and over.
const WORDS: &[u8; 14] = b"Hello, world!\n";
/// The most bytes a producer of a long body adds at once: 16 KiB.
pub(crate) const PIECE: usize = 16 << 10;
/// [`TEXT_LINE`] so many times is the text that `/gzip`, `/br` and the others carry.
const TEXT_LINES: usize = 64;
const TEXT_LINE: &str = "The quick brown fox jumps over the lazy dog; brunt counts its steps.\n";

/// A GiB of zeros, in MiB.
pub(crate) const BOMB_BLOCKS: u32 = 1024;
const BOMB_BLOCK: usize = 1 << 20;

/// Appends `len` bytes of filler that begin where byte `at` of an endless filler would be.
pub(crate) fn fill(out: &mut Vec<u8>, at: u64, len: usize) {
    let from = (at % WORDS.len() as u64) as usize;
    out.extend(WORDS.iter().cycle().skip(from).take(len));
}

/// The text that the coded bodies decode to.
pub(crate) fn text() -> String {
    TEXT_LINE.repeat(TEXT_LINES)
}

/// The text in a content coding.
pub(crate) fn coded(coding: Coding) -> &'static [u8] {
    match coding {
        Coding::Gzip => &GZIP,
        Coding::Deflate => &DEFLATE,
        Coding::Brotli => BROTLI,
        Coding::Zstd => ZSTD,
    }
}

static GZIP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text().as_bytes()).and_then(|()| encoder.finish()).expect(IN_MEMORY)
});

/// The coding named `deflate` is zlib's format. RFC 9110, 8.4.1.2.
static DEFLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text().as_bytes()).and_then(|()| encoder.finish()).expect(IN_MEMORY)
});

const IN_MEMORY: &str = "compressing into memory does not fail";

// No encoder of these is worth its weight here; the bytes were made once, from `text()`:
//   brotli: python3 -c 'import brotli,sys; sys.stdout.buffer.write(brotli.compress(sys.stdin.buffer.read()))'
//   zstd:   zstd -19
static BROTLI: &[u8] = include_bytes!("bodies/text.br");
static ZSTD: &[u8] = include_bytes!("bodies/text.zst");

/// The parts of a gzip file. The middle part is repeated [`BOMB_BLOCKS`] times.
#[derive(Debug)]
pub(crate) struct Bomb {
    /// gzip's header. RFC 1952, 2.3.
    pub(crate) head: [u8; 10],
    /// A MiB of zeros, deflated, on byte boundaries and without reference to what came before: so it can be repeated
    /// and costs no work to send.
    pub(crate) block: Vec<u8>,
    /// An empty last block, the checksum and the length.
    pub(crate) tail: [u8; 10],
}

impl Bomb {
    /// The length of the whole file.
    pub(crate) fn len(&self) -> u64 {
        let blocks = self.block.len() as u64 * u64::from(BOMB_BLOCKS);
        (self.head.len() + self.tail.len()) as u64 + blocks
    }
}

pub(crate) static BOMB: LazyLock<Bomb> = LazyLock::new(|| {
    let zeros = vec![0; BOMB_BLOCK];
    let mut block = Vec::with_capacity(64 << 10);
    Compress::new(Compression::best(), false)
        .compress_vec(&zeros, &mut block, FlushCompress::Full)
        .expect(IN_MEMORY);
    let mut one = Crc::new();
    one.update(&zeros);
    let mut crc = Crc::new();
    (0..BOMB_BLOCKS).for_each(|_| crc.combine(&one));
    let mut tail = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    tail[2..6].copy_from_slice(&crc.sum().to_le_bytes());
    tail[6..].copy_from_slice(&(BOMB_BLOCKS << 20).to_le_bytes());
    Bomb { head: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff], block, tail }
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn every_coding_decodes_to_the_text() {
        let decode = |coding, reader: &dyn Fn(&'static [u8]) -> Box<dyn Read>| {
            let mut plain = String::new();
            reader(coded(coding)).read_to_string(&mut plain).expect("decodes");
            assert_eq!(plain, text(), "{coding:?}");
            assert!(coded(coding).len() < text().len() / 10, "{coding:?} compresses");
        };
        decode(Coding::Gzip, &|b| Box::new(flate2::read::GzDecoder::new(b)));
        decode(Coding::Deflate, &|b| Box::new(flate2::read::ZlibDecoder::new(b)));
        decode(Coding::Brotli, &|b| Box::new(brotli_decompressor::Decompressor::new(b, 4096)));
        decode(Coding::Zstd, &|b| {
            Box::new(ruzstd::decoding::StreamingDecoder::new(b).expect("a zstd frame"))
        });
    }

    #[test]
    fn filler_goes_on_where_it_stopped() {
        let mut parts = Vec::new();
        fill(&mut parts, 0, 20);
        fill(&mut parts, 20, 13);
        let mut whole = Vec::new();
        fill(&mut whole, 0, 33);
        assert_eq!(parts, whole);
        assert!(whole.starts_with(b"Hello, world!\nHello"));
    }
}
