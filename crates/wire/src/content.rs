//! Content codings: gzip, deflate, br and zstd, streaming, in bounded memory. RFC 9110, 8.4.

use thiserror::Error;

/// The most codings stacked on one body.
pub const CODINGS_MAX: usize = 3;
/// Decoded bytes up to here are never called a bomb: 1 GiB.
pub const BOMB_BYTES: u64 = 1 << 30;
/// Beyond [`BOMB_BYTES`], more decoded bytes per encoded byte than this are a bomb.
pub const BOMB_RATIO: u64 = 1000;

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

/// The codings of a body, in the order they were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    list: [Option<Coding>; CODINGS_MAX],
}

impl Codings {
    /// Adds the codings of one `Content-Encoding` field value; `identity` counts for nothing.
    pub fn push_field(&mut self, _value: &[u8]) {
        todo!()
    }

    /// Whether the body is not coded.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        todo!()
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

/// Decodes one body after the other.
#[derive(Debug, Default)]
pub struct ContentDecoder {}

impl ContentDecoder {
    /// A decoder for a body with these codings.
    ///
    /// # Errors
    /// A coding is unknown.
    pub fn new(_codings: &Codings) -> Result<Self, ContentError> {
        todo!()
    }

    /// Makes ready for another body; keeps what memory it can.
    ///
    /// # Errors
    /// A coding is unknown.
    pub fn reset(&mut self, _codings: &Codings) -> Result<(), ContentError> {
        todo!()
    }

    /// Decodes a part of the body. `out` is called with pieces of at most 32 KiB.
    ///
    /// # Errors
    /// The stream is broken or a bomb; the decoder is of no use until [`ContentDecoder::reset`].
    pub fn decode(
        &mut self,
        _input: &[u8],
        _out: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ContentError> {
        todo!()
    }

    /// The body ended.
    ///
    /// # Errors
    /// The stream did not.
    pub fn finish(&mut self) -> Result<(), ContentError> {
        todo!()
    }
}
