//! Arguments of one curl as operations: what each of them, between two `--next`, sends.

use super::option_table::{self, Effect, Row};
use super::session::Session;

/// What one operation sends.
#[derive(Debug, Clone, Default)]
pub(super) struct Operation {
    pub(super) urls: Vec<String>,
    pub(super) method: Option<String>,
    pub(super) data: Vec<Data>,
    pub(super) form: Vec<FormField>,
    pub(super) headers: Vec<String>,
    pub(super) cookies: Vec<String>,
    pub(super) cookie_jar: Option<String>,
    pub(super) uploads: Vec<String>,
    pub(super) query: Vec<String>,
    pub(super) options: Vec<(&'static str, String)>,
}

/// A `-d` of some sort.
#[derive(Debug, Clone)]
pub(super) struct Data {
    pub(super) option: &'static str,
    pub(super) value: String,
}

/// A `-F` or `--form-string`.
#[derive(Debug, Clone)]
pub(super) struct FormField {
    pub(super) option: &'static str,
    pub(super) value: String,
}

impl Operation {
    /// The last value of an option; a switch has an empty one.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(seen, _)| *seen == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// How much each of its requests has of it, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let data = self.data.iter().map(|one| &one.value);
        let form = self.form.iter().map(|one| &one.value);
        let lists = [&self.headers, &self.cookies, &self.query];
        let texts = lists.into_iter().flatten().chain(data).chain(form);
        texts.map(|text| text.len() + size_of::<String>()).sum()
    }

    fn set(&mut self, row: Row, value: String) {
        match row.name {
            "url" => self.urls.push(value),
            "request" => self.method = Some(value),
            "data" | "data-ascii" | "data-binary" | "data-raw" | "data-urlencode" | "json" => {
                self.data.push(Data { option: row.name, value });
            }
            "form" | "form-string" => self.form.push(FormField { option: row.name, value }),
            "header" => self.headers.push(value),
            "cookie" => self.cookies.push(value),
            "cookie-jar" => self.cookie_jar = Some(value),
            "upload-file" => self.uploads.push(value),
            "url-query" => self.query.push(value),
            name => self.options.push((name, value)),
        }
    }
}

/// How deep files of options may name others.
const CONFIG_DEPTH_MAX: usize = 4;

/// The operations of the arguments behind `curl`.
pub(super) fn operations(session: &mut Session<'_, '_>, args: &[String]) -> Vec<Operation> {
    let mut parser = Parser { session, done: vec![], now: Operation::default(), is_refused: false };
    parser.arguments(args, 0);
    if parser.is_refused {
        return vec![];
    }
    parser.done.push(parser.now);
    parser.done.retain(|operation| !operation.urls.is_empty());
    parser.done
}

struct Parser<'s, 'a, 'i> {
    session: &'s mut Session<'a, 'i>,
    done: Vec<Operation>,
    now: Operation,
    is_refused: bool,
}

type Words<'w> = std::slice::Iter<'w, String>;

