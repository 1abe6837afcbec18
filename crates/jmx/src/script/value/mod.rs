//! `Value`: what expressions of scripts are worth, in Java's kinds as far as scripts notice them.

mod compare;
mod decimal;
mod flat_drop;
mod list;
mod map;
mod object;
mod text;
mod weight;
mod work;

use std::sync::Arc;

pub(crate) use decimal::Decimal;
pub(crate) use list::{List, ListKind};
pub(crate) use map::Map;
pub(crate) use object::{Instant, InstantKind, Matcher, Object, Thrown, lock};
pub(crate) use text::{byte_values, groovy_text};
pub(crate) use work::{COMPARISONS_MAX, take_comparisons};

use crate::script::context::Host;
use crate::script::run::Closure;

/// A value of a script. Lists, maps and objects are shared by those that hold them, also across threads.
#[derive(Clone, Debug, Default)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Truth(bool),
    /// A whole number of 32 bits.
    Int(i32),
    /// A whole number of 64 bits.
    Long(i64),
    /// A floating number.
    Double(f64),
    /// A decimal number.
    Decimal(Box<Decimal>),
    /// A letter, Java's `char`.
    Letter(char),
    /// A text.
    Text(Arc<str>),
    /// Bytes, Java's `byte[]`.
    Bytes(Arc<[u8]>),
    /// A list, a set or an array.
    List(List),
    /// A map.
    Map(Map),
    /// A block of code that can be called.
    Closure(Arc<Closure>),
    /// An object of a known class.
    Object(Arc<Object>),
    /// A part of the thread that runs the script: `vars`, `prev` and others.
    Host(Host),
    /// A class, by its simple name.
    Class(&'static str),
}

impl Value {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self::Text(text.into())
    }

    /// Bytes.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(Arc::from(bytes))
    }

    /// A list of texts.
    #[must_use]
    pub fn texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self::list(texts.into_iter().map(Self::text).collect())
    }

    /// A map.
    #[must_use]
    pub fn map<'a>(rows: impl IntoIterator<Item = (&'a str, Self)>) -> Self {
        Self::Map(Map::new(rows.into_iter().map(|(key, value)| (Self::text(key), value))))
    }

    pub(crate) fn list(items: Vec<Self>) -> Self {
        Self::List(List::new(ListKind::List, items))
    }

    pub(crate) fn decimal(decimal: Decimal) -> Self {
        Self::Decimal(Box::new(decimal))
    }

    pub(crate) fn object(object: Object) -> Self {
        Self::Object(Arc::new(object))
    }

    pub(crate) fn count(count: usize) -> Self {
        Self::Int(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// A whole number, of 32 bits where that suffices.
    pub(crate) fn whole(number: i64) -> Self {
        i32::try_from(number).map_or(Self::Long(number), Self::Int)
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Long(_) | Self::Double(_) | Self::Decimal(_))
    }

    /// As a whole number; `None` of what is no number.
    #[must_use]
    pub fn as_long(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(i64::from(*number)),
            Self::Long(number) => Some(*number),
            Self::Double(number) => Some(*number as i64),
            Self::Decimal(decimal) => Some(decimal.long()),
            Self::Letter(letter) => Some(i64::from(u32::from(*letter))),
            _ => None,
        }
    }

    pub(crate) fn as_double(&self) -> Option<f64> {
        match self {
            Self::Double(number) => Some(*number),
            Self::Decimal(decimal) => Some(decimal.double()),
            _ => self.as_long().map(|number| number as f64),
        }
    }

    pub(crate) fn as_decimal(&self) -> Option<Decimal> {
        match self {
            Self::Double(number) => Decimal::of_double(*number),
            Self::Decimal(decimal) => Some(**decimal),
            _ => self.as_long().map(Decimal::whole),
        }
    }

    /// Whether it counts for true where a truth is needed: empty texts and lists, zero and nothing do not.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Truth(truth) => *truth,
            Self::Double(number) => *number != 0.0 && !number.is_nan(),
            Self::Decimal(decimal) => !decimal.is_zero(),
            Self::Int(_) | Self::Long(_) | Self::Letter(_) => self.as_long() != Some(0),
            Self::Text(text) => !text.is_empty(),
            Self::Bytes(bytes) => !bytes.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.is_true(),
            Self::Closure(_) | Self::Host(_) | Self::Class(_) => true,
        }
    }

    /// The name of its class in Java.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Truth(_) => "Boolean",
            Self::Int(_) => "Integer",
            Self::Long(_) => "Long",
            Self::Double(_) => "Double",
            Self::Decimal(_) => "BigDecimal",
            Self::Letter(_) => "Character",
            Self::Text(_) => "String",
            Self::Bytes(_) => "byte[]",
            Self::List(list) => list.class(),
            Self::Map(_) => "LinkedHashMap",
            Self::Closure(_) => "Closure",
            Self::Object(object) => object.class(),
            Self::Host(host) => host.class(),
            Self::Class(_) => "Class",
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Self::Truth(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}
