//! The columns, their types, and the metadata of a stream.

use std::fmt;

use crate::{Detail, StreamInfo};

/// The schema's version; raised when a column changes its meaning.
const VERSION: &str = "1";
const EPOCH: &str = "brunt.epoch";
const DETAIL: &str = "brunt.detail";
const START_AND_END: &str = "start and end";
const OUTPUT: &str = "brunt.output";
const PIPE: &str = "pipe";

/// The kind of a hit's row.
pub(super) const KIND_HIT: u8 = 0;
/// The kind of a row with a generator's record in its `note`.
pub(super) const KIND_GENERATOR: u8 = 1;

/// The type of a column. Types that our columns do not have differ only by their number of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DataType {
    Boolean,
    /// Bits and whether it is signed.
    Int(u8, bool),
    Utf8,
    LargeUtf8,
    Binary,
    /// A time in nanoseconds, with a time zone or without.
    Timestamp(Option<String>),
    /// Texts by keys of so many bits.
    Dictionary(Box<Self>, Box<Self>),
    /// Another: its name and its number of buffers, without those of its children.
    Other(String, usize),
}

/// As the Arrow libraries write them.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("Boolean"),
            Self::Int(bits, true) => write!(f, "Int{bits}"),
            Self::Int(bits, false) => write!(f, "UInt{bits}"),
            Self::Utf8 => f.write_str("Utf8"),
            Self::LargeUtf8 => f.write_str("LargeUtf8"),
            Self::Binary => f.write_str("Binary"),
            Self::Timestamp(None) => f.write_str("Timestamp(ns)"),
            Self::Timestamp(Some(zone)) => write!(f, "Timestamp(ns, \"{zone}\")"),
            Self::Dictionary(keys, values) => write!(f, "Dictionary({keys}, {values})"),
            Self::Other(name, _) => f.write_str(name),
        }
    }
}

/// One column's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) data_type: DataType,
    pub(super) is_nullable: bool,
    /// The number of its dictionary, where it has one.
    pub(super) dictionary: i64,
    /// Those of a nested type.
    pub(super) children: Vec<Self>,
}

/// The columns of a stream, and what it says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Schema {
    pub(super) fields: Vec<Field>,
    pub(super) metadata: Vec<(String, String)>,
}

/// The columns of every stream that brunt writes: name, type, whether there may be nulls.
fn columns() -> [(&'static str, DataType, bool); 27] {
    use DataType::{Binary, Boolean, Int, Utf8};
    let number = |bits| Int(bits, false);
    let time = || DataType::Timestamp(Some("UTC".to_owned()));
    [
        ("kind", number(8), false),
        ("seq", number(64), false),
        ("timestamp", time(), false),
        ("latency", Int(64, true), false),
        ("service", Int(64, true), true),
        ("sent", Int(64, true), true),
        ("first_byte", Int(64, true), true),
        ("dns", Int(64, true), true),
        ("dial", Int(64, true), true),
        ("tls", Int(64, true), true),
        ("code", number(16), false),
        ("failure", number(8), false),
        ("reused", Boolean, true),
        ("bytes_out", number(64), false),
        ("bytes_in", number(64), false),
        ("wire_in", number(64), true),
        ("attack", text_type(), false),
        ("method", text_type(), false),
        ("url", text_type(), false),
        ("name", text_type(), false),
        ("error", text_type(), false),
        ("body", Binary, true),
        ("headers", Binary, true),
        ("note", Utf8, true),
        ("connection", number(32), true),
        ("agent", number(16), true),
        ("outcome", number(8), true),
    ]
}

/// The column that only streams with tags have.
const TAGS: &str = "tags";

/// Whether a result stream may have a column of this name.
pub(super) fn is_ours(name: &str) -> bool {
    name == TAGS || columns().iter().any(|(known, ..)| *known == name)
}

impl Schema {
    /// That of a stream that brunt writes.
    pub(super) fn new(info: &StreamInfo) -> Self {
        let mut dictionaries = 0..;
        let tags = info.has_tags.then(|| (TAGS, text_type(), false));
        let fields = columns().into_iter().chain(tags).map(|(name, data_type, is_nullable)| {
            let is_keyed = matches!(data_type, DataType::Dictionary(..));
            let dictionary = if is_keyed { dictionaries.next().unwrap_or(0) } else { 0 };
            let (name, children) = (name.to_owned(), Vec::new());
            Field { name, data_type, is_nullable, dictionary, children }
        });
        Self { fields: fields.collect(), metadata: metadata(info) }
    }

    /// How much a stream with this schema has of each hit. A stream of another program may lack `sent`.
    pub(super) fn detail(&self) -> Detail {
        let detail = self.metadata.iter().find(|(key, _)| key == DETAIL);
        match detail.map(|(_, value)| value.as_str()) {
            Some(START_AND_END) => Detail::StartAndEnd,
            Some(_) => Detail::Full,
            None if self.fields.iter().any(|field| field.name == "sent") => Detail::Full,
            None => Detail::StartAndEnd,
        }
    }

    /// Whether hits may have tags.
    pub(super) fn has_tags(&self) -> bool {
        self.fields.iter().any(|field| field.name == TAGS)
    }

    /// Whether it was written into a pipe, whose reader may have ended before the last row.
    pub(super) fn is_piped(&self) -> bool {
        self.metadata.iter().any(|(key, value)| key == OUTPUT && value == PIPE)
    }

    /// When the run began (Unix ns); `None` where the stream does not say so.
    pub(super) fn epoch(&self) -> Option<i64> {
        let epoch = self.metadata.iter().find(|(key, _)| key == EPOCH);
        epoch.and_then(|(_, value)| value.parse().ok())
    }
}

/// A dictionary-encoded string.
fn text_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int(32, true)), Box::new(DataType::Utf8))
}

/// Sorted by key; the stream's own keys precede given ones of the same name.
fn metadata(info: &StreamInfo) -> Vec<(String, String)> {
    let detail = match info.detail {
        Detail::Full => "full",
        Detail::StartAndEnd => START_AND_END,
    };
    let own = [
        ("brunt.schema", VERSION.to_owned()),
        ("brunt.version", info.version.clone()),
        (EPOCH, info.epoch.to_string()),
        ("brunt.attack", info.attack.clone()),
        ("brunt.seed", info.seed.to_string()),
        (DETAIL, detail.to_owned()),
    ];
    let mut all: Vec<(String, String)> =
        own.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    all.extend(info.is_piped.then(|| (OUTPUT.to_owned(), PIPE.to_owned())));
    all.extend(info.metadata.iter().rev().cloned());
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all.dedup_by(|later, first| later.0 == first.0);
    all
}
