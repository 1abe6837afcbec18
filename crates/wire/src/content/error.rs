//! `ContentError`: why a body cannot be decoded, and the bounds on what it may decode to.

use thiserror::Error;

/// Decoded bytes up to here are never called a bomb: 64 MiB, a moment's work.
pub const BOMB_BYTES: u64 = 64 << 20;

/// Beyond [`BOMB_BYTES`], more decoded bytes per encoded byte than this are a bomb; DEFLATE can reach 1032.
pub const BOMB_RATIO: u64 = 500;

/// Why a body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ContentError {
    /// The coding is unknown, or there are more than [`super::CODINGS_MAX`].
    #[error("unsupported content encoding")]
    Unsupported,
    /// gzip: a header, a block or a checksum is wrong.
    #[error("gzip: invalid data")]
    Gzip,
    /// deflate: a block or a checksum is wrong.
    #[error("deflate: corrupt input")]
    Deflate,
    /// brotli: the stream is wrong.
    #[error("brotli: corrupt input")]
    Brotli,
    /// zstd: the stream is wrong, or its window is larger than 8 MiB (RFC 9659).
    #[error("zstd: corrupt input")]
    Zstd,
    /// The body ended in the middle of the stream.
    #[error("the body ended within its content coding")]
    Truncated,
    /// No memory is left for the window of its coding, or for the head.
    #[error("no memory is left for the response (-memory-limit)")]
    Memory,
    /// The body decodes to more than [`BOMB_BYTES`] and [`BOMB_RATIO`] allow.
    #[error("decoded body too large (more than {BOMB_RATIO} times its encoded size)")]
    Bomb,
}
