//! DER (X.690), element by element. It does not recurse, so nesting costs no stack, and it copies nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The tags of a certificate's elements, class and form included.
pub(super) mod tag {
    pub(in super::super) const BOOLEAN: u8 = 0x01;
    pub(in super::super) const INTEGER: u8 = 0x02;
    pub(in super::super) const BIT_STRING: u8 = 0x03;
    pub(in super::super) const OCTET_STRING: u8 = 0x04;
    pub(in super::super) const OBJECT_IDENTIFIER: u8 = 0x06;
    pub(in super::super) const UTF8_STRING: u8 = 0x0c;
    pub(in super::super) const NUMERIC_STRING: u8 = 0x12;
    pub(in super::super) const PRINTABLE_STRING: u8 = 0x13;
    pub(in super::super) const IA5_STRING: u8 = 0x16;
    pub(in super::super) const UTC_TIME: u8 = 0x17;
    pub(in super::super) const GENERALIZED_TIME: u8 = 0x18;
    pub(in super::super) const SEQUENCE: u8 = 0x30;
    pub(in super::super) const SET: u8 = 0x31;
}

/// One element.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    /// The first byte: class, form and number.
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// Tag, length and content.
    pub(super) whole: &'a [u8],
}

/// Elements that follow each other: a file, or the content of an element.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a>(pub(super) &'a [u8]);

impl<'a> Elements<'a> {
    /// The next element. `None`: the end, a length beyond it, or what certificates do not have: a tag of several bytes, an
    /// indefinite length.
    pub(super) fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, after_tag) = self.0.split_first()?;
        let (&first, after_first) = after_tag.split_first()?;
        if tag & 0x1f == 0x1f || first == 0x80 || first == 0xff {
            return None;
        }
        // X.690, 8.1.3: a length below 128, or how many bytes of length follow.
        let (len, after_len) = if first < 0x80 {
            (usize::from(first), after_first)
        } else {
            let (bytes, rest) = after_first.split_at_checked(usize::from(first & 0x7f))?;
            let add = |len: usize, byte: &u8| len.checked_mul(256)?.checked_add(usize::from(*byte));
            (bytes.iter().try_fold(0, add)?, rest)
        };
        let (content, rest) = after_len.split_at_checked(len)?;
        let whole = &self.0[..self.0.len() - rest.len()];
        self.0 = rest;
        Some(Element { tag, content, whole })
    }

    /// The content of the next element, which has this tag.
    pub(super) fn take(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|element| element.tag == tag).map(|element| element.content)
    }

    /// The content of the next element if it has one of these tags. `None`: it stays.
    pub(super) fn take_if(&mut self, tags: &[u8]) -> Option<&'a [u8]> {
        let mut after = *self;
        let element = after.next().filter(|element| tags.contains(&element.tag))?;
        *self = after;
        Some(element.content)
    }

    /// The elements of the next element, which has this tag.
    pub(super) fn enter(&mut self, tag: u8) -> Option<Self> {
        self.take(tag).map(Elements)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next element, an INTEGER in its shortest form: its bytes, the highest first (X.690, 8.3.2).
    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        match self.take(tag::INTEGER)? {
            [] | [0, 0..0x80, ..] => None,
            bytes => Some(bytes),
        }
    }

    /// The bytes of the next element, a BIT STRING. The unused bits of the last byte are zero (X.690, 11.2.1).
    pub(super) fn bits(&mut self) -> Option<&'a [u8]> {
        let (&unused, bytes) = self.take(tag::BIT_STRING)?.split_first()?;
        let zeros = bytes.last().map_or(0, |last| last.trailing_zeros());
        (u32::from(unused) <= zeros).then_some(bytes)
    }

    /// The next element, an OBJECT IDENTIFIER, in dots: `2.5.4.3`. The limit is 128 bits a number, as much as a UUID has.
    pub(super) fn identifier(&mut self) -> Option<String> {
        let bytes = self.take(tag::OBJECT_IDENTIFIER)?;
        let mut numbers = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = 1 + rest.iter().position(|byte| byte & 0x80 == 0)?;
            let (number, after) = rest.split_at(len);
            let add = |sum: u128, byte: &u8| Some(sum.checked_mul(128)? | u128::from(byte & 0x7f));
            numbers.push(number.iter().try_fold(0, add)?);
            rest = after;
        }
        // X.690, 8.19.4: the first number holds two, of which the first is at most 2.
        let first = *numbers.first()?;
        let root = (first / 40).min(2);
        numbers.splice(..1, [root, first - root * 40]);
        Some(numbers.iter().map(u128::to_string).collect::<Vec<_>>().join("."))
    }
}

/// The bytes of a text's first PEM block (RFC 7468), whatever its label; the lines before it are skipped.
pub(super) fn decode_pem(text: &[u8]) -> Option<Vec<u8>> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let label = lines
        .by_ref()
        .filter_map(|line| std::str::from_utf8(line).ok())
        .find_map(|line| line.strip_prefix("-----BEGIN "))?;
    if !label.contains("-----") {
        return None;
    }
    let mut encoded = String::new();
    loop {
        let line = std::str::from_utf8(lines.next()?).ok()?;
        if line.starts_with("-----END ") {
            return STANDARD.decode(encoded).ok();
        }
        encoded.push_str(line.trim_end());
    }
}
