//! Words of Windows' cmd (`^` escapes, then the rules of C's argv) and of PowerShell.

use super::command::{Command, Commands};
use crate::{ImportError, Input, Source};

pub(super) fn cmd_commands(input: &Input<'_>, text: &str) -> Result<Commands, ImportError> {
    let mut out = Commands::default();
    let name = input.name.to_ascii_lowercase();
    let form = if [".bat", ".cmd"].iter().any(|end| name.contains(end)) {
        CmdForm::Batch
    } else {
        CmdForm::Typed
    };
    for (line, text) in cmd_lines(&text.replace("\r\n", "\n"), form, &mut out) {
        let text = text.trim_start().trim_start_matches('@');
        let words = match assignment(text) {
            Some(words) => words,
            None if is_remark(text) => vec![],
            None => argv(input, line, text)?,
        };
        if !words.is_empty() {
            out.list.push(Command { line, words, ..Command::default() });
        }
    }
    Ok(out)
}

/// Where a command of cmd stands: in a file, `%%` is a percent sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CmdForm {
    Batch,
    Typed,
}

fn is_remark(text: &str) -> bool {
    let word = text.split_whitespace().next().unwrap_or_default();
    word.eq_ignore_ascii_case("rem") || word.starts_with(':')
}

/// `set NAME=value` and `set "NAME=value"` as the shell's assignment.
fn assignment(text: &str) -> Option<Vec<String>> {
    let rest = text.get(..4).filter(|start| start.eq_ignore_ascii_case("set "))?;
    let rest = text[rest.len()..].trim_start();
    let rest = match rest.strip_prefix('"') {
        Some(quoted) => quoted.trim_end().strip_suffix('"').unwrap_or(quoted),
        None => rest,
    };
    let (name, value) = rest.split_once('=')?;
    is_variable(name).then(|| vec![format!("{name}={value}")])
}

/// The target of a redirect, which no request sees, and the number of what it redirects.
fn skip_redirect(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, command: &mut String) {
    let number = command.trim_end_matches(|char: char| char.is_ascii_digit()).len();
    if command[..number].ends_with(char::is_whitespace) {
        command.truncate(number);
    }
    while chars.next_if(|char| matches!(char, '>' | '&' | ' ' | '\t')).is_some() {}
    let mut in_quotes = false;
    while let Some(char) = chars.next_if(|char| {
        *char != '\n' && (in_quotes || !(char.is_whitespace() || matches!(char, '&' | '|')))
    }) {
        in_quotes ^= char == '"';
    }
}

/// A character of cmd that is no longer special there.
const QUOTE: char = '\u{e000}';

/// The commands of a batch: carets are gone, `%NAME%` are values. An escaped quote is a quote for argv alone.
fn cmd_lines(text: &str, form: CmdForm, out: &mut Commands) -> Vec<(usize, String)> {
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
            '>' if !in_quotes => skip_redirect(&mut chars, &mut command),
            '%' if form == CmdForm::Batch && chars.peek() == Some(&'%') => {
                chars.next();
                command.push('%');
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
                    if piped {
                        self.write_value(&mut command);
                    }
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
                    if word == "--%" {
                        let words = self.verbatim()?;
                        command.words.extend(words);
                    } else {
                        command.words.push(word);
                    }
                }
            }
        }
        self.end(&mut command);
        Ok(())
    }

    /// A value alone before a pipe is what the next command reads.
    fn write_value(&self, command: &mut Command) {
        let [word] = command.words.as_slice() else { return };
        let is_value = word.chars().next().is_some_and(|char| {
            self.out.values.get(char).is_some() || matches!(char, '{' | '[' | '<')
        });
        if is_value {
            command.words.insert(0, "echo".to_owned());
        }
    }

    /// Behind `--%` the line goes as it is to C's argv.
    fn verbatim(&mut self) -> Result<Vec<String>, ImportError> {
        let line = self.line;
        let mut text = String::new();
        while let Some(char) = self.peek().filter(|char| !matches!(char, '\n' | '|')) {
            text.push(char);
            self.next();
        }
        argv(self.input, line, &text)
    }

    /// `("a" + $b)`; other expressions are not understood, and that is said.
    fn expression(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.next();
        let mut is_known = true;
        while let Some(char) = self.peek() {
            match char {
                ')' => {
                    self.next();
                    break;
                }
                ' ' | '\t' | '\n' | '+' => drop(self.next()),
                '\'' => self.single_quoted(out)?,
                '"' => self.double_quoted(out)?,
                '$' => self.variable(out),
                _ => {
                    is_known = false;
                    self.next();
                }
            }
        }
        if !is_known {
            let problem = "an expression in brackets is not carried out".to_owned();
            self.out.problems.push((line, problem));
        }
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
                '(' if out.is_empty() => self.expression(&mut out)?,
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
