//! The shell's words: quotes, escapes, variables, here-documents, as far as documentations use them.

use std::collections::HashMap;

use super::braces;
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
        answers: vec![],
        unknown: vec![],
        capture_numbers: HashMap::new(),
        depth: 0,
        range_words: 0,
    };
    lexer.run()?;
    Ok(lexer.out)
}

pub(super) struct Lexer<'a, 'i> {
    input: &'a Input<'i>,
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) line: usize,
    pub(super) out: Commands,
    command: Command,
    comments: Vec<String>,
    /// Here-documents that begin in the next line: the end word, whether it was quoted, whether tabs are taken off.
    heredocs: Vec<HereDocument>,
    /// The variables that hold something of an answer.
    pub(super) answers: Vec<Answer>,
    /// The commands of substitutions whose output is not known.
    pub(super) unknown: Vec<String>,
    /// The last number behind each name that was made for something of an answer.
    pub(super) capture_numbers: HashMap<String, usize>,
    /// How many substitutions the text lies in.
    pub(super) depth: usize,
    /// How many words ranges have become.
    range_words: usize,
}

/// How many words the ranges of a script may become together.
const RANGE_WORDS_MAX: usize = 200_000;

/// A variable of the shell that holds an answer or a part of it.
pub(super) struct Answer {
    pub(super) variable: String,
    /// The number of the request among the commands.
    pub(super) request: usize,
    pub(super) is_whole: bool,
}

struct HereDocument {
    end: String,
    is_quoted: bool,
    strips_tabs: bool,
    /// The number of its command, which may have ended before the document begins.
    command: usize,
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

    /// Whether the text stands here, which is read then.
    pub(super) fn takes(&mut self, text: &str) -> bool {
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
                '\n' if self.command.list.is_some() => {
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
                '(' => self.bracket(),
                ';' | ')' => {
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
                    self.command.is_fallback = !piped;
                }
                '<' if self.placeholder().is_some() => self.plain_word()?,
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

    /// The commands of another text, as that of a substitution, with the values of this one.
    pub(super) fn commands_of(&mut self, text: &str) -> Result<Vec<Command>, ImportError> {
        let chars = std::mem::replace(&mut self.chars, text.chars().collect());
        let at = std::mem::take(&mut self.at);
        let (line, command) = (self.line, std::mem::take(&mut self.command));
        self.depth += 1;
        let heredocs = std::mem::take(&mut self.heredocs);
        self.line -= text.matches('\n').count().min(line - 1);
        let begin = self.out.list.len();
        let result = self.run();
        self.depth -= 1;
        (self.chars, self.at, self.line) = (chars, at, line);
        (self.command, self.heredocs) = (command, heredocs);
        let commands = self.out.list.split_off(begin);
        result.map(|()| commands)
    }

    /// `NAME=(…)` is a list, `name()` begins a function; else the command ends.
    fn bracket(&mut self) {
        let is_glued = self.at > 0 && !self.chars[self.at - 1].is_whitespace();
        let name = self.command.words.last().filter(|_| is_glued).cloned().unwrap_or_default();
        self.next();
        if let Some(name) = name.strip_suffix('=') {
            let name = name.to_owned();
            self.command.words.pop();
            self.end_command();
            self.command.list = Some(name);
            return;
        }
        if !name.is_empty() && self.command.words.len() == 1 && self.takes(")") {
            self.command.words.insert(0, "function".to_owned());
        }
        self.end_command();
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
        let (word, is_quoted) = self.word()?;
        let redirects = matches!(self.peek(), Some('<' | '>'));
        if redirects && !word.is_empty() && word.chars().all(|char| char.is_ascii_digit()) {
            return Ok(());
        }
        if self.command.words.is_empty() {
            self.command.line = line;
        }
        let words = if is_quoted { vec![word] } else { self.range(word) };
        self.command.words.extend(words);
        Ok(())
    }

    /// The words of one with ranges; itself once a script's ranges have become too many.
    fn range(&mut self, word: String) -> Vec<String> {
        if self.range_words > RANGE_WORDS_MAX {
            return vec![word];
        }
        let words = braces::expand(&word);
        if words.len() > 1 {
            self.range_words += words.len();
        }
        if self.range_words > RANGE_WORDS_MAX {
            let problem =
                format!("ranges of more than {RANGE_WORDS_MAX} words together are not carried out");
            self.out.problems.push((self.line, problem));
        }
        words
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
            let command = self.out.list.len();
            self.heredocs.push(HereDocument { end, is_quoted, strips_tabs, command });
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
            let body = if document.is_quoted { body } else { self.expanded(&body) };
            let command = self.out.list.get_mut(document.command).unwrap_or(&mut self.command);
            command.stdin = Some(body);
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
                '`' => {
                    self.next();
                    let text = self.until(&['`']);
                    self.substitution(&text, &mut out);
                }
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
        if command.words.is_empty() && command.list.is_none() {
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
                '<' if let Some(name) = self.placeholder() => {
                    self.take_placeholder(&name, &mut out);
                }
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

    /// The name in `<USER_ID>`, which documentations write for a value, where it is no redirect: within a word, or in capitals.
    fn placeholder(&self) -> Option<String> {
        let rest = self.chars.get(self.at..)?.strip_prefix(&['<'])?;
        let of_name = |char: &&char| char.is_ascii_alphanumeric() || matches!(**char, '_' | '-');
        let end = rest.iter().take_while(of_name).count();
        let name = &rest[..end];
        let is_name = name.first()?.is_ascii_alphabetic() && rest.get(end) == Some(&'>');
        let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at));
        let is_glued = before.is_some_and(|char| !char.is_whitespace() && !char.is_ascii_digit());
        let after = rest.get(end + 1);
        let is_loud = match after {
            Some(':' | '/' | '?' | '=' | '@') => true,
            Some(char) if char.is_alphanumeric() => false,
            _ => !name.iter().any(char::is_ascii_lowercase),
        };
        let made: String = name.iter().map(|char| if *char == '-' { '_' } else { *char }).collect();
        (is_name && (is_glued || is_loud)).then(|| made.to_ascii_uppercase())
    }

    fn take_placeholder(&mut self, name: &str, out: &mut String) {
        self.at += name.chars().count() + 2;
        let problem = format!("<{name}> stands for a value: give it as -e {name}=…");
        self.out.problems.push((self.line, problem));
        let source = Source::Env { name: name.to_owned(), default: None };
        out.push(self.out.values.add(source, vec![]));
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

    pub(super) fn unclosed(&self, line: usize, quote: char) -> ImportError {
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
