//! What a shell does around curl: variables, pipes, loops.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::command::{Capture, Command, Commands};
use super::session::Session;
use super::{echo, options, request};
use crate::limits::WORD_MAX;
use crate::{DEPTH_MAX, Exchange, Extraction, Import, Input, REQUESTS_MAX, Source};

/// How many commands loops may become.
const COMMANDS_MAX: usize = 2000;

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
        lists: BTreeMap::new(),
        functions: BTreeMap::new(),
        variables: BTreeMap::new(),
        stdin: None,
        depth: 0,
        growth_bytes: 0,
    };
    let mut exchanges = vec![];
    let mut budget = COMMANDS_MAX;
    session.commands(&list, &mut exchanges, &mut budget);
    if session.values.is_full() {
        session
            .note("more different values than the shell's words can hold: the others are left out");
    }
    exchanges
}

impl Session<'_, '_> {
    /// Runs commands within loops and functions, which are calls of this function within each other.
    fn inner(&mut self, list: &[Command], out: &mut Vec<Exchange>, budget: &mut usize) {
        if self.depth >= DEPTH_MAX {
            return self.note(format!("deeper than {DEPTH_MAX} loops and functions: left out"));
        }
        self.depth += 1;
        self.commands(list, out, budget);
        self.depth -= 1;
    }

    fn commands(&mut self, list: &[Command], out: &mut Vec<Exchange>, budget: &mut usize) {
        let mut at = 0;
        while let Some(command) = list.get(at) {
            at += 1;
            if *budget == 0 || out.len() > REQUESTS_MAX {
                return;
            }
            *budget -= 1;
            self.line = command.line;
            let Some(words) = self.bounded_words(&command.words) else { continue };
            if words.iter().any(|word| word.len() > WORD_MAX) {
                self.note("a word of more than 1 MiB, by the variables in it: left out");
                continue;
            }
            if let Some(name) = &command.list {
                self.extend_list(name, words);
                continue;
            }
            if let Some(end) = self.function(list, at) {
                at = end;
                continue;
            }
            if command.is_fallback
                && list.get(at.wrapping_sub(2)).is_some_and(is_curl)
                && is_curl(command)
            {
                self.note("behind `||`: sent only where the request before it fails, left out");
                continue;
            }
            self.note_control(&words);
            if let Some((name, items)) = loop_of(without_prefixes(&words)) {
                let end = loop_end(list, at);
                for item in items {
                    self.shell.insert(name.clone(), item);
                    self.inner(&list[at..end], out, budget);
                }
                at = end;
                continue;
            }
            if !self.call(&words, out, budget) {
                self.command(command, &words, out);
            }
        }
    }

    /// `LIST=(…)`, `LIST+=(…)`.
    fn extend_list(&mut self, name: &str, mut items: Vec<String>) {
        match name.strip_suffix('+') {
            Some(name) => self.lists.entry(name.to_owned()).or_default().append(&mut items),
            None => drop(self.lists.insert(name.to_owned(), items)),
        }
    }

    /// Keeps the function that the command before `at` begins; what follows its end.
    fn function(&mut self, list: &[Command], at: usize) -> Option<usize> {
        let head = &list[at - 1];
        let [first, name, rest @ ..] = head.words.as_slice() else { return None };
        let is_open = rest.first().is_some_and(|word| word == "{");
        if first != "function" || (!is_open && !opens(list.get(at)?)) {
            return None;
        }
        let end = function_end(list, at, usize::from(is_open));
        let mut body = list[at..end].to_vec();
        if let [_, words @ ..] = rest
            && !words.is_empty()
        {
            body.insert(0, Command { words: words.to_vec(), ..head.clone() });
        }
        self.functions.insert(name.clone(), Rc::from(body));
        Some(end + 1)
    }

