//! Operands: literals, names, calls, brackets, casts and new objects.

use std::sync::Arc;

use super::types::is_package;
use super::{Parsed, Parser};
use crate::script::Language;
use crate::script::token::TokenKind;
use crate::script::tree::{Kind, Node, Probe, Type};
use crate::script::value::{Object, Value};

/// Words that begin no operand.
const RESERVED: [&str; 27] = [
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "return",
    "break",
    "continue",
    "class",
    "interface",
    "enum",
    "trait",
    "import",
    "package",
    "instanceof",
    "extends",
    "implements",
    "const",
    "goto",
    "as",
];

impl Parser<'_> {
    /// An operand.
    pub(super) fn operand(&mut self) -> Parsed<Node> {
        let line = self.line();
        if let Some(lambda) = self.lambda()? {
            return Ok(lambda);
        }
        match &self.token().kind {
            TokenKind::Literal(value) => {
                self.at += 1;
                Ok(Node { line, kind: Kind::Literal(value.clone()) })
            }
            TokenKind::Template(pieces) => {
                self.at += 1;
                self.template(pieces, line)
            }
            TokenKind::Regex(pattern) => {
                self.at += 1;
                let pattern = Value::object(Object::Pattern(pattern.clone()));
                Ok(Node { line, kind: Kind::Literal(pattern) })
            }
            TokenKind::Name(name) => self.named(&name.clone(), line),
            TokenKind::Sign(sign) => self.opened(sign, line),
            TokenKind::End => Err(self.problem()),
        }
    }

    /// What a bracket opens.
    fn opened(&mut self, sign: &str, line: u32) -> Parsed<Node> {
        match sign {
            "(" => match self.cast()? {
                Some(cast) => Ok(cast),
                None => self.in_brackets(),
            },
            "[" if self.language != Language::BeanShell => {
                self.at += 1;
                self.list_or_map(line)
            }
            "{" => {
                self.at += 1;
                self.braces(line)
            }
            _ => Err(self.problem()),
        }
    }

    fn in_brackets(&mut self) -> Parsed<Node> {
        self.at += 1;
        self.bracketed(|parser| {
            let node = parser.expression()?;
            parser.expect(")")?;
            Ok(node)
        })
    }

    /// `{`: a closure, the object of JavaScript, the map of JEXL, the array of Java.
    fn braces(&mut self, line: u32) -> Parsed<Node> {
        match self.language {
            Language::Groovy => self.closure(line),
            Language::BeanShell => self.bracketed(|parser| {
                let items = parser.items("}")?;
                Ok(Node { line, kind: Kind::List(items) })
            }),
            _ => self.bracketed(|parser| parser.map(line, "}")),
        }
    }

    /// `(int) x`, `(String) x`.
    fn cast(&mut self) -> Parsed<Option<Node>> {
        let line = self.line();
        let kind = self.attempt(|parser| {
            parser.eat("(");
            let found = parser.type_name()?;
            let is_declared = parser.names.is_declared(&found.name);
            let is_cast = parser.eat(")") && found.is_certain && !is_declared;
            (is_cast && parser.begins_operand()).then_some(found.kind)
        });
        let Some(kind) = kind else { return Ok(None) };
        let operand = self.deeper(Self::unary)?;
        Ok(Some(Node { line, kind: Kind::Cast(kind, Box::new(operand)) }))
    }

    /// Whether an operand may begin here.
    fn begins_operand(&self) -> bool {
        match &self.token().kind {
            TokenKind::Literal(_) | TokenKind::Template(_) | TokenKind::Regex(_) => true,
            TokenKind::Name(name) => !matches!(&**name, "instanceof" | "in" | "as"),
            TokenKind::Sign(sign) => matches!(*sign, "(" | "[" | "-" | "!"),
            TokenKind::End => false,
        }
    }

    /// What a name begins.
    fn named(&mut self, name: &Arc<str>, line: u32) -> Parsed<Node> {
        let literal = |value| Ok(Node { line, kind: Kind::Literal(value) });
        if RESERVED.contains(&&**name) {
            return Err(self.problem());
        }
        self.at += 1;
        match &**name {
            "null" | "undefined" | "void" => literal(Value::Null),
            // No file is reached by these letters.
            "File"
                if self.is_sign(".") && self.name_at(1).is_some_and(|of| &**of == "separator") =>
            {
                self.at += 2;
                literal("/".into())
            }
            "true" => literal(Value::Truth(true)),
            "false" => literal(Value::Truth(false)),
            "new" => self.new_object(line),
            "function" if self.language == Language::JavaScript => self.function_value(line),
            "empty" | "size" if self.language.is_jexl() => self.probe(name, line),
            _ => self.name_or_call(name, line),
        }
    }

    /// JEXL's `empty x`, `empty(x)`, `size(x)`.
    fn probe(&mut self, name: &str, line: u32) -> Parsed<Node> {
        let probe = if name == "empty" { Probe::Empty } else { Probe::Size };
        let operand = self.deeper(Self::unary)?;
        Ok(Node { line, kind: Kind::Probe(probe, Box::new(operand)) })
    }

    fn name_or_call(&mut self, name: &Arc<str>, line: u32) -> Parsed<Node> {
        if let Some(class) = self.qualified(name) {
            return Ok(Node { line, kind: Kind::Literal(Value::Class(class)) });
        }
        if let Some(arguments) = self.call_arguments()? {
            return Ok(Node { line, kind: Kind::Call(name.clone(), arguments) });
        }
        self.names.note(name, line);
        let known = self.names.class(name).filter(|class| *class != &**name);
        if let Some(class) = known {
            return Ok(Node { line, kind: Kind::Literal(Value::Class(class)) });
        }
        Ok(Node { line, kind: Kind::Name(name.clone()) })
    }

    /// The class of a name with its package, after the first part of it.
    fn qualified(&mut self, name: &str) -> Option<&'static str> {
        const ROOTS: [&str; 8] = ["java", "javax", "groovy", "org", "com", "io", "net", "Packages"];
        if !ROOTS.contains(&name) || self.names.is_declared(name) {
            return None;
        }
        let line = self.line();
        let mut parts = 0;
        while self.sign_at(parts, ".")
            && self.name_at(parts + 1).is_some_and(|part| is_package(part))
        {
            parts += 2;
        }
        let class = self.name_at(parts + 1).filter(|_| self.sign_at(parts, "."))?.clone();
        if !class.starts_with(char::is_uppercase) {
            return None;
        }
        self.at += parts + 2;
        let known = self.names.class(&class);
        if known.is_none() {
            self.names.refuse(&class, line);
        }
        known.or(Some("Object"))
    }

    /// A new object, after `new`.
    fn new_object(&mut self, line: u32) -> Parsed<Node> {
        let found = self.new_type().ok_or_else(|| self.problem())?;
        if let Some(array) = self.new_array(line, found.0)? {
            return Ok(array);
        }
        let class = self.names.class(&found.1);
        let is_javascript = self.language == Language::JavaScript && &*found.1 == "RegExp";
        if class.is_none() && !is_javascript {
            self.names.refuse(&found.1, line);
        }
        let arguments = match self.call_arguments()? {
            Some(arguments) => arguments,
            None if self.language == Language::JavaScript => Vec::new(),
            None => return Err(self.problem()),
        };
        if self.is_sign("{") && !self.is_line_end() {
            return Err(self.refused("classes without a name"));
        }
        Ok(Node { line, kind: Kind::New(class.unwrap_or("Pattern"), arguments) })
    }

    /// The type after `new`, where `[` is the size of an array.
    fn new_type(&mut self) -> Option<(Type, Arc<str>)> {
        let found = self.type_name()?;
        Some((found.kind, found.name))
    }

    /// `int[5]`, `String[] { ... }`.
    fn new_array(&mut self, line: u32, kind: Type) -> Parsed<Option<Node>> {
        if matches!(kind, Type::Array | Type::Bytes) && self.eat("{") {
            let items = self.bracketed(|parser| parser.items("}"))?;
            let list = Node { line, kind: Kind::List(items) };
            return Ok(Some(Node { line, kind: Kind::Cast(kind, Box::new(list)) }));
        }
        if !self.eat("[") {
            return Ok(None);
        }
        let size = self.bracketed(|parser| {
            let size = parser.expression()?;
            parser.expect("]")?;
            Ok(size)
        })?;
        Ok(Some(Node { line, kind: Kind::Array(Box::new(size), kind) }))
    }
}
