//! Expressions: from assignments down to the operators that bind most.

use super::{Parsed, Parser};
use crate::script::token::TokenKind;
use crate::script::tree::{
    Assignment, Binary, CountOrder, Counting, Kind, Logic, Node, Probe, StepKind,
};
use crate::script::{Language, ScriptProblem};

/// Operators with the value of each.
type Level = &'static [(&'static str, Binary)];

/// Levels of operators, from those that bind least.
const LEVELS: [Level; 9] = [
    &[("|", Binary::BitOr)],
    &[("^", Binary::BitXor)],
    &[("&", Binary::BitAnd)],
    &[
        ("==", Binary::Equal),
        ("!=", Binary::Unequal),
        ("===", Binary::Same),
        ("!==", Binary::Different),
        ("<=>", Binary::Compare),
        ("==~", Binary::Match),
        ("=~", Binary::Find),
        ("!~", Binary::NotFind),
        ("=^", Binary::StartsWith),
        ("=$", Binary::EndsWith),
        ("eq", Binary::Equal),
        ("ne", Binary::Unequal),
    ],
    &[
        ("<", Binary::Less),
        ("<=", Binary::LessEqual),
        (">", Binary::Greater),
        (">=", Binary::GreaterEqual),
        ("lt", Binary::Less),
        ("le", Binary::LessEqual),
        ("gt", Binary::Greater),
        ("ge", Binary::GreaterEqual),
        ("in", Binary::In),
    ],
    &[("..", Binary::Range), ("..<", Binary::RangeBelow)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight), (">>>", Binary::ShiftUnsigned)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[
        ("*", Binary::Multiply),
        ("/", Binary::Divide),
        ("%", Binary::Remainder),
        ("div", Binary::Divide),
        ("mod", Binary::Remainder),
    ],
];

/// The level of comparisons, at which `instanceof` and `as` stand too.
const COMPARISONS: usize = 4;

/// Operators that assign what they compute.
const ASSIGNMENTS: [(&str, Option<Binary>); 13] = [
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Subtract)),
    ("*=", Some(Binary::Multiply)),
    ("/=", Some(Binary::Divide)),
    ("%=", Some(Binary::Remainder)),
    ("**=", Some(Binary::Power)),
    ("&=", Some(Binary::BitAnd)),
    ("|=", Some(Binary::BitOr)),
    ("^=", Some(Binary::BitXor)),
    ("<<=", Some(Binary::ShiftLeft)),
    (">>=", Some(Binary::ShiftRight)),
    (">>>=", Some(Binary::ShiftUnsigned)),
];

