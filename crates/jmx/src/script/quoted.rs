//! Texts in quotes: Java's, and Groovy's with code in them.

use std::sync::Arc;

use super::lexer::Lexer;
use super::token::{Piece, TokenKind};
use super::value::Value;
use super::{Language, ScriptProblem};

impl Lexer {
    /// A text in quotes.
    pub(super) fn quoted(&mut self, quote: char) -> Result<TokenKind, ScriptProblem> {
        let line = self.line;
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let is_triple = self.language == Language::Groovy && self.starts_with(&triple);
        let end = if is_triple { triple } else { quote.to_string() };
        self.at += end.len();
        let has_code = match self.language {
            Language::Groovy => quote == '"',
            Language::JavaScript => quote == '`',
            _ => false,
        };
        let mut pieces = Vec::new();
        let mut text = String::new();
        while !self.starts_with(&end) {
            let letter = self.next().ok_or(ScriptProblem::Open { line, what: "text" })?;
            let is_broken =
                letter == '\n' && !is_triple && quote != '`' && !self.language.is_jexl();
            match letter {
                _ if is_broken => return Err(ScriptProblem::Open { line, what: "text" }),
                '\\' => self.escape(&mut text),
                '$' if has_code => self.code(&mut pieces, &mut text)?,
                other => text.push(other),
            }
        }
        self.at += end.len();
        Ok(self.text_token(pieces, text, quote))
    }

    fn text_token(&self, mut pieces: Vec<Piece>, text: String, quote: char) -> TokenKind {
        let mut letters = text.chars();
        let is_letter = self.language == Language::BeanShell && quote == '\'';
        if let (true, Some(letter), None) = (is_letter, letters.next(), letters.next()) {
            return TokenKind::Literal(Value::Letter(letter));
        }
        if pieces.is_empty() {
            return TokenKind::Literal(Value::text(text));
        }
        pieces.push(Piece::Text(text));
        TokenKind::Template(pieces)
    }

    /// What follows a backslash.
    fn escape(&mut self, text: &mut String) {
        match self.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('0') => text.push('\0'),
            Some('u') => self.unicode(text),
            Some('\n') | None => {}
            Some(other) => text.push(other),
        }
    }

    fn unicode(&mut self, text: &mut String) {
        let code: String = (0..4).filter_map(|ahead| self.peek(ahead)).collect();
        self.at += code.chars().count();
        let letter = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        text.push(letter.unwrap_or(char::REPLACEMENT_CHARACTER));
    }

    /// Code after a `$`: `{...}`, or names with dots between.
    fn code(&mut self, pieces: &mut Vec<Piece>, text: &mut String) -> Result<(), ScriptProblem> {
        let line = self.line;
        let code = match self.peek(0) {
            Some('{') => self.braces(line)?,
            Some(letter) if self.language == Language::Groovy && is_name(letter) => self.dotted(),
            _ => {
                text.push('$');
                return Ok(());
            }
        };
        pieces.push(Piece::Text(std::mem::take(text)));
        pieces.push(self.inner(&code, line)?);
        Ok(())
    }

    /// The code between braces; texts in it may have braces too.
    fn braces(&mut self, line: u32) -> Result<String, ScriptProblem> {
        let open = ScriptProblem::Open { line, what: "text" };
        let mut code = String::new();
        let (mut depth, mut quote) = (0_u32, None);
        loop {
            let letter = self.next().ok_or_else(|| open.clone())?;
            match (letter, quote) {
                ('\\', Some(_)) => {
                    code.push(letter);
                    code.extend(self.next());
                    continue;
                }
                ('"' | '\'', None) => quote = Some(letter),
                (_, Some(begun)) if letter == begun => quote = None,
                ('{', None) => depth += 1,
                ('}', None) if depth == 1 => return Ok(code.split_off(1)),
                ('}', None) => depth -= 1,
                _ => {}
            }
            code.push(letter);
        }
    }

    fn dotted(&mut self) -> String {
        let mut code = String::new();
        while let Some(letter) = self.peek(0) {
            let is_dot = letter == '.' && self.peek(1).is_some_and(is_name);
            if !is_dot && !is_name(letter) && !letter.is_ascii_digit() {
                break;
            }
            code.push(letter);
            self.at += 1;
        }
        code
    }

    /// A text between slashes.
    pub(super) fn slashy(&mut self) -> Result<TokenKind, ScriptProblem> {
        let line = self.line;
        let open = || ScriptProblem::Open { line, what: "text" };
        self.at += 1;
        let (mut pieces, mut text) = (Vec::new(), String::new());
        let is_script = self.language == Language::JavaScript;
        let mut in_class = false;
        loop {
            match self.next().ok_or_else(open)? {
                '\n' if is_script => return Err(open()),
                '/' if !in_class => break,
                '\\' if self.peek(0) == Some('/') => text.extend(self.next()),
                '\\' => {
                    text.push('\\');
                    text.extend(self.next());
                }
                '$' if !is_script => self.code(&mut pieces, &mut text)?,
                letter => {
                    in_class = is_script && letter != ']' && (in_class || letter == '[');
                    text.push(letter);
                }
            }
        }
        if is_script {
            return Ok(self.regex(&text));
        }
        Ok(self.text_token(pieces, text, '/'))
    }

    /// A regular expression of JavaScript: its flags stand before it, `g` as the one that Java does not have.
    fn regex(&mut self, text: &str) -> TokenKind {
        let mut flags = String::new();
        while let Some(flag) = self.peek(0).filter(char::is_ascii_lowercase) {
            flags.push(flag);
            self.at += 1;
        }
        TokenKind::Regex(Arc::from(format!("{flags}/{text}")))
    }
}

fn is_name(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}
