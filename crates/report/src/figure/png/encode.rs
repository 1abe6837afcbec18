//! A canvas as PNG: eight bits of red, green and blue each, one image of unfiltered rows. Source: PNG (Third Edition), 5 and 11.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::canvas::Canvas;

/// The bytes every PNG begins with. PNG, 5.2.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

/// The bytes of the file.
///
/// # Errors
/// The compressor fails, which it does not when it writes to memory.
pub(super) fn encode(canvas: &Canvas) -> io::Result<Vec<u8>> {
    let (width, height) = canvas.size();
    let mut header = Vec::from(width.to_be_bytes());
    header.extend(height.to_be_bytes());
    // Bit depth 8, colour type 2 (RGB), the only methods of compression and filtering there are, not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    let mut data = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in canvas.rows() {
        data.write_all(&[0])?;
        data.write_all(row)?;
    }
    let mut file = Vec::from(SIGNATURE);
    chunk(&mut file, *b"IHDR", &header);
    chunk(&mut file, *b"IDAT", &data.finish()?);
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// Adds a chunk: length, type, data, checksum of type and data. PNG, 5.3.
fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut checksum = flate2::Crc::new();
    checksum.update(&kind);
    checksum.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(checksum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn chunks_have_their_lengths_and_checksums() {
        let file = encode(&Canvas::new(3, 2)).unwrap();
        assert_eq!(file[..8], SIGNATURE);
        assert_eq!(file[8..16], *b"\0\0\0\x0dIHDR");
        let (mut rest, mut kinds, mut data) = (&file[8..], Vec::new(), Vec::new());
        while !rest.is_empty() {
            let len = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let mut checksum = flate2::Crc::new();
            checksum.update(&rest[4..8 + len]);
            assert_eq!(rest[8 + len..12 + len], checksum.sum().to_be_bytes());
            kinds.push(String::from_utf8_lossy(&rest[4..8]).into_owned());
            if rest[4..8] == *b"IDAT" {
                flate2::read::ZlibDecoder::new(&rest[8..8 + len]).read_to_end(&mut data).unwrap();
            }
            rest = &rest[12 + len..];
        }
        assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
        assert_eq!(data.len(), 2 * (1 + 3 * 3));
        // The end of every PNG, with its known checksum.
        assert!(file.ends_with(&[0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]));
    }
}
