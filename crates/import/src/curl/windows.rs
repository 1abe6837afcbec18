//! Words of Windows' cmd (`^` escapes, then the rules of C's argv) and of PowerShell.

use super::command::{Command, Commands};
use crate::{ImportError, Input, Source};

pub(super) fn cmd_commands(input: &Input<'_>, text: &str) -> Result<Commands, ImportError> {
    let mut out = Commands::default();
    for (line, text) in cmd_lines(&text.replace("\r\n", "\n"), &mut out) {
        let words = argv(input, line, &text)?;
        if !words.is_empty() {
            out.list.push(Command { line, words, ..Command::default() });
        }
    }
    Ok(out)
}

/// A character of cmd that is no longer special there.
const QUOTE: char = '\u{e000}';

/// The commands of a batch: carets are gone, `%NAME%` are values. An escaped quote is a quote for argv alone.
fn cmd_lines(text: &str, out: &mut Commands) -> Vec<(usize, String)> {
    let mut commands = vec![];
    let mut command = String::new();
    let (mut line, mut begin, mut in_quotes) = (1, 1, false);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '^' if !in_quotes => match chars.next() {
                Some('\n') => {
                    line += 1;
                    // The character after a joined line is literal: an empty line is a line end.
                    if chars.peek() == Some(&'\n') {
                        chars.next();
                        line += 1;
                        command.push('\n');
                    }
                }
                Some('"') => command.push(QUOTE),
                Some(char) => command.push(char),
                None => {}
            },
            '\n' => {
                in_quotes = false;
                commands.push((begin, std::mem::take(&mut command)));
                line += 1;
                begin = line;
            }
            '&' | '|' if !in_quotes => commands.push((begin, std::mem::take(&mut command))),
            '"' => {
                in_quotes = !in_quotes;
                command.push('"');
            }
            '%' => {
                let rest: String = chars.clone().take(64).collect();
                match rest.split_once('%') {
                    Some((name, _)) if is_variable(name) => {
                        chars.nth(name.chars().count());
                        let source = Source::Env { name: name.to_owned(), default: None };
                        command.push(out.values.add(source, vec![]));
                    }
                    _ => command.push('%'),
                }
            }
            char => command.push(char),
        }
    }
    commands.push((begin, command));
    commands
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Words by the rules of C's argv on Windows: backslashes count only before a quote.
fn argv(input: &Input<'_>, line: usize, text: &str) -> Result<Vec<String>, ImportError> {
    let mut words = vec![];
    let mut word = String::new();
    let (mut in_word, mut in_quotes) = (false, false);
    let mut chars = text.chars().map(|char| if char == QUOTE { '"' } else { char }).peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let mut count = 1;
                while chars.peek() == Some(&'\\') {
                    chars.next();
                    count += 1;
                }
                in_word = true;
                if chars.peek() == Some(&'"') {
                    word.extend(std::iter::repeat_n('\\', count / 2));
                    if count % 2 == 1 {
                        chars.next();
                        word.push('"');
                    }
                } else {
                    word.extend(std::iter::repeat_n('\\', count));
                }
            }
            '"' if in_quotes && chars.peek() == Some(&'"') => {
                chars.next();
                word.push('"');
            }
            '"' => {
                in_quotes = !in_quotes;
                in_word = true;
            }
            char if char.is_whitespace() && !in_quotes => {
                if in_word {
                    words.push(std::mem::take(&mut word));
                }
                in_word = false;
            }
            char => {
                word.push(char);
                in_word = true;
            }
        }
    }
    if in_quotes {
        return Err(ImportError::UnclosedQuote { place: input.place(line), quote: '"' });
    }
    if in_word {
        words.push(word);
    }
    Ok(words)
}

pub(super) fn powershell_commands(input: &Input<'_>, text: &str) -> Result<Commands, ImportError> {
    let text = text.replace("\r\n", "\n");
    let mut lexer = PowerShell {
        input,
        chars: text.chars().collect(),
        at: 0,
        line: 1,
        out: Commands::default(),
    };
    lexer.run()?;
    Ok(lexer.out)
}

struct PowerShell<'a, 'i> {
    input: &'a Input<'i>,
    chars: Vec<char>,
    at: usize,
    line: usize,
    out: Commands,
}

