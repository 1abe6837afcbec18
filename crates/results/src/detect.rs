//! Detects the encoding of an input by its first bytes. It reads no more of them than the decision needs.

use crate::feed::Feed;
use crate::native::{ArrowSource, ParquetSource};
use crate::source::{Fault, RECORD_MAX, RecordSource, Source};
use crate::{Encoding, csv, gob, json};

/// The encoding of what comes, or `None` for an empty or foreign input.
pub(crate) fn detect(feed: &mut Feed) -> Result<Option<Encoding>, Fault> {
    // Before a text, by an editor or a shell of Windows. No format of ours begins with it.
    if feed.need(BYTE_ORDER_MARK.len())? && feed.pending().starts_with(BYTE_ORDER_MARK) {
        feed.consume(BYTE_ORDER_MARK.len());
    }
    if !feed.need(4)? {
        return Ok(None);
    }
    if feed.pending().starts_with(&[0xff; 4]) || feed.pending().starts_with(b"ARRO") {
        return Ok(Some(Encoding::Arrow));
    }
    if feed.pending().starts_with(b"PAR1") {
        return Ok(Some(Encoding::Parquet));
    }
    loop {
        if let Some(found) = detect_in(feed.pending(), feed.ended()) {
            return Ok(found);
        }
        if feed.ended() || feed.pending().len() > RECORD_MAX {
            return Ok(None);
        }
        feed.fill()?;
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes a gob stream needs for the description of its first type, with room to spare.
const GOB_START_MAX: usize = 64 << 10;

/// `None` where more bytes are needed.
fn detect_in(bytes: &[u8], ended: bool) -> Option<Option<Encoding>> {
    if gob::is_start(bytes) {
        return Some(Some(Encoding::Gob));
    }
    let text = bytes.trim_ascii_start();
    match text.first() {
        None => ended.then_some(None),
        Some(b'{') => detect_json(text, ended),
        Some(b'0'..=b'9') => detect_csv(text, ended),
        // The length of a gob message that is not whole yet.
        Some(0x80..) if !ended && bytes.len() < GOB_START_MAX => None,
        Some(_) => Some(None),
    }
}

fn detect_json(text: &[u8], ended: bool) -> Option<Option<Encoding>> {
    let line = match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => &text[..end],
        None if ended => text,
        None => return None,
    };
    Some(json::is_row(line).then_some(Encoding::Json))
}

fn detect_csv(text: &[u8], ended: bool) -> Option<Option<Encoding>> {
    csv::is_row(text, ended).map(|row| row.then_some(Encoding::Csv))
}

/// The source of an input of this encoding.
pub(crate) fn source(encoding: Encoding, feed: Feed) -> Result<Box<dyn Source>, Fault> {
    Ok(match encoding {
        Encoding::Arrow => Box::new(ArrowSource::open(feed)?),
        Encoding::Parquet => Box::new(ParquetSource::open(feed)?),
        Encoding::Csv => Box::new(RecordSource { feed, records: csv::CsvRecords::default() }),
        Encoding::Json => Box::new(RecordSource { feed, records: json::JsonRecords::default() }),
        Encoding::Gob => Box::new(RecordSource { feed, records: gob::GobRecords::default() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_a_byte_order_mark_hides_no_encoding() {
        let of = |bytes: &'static [u8]| detect(&mut Feed::new(Box::new(bytes))).expect("memory");
        let row = b"\xef\xbb\xbf1,200,1,0,0,,,bmFtZQ==,0,GET,http://h/,\n";
        assert_eq!(of(row), Some(Encoding::Csv));
        assert_eq!(of(&row[3..]), Some(Encoding::Csv));
        assert_eq!(of(b"\xef\xbb\xbf"), None);
        assert_eq!(of(b"\xef\xbb\xbfPAR1"), Some(Encoding::Parquet));
    }
}
