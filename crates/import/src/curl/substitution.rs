//! What a `$` begins in the shell: variables, and the output of commands as far as it is known.

use super::bash::Lexer;
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
                let end = text
                    .find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
                    .unwrap_or(text.len());
                let (name, rest) = text.split_at(end);
                let default = rest.strip_prefix(":-").or_else(|| rest.strip_prefix('-'));
                self.variable(name, default, out);
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
            _ => out.push('$'),
        }
    }

    fn variable(&mut self, name: &str, default: Option<&str>, out: &mut String) {
        let default = default.map(|text| text.trim_matches(['"', '\'']).to_owned());
        let source = Source::Env { name: name.to_owned(), default };
        out.push(self.out.values.add(source, vec![]));
    }

    fn balanced(&mut self) -> String {
        let mut depth = 1;
        let mut out = String::new();
        while let Some(char) = self.next() {
            match char {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            out.push(char);
        }
        out
    }

    /// `$(…)`: files and what scripts can make are known; else it becomes a variable, and that is said.
    pub(super) fn substitution(&mut self, text: &str, out: &mut String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let unquoted = |word: &str| word.trim_matches(['"', '\'']).to_owned();
        let without_ends = vec![Encoding::WithoutTrailingLineEnds];
        let (source, encodings) = match words.as_slice() {
            ["cat", path] | ["<", path] => (Source::File { path: unquoted(path) }, without_ends),
            [path] if path.starts_with('<') => {
                (Source::File { path: unquoted(&path[1..]) }, without_ends)
            }
            ["date", "+%s"] => (Source::UnixSeconds, vec![]),
            ["date", "+%s%3N"] => (Source::UnixMilliseconds, vec![]),
            ["date", ..] => (Source::IsoTime, vec![]),
            ["uuidgen"] => (Source::Uuid, vec![]),
            ["echo", rest @ ..] if !text.contains(['|', '$']) => {
                out.push_str(&unquoted(&rest.join(" ")));
                return;
            }
            ["seq", rest @ ..] => {
                let numbers: Vec<i64> = rest.iter().filter_map(|word| word.parse().ok()).collect();
                let (first, last) = match numbers.as_slice() {
                    [last] => (1, *last),
                    [first, last] => (*first, *last),
                    _ => (1, 0),
                };
                let list: Vec<String> =
                    (first..=last.min(first.saturating_add(1000))).map(|n| n.to_string()).collect();
                out.push_str(&list.join(" "));
                return;
            }
            _ => {
                let problem =
                    format!("the output of $({text}) is not known: give it as -e OUTPUT=…");
                self.out.problems.push((self.line, problem));
                (Source::Env { name: "OUTPUT".to_owned(), default: None }, vec![])
            }
        };
        out.push(self.out.values.add(source, encodings));
    }
}
