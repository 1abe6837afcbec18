//! How a text is spelled where it stands: percent signs, backslashes, entities, or as it is.

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// The entities that XML has of itself: XML 1.0, 4.6.
const ENTITIES: [(&str, &str); 5] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];

/// How a text is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// As it is.
    Plain,
    /// As in queries and forms.
    Percent,
    /// As in JSON, so many times.
    Escaped { times: u32 },
    /// As in XML.
    Entities,
}

impl Spelling {
    /// The text that is meant.
    pub(super) fn read(self, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Percent => decoded(text),
            Self::Escaped { times } => (0..times).fold(text.to_owned(), |text, _| unescaped(&text)),
            Self::Entities => {
                ENTITIES.iter().fold(text.to_owned(), |text, (one, char)| text.replace(one, char))
            }
        }
    }
}

/// The ways in which a text may be spelled elsewhere.
pub(super) fn spellings(text: &str) -> Vec<String> {
    let of_json = escaped(text);
    let twice = escaped(&of_json);
    let of_xml =
        ENTITIES.iter().rev().fold(text.to_owned(), |text, (one, char)| text.replace(char, one));
    let mut all = vec![
        text.to_owned(),
        encoded(text),
        encoded(text).replace("%20", "+"),
        of_json,
        twice,
        of_xml,
    ];
    all.sort();
    all.dedup();
    all
}

/// A part of a query or a form as its text.
pub(super) fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// The text of a string of JSON; what is none stays.
pub(super) fn unescaped(text: &str) -> String {
    let whole = || serde_json::from_str(&format!("\"{text}\"")).ok();
    if text.contains('\\') { whole().unwrap_or_else(|| text.to_owned()) } else { text.to_owned() }
}

/// A text as it stands in an address.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// A text as it stands in JSON.
fn escaped(text: &str) -> String {
    let whole = Value::from(text).to_string();
    whole[1..whole.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        for (text, expect) in
            [("a+b%20c", "a b c"), ("%", "%"), ("%zz%4", "%zz%4"), ("%ff", "\u{fffd}")]
        {
            assert_eq!(decoded(text), expect);
        }
        assert_eq!(decoded(&encoded("a b/ü&=%")), "a b/ü&=%");
    }

    #[test]
    fn every_spelling_is_read_back() {
        let text = "a b/\"ü\"&<\\>";
        assert_eq!(spellings("abc"), ["abc"]);
        let all = spellings(text);
        assert_eq!(all.len(), 6, "{all:?}");
        let readings = [
            Spelling::Plain,
            Spelling::Percent,
            Spelling::Escaped { times: 1 },
            Spelling::Escaped { times: 2 },
            Spelling::Entities,
        ];
        let is_read = |one: &String| readings.iter().any(|spelling| spelling.read(one) == text);
        assert!(all.iter().all(is_read), "{all:?}");
        assert_eq!(Spelling::Escaped { times: 1 }.read("cut\\"), "cut\\");
    }
}
