//! The columns, their types, and what a stream says of itself.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};

use crate::{Detail, StreamInfo};

/// The schema's version; raised when a column changes its meaning.
const VERSION: &str = "1";
const DETAIL: &str = "brunt.detail";
const START_AND_END: &str = "start and end";

/// The kind of a hit's row.
pub(super) const KIND_HIT: u8 = 0;
/// The kind of a row whose `note` is a generator's record.
pub(super) const KIND_GENERATOR: u8 = 1;

/// A dictionary-encoded string.
pub(super) fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// A time in nanoseconds, UTC.
pub(super) fn timestamp_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))
}

/// The schema of a stream of ours.
pub(super) fn schema(info: &StreamInfo) -> Arc<Schema> {
    use DataType::{Binary, Boolean, Int64, UInt8, UInt16, UInt32, UInt64, Utf8};
    let given = |name, of| Field::new(name, of, false);
    let maybe = |name, of| Field::new(name, of, true);
    let fields = vec![
        given("kind", UInt8),
        given("seq", UInt64),
        given("timestamp", timestamp_type()),
        given("latency", Int64),
        maybe("service", Int64),
        maybe("sent", Int64),
        maybe("first_byte", Int64),
        maybe("dns", Int64),
        maybe("dial", Int64),
        maybe("tls", Int64),
        given("code", UInt16),
        given("failure", UInt8),
        maybe("reused", Boolean),
        given("bytes_out", UInt64),
        given("bytes_in", UInt64),
        maybe("wire_in", UInt64),
        given("attack", text_type()),
        given("method", text_type()),
        given("url", text_type()),
        given("name", text_type()),
        given("error", text_type()),
        maybe("body", Binary),
        maybe("headers", Binary),
        maybe("note", Utf8),
        maybe("connection", UInt32),
    ];
    Arc::new(Schema::new_with_metadata(fields, metadata(info)))
}

fn metadata(info: &StreamInfo) -> HashMap<String, String> {
    let mut all: HashMap<String, String> = info.metadata.iter().cloned().collect();
    let detail = match info.detail {
        Detail::Full => "full",
        Detail::StartAndEnd => START_AND_END,
    };
    let own = [
        ("brunt.schema", VERSION.to_owned()),
        ("brunt.version", info.version.clone()),
        ("brunt.epoch", info.epoch.to_string()),
        ("brunt.attack", info.attack.clone()),
        ("brunt.seed", info.seed.to_string()),
        (DETAIL, detail.to_owned()),
    ];
    all.extend(own.map(|(key, value)| (key.to_owned(), value)));
    all
}

/// How much a stream with this schema knows of each hit. A stream of another program has `sent` or has not.
pub(super) fn detail(schema: &Schema) -> Detail {
    let said = schema.metadata().get(DETAIL).map(String::as_str);
    match said {
        Some(START_AND_END) => Detail::StartAndEnd,
        Some(_) => Detail::Full,
        None if schema.column_with_name("sent").is_some() => Detail::Full,
        None => Detail::StartAndEnd,
    }
}
