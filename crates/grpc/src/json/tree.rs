//! JSON text as a tree whose nodes know their places.

/// How deep values may be nested.
const DEPTH_MAX: usize = 100;

/// What is wrong with a text, in protojson's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// A value does not fit, at this line and column.
    #[error("proto: (line {line}:{column}): {what}")]
    Value {
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// The reason.
        what: String,
    },
    /// The text is no JSON, or has another kind of value there.
    #[error("proto: syntax error (line {line}:{column}): {what}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
        /// The reason.
        what: String,
    },
    /// A field that must be set is not.
    #[error("proto: required field {0} not set")]
    Required(String),
    /// A message cannot be written as JSON.
    #[error("proto: {0}")]
    Unwritable(String),
}

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// The text of it is in the source.
    Number,
    String(String),
    Array(Vec<Node>),
    Object(Vec<(Name, Node)>),
}

/// The name of a member.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A text that is taken apart.
pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    /// The value as it is written; of an object or array its first character.
    pub(super) fn raw(&self, node: &Node) -> &str {
        match node.kind {
            Kind::Object(_) | Kind::Array(_) => &self.0[node.start..=node.start],
            _ => &self.0[node.start..node.end],
        }
    }

    pub(super) fn raw_name(&self, name: &Name) -> &str {
        &self.0[name.start..name.end]
    }

    /// Line and column of a place.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.0[..at];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let from = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[from..].chars().count() + 1)
    }

    pub(super) fn value_error(&self, at: usize, what: String) -> JsonError {
        let (line, column) = self.position(at);
        JsonError::Value { line, column, what }
    }

    pub(super) fn syntax_error(&self, at: usize, what: String) -> JsonError {
        let (line, column) = self.position(at);
        JsonError::Syntax { line, column, what }
    }

    /// There is another kind of value where one is wanted.
    pub(super) fn unexpected(&self, node: &Node) -> JsonError {
        self.syntax_error(node.start, format!("unexpected token {}", self.raw(node)))
    }

    /// The tree of the whole text.
    pub(super) fn parse(&self) -> Result<Node, JsonError> {
        let mut parser = Parser { source: self, at: 0 };
        let node = parser.value(0)?;
        parser.skip_blanks();
        if parser.at < self.0.len() {
            return Err(parser.unexpected());
        }
        Ok(node)
    }
}

struct Parser<'a> {
    source: &'a Source<'a>,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.source.0[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn unexpected(&self) -> JsonError {
        let what = match self.rest().chars().next() {
            Some(found) => format!("unexpected token {found}"),
            None => "unexpected EOF".to_owned(),
        };
        self.source.syntax_error(self.at, what)
    }

    /// Whether the next character is this one, which is then taken.
    fn take(&mut self, wanted: char) -> bool {
        let is = self.rest().starts_with(wanted);
        self.at += usize::from(is) * wanted.len_utf8();
        is
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        if depth > DEPTH_MAX {
            return Err(self
                .source
                .value_error(self.at, "exceeded max recursion depth".to_owned()));
        }
        self.skip_blanks();
        let start = self.at;
        let kind = match self.rest().bytes().next() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn word(&mut self) -> Result<Kind, JsonError> {
        for (word, kind) in
            [("null", Kind::Null), ("true", Kind::Bool(true)), ("false", Kind::Bool(false))]
        {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.unexpected())
    }

    fn number(&mut self) -> Result<Kind, JsonError> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let text = &rest[..len];
        if !is_number(text) {
            let what = format!("invalid value {text}");
            return Err(self.source.syntax_error(self.at, what));
        }
        self.at += len;
        Ok(Kind::Number)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.bytes().enumerate().skip(1).find(|(_, byte)| {
            let is_end = *byte == b'"' && !escaped;
            escaped = *byte == b'\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end else { return Err(self.unexpected()) };
        let raw = &rest[..=end];
        let text = serde_json::from_str(raw)
            .map_err(|_| self.source.syntax_error(self.at, format!("invalid value {raw}")))?;
        self.at += end + 1;
        Ok(text)
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take(']') {
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            if self.take(']') {
                return Ok(Kind::Array(items));
            }
            if !self.take(',') {
                return Err(self.unexpected());
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut members = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take('}') {
            return Ok(Kind::Object(members));
        }
        loop {
            self.skip_blanks();
            let start = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.unexpected());
            }
            let name = Name { text: self.string()?, start, end: self.at };
            self.skip_blanks();
            if !self.take(':') {
                return Err(self.unexpected());
            }
            members.push((name, self.value(depth + 1)?));
            self.skip_blanks();
            if self.take('}') {
                return Ok(Kind::Object(members));
            }
            if !self.take(',') {
                return Err(self.unexpected());
            }
        }
    }
}

/// Whether a text is a number of JSON. RFC 8259, 6.
pub(super) fn is_number(text: &str) -> bool {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let text = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(text);
    if whole == 0 || (whole > 1 && text.starts_with('0')) {
        return false;
    }
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = &fraction[len..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let len = digits(exponent);
        return len > 0 && len == exponent.len();
    }
    rest.is_empty()
}
