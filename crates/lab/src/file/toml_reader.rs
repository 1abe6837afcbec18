//! `TomlReader` and `Table`: TOML read key by key. Each problem is collected with its line and the path of its key, and reading goes
//! on, so that all problems are reported at once.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use cli::{nearest, value};
use stdx::Nanos;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_values::{SpannedText, as_number, as_plain, as_table, as_text, as_words, kind};

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The problem, with the path of its key.
    pub text: String,
}

/// Problems that an error lists, at most; the others are counted.
pub(crate) const PROBLEMS_MAX: usize = 50;

/// A file's text, and its problems.
pub(crate) struct TomlReader<'a> {
    text: &'a str,
    problems: RefCell<Vec<Problem>>,
}

impl<'a> TomlReader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, problems: RefCell::default() }
    }

    /// Adds a problem at this offset in the text.
    pub(crate) fn problem(&self, at: usize, text: impl Into<String>) {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        self.problems.borrow_mut().push(Problem { line, text: text.into() });
    }

    /// All problems, by line.
    pub(crate) fn problems(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort();
        problems.dedup();
        problems
    }
}

/// One table of the file.
pub(crate) struct Table<'s, 'a> {
    reader: &'s TomlReader<'a>,
    entries: &'s DeTable<'a>,
    /// Its path; empty for the whole file.
    path: String,
    /// Where it begins.
    pub(crate) at: usize,
    known: RefCell<Vec<&'static str>>,
}

impl<'s, 'a> Table<'s, 'a> {
    pub(crate) fn new(
        reader: &'s TomlReader<'a>,
        entries: &'s DeTable<'a>,
        path: String,
        at: usize,
    ) -> Self {
        Self { reader, entries, path, at, known: RefCell::default() }
    }

    /// Adds a problem of one of its keys.
    pub(crate) fn problem(&self, key: &str, at: usize, what: impl std::fmt::Display) {
        self.reader.problem(at, format!("{}: {what}", self.name(key)));
    }

    /// Adds a problem of the table as a whole.
    pub(crate) fn problem_here(&self, at: usize, what: impl std::fmt::Display) {
        self.reader.problem(at, format!("{}: {what}", self.path));
    }

    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn value(&self, key: &'static str) -> Option<(&'s DeValue<'a>, usize)> {
        self.known.borrow_mut().push(key);
        let found = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
        Some((found.1.get_ref(), found.1.span().start))
    }

    /// A value of one kind; another kind is a problem.
    fn of<T>(
        &self,
        key: &'static str,
        expected: &str,
        take: impl FnOnce(&'s DeValue<'a>) -> Option<T>,
    ) -> Option<(T, usize)> {
        let (value, at) = self.value(key)?;
        let taken = take(value);
        if taken.is_none() {
            self.problem(key, at, format!("{} where {expected} is expected", kind(value)));
        }
        taken.map(|taken| (taken, at))
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, key: &'static str) -> Option<SpannedText> {
        let (text, at) = self.of(key, "a text", as_text)?;
        if text.trim().is_empty() {
            self.problem(key, at, "is empty");
            return None;
        }
        Some(SpannedText { text, at })
    }

    /// A text that must be given.
    pub(crate) fn needed(&self, key: &'static str) -> Option<SpannedText> {
        if !self.has(key) {
            self.known.borrow_mut().push(key);
            self.problem(key, self.at, "is missing");
            return None;
        }
        self.text(key)
    }

    /// A text that was read before, whose problems are known.
    pub(crate) fn text_again(&self, key: &'static str) -> Option<SpannedText> {
        let (value, at) = self.value(key)?;
        Some(SpannedText { text: as_text(value)?, at })
    }

