//! Commands as words. A value that is known only later stands in a word as one character of a private plane, so that words are
//! plain strings until they become texts.

use std::collections::HashMap;

use crate::{Between, Encoding, Find, Piece, Source, Text, Value};

/// A command with the words it was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The line it begins in, from 1.
    pub(super) line: usize,
    pub(super) words: Vec<String>,
    /// What it reads: a here-document, a here-string.
    pub(super) stdin: Option<String>,
    /// Whether it reads what the command before it prints.
    pub(super) is_piped: bool,
    /// Whether it runs only where the command before it fails, behind `||`.
    pub(super) is_fallback: bool,
    /// The comment lines right above it.
    pub(super) comments: Vec<String>,
    /// The list of the shell that its words are, `LIST=(…)`.
    pub(super) list: Option<String>,
    /// What is taken of its answer.
    pub(super) captures: Vec<Capture>,
}

/// What a shell variable takes of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Capture {
    pub(super) variable: String,
    pub(super) find: Find,
    pub(super) cut: Option<Between>,
}

/// Before the name of a variable: it is the base64 of the text behind, once the shell's variables in it are known.
pub(super) const DEFERRED_BASE64: &str = "\u{1}base64:";

/// Commands and the values that their words hold.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub(super) list: Vec<Command>,
    pub(super) values: Values,
    /// What is not understood, with its line.
    pub(super) problems: Vec<(usize, String)>,
}

/// The values that stand in words as single characters.
#[derive(Debug, Default)]
pub(super) struct Values {
    list: Vec<Value>,
    places: HashMap<Value, u32>,
    is_full: bool,
}

/// The first character of the private plane.
pub(super) const FIRST: u32 = 0xf_0000;

impl Values {
    /// The character that stands for a value.
    pub(super) fn add(&mut self, source: Source, encodings: Vec<Encoding>) -> char {
        let value = Value { source, encodings };
        if let Some(char) = self.places.get(&value).and_then(|at| char::from_u32(FIRST + at)) {
            return char;
        }
        let place = u32::try_from(self.list.len()).ok();
        let Some((at, char)) =
            place.and_then(|at| Some((at, char::from_u32(FIRST.checked_add(at)?)?)))
        else {
            self.is_full = true;
            return '\u{fffd}';
        };
        self.places.insert(value.clone(), at);
        self.list.push(value);
        char
    }

    /// Whether a value has found no character, so that it is lost.
    pub(super) const fn is_full(&self) -> bool {
        self.is_full
    }

    /// The value of a character, if it stands for one.
    pub(super) fn get(&self, char: char) -> Option<&Value> {
        let at = u32::from(char).checked_sub(FIRST)?;
        self.list.get(at as usize)
    }

    /// A word as a text.
    pub(super) fn text(&self, word: &str) -> Text {
        let mut text = Text::default();
        let mut literal = String::new();
        for char in word.chars() {
            match self.get(char) {
                Some(value) => {
                    text.push_str(&std::mem::take(&mut literal));
                    text.pieces.push(Piece::Value(value.clone()));
                }
                None => literal.push(char),
            }
        }
        text.push_str(&literal);
        text
    }

    /// Whether a word is literal.
    pub(super) fn is_literal(&self, word: &str) -> bool {
        word.chars().all(|char| self.get(char).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_a_character_each_as_long_as_there_are_some() {
        let mut values = Values::default();
        let named = |n: u32| Source::Env { name: n.to_string(), default: None };
        let first = values.add(named(0), vec![]);
        let last = (1..0x11_0000 - FIRST).map(|n| values.add(named(n), vec![])).last();
        assert_eq!(last, Some(char::MAX));
        assert_eq!(values.add(named(0), vec![]), first);
        assert!(!values.is_full());
        assert_eq!((values.add(named(u32::MAX), vec![]), values.is_full()), ('\u{fffd}', true));
    }
}
