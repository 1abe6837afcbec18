//! Content codings: gzip, deflate, br and zstd, streaming, in bounded memory. RFC 9110, 8.4.

mod accepted;
mod brotli;
mod coding;
mod counted;
mod decoder;
mod encode;
mod error;
mod inflate;
mod output;
#[cfg(test)]
mod tests;
mod zstd;
mod zstd_block;

pub use self::accepted::Accepted;
pub use self::coding::{CODINGS_MAX, Coding, Codings};
pub use self::decoder::ContentDecoder;
pub use self::error::{BOMB_BYTES, BOMB_RATIO, ContentError};
