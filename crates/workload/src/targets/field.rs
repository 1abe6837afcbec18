//! What may stand in a header field.

/// Name and value are such as a header field may have (RFC 9110, 5.5 and 5.6.2).
pub(super) fn is_field(name: &str, value: &str) -> bool {
    is_token(name) && !value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f)
}

/// RFC 9110, 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(token)
}
