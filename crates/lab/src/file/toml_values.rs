//! The values of TOML as the kinds that a study has.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A text with its position, as an offset in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SpannedText {
    pub(crate) text: String,
    pub(crate) at: usize,
}

/// A text.
pub(super) fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

/// A number or a switch, as it is written.
pub(super) fn as_plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        _ => None,
    }
}

/// A whole number that is not negative.
pub(super) fn as_number(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

/// A list of texts.
pub(super) fn as_words(value: &DeValue<'_>) -> Option<Vec<SpannedText>> {
    let DeValue::Array(list) = value else { return None };
    let one = |one: &Spanned<DeValue<'_>>| {
        Some(SpannedText { text: as_text(one.get_ref())?, at: one.span().start })
    };
    list.iter().map(one).collect()
}

/// A table.
pub(super) fn as_table<'s, 'a>(value: &'s DeValue<'a>) -> Option<&'s DeTable<'a>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// The kind of a value, in words.
pub(super) fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
