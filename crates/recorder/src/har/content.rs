//! Bodies as HARs have them: decoded, as text where they are text, else as base64.

use std::cell::Cell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stdx::within_memory;
use wire::content::{Codings, ContentDecoder};

use crate::exchange::{Body, ResponseHead};

/// How long a body may become that is decoded, in bytes: 64 MiB, and an eighth of the process' memory.
const DECODED_BYTES_MAX: usize = 64 << 20;
/// How long all of them may become together, in bytes: 1 GiB.
const DECODED_IN_ALL_MAX: usize = 1 << 30;

/// What may still be decoded.
#[derive(Debug)]
pub(super) struct Budget {
    left: Cell<usize>,
    /// How many bodies were not decoded, or in part.
    cut: Cell<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Cell::new(DECODED_IN_ALL_MAX), cut: Cell::new(0) }
    }
}

impl Budget {
    /// How many bodies are not decoded, or in part.
    pub(super) fn cut(&self) -> u64 {
        self.cut.get()
    }

    fn room(&self) -> usize {
        self.left.get().min(within_memory(DECODED_BYTES_MAX, 8))
    }

    fn take(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes));
    }
}

/// A body whose codings are undone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// What is missing of it, or still coded.
    pub(super) comment: Option<String>,
}

/// A text, or bytes that are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text<'a> {
    Plain(&'a str),
    Bytes(&'a [u8]),
}

/// The body of an answer without its codings. One that cannot be decoded is as it came, and a cut one is decoded as far as it goes.
pub(super) fn decoded(body: &Body, head: &ResponseHead, budget: &Budget) -> Decoded {
    let mut codings = Codings::default();
    for (name, value) in &head.headers {
        if name.eq_ignore_ascii_case("content-encoding") {
            codings.push_field(value.as_bytes());
        }
    }
    let cut = body.is_cut().then(|| format!("cut: {} of {} bytes", body.bytes.len(), body.len));
    if codings.is_identity() || body.bytes.is_empty() {
        return Decoded { bytes: body.bytes.clone(), comment: cut };
    }
    let (bytes, is_whole) = decode(&codings, &body.bytes, budget.room());
    budget.take(bytes.len());
    budget.cut.set(budget.cut.get() + u64::from(!is_whole && cut.is_none()));
    match (bytes.is_empty(), is_whole) {
        (_, true) => Decoded { bytes, comment: cut },
        (true, false) => Decoded {
            bytes: body.bytes.clone(),
            comment: cut.or(Some("as it came: its coding cannot be undone".to_owned())),
        },
        (false, false) => Decoded {
            comment: cut.or(Some("cut: its coding breaks off or becomes too long".to_owned())),
            bytes,
        },
    }
}

/// What becomes of the bytes, and whether that is all of it.
fn decode(codings: &Codings, bytes: &[u8], bytes_max: usize) -> (Vec<u8>, bool) {
    let mut out = Vec::new();
    let mut is_too_long = false;
    let Ok(mut decoder) = ContentDecoder::new(codings) else { return (out, false) };
    let decoding = decoder.decode(bytes, &mut |piece| {
        let room = bytes_max - out.len();
        is_too_long |= piece.len() > room;
        out.extend_from_slice(&piece[..piece.len().min(room)]);
    });
    let is_whole = decoding.is_ok() && decoder.finish().is_ok() && !is_too_long;
    (out, is_whole)
}

pub(super) fn text(bytes: &[u8]) -> Text<'_> {
    str::from_utf8(bytes).map_or(Text::Bytes(bytes), Text::Plain)
}

pub(super) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use wire::content::Coding;

    use super::*;

    fn head(coding: &str) -> ResponseHead {
        let headers = vec![("Content-Encoding".to_owned(), coding.to_owned())];
        ResponseHead { status: 200, headers, ..ResponseHead::default() }
    }

    fn body(bytes: Vec<u8>) -> Body {
        Body { len: bytes.len() as u64, bytes }
    }

    #[test]
    fn codings_are_undone_as_browsers_do() {
        let page = "<h1>It works.</h1>".repeat(100);
        for (name, coding) in
            [("gzip", Coding::Gzip), ("br", Coding::Brotli), ("deflate", Coding::Deflate)]
        {
            let coded = coding.encode(page.as_bytes());
            let whole = decoded(&body(coded.clone()), &head(name), &Budget::default());
            assert_eq!(
                whole,
                Decoded { bytes: page.clone().into_bytes(), comment: None },
                "{name}"
            );
            let half = Body { bytes: coded[..coded.len() / 2].to_vec(), len: coded.len() as u64 };
            let cut = decoded(&half, &head(name), &Budget::default());
            assert!(cut.comment.unwrap().starts_with("cut: "), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_decoded_stays_as_it_came() {
        for coding in ["sdch", "gzip"] {
            let left = decoded(&body(b"no coding".to_vec()), &head(coding), &Budget::default());
            assert_eq!(left.bytes, b"no coding");
            assert!(left.comment.unwrap().starts_with("as it came"));
        }
        let plain = decoded(&body(b"x".to_vec()), &head("identity"), &Budget::default());
        assert_eq!(plain, Decoded { bytes: b"x".to_vec(), comment: None });
        assert_eq!(
            decoded(&body(vec![]), &head("gzip"), &Budget::default()).comment,
            None,
            "an answer without a body"
        );
    }

    #[test]
    fn a_bomb_is_cut() {
        let bomb = Coding::Gzip.encode(&vec![0; 200 << 20]);
        let cut = decoded(&body(bomb), &head("gzip"), &Budget::default());
        assert!(cut.bytes.len() <= DECODED_BYTES_MAX);
        assert!(cut.comment.is_some());
    }

    #[test]
    fn many_bombs_are_not_decoded_one_after_another() {
        let (bomb, budget) = (Coding::Gzip.encode(&vec![0; 1 << 20]), Budget::default());
        budget.take(DECODED_IN_ALL_MAX - (3 << 19));
        let lens =
            [(); 3].map(|()| decoded(&body(bomb.clone()), &head("gzip"), &budget).bytes.len());
        assert_eq!((lens, budget.cut()), ([1 << 20, 1 << 19, bomb.len()], 2));
    }
}
