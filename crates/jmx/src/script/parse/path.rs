//! Paths: an operand, and what is looked up and called in it.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::script::Language;
use crate::script::token::TokenKind;
use crate::script::tree::{Kind, Node, Step, StepKind, StepReach};
use crate::script::value::Value;

impl Parser<'_> {
    /// An operand with its steps.
    pub(super) fn path(&mut self) -> Parsed<Node> {
        let line = self.line();
        let first = self.operand()?;
        let mut steps = Vec::new();
        while let Some(step) = self.step()? {
            steps.push(step);
        }
        match steps.is_empty() {
            true => Ok(first),
            false => Ok(Node { line, kind: Kind::Path(Box::new(first), steps) }),
        }
    }

    fn step(&mut self) -> Parsed<Option<Step>> {
        let line = self.line();
        let reach = match &self.token().kind {
            TokenKind::Sign(".") => StepReach::Plain,
            TokenKind::Sign("?.") => StepReach::Safe,
            TokenKind::Sign("*.") if self.is_groovy() => StepReach::Spread,
            TokenKind::Sign(".&" | ".@" | "::") => {
                return Err(self.refused("references to methods"));
            }
            _ => return self.bracket_step(line),
        };
        self.at += 1;
        let name = self.member()?;
        if self.is_sign("<") {
            // Types of a call's own: `Collections.<String>emptyList()`.
            self.attempt(|parser| parser.generics().filter(|()| parser.is_sign("(")));
        }
        let kind = match self.call_arguments()? {
            Some(arguments) => StepKind::Method(name, arguments),
            None => StepKind::Member(name),
        };
        Ok(Some(Step { line, reach, kind }))
    }

    /// The name of a member; Groovy has them in quotes too.
    fn member(&mut self) -> Parsed<Arc<str>> {
        if let TokenKind::Literal(Value::Text(text)) = &self.token().kind {
            self.at += 1;
            return Ok(text.clone());
        }
        self.name()
    }

    /// `[...]`, `?[...]`, and `(...)` of what a closure is.
    fn bracket_step(&mut self, line: u32) -> Parsed<Option<Step>> {
        let reach = StepReach::Plain;
        if self.is_line_end() {
            return Ok(None);
        }
        if self.eat("[") {
            let place = self.bracketed(|parser| {
                let mut items = parser.items("]")?;
                let is_one = items.len() == 1;
                let many = |items| Node { line, kind: Kind::List(items) };
                Ok(if is_one { items.swap_remove(0) } else { many(items) })
            })?;
            return Ok(Some(Step { line, reach, kind: StepKind::Index(Box::new(place)) }));
        }
        if self.is_sign("(") {
            let arguments = self.call_arguments()?.unwrap_or_default();
            return Ok(Some(Step { line, reach, kind: StepKind::Invoke(arguments) }));
        }
        Ok(None)
    }

    /// The arguments of a call: in brackets, closures after them; `None` where nothing is called.
    pub(super) fn call_arguments(&mut self) -> Parsed<Option<Vec<Node>>> {
        let has_brackets = self.is_sign("(") && !self.is_line_end();
        let mut arguments =
            if has_brackets { self.bracketed(Self::arguments)? } else { Vec::new() };
        let mut is_call = has_brackets;
        while self.is_groovy()
            && self.is_sign("{")
            && !self.token().opens_line
            && self.takes_block()
        {
            let line = self.line();
            self.at += 1;
            arguments.push(self.closure(line)?);
            is_call = true;
        }
        Ok(is_call.then_some(arguments))
    }

    /// Whether a block here is a closure: the conditions of statements are in brackets, so it is.
    fn takes_block(&self) -> bool {
        self.language == Language::Groovy
    }

    /// Arguments, from `(` to `)`; those with names are a map before the others.
    fn arguments(&mut self) -> Parsed<Vec<Node>> {
        let line = self.line();
        self.expect("(")?;
        let (mut arguments, mut rows) = (Vec::new(), Vec::new());
        while !self.eat(")") {
            if self.is_groovy() && self.is_map_key() {
                let key = self.map_key()?;
                self.expect(":")?;
                rows.push((key, self.expression()?));
            } else {
                arguments.push(self.expression()?);
            }
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        if !rows.is_empty() {
            arguments.insert(0, Node { line, kind: Kind::Map(rows) });
        }
        Ok(arguments)
    }
}
