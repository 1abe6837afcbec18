//! Header fields as texts may show them: names stay, values that are to be redacted do not.

use crate::redaction::{MARK, Redaction, with_current};
use crate::shown_url::{Within, without_values};

/// The value of a field as texts may show it: `***` where its name is redacted, and a URL's query without redacted values.
/// `None` where it may be shown as it is.
#[must_use]
pub fn redacted_value(name: &str, value: &[u8]) -> Option<String> {
    with_current(|redaction| shown_value(name, value, redaction))
}

/// Whether header lines (`Name: value`, a line each) have anything to redact, and then what they are without it.
#[must_use]
pub fn redacted_lines(lines: &[u8]) -> Option<Vec<u8>> {
    with_current(|redaction| shown_lines(lines, redaction))
}

/// A byte that is not UTF-8 hides nothing of what stands beside it.
fn shown_value(name: &str, value: &[u8], redaction: &Redaction) -> Option<String> {
    if redaction.covers(name) {
        return Some(MARK.to_owned());
    }
    without_values(&String::from_utf8_lossy(value), Within::Url, redaction)
}

fn shown_lines(lines: &[u8], redaction: &Redaction) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(lines.len());
    let mut is_changed = false;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let shown = shown_line(line, redaction);
        is_changed |= shown.is_some();
        out.extend_from_slice(shown.as_deref().unwrap_or(line));
    }
    is_changed.then_some(out)
}

fn shown_line(line: &[u8], redaction: &Redaction) -> Option<Vec<u8>> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let end = &value[value.trim_ascii_end().len()..];
    let text = String::from_utf8_lossy(name);
    let shown = shown_value(text.trim(), value.trim_ascii(), redaction)?;
    Some([name, b": ", shown.as_bytes(), end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strange_byte_shows_no_value() {
        let redaction = Redaction::new("x-session,token");
        let cases: [(&[u8], &[u8]); 5] = [
            (b"X-Session: a\xff\r\nServer: b\xff\r\n", b"X-Session: ***\r\nServer: b\xff\r\n"),
            (b"Location: /?token=a\xff&b=1\r\n", b"Location: /?token=***&b=1\r\n"),
            (b"X-\xff: /?token=a\n", b"X-\xff: /?token=***\n"),
            (b"HTTP/1.1 200 OK\r\nX-Session:a", b"HTTP/1.1 200 OK\r\nX-Session: ***"),
            (b"x-session: a\nX-SESSION: b\n", b"x-session: ***\nX-SESSION: ***\n"),
        ];
        for (lines, expect) in cases {
            let shown = shown_lines(lines, &redaction).unwrap();
            assert_eq!(shown, expect, "{}", String::from_utf8_lossy(&shown));
        }
        assert_eq!(shown_lines(b"Server: \xff\r\n\r\n", &redaction), None);
    }
}
