//! Header fields as texts may show them: names stay, values that are to be redacted do not.

use crate::redaction;
use crate::shown_url::redacted_query;

/// The value of a field as texts may show it: `***` where its name is redacted, and a URL's query without redacted values.
/// `None` where it may be shown as it is.
#[must_use]
pub fn redacted_value(name: &str, value: &str) -> Option<String> {
    let redaction = redaction::current()?;
    if redaction.covers(name) {
        return Some(redaction::MARK.to_owned());
    }
    redacted_query(value)
}

/// Whether header lines (`Name: value`, a line each) have anything to redact, and then what they are without it.
#[must_use]
pub fn redacted_lines(lines: &[u8]) -> Option<Vec<u8>> {
    redaction::current()?;
    let mut out = Vec::with_capacity(lines.len());
    let mut is_changed = false;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let shown = str::from_utf8(line).ok().and_then(|line| {
            let (name, value) = line.split_once(':')?;
            let end = value.len() - value.trim_end().len();
            let shown = redacted_value(name.trim(), value.trim())?;
            Some(format!("{name}: {shown}{}", &value[value.len() - end..]))
        });
        is_changed |= shown.is_some();
        out.extend_from_slice(shown.as_ref().map_or(line, |shown| shown.as_bytes()));
    }
    is_changed.then_some(out)
}