impl Parser<'_, '_, '_> {
    fn arguments(&mut self, args: &[String], depth: usize) {
        let mut rest = args.iter();
        let mut only_urls = false;
        while let Some(arg) = rest.next() {
            if !only_urls && arg.starts_with(['\u{2013}', '\u{2014}', '\u{2212}']) {
                self.unknown(arg, &mut rest);
            } else if only_urls || !arg.starts_with('-') || arg == "-" {
                if !arg.is_empty() {
                    self.now.urls.push(arg.clone());
                }
            } else if arg == "--" {
                only_urls = true;
            } else if let Some(name) = arg.strip_prefix("--") {
                self.long(name, &mut rest, depth);
            } else {
                self.letters(&arg[1..], &mut rest, depth);
            }
        }
    }

    fn long(&mut self, name: &str, rest: &mut Words<'_>, depth: usize) {
        if let Some(expanded) = name.strip_prefix("expand-")
            && let Some(row) = option_table::long(expanded)
        {
            let value = rest.next().cloned().unwrap_or_default();
            let value = self.session.expand_variables(&value);
            return self.apply(row, value, depth);
        }
        match option_table::long(name) {
            Some(row) => {
                let value = if row.has_value { self.value(row, rest) } else { String::new() };
                self.apply(row, value, depth);
            }
            // The reverse of a switch.
            None if name
                .strip_prefix("no-")
                .is_some_and(|name| option_table::long(name).is_some()) =>
            {
                let name = &name[3..];
                self.now.options.retain(|(seen, _)| *seen != name);
            }
            None => self.unknown(&format!("--{name}"), rest),
        }
    }

    /// An option that is not known; a bare word behind it is its value rather than an address.
    fn unknown<'w>(&mut self, option: &str, rest: &mut Words<'w>) {
        self.session.note(format!("unknown option {option}, left out"));
        let is_bare = |word: &&String| {
            !word.contains(['.', '/', ':', '-'])
                && !word.starts_with("localhost")
                && self.session.values.is_literal(word)
        };
        if let Some(word) = rest.as_slice().first().filter(is_bare) {
            self.session.note(format!("{word} behind {option} is no address, left out"));
            rest.next();
        }
    }

    /// The value of an option, without which curl refuses the whole command.
    fn value(&mut self, row: Row, rest: &mut Words<'_>) -> String {
        rest.next().cloned().unwrap_or_else(|| {
            self.session.note(format!("option --{} has no value: curl refuses this", row.name));
            self.is_refused = true;
            String::new()
        })
    }

    fn letters(&mut self, letters: &str, rest: &mut Words<'_>, depth: usize) {
        for (at, letter) in letters.char_indices() {
            let Some(row) = option_table::short(letter) else {
                self.session.note(format!("unknown option -{letter}, left out"));
                continue;
            };
            if !row.has_value {
                self.apply(row, String::new(), depth);
                continue;
            }
            let glued = &letters[at + letter.len_utf8()..];
            let value = match glued {
                "" => self.value(row, rest),
                glued => glued.to_owned(),
            };
            return self.apply(row, value, depth);
        }
    }

    fn apply(&mut self, row: Row, value: String, depth: usize) {
        match row.effect {
            Effect::None => return,
            Effect::Note(reason) => {
                return self.session.note(format!("option --{} left out: {reason}", row.name));
            }
            Effect::Request => {}
        }
        match row.name {
            "next" => self.done.push(std::mem::take(&mut self.now)),
            "config" if depth < CONFIG_DEPTH_MAX => {
                let text = if value == "-" {
                    self.session.stdin_text()
                } else {
                    self.session.read_text(&value)
                };
                let args = config_arguments(&text.unwrap_or_default());
                self.arguments(&args, depth + 1);
            }
            "variable" => self.session.set_variable(&value),
            _ => self.now.set(row, value),
        }
    }
}

/// The lines of a file of options as arguments.
fn config_arguments(text: &str) -> Vec<String> {
    let mut args = vec![];
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let end = line
            .find([' ', '\t', '=', ':'])
            .filter(|_| !line.starts_with("-:"))
            .unwrap_or(line.len());
        let (name, value) = line.split_at(end);
        args.push(if name.starts_with('-') { name.to_owned() } else { format!("--{name}") });
        let value = value.trim_start_matches([' ', '\t']);
        let value = value.strip_prefix(['=', ':']).unwrap_or(value).trim();
        if value.is_empty() {
            continue;
        }
        args.push(match value.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            // Up to the first blank.
            None => value.split([' ', '\t']).next().unwrap_or_default().to_owned(),
        });
    }
    args
}

fn unquoted(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('v') => out.push('\u{b}'),
                Some(char) => out.push(char),
                None => {}
            },
            char => out.push(char),
        }
    }
    out
}
