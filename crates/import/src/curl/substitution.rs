//! What a `$` begins in the shell: variables, and the output of commands as far as it is known.

use super::bash::Lexer;
use super::command::{Command, DEFERRED_BASE64};
use super::date::{self, DatePiece};
use super::echo;
use crate::{Encoding, Source};

impl Lexer<'_, '_> {
    /// A variable, or what a command prints.
    pub(super) fn dollar(&mut self, out: &mut String) {
        self.next();
        match self.peek() {
            Some('(') => {
                self.next();
                let text = self.balanced();
                self.substitution(&text, out);
            }
            Some('{') => {
                self.next();
                let text = self.until(&['}']);
                self.braces(&text, out);
            }
            Some(char) if char.is_ascii_alphabetic() || char == '_' => {
                let mut name = String::new();
                while let Some(char) =
                    self.peek().filter(|char| char.is_ascii_alphanumeric() || *char == '_')
                {
                    name.push(char);
                    self.next();
                }
                self.variable(&name, None, out);
            }
            Some(char @ '1'..='9') => {
                self.next();
                self.variable(&format!("ARG{char}"), None, out);
            }
            Some('@' | '*') => {
                self.next();
                self.variable("@", None, out);
            }
            _ => out.push('$'),
        }
    }

    /// `${NAME}`, `${NAME:-default}`; what else changes the value goes along in the name, for the value is known later.
    fn braces(&mut self, text: &str, out: &mut String) {
        let end = text
            .find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        match rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-')) {
            Some(default) if default.contains(['$', '`']) => {
                let problem = format!("the default of ${{{text}}} is not carried out, left empty");
                self.out.problems.push((self.line, problem));
                self.variable(name, Some(""), out);
            }
            None if name.starts_with(|char: char| char.is_ascii_digit()) => {
                self.variable(&format!("ARG{text}"), None, out);
            }
            None if text == "@" || text == "*" => self.variable("@", None, out),
            None => self.variable(text, None, out),
            default => self.variable(name, default, out),
        }
    }

    fn variable(&mut self, name: &str, default: Option<&str>, out: &mut String) {
        let default = default.map(|text| text.trim_matches(['"', '\'']).to_owned());
        let source = Source::Env { name: name.to_owned(), default };
        out.push(self.out.values.add(source, vec![]));
    }

    /// Up to the bracket that closes; brackets within quotes do not count, but in here-documents quotes are text.
    fn balanced(&mut self) -> String {
        let mut depth = 1;
        let mut out = String::new();
        let (mut quote, mut has_document) = (None, false);
        while let Some(char) = self.next() {
            match (quote, char) {
                (None | Some('"'), '\\') => {
                    out.push(char);
                    out.extend(self.next());
                    continue;
                }
                (None, '\'' | '"') if !has_document => quote = Some(char),
                (Some(open), char) if open == char => quote = None,
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            has_document |= char == '<' && out.ends_with('<');
            out.push(char);
        }
        out
    }

    /// `$(…)`: requests, files and what scripts can make are known; else it becomes a variable, and that is said.
    pub(super) fn substitution(&mut self, text: &str, out: &mut String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
        let without_ends = vec![Encoding::WithoutTrailingLineEnds];
        let (source, encodings) = match words.as_slice() {
            ["cat", path] if !path.starts_with('<') => {
                (Source::File { path: unquoted(path) }, without_ends)
            }
            ["<", path] => (Source::File { path: unquoted(path) }, without_ends),
            [path] if path.starts_with('<') => {
                (Source::File { path: unquoted(&path[1..]) }, without_ends)
            }
            ["date", ..] => return self.date(text, out),
            ["uuidgen"] => (Source::Uuid, vec![]),
            ["seq", rest @ ..] => return out.push_str(&sequence(rest)),
            _ => return self.output(text, out),
        };
        out.push(self.out.values.add(source, encodings));
    }

    fn date(&mut self, text: &str, out: &mut String) {
        let Some(pieces) = date::pieces(text.trim_start().trim_start_matches("date")) else {
            let problem = format!("$({text}) is not carried out: sent as ISO 8601, the time now");
            self.out.problems.push((self.line, problem));
            out.push(self.out.values.add(Source::IsoTime, vec![]));
            return;
        };
        for piece in pieces {
            match piece {
                DatePiece::Literal(text) => out.push_str(&text),
                DatePiece::Time(source, encodings) => {
                    out.push(self.out.values.add(source, encodings));
                }
            }
        }
    }

    /// The output of commands: text that they print themselves, or what they take of an answer.
    fn output(&mut self, text: &str, out: &mut String) {
        // Deeper ones are not read: each level copies its text, and is a call within the last.
        let is_deep = self.depth >= crate::DEPTH_MAX;
        let commands = if is_deep { vec![] } else { self.commands_of(text).unwrap_or_default() };
        let printed = self.printed(&commands);
        if let Some(source) = self.answer(&commands, out) {
            out.push(self.out.values.add(source, vec![]));
            return;
        }
        if let Some(printed) = printed {
            out.push_str(printed.trim_end_matches('\n'));
        } else {
            let name = self.unknown_output(text);
            let problem = format!(
                "the output of $({}) is not known: give it as -e {name}=…",
                stdx::terminal_line(text)
            );
            self.out.problems.push((self.line, problem));
            out.push(self.out.values.add(Source::Env { name, default: None }, vec![]));
        }
    }

    /// `OUTPUT`, `OUTPUT2`: each text has its own.
    fn unknown_output(&mut self, text: &str) -> String {
        let at = self.unknown.iter().position(|seen| seen == text).unwrap_or_else(|| {
            self.unknown.push(text.to_owned());
            self.unknown.len() - 1
        });
        if at == 0 { "OUTPUT".to_owned() } else { format!("OUTPUT{}", at + 1) }
    }

    /// What `echo`, `printf` or a here-document of `cat` prints, also through filters that change it little.
    fn printed(&mut self, commands: &[Command]) -> Option<String> {
        let (first, filters) = commands.split_first()?;
        let (name, args) = first.words.split_first()?;
        let mut text = match (name.as_str(), &first.stdin) {
            ("echo", _) => echo::echo(args),
            ("printf", _) => echo::printf(args),
            ("cat", Some(text)) if args.is_empty() => text.clone(),
            _ => return None,
        };
        for filter in filters {
            let words: Vec<&str> = filter.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["base64", ..] => {
                    let name = format!("{DEFERRED_BASE64}{text}");
                    text = self.out.values.add(Source::Env { name, default: None }, vec![]).into();
                }
                ["tr", "-d", "\\n" | "\\r\\n" | "\n"] => text = text.replace(['\r', '\n'], ""),
                _ => return None,
            }
        }
        Some(text)
    }
}

/// The numbers of `seq`.
fn sequence(words: &[&str]) -> String {
    let numbers: Vec<i64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] if *step > 0 => (*first, *step, *last),
        _ => (1, 1, 0),
    };
    let step = usize::try_from(step).unwrap_or(1).max(1);
    let list: Vec<String> = (first..=last.min(first.saturating_add(1000)))
        .step_by(step)
        .map(|n| n.to_string())
        .collect();
    list.join(" ")
}
