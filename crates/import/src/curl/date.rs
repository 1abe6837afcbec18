//! `date` as the values that a script can make: seconds, milliseconds, parts of the time in UTC.

use crate::{Encoding, Source};

/// A piece of what `date` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DatePiece {
    /// As it stands in the format.
    Literal(String),
    /// The time now.
    Time(Source, Vec<Encoding>),
}

/// What `date` with these arguments prints; none if a script cannot make it.
pub(super) fn pieces(arguments: &str) -> Option<Vec<DatePiece>> {
    let (flags, format) = match arguments.find('+') {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, ""),
    };
    let quotes = ['"', '\''];
    let flags: Vec<&str> = flags
        .split_whitespace()
        .map(|flag| flag.trim_matches(quotes))
        .filter(|flag| !flag.is_empty())
        .collect();
    let seconds = ["-Is", "-Iseconds", "--iso-8601=seconds"];
    if format.is_empty() && flags.iter().any(|flag| seconds.contains(flag)) {
        return formatted("%Y-%m-%dT%H:%M:%S+00:00");
    }
    if format.is_empty() && flags.iter().any(|flag| matches!(*flag, "-I" | "--iso-8601")) {
        return formatted("%F");
    }
    let is_now = flags.iter().all(|flag| matches!(*flag, "-u" | "--utc" | "--universal"));
    (is_now && !format.is_empty()).then(|| formatted(format.trim().trim_matches(quotes)))?
}

/// Where the parts stand in `2026-11-28T17:25:16.000Z`.
const PARTS: &[(&str, usize, usize)] = &[
    ("%Y", 0, 4),
    ("%y", 2, 4),
    ("%m", 5, 7),
    ("%d", 8, 10),
    ("%F", 0, 10),
    ("%H", 11, 13),
    ("%M", 14, 16),
    ("%S", 17, 19),
    ("%T", 11, 19),
    ("%R", 11, 16),
    ("%3N", 20, 23),
];

/// The text between the parts of a time.
const FRAME: &str = "0000-00-00T00:00:00.000Z";

fn formatted(format: &str) -> Option<Vec<DatePiece>> {
    let mut out = vec![];
    let mut rest = format;
    while !rest.is_empty() {
        let (length, piece) = piece(rest)?;
        out.push(piece);
        rest = &rest[length..];
    }
    Some(joined(out))
}

fn piece(rest: &str) -> Option<(usize, DatePiece)> {
    let literal = |text: &str| DatePiece::Literal(text.to_owned());
    if let Some((mark, from, to)) = PARTS.iter().find(|(mark, ..)| rest.starts_with(mark)) {
        let slice = vec![Encoding::Slice { from: *from, to: *to }];
        return Some((mark.len(), DatePiece::Time(Source::IsoTime, slice)));
    }
    match rest {
        _ if rest.starts_with("%s%3N") => {
            Some((5, DatePiece::Time(Source::UnixMilliseconds, vec![])))
        }
        _ if rest.starts_with("%s") => Some((2, DatePiece::Time(Source::UnixSeconds, vec![]))),
        _ if rest.starts_with("%N") => Some((2, literal("000000000"))),
        _ if rest.starts_with("%z") => Some((2, literal("+0000"))),
        _ if rest.starts_with("%Z") => Some((2, literal("UTC"))),
        _ if rest.starts_with("%%") => Some((2, literal("%"))),
        _ if rest.starts_with('%') => None,
        _ => {
            let length = rest.chars().next()?.len_utf8();
            Some((length, literal(&rest[..length])))
        }
    }
}

/// Neighbours as one: literals, and parts of the time with the text between them that the time has there itself.
fn joined(pieces: Vec<DatePiece>) -> Vec<DatePiece> {
    let mut out: Vec<DatePiece> = vec![];
    for piece in pieces {
        match (out.as_mut_slice(), piece) {
            ([.., DatePiece::Literal(before)], DatePiece::Literal(text)) => before.push_str(&text),
            (
                [.., DatePiece::Time(Source::IsoTime, first), DatePiece::Literal(between)],
                DatePiece::Time(Source::IsoTime, second),
            ) if let Some(both) = spanned(first, between, &second) => {
                *first = vec![both];
                out.pop();
            }
            (_, piece) => out.push(piece),
        }
    }
    out
}

fn spanned(first: &[Encoding], between: &str, second: &[Encoding]) -> Option<Encoding> {
    let ([Encoding::Slice { from, to: end }], [Encoding::Slice { from: start, to }]) =
        (first, second)
    else {
        return None;
    };
    (FRAME.get(*end..*start) == Some(between)).then_some(Encoding::Slice { from: *from, to: *to })
}

#[cfg(test)]
mod tests {
    use super::{DatePiece, pieces};

    #[test]
    fn formats_are_parts_of_the_time() {
        let text = |arguments: &str| -> Option<String> {
            let pieces = pieces(arguments)?;
            let text = pieces.iter().map(|piece| match piece {
                DatePiece::Literal(text) => text.clone(),
                DatePiece::Time(source, encodings) => format!("<{source:?}{encodings:?}>"),
            });
            Some(text.collect())
        };
        let slice = |from, to| format!("<IsoTime[Slice {{ from: {from}, to: {to} }}]>");
        assert_eq!(text("+%s").unwrap(), "<UnixSeconds[]>");
        assert_eq!(text("+%s%3N").unwrap(), "<UnixMilliseconds[]>");
        assert_eq!(text("-u +%Y-%m-%dT%H:%M:%SZ").unwrap(), slice(0, 19) + "Z");
        assert_eq!(text("+%F").unwrap(), slice(0, 10));
        assert_eq!(text("+\"%Y-%m-%d\"").unwrap(), slice(0, 10));
        assert_eq!(text("+%Y%m%d").unwrap(), slice(0, 4) + &slice(5, 7) + &slice(8, 10));
        assert_eq!(text("-d yesterday +%F"), None);
        assert_eq!(text("+%A"), None);
        assert_eq!(text(""), None);
    }
}
