//! `Query`: the fields of a query or a form (`application/x-www-form-urlencoded`).

use percent_encoding::percent_decode_str;

/// Names and values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        };
        Self(pairs.map(pair).collect())
    }

    /// The value of the first field of this name; empty where there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// The values of all fields of this name.
    pub(super) fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same without a field.
    pub(super) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }

    /// As a part of a URL.
    pub(super) fn text(&self) -> String {
        let pairs =
            self.0.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

/// A text as a part of a URL: letters, digits and `-._~` stay (RFC 3986, 2.3).
pub(super) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// What is no escape stays as it is.
pub(super) fn decoded(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let query = Query::read("run=a&q=caf%C3%A9+%2B1%&run=b&x");
        assert_eq!(query.get("q"), "caf\u{e9} +1%");
        assert_eq!(query.all("run").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((query.get("x"), query.get("none")), ("", ""));
        let text = query.without("run").text();
        assert_eq!(text, "q=caf%C3%A9%20%2B1%25&x=");
        assert_eq!(Query::read(&text).get("q"), query.get("q"));
    }
}
