//! `Compression`: what the bytes of a file are compressed with, by the ending of its name when it is written and by its first
//! bytes when it is read.

mod reader;
mod writer;
mod zstd_frames;

use std::ffi::OsStr;
use std::path::Path;

pub use reader::decompressed;
pub use writer::Compressor;

/// What the bytes of a file are compressed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Nothing.
    None,
    /// gzip (RFC 1952), `.gz`.
    Gzip,
    /// Zstandard (RFC 8878), `.zst`.
    Zstd,
}

impl Compression {
    /// What a file is compressed with whose name has this ending; the case of its letters says nothing.
    #[must_use]
    pub fn of_ending(ending: &str) -> Self {
        match ending {
            _ if ending.eq_ignore_ascii_case("gz") => Self::Gzip,
            _ if ending.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => Self::None,
        }
    }

    /// A file's name without the ending of compressed files, and what that stands for. A name that is nothing but such an ending has
    /// none.
    #[must_use]
    pub fn of_name(name: &str) -> (&str, Self) {
        let ending = Path::new(name).extension().and_then(OsStr::to_str);
        let compression = ending.map_or(Self::None, Self::of_ending);
        (&name[..name.len() - compression.ending().len()], compression)
    }

    /// What a file is compressed with that begins with these bytes, at least [`Compression::MARK_LEN`] of them where it is so long.
    #[must_use]
    pub fn of_bytes(begin: &[u8]) -> Self {
        match begin {
            // RFC 1952, 2.3.1: the mark, then deflate as the method.
            [0x1f, 0x8b, 8, ..] => Self::Gzip,
            // RFC 8878, 3.1.1 and 3.1.2: a frame, or one to skip.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }

    /// Bytes that [`Compression::of_bytes`] needs.
    pub const MARK_LEN: usize = 4;

    /// What the name of such a file ends in, with the dot; empty where nothing is compressed.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip => ".gz",
            Self::Zstd => ".zst",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use super::*;

    #[test]
    fn names_end_in_what_compresses_their_files() {
        let cases = [
            ("a.csv.gz", "a.csv", Compression::Gzip),
            ("a/b.c/d.ZST", "a/b.c/d", Compression::Zstd),
            ("a.gz/b", "a.gz/b", Compression::None),
            ("a.gz.txt", "a.gz.txt", Compression::None),
            (".gz", ".gz", Compression::None),
            ("a/.zst", "a/.zst", Compression::None),
            ("", "", Compression::None),
        ];
        for (name, stem, compression) in cases {
            assert_eq!(Compression::of_name(name), (stem, compression), "{name}");
        }
    }

    fn compressed(compression: Compression, pieces: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut file = Compressor::new(compression, &mut bytes);
        for piece in pieces {
            file.write_all(piece).unwrap();
            file.flush().unwrap();
        }
        file.finish().unwrap();
        drop(file);
        bytes
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        decompressed(io::Cursor::new(bytes)).read_to_end(&mut plain).map(|_| plain)
    }

    #[test]
    fn what_is_compressed_comes_back() {
        let long: Vec<u8> = (0..3_000_000u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let cases: [&[&[u8]]; 5] =
                [&[], &[b""], &[b"a"], &[b"one\n", b"two\n"], &[&long, b"x"]];
            for pieces in cases {
                let bytes = compressed(compression, pieces);
                assert!(
                    pieces.is_empty()
                        || compression == Compression::of_bytes(&bytes)
                        || bytes.is_empty()
                );
                assert_eq!(read(bytes).unwrap(), pieces.concat(), "{compression:?}");
            }
        }
    }

    #[test]
    fn files_put_one_after_the_other_are_one() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let mut bytes = compressed(compression, &[b"one "]);
            bytes.extend(compressed(compression, &[b"two"]));
            assert_eq!(read(bytes).unwrap(), b"one two");
        }
    }

    #[test]
    fn a_frame_to_skip_is_skipped() {
        let mut bytes = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        bytes.extend(compressed(Compression::Zstd, &[b"text"]));
        assert_eq!(read(bytes).unwrap(), b"text");
    }

    #[test]
    fn a_file_that_is_cut_ends_early() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let text = b"some rows, and some more of them\n".repeat(100);
            let whole = compressed(compression, &[&text, b"the last"]);
            for len in [5, 20, whole.len() - 12, whole.len() - 1] {
                let failed = read(whole[..len].to_vec()).unwrap_err();
                assert_eq!(failed.kind(), io::ErrorKind::UnexpectedEof, "{compression:?} {len}");
            }
        }
    }

    #[test]
    fn bytes_that_are_wrong_are_no_end() {
        for compression in [Compression::Gzip, Compression::Zstd] {
            let mut bytes = compressed(compression, &[b"text"]);
            let last = bytes.len() - 1;
            // Of both it is a part of the checksum.
            bytes[last] ^= 1;
            let failed = read(bytes).unwrap_err();
            assert_ne!(failed.kind(), io::ErrorKind::UnexpectedEof, "{compression:?}: {failed}");
        }
    }

    #[test]
    fn plain_bytes_pass() {
        for text in [&b""[..], b"a", b"GET http://a/\n", b"\x1f\x8b", b"PAR1"] {
            assert_eq!(read(text.to_vec()).unwrap(), text);
        }
    }

    #[test]
    fn endings_name_it_in_any_letter_case() {
        assert_eq!(Compression::of_ending("GZ"), Compression::Gzip);
        assert_eq!(Compression::of_ending("zst"), Compression::Zstd);
        assert_eq!(Compression::of_ending("csv"), Compression::None);
    }
}
