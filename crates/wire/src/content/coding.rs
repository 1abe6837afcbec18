//! `Coding` and `Codings`: the content codings that fields name. RFC 9110, 8.4.1.

use crate::h1::fields::tokens;

/// The most codings stacked on one body.
pub const CODINGS_MAX: usize = 3;

/// One content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or RFC 1951 bare, as some servers send it.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878.
    Zstd,
    /// A coding that we cannot decode, or one too many.
    Unknown,
}

impl Coding {
    /// The coding that requests are encoded with under this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::from_token(name.as_bytes()).filter(|coding| *coding != Self::Unknown)
    }

    /// The coding of this name; `None` for `identity`, which changes nothing. RFC 9110, 8.4.1.
    pub(super) fn from_token(token: &[u8]) -> Option<Self> {
        const NAMES: [(&[u8], Coding); 5] = [
            (b"gzip", Coding::Gzip),
            (b"br", Coding::Brotli),
            (b"deflate", Coding::Deflate),
            (b"zstd", Coding::Zstd),
            (b"x-gzip", Coding::Gzip),
        ];
        if token.eq_ignore_ascii_case(b"identity") {
            return None;
        }
        let known = NAMES.iter().find(|(name, _)| token.eq_ignore_ascii_case(name));
        Some(known.map_or(Self::Unknown, |(_, coding)| *coding))
    }
}

/// The codings of a body, in the order they were applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codings {
    list: [Option<Coding>; CODINGS_MAX],
}

impl Codings {
    /// Adds the codings of one `Content-Encoding` field value; `identity` is skipped.
    pub fn push_field(&mut self, value: &[u8]) {
        for token in tokens(value) {
            let Some(coding) = Coding::from_token(token) else {
                continue;
            };
            match self.list.iter_mut().find(|slot| slot.is_none()) {
                Some(slot) => *slot = Some(coding),
                None => self.list = [Some(Coding::Unknown); CODINGS_MAX],
            }
        }
    }

    /// Whether the body is not coded.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.list[0].is_none()
    }

    /// The codings, in the order they were applied.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Coding> + '_ {
        self.list.iter().flatten().copied()
    }
}