    /// The key has a text, which may be empty; any other value is a problem.
    pub(crate) fn is_text(&self, key: &'static str) -> bool {
        self.of(key, "a text", as_text).is_some()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(name, _)| name.get_ref().as_ref() == key)
    }

    /// A duration in Go's form.
    pub(crate) fn duration(&self, key: &'static str) -> Option<Nanos> {
        let text = self.text(key)?;
        match value::duration(&text.text) {
            Ok(time) => Some(time),
            Err(wrong) => {
                self.problem(key, text.at, wrong.native);
                None
            }
        }
    }

    /// A whole number within bounds.
    pub(crate) fn count(&self, key: &'static str, within: &RangeInclusive<u64>) -> Option<u64> {
        let (number, at) = self.of(key, "a whole number", as_number)?;
        if !within.contains(&number) {
            let (low, high) = (within.start(), within.end());
            self.problem(key, at, format!("{number} is not from {low} to {high}"));
            return None;
        }
        Some(number)
    }

    pub(crate) fn switch(&self, key: &'static str) -> Option<bool> {
        let found = self.of(key, "true or false", |value| match value {
            DeValue::Boolean(on) => Some(*on),
            _ => None,
        });
        found.map(|(on, _)| on)
    }

    /// A list of texts; empty where there is none.
    pub(crate) fn words(&self, key: &'static str) -> Vec<SpannedText> {
        let take = |value: &'s DeValue<'a>| as_words(value);
        self.of(key, "a list of texts", take).map_or(Vec::new(), |(words, _)| words)
    }

    /// A list of texts that must be given, with a first word.
    pub(crate) fn needed_words(&self, key: &'static str) -> Vec<SpannedText> {
        let (here, words) = (self.has(key), self.words(key));
        match here {
            false => self.problem(key, self.at, "is missing"),
            true if words.first().is_none_or(|word| word.text.is_empty()) => {
                self.problem(key, self.at, "names no command (expected a list of words)");
            }
            true => {}
        }
        words
    }

    /// A list of lists of texts: commands.
    pub(crate) fn commands(&self, key: &'static str) -> Vec<Vec<SpannedText>> {
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

    /// A table of texts; numbers and switches become texts as they are written.
    pub(crate) fn pairs(&self, key: &'static str) -> Vec<(String, SpannedText)> {
        let Some((table, _)) = self.of(key, "a table", as_table) else { return Vec::new() };
        let pair = |(name, value): (&'s Spanned<_>, &'s Spanned<DeValue<'a>>)| {
            let name: &std::borrow::Cow<'a, str> = name.get_ref();
            let at = value.span().start;
            let text = as_text(value.get_ref()).or_else(|| as_plain(value.get_ref()));
            if text.is_none() {
                let kind = kind(value.get_ref());
                self.problem(
                    &format!("{key}.{name}"),
                    at,
                    format!("{kind} where a text is expected"),
                );
            }
            text.map(|text| (name.clone().into_owned(), SpannedText { text, at }))
        };
        table.iter().filter_map(pair).collect()
    }

    /// A table below this one.
    pub(crate) fn table(&self, key: &'static str) -> Option<Self> {
        let (entries, at) = self.of(key, "a table", as_table)?;
        Some(Self::new(self.reader, entries, self.name(key), at))
    }

    /// A list of tables, each called by its name where it has one.
    pub(crate) fn tables(&self, key: &'static str) -> Vec<Self> {
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
            Self::new(self.reader, entries, path, at)
        };
        list.into_iter().enumerate().map(named).collect()
    }

    /// Adds a problem for each unknown key. Called after all known keys were read.
    pub(crate) fn finish(&self) {
        let known = self.known.borrow();
        for (name, _) in self.entries {
            let key = name.get_ref().as_ref();
            if known.contains(&key) {
                continue;
            }
            let suggestion = nearest(key, known.iter().copied());
            let suggestion =
                suggestion.map_or(String::new(), |known| format!(" (did you mean {known}?)"));
            self.problem(
                &key.escape_debug().to_string(),
                name.span().start,
                format!("unknown key{suggestion}"),
            );
        }
    }
}
