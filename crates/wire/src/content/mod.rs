//! Content codings: gzip, deflate, br and zstd, streaming, in bounded memory. RFC 9110, 8.4.

mod accepted;
mod brotli;
mod encode;
mod inflate;
mod zstd;

use thiserror::Error;

pub use self::accepted::Accepted;
use self::brotli::Brotli;
use self::inflate::{Inflate, Wrapper};
use self::zstd::Zstd;
use crate::h1::fields::tokens;

/// The most codings stacked on one body.
pub const CODINGS_MAX: usize = 3;
/// Decoded bytes up to here are never called a bomb: 64 MiB, a moment's work.
pub const BOMB_BYTES: u64 = 64 << 20;
/// Beyond [`BOMB_BYTES`], more decoded bytes per encoded byte than this are a bomb; DEFLATE can reach 1032.
pub const BOMB_RATIO: u64 = 500;

/// One content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 bare, as some servers send it.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
    /// A coding that we cannot decode, or one too many.
    Unknown,
}

impl Coding {
    /// The coding that requests are encoded with under this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::from_token(name.as_bytes()).filter(|coding| *coding != Self::Unknown)
    }

    /// The coding of this name; `None` for `identity`, which is none. RFC 9110, 8.4.1.
    fn from_token(token: &[u8]) -> Option<Self> {
        const NAMES: [(&[u8], Coding); 5] = [
            (b"gzip", Coding::Gzip),
            (b"br", Coding::Brotli),
            (b"deflate", Coding::Deflate),
            (b"zstd", Coding::Zstd),
            (b"x-gzip", Coding::Gzip),
        ];
        if token.eq_ignore_ascii_case(b"identity") {
            return None;
        }
        let known = NAMES.iter().find(|(name, _)| token.eq_ignore_ascii_case(name));
        Some(known.map_or(Self::Unknown, |(_, coding)| *coding))
    }
}

/// The codings of a body, in the order they were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    list: [Option<Coding>; CODINGS_MAX],
}

impl Codings {
    /// Adds the codings of one `Content-Encoding` field value; `identity` counts for nothing.
    pub fn push_field(&mut self, value: &[u8]) {
        for token in tokens(value) {
            let Some(coding) = Coding::from_token(token) else {
                continue;
            };
            match self.list.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) => *slot = Some(coding),
                None => self.list = [Some(Coding::Unknown); CODINGS_MAX],
            }
        }
    }

    /// Whether the body is not coded.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.list[0].is_none()
    }

    /// The codings, in the order they were applied.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Coding> + '_ {
        self.list.iter().flatten().copied()
    }
}

/// Why a body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContentError {
    /// The coding is unknown, or there are more than [`CODINGS_MAX`].
    #[error("unsupported content encoding")]
    Unsupported,
    /// gzip: a header, a block or a checksum is wrong.
    #[error("gzip: invalid data")]
    Gzip,
    /// deflate: a block or a checksum is wrong.
    #[error("flate: corrupt input")]
    Deflate,
    /// brotli: the stream is wrong.
    #[error("brotli: corrupt input")]
    Brotli,
    /// zstd: the stream is wrong, or its window is larger than 8 MiB (RFC 9659).
    #[error("zstd: corrupt input")]
    Zstd,
    /// The body ended in the middle of the stream.
    #[error("unexpected EOF")]
    Truncated,
    /// The body decodes to more than [`BOMB_BYTES`] and [`BOMB_RATIO`] allow.
    #[error("decoded body too large (more than {BOMB_RATIO} times its encoded size)")]
    Bomb,
}

/// Decodes one body after the other. Holds about 64 KiB once it met gzip or deflate, up to 17 MiB for brotli, up to 9 MiB
/// for zstd (their windows), and keeps that for the next body of the same codings.
#[derive(Debug, Default)]
pub struct ContentDecoder {
    /// The coding that was applied last comes first.
    stages: Vec<Stage>,
    /// Whether `stages` are in use; a body that is not coded leaves them for the next one.
    coded: bool,
    budget: Budget,
}

/// The decoder of one coding.
#[derive(Debug)]
enum Stage {
    Gzip(Inflate),
    Deflate(Inflate),
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

/// Where a decoder's output goes.
type Sink<'s> = dyn FnMut(&[u8]) -> Result<(), ContentError> + 's;

impl ContentDecoder {
    /// A decoder for a body with these codings.
    ///
    /// # Errors
    /// A coding is unknown.
    pub fn new(codings: &Codings) -> Result<Self, ContentError> {
        let mut decoder = Self::default();
        decoder.reset(codings)?;
        Ok(decoder)
    }

