//! A script in tokens.

/// A token, the line it begins on, and whether a line ends before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub line: usize,
    pub is_first_of_line: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Name(String),
    Number(f64),
    String(String),
    /// The texts of a template, and the sources of the expressions between them.
    Template(Vec<String>, Vec<String>),
    Pattern,
    Sign(String),
    /// A character that no token begins with, or an unclosed text.
    Unknown,
    End,
}

/// The tokens of a script, with `End` as the last.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: source, line: 1, tokens: Vec::new(), is_first_of_line: true };
    while lexer.next_token() && lexer.tokens.len() < TOKENS_MAX {}
    lexer.push(TokenKind::End, lexer.line);
    lexer.tokens
}

struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
    is_first_of_line: bool,
}

impl Lexer<'_> {
    /// Takes one token; `false` at the end.
    fn next_token(&mut self) -> bool {
        self.skip_space();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else { return false };
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' | '$' => TokenKind::Name(self.take_while(is_name_char)),
            '0'..='9' => self.number(),
            '"' | '\'' => self.string(first),
            '`' => self.template(),
            '/' if self.may_be_pattern() => self.pattern(),
            _ => self.sign(first),
        };
        self.push(kind, line);
        true
    }

    fn push(&mut self, kind: TokenKind, line: usize) {
        let is_first_of_line = std::mem::take(&mut self.is_first_of_line);
        self.tokens.push(Token { kind, line, is_first_of_line });
    }

    fn advance(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        let lines = taken.matches('\n').count();
        self.line += lines;
        self.is_first_of_line |= lines > 0;
        self.rest = rest;
    }

    fn skip_space(&mut self) {
        loop {
            let space = self.rest.len()
                - self
                    .rest
                    .trim_start_matches(|char: char| char.is_whitespace() || char == '\u{feff}')
                    .len();
            self.advance(space);
            let comment = if self.rest.starts_with("//") {
                self.rest.find('\n').unwrap_or(self.rest.len())
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map_or(self.rest.len(), |end| end + 2)
            } else {
                return;
            };
            self.advance(comment);
        }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> String {
        let len = self.rest.find(|char| !is_part(char)).unwrap_or(self.rest.len());
        let taken = self.rest[..len].to_owned();
        self.advance(len);
        taken
    }

    fn number(&mut self) -> TokenKind {
        let text = self
            .take_while(|char| char.is_ascii_alphanumeric() || char == '.' || char == '_')
            .replace('_', "");
        let hex = text
            .strip_prefix("0x")
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .map(f64::from);
        hex.or_else(|| text.parse().ok()).map_or(TokenKind::Unknown, TokenKind::Number)
    }

    fn string(&mut self, quote: char) -> TokenKind {
        self.advance(1);
        match self.until(quote) {
            Some(text) => TokenKind::String(text),
            None => TokenKind::Unknown,
        }
    }

    /// The text up to `quote`, which is taken as well, with its escapes replaced.
    fn until(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        loop {
            let char = self.rest.chars().next()?;
            self.advance(char.len_utf8());
            match char {
                '\\' => text.extend(self.escape()),
                '\n' if quote != '`' => return None,
                char if char == quote => return Some(text),
                char => text.push(char),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.advance(char.len_utf8());
        let digits = match char {
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            'b' => return Some('\u{8}'),
            '\n' => return None,
            'x' => 2,
            'u' => 4,
            other => return Some(other),
        };
        let code = self.rest.get(..digits).and_then(|hex| u32::from_str_radix(hex, 16).ok())?;
        self.advance(digits);
        Some(char::from_u32(code).unwrap_or('\u{fffd}'))
    }

    fn template(&mut self) -> TokenKind {
        self.advance(1);
        let (mut texts, mut sources, mut text) = (Vec::new(), Vec::new(), String::new());
        loop {
            let Some(char) = self.rest.chars().next() else { return TokenKind::Unknown };
            if self.rest.starts_with("${") {
                self.advance(2);
                let Some(end) = end_of_expression(self.rest) else { return TokenKind::Unknown };
                sources.push(self.rest[..end].to_owned());
                texts.push(std::mem::take(&mut text));
                self.advance(end + 1);
                continue;
            }
            self.advance(char.len_utf8());
            match char {
                '`' => break,
                '\\' => text.extend(self.escape()),
                char => text.push(char),
            }
        }
        texts.push(text);
        TokenKind::Template(texts, sources)
    }

    /// Whether a slash begins a regular expression: nothing stands before it that could be divided.
    fn may_be_pattern(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            Some(TokenKind::Sign(sign)) => !matches!(sign.as_str(), ")" | "]" | "}"),
            Some(TokenKind::Name(name)) => name == "return",
            None => true,
            _ => false,
        }
    }

    fn pattern(&mut self) -> TokenKind {
        let (mut in_class, mut is_escaped) = (false, false);
        for (at, char) in self.rest.char_indices().skip(1) {
            match char {
                '\n' => break,
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    self.advance(at + 1);
                    self.take_while(is_name_char);
                    return TokenKind::Pattern;
                }
                _ => (),
            }
        }
        self.advance(1);
        TokenKind::Unknown
    }

    fn sign(&mut self, first: char) -> TokenKind {
        let sign = SIGNS.iter().find(|sign| self.rest.starts_with(**sign));
        let len = sign.map_or(first.len_utf8(), |sign| sign.len());
        let text = self.rest[..len].to_owned();
        self.advance(len);
        if sign.is_some() || "{}()[];,<>+-*/%!?:=.&|^~".contains(first) {
            TokenKind::Sign(text)
        } else {
            TokenKind::Unknown
        }
    }
}

/// Where the brace stands that closes an expression of a template.
fn end_of_expression(source: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in source.char_indices() {
        match char {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            '`' => return None,
            _ => (),
        }
    }
    None
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_' || char == '$'
}

/// Signs of several characters, the longest first.
const SIGNS: [&str; 17] = [
    "===", "!==", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=",
    "-=", "**",
];
/// Longer scripts are cut.
const TOKENS_MAX: usize = 20_000;
