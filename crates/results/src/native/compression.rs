//! Compressed buffers of a message's body: zstd, each buffer by itself, behind its length. Source: "Arrow Columnar Format",
//! "Compression"; Message.fbs (`BodyCompression`).

use std::borrow::Cow;
use std::time::Duration;

use wire::content::{Coding, Codings, ContentDecoder};

use super::flatbuffer::{Table, Value};
use super::record_batch::RecordBatch;

/// `CompressionType.ZSTD`.
const ZSTD: u8 = 1;
/// Bytes of the length before a buffer. -1 says that it is not compressed.
const PREFIX: usize = 8;
const NOT_COMPRESSED: i64 = -1;
/// Messages of more rows, or of more a second, are not compressed: they are of loads that need the processor, and what they have is
/// mostly their columns.
const ROWS_MAX: usize = 1 << 10;
/// A message of a pipe's; fewer rows at one moment are no such load.
const SPAN_MIN: Duration = Duration::from_millis(40);
const SECOND: Duration = Duration::from_secs(1);
/// Smaller ones are not: what they have is their description.
const BYTES_MIN: usize = 4 << 10;
/// Nor are larger ones, which have bodies: what becomes of a small message must not fill memory, and is limited where it is read.
const BYTES_MAX: usize = 1 << 20;

/// Whether it is worth it for these rows, whose body has so many bytes. Each message costs its buffers' contexts, and a pipe has 25
/// messages a second where a file has one.
pub(super) fn is_worthwhile(batch: &RecordBatch, bytes: usize) -> bool {
    let span = batch.span().map_or(SECOND, |span| span.clamp(SPAN_MIN, SECOND));
    let rows_per_s = batch.rows as f64 / span.as_secs_f64();
    rows_per_s <= ROWS_MAX as f64 && (BYTES_MIN..=BYTES_MAX).contains(&bytes)
}

/// The field of a header that says so.
pub(super) fn field() -> Value {
    Value::Table(vec![Value::U8(ZSTD)])
}

/// Whether the body below a header is compressed.
///
/// # Errors
/// It is, in another way.
pub(super) fn is_compressed(header: &Table<'_>) -> Result<bool, String> {
    match header.table(3) {
        None => Ok(false),
        Some(compression) if (compression.u8(0), compression.u8(1)) == (ZSTD, 0) => Ok(true),
        Some(_) => Err("a body that is compressed by LZ4".to_owned()),
    }
}

/// A buffer, compressed where that makes it smaller.
pub(super) fn compress(raw: &[u8]) -> Vec<u8> {
    if raw.is_empty() {
        return Vec::new();
    }
    let coded = Coding::Zstd.encode(raw);
    let (len, bytes) = match coded.len() < raw.len() {
        true => (raw.len() as i64, &coded[..]),
        false => (NOT_COMPRESSED, raw),
    };
    [&len.to_le_bytes(), bytes].concat()
}

/// A buffer's own bytes, of which there may be so many.
///
/// # Errors
/// They are more, or other than they should be.
pub(super) fn decompress(buffer: &[u8], max: usize) -> Result<Cow<'_, [u8]>, String> {
    let Some((prefix, bytes)) = buffer.split_first_chunk::<PREFIX>() else {
        return match buffer.is_empty() {
            true => Ok(Cow::Borrowed(buffer)),
            false => Err("a compressed buffer without its length".to_owned()),
        };
    };
    let len = i64::from_le_bytes(*prefix);
    if len == NOT_COMPRESSED {
        return Ok(Cow::Borrowed(bytes));
    }
    let len = usize::try_from(len).ok().filter(|len| *len <= max);
    let len = len.ok_or_else(|| "a compressed buffer that is too long".to_owned())?;
    let mut raw = Vec::with_capacity(len);
    let wrong = || "a compressed buffer that is damaged".to_owned();
    let mut codings = Codings::default();
    codings.push_field(b"zstd");
    let mut decoder = ContentDecoder::new(&codings).map_err(|_| wrong())?;
    // Of what is longer than it says nothing more is stored.
    let mut store =
        |part: &[u8]| raw.extend_from_slice(&part[..part.len().min(len + 1 - raw.len())]);
    let decoded = decoder.decode(bytes, &mut store).and_then(|()| decoder.finish());
    match decoded {
        Ok(()) if raw.len() == len => Ok(Cow::Owned(raw)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_lead_back() {
        let numbers: Vec<u8> = (0..500_u64).flat_map(|n| (n * 10_000_019).to_le_bytes()).collect();
        for raw in [&b""[..], b"short", &[0; 4000], &numbers] {
            let coded = compress(raw);
            assert!(coded.len() <= raw.len() + PREFIX);
            assert_eq!(decompress(&coded, raw.len()).unwrap(), raw);
        }
        assert!(compress(&numbers).len() < numbers.len());
    }

    #[test]
    fn damaged_buffers_are_refused() {
        let coded = compress(&[7; 4000]);
        assert!(decompress(&coded, 3999).is_err(), "longer than there is room");
        for at in 1..PREFIX + 4 {
            assert!(decompress(&coded[..at], 4000).is_err(), "{at} bytes");
        }
        let mut longer = coded.clone();
        longer[..PREFIX].copy_from_slice(&3000_i64.to_le_bytes());
        assert!(decompress(&longer, 4000).is_err());
        longer[..PREFIX].copy_from_slice(&(-2_i64).to_le_bytes());
        assert!(decompress(&longer, 4000).is_err());
    }
}
