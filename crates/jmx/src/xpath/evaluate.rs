//! Evaluates expressions on a tree.

use super::functions;
use super::parse::{Axis, Begin, Expression, Step, Test};
use super::tree::{Kind, Tree};
use super::{Names, XPathError};
use crate::ending;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Nodes of the tree, in its order.
    Nodes(Vec<usize>),
    Text(String),
    Number(f64),
    Truth(bool),
    /// A sequence, as XPath 2 has them.
    List(Vec<Self>),
}

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) node: usize,
    /// From 1.
    pub(super) position: usize,
    pub(super) size: usize,
}

pub(super) struct Evaluator<'a> {
    pub(super) tree: &'a Tree,
    pub(super) names: Names<'a>,
    variables: Vec<(String, Value)>,
    visited: usize,
}

/// Nodes that one expression looks at, at most.
const VISITED_MAX: usize = 1_000_000;

impl<'a> Evaluator<'a> {
    pub(super) fn new(tree: &'a Tree, names: Names<'a>) -> Self {
        Self { tree, names, variables: Vec::new(), visited: 0 }
    }

    fn visit(&mut self, count: usize) -> Result<(), XPathError> {
        self.visited += count;
        match self.visited > VISITED_MAX {
            _ if ending::is_over() => Err(XPathError::Ended),
            true => Err(XPathError::TooLong),
            false => Ok(()),
        }
    }

