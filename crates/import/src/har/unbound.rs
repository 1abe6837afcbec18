//! Values that go out as they were recorded though a server seems to have made them up: a line each, since they may have ended.

use super::correlate::Correlator;
use super::find::{Sink, SinkPlace};
use super::look::{Look, is_rare, look};
use super::tokens::{hash, tokens_of};

/// How many such values have a line.
const NOTES_MAX: usize = 50;
/// How much of a value a line has, in characters.
const SHOWN_CHARS: usize = 40;

impl Correlator<'_> {
    /// Notes a value that nothing was found for, if an answer before had it, or if it may be that of a cookie which the recording
    /// lacks.
    pub(super) fn note_unbound(&mut self, value: &str, sink: &Sink) {
        if !seems_made(value, sink)
            || self.unbound_values.len() >= NOTES_MAX
            || self.is_typed(value, sink)
        {
            return;
        }
        let why = match self.answer_with(value) {
            Some(label) => {
                format!("the answer of {label} had it, in a place that is not found again")
            }
            None if self.may_be_of_cookie(sink) => {
                "it came in no answer, and the recording has no cookies".to_owned()
            }
            None => return,
        };
        let short: String = value.chars().take(SHOWN_CHARS).collect();
        let text = format!("{} is sent as it was recorded ({short}): {why}", sink.shown);
        if self.unbound_values.insert(value.to_owned()) {
            self.unbound.push(text);
        }
    }

    /// The request, the answer to which has the value in its body or its header.
    fn answer_with(&self, value: &str) -> Option<String> {
        let longest = tokens_of(value).max_by_key(|token| token.len())?;
        let units = self.tokens.get(&hash(longest))?;
        let entries = units
            .iter()
            .rev()
            .filter(|unit| **unit < self.at)
            .flat_map(|unit| self.units[*unit].chain.iter().rev().map(|at| &self.entries[*at]));
        let has_value = |entry: &&super::entry::Entry| {
            let mut headers = entry.answer.headers.iter();
            entry.answer.text.contains(value) || headers.any(|(_, text)| text.contains(value))
        };
        entries.take(20).find(has_value).map(super::entry::Entry::label)
    }

    fn may_be_of_cookie(&self, sink: &Sink) -> bool {
        let is_secret = sink.name.to_ascii_lowercase().contains("pass");
        sink.place == SinkPlace::Field && !is_secret && !self.has_cookies
    }
}

/// Whether a value is a single word that looks made up: a token, an id; of numbers those of paths.
fn seems_made(value: &str, sink: &Sink) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let is_made = match look(value) {
        Look::Random => true,
        Look::Number => sink.place == SinkPlace::Path && value.len() >= 5 && is_rare(value),
        Look::Code | Look::Word => false,
    };
    is_made && sink.place != SinkPlace::Cookie && value.bytes().all(is_part)
}
