//! The shell's variables in words, at the moment when a command runs.

use super::command::DEFERRED_BASE64;
use super::parameter;
use super::session::Session;
use crate::limits::WORD_MAX;
use crate::{Encoding, Source};

/// How much longer all words of a script may become by the variables and lists in them.
const GROWTH_BYTES_MAX: usize = 64 << 20;

impl Session<'_, '_> {
    /// The words of a command with the shell's variables in them. None, which is said, once all of them have become too long together:
    /// a variable may hold the one before it twice, and so may a list.
    pub(super) fn bounded_words(&mut self, words: &[String]) -> Option<Vec<String>> {
        if self.has_room(0) {
            return Some(self.expand_words(words));
        }
        self.note("variables have made the words before it too long together: left out");
        None
    }

    /// Counts bytes that something has become longer by; whether all of it together is still within the bound.
    pub(super) const fn has_room(&mut self, bytes: usize) -> bool {
        self.growth_bytes = self.growth_bytes.saturating_add(bytes);
        self.growth_bytes <= GROWTH_BYTES_MAX
    }

    /// Words with the shell's variables in them; `"${LIST[@]}"` and `"$@"` are a word for each item.
    fn expand_words(&mut self, words: &[String]) -> Vec<String> {
        let mut out = vec![];
        for word in words {
            if !self.has_room(0) {
                break;
            }
            match self.list_of(word) {
                Some(list) => {
                    let bytes = list.iter().map(|item| item.len() + size_of::<String>()).sum();
                    if self.has_room(bytes) {
                        out.extend(list);
                    }
                }
                None => {
                    let made = self.expand(word);
                    self.has_room(made.len().saturating_sub(word.len()));
                    out.push(made);
                }
            }
        }
        out
    }

    fn list_of(&self, word: &str) -> Option<Vec<String>> {
        let mut chars = word.chars();
        let (Some(char), None) = (chars.next(), chars.next()) else { return None };
        let Source::Env { name, .. } = &self.values.get(char)?.source else { return None };
        let name = name.strip_suffix("[@]").or_else(|| name.strip_suffix("[*]")).or(Some(name));
        let list = self.lists.get(name?)?;
        let is_list = word.chars().all(|char| match self.values.get(char).map(|one| &one.source) {
            Some(Source::Env { name, .. }) => name == "@" || name.ends_with(']'),
            _ => false,
        });
        is_list.then(|| list.clone())
    }

    /// A word with the shell's own variables in it.
    pub(super) fn expand(&mut self, word: &str) -> String {
        let mut out = String::new();
        for char in word.chars() {
            match self.values.get(char).map(|value| value.source.clone()) {
                Some(Source::Env { name, default }) => {
                    out.push_str(&self.variable(char, &name, default.as_deref()));
                }
                _ => out.push(char),
            }
            if out.len() > WORD_MAX {
                break;
            }
        }
        out
    }

    fn variable(&mut self, char: char, name: &str, default: Option<&str>) -> String {
        if let Some(inner) = name.strip_prefix(DEFERRED_BASE64) {
            return self.base64(inner);
        }
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let end = name.find(|char| !is_name(char)).unwrap_or(name.len());
        let (base, change) = name.split_at(end);
        match self.shell.get(base) {
            Some(value) if change.is_empty() => match default {
                Some(default) if value.is_empty() => default.to_owned(),
                _ => value.clone(),
            },
            None if change.is_empty() => char.to_string(),
            _ => self.changed_variable(name, base, change),
        }
    }

    fn changed_variable(&mut self, name: &str, base: &str, change: &str) -> String {
        if name == "@" {
            return self.lists.get("@").map(|list| list.join(" ")).unwrap_or_default();
        }
        if let Some(item) = self.item(base, change) {
            return item;
        }
        if let Some(value) = name.strip_prefix('#').and_then(|base| self.shell.get(base))
            && self.values.is_literal(value)
        {
            return value.chars().count().to_string();
        }
        let known = self.shell.get(base).cloned();
        let literal = known.as_deref().filter(|value| self.values.is_literal(value));
        if let Some(value) = literal.and_then(|value| parameter::changed(value, change)) {
            return value;
        }
        self.unchanged(name, base, change, known)
    }

    /// A value that is known only when the script runs: a default goes along, any other change is said.
    fn unchanged(&mut self, name: &str, base: &str, change: &str, known: Option<String>) -> String {
        let default = change.strip_prefix(":=").or_else(|| change.strip_prefix('='));
        let is_check = change.starts_with(":?") || change.starts_with('?');
        if default.is_none() && !is_check {
            self.note(format!("${{{}}} is not carried out", stdx::terminal_line(name)));
        }
        if base.is_empty() || change.starts_with(":+") {
            return String::new();
        }
        known.unwrap_or_else(|| {
            let default = default.map(|text| text.trim_matches(['"', '\'']).to_owned());
            self.values.add(Source::Env { name: base.to_owned(), default }, vec![]).to_string()
        })
    }

    /// `${LIST[0]}`, `${LIST[*]}`.
    fn item(&self, base: &str, change: &str) -> Option<String> {
        let list = self.lists.get(base)?;
        match change.strip_prefix('[')?.strip_suffix(']')? {
            "@" | "*" => Some(list.join(" ")),
            index => list.get(index.parse::<usize>().ok()?).cloned(),
        }
    }

    fn base64(&mut self, inner: &str) -> String {
        use base64::Engine as _;
        let text = self.expand(inner);
        if self.values.is_literal(&text) {
            return base64::engine::general_purpose::STANDARD.encode(text);
        }
        let mut chars = text.chars();
        let value = chars.next().and_then(|char| self.values.get(char)).cloned();
        if let (Some(mut value), None) = (value, chars.next()) {
            value.encodings.push(Encoding::Base64);
            return self.values.add(value.source, value.encodings).to_string();
        }
        self.note(
            "base64 of several variables together is not carried out: give it as -e OUTPUT=…",
        );
        let source = Source::Env { name: "OUTPUT".to_owned(), default: None };
        self.values.add(source, vec![]).to_string()
    }
}
