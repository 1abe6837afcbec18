//! `Sheet` and `Table`: TOML walked by hand. Whatever is wrong is noted with its line and the path of its key, and the walk
//! goes on, so that all problems are told at once.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use cli::{nearest, value};
use stdx::Nanos;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command::study) struct Problem {
    /// The line, from 1.
    pub(in crate::command::study) line: usize,
    /// What it is, with the path of its key.
    pub(in crate::command::study) text: String,
}

/// Problems that are told, at most; the others are counted.
pub(in crate::command::study) const PROBLEMS_MAX: usize = 50;

/// A file's text, and what is wrong with it.
pub(super) struct Sheet<'a> {
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, problems: RefCell::default() }
    }

    /// Notes what is wrong at a byte of the text.
    pub(super) fn wrong(&self, at: usize, text: impl Into<String>) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        self.problems.borrow_mut().push(Problem { line, text: text.into() });
    }

    /// All that is wrong, by line.
    pub(super) fn problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        problems
    }
}

/// A text and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) text: String,
    pub(super) at: usize,
}

/// One table of the file.
pub(super) struct Table<'s, 'a> {
    sheet: &'s Sheet<'a>,
    entries: &'s DeTable<'a>,
    /// Its path; empty for the whole file.
    path: String,
    /// Where it begins.
    pub(super) at: usize,
    asked: RefCell<Vec<&'static str>>,
}

impl<'s, 'a> Table<'s, 'a> {
    pub(super) fn new(
        sheet: &'s Sheet<'a>,
        entries: &'s DeTable<'a>,
        path: String,
        at: usize,
    ) -> Self {
        Self { sheet, entries, path, at, asked: RefCell::default() }
    }

    /// Notes what is wrong with one of its keys.
    pub(super) fn wrong(&self, key: &str, at: usize, what: impl std::fmt::Display) {
        self.sheet.wrong(at, format!("{}: {what}", self.name(key)));
    }

    /// Notes what is wrong somewhere in it.
    pub(super) fn wrong_here(&self, at: usize, what: impl std::fmt::Display) {
        self.sheet.wrong(at, format!("{}: {what}", self.path));
    }

    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn value(&self, key: &'static str) -> Option<(&'s DeValue<'a>, usize)> {
        self.asked.borrow_mut().push(key);
        let found = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some((found.1.get_ref(), found.1.span().start))
    }

    /// A value of one kind; another kind is wrong.
    fn of<T>(
        &self,
        key: &'static str,
        expected: &str,
        take: impl FnOnce(&'s DeValue<'a>) -> Option<T>,
    ) -> Option<(T, usize)> {
        let (value, at) = self.value(key)?;
        let taken = take(value);
        if taken.is_none() {
            self.wrong(key, at, format!("{} where {expected} is expected", kind(value)));
        }
        taken.map(|taken| (taken, at))
    }

    /// A text that is not empty.
    pub(super) fn text(&self, key: &'static str) -> Option<Placed> {
        let (text, at) = self.of(key, "a text", as_text)?;
        if text.trim().is_empty() {
            self.wrong(key, at, "is empty");
            return None;
        }
        Some(Placed { text, at })
    }

    /// The same; its absence is wrong too.
    pub(super) fn needed(&self, key: &'static str) -> Option<Placed> {
        if !self.has(key) {
            self.asked.borrow_mut().push(key);
            self.wrong(key, self.at, "is missing");
            return None;
        }
        self.text(key)
    }

    /// A text that was read before; what is wrong with it has been said.
    pub(super) fn text_again(&self, key: &'static str) -> Option<Placed> {
        let (value, at) = self.value(key)?;
        Some(Placed { text: as_text(value)?, at })
    }

