//! The names of protocols in ALPN.

/// RFC 9113, 3.2.
pub(super) const ALPN_H2: &[u8] = b"h2";

/// RFC 7301, 6.
pub(super) const ALPN_HTTP_1_1: &[u8] = b"http/1.1";
