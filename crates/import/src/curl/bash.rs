//! The shell's words: quotes, escapes, variables, here-documents, as far as documentations use them.

use super::command::{Command, Commands};
use super::prompts::without_prompts;
use crate::{ImportError, Input, Source};

pub(super) fn commands(input: &Input<'_>, text: &str) -> Result<Commands, ImportError> {
    let text = without_prompts(&text.replace("\r\n", "\n"));
    let mut lexer = Lexer {
        input,
        chars: text.chars().collect(),
        at: 0,
        line: 1,
        out: Commands::default(),
        command: Command::default(),
        comments: vec![],
        heredocs: vec![],
    };
    lexer.run()?;
    Ok(lexer.out)
}

pub(super) struct Lexer<'a, 'i> {
    input: &'a Input<'i>,
    chars: Vec<char>,
    at: usize,
    pub(super) line: usize,
    pub(super) out: Commands,
    command: Command,
    comments: Vec<String>,
    /// Here-documents that begin in the next line: the end word, whether it was quoted, whether tabs are taken off.
    heredocs: Vec<HereDocument>,
}

struct HereDocument {
    end: String,
    is_quoted: bool,
    strips_tabs: bool,
}

impl Lexer<'_, '_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += 1;
        self.line += usize::from(char == '\n');
        Some(char)
    }

    fn takes(&mut self, text: &str) -> bool {
        let found =
            text.chars().enumerate().all(|(i, char)| self.chars.get(self.at + i) == Some(&char));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn run(&mut self) -> Result<(), ImportError> {
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\r' => {
                    self.next();
                }
                '\n' => {
                    self.next();
                    self.read_heredocs();
                    let ends_paragraph = self.command.words.is_empty() && self.peek() == Some('\n');
                    self.end_command();
                    if ends_paragraph {
                        self.comments.clear();
                    }
                }
                '\\' if self.chars.get(self.at + 1) == Some(&'\n') => {
                    self.next();
                    self.next();
                }
                '#' => self.comment(),
                ';' | '(' | ')' => {
                    self.next();
                    self.end_command();
                }
                '&' if self.takes("&>") => self.redirect()?,
                '&' => {
                    self.next();
                    self.takes("&");
                    self.end_command();
                }
                '|' => {
                    self.next();
                    let piped = !self.takes("|");
                    self.end_command();
                    self.command.is_piped = piped;
                }
                '<' => self.input_redirect()?,
                '>' => {
                    self.next();
                    self.redirect()?;
                }
                _ => self.plain_word()?,
            }
        }
        self.read_heredocs();
        self.end_command();
        Ok(())
    }

    fn comment(&mut self) {
        let mut text = String::new();
        while self.peek().is_some_and(|char| char != '\n') {
            text.extend(self.next());
        }
        let text = text.trim_start_matches(['#', '!']).trim().to_owned();
        if self.command.words.is_empty() && !text.starts_with('/') {
            self.comments.push(text);
        }
    }

    fn plain_word(&mut self) -> Result<(), ImportError> {
        let line = self.line;
        let (word, _) = self.word()?;
        let redirects = matches!(self.peek(), Some('<' | '>'));
        if redirects && !word.is_empty() && word.chars().all(|char| char.is_ascii_digit()) {
            return Ok(());
        }
        if self.command.words.is_empty() {
            self.command.line = line;
        }
        self.command.words.push(word);
        Ok(())
    }

    /// The target of an output redirect, which no request sees.
    fn redirect(&mut self) -> Result<(), ImportError> {
        while self.takes(">") || self.takes("&") || self.takes("|") {}
        self.skip_blanks();
        self.word()?;
        Ok(())
    }

    fn input_redirect(&mut self) -> Result<(), ImportError> {
        self.next();
        if self.takes("<<") {
            self.skip_blanks();
            let (mut word, _) = self.word()?;
            word.push('\n');
            self.command.stdin = Some(word);
        } else if self.takes("<") {
            let strips_tabs = self.takes("-");
            self.skip_blanks();
            let (end, is_quoted) = self.word()?;
            self.heredocs.push(HereDocument { end, is_quoted, strips_tabs });
        } else {
            self.skip_blanks();
            let (path, _) = self.word()?;
            let value = self.out.values.add(Source::File { path }, vec![]);
            self.command.stdin = Some(value.to_string());
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.next();
        }
    }

    fn read_heredocs(&mut self) {
        for document in std::mem::take(&mut self.heredocs) {
            let mut body = String::new();
            while self.at < self.chars.len() {
                let mut line = String::new();
                while let Some(char) = self.next() {
                    if char == '\n' {
                        break;
                    }
                    line.push(char);
                }
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line == document.end {
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            self.command.stdin = Some(if document.is_quoted { body } else { self.expanded(&body) });
        }
    }

    /// A here-document whose end word is not quoted: variables count, quotes do not.
    fn expanded(&mut self, body: &str) -> String {
        let (chars, at, line) =
            (std::mem::replace(&mut self.chars, body.chars().collect()), self.at, self.line);
        self.at = 0;
        let mut out = String::new();
        while let Some(char) = self.peek() {
            match char {
                '$' => self.dollar(&mut out),
                '\\' => {
                    self.next();
                    match self.peek() {
                        Some('\n') => {
                            self.next();
                        }
                        Some('$' | '`' | '\\') => out.extend(self.next()),
                        _ => out.push('\\'),
                    }
                }
                _ => out.extend(self.next()),
            }
        }
        (self.chars, self.at, self.line) = (chars, at, line);
        out
    }

    fn end_command(&mut self) {
        let mut command = std::mem::take(&mut self.command);
        if command.words.is_empty() {
            return;
        }
        command.comments = std::mem::take(&mut self.comments);
        self.out.list.push(command);
    }

    /// A word, and whether any of it was quoted.
    fn word(&mut self) -> Result<(String, bool), ImportError> {
        let mut out = String::new();
        let mut is_quoted = false;
        while let Some(char) = self.peek() {
            match char {
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '<' | '>' | '(' | ')' => break,
                '\'' => {
                    is_quoted = true;
                    self.single_quoted(&mut out)?;
                }
                '"' => {
                    is_quoted = true;
                    self.double_quoted(&mut out)?;
                }
                '\\' => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(char) => out.push(char),
                    }
                }
                '$' => self.dollar_word(&mut out)?,
                '`' => {
                    self.next();
                    let text = self.until(&['`']);
                    self.substitution(&text, &mut out);
                }
                _ => out.extend(self.next()),
            }
        }
        Ok((out, is_quoted))
    }

    fn dollar_word(&mut self, out: &mut String) -> Result<(), ImportError> {
        match self.chars.get(self.at + 1) {
            Some('\'') => self.ansi_quoted(out),
            Some('"') => {
                self.next();
                self.double_quoted(out)
            }
            _ => {
                self.dollar(out);
                Ok(())
            }
        }
    }

    fn unclosed(&self, line: usize, quote: char) -> ImportError {
        ImportError::UnclosedQuote { place: self.input.place(line), quote }
    }

    fn single_quoted(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.next();
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(char) => out.push(char),
                None => return Err(self.unclosed(line, '\'')),
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
                    return Ok(());
                }
                Some('\\') => {
                    self.next();
                    match self.next() {
                        Some('\n') | None => {}
                        Some(char @ ('$' | '`' | '"' | '\\')) => out.push(char),
                        Some(char) => out.extend(['\\', char]),
                    }
                }
                Some('$') => self.dollar(out),
                Some('`') => {
                    self.next();
                    let text = self.until(&['`']);
                    self.substitution(&text, out);
                }
                Some(_) => out.extend(self.next()),
                None => return Err(self.unclosed(line, '"')),
            }
        }
    }

    /// `$'…'`: bytes by number may form UTF-8 together.
    fn ansi_quoted(&mut self, out: &mut String) -> Result<(), ImportError> {
        let line = self.line;
        self.at += 2;
        let mut bytes: Vec<u8> = vec![];
        let push = |bytes: &mut Vec<u8>, char: char| {
            bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        };
        loop {
            match self.next() {
                Some('\'') => break,
                Some('\\') => {
                    let Some(char) = self.next() else { return Err(self.unclosed(line, '\'')) };
                    match char {
                        'n' => bytes.push(b'\n'),
                        'r' => bytes.push(b'\r'),
                        't' => bytes.push(b'\t'),
                        'a' => bytes.push(7),
                        'b' => bytes.push(8),
                        'f' => bytes.push(12),
                        'v' => bytes.push(11),
                        'e' | 'E' => bytes.push(27),
                        'x' => bytes.push(u8::try_from(self.number(16, 2)).unwrap_or(b'?')),
                        'u' => push(&mut bytes, self.escaped_unit()),
                        'U' => push(
                            &mut bytes,
                            char::from_u32(self.number(16, 8)).unwrap_or('\u{fffd}'),
                        ),
                        '0'..='7' => {
                            self.at -= 1;
                            bytes.push((self.number(8, 3) & 0xff) as u8);
                        }
                        other if "\\'\"?".contains(other) => push(&mut bytes, other),
                        other => {
                            bytes.push(b'\\');
                            push(&mut bytes, other);
                        }
                    }
                }
                Some(char) => push(&mut bytes, char),
                None => return Err(self.unclosed(line, '\'')),
            }
        }
        out.push_str(&String::from_utf8_lossy(&bytes));
        Ok(())
    }

    /// `\uXXXX`; Chrome writes what lies above as two of them.
    fn escaped_unit(&mut self) -> char {
        let first = self.number(16, 4);
        if (0xd800..0xdc00).contains(&first) && self.takes("\\u") {
            let second = self.number(16, 4);
            let joined =
                0x1_0000 + ((first - 0xd800) << 10) + (second.wrapping_sub(0xdc00) & 0x3ff);
            return char::from_u32(joined).unwrap_or('\u{fffd}');
        }
        char::from_u32(first).unwrap_or('\u{fffd}')
    }

    fn number(&mut self, radix: u32, digits: usize) -> u32 {
        let mut number = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|char| char.to_digit(radix)) else { break };
            number = number * radix + digit;
            self.next();
        }
        number
    }

    pub(super) fn until(&mut self, ends: &[char]) -> String {
        let mut out = String::new();
        while let Some(char) = self.next() {
            if ends.contains(&char) {
                break;
            }
            out.push(char);
        }
        out
    }
}
