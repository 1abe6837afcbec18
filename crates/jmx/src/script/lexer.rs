//! From the letters of a script to its tokens.

use std::sync::Arc;

use super::token::{MORE_SIGNS, Piece, SIGNS, Token, TokenKind};
use super::value::{Decimal, Value};
use super::{Language, ScriptProblem};

/// Texts with code stand in one another so deep at most.
const DEPTH_MAX: u32 = 8;

/// The tokens of a script.
pub(super) fn tokens(text: &str, language: Language) -> Result<Vec<Token>, ScriptProblem> {
    Lexer::new(text, language, 1, 0).tokens()
}

/// Reads tokens.
pub(super) struct Lexer {
    pub(super) letters: Vec<char>,
    pub(super) at: usize,
    pub(super) line: u32,
    pub(super) language: Language,
    depth: u32,
    tokens: Vec<Token>,
    opens_line: bool,
    after_space: bool,
}

impl Lexer {
    pub(super) fn new(text: &str, language: Language, line: u32, depth: u32) -> Self {
        let letters = text.chars().collect();
        let (tokens, at) = (Vec::new(), 0);
        Self { letters, at, line, language, depth, tokens, opens_line: true, after_space: true }
    }

    fn tokens(mut self) -> Result<Vec<Token>, ScriptProblem> {
        // A first line for the shell.
        if self.starts_with("#!") {
            self.skip_line();
        }
        while self.at < self.letters.len() {
            if self.skip_space()? {
                continue;
            }
            let line = self.line;
            let kind = self.token()?;
            let (opens_line, after_space) = (self.opens_line, self.after_space);
            self.tokens.push(Token { kind, line, opens_line, after_space });
            (self.opens_line, self.after_space) = (false, false);
        }
        let (line, opens_line) = (self.line, true);
        self.tokens.push(Token { kind: TokenKind::End, line, opens_line, after_space: true });
        Ok(self.tokens)
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    pub(super) fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(at, letter)| self.peek(at) == Some(letter))
    }

    /// The next letter, its line counted.
    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek(0)?;
        self.at += 1;
        self.line += u32::from(letter == '\n');
        Some(letter)
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            self.at += 1;
        }
    }

    /// Skips a space, the end of a line or a comment; whether there was one.
    fn skip_space(&mut self) -> Result<bool, ScriptProblem> {
        match (self.peek(0), self.peek(1)) {
            (Some('\n'), _) => {
                self.opens_line = true;
                self.next();
            }
            (Some('\\'), Some('\n')) => {
                self.at += 1;
                self.next();
            }
            (Some('/'), Some('/')) => self.skip_line(),
            (Some('#'), Some('#')) if self.language.is_jexl() => self.skip_line(),
            (Some('/'), Some('*')) => self.skip_comment()?,
            (Some(letter), _) if letter.is_whitespace() || letter == '\u{feff}' => self.at += 1,
            _ => return Ok(false),
        }
        self.after_space = true;
        Ok(true)
    }

    fn skip_comment(&mut self) -> Result<(), ScriptProblem> {
        let line = self.line;
        self.at += 2;
        while !self.starts_with("*/") {
            let is_end = self.next().ok_or(ScriptProblem::Open { line, what: "comment" })?;
            self.opens_line |= is_end == '\n';
        }
        self.at += 2;
        Ok(())
    }

    fn token(&mut self) -> Result<TokenKind, ScriptProblem> {
        let letter = self.peek(0).unwrap_or(' ');
        match letter {
            '0'..='9' => self.number(),
            '.' if self.peek(1).is_some_and(|digit| digit.is_ascii_digit()) => self.number(),
            '"' | '\'' => self.quoted(letter),
            '`' if self.language == Language::JavaScript => self.quoted(letter),
            '/' if self.is_regex_here() => self.slashy(),
            '$' | '_' => Ok(self.name()),
            _ if letter.is_alphabetic() => Ok(self.name()),
            _ => self.sign(),
        }
    }

    fn name(&mut self) -> TokenKind {
        let is_part = |letter: &char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
        let name: String =
            self.letters[self.at..].iter().copied().take_while(|l| is_part(l)).collect();
        self.at += name.chars().count();
        TokenKind::Name(Arc::from(name))
    }

    fn sign(&mut self) -> Result<TokenKind, ScriptProblem> {
        let is_sign = |sign: &&&str| {
            // `x?.5:1` and `a*.5` have numbers.
            let is_number = matches!(**sign, "?." | "*.")
                && self.peek(2).is_some_and(|digit| digit.is_ascii_digit());
            let is_jexl = self.language.is_jexl() || !matches!(**sign, "=^" | "=$" | "!~");
            self.starts_with(sign) && !is_number && is_jexl
        };
        let sign = SIGNS.iter().chain(MORE_SIGNS).find(is_sign).copied();
        let Some(sign) = sign else {
            let near = self.peek(0).map(String::from).unwrap_or_default();
            return Err(ScriptProblem::Syntax { line: self.line, near });
        };
        self.at += sign.len();
        Ok(TokenKind::Sign(sign))
    }

    /// Whether `/` begins a text: not after an operand.
    fn is_regex_here(&self) -> bool {
        let has_regex = matches!(self.language, Language::Groovy | Language::JavaScript);
        let before = self.tokens.last().map(|token| &token.kind);
        let after_operand = match before {
            Some(TokenKind::Name(name)) => !matches!(&**name, "return" | "in" | "case"),
            Some(TokenKind::Literal(_) | TokenKind::Template(_) | TokenKind::Regex(_)) => true,
            Some(TokenKind::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            _ => false,
        };
        has_regex && !after_operand && self.peek(1) != Some('=')
    }

    fn number(&mut self) -> Result<TokenKind, ScriptProblem> {
        let line = self.line;
        let radix = match (self.peek(0), self.peek(1)) {
            (Some('0'), Some('x' | 'X')) => 16,
            (Some('0'), Some('b' | 'B')) => 2,
            _ => 10,
        };
        self.at += if radix == 10 { 0 } else { 2 };
        let digits = self.digits(radix);
        let suffix = self.peek(0).map(|letter| letter.to_ascii_lowercase());
        let suffix = suffix.filter(|letter| matches!(letter, 'l' | 'd' | 'f' | 'g' | 'i'));
        self.at += usize::from(suffix.is_some());
        let value = number_value(&digits, radix, suffix, self.language);
        value.map(TokenKind::Literal).ok_or(ScriptProblem::Syntax { line, near: digits })
    }

    /// The digits of a number with its point and its exponent, without `_`.
    fn digits(&mut self, radix: u32) -> String {
        let mut digits = String::new();
        while let Some(letter) = self.peek(0) {
            let next_digit = self.peek(1).is_some_and(|next| next.is_ascii_digit());
            let is_part = match letter {
                '_' => true,
                '.' => radix == 10 && next_digit && !digits.contains(['.', 'e']),
                'e' | 'E' if radix == 10 => {
                    let signed = self.peek(2).is_some_and(|next| next.is_ascii_digit());
                    next_digit || matches!(self.peek(1), Some('-' | '+')) && signed
                }
                '-' | '+' => digits.ends_with('e'),
                _ => letter.is_digit(radix),
            };
            if !is_part {
                break;
            }
            self.at += 1;
            digits.extend(Some(letter.to_ascii_lowercase()).filter(|letter| *letter != '_'));
        }
        digits
    }

    /// The tokens of code in a text.
    pub(super) fn inner(&self, code: &str, line: u32) -> Result<Piece, ScriptProblem> {
        if self.depth >= DEPTH_MAX {
            return Err(ScriptProblem::Deep { line });
        }
        Self::new(code, self.language, line, self.depth + 1).tokens().map(Piece::Code)
    }
}

