//! What an expression of a script is known to be before the run: a value, a place in an answer, or nothing.

use std::rc::Rc;

use super::tree::Statement;
use crate::{DigestAlgorithm, JsonStep, Source, Text};

/// A value of a script.
#[derive(Debug, Clone)]
pub(super) enum Datum {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    Text(Text),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
    Function(Rc<Function>),
    /// An answer, by its number in the session.
    Answer(usize),
    Headers(usize),
    Cookies(usize),
    /// A part of an answer.
    Part(AnswerPart),
    /// What the program around scripts brings, by its path: `pm.environment`.
    Library(String),
    /// `new Date()`.
    Date,
    /// A number that is new each time, from the first up to the second.
    Random(f64, f64),
    /// A digest, which becomes text by its form.
    Digest {
        algorithm: DigestAlgorithm,
        key: Option<Text>,
        message: Text,
    },
    /// `pm.expect(…)`, and whether `not` stands behind it.
    Expectation(Box<Self>, Polarity),
    Unknown,
}

/// Whether an expectation is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Polarity {
    Holds,
    Fails,
}

/// A function of a script.
#[derive(Debug)]
pub(super) struct Function {
    pub parameters: Vec<String>,
    pub body: Vec<Statement>,
}

/// A part of an answer, which is known when the script runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerPart {
    Json(usize, Vec<JsonStep>),
    Body(usize),
    Status(usize),
    Header(usize, String),
    Cookie(usize, String),
    Time(usize),
}

impl Datum {
    pub(super) fn literal(text: impl Into<String>) -> Self {
        Self::Text(Text::literal(text))
    }

    pub(super) fn source(source: Source) -> Self {
        Self::Text(Text::value(source))
    }

    /// The text that is the same in every run.
    pub(super) fn as_literal(&self) -> Option<String> {
        match self {
            Self::Text(text) => text.as_literal().map(str::to_owned),
            Self::Number(number) => Some(number_text(*number)),
            Self::Boolean(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The value as JSON, if it is the same in every run.
    pub(super) fn as_json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Self::Null => serde_json::Value::Null,
            Self::Boolean(value) => (*value).into(),
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                (*number as i64).into()
            }
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_literal()?.into(),
            Self::Array(items) => {
                items.iter().map(Self::as_json).collect::<Option<Vec<_>>>()?.into()
            }
            Self::Object(members) => {
                let pairs =
                    members.iter().map(|(key, value)| Some((key.clone(), value.as_json()?)));
                serde_json::Value::Object(pairs.collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// The member of an object.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                members.iter().find(|(key, _)| key == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    /// A literal member.
    pub(super) fn text_member(&self, name: &str) -> Option<String> {
        self.member(name).and_then(Self::as_literal)
    }

    /// The value of JSON.
    pub(super) fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Boolean(*value),
            serde_json::Value::Number(number) => Self::Number(number.as_f64().unwrap_or(0.0)),
            serde_json::Value::String(text) => Self::literal(text),
            serde_json::Value::Array(items) => {
                Self::Array(items.iter().map(Self::of_json).collect())
            }
            serde_json::Value::Object(members) => Self::Object(
                members.iter().map(|(key, value)| (key.clone(), Self::of_json(value))).collect(),
            ),
        }
    }
}

/// A number as JavaScript writes it, for those that scripts have.
pub(super) fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{}", number as i64)
    } else {
        number.to_string()
    }
}
