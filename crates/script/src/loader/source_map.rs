//! `SourceMap`: finds the position in an original file for a position in a compiled text. Source maps (revision 3), inline and
//! in files.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::module_url;

/// A position in an original file (before compilation); line and column from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePos {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// One entry of a source map; lines and columns from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) from_line: u32,
    pub(super) from_column: u32,
    pub(super) source: u32,
}

/// Positions of original files for the positions of one compiled text.
#[derive(Debug, Default)]
pub(crate) struct SourceMap {
    /// How far the first line was moved to the right.
    pub(super) first_line_shift: u32,
    /// In the order of the compiled text; empty where that is the original.
    tokens: Vec<Token>,
    /// The original files, with their text where it is known. Without a map, the module's own file.
    sources: Vec<(String, Option<String>)>,
    /// The text that line and column of imports are of is the original, not the compiled one.
    imports_are_original: bool,
}

impl SourceMap {
    /// Of JavaScript, by its source map if it names one that can be read: `read` has the bytes of a file.
    pub(super) fn of_javascript(
        name: &str,
        text: &str,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Self {
        let own =
            || Self { sources: vec![(name.to_owned(), Some(text.to_owned()))], ..Self::default() };
        let Some(map) = map_of(name, text, read) else { return own() };
        let mut tokens = decoded(map["mappings"].as_str().unwrap_or_default());
        if tokens.is_empty() {
            return own();
        }
        tokens.sort_by_key(|token| (token.line, token.column));
        let root = map["sourceRoot"].as_str().unwrap_or_default();
        let files = map["sources"].as_array().into_iter().flatten().enumerate();
        let sources = files.map(|(at, file)| {
            let file = format!("{root}{}", file.as_str().unwrap_or_default());
            let content = map["sourcesContent"][at].as_str().map(str::to_owned);
            (module_url::joined(name, &file), content)
        });
        Self { tokens, sources: sources.collect(), ..Self::default() }
    }

    /// Of TypeScript that was stripped.
    pub(super) fn of_typescript(name: &str, text: &str, mut tokens: Vec<Token>) -> Self {
        tokens.sort_by_key(|token| (token.line, token.column));
        let sources = vec![(name.to_owned(), Some(text.to_owned()))];
        Self { first_line_shift: 0, tokens, sources, imports_are_original: true }
    }

    /// Where an import stands, by its line and column as they were parsed.
    pub(super) fn of_import(&self, line: u32, column: u32) -> SourcePos {
        if self.imports_are_original {
            let file = self.sources.first().map(|(file, _)| file.clone()).unwrap_or_default();
            return SourcePos { file, line, column };
        }
        self.original(line, column + if line == 1 { self.first_line_shift } else { 0 })
    }

    /// Where a line and a column of the compiled text, both from 1, come from.
    pub(crate) fn original(&self, line: u32, column: u32) -> SourcePos {
        let shift = if line == 1 { self.first_line_shift } else { 0 };
        let column = column.saturating_sub(shift).max(1);
        let own = |at: usize| self.sources.get(at).map(|(file, _)| file.clone());
        if self.tokens.is_empty() {
            return SourcePos { file: own(0).unwrap_or_default(), line, column };
        }
        let at = (line.saturating_sub(1), column - 1);
        let after = self
            .tokens
            .partition_point(|token| (token.line, token.column).cmp(&at) != Ordering::Greater);
        let token = after.checked_sub(1).map(|before| self.tokens[before]);
        // Nothing on this line before the column: the line's first entry is nearer than the line above.
        let token = token
            .filter(|token| token.line == at.0)
            .or_else(|| self.tokens.get(after).copied().filter(|token| token.line == at.0));
        match token {
            Some(token) => SourcePos {
                file: own(token.source as usize).unwrap_or_default(),
                line: token.from_line.saturating_add(1),
                column: token.from_column.saturating_add(1),
            },
            None => SourcePos { file: own(0).unwrap_or_default(), line, column },
        }
    }

    /// The line of the original file, if its text is known.
    pub(crate) fn line(&self, place: &SourcePos) -> Option<&str> {
        let (_, text) = self.sources.iter().find(|(file, _)| *file == place.file)?;
        text.as_ref()?.lines().nth(place.line.checked_sub(1)? as usize)
    }
}

/// The map that a text names in its last comment. A map that cannot be read or is malformed is ignored, as in k6.
fn map_of(name: &str, text: &str, read: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<Value> {
    let (_, rest) = text.rsplit_once("//# sourceMappingURL=")?;
    let url = rest.lines().next()?.trim();
    let bytes = match url.strip_prefix("data:") {
        Some(inline) => {
            let (kind, data) = inline.split_once(',')?;
            if kind.ends_with(";base64") {
                STANDARD.decode(data).ok()?
            } else {
                percent_decode_str(data).collect()
            }
        }
        None => read(module_url::path_of(&module_url::joined(name, url)))?,
    };
    serde_json::from_slice(&bytes).ok()
}

/// The entries of a map's `mappings`: base64 VLQ, differences to the entry before. What is wrong ends it.
fn decoded(mappings: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut from = [0; 3];
    for (line, entries) in mappings.split(';').enumerate() {
        let mut column = 0;
        for entry in entries.split(',').filter(|entry| !entry.is_empty()) {
            let Some(fields) = numbers(entry) else { return tokens };
            match moved(&mut column, &mut from, &fields) {
                Some(Some([source, from_line, from_column])) => {
                    tokens.push(Token {
                        line: line as u32,
                        column,
                        from_line,
                        from_column,
                        source,
                    });
                }
                Some(None) => {}
                None => return tokens,
            }
        }
    }
    tokens
}

/// Adds an entry's numbers to where the entry before it stood: its column, then source, line and column of what it comes from,
/// if the entry has them. `None` if the result is not a position.
fn moved(column: &mut u32, from: &mut [u32; 3], by: &[i64]) -> Option<Option<[u32; 3]>> {
    let (first, rest) = by.split_first()?;
    *column = column.checked_add_signed((*first).try_into().ok()?)?;
    let Some(rest) = rest.first_chunk::<3>() else { return Some(None) };
    for (at, by) in from.iter_mut().zip(rest) {
        *at = at.checked_add_signed((*by).try_into().ok()?)?;
    }
    Some(Some(*from))
}

/// The numbers of an entry.
fn numbers(entry: &str) -> Option<Vec<i64>> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut value, mut shift) = (Vec::new(), 0i64, 0);
    for letter in entry.chars() {
        let digit = DIGITS.find(letter)? as i64;
        value |= (digit & 31).checked_shl(shift)?;
        if digit & 32 == 0 {
            numbers.push(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
            (value, shift) = (0, 0);
        } else {
            shift += 5;
            if shift > 40 {
                return None;
            }
        }
    }
    // A number with a continuation bit in its last digit is malformed.
    (shift == 0).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_decoded() {
        let tokens = decoded("AAAA,IACE;;AACF,gBAAgB");
        let positions: Vec<_> =
            tokens.iter().map(|t| (t.line, t.column, t.from_line, t.from_column)).collect();
        assert_eq!(positions, [(0, 0, 0, 0), (0, 4, 1, 2), (2, 0, 2, 0), (2, 16, 2, 16)]);
        assert!(decoded("A!").is_empty());
        assert!(decoded("gggggggggggggggggggg").is_empty());
    }

    #[test]
    fn mappings_that_are_wrong_end_the_map() {
        for (wrong, expect) in [
            ("g", 0),
            ("AAAA,g", 1),
            ("AAAg", 0),
            (",;,", 0),
            ("D", 0),
            ("ADAA", 0),
            ("AAAA,ADAA,AAAA", 1),
            ("A,AA,AAA,AAAA", 1),
        ] {
            assert_eq!(decoded(wrong).len(), expect, "{wrong}");
        }
        // 2^40 a field, and more of them than any sum holds.
        let far = "ggggggggC,".repeat(1000);
        assert!(decoded(&far).is_empty());
    }

    /// The position after the last that 32 bits hold.
    #[test]
    fn issue_19_a_position_beyond_all_lines() {
        let map = r#"{"sources":["a.ts"],"mappings":"AA+/////DA,AA+/////DA,AACA"}"#;
        let read = |_: &str| Some(map.as_bytes().to_vec());
        let text = "a();\n//# sourceMappingURL=a.map\n";
        let place = SourceMap::of_javascript("file:///a.js", text, &read).original(1, 1);
        assert_eq!((place.line, place.column), (u32::MAX, 1));
    }

    #[test]
    fn inline_maps_are_read_in_both_forms() {
        let map = r#"{"version":3,"sources":["../src/a.ts"],"sourcesContent":["one\ntwo\nthree"],"mappings":"AAAA;AAEA"}"#;
        let forms = [
            format!("data:application/json;base64,{}", STANDARD.encode(map)),
            format!("data:application/json,{}", map.replace('"', "%22")),
        ];
        for form in forms {
            let text = format!("a();\nb();\n//# sourceMappingURL={form}\n");
            let places = SourceMap::of_javascript("file:///dist/a.js", &text, &|_| None);
            let place = places.original(2, 1);
            assert_eq!(
                place,
                SourcePos { file: "file:///src/a.ts".to_owned(), line: 3, column: 1 }
            );
            assert_eq!(places.line(&place), Some("three"));
        }
    }
}