/// The value that a number is written for.
fn number_value(
    digits: &str,
    radix: u32,
    suffix: Option<char>,
    language: Language,
) -> Option<Value> {
    let is_whole = radix != 10 || !digits.contains(['.', 'e']);
    match suffix {
        Some('d' | 'f') => return digits.parse().ok().map(Value::Double),
        Some('l') => return i64::from_str_radix(digits, radix).ok().map(Value::Long),
        Some('g') if is_whole => return Decimal::parse(digits).map(Value::decimal),
        _ => {}
    }
    if is_whole {
        let is_octal = digits.len() > 1 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
        let radix = if radix == 10 && is_octal && digits.starts_with('0') { 8 } else { radix };
        let number = i128::from_str_radix(digits, radix).ok()?;
        return Some(whole_value(number, radix, language));
    }
    match (language, Decimal::parse(digits)) {
        (Language::Groovy, Some(decimal)) => Some(Value::decimal(decimal)),
        _ => digits.parse().ok().map(Value::Double),
    }
}

/// A whole number in the smallest kind that holds it. Those of hexadecimal digits fill their bits.
fn whole_value(number: i128, radix: u32, language: Language) -> Value {
    if radix != 10
        && language != Language::JavaScript
        && let Ok(number) = u32::try_from(number)
    {
        return Value::Int(number as i32);
    }
    match i64::try_from(number) {
        Ok(number) => Value::whole(number),
        Err(_) if language == Language::Groovy => {
            Value::decimal(Decimal { unscaled: number, scale: 0 })
        }
        Err(_) => Value::Double(number as f64),
    }
}
