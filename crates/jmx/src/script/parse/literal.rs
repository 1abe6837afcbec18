//! Literals: texts with code, lists, maps.

use super::{Parsed, Parser};
use crate::script::token::{Piece, TokenKind};
use crate::script::tree::{Kind, Node};
use crate::script::value::Value;

impl Parser<'_> {
    /// A text with code in it.
    pub(super) fn template(&mut self, pieces: &[Piece], line: u32) -> Parsed<Node> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) if text.is_empty() => {}
                Piece::Text(text) => {
                    parts.push(Node { line, kind: Kind::Literal(Value::text(text.as_str())) });
                }
                Piece::Code(tokens) => {
                    let mut inner = Parser::new(tokens, self.language, self.names, self.depth + 1);
                    parts.extend(inner.template_code()?);
                }
            }
        }
        Ok(Node { line, kind: Kind::Template(parts) })
    }

    /// The expression of a piece; none where it is empty.
    fn template_code(&mut self) -> Parsed<Option<Node>> {
        if matches!(self.token().kind, TokenKind::End) {
            return Ok(None);
        }
        // `${-> x}` is evaluated where it stands.
        self.eat("->");
        let node = self.deeper(Self::expression)?;
        self.eat(";");
        match self.token().kind {
            TokenKind::End => Ok(Some(node)),
            _ => Err(self.problem()),
        }
    }

    /// A list or a map, after its `[`.
    pub(super) fn list_or_map(&mut self, line: u32) -> Parsed<Node> {
        self.bracketed(|parser| {
            if parser.is_sign(":") && parser.sign_at(1, "]") {
                parser.at += 2;
                return Ok(Node { line, kind: Kind::Map(Vec::new()) });
            }
            if parser.is_map_key() {
                return parser.map(line, "]");
            }
            let items = parser.items("]")?;
            Ok(Node { line, kind: Kind::List(items) })
        })
    }

    /// Expressions with commas between, up to a closing sign.
    pub(super) fn items(&mut self, end: &str) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        while !self.eat(end) {
            items.push(self.expression()?);
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    /// Whether a key of a map is next: `a:`, `"a":`, `1:`, `(a):`.
    pub(super) fn is_map_key(&self) -> bool {
        match &self.token().kind {
            TokenKind::Name(_) | TokenKind::Literal(_) | TokenKind::Template(_) => {
                self.sign_at(1, ":")
            }
            TokenKind::Sign("(") => self.closing(1).is_some_and(|end| self.sign_at(end, ":")),
            TokenKind::Sign("*") => self.sign_at(1, ":"),
            _ => false,
        }
    }

    /// What follows the bracket that closes the one that is open, as a distance.
    pub(super) fn closing(&self, from: usize) -> Option<usize> {
        let mut depth = 1_i32;
        for ahead in from.. {
            match &self.ahead(ahead).kind {
                TokenKind::Sign("(" | "[" | "{") => depth += 1,
                TokenKind::Sign(")" | "]" | "}") => depth -= 1,
                TokenKind::End => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(ahead + 1);
            }
        }
        None
    }

    /// The entries of a map, up to a closing sign.
    pub(super) fn map(&mut self, line: u32, end: &str) -> Parsed<Node> {
        let mut rows = Vec::new();
        while !self.eat(end) {
            let key = self.map_key()?;
            self.expect(":")?;
            rows.push((key, self.expression()?));
            if !self.eat(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(Node { line, kind: Kind::Map(rows) })
    }

    pub(super) fn map_key(&mut self) -> Parsed<Node> {
        let line = self.line();
        match &self.token().kind {
            TokenKind::Name(name) => {
                self.at += 1;
                Ok(Node { line, kind: Kind::Literal(Value::Text(name.clone())) })
            }
            _ => self.operand(),
        }
    }
}
