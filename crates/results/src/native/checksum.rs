//! Checksums of a message of Arrow: CRC-32 of its metadata and body, in the metadata itself, as the value of a key that other
//! readers pass over. Source: Message.fbs of the Arrow format (`custom_metadata`); the CRC is that of IEEE 802.3.

use super::flatbuffer::{Table, Value};

/// The key of the checksum: eight hexadecimal digits.
const KEY: &str = "brunt:crc32";
/// What stands in the place of the digits while the checksum is computed.
const BLANK: &str = "00000000";
/// The field of a message with keys and values.
pub(super) const FIELD: usize = 4;

/// The field with room for the checksum.
pub(super) fn blank() -> Value {
    Value::Tables(vec![vec![Value::Text(KEY.to_owned()), Value::Text(BLANK.to_owned())]])
}

/// Writes the checksum into metadata that has room for it.
pub(super) fn seal(metadata: &mut [u8], body: &[u8]) {
    let digits = Table::root(metadata).and_then(|message| digits(&message));
    let Some(at) = digits.filter(|at| metadata.len() - at >= BLANK.len()) else { return };
    let sum = format!("{:08x}", sum(metadata, at, body));
    metadata[at..at + BLANK.len()].copy_from_slice(sum.as_bytes());
}

/// Whether a message has a checksum.
///
/// # Errors
/// It has, and its bytes have another.
pub(super) fn verify(metadata: &[u8], body: &[u8]) -> Result<bool, String> {
    let message = Table::root(metadata);
    let Some(at) = message.and_then(|message| digits(&message)) else { return Ok(false) };
    let expect = format!("{:08x}", sum(metadata, at, body));
    if metadata[at..at + BLANK.len()] == *expect.as_bytes() {
        Ok(true)
    } else {
        Err(DAMAGED.to_owned())
    }
}

/// Why bytes with another checksum are refused.
pub(super) const DAMAGED: &str = "its bytes are not those that were written (CRC-32): damaged";

/// Where in the metadata the digits stand.
fn digits(message: &Table<'_>) -> Option<usize> {
    let pair = message.tables(FIELD).find(|pair| pair.text(0) == Some(KEY))?;
    pair.place_of_text(1).filter(|range| range.len() == BLANK.len()).map(|range| range.start)
}

fn sum(metadata: &[u8], at: usize, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    let after = &metadata[at + BLANK.len()..];
    for part in [&metadata[..at], BLANK.as_bytes(), after, body] {
        hasher.update(part);
    }
    hasher.finalize()
}