impl Parser<'_> {
    /// An expression, an assignment included.
    pub(super) fn expression(&mut self) -> Parsed<Node> {
        let line = self.line();
        let target = self.choice()?;
        if self.is_line_end() {
            return Ok(target);
        }
        if self.is_sign("?=") {
            return self.assign_missing(target, line);
        }
        let found = ASSIGNMENTS.iter().find(|(sign, _)| self.is_sign(sign));
        let Some((_, operator)) = found else { return Ok(target) };
        if !is_target(&target) {
            return Err(self.problem());
        }
        self.at += 1;
        if let Kind::Name(name) = &target.kind {
            self.names.declare(name);
        }
        let value = self.deeper(Self::expression)?;
        let assignment = Assignment { target, operator: *operator, value };
        Ok(Node { line, kind: Kind::Assign(Box::new(assignment)) })
    }

    /// `x ?= y` is refused: it needs its target twice.
    fn assign_missing(&mut self, _: Node, _: u32) -> Parsed<Node> {
        Err(self.refused("the operator ?="))
    }

    /// `a ? b : c`, `a ?: b`.
    fn choice(&mut self) -> Parsed<Node> {
        let line = self.line();
        let condition = self.logic(Logic::Or)?;
        if self.eat("?:") {
            let other = self.deeper(Self::choice)?;
            return Ok(Node { line, kind: Kind::Elvis(Box::new([condition, other])) });
        }
        if !self.eat("?") {
            return Ok(condition);
        }
        let then = self.bracketed(Self::expression)?;
        self.expect(":")?;
        let other = self.deeper(Self::choice)?;
        Ok(Node { line, kind: Kind::Choice(Box::new([condition, then, other])) })
    }

    fn logic(&mut self, logic: Logic) -> Parsed<Node> {
        let line = self.line();
        let (sign, word) = if logic == Logic::Or { ("||", "or") } else { ("&&", "and") };
        let mut parts = Vec::new();
        loop {
            parts.push(match logic {
                Logic::Or => self.logic(Logic::And)?,
                Logic::And => self.binary(0)?,
            });
            let goes_on = self.eat(sign) || (self.language.is_jexl() && self.eat_word(word));
            if !goes_on {
                break;
            }
        }
        if parts.len() > 1 {
            return Ok(Node { line, kind: Kind::Logic(logic, parts) });
        }
        Ok(parts.swap_remove(0))
    }

    /// Operators of a level and of those that bind more: these first.
    fn binary(&mut self, level: usize) -> Parsed<Node> {
        let line = self.line();
        let mut node = self.unary()?;
        for at in (level..LEVELS.len()).rev() {
            if at == COMPARISONS {
                node = self.kinds(node)?;
            }
            let mut rest = Vec::new();
            while let Some(operator) = self.operator(LEVELS[at]) {
                self.at += 1;
                rest.push((operator, self.binary(at + 1)?));
            }
            if !rest.is_empty() {
                node = Node { line, kind: Kind::Chain(Box::new(node), rest) };
            }
        }
        Ok(node)
    }

    /// The operator of a level that is next.
    fn operator(&self, operators: Level) -> Option<Binary> {
        if self.is_line_end() {
            return None;
        }
        let (word, is_word) = match &self.token().kind {
            TokenKind::Sign(sign) => (*sign, false),
            TokenKind::Name(name) => (&**name, true),
            _ => return None,
        };
        let is_known =
            !is_word || if word == "in" { self.is_groovy() } else { self.language.is_jexl() };
        let found = operators.iter().find(|(known, _)| *known == word && is_known)?;
        // Two signs of equality are one in JavaScript, but for the texts of numbers.
        Some(found.1)
    }

    /// `x instanceof C`, `x as C`.
    fn kinds(&mut self, mut node: Node) -> Parsed<Node> {
        // Each stands around those before it: as deep as brackets.
        let mut left = super::DEPTH_MAX;
        while !self.is_line_end() {
            let line = self.line();
            let is_kind = self.is_word("instanceof") || (self.is_groovy() && self.is_word("as"));
            left = left.checked_sub(is_kind.into()).ok_or(ScriptProblem::Deep { line })?;
            if self.eat_word("instanceof") {
                let class = self.class_name()?;
                node = Node { line, kind: Kind::Is(Box::new(node), class) };
            } else if self.is_groovy() && self.eat_word("as") {
                let kind = self.type_name().ok_or_else(|| self.problem())?.kind;
                node = Node { line, kind: Kind::Cast(kind, Box::new(node)) };
            } else {
                break;
            }
        }
        Ok(node)
    }

    /// The name of a class; one that is not known is noted.
    fn class_name(&mut self) -> Parsed<&'static str> {
        let line = self.line();
        let found = self.type_name().ok_or_else(|| self.problem())?;
        let class = self.names.class(&found.name);
        if class.is_none() {
            self.names.refuse(&found.name, line);
        }
        Ok(class.unwrap_or("Object"))
    }

    /// Signs before an operand.
    pub(super) fn unary(&mut self) -> Parsed<Node> {
        let line = self.line();
        let of =
            |node: Node, kind: fn(Box<Node>) -> Kind| Node { line, kind: kind(Box::new(node)) };
        let is_not = self.language.is_jexl() && self.is_word("not");
        if is_not || self.is_sign("!") {
            self.at += 1;
            return Ok(of(self.deeper(Self::unary)?, Kind::Not));
        }
        if self.eat("-") {
            return Ok(of(self.deeper(Self::unary)?, Kind::Minus));
        }
        if self.eat("+") {
            return self.deeper(Self::unary);
        }
        if self.eat("~") {
            return Ok(of(self.deeper(Self::unary)?, Kind::Tilde));
        }
        if let Some(by) = self.counting() {
            let target = self.deeper(Self::unary)?;
            return self.count(target, line, Counting { by, order: CountOrder::After });
        }
        if self.language == Language::JavaScript && self.eat_word("typeof") {
            let operand = self.deeper(Self::unary)?;
            return Ok(Node { line, kind: Kind::Probe(Probe::TypeOf, Box::new(operand)) });
        }
        self.power()
    }

    /// `++` or `--`, as what is added.
    fn counting(&mut self) -> Option<i32> {
        if self.eat("++") {
            return Some(1);
        }
        self.eat("--").then_some(-1)
    }

    fn count(&self, target: Node, line: u32, counting: Counting) -> Parsed<Node> {
        match is_target(&target) {
            true => Ok(Node { line, kind: Kind::Count(Box::new(target), counting) }),
            false => Err(self.problem()),
        }
    }

    /// `a ** b`, and what counts after its operand.
    fn power(&mut self) -> Parsed<Node> {
        let line = self.line();
        let mut node = self.path()?;
        if !self.is_line_end()
            && let Some(by) = self.counting()
        {
            node = self.count(node, line, Counting { by, order: CountOrder::Before })?;
        }
        if !self.is_line_end() && self.eat("**") {
            let exponent = self.deeper(Self::unary)?;
            let rest = vec![(Binary::Power, exponent)];
            return Ok(Node { line, kind: Kind::Chain(Box::new(node), rest) });
        }
        Ok(node)
    }
}

/// Whether something can be assigned to.
fn is_target(node: &Node) -> bool {
    match &node.kind {
        Kind::Name(_) => true,
        Kind::Path(_, steps) => {
            let last = steps.last().map(|step| &step.kind);
            matches!(last, Some(StepKind::Member(_) | StepKind::Index(_)))
        }
        _ => false,
    }
}
