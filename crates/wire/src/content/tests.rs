//! Every coding, whole and in pieces, damaged, and as a bomb.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::decoder::Budget;
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
    let fault = (0..1000)
        .find_map(|_| decoder.decode(&blocks, &mut |bytes| decoded += bytes.len() as u64).err());
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