    /// Runs a function of the shell with its arguments; whether there is one of that name.
    fn call(&mut self, words: &[String], out: &mut Vec<Exchange>, budget: &mut usize) -> bool {
        let [name, args @ ..] = without_prefixes(words) else { return false };
        let Some(body) = self.functions.get(name).cloned() else { return false };
        let of_caller =
            self.shell.range("ARG".to_owned()..).take_while(|(name, _)| is_argument(name));
        let of_caller: Vec<_> =
            of_caller.map(|(name, value)| (name.clone(), value.clone())).collect();
        let arguments = self.lists.insert("@".to_owned(), args.to_vec());
        for (number, arg) in (1..).zip(args) {
            self.shell.insert(format!("ARG{number}"), arg.clone());
        }
        self.inner(&body, out, budget);
        // The arguments are the function's own; other variables stay as it left them.
        self.shell.retain(|name, _| !is_argument(name));
        self.shell.extend(of_caller);
        self.lists.insert("@".to_owned(), arguments.unwrap_or_default());
        true
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
            "xargs" | "wget" | "http" | "https" => "is not curl: left out",
            _ => return,
        };
        self.note(format!("{}: {text}", stdx::terminal_line(first)));
    }

    fn command(&mut self, command: &Command, words: &[String], out: &mut Vec<Exchange>) {
        let mut words = words;
        loop {
            match words {
                [first, rest @ ..] if DECLARATIONS.contains(&first.as_str()) => {
                    let flags = rest.iter().take_while(|word| word.starts_with('-')).count();
                    words = &rest[flags..];
                }
                [first, rest @ ..] if is_before_command(first) => words = rest,
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
                    let left = (REQUESTS_MAX + 1).saturating_sub(out.len());
                    out.extend(request::exchanges(self, operation, left));
                }
                if let Some(first) = out.get_mut(before) {
                    first.remarks.splice(0..0, command.comments.iter().cloned());
                }
                if let Some(last) = out[before..].last_mut() {
                    last.extractions.extend(command.captures.iter().map(extraction));
                }
                self.stdin = None;
            }
            "echo" => self.stdin = Some(echo::echo(args)),
            "printf" => self.stdin = Some(echo::printf(args)),
            "cat" => {
                let files = args.iter().filter(|arg| !arg.starts_with('-'));
                let files: String = files
                    .map(|path| self.values.add(Source::File { path: path.clone() }, vec![]))
                    .collect();
                if !files.is_empty() {
                    self.stdin = Some(files);
                }
            }
            _ => self.stdin = None,
        }
    }
}

/// Whether a variable is an argument of a function, `$1` and so on.
fn is_argument(name: &str) -> bool {
    name.starts_with("ARG")
}

fn is_curl(command: &Command) -> bool {
    let mut words = command.words.iter().map(String::as_str);
    words.find(|word| !PREFIXES.contains(word)).is_some_and(|word| word == "curl")
}

/// Words that stand before a command and change nothing of a request.
const PREFIXES: &[&str] = &[
    "time",
    "sudo",
    "command",
    "exec",
    "do",
    "then",
    "else",
    "if",
    "elif",
    "!",
    "{",
    "}",
    "&",
    "$",
    "nohup",
    "export",
    "local",
    "env",
    "declare",
    "readonly",
    "typeset",
    "/usr/bin/env",
];

/// Those of them that take flags of their own.
const DECLARATIONS: &[&str] =
    &["export", "local", "env", "/usr/bin/env", "declare", "readonly", "typeset", "command"];

/// Whether a word stands before a command, or before the condition of a loop.
fn is_before_command(word: &str) -> bool {
    PREFIXES.contains(&word) || matches!(word, "while" | "until")
}

fn extraction(capture: &Capture) -> Extraction {
    Extraction {
        variable: capture.variable.clone(),
        find: capture.find.clone(),
        cut: capture.cut.clone(),
        decodings: vec![],
        remark: String::new(),
    }
}

fn opens(command: &Command) -> bool {
    command.words.first().is_some_and(|word| word == "{")
}

/// Where the `}` of a function stands whose body begins at `at`, within `depth` braces already.
fn function_end(list: &[Command], at: usize, mut depth: usize) -> usize {
    for (i, command) in list.iter().enumerate().skip(at) {
        if opens(command) {
            depth += 1;
        } else if command.words.first().is_some_and(|word| word == "}") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return i;
            }
        }
    }
    list.len()
}

/// Words that begin what is decided only when it runs.
fn is_branch(word: &str) -> bool {
    matches!(word, "if" | "elif")
}

/// A command's words behind those that only stand before it.
fn without_prefixes(words: &[String]) -> &[String] {
    let prefixes = words.iter().take_while(|word| PREFIXES.contains(&word.as_str())).count();
    &words[prefixes..]
}

/// The name and value of `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
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
    // An item takes a command at least, of which there are no more.
    Some((name.clone(), items.take(COMMANDS_MAX).collect()))
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
