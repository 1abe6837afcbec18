//! Encoding: whole bodies of requests, which lie in memory, at each coding's usual level.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::coding::Coding;

/// brotli's usual level and window, as Go's encoder has them.
const BROTLI_LEVEL: u32 = 6;
const BROTLI_WINDOW: u32 = 22;

impl Coding {
    /// A body in this coding; one that we do not know leaves it as it is.
    ///
    /// # Panics
    /// Never: what is written to lies in memory.
    #[must_use]
    pub fn encode(self, body: &[u8]) -> Vec<u8> {
        const MEMORY: &str = "a vector takes every byte";
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body).expect(MEMORY);
                encoder.finish().expect(MEMORY)
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body).expect(MEMORY);
                encoder.finish().expect(MEMORY)
            }
            Self::Brotli => {
                let mut coded = Vec::new();
                let (level, window) = (BROTLI_LEVEL, BROTLI_WINDOW);
                let mut encoder = brotli::CompressorReader::new(body, 4096, level, window);
                encoder.read_to_end(&mut coded).expect(MEMORY);
                coded
            }
            Self::Zstd => compress_to_vec(body, CompressionLevel::Fastest),
            Self::Unknown => body.to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Codings, ContentDecoder};

    #[test]
    fn what_is_encoded_is_decoded() {
        for name in ["gzip", "deflate", "br", "zstd"] {
            for body in [&b""[..], b"x", &b"compress me ".repeat(10_000)] {
                let coding = Coding::of_name(name).expect("a coding");
                let coded = coding.encode(body);
                assert!(body.len() < 1000 || coded.len() < body.len() / 10, "{name}");
                let mut codings = Codings::default();
                codings.push_field(name.as_bytes());
                let mut decoder = ContentDecoder::new(&codings).expect("known");
                let mut decoded = Vec::new();
                decoder
                    .decode(&coded, &mut |piece| decoded.extend_from_slice(piece))
                    .expect("sound");
                decoder.finish().expect("whole");
                assert_eq!(decoded, body, "{name}");
            }
        }
    }
}
