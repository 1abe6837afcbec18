//! Closures, lambdas and the parameters of functions.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::script::Language;
use crate::script::token::TokenKind;
use crate::script::tree::{Function, Kind, Node, Parameter, Statement, StatementKind, Type};

impl Parser<'_> {
    /// A closure, after its `{`.
    pub(super) fn closure(&mut self, line: u32) -> Parsed<Node> {
        let parameters = self.closure_parameters();
        let has_it = parameters.is_none();
        let body = self.in_block(|parser| parser.statements("}"))?;
        Ok(closure_node(
            line,
            Function { parameters: parameters.unwrap_or_default(), body, has_it },
        ))
    }

    /// `a, int b ->`; `None` where there is no arrow.
    fn closure_parameters(&mut self) -> Option<Vec<Parameter>> {
        if !self.has_arrow() {
            return None;
        }
        self.attempt(|parser| {
            let mut parameters = Vec::new();
            while !parser.eat("->") {
                parameters.push(parser.parameter()?);
                if !parser.eat(",") && !parser.is_sign("->") {
                    return None;
                }
            }
            Some(parameters)
        })
    }

    /// Whether nothing but parameters stands before an arrow.
    fn has_arrow(&self) -> bool {
        for ahead in 0..256 {
            match &self.ahead(ahead).kind {
                TokenKind::Sign("->") => return true,
                TokenKind::Sign("," | "=" | "<" | ">" | ">>" | "[" | "]" | "." | "?") => {}
                TokenKind::Name(_) | TokenKind::Literal(_) => {}
                _ => return false,
            }
        }
        false
    }

    /// A parameter: its type, where it has one, its name and its default.
    pub(super) fn parameter(&mut self) -> Option<Parameter> {
        let mut parameter = self.parameter_name()?;
        if self.eat("=") {
            parameter.default = Some(self.deeper(Self::expression).ok()?);
        }
        Some(parameter)
    }

    /// A parameter without a default.
    pub(super) fn parameter_name(&mut self) -> Option<Parameter> {
        while self.is_word("final") || self.is_word("def") || self.is_word("var") {
            self.at += 1;
        }
        let with_type = self.attempt(|parser| {
            let kind = parser.type_name()?.kind;
            parser.name_at(0).map(|_| kind)
        });
        let name = self.name().ok()?;
        self.names.declare(&name);
        Some(Parameter { name, kind: with_type.unwrap_or(Type::Any), default: None })
    }

    /// Parameters in brackets.
    pub(super) fn parameters(&mut self) -> Option<Vec<Parameter>> {
        let mut parameters = Vec::new();
        if !self.eat("(") {
            return None;
        }
        while !self.eat(")") {
            parameters.push(self.parameter()?);
            if !self.eat(",") && !self.is_sign(")") {
                return None;
            }
        }
        Some(parameters)
    }

    /// `(a, b) -> x`, `a => x`, where that is next.
    pub(super) fn lambda(&mut self) -> Parsed<Option<Node>> {
        let line = self.line();
        let arrow = match self.language {
            Language::Groovy | Language::Jexl3 => "->",
            Language::JavaScript => "=>",
            _ => return Ok(None),
        };
        let is_likely = (self.name_at(0).is_some() && self.sign_at(1, arrow))
            || self.is_sign("(") && self.closing(1).is_some_and(|end| self.sign_at(end, arrow));
        if !is_likely {
            return Ok(None);
        }
        let parameters = self.attempt(|parser| {
            let parameters = match parser.is_sign("(") {
                true => parser.parameters()?,
                false => vec![parser.parameter()?],
            };
            parser.eat(arrow).then_some(parameters)
        });
        let parameters = parameters.ok_or_else(|| self.problem())?;
        let body = self.lambda_body()?;
        Ok(Some(closure_node(line, Function { parameters, body, has_it: false })))
    }

    fn lambda_body(&mut self) -> Parsed<Vec<Statement>> {
        let line = self.line();
        if self.eat("{") {
            return self.in_block(|parser| parser.statements("}"));
        }
        let value = self.deeper(Self::expression)?;
        Ok(vec![Statement { line, kind: StatementKind::Return(Some(value)) }])
    }

    /// `function (a, b) { ... }` as an expression, after `function`.
    pub(super) fn function_value(&mut self, line: u32) -> Parsed<Node> {
        let name = self.name_at(0).cloned();
        self.at += usize::from(name.is_some());
        let function = self.function_rest()?;
        Ok(closure_node(line, function))
    }

    /// The parameters and the body of a function.
    pub(super) fn function_rest(&mut self) -> Parsed<Function> {
        let parameters = self.parameters().ok_or_else(|| self.problem())?;
        if self.eat_word("throws") {
            while self.type_name().is_some() {
                self.eat(",");
            }
        }
        self.expect("{")?;
        let body = self.in_block(|parser| parser.statements("}"))?;
        Ok(Function { parameters, body, has_it: false })
    }
}

fn closure_node(line: u32, function: Function) -> Node {
    Node { line, kind: Kind::Closure(Arc::new(function)) }
}
