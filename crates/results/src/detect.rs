//! Detects the form of an input by its first bytes. It reads no more of them than the decision needs.

use crate::feed::Feed;
use crate::native::{ArrowSource, ParquetSource};
use crate::source::{Fault, RECORD_MAX, RecordSource, Records, Source};
use crate::{Encoding, InputForm, csv, gob, json, jtl};

/// The form of what comes, or `None` for an empty or foreign input.
pub(crate) fn detect(feed: &mut Feed) -> Result<Option<InputForm>, Fault> {
    // Before a text, by an editor or a shell of Windows. No format of ours begins with it.
    if feed.need(BYTE_ORDER_MARK.len())? && feed.pending().starts_with(BYTE_ORDER_MARK) {
        feed.consume(BYTE_ORDER_MARK.len());
    }
    if !feed.need(4)? {
        return Ok(None);
    }
    if feed.pending().starts_with(&[0xff; 4]) || feed.pending().starts_with(b"ARRO") {
        return Ok(Some(Encoding::Arrow.into()));
    }
    if feed.pending().starts_with(b"PAR1") {
        return Ok(Some(Encoding::Parquet.into()));
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
fn detect_in(bytes: &[u8], ended: bool) -> Option<Option<InputForm>> {
    if gob::is_start(bytes) {
        return Some(Some(Encoding::Gob.into()));
    }
    let text = bytes.trim_ascii_start();
    let jtl = |found: bool| found.then_some(InputForm::Jtl);
    match text.first() {
        None => ended.then_some(None),
        Some(b'{') => detect_json(text, ended),
        Some(b'0'..=b'9') => detect_csv(text, ended),
        Some(b'<') => jtl::is_xml(text, ended).map(|found| found.then_some(InputForm::JtlXml)),
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'"' => {
            jtl::is_csv(text, ended).map(jtl)
        }
        // The length of a gob message that is not whole yet.
        Some(0x80..) if !ended && bytes.len() < GOB_START_MAX => None,
        Some(_) => Some(None),
    }
}

fn detect_json(text: &[u8], ended: bool) -> Option<Option<InputForm>> {
    let line = match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => &text[..end],
        None if ended => text,
        None => return None,
    };
    Some(json::is_row(line).then_some(Encoding::Json.into()))
}

/// Rows of Vegeta's, or of JMeter's without their header.
fn detect_csv(text: &[u8], ended: bool) -> Option<Option<InputForm>> {
    if csv::is_row(text, ended)? {
        return Some(Some(Encoding::Csv.into()));
    }
    jtl::is_csv(text, ended).map(|found| found.then_some(InputForm::Jtl))
}

/// The source of an input of this form.
pub(crate) fn source(form: InputForm, feed: Feed) -> Result<Box<dyn Source>, Fault> {
    Ok(match form {
        InputForm::Stream(Encoding::Arrow) => Box::new(ArrowSource::open(feed)?),
        InputForm::Stream(Encoding::Parquet) => Box::new(ParquetSource::open(feed)?),
        InputForm::Stream(Encoding::Csv) => records(feed, csv::CsvRecords::default()),
        InputForm::Stream(Encoding::Json) => records(feed, json::JsonRecords::default()),
        InputForm::Stream(Encoding::Gob) => records(feed, gob::GobRecords::default()),
        InputForm::Jtl => records(feed, jtl::JtlRecords::default()),
        InputForm::JtlXml => records(feed, jtl::JtlXmlRecords::default()),
    })
}

fn records<R: Records + 'static>(feed: Feed, records: R) -> Box<dyn Source> {
    Box::new(RecordSource { feed, records })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_a_byte_order_mark_hides_no_encoding() {
        let of = |bytes: &'static [u8]| detect(&mut Feed::new(Box::new(bytes))).expect("memory");
        let row = b"\xef\xbb\xbf1,200,1,0,0,,,bmFtZQ==,0,GET,http://h/,\n";
        assert_eq!(of(row), Some(Encoding::Csv.into()));
        assert_eq!(of(&row[3..]), Some(Encoding::Csv.into()));
        assert_eq!(of(b"\xef\xbb\xbf"), None);
        assert_eq!(of(b"\xef\xbb\xbfPAR1"), Some(Encoding::Parquet.into()));
    }
}
