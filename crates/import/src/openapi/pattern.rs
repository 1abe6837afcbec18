//! Texts that match a regular expression, made from its syntax tree. Look-around and back references are not understood: no text
//! then comes of the expression, and the caller leaves the value to its example or to the user.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A text that `pattern` matches, with a number of characters within `min..=max`; `variant` asks for another one. `None` where the
/// expression is beyond what this module reads, or no text of that length was found.
pub(super) fn matching_text(
    pattern: &str,
    min: usize,
    max: usize,
    variant: usize,
) -> Option<String> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    let readable = without_unicode_classes(pattern);
    let tree = parse(&readable)?;
    let matcher = matcher(&readable);
    let repeats = [0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 64, 128, min];
    repeats.into_iter().find_map(|extra| {
        let mut walk = Walk {
            extra: extra.min(TEXT_BYTES_MAX),
            variant,
            budget: TEXT_BYTES_MAX,
            text: Vec::new(),
        };
        walk.add(&tree)?;
        let text = String::from_utf8(walk.text).ok()?;
        let len = text.chars().count();
        let padded = if len < min && is_open_ended(&readable) {
            format!("{text}{}", "a".repeat((min - len).min(TEXT_BYTES_MAX)))
        } else {
            text
        };
        let fits = (min..=max).contains(&padded.chars().count());
        let matches = matcher.as_ref().is_none_or(|matcher| matcher.is_match(padded.as_bytes()));
        (fits && matches).then_some(padded)
    })
}

/// Whether `text` matches `pattern`; `None` where the expression cannot be read.
pub(super) fn is_match(pattern: &str, text: &str) -> Option<bool> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return None;
    }
    matcher(&without_unicode_classes(pattern)).map(|matcher| matcher.is_match(text.as_bytes()))
}

fn matcher(pattern: &str) -> Option<regex::bytes::Regex> {
    regex::bytes::RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(PROGRAM_BYTES_MAX)
        .build()
        .ok()
}

fn parse(pattern: &str) -> Option<Hir> {
    ParserBuilder::new().unicode(false).utf8(false).nest_limit(50).build().parse(pattern).ok()
}

/// Whether more text may follow what the expression demands.
fn is_open_ended(pattern: &str) -> bool {
    !pattern.ends_with('$')
}

/// The expression with Unicode's classes as their ASCII part, for the tables of Unicode are not built in.
fn without_unicode_classes(pattern: &str) -> String {
    let mut text = pattern.to_owned();
    for (class, ascii) in UNICODE_CLASSES {
        text = text.replace(class, ascii);
    }
    text
}

/// The text so far, and what it may still become.
struct Walk {
    extra: usize,
    variant: usize,
    budget: usize,
    text: Vec<u8>,
}

impl Walk {
    fn add(&mut self, tree: &Hir) -> Option<()> {
        match tree.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(()),
            HirKind::Literal(literal) => self.push(&literal.0),
            HirKind::Class(class) => self.push(&[byte_of(class, self.variant)?]),
            HirKind::Capture(capture) => self.add(&capture.sub),
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.add(part)),
            HirKind::Alternation(parts) => self.add(parts.get(self.variant % parts.len())?),
            HirKind::Repetition(repetition) => {
                let min = repetition.min as usize;
                let max = repetition.max.map_or(usize::MAX, |max| max as usize);
                let count = min.saturating_add(self.extra).min(max).min(TEXT_BYTES_MAX);
                (0..count).try_for_each(|_| self.add(&repetition.sub))
            }
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.budget = self.budget.checked_sub(bytes.len())?;
        self.text.extend_from_slice(bytes);
        Some(())
    }
}

/// A printable character of the class: a letter or digit where it has one.
fn byte_of(class: &Class, variant: usize) -> Option<u8> {
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
        }
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
    };
    let has =
        |byte: &u8| ranges.iter().any(|(low, high)| (*low..=*high).contains(&u32::from(*byte)));
    let plain: Vec<u8> = PLAIN.bytes().filter(has).collect();
    if !plain.is_empty() {
        return Some(plain[variant % plain.len()]);
    }
    (0x20..0x7f).find(has).or_else(|| (0..0x80).find(has))
}

/// In the order in which characters are preferred.
const PLAIN: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890";

const UNICODE_CLASSES: [(&str, &str); 8] = [
    (r"\p{L}", "[A-Za-z]"),
    (r"\p{Lu}", "[A-Z]"),
    (r"\p{Ll}", "[a-z]"),
    (r"\p{N}", "[0-9]"),
    (r"\p{Nd}", "[0-9]"),
    (r"\pL", "[A-Za-z]"),
    (r"\pN", "[0-9]"),
    (r"\/", "/"),
];

/// Longer expressions are not read.
const PATTERN_BYTES_MAX: usize = 4_096;
/// No text becomes longer.
const TEXT_BYTES_MAX: usize = 10_000;
/// What an expression may take when compiled.
const PROGRAM_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_their_expressions() {
        let patterns = [
            "^97[89][0-9]{10}$",
            r"^s-[0-9]{4}$",
            "^[A-Z]{3}$",
            r"^\d{3}-\d{2}$",
            r"^(red|green)+\s?x*$",
            "[a-f]",
            r"^\p{L}+$",
            r"^https?:\/\/.+",
            r"^(?<year>\d{4})$",
            r"^\+?[1-9]\d{1,14}$",
        ];
        for pattern in patterns {
            for variant in 0..3 {
                let text = matching_text(pattern, 0, 1_000, variant).expect(pattern);
                assert_eq!(is_match(pattern, &text), Some(true), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn lengths_are_kept() {
        assert_eq!(matching_text("^[a-z]+$", 5, 5, 0).expect("made").len(), 5);
        assert_eq!(matching_text("^x", 4, 9, 0).expect("made").len(), 4);
        assert_eq!(matching_text("^[a-z]{2}$", 5, 9, 0), None);
    }

    #[test]
    fn hostile_expressions_end_at_once() {
        for pattern in ["(?=a)b", "((a{1000}){1000}){1000}", "(", r"\1", &"(".repeat(5_000)] {
            assert!(matching_text(pattern, 0, 100, 0).is_none(), "{pattern:.20}");
        }
    }
}
