//! Percent-encoding of what goes into addresses and forms.

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::percent_decode_str;

/// As a part of an address that nothing ends: all but RFC 3986's unreserved characters is encoded.
pub(crate) fn encode_component(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

/// As a name or a value of a form, a space as `+`.
pub(crate) fn encode_form(text: &str) -> String {
    encode_component(text).replace("%20", "+")
}

/// A path as a document writes it: what may stand in a path stays, `/` and present encodings as well.
pub(crate) fn encode_path(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:@/%".contains(&byte))
}

/// An address as a person typed it: only what no request line can hold is encoded.
pub(crate) fn encode_typed(text: &str) -> String {
    encode(text, |byte| byte.is_ascii_graphic() && !b"\"'<>`{}\\^|".contains(&byte))
}

/// A text without its percent-encoding; as it is, if it is none of UTF-8.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

fn encode(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("a String takes all that is written");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_characters() {
        assert_eq!(encode_component("a b/c&ü~"), "a%20b%2Fc%26%C3%BC~");
        assert_eq!(encode_form("a b+c"), "a+b%2Bc");
        assert_eq!(encode_path("/a b/{c}%20\n"), "/a%20b/%7Bc%7D%20%0A");
        assert_eq!(encode_typed("/a?b=c d&e='x'#y"), "/a?b=c%20d&e=%27x%27#y");
    }

    #[test]
    fn percents_are_decoded_where_they_are_some() {
        assert_eq!(decoded("a%2Fb%20%"), "a/b %");
        assert_eq!(decoded("%ff"), "%ff");
        assert_eq!(decoded("%+1"), "%+1");
    }
}
