//! The header fields that decide about a message's body and its connection, found in one pass. It decides nothing.

use super::Header;

/// The meaning of the framing and connection fields of a head.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    pub(super) content_length: Length,
    pub(super) transfer: Transfer,
    pub(super) close: bool,
    pub(super) keep_alive: bool,
}

/// The `Content-Length` fields together. RFC 9112, 6.3: several are one if they agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Length {
    #[default]
    Absent,
    Bytes(u64),
    Invalid,
}

/// The `Transfer-Encoding` fields together. RFC 9112, 6.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Transfer {
    #[default]
    Absent,
    Chunked,
    Unsupported,
}

impl Fields {
    /// Reads the fields it knows and hands every other one on. Lengths are compared first: most names differ there.
    pub(super) fn scan<'h>(
        headers: &'h [Header<'h>],
        mut other: impl FnMut(&'h Header<'h>),
    ) -> Self {
        let mut fields = Self::default();
        for header in headers {
            match header.name.len() {
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    fields.connection(header.value);
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    fields.length(header.value);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    fields.transfer(header.value);
                }
                _ => other(header),
            }
        }
        fields
    }

    fn connection(&mut self, value: &[u8]) {
        for token in tokens(value) {
            self.close |= token.eq_ignore_ascii_case(b"close");
            self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn length(&mut self, value: &[u8]) {
        for part in value.split(|b| *b == b',') {
            let part = part.trim_ascii();
            self.content_length = match (parse_decimal(part), self.content_length) {
                (Some(bytes), Length::Absent) => Length::Bytes(bytes),
                (Some(bytes), Length::Bytes(before)) if bytes == before => Length::Bytes(bytes),
                _ => Length::Invalid,
            };
        }
    }

    fn transfer(&mut self, value: &[u8]) {
        for token in tokens(value) {
            let chunked = token.eq_ignore_ascii_case(b"chunked");
            self.transfer = match self.transfer {
                // The coding that RFC 2616 called the absence of one.
                before if token.eq_ignore_ascii_case(b"identity") => before,
                Transfer::Absent if chunked => Transfer::Chunked,
                _ => Transfer::Unsupported,
            };
        }
    }
}

/// The non-empty members of a comma-separated list. RFC 9110, 5.6.1.
pub(crate) fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|b| *b == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// A number of digits only; no sign, no space, at most 2^64-1.
fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |n, b| {
        b.is_ascii_digit().then_some(())?;
        n.checked_mul(10)?.checked_add(u64::from(b - b'0'))
    })
}

/// RFC 9110, 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    let valid = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(valid)
}

/// RFC 9110, 5.5: no control character but the tab.
pub(super) fn is_field_value(text: &str) -> bool {
    text.bytes().all(|b| b == b'\t' || !b.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(fields: &[(&str, &str)]) -> Fields {
        let headers: Vec<Header<'_>> =
            fields.iter().map(|(name, value)| Header { name, value: value.as_bytes() }).collect();
        Fields::scan(&headers, |_| {})
    }

    /// RFC 9112, 6.3 and RFC 9110, 8.6.
    #[test]
    fn content_length() {
        let cases: [(&[&str], Length); 13] = [
            (&[], Length::Absent),
            (&["0"], Length::Bytes(0)),
            (&[" 12 "], Length::Bytes(12)),
            (&["18446744073709551615"], Length::Bytes(u64::MAX)),
            (&["18446744073709551616"], Length::Invalid),
            (&["5, 5"], Length::Bytes(5)),
            (&["5", "5"], Length::Bytes(5)),
            (&["5", "6"], Length::Invalid),
            (&["5, 6"], Length::Invalid),
            (&["+5"], Length::Invalid),
            (&["-1"], Length::Invalid),
            (&["0x10"], Length::Invalid),
            (&["", "5"], Length::Invalid),
        ];
        for (values, expect) in cases {
            let fields: Vec<_> = values.iter().map(|v| ("Content-Length", *v)).collect();
            assert_eq!(scan(&fields).content_length, expect, "{values:?}");
        }
    }

    /// RFC 9112, 6.1.
    #[test]
    fn transfer_encoding() {
        let cases: [(&[&str], Transfer); 7] = [
            (&["chunked"], Transfer::Chunked),
            (&["Chunked"], Transfer::Chunked),
            (&["identity"], Transfer::Absent),
            (&["gzip, chunked"], Transfer::Unsupported),
            (&["chunked, chunked"], Transfer::Unsupported),
            (&["chunked", "gzip"], Transfer::Unsupported),
            (&["xchunked"], Transfer::Unsupported),
        ];
        for (values, expect) in cases {
            let fields: Vec<_> = values.iter().map(|v| ("transfer-encoding", *v)).collect();
            assert_eq!(scan(&fields).transfer, expect, "{values:?}");
        }
    }

    #[test]
    fn connection_tokens() {
        let fields = scan(&[("CONNECTION", "Upgrade, Close")]);
        assert!(fields.close && !fields.keep_alive);
        assert!(scan(&[("connection", "keep-alive")]).keep_alive);
        assert!(!scan(&[("connection", "closed")]).close);
    }
}
