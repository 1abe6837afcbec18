//! What a shell does around curl: variables, pipes, loops.

use std::collections::BTreeMap;

use super::command::{Command, Commands};
use super::session::Session;
use super::{options, request};
use crate::{Exchange, Import, Input, Source};

/// How many commands loops may become.
const COMMANDS_MAX: usize = 2000;

/// The longest that a word becomes by the variables in it, each of which may hold others: 1 MiB.
const WORD_MAX: usize = 1 << 20;

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
    fn commands(&mut self, list: &[Command], out: &mut Vec<Exchange>, budget: &mut usize) {
        let mut at = 0;
        while let Some(command) = list.get(at) {
            at += 1;
            if *budget == 0 {
                return;
            }
            *budget -= 1;
            self.line = command.line;
            let words: Vec<String> = command.words.iter().map(|word| self.expand(word)).collect();
            if words.iter().any(|word| word.len() > WORD_MAX) {
                self.note("a word of more than 1 MiB, by the variables in it: left out");
                continue;
            }
            self.note_control(&words);
            if let Some((name, items)) = loop_of(without_prefixes(&words)) {
                let end = loop_end(list, at);
                for item in items {
                    self.shell.insert(name.clone(), item);
                    self.commands(&list[at..end], out, budget);
                }
                at = end;
                continue;
            }
            self.command(command, &words, out);
        }
    }

    /// Says what of the shell's own language is not carried out.
    fn note_control(&mut self, words: &[String]) {
        let words = words.iter().map(String::as_str);
        let mut words = words.skip_while(|word| PREFIXES.contains(word) && !is_branch(word));
        let Some(first) = words.next() else { return };
        let text = match first {
            "while" | "until" | "select" => {
                "its commands stand once: how often it runs is not known"
            }
            "for" if words.nth(1) != Some("in") => {
                "its commands stand once: only `for NAME in ITEM…` is carried out"
            }
            "if" | "elif" => "the commands of all branches stand: what it decides is not known",
            "case" => "is not carried out: the commands of all its branches stand",
            "function" => "is not carried out: left out",
            "xargs" | "wget" | "http" | "https" => "is not curl: left out",
            _ => return,
        };
        self.note(format!("{}: {text}", stdx::terminal_line(first)));
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
            if out.len() > WORD_MAX {
                break;
            }
        }
        out
    }
}

/// Words that stand before a command and change nothing of a request.
const PREFIXES: &[&str] = &[
    "time", "sudo", "command", "exec", "do", "then", "else", "if", "elif", "!", "export", "local",
    "env", "{", "}", "&", "$", "nohup",
];

/// Words that begin what is decided only when it runs.
fn is_branch(word: &str) -> bool {
    matches!(word, "if" | "elif")
}

/// A command's words behind those that only stand before it.
fn without_prefixes(words: &[String]) -> &[String] {
    let prefixes = words.iter().take_while(|word| PREFIXES.contains(&word.as_str())).count();
    &words[prefixes..]
}

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
        match without_prefixes(&command.words).first().map(String::as_str) {
            Some("for" | "while" | "until" | "select") => depth += 1,
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
                other => out.extend(other),
            },
            '%' => match chars.next() {
                Some('s' | 'd') => out.push_str(args.next().map_or("", String::as_str)),
                other => out.extend(other),
            },
            char => out.push(char),
        }
    }
    out
}