    /// Whether it decodes these codings without taking memory for them.
    #[must_use]
    pub fn fits(&self, codings: &Codings) -> bool {
        codings.iter().rev().eq(self.stages.iter().map(Stage::coding))
    }

    /// Whether it holds windows of megabytes: those of brotli or zstd.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.stages.iter().any(|stage| matches!(stage, Stage::Brotli(_) | Stage::Zstd(_)))
    }

    /// Makes ready for another body; keeps the memory if the codings are the same as before.
    ///
    /// # Errors
    /// A coding is unknown; the body must be taken as it is.
    pub fn reset(&mut self, codings: &Codings) -> Result<(), ContentError> {
        self.budget = Budget::default();
        self.coded = !codings.is_identity();
        if !self.coded {
            return Ok(());
        }
        if self.fits(codings) {
            self.stages.iter_mut().for_each(Stage::reset);
            return Ok(());
        }
        self.stages.clear();
        for coding in codings.iter().rev() {
            self.stages.push(Stage::new(coding)?);
        }
        Ok(())
    }

    /// Decodes a part of the body. `out` is called with pieces; none is larger than 9 MiB, most are 16 KiB.
    ///
    /// # Errors
    /// The stream is broken or a bomb; the decoder is of no use until [`ContentDecoder::reset`].
    pub fn decode(&mut self, input: &[u8], out: &mut dyn FnMut(&[u8])) -> Result<(), ContentError> {
        if !self.coded {
            out(input);
            return Ok(());
        }
        self.budget.encoded += input.len() as u64;
        feed(&mut self.stages, &mut self.budget, input, out)
    }

    /// The body ended. A body without a single byte is whole, whatever its coding.
    ///
    /// # Errors
    /// The stream did not.
    pub fn finish(&mut self) -> Result<(), ContentError> {
        if !self.coded || self.budget.encoded == 0 {
            return Ok(());
        }
        let whole = self.stages.iter().all(Stage::is_finished);
        if whole { Ok(()) } else { Err(ContentError::Truncated) }
    }
}

/// Sends bytes through the stages and on to `out`; what every stage gives is counted.
fn feed(
    stages: &mut [Stage],
    budget: &mut Budget,
    input: &[u8],
    out: &mut dyn FnMut(&[u8]),
) -> Result<(), ContentError> {
    let Some((stage, rest)) = stages.split_first_mut() else {
        out(input);
        return Ok(());
    };
    stage.decode(input, &mut |bytes| {
        budget.spend(bytes.len())?;
        feed(rest, budget, bytes, out)
    })
}

impl Stage {
    fn new(coding: Coding) -> Result<Self, ContentError> {
        match coding {
            Coding::Gzip => Ok(Self::Gzip(Inflate::new(Wrapper::Gzip))),
            Coding::Deflate => Ok(Self::Deflate(Inflate::new(Wrapper::ZlibOrNone))),
            Coding::Brotli => Ok(Self::Brotli(Box::default())),
            Coding::Zstd => Ok(Self::Zstd(Box::default())),
            Coding::Unknown => Err(ContentError::Unsupported),
        }
    }

    const fn coding(&self) -> Coding {
        match self {
            Self::Gzip(_) => Coding::Gzip,
            Self::Deflate(_) => Coding::Deflate,
            Self::Brotli(_) => Coding::Brotli,
            Self::Zstd(_) => Coding::Zstd,
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.reset(),
            Self::Brotli(brotli) => brotli.reset(),
            Self::Zstd(zstd) => zstd.reset(),
        }
    }

    fn decode(&mut self, input: &[u8], out: &mut Sink<'_>) -> Result<(), ContentError> {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.decode(input, out),
            Self::Brotli(brotli) => brotli.decode(input, out),
            Self::Zstd(zstd) => zstd.decode(input, out),
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Self::Gzip(inflate) | Self::Deflate(inflate) => inflate.is_finished(),
            Self::Brotli(brotli) => brotli.is_finished(),
            Self::Zstd(zstd) => zstd.is_finished(),
        }
    }
}

