//! Conditions of paths: `[?(@.price < 10 && @.name =~ /a.*/)]`.

use std::cmp::Ordering;

use serde_json::Value;

use super::walk::Walk;
use super::{Path, PathError, plain};
use crate::ending;
use crate::pattern::Pattern;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    Any(Vec<Self>),
    All(Vec<Self>),
    Not(Box<Self>),
    Exists(Operand),
    Compares(Box<Comparison>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    pub(super) left: Operand,
    pub(super) operator: Operator,
    pub(super) right: Operand,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    /// From the value that is looked at.
    Here(Path),
    /// From the document's root.
    Root(Path),
    Literal(Value),
    Pattern(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    LessOrEqual,
    Less,
    GreaterOrEqual,
    Greater,
    Matches,
    In,
    NotIn,
    SubsetOf,
    AnyOf,
    NoneOf,
    Contains,
    Size,
    Empty,
}

const OPERATORS: [(&str, Operator); 17] = [
    ("===", Operator::Equal),
    ("!==", Operator::NotEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<=", Operator::LessOrEqual),
    ("<", Operator::Less),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
    ("=~", Operator::Matches),
    ("in ", Operator::In),
    ("nin ", Operator::NotIn),
    ("subsetof ", Operator::SubsetOf),
    ("anyof ", Operator::AnyOf),
    ("noneof ", Operator::NoneOf),
    ("contains ", Operator::Contains),
    ("size ", Operator::Size),
    ("empty ", Operator::Empty),
];

impl Operator {
    /// The operator that a text begins with, and how it is written; its letters may be large.
    pub(super) fn at(text: &str) -> Option<(&'static str, Self)> {
        let lower = text.to_ascii_lowercase();
        OPERATORS.iter().find(|(word, _)| lower.starts_with(word)).copied()
    }
}

impl Condition {
    pub(super) fn holds(&self, here: &Value, walk: &mut Walk<'_>) -> Result<bool, PathError> {
        Ok(match self {
            Self::Any(all) => {
                for condition in all {
                    if condition.holds(here, walk)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::All(all) => {
                for condition in all {
                    if !condition.holds(here, walk)? {
                        return Ok(false);
                    }
                }
                true
            }
            Self::Not(condition) => !condition.holds(here, walk)?,
            Self::Exists(operand) => operand.value(here, walk)?.is_some(),
            Self::Compares(comparison) => {
                let left = comparison.left.value(here, walk)?;
                match &comparison.right {
                    Operand::Pattern(pattern) => left.is_some_and(|left| matches(pattern, &left)),
                    right => {
                        let right = right.value(here, walk)?;
                        compare(left.as_ref(), comparison.operator, right.as_ref())
                    }
                }
            }
        })
    }
}

impl Operand {
    /// Its value; `None` where a path leads nowhere.
    fn value(&self, here: &Value, walk: &mut Walk<'_>) -> Result<Option<Value>, PathError> {
        let (path, begin) = match self {
            Self::Literal(value) => return Ok(Some(value.clone())),
            Self::Pattern(pattern) => return Ok(Some(pattern.clone().into())),
            Self::Here(path) => (path, here),
            Self::Root(path) => (path, walk.root),
        };
        let mut found = match walk.values(path, begin) {
            Ok(found) => found,
            Err(PathError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        if path.is_definite() {
            return Ok(found.pop());
        }
        Ok((!found.is_empty()).then(|| found.into()))
    }
}

fn matches(pattern: &str, value: &Value) -> bool {
    let Ok(pattern) = Pattern::of(pattern) else { return false };
    match value {
        Value::Array(list) => list.iter().any(|value| pattern.is_whole(&plain(value))),
        Value::String(text) => pattern.is_whole(text),
        Value::Number(_) => pattern.is_whole(&plain(value)),
        _ => false,
    }
}

fn compare(left: Option<&Value>, operator: Operator, right: Option<&Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        let same = left.is_none() && right.is_none();
        return match operator {
            Operator::Equal => same,
            Operator::NotEqual | Operator::NotIn | Operator::NoneOf => !same,
            _ => false,
        };
    };
    let list = right.as_array().map_or(&[][..], Vec::as_slice);
    // Each of one list is compared with each of another.
    let is_in = |value: &Value| !ending::is_over() && list.iter().any(|other| equals(value, other));
    let own = left.as_array().map_or(&[][..], Vec::as_slice);
    let order = || order(left, right);
    match operator {
        Operator::Equal => equals(left, right),
        Operator::NotEqual => !equals(left, right),
        Operator::Less => order() == Some(Ordering::Less),
        Operator::LessOrEqual => order().is_some_and(Ordering::is_le),
        Operator::Greater => order() == Some(Ordering::Greater),
        Operator::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        Operator::Matches => right.as_str().is_some_and(|pattern| matches(pattern, left)),
        Operator::In => is_in(left),
        Operator::NotIn => !is_in(left),
        Operator::SubsetOf => own.iter().all(is_in),
        Operator::AnyOf => own.iter().any(is_in),
        Operator::NoneOf => !own.iter().any(is_in),
        Operator::Contains => match left {
            Value::String(text) => right.as_str().is_some_and(|part| text.contains(part)),
            Value::Array(list) => list.iter().any(|value| equals(value, right)),
            _ => false,
        },
        Operator::Size => length(left).is_some_and(|length| right.as_u64() == Some(length)),
        Operator::Empty => length(left).is_some_and(|length| right.as_bool() == Some(length == 0)),
    }
}

fn length(value: &Value) -> Option<u64> {
    let length = match value {
        Value::Array(list) => list.len(),
        Value::String(text) => text.chars().count(),
        _ => return None,
    };
    Some(length as u64)
}

/// Numbers and texts are one another's equals by what they say.
fn equals(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => left.as_f64() == right.as_f64(),
        (Value::Number(_), Value::String(text)) => {
            text.parse::<f64>().is_ok_and(|number| left.as_f64() == Some(number))
        }
        (Value::String(text), Value::Number(_)) => *text == plain(right),
        _ => left == right,
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        _ => None,
    }
}
