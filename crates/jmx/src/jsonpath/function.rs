//! Functions at the end of paths: `$.a.length()`.

use serde_json::{Number, Value};

use super::PathError;

/// What is computed of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Minimum,
    Maximum,
    Average,
    Sum,
    Deviation,
    Keys,
    First,
    Last,
    Index(i64),
    Concatenation,
}

impl Function {
    pub(super) fn of(name: &str, argument: &str) -> Option<Self> {
        Some(match name {
            "length" | "size" => Self::Length,
            "min" => Self::Minimum,
            "max" => Self::Maximum,
            "avg" => Self::Average,
            "sum" => Self::Sum,
            "stddev" => Self::Deviation,
            "keys" => Self::Keys,
            "first" => Self::First,
            "last" => Self::Last,
            "index" => Self::Index(argument.parse().ok()?),
            "concat" => Self::Concatenation,
            _ => return None,
        })
    }

    /// Its value.
    pub(super) fn compute(self, value: &Value) -> Result<Value, PathError> {
        let list = value.as_array().map_or(&[][..], Vec::as_slice);
        let numbers: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let number = match self {
            Self::Length => {
                return Ok(match value {
                    Value::Array(list) => list.len().into(),
                    Value::Object(fields) => fields.len().into(),
                    Value::String(text) => text.chars().count().into(),
                    _ => Value::Null,
                });
            }
            Self::Keys => {
                let keys = value.as_object().map(|fields| fields.keys().cloned().collect());
                return Ok(keys.unwrap_or(Value::Null));
            }
            Self::First => return at(list, 0),
            Self::Last => return at(list, -1),
            Self::Index(index) => return at(list, index),
            Self::Concatenation => {
                let texts = list.iter().filter_map(Value::as_str);
                return Ok(texts.collect::<String>().into());
            }
            _ if numbers.is_empty() => {
                let message = "Aggregation function attempted to calculate value using empty array";
                return Err(PathError::NotFound(message.to_owned()));
            }
            Self::Minimum => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Maximum => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Average => mean,
            Self::Sum => numbers.iter().sum(),
            Self::Deviation => {
                let squares: f64 = numbers.iter().map(|number| number * number).sum();
                (squares / count - mean * mean).max(0.0).sqrt()
            }
        };
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }
}

fn at(list: &[Value], index: i64) -> Result<Value, PathError> {
    let index = if index < 0 { index + list.len() as i64 } else { index };
    let value = usize::try_from(index).ok().and_then(|index| list.get(index));
    value.cloned().ok_or_else(|| PathError::NotFound(format!("Index out of bounds: {index}")))
}