impl PowerShell<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += 1;
        self.line += usize::from(char == '\n');
        Some(char)
    }

    fn run(&mut self) -> Result<(), ImportError> {
        let mut command = Command { line: 1, ..Command::default() };
        while let Some(char) = self.peek() {
            match char {
                '\n' | ';' | '|' | '&' => {
                    self.next();
                    let piped = char == '|';
                    self.end(&mut command);
                    command.is_piped = piped;
                }
                ' ' | '\t' => {
                    self.next();
                }
                '`' if self.chars.get(self.at + 1) == Some(&'\n') => {
                    self.next();
                    self.next();
                }
                '#' => {
                    while self.peek().is_some_and(|char| char != '\n') {
                        self.next();
                    }
                }
                _ => {
                    if command.words.is_empty() {
                        command.line = self.line;
                    }
                    // What Windows PowerShell hands on, C's argv reads again.
                    let word = self.word()?.replace("\\\"", "\"");
                    command.words.push(word);
                }
            }
        }
        self.end(&mut command);
        Ok(())
    }

    /// `$name = value` is an assignment as the shell has it.
    fn end(&mut self, command: &mut Command) {
        let mut command = std::mem::take(command);
        if let [variable, equals, value] = command.words.as_slice()
            && equals == "="
            && let Some(Source::Env { name, .. }) = variable
                .chars()
                .next()
                .and_then(|char| self.out.values.get(char))
                .map(|value| &value.source)
        {
            command.words = vec![format!("{name}={value}")];
        }
        if !command.words.is_empty() {
            self.out.list.push(command);
        }
    }

    fn word(&mut self) -> Result<String, ImportError> {
        let mut out = String::new();
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\n' | ';' | '|' => break,
                '@' if matches!(self.chars.get(self.at + 1), Some('\'' | '"'))
                    && self.chars.get(self.at + 2) == Some(&'\n') =>
                {
                    self.here_string(&mut out)?;
                }
                '\'' => self.single_quoted(&mut out)?,
                '"' => self.double_quoted(&mut out)?,
                '`' => {
                    self.next();
                    self.escaped(&mut out);
                }
                '$' => self.variable(&mut out),
                _ => out.extend(self.next()),
            }
        }
        Ok(out)
    }

    fn here_string(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        let quote = self.chars[self.at + 1];
        self.at += 3;
        self.line += 1;
        let mut text = String::new();
        loop {
            let ends = [Some(&'\n'), Some(&quote), Some(&'@')];
            if (0..3).all(|i| self.chars.get(self.at + i) == ends[i]) {
                self.at += 3;
                self.line += 1;
                break;
            }
            match self.peek() {
                Some('$') if quote == '"' => self.variable(&mut text),
                Some(_) => text.extend(self.next()),
                None => {
                    return Err(ImportError::UnclosedQuote {
                        place: self.input.place(line),
                        quote,
                    });
                }
            }
        }
        out.push_str(&text);
        Ok(())
    }

    fn single_quoted(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.next();
        loop {
            match self.next() {
                Some('\'') if self.peek() == Some('\'') => out.extend(self.next()),
                Some('\'') => return Ok(()),
                Some(char) => out.push(char),
                None => {
                    return Err(ImportError::UnclosedQuote {
                        place: self.input.place(line),
                        quote: '\'',
                    });
                }
            }
        }
    }

    fn double_quoted(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.next();
        loop {
            match self.peek() {
                Some('"') => {
                    self.next();
                    if self.peek() != Some('"') {
                        return Ok(());
                    }
                    out.extend(self.next());
                }
                Some('`') => {
                    self.next();
                    self.escaped(out);
                }
                Some('$') => self.variable(out),
                Some(_) => out.extend(self.next()),
                None => {
                    return Err(ImportError::UnclosedQuote {
                        place: self.input.place(line),
                        quote: '"',
                    });
                }
            }
        }
    }

    fn escaped(&mut self, out: &mut String) {
        match self.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some('\n') | None => {}
            Some(char) => out.push(char),
        }
    }

    fn variable(&mut self, out: &mut String) {
        self.next();
        let in_braces = self.peek() == Some('{');
        if in_braces {
            self.next();
        }
        let mut name = String::new();
        while let Some(char) =
            self.peek().filter(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | ':'))
        {
            if char == ':' && !name.eq_ignore_ascii_case("env") {
                break;
            }
            name.push(char);
            self.next();
        }
        if in_braces && self.peek() == Some('}') {
            self.next();
        }
        let name = name
            .strip_prefix("env:")
            .or_else(|| name.strip_prefix("Env:"))
            .unwrap_or(&name)
            .to_owned();
        if name.is_empty() || name.starts_with(|char: char| char.is_ascii_digit()) {
            out.push('$');
            out.push_str(&name);
        } else {
            out.push(self.out.values.add(Source::Env { name, default: None }, vec![]));
        }
    }
}
