//! Values in the kinds of declarations and casts.

use std::sync::Arc;

use super::Machine;
use super::fault::{Fault, Outcome, throw};
use crate::script::Language;
use crate::script::library::{iterable, parse_number};
use crate::script::tree::Type;
use crate::script::value::{List, ListKind, Value};

impl Machine<'_> {
    /// A value as a declaration wants it. Nothing stays nothing.
    pub(super) fn converted(&mut self, kind: Type, value: Value) -> Outcome<Value> {
        let kind = self.boxed(kind, &value)?;
        match (kind, &value) {
            (Type::Any, _) | (_, Value::Null) => Ok(value),
            (Type::Text, Value::Text(_)) => Ok(value),
            (Type::Text, _) if self.language == Language::Groovy => {
                let text = self.written(&value);
                self.text(text)
            }
            (
                Type::Int | Type::Long | Type::Double | Type::Decimal | Type::Short | Type::Byte,
                Value::Text(_),
            ) => Err(cast_fault(&value, kind)),
            (Type::List | Type::Set | Type::Array | Type::Text, _) if !is_items(&value) => {
                Ok(value)
            }
            (Type::List, Value::List(list)) if list.kind() != ListKind::Array => Ok(value),
            (Type::Truth, _) if self.language != Language::Groovy => Ok(value),
            (Type::Letter, Value::Text(_)) if self.language != Language::Groovy => Ok(value),
            _ => self.cast(kind, value),
        }
    }

    /// The class that a value is converted to. Groovy has no place for nothing in a type of Java's own.
    fn boxed(&self, kind: Type, value: &Value) -> Outcome<Type> {
        match kind {
            Type::Bare(bare) if value.is_null() && self.language == Language::Groovy => {
                let (name, class) = bare.names();
                Err(throw(
                    "GroovyCastException",
                    format!(
                        "Cannot cast object 'null' with class 'null' to class '{name}'. Try 'java.lang.{class}' instead"
                    ),
                ))
            }
            Type::Bare(bare) => Ok(bare.boxed()),
            kind => Ok(kind),
        }
    }

    /// A value as a cast wants it.
    pub(super) fn cast(&mut self, kind: Type, value: Value) -> Outcome<Value> {
        let kind = self.boxed(kind, &value)?;
        if value.is_null() && kind != Type::Truth {
            return Ok(value);
        }
        match kind {
            Type::Any | Type::Bare(_) => Ok(value),
            Type::Short => {
                number(&value, kind, |value| Some(Value::Int(i32::from(value.as_long()? as i16))))
            }
            Type::Int => number(&value, kind, |value| Some(Value::Int(value.as_long()? as i32))),
            Type::Byte => {
                number(&value, kind, |value| Some(Value::Int(i32::from(value.as_long()? as i8))))
            }
            Type::Long => number(&value, kind, |value| value.as_long().map(Value::Long)),
            Type::Double => number(&value, kind, |value| value.as_double().map(Value::Double)),
            Type::Decimal => number(&value, kind, |value| value.as_decimal().map(Value::decimal)),
            Type::Truth => Ok(Value::Truth(value.is_true())),
            Type::Letter => letter(&value).ok_or_else(|| cast_fault(&value, kind)),
            Type::Text => match value {
                Value::Text(_) => Ok(value),
                other => {
                    let text = self.written(&other);
                    self.text(text)
                }
            },
            Type::Bytes => self.byte_array(value),
            Type::List => self.items_as(ListKind::List, value),
            Type::Set => self.items_as(ListKind::Set, value),
            Type::Array => self.items_as(ListKind::Array, value),
        }
    }

    fn items_as(&mut self, kind: ListKind, value: Value) -> Outcome<Value> {
        if matches!(&value, Value::List(list) if list.kind() == kind) {
            return Ok(value);
        }
        let items = iterable(self, &value)?;
        let list = List::new(kind, Vec::new());
        self.add_items(&list, items)?;
        Ok(Value::List(list))
    }

    fn byte_array(&mut self, value: Value) -> Outcome<Value> {
        match &value {
            Value::List(list) => {
                let items = list.items();
                let bytes: Option<Vec<u8>> =
                    items.iter().map(|item| item.as_long().map(|byte| byte as u8)).collect();
                let bytes = bytes.ok_or_else(|| cast_fault(&value, Type::Bytes))?;
                Ok(Value::Bytes(Arc::from(bytes)))
            }
            _ => Ok(value),
        }
    }
}

fn is_items(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Bytes(_) | Value::Map(_))
}

/// A number of a kind, of a number or of a text that is one.
fn number(value: &Value, kind: Type, of: fn(&Value) -> Option<Value>) -> Outcome<Value> {
    let parsed = match value {
        Value::Text(text) => parse_number(text)?,
        Value::Truth(_) => return Err(cast_fault(value, kind)),
        other => other.clone(),
    };
    of(&parsed).ok_or_else(|| cast_fault(value, kind))
}

fn letter(value: &Value) -> Option<Value> {
    match value {
        Value::Letter(_) => Some(value.clone()),
        Value::Text(text) => {
            let mut letters = text.chars();
            let first = letters.next()?;
            letters.next().is_none().then_some(Value::Letter(first))
        }
        other => char::from_u32(other.as_long()? as u32).map(Value::Letter),
    }
}

fn cast_fault(value: &Value, kind: Type) -> Fault {
    let class = value.class();
    throw(
        "GroovyCastException",
        format!("Cannot cast object '{value}' with class '{class}' to class '{kind:?}'"),
    )
}
