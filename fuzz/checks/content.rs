//! A line with the value of `Content-Encoding`, then the body: it decodes to the same whole and in pieces, and to no more than the
//! bounds allow.

use stdx::{Prng, mix};
use wire::content::{BOMB_BYTES, BOMB_RATIO, Coding, Codings, ContentDecoder, ContentError};

/// What is given out at once, at most: 9 MiB.
const PIECE_BYTES_MAX: usize = 9 << 20;

/// A body of more decoded bytes than this, or a broken one, is decoded in pieces one time in 16: 1 MiB.
const AGAIN_BYTES_MAX: u64 = 1 << 20;
/// So many decoded bytes are hashed: 64 KiB.
const HASHED_BYTES: u64 = 64 << 10;

/// What a body came to: the bytes decoded, and their hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DecodedBody {
    /// Decoded bytes.
    pub(crate) bytes: u64,
    hash: u64,
}

/// Decodes the body whole and in pieces, and encodes it and decodes it again. Gives what it came to when it came whole.
///
/// # Panics
/// The pieces make a difference, a bound is passed, or what we encode does not decode.
pub(crate) fn check(input: &[u8]) -> Result<DecodedBody, ContentError> {
    let line = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let body = input.get(line + 1..).unwrap_or_default();
    let mut codings = Codings::default();
    codings.push_field(&input[..line]);
    let mut decoder = match ContentDecoder::new(&codings) {
        Ok(decoder) => decoder,
        Err(error) => {
            assert_eq!(error, ContentError::Unsupported);
            return Err(error);
        }
    };
    let whole = decode(&mut decoder, body, &mut || body.len().max(1));
    let seed = input.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte)));
    let mut rng = Prng::new(seed);
    if whole.is_ok_and(|whole| whole.bytes <= AGAIN_BYTES_MAX) || seed.is_multiple_of(16) {
        // The same decoder again: what the first body left in it must make no difference.
        decoder.reset(&codings).expect("the codings as before");
        let pieces = decode(&mut decoder, body, &mut || 1 + rng.below(40) as usize);
        assert_eq!(whole.is_ok(), pieces.is_ok(), "{whole:?} {pieces:?}");
        if whole.is_ok() {
            assert_eq!(whole, pieces);
        }
    }
    // An encoder takes megabytes to begin with, so most inputs go without.
    if let Some(coding) = codings.iter().next().filter(|_| seed.is_multiple_of(64)) {
        check_round_trip(coding, body);
    }
    whole
}

fn decode(
    decoder: &mut ContentDecoder,
    body: &[u8],
    piece_len: &mut dyn FnMut() -> usize,
) -> Result<DecodedBody, ContentError> {
    let mut decoded = DecodedBody::default();
    let (mut rest, mut given) = (body, 0);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(piece_len().min(rest.len()));
        given += piece.len() as u64;
        let result = decoder.decode(piece, &mut |bytes| {
            assert!(bytes.len() <= PIECE_BYTES_MAX);
            // Of a bomb's megabytes the count is enough.
            let room = HASHED_BYTES.saturating_sub(decoded.bytes) as usize;
            let hashed = bytes.iter().take(room);
            decoded.hash = hashed.fold(decoded.hash, |hash, byte| mix(hash, u64::from(*byte)));
            decoded.bytes += bytes.len() as u64;
        });
        let bound = BOMB_BYTES.max(given.saturating_mul(BOMB_RATIO)) + PIECE_BYTES_MAX as u64;
        assert!(decoded.bytes <= bound, "{given} bytes became {}", decoded.bytes);
        result?;
        rest = after;
    }
    decoder.finish()?;
    Ok(decoded)
}

fn check_round_trip(coding: Coding, body: &[u8]) {
    let mut codings = Codings::default();
    let name = match coding {
        Coding::Gzip => "gzip",
        Coding::Deflate => "deflate",
        Coding::Brotli => "br",
        Coding::Zstd => "zstd",
        Coding::Unknown => return,
    };
    codings.push_field(name.as_bytes());
    let encoded = coding.encode(body);
    let mut decoder = ContentDecoder::new(&codings).expect("one of ours");
    let mut out = Vec::new();
    decoder.decode(&encoded, &mut |bytes| out.extend_from_slice(bytes)).expect("our encoding");
    decoder.finish().expect("the end of our encoding");
    assert_eq!(out, body);
}