/// Encoded bytes taken in and decoded bytes given out, those between two stages included.
#[derive(Clone, Copy, Debug, Default)]
struct Budget {
    encoded: u64,
    decoded: u64,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), ContentError> {
        self.decoded += bytes as u64;
        let bomb =
            self.decoded > BOMB_BYTES && self.decoded > self.encoded.saturating_mul(BOMB_RATIO);
        if bomb { Err(ContentError::Bomb) } else { Ok(()) }
    }
}

/// Room for what a decoder gives at once: 16 KiB.
const OUTPUT_BYTES: usize = 16 << 10;

fn output_buffer() -> Box<[u8]> {
    vec![0; OUTPUT_BYTES].into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::*;

    fn codings(value: &str) -> Codings {
        let mut codings = Codings::default();
        codings.push_field(value.as_bytes());
        codings
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).expect("a Vec takes all");
        encoder.finish().expect("a Vec takes all")
    }

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).expect("a Vec takes all");
        encoder.finish().expect("a Vec takes all")
    }

    fn raw_deflate(data: &[u8]) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(data).expect("a Vec takes all");
        encoder.finish().expect("a Vec takes all")
    }

    fn zstd(data: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// Brotli without compression: a header of window 16 bits, stored meta-blocks, the empty last one (RFC 7932, 9.2).
    fn brotli(data: &[u8]) -> Vec<u8> {
        let mut bits: Vec<bool> = vec![false];
        let push = |value: usize, n: usize, bits: &mut Vec<bool>| {
            bits.extend((0..n).map(|at| value >> at & 1 == 1));
        };
        for piece in data.chunks(1 << 16) {
            push(0, 1, &mut bits); // ISLAST
            push(0, 2, &mut bits); // MNIBBLES: 4
            push(piece.len() - 1, 16, &mut bits);
            push(1, 1, &mut bits); // ISUNCOMPRESSED
            bits.resize(bits.len().next_multiple_of(8), false);
            for byte in piece {
                push(usize::from(*byte), 8, &mut bits);
            }
        }
        push(3, 2, &mut bits); // ISLAST, ISLASTEMPTY
        let byte = |bits: &[bool]| {
            bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
        };
        bits.chunks(8).map(byte).collect()
    }

    fn decode(decoder: &mut ContentDecoder, pieces: &[&[u8]]) -> Result<Vec<u8>, ContentError> {
        let mut data = Vec::new();
        for piece in pieces {
            decoder.decode(piece, &mut |bytes| data.extend_from_slice(bytes))?;
        }
        decoder.finish()?;
        Ok(data)
    }

    fn sample() -> Vec<u8> {
        (0..100_000u32).flat_map(|n| (n.wrapping_mul(n) / 7).to_le_bytes()).collect()
    }

    /// Every coding, whole and in pieces of 1, 7 and 1000 bytes, twice with the same decoder.
    #[test]
    fn decodes_every_coding() {
        let data = sample();
        let small = &data[..3000];
        let cases: [(&str, Vec<u8>, &[u8]); 10] = [
            ("gzip", gzip(&data), &data),
            ("x-gzip", gzip(small), small),
            ("deflate", zlib(&data), &data),
            ("deflate", raw_deflate(&data), &data),
            ("br", brotli(&data), &data),
            ("zstd", zstd(&data), &data),
            ("identity", small.to_vec(), small),
            ("gzip, gzip", gzip(&gzip(small)), small),
            ("deflate, br , zstd", zstd(&brotli(&zlib(small))), small),
            ("gzip", [gzip(&small[..10]), gzip(&small[10..])].concat(), small),
        ];
        for (value, encoded, data) in cases {
            let codings = codings(value);
            let mut decoder = ContentDecoder::new(&codings).expect(value);
            for size in [encoded.len(), 1000, 7, 1] {
                let pieces: Vec<&[u8]> = encoded.chunks(size).collect();
                let got = decode(&mut decoder, &pieces);
                assert!(got.as_deref() == Ok(data), "{value} in pieces of {size}: {:?}", got.err());
                decoder.reset(&codings).expect(value);
            }
        }
    }

    #[test]
    fn truncations_and_damage_are_errors() {
        let data = sample();
        let cases = [
            ("gzip", gzip(&data), ContentError::Gzip),
            ("deflate", zlib(&data), ContentError::Deflate),
            ("zstd", zstd(&data), ContentError::Zstd),
        ];
        for (value, encoded, fault) in cases {
            let mut decoder = ContentDecoder::new(&codings(value)).expect(value);
            for len in [1, 5, 11, encoded.len() / 2, encoded.len() - 1] {
                decoder.reset(&codings(value)).expect(value);
                let got = decode(&mut decoder, &[&encoded[..len]]).err();
                assert_eq!(got, Some(ContentError::Truncated), "{value} cut at {len}");
            }
            // The last bytes are the checksum.
            let mut damaged = encoded.clone();
            let at = damaged.len() - if value == "gzip" { 5 } else { 1 };
            damaged[at] ^= 1;
            decoder.reset(&codings(value)).expect(value);
            assert_eq!(decode(&mut decoder, &[&damaged]).err(), Some(fault), "{value} damaged");
            decoder.reset(&codings(value)).expect(value);
            let longer = [encoded, b"garbage and more".to_vec()].concat();
            assert_eq!(decode(&mut decoder, &[&longer]).err(), Some(fault), "{value} and garbage");
        }
        let mut decoder = ContentDecoder::new(&codings("br")).expect("br");
        let encoded = brotli(&data);
        let cut = decode(&mut decoder, &[&encoded[..encoded.len() / 2]]);
        assert_eq!(cut.err(), Some(ContentError::Truncated));
    }

    #[test]
    fn gzip_headers_with_every_field() {
        let plain = gzip(b"hello");
        let mut encoded = plain[..10].to_vec();
        encoded[3] = 0b0001_1110; // FHCRC, FEXTRA, FNAME, FCOMMENT
        encoded.extend_from_slice(b"\x03\x00abcname\0comment\0\x12\x34");
        encoded.extend_from_slice(&plain[10..]);
        let mut decoder = ContentDecoder::new(&codings("gzip")).expect("gzip");
        let bytes: Vec<&[u8]> = encoded.chunks(1).collect();
        assert_eq!(decode(&mut decoder, &bytes).as_deref(), Ok(&b"hello"[..]));
    }

    #[test]
    fn fields_are_read() {
        assert!(codings("").is_identity());
        assert!(codings("identity, ").is_identity());
        let list: Vec<Coding> = codings("GZIP,br").iter().collect();
        assert_eq!(list, [Coding::Gzip, Coding::Brotli]);
        for value in ["compress", "gzip, gzip, gzip, gzip"] {
            assert_eq!(ContentDecoder::new(&codings(value)).err(), Some(ContentError::Unsupported));
        }
    }

    #[test]
    fn an_empty_body_is_whole() {
        for value in ["gzip", "deflate", "br", "zstd"] {
            let mut decoder = ContentDecoder::new(&codings(value)).expect(value);
            assert_eq!(decode(&mut decoder, &[]), Ok(Vec::new()), "{value}");
        }
    }

    /// zstd blocks of one repeated byte: 4 bytes for 128 KiB each, without end.
    #[test]
    fn a_bomb_costs_only_time() {
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]; // no checksum, window of 2 MiB
        let block = ((1u32 << 17 << 3) | 0b010).to_le_bytes();
        let blocks = [[block[0], block[1], block[2], 0]; 64].concat();
        let mut decoder = ContentDecoder::new(&codings("zstd")).expect("zstd");
        let mut decoded = 0;
        decoder.decode(&header, &mut |_| {}).expect("a header");
        let fault = (0..1000).find_map(|_| {
            decoder.decode(&blocks, &mut |bytes| decoded += bytes.len() as u64).err()
        });
        assert_eq!(fault, Some(ContentError::Bomb));
        assert!(decoded <= BOMB_BYTES, "{decoded}");
    }

    #[test]
    fn zstd_windows_are_bounded() {
        // A window of 16 MiB: exponent 14, mantissa 0.
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3];
        let mut decoder = ContentDecoder::new(&codings("zstd")).expect("zstd");
        assert_eq!(decoder.decode(&header, &mut |_| {}), Err(ContentError::Zstd));
    }

    #[test]
    fn the_budget_spares_small_and_dense_bodies() {
        let mut small = Budget { encoded: 1, decoded: 0 };
        assert_eq!(small.spend(BOMB_BYTES as usize), Ok(()));
        assert_eq!(small.spend(1), Err(ContentError::Bomb));
        let mut dense = Budget { encoded: BOMB_BYTES, decoded: 0 };
        assert_eq!(dense.spend(100 * BOMB_BYTES as usize), Ok(()));
    }
}