    pub(super) fn value(
        &mut self,
        expression: &Expression,
        place: Place,
    ) -> Result<Value, XPathError> {
        Ok(match expression {
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Number(number) => Value::Number(*number),
            Expression::Variable(name) => {
                let found = self.variables.iter().rev().find(|(known, _)| known == name);
                let found = found.map(|(_, value)| value.clone());
                found.ok_or_else(|| XPathError::Unknown { name: format!("${name}") })?
            }
            Expression::Minus(inner) => {
                let value = self.value(inner, place)?;
                Value::Number(-self.number(&value))
            }
            Expression::Binary(operator, left, right) => {
                self.binary(operator, left, right, place)?
            }
            Expression::Call(name, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push(self.value(argument, place)?);
                }
                functions::call(self, name, &values, place)?
            }
            Expression::List(all) => {
                let mut items = Vec::new();
                for one in all {
                    let value = self.value(one, place)?;
                    items.extend(self.items(value));
                }
                Value::List(items)
            }
            Expression::If(condition, one, other) => {
                let condition = self.value(condition, place)?;
                let chosen = if self.truth(&condition) { one } else { other };
                self.value(chosen, place)?
            }
            Expression::For(name, list, body) => {
                let list = self.value(list, place)?;
                let mut items = Vec::new();
                for item in self.items(list) {
                    self.visit(1)?;
                    self.variables.push((name.clone(), item));
                    let value = self.value(body, place);
                    self.variables.pop();
                    items.extend(self.items(value?));
                }
                Value::List(items)
            }
            Expression::Path(begin, steps) => self.path(begin, steps, place)?,
        })
    }

    /// A value as its items.
    pub(super) fn items(&self, value: Value) -> Vec<Value> {
        match value {
            Value::Nodes(nodes) => nodes.into_iter().map(|node| Value::Nodes(vec![node])).collect(),
            Value::List(items) => items,
            single => vec![single],
        }
    }

    fn path(&mut self, begin: &Begin, steps: &[Step], place: Place) -> Result<Value, XPathError> {
        let mut value = match begin {
            Begin::Root => Value::Nodes(vec![0]),
            Begin::Here => Value::Nodes(vec![place.node]),
            Begin::At(expression) => self.value(expression, place)?,
        };
        for step in steps {
            value = match step {
                Step::Axis(axis, test, predicates) => {
                    let Value::Nodes(nodes) = value else { return Err(XPathError::NoNodes) };
                    let mut found = Vec::new();
                    for node in nodes {
                        let mut reached = self.axis(*axis, test, node)?;
                        for predicate in predicates {
                            reached = self.filter(reached, predicate)?;
                        }
                        found.extend(reached);
                    }
                    found.sort_unstable();
                    found.dedup();
                    Value::Nodes(found)
                }
                Step::Predicate(predicate) => match value {
                    Value::Nodes(nodes) => Value::Nodes(self.filter(nodes, predicate)?),
                    value => self.filter_items(value, predicate)?,
                },
                Step::Each(expression) => {
                    let Value::Nodes(nodes) = value else { return Err(XPathError::NoNodes) };
                    let size = nodes.len();
                    let mut items = Vec::new();
                    for (at, node) in nodes.into_iter().enumerate() {
                        let place = Place { node, position: at + 1, size };
                        let value = self.value(expression, place)?;
                        items.extend(self.items(value));
                    }
                    Value::List(items)
                }
            };
        }
        Ok(value)
    }

    /// Those for which a predicate holds; they come in the order of their axis.
    fn filter(
        &mut self,
        nodes: Vec<usize>,
        predicate: &Expression,
    ) -> Result<Vec<usize>, XPathError> {
        let size = nodes.len();
        let mut left = Vec::new();
        for (at, node) in nodes.into_iter().enumerate() {
            self.visit(1)?;
            let value = self.value(predicate, Place { node, position: at + 1, size })?;
            if self.selects(&value, at + 1) {
                left.push(node);
            }
        }
        Ok(left)
    }

    fn filter_items(&mut self, value: Value, predicate: &Expression) -> Result<Value, XPathError> {
        let items = self.items(value);
        let size = items.len();
        let mut left = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            self.visit(1)?;
            let value = self.value(predicate, Place { node: 0, position: at + 1, size })?;
            if self.selects(&value, at + 1) {
                left.push(item);
            }
        }
        Ok(Value::List(left))
    }

    fn selects(&self, value: &Value, position: usize) -> bool {
        match value {
            Value::Number(number) => *number == position as f64,
            other => self.truth(other),
        }
    }

    /// The nodes of an axis, in its order.
    fn axis(&mut self, axis: Axis, test: &Test, node: usize) -> Result<Vec<usize>, XPathError> {
        let tree = self.tree;
        let own = &tree.nodes[node];
        let is_inner = |at: &usize| tree.nodes[*at].kind != Kind::Attribute;
        let ancestors = || std::iter::successors(Some(node), |at| tree.nodes[*at].parent).skip(1);
        let siblings = || own.parent.into_iter().flat_map(|parent| tree.children(parent));
        let reached: Vec<usize> = match axis {
            Axis::Child => tree.children(node).collect(),
            Axis::Descendant => (node + 1..own.end).filter(is_inner).collect(),
            Axis::DescendantOrSelf => {
                (node..own.end).filter(|at| *at == node || is_inner(at)).collect()
            }
            Axis::Parent => own.parent.into_iter().collect(),
            Axis::Ancestor => ancestors().collect(),
            Axis::AncestorOrSelf => std::iter::once(node).chain(ancestors()).collect(),
            Axis::Own => vec![node],
            Axis::Attribute => (node + 1..own.end)
                .take_while(|at| tree.nodes[*at].kind == Kind::Attribute)
                .collect(),
            Axis::Following => (own.end..tree.nodes.len()).filter(is_inner).collect(),
            Axis::Preceding => {
                (0..node).rev().filter(|at| is_inner(at) && tree.nodes[*at].end <= node).collect()
            }
            Axis::FollowingSibling => siblings().filter(|at| *at > node).collect(),
            Axis::PrecedingSibling => {
                let mut before: Vec<usize> = siblings().filter(|at| *at < node).collect();
                before.reverse();
                before
            }
        };
        self.visit(reached.len() + 1)?;
        let kind = if axis == Axis::Attribute { Kind::Attribute } else { Kind::Element };
        Ok(reached.into_iter().filter(|at| self.passes(*at, test, kind)).collect())
    }

    fn passes(&self, at: usize, test: &Test, kind: Kind) -> bool {
        let node = &self.tree.nodes[at];
        let in_namespace = |prefix: &str| match self.names.uri(self.tree, prefix) {
            _ if prefix == "*" => true,
            Some(uri) => node.namespace == uri,
            None => node.prefix.as_deref() == Some(prefix),
        };
        match test {
            Test::Node => true,
            Test::Text => node.kind == Kind::Text,
            Test::Comment => node.kind == Kind::Comment,
            Test::Instruction => node.kind == Kind::Instruction,
            Test::Any(prefix) => node.kind == kind && prefix.as_deref().is_none_or(in_namespace),
            Test::Name(prefix, name) => {
                node.kind == kind
                    && node.name == *name
                    && match prefix {
                        Some(prefix) => in_namespace(prefix),
                        None => self.names.ignores_namespaces || node.namespace.is_empty(),
                    }
            }
        }
    }

    fn binary(
        &mut self,
        operator: &'static str,
        left: &Expression,
        right: &Expression,
        place: Place,
    ) -> Result<Value, XPathError> {
        let left = self.value(left, place)?;
        match operator {
            "or" if self.truth(&left) => return Ok(Value::Truth(true)),
            "and" if !self.truth(&left) => return Ok(Value::Truth(false)),
            _ => {}
        }
        let right = self.value(right, place)?;
        let (one, other) = (self.number(&left), self.number(&right));
        Ok(match operator {
            "or" | "and" => Value::Truth(self.truth(&right)),
            "+" => Value::Number(one + other),
            "-" => Value::Number(one - other),
            "*" => Value::Number(one * other),
            "div" => Value::Number(one / other),
            "idiv" => Value::Number((one / other).trunc()),
            "mod" => Value::Number(one % other),
            "||" => Value::Text(self.text(&left) + &self.text(&right)),
            "to" => {
                self.visit((other - one).max(0.0) as usize)?;
                let numbers = one as i64..=other as i64;
                Value::List(numbers.map(|number| Value::Number(number as f64)).collect())
            }
            "|" => match (left, right) {
                (Value::Nodes(mut nodes), Value::Nodes(more)) => {
                    nodes.extend(more);
                    nodes.sort_unstable();
                    nodes.dedup();
                    Value::Nodes(nodes)
                }
                _ => return Err(XPathError::NoNodes),
            },
            comparison => Value::Truth(self.compare(comparison, left, right)?),
        })
    }

    /// Whether a comparison holds for any pair of items.
    fn compare(&mut self, operator: &str, left: Value, right: Value) -> Result<bool, XPathError> {
        if let (Value::Truth(_), _) | (_, Value::Truth(_)) = (&left, &right) {
            let (one, other) = (self.truth(&left), self.truth(&right));
            return Ok(holds(operator, f64::from(u8::from(one)), f64::from(u8::from(other))));
        }
        let (left, right) = (self.items(left), self.items(right));
        for one in &left {
            for other in &right {
                self.visit(1)?;
                let by_number = matches!(one, Value::Number(_))
                    || matches!(other, Value::Number(_))
                    || !matches!(operator, "=" | "!=" | "eq" | "ne");
                let is_met = match by_number {
                    true => holds(operator, self.number(one), self.number(other)),
                    false => (self.text(one) == self.text(other)) == matches!(operator, "=" | "eq"),
                };
                if is_met {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// A value as a text.
    pub(super) fn text(&self, value: &Value) -> String {
        match value {
            Value::Nodes(nodes) => {
                nodes.first().map_or_else(String::new, |node| self.tree.text_of(*node))
            }
            Value::Text(text) => text.clone(),
            Value::Number(number) if number.is_nan() => "NaN".to_owned(),
            Value::Number(number) if number.is_infinite() => {
                if *number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
            }
            Value::Number(number) if *number == 0.0 => "0".to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
            Value::List(items) => items.first().map_or_else(String::new, |item| self.text(item)),
        }
    }

    /// A value as a number.
    pub(super) fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(u8::from(*truth)),
            other => {
                let text = self.text(other);
                let text = text.trim();
                let is_number = text.chars().all(|letter| "0123456789.-".contains(letter));
                if is_number { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
            }
        }
    }

    /// A value as a truth value.
    pub(super) fn truth(&self, value: &Value) -> bool {
        match value {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Truth(truth) => *truth,
            Value::List(items) => match items.as_slice() {
                [] => false,
                [single] => self.truth(single),
                _ => true,
            },
        }
    }
}

fn holds(operator: &str, one: f64, other: f64) -> bool {
    match operator {
        "=" | "eq" => one == other,
        "!=" | "ne" => one != other,
        "<" | "lt" => one < other,
        "<=" | "le" => one <= other,
        ">" | "gt" => one > other,
        _ => one >= other,
    }
}
