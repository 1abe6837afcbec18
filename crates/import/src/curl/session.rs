//! What a shell does around curl: variables, pipes, loops; and curl's own variables.

use std::collections::BTreeMap;

use super::words::{Command, Commands, Values};
use super::{options, request};
use crate::{Encoding, Exchange, Import, Input, Place, Source};

/// How many commands loops may become.
const COMMANDS_MAX: usize = 2000;

/// The state between commands.
pub(super) struct Session<'a, 'i> {
    pub(super) input: &'a Input<'i>,
    pub(super) import: &'a mut Import,
    pub(super) values: Values,
    pub(super) line: usize,
    shell: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
    stdin: Option<String>,
}

/// Runs commands, of which curl's become requests.
pub(super) fn run(input: &Input<'_>, commands: Commands, import: &mut Import) -> Vec<Exchange> {
    let Commands { list, values, problems } = commands;
    for (line, problem) in problems {
        import.note(input.place(line), problem);
    }
    let mut session = Session {
        input,
        import,
        values,
        line: 0,
        shell: BTreeMap::new(),
        variables: BTreeMap::new(),
        stdin: None,
    };
    let mut exchanges = vec![];
    let mut budget = COMMANDS_MAX;
    session.commands(&list, &mut exchanges, &mut budget);
    exchanges
}

impl Session<'_, '_> {
    pub(super) fn place(&self) -> Place {
        self.input.place(self.line)
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        let place = self.place();
        self.import.note(place, text);
    }

    fn commands(&mut self, list: &[Command], out: &mut Vec<Exchange>, budget: &mut usize) {
        let mut at = 0;
        while let Some(command) = list.get(at) {
            at += 1;
            if *budget == 0 {
                return;
            }
            *budget -= 1;
            let words: Vec<String> = command.words.iter().map(|word| self.expand(word)).collect();
            if let Some((name, items)) = loop_of(&words) {
                let end = loop_end(list, at);
                for item in items {
                    self.shell.insert(name.clone(), item);
                    self.commands(&list[at..end], out, budget);
                }
                at = end;
                continue;
            }
            self.line = command.line;
            self.command(command, &words, out);
        }
    }

    fn command(&mut self, command: &Command, words: &[String], out: &mut Vec<Exchange>) {
        let mut words = words;
        loop {
            match words {
                [first, rest @ ..] if PREFIXES.contains(&first.as_str()) => words = rest,
                [first, rest @ ..] if assignment(first).is_some() => {
                    let (name, value) = assignment(first).expect("the guard has seen it");
                    // Before a command it is for that command's environment alone.
                    if rest.is_empty() || rest.iter().all(|word| assignment(word).is_some()) {
                        self.shell.insert(name.to_owned(), value.to_owned());
                    }
                    words = rest;
                }
                _ => break,
            }
        }
        let stdin = command.stdin.as_ref().map(|text| self.expand(text));
        let [name, args @ ..] = words else { return };
        if stdin.is_some() || !command.is_piped {
            self.stdin = stdin;
        }
        match name.rsplit(['/', '\\']).next().unwrap_or(name) {
            "curl" | "curl.exe" => {
                let operations = options::operations(self, args);
                let before = out.len();
                for operation in &operations {
                    out.extend(request::exchanges(self, operation));
                }
                if let Some(first) = out.get_mut(before) {
                    first.remarks.splice(0..0, command.comments.iter().cloned());
                }
                self.stdin = None;
            }
            "echo" => {
                let args: Vec<&str> = args
                    .iter()
                    .map(String::as_str)
                    .filter(|arg| !matches!(*arg, "-e" | "-E"))
                    .collect();
                let (args, end) =
                    if args.first() == Some(&"-n") { (&args[1..], "") } else { (&args[..], "\n") };
                self.stdin = Some(args.join(" ") + end);
            }
            "printf" => self.stdin = Some(printf(args)),
            "cat" => {
                if let [path, ..] = args {
                    let value = self.values.add(Source::File { path: path.clone() }, vec![]);
                    self.stdin = Some(value.to_string());
                }
            }
            _ => self.stdin = None,
        }
    }

    /// A word with the shell's own variables in it.
    fn expand(&self, word: &str) -> String {
        let mut out = String::new();
        for char in word.chars() {
            let known = match self.values.get(char).map(|value| &value.source) {
                Some(Source::Env { name, .. }) => self.shell.get(name),
                _ => None,
            };
            match known {
                Some(value) => out.push_str(value),
                None => out.push(char),
            }
        }
        out
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
        self.variables.insert(name.to_owned(), value);
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
                value = self.apply_function(function, &value);
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

/// Words that stand before a command and change nothing of a request.
const PREFIXES: &[&str] = &[
    "time", "sudo", "command", "exec", "do", "then", "else", "if", "!", "export", "local", "env",
    "{", "}", "&", "$", "nohup",
];

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
    is_name.then_some((name, value))
}

/// `for NAME in ITEM…`.
fn loop_of(words: &[String]) -> Option<(String, Vec<String>)> {
    let [first, name, word, items @ ..] = words else { return None };
    if first != "for" || word != "in" {
        return None;
    }
    let items = items.iter().flat_map(|item| match braces(item) {
        Some(items) => items,
        None => item.split_whitespace().map(str::to_owned).collect(),
    });
    Some((name.clone(), items.collect()))
}

/// `{1..5}`.
fn braces(item: &str) -> Option<Vec<String>> {
    let (first, last) = item.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    Some((first..=last.min(first.saturating_add(1000))).map(|number| number.to_string()).collect())
}

/// Where the loop ends whose body begins at `at`.
fn loop_end(list: &[Command], at: usize) -> usize {
    let mut depth = 0;
    for (i, command) in list.iter().enumerate().skip(at) {
        match command.words.first().map(String::as_str) {
            Some("for") => depth += 1,
            Some("done") if depth == 0 => return i,
            Some("done") => depth -= 1,
            _ => {}
        }
    }
    list.len()
}

fn printf(args: &[String]) -> String {
    let Some((format, args)) = args.split_first() else { return String::new() };
    let mut args = args.iter();
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some(char) => out.push(char),
                None => {}
            },
            '%' => match chars.next() {
                Some('s' | 'd') => out.push_str(args.next().map_or("", String::as_str)),
                Some(char) => out.push(char),
                None => {}
            },
            char => out.push(char),
        }
    }
    out
}
