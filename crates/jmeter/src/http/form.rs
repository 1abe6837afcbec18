//! Arguments as a query or a form, escaped as Java's `URLEncoder` does.

use super::charset::{decode, encode};
use super::fields::Argument;

/// The query of a URL. What is not to be encoded is taken as it is.
pub(crate) fn query(arguments: &[Argument], charset: &str) -> String {
    let named = arguments.iter().filter(|one| !one.name.is_empty());
    let fields = named.map(|one| {
        let coded =
            |text: &str| if one.is_encoded { escape(text, charset) } else { text.to_owned() };
        format!("{}{}{}", coded(&one.name), one.equals, coded(&one.value))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// The body of a form. What is not to be encoded is taken for encoded: it is decoded, and encoded again.
pub(crate) fn form(arguments: &[Argument], charset: &str) -> String {
    let named = arguments.iter().filter(|one| !one.name.is_empty());
    let fields = named.map(|one| {
        let plain =
            |text: &str| if one.is_encoded { text.to_owned() } else { unescape(text, charset) };
        format!("{}={}", escape(&plain(&one.name), charset), escape(&plain(&one.value), charset))
    });
    fields.collect::<Vec<_>>().join("&")
}

/// A text as a form has it.
pub(crate) fn escape(text: &str, charset: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in encode(text, charset) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => {
                out.push(byte.into());
            }
            b' ' => out.push('+'),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// The text of a form's field; what is no escape stays.
fn unescape(text: &str, charset: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let coded = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match coded.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    decode(&out, charset).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: &str, value: &str, is_encoded: bool) -> Argument {
        Argument {
            name: name.to_owned(),
            value: value.to_owned(),
            is_encoded,
            equals: "=",
            ..Argument::default()
        }
    }

    #[test]
    fn values_are_encoded_where_they_are_to_be() {
        let all = [
            argument("a b", "1&é", true),
            argument("raw", "x%20y&z", false),
            argument("", "skip", true),
        ];
        assert_eq!(query(&all, "UTF-8"), "a+b=1%26%C3%A9&raw=x%20y&z");
        assert_eq!(form(&all, "UTF-8"), "a+b=1%26%C3%A9&raw=x+y%26z");
        assert_eq!(form(&[argument("p", "100%", false)], "UTF-8"), "p=100%25");
        assert_eq!(escape("é", "ISO-8859-1"), "%E9");
    }
}
