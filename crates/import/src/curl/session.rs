//! What lasts from one command of curl to the next: variables of the shell and of curl, standard input.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::command::{Command, Values};
use crate::limits::WORD_MAX;
use crate::{Encoding, Import, Input, Place, Source};

/// The state between commands.
pub(super) struct Session<'a, 'i> {
    pub(super) input: &'a Input<'i>,
    pub(super) import: &'a mut Import,
    pub(super) values: Values,
    pub(super) line: usize,
    pub(super) shell: BTreeMap<String, String>,
    /// Lists of the shell, and as `@` the arguments of the function that runs.
    pub(super) lists: BTreeMap<String, Vec<String>>,
    pub(super) functions: BTreeMap<String, Rc<[Command]>>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) stdin: Option<String>,
    /// How many loops and functions the command that runs is in.
    pub(super) depth: usize,
    /// How many bytes words have become longer by the variables and lists in them, all together.
    pub(super) growth_bytes: usize,
}

impl Session<'_, '_> {
    pub(super) fn place(&self) -> Place {
        self.input.place(self.line)
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        let place = self.place();
        self.import.note(place, text);
    }

    /// What the command reads from its standard input.
    pub(super) fn stdin(&mut self) -> String {
        if self.stdin.is_none() {
            self.note("reads standard input, which the file does not show: left empty");
        }
        self.stdin.clone().unwrap_or_default()
    }

    /// The same, if it is literal text.
    pub(super) fn stdin_text(&mut self) -> Option<String> {
        Some(self.stdin())
    }

    /// The text of a file that the command names and that is needed now.
    pub(super) fn read_text(&mut self, path: &str) -> Option<String> {
        match self.input.files.read(path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(problem) => {
                self.note(format!("the file {path} {problem}"));
                None
            }
        }
    }

    /// `--variable name=content`, `name@file`, `%NAME`.
    pub(super) fn set_variable(&mut self, text: &str) {
        let (text, is_environment) =
            text.strip_prefix('%').map_or((text, false), |text| (text, true));
        let end = text.find(['=', '@']).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let (name, range) =
            name.split_once('[').map_or((name, None), |(name, range)| (name, Some(range)));
        let value = if is_environment {
            let default = rest.strip_prefix('=').map(str::to_owned);
            self.values.add(Source::Env { name: name.to_owned(), default }, vec![]).to_string()
        } else if let Some(path) = rest.strip_prefix('@') {
            if path == "-" {
                self.stdin()
            } else {
                self.values.add(Source::File { path: path.to_owned() }, vec![]).to_string()
            }
        } else {
            rest.strip_prefix('=').unwrap_or_default().to_owned()
        };
        let value = range.map_or_else(|| value.clone(), |range| self.part(&value, range));
        self.variables.insert(name.to_owned(), value);
    }

    /// The bytes of a variable's value that `[1-2]` behind its name wants; the first is 0, and a range without an end goes to it.
    fn part(&mut self, value: &str, range: &str) -> String {
        let (first, last) = range.trim_end_matches(']').split_once('-').unwrap_or((range, ""));
        let number = |text: &str, other| if text.is_empty() { Ok(other) } else { text.parse() };
        let bounds = number(first, 0).ok().zip(number(last, usize::MAX).ok());
        match bounds {
            Some((first, last)) if self.values.is_literal(value) => {
                let bytes =
                    value.bytes().skip(first).take(last.saturating_sub(first).saturating_add(1));
                String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
            }
            _ => {
                self.note(format!(
                    "the range [{} of a variable is not carried out",
                    stdx::terminal_line(range)
                ));
                value.to_owned()
            }
        }
    }

    /// `{{name:function}}` of an `--expand-` option.
    pub(super) fn expand_variables(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, inner, after)) = rest.split_once("{{").and_then(|(before, rest)| {
            rest.split_once("}}").map(|(inner, after)| (before, inner, after))
        }) {
            if let Some(before) = before.strip_suffix('\\') {
                out.push_str(before);
                out.push_str(&format!("{{{{{inner}}}}}"));
                rest = after;
                continue;
            }
            out.push_str(before);
            let mut parts = inner.split(':');
            let name = parts.next().unwrap_or_default();
            let mut value = self.variables.get(name).cloned().unwrap_or_default();
            for function in parts {
                // Each may make it longer by a third.
                if value.len() > WORD_MAX {
                    break;
                }
                value = self.apply_function(function, &value);
            }
            if out.len() + value.len() > WORD_MAX || !self.has_room(value.len()) {
                self.note("a text of more than 1 MiB, by the variables in it: it is cut there");
                return out;
            }
            out.push_str(&value);
            rest = after;
        }
        out.push_str(rest);
        out
    }

    fn apply_function(&mut self, function: &str, value: &str) -> String {
        use base64::Engine as _;
        let is_literal = self.values.is_literal(value);
        let encoding = match function {
            "trim" if is_literal => return value.trim().to_owned(),
            "url" if is_literal => return super::url_parts::percent_encoded(value),
            "b64" if is_literal => return base64::engine::general_purpose::STANDARD.encode(value),
            "json" if is_literal => {
                let text = serde_json::Value::from(value).to_string();
                return text[1..text.len() - 1].to_owned();
            }
            "trim" => Encoding::Trimmed,
            "url" => Encoding::Url,
            "b64" => Encoding::Base64,
            "json" => Encoding::Json,
            other => {
                self.note(format!("the function {other} of a variable is not known, left out"));
                return value.to_owned();
            }
        };
        let mut out = String::new();
        for char in value.chars() {
            match self.values.get(char).cloned() {
                Some(mut value) => {
                    value.encodings.push(encoding);
                    out.push(self.values.add(value.source, value.encodings));
                }
                None => out.push(char),
            }
        }
        out
    }
}
