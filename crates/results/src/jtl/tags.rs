//! `Tags`: XML as tags with the text before each, as far as JMeter's results need it: no document types, no entities of a file's own.

use std::borrow::Cow;

/// A tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag<'a> {
    /// `<name attributes>`.
    Open { name: &'a [u8], attributes: &'a [u8] },
    /// `<name attributes/>`.
    Empty { name: &'a [u8], attributes: &'a [u8] },
    /// `</name>`.
    Close(&'a [u8]),
    /// A comment, or an instruction such as the declaration.
    Aside,
}

/// The tags of a text from a place on.
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    /// The first byte behind the last tag.
    pub(super) at: usize,
}

impl<'a> Tags<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next tag and the text before it; `None` where it is not whole.
    pub(super) fn next(&mut self) -> Option<(&'a [u8], Tag<'a>)> {
        let rest = &self.bytes[self.at..];
        let start = rest.iter().position(|byte| *byte == b'<')?;
        let (text, from) = rest.split_at(start);
        let (tag, len) = tag(from)?;
        self.at += start + len;
        Some((text, tag))
    }
}

/// The tag at the front, and its length.
fn tag(from: &[u8]) -> Option<(Tag<'_>, usize)> {
    for (start, end) in [(&b"<!--"[..], &b"-->"[..]), (b"<?", b"?>"), (b"<!", b">")] {
        if from.starts_with(start) {
            let at = from.windows(end.len()).position(|window| window == end)?;
            return Some((Tag::Aside, at + end.len()));
        }
    }
    let end = end_of(from)?;
    let inner = &from[1..end];
    let tag = if let Some(name) = inner.strip_prefix(b"/") {
        Tag::Close(name.trim_ascii())
    } else if let Some(inner) = inner.strip_suffix(b"/") {
        let (name, attributes) = named(inner);
        Tag::Empty { name, attributes }
    } else {
        let (name, attributes) = named(inner);
        Tag::Open { name, attributes }
    };
    Some((tag, end + 1))
}

/// The place of the `>` that ends a tag: one in quotes does not.
fn end_of(from: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in from.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    None
}

fn named(inner: &[u8]) -> (&[u8], &[u8]) {
    let len = inner.iter().position(u8::is_ascii_whitespace).unwrap_or(inner.len());
    inner.split_at(len)
}

/// The names and values of attributes, as they stand; the walk ends where they are malformed.
pub(super) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    std::iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let equals = rest.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (rest[..equals].trim_ascii(), rest[equals + 1..].trim_ascii_start());
        let quote = value.first().filter(|byte| b"\"'".contains(byte))?;
        let len = value[1..].iter().position(|byte| byte == quote)?;
        rest = &value[len + 2..];
        Some((name, &value[1..=len]))
    })
}

/// A text with its entities replaced; what is none stays.
pub(super) fn unescape(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'&') {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'&') {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let len = rest.iter().take(ENTITY_MAX).position(|byte| *byte == b';').unwrap_or(0);
        match entity(rest.get(1..len).unwrap_or_default()) {
            Some(letter) => {
                out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[len + 1..];
            }
            None => {
                out.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

/// Bytes of an entity at most.
const ENTITY_MAX: usize = 12;

fn entity(name: &[u8]) -> Option<char> {
    Some(match name {
        b"lt" => '<',
        b"gt" => '>',
        b"amp" => '&',
        b"quot" => '"',
        b"apos" => '\'',
        _ => {
            let number = std::str::from_utf8(name).ok()?.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_their_texts_and_attributes() {
        let text = b"<?xml v?><a x=\"1>2\" y='b'>text<!-- <b> --><c/></a >rest<d";
        let mut tags = Tags::new(text);
        assert_eq!(tags.next(), Some((&b""[..], Tag::Aside)));
        let Some((_, Tag::Open { name: b"a", attributes: all })) = tags.next() else { panic!("a") };
        let pairs: Vec<_> = attributes(all).collect();
        assert_eq!(pairs, [(&b"x"[..], &b"1>2"[..]), (b"y", b"b")]);
        assert_eq!(tags.next(), Some((&b"text"[..], Tag::Aside)));
        assert_eq!(tags.next(), Some((&b""[..], Tag::Empty { name: b"c", attributes: b"" })));
        assert_eq!(tags.next(), Some((&b""[..], Tag::Close(b"a"))));
        assert_eq!(tags.next(), None);
    }

    #[test]
    fn entities_are_replaced() {
        for (text, expect) in [
            ("a&lt;b&gt;&amp;&quot;&apos;", "a<b>&\"'"),
            ("&#xd;&#233;", "\r\u{e9}"),
            ("&nbsp; & &;&#xffffffff;", "&nbsp; & &;&#xffffffff;"),
        ] {
            assert_eq!(unescape(text.as_bytes()), expect.as_bytes(), "{text}");
        }
    }
}