    /// The key has a text, be it empty; any other value is wrong.
    pub(super) fn is_text(&self, key: &'static str) -> bool {
        self.of(key, "a text", as_text).is_some()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.get_ref().as_ref() == key)
    }

    /// A duration in Go's form.
    pub(super) fn duration(&self, key: &'static str) -> Option<Nanos> {
        let text = self.text(key)?;
        match value::duration(&text.text) {
            Ok(time) => Some(time),
            Err(wrong) => {
                self.wrong(key, text.at, wrong.native);
                None
            }
        }
    }

    /// A whole number within bounds.
    pub(super) fn count(&self, key: &'static str, within: &RangeInclusive<u64>) -> Option<u64> {
        let (number, at) = self.of(key, "a whole number", as_number)?;
        if !within.contains(&number) {
            let (low, high) = (within.start(), within.end());
            self.wrong(key, at, format!("{number} is not from {low} to {high}"));
            return None;
        }
        Some(number)
    }

    pub(super) fn switch(&self, key: &'static str) -> Option<bool> {
        let found = self.of(key, "true or false", |value| match value {
            DeValue::Boolean(on) => Some(*on),
            _ => None,
        });
        found.map(|(on, _)| on)
    }

    /// A list of texts; empty where there is none.
    pub(super) fn words(&self, key: &'static str) -> Vec<Placed> {
        let take = |value: &'s DeValue<'a>| as_words(value);
        self.of(key, "a list of texts", take).map_or(Vec::new(), |(words, _)| words)
    }

    /// The same; that it is missing or empty is wrong too.
    pub(super) fn needed_words(&self, key: &'static str) -> Vec<Placed> {
        let (here, words) = (self.has(key), self.words(key));
        match here {
            false => self.wrong(key, self.at, "is missing"),
            true if words.first().is_none_or(|word| word.text.is_empty()) => {
                self.wrong(key, self.at, "names no command (expected a list of words)");
            }
            true => {}
        }
        words
    }

    /// A list of lists of texts: commands.
    pub(super) fn commands(&self, key: &'static str) -> Vec<Vec<Placed>> {
        let take = |value: &'s DeValue<'a>| match value {
            DeValue::Array(list) => list
                .iter()
                .map(|one| as_words(one.get_ref()).filter(|words| !words.is_empty()))
                .collect(),
            _ => None,
        };
        self.of(key, "a list of commands, each a list of words,", take)
            .map_or(Vec::new(), |(commands, _)| commands)
    }

    /// A table of texts; numbers and switches are taken as they are written.
    pub(super) fn pairs(&self, key: &'static str) -> Vec<(String, Placed)> {
        let Some((table, _)) = self.of(key, "a table", as_table) else { return Vec::new() };
        let pair = |(name, value): (&'s Spanned<_>, &'s Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'a, str> = name.get_ref();
            let at = value.span().start;
            let text = as_text(value.get_ref()).or_else(|| plain(value.get_ref()));
            if text.is_none() {
                let kind = kind(value.get_ref());
                self.wrong(
                    &format!("{key}.{name}"),
                    at,
                    format!("{kind} where a text is expected"),
                );
            }
            text.map(|text| (name.clone().into_owned(), Placed { text, at }))
        };
        table.iter().filter_map(pair).collect()
    }

    /// A table below this one.
    pub(super) fn table(&self, key: &'static str) -> Option<Self> {
        let (entries, at) = self.of(key, "a table", as_table)?;
        Some(Self::new(self.sheet, entries, self.name(key), at))
    }

    /// A list of tables, each called by its name where it has one.
    pub(super) fn tables(&self, key: &'static str) -> Vec<Self> {
        let take = |value: &'s DeValue<'a>| match value {
            DeValue::Array(list) => list
                .iter()
                .map(|one| Some((as_table(one.get_ref())?, one.span().start)))
                .collect::<Option<Vec<_>>>(),
            _ => None,
        };
        let Some((list, _)) = self.of(key, "a list of tables", take) else { return Vec::new() };
        let named = |(number, (entries, at)): (usize, (&'s DeTable<'a>, usize))| {
            let own = entries.iter().find(|(name, _)| name.get_ref().as_ref() == "name");
            let own = own.and_then(|(_, value)| as_text(value.get_ref()));
            let path = match own {
                Some(own) => format!("{} \"{}\"", self.name(key), own.escape_debug()),
                None => format!("{} {}", self.name(key), number + 1),
            };
            Self::new(self.sheet, entries, path, at)
        };
        list.into_iter().enumerate().map(named).collect()
    }

    /// Says which keys nobody asked for. To be called when all have been.
    pub(super) fn finish(&self) {
        let asked = self.asked.borrow();
        for (name, _) in self.entries {
            let key = name.get_ref().as_ref();
            if asked.contains(&key) {
                continue;
            }
            let meant = nearest(key, asked.iter().copied());
            let meant = meant.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            self.wrong(
                &key.escape_debug().to_string(),
                name.span().start,
                format!("unknown key{meant}"),
            );
        }
    }
}

fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        _ => None,
    }
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(on) => Some(on.to_string()),
        _ => None,
    }
}

fn as_number(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

fn as_words(value: &DeValue<'_>) -> Option<Vec<Placed>> {
    let DeValue::Array(list) = value else { return None };
    let one = |one: &Spanned<DeValue<'_>>| {
        Some(Placed { text: as_text(one.get_ref())?, at: one.span().start })
    };
    list.iter().map(one).collect()
}

fn as_table<'s, 'a>(value: &'s DeValue<'a>) -> Option<&'s DeTable<'a>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// What a value is, in words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
