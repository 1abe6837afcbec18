//! Header fields: their values, and what may stand in them.

/// The value of a field.
pub(crate) fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_str())
}

/// What of a value may stand in a header: a line end would begin another field.
pub(crate) fn one_line(value: &str) -> String {
    value
        .chars()
        .map(|letter| if matches!(letter, '\r' | '\n' | '\0') { ' ' } else { letter })
        .collect()
}
