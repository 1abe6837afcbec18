//! `Accepted`: the codings that a request's `Accept-Encoding` asks for. RFC 9110, 12.5.3.

use super::coding::{Coding, Codings};
use crate::h1::fields::tokens;

/// Which codings a request asked for; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    bits: u8,
    /// Those that a weight of 0 refuses, whatever `*` says.
    refused: u8,
}

impl Accepted {
    /// gzip alone.
    pub const GZIP: Self = Self { bits: 1, refused: 0 };

    /// Adds the codings that the value of an `Accept-Encoding` field accepts: `*` is all that we know, a weight of 0 refuses one.
    pub fn push_field(&mut self, value: &[u8]) {
        for item in tokens(value) {
            let mut parts = item.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            let is_refused = parts.any(is_zero_weight);
            if name == b"*" {
                self.bits |= if is_refused { 0 } else { ALL };
            } else if let Some(coding) = Coding::from_token(name) {
                match is_refused {
                    true => self.refused |= bit(coding),
                    false => self.bits |= bit(coding),
                }
            }
        }
    }

    /// Whether all codings of a body were asked for.
    #[must_use]
    pub fn allows(self, codings: &Codings) -> bool {
        codings.iter().all(|coding| self.bits & !self.refused & bit(coding) != 0)
    }
}

/// All that we know.
const ALL: u8 = 0b1111;

const fn bit(coding: Coding) -> u8 {
    match coding {
        Coding::Gzip => 1,
        Coding::Deflate => 2,
        Coding::Brotli => 4,
        Coding::Zstd => 8,
        Coding::Unknown => 0,
    }
}

/// `q=0`, `q=0.000`.
fn is_zero_weight(part: &[u8]) -> bool {
    let weight = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q="));
    weight.is_some_and(|weight| {
        weight.starts_with(b"0") && weight.iter().all(|byte| matches!(byte, b'0' | b'.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_allowed_and_nothing_else() {
        let cases = [
            ("gzip", "gzip", true),
            ("gzip", "x-gzip", true),
            ("gzip", "br", false),
            ("gzip, br", "br, gzip", true),
            ("gzip", "gzip, br", false),
            ("GZIP;q=0.5, br;q=0", "gzip", true),
            ("GZIP;q=0.5, br; q=0.000", "br", false),
            ("*", "zstd", true),
            ("*", "exotic", false),
            ("*;q=0", "gzip", false),
            ("*, br;q=0", "br", false),
            ("br;q=0, *", "br", false),
            ("br;q=0, *", "gzip", true),
            ("identity", "deflate", false),
            ("", "gzip", false),
            ("deflate", "deflate", true),
        ];
        for (asked, coded, expect) in cases {
            let (mut accepted, mut codings) = (Accepted::default(), Codings::default());
            accepted.push_field(asked.as_bytes());
            codings.push_field(coded.as_bytes());
            assert_eq!(accepted.allows(&codings), expect, "{asked} {coded}");
        }
        let mut codings = Codings::default();
        codings.push_field(b"gzip");
        assert!(Accepted::GZIP.allows(&codings));
    }
}
