//! Operators of two values.

use std::cmp::Ordering;

use super::Machine;
use super::fault::{Fault, Outcome, throw};
use crate::pattern::Pattern;
use crate::script::Language;
use crate::script::library::{self, iterable};
use crate::script::tree::Binary;
use crate::script::value::{Decimal, List, Map, Object, Value};

impl Machine<'_> {
    /// What an operator makes of two values.
    pub(crate) fn operate(&mut self, operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
        match operator {
            Binary::Add => self.add(one, two),
            Binary::Subtract | Binary::Multiply | Binary::ShiftLeft
                if !(one.is_number() && two.is_number()) =>
            {
                self.operate_other(operator, one, two)
            }
            Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::Power => self.compute_numbers(operator, one, two),
            Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::ShiftUnsigned
            | Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor => bits(operator, one, two),
            Binary::Equal => Ok(self.is_equal(one, two).into()),
            Binary::Unequal => Ok((!self.is_equal(one, two)).into()),
            Binary::Same => Ok(self.is_identical(one, two).into()),
            Binary::Different => Ok((!self.is_identical(one, two)).into()),
            Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::Compare => self.compare(operator, one, two),
            Binary::Find if self.language == Language::Groovy => library::matcher(self, one, two),
            Binary::Find | Binary::NotFind | Binary::Match => {
                let matches = self.matches(one, two)?;
                Ok(Value::Truth(matches != (operator == Binary::NotFind)))
            }
            Binary::In => self.is_in(one, two).map(Value::Truth),
            Binary::StartsWith => Ok(one.to_string().starts_with(&two.to_string()).into()),
            Binary::EndsWith => Ok(one.to_string().ends_with(&two.to_string()).into()),
            Binary::Range | Binary::RangeBelow => self.range(operator, one, two),
        }
    }

    fn add(&mut self, one: &Value, two: &Value) -> Outcome<Value> {
        if self.is_concatenation(one, two) {
            let mut text = self.written(one);
            text.push_str(&self.written(two));
            return self.text(text);
        }
        match (one, two) {
            (Value::List(list), _) => self.add_to_list(list, two),
            (Value::Map(map), Value::Map(other)) => {
                self.allot((map.len() + other.len()) * 2 * size_of::<Value>())?;
                Ok(Value::Map(Map::new(map.rows().into_iter().chain(other.rows()))))
            }
            (Value::Object(object), _) if object.instant().is_some() => {
                library::moved_days(one, two.as_long().unwrap_or(0))
            }
            _ => self.compute_numbers(Binary::Add, one, two),
        }
    }

    /// Whether `+` puts two texts together.
    fn is_concatenation(&self, one: &Value, two: &Value) -> bool {
        let is_text = |value: &Value| matches!(value, Value::Text(_));
        match self.language {
            Language::Jexl2 => {
                let number = |value: &Value| library::loose_number(value).is_some();
                (is_text(one) || is_text(two)) && !(number(one) && number(two))
            }
            Language::JavaScript => {
                let is_plain = |value: &Value| {
                    value.is_number() || matches!(value, Value::Truth(_) | Value::Null)
                };
                !(is_plain(one) && is_plain(two))
            }
            _ => {
                let is_letter = |value: &Value| matches!(value, Value::Letter(_));
                let is_object =
                    |value: &Value| matches!(value, Value::Object(o) if o.instant().is_none());
                is_text(one)
                    || is_text(two) && !matches!(one, Value::List(_))
                    || is_letter(one) && is_letter(two) && self.language == Language::Groovy
                    || is_object(one)
                        && matches!(one, Value::Object(o) if matches!(**o, Object::Builder(_)))
            }
        }
    }

    fn add_to_list(&mut self, list: &List, two: &Value) -> Outcome<Value> {
        let mut items = list.items();
        match two {
            Value::List(other) => items.extend(other.items()),
            other => items.push(other.clone()),
        }
        let sum = List::new(list.kind(), Vec::new());
        self.add_items(&sum, items)?;
        Ok(Value::List(sum))
    }

    /// `-`, `*` and `<<` of what are no numbers.
    fn operate_other(&mut self, operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
        match (operator, one) {
            (Binary::ShiftLeft, Value::List(_) | Value::Object(_) | Value::Text(_)) => {
                library::left_shift(self, one, two)
            }
            (Binary::Multiply, Value::Text(text)) if self.language == Language::Groovy => {
                let count = usize::try_from(two.as_long().unwrap_or(0)).unwrap_or(0);
                self.allot(text.len().saturating_mul(count))?;
                Ok(Value::text(text.repeat(count)))
            }
            (Binary::Multiply, Value::List(list)) => {
                let count = usize::try_from(two.as_long().unwrap_or(0)).unwrap_or(0);
                self.allot((list.len() * size_of::<Value>()).saturating_mul(count))?;
                {
                    let items = list.items();
                    let all = std::iter::repeat_n(items, count).flatten().collect();
                    Ok(Value::list(all))
                }
            }
            (Binary::Subtract, Value::Text(text)) if self.language == Language::Groovy => {
                self.text(text.replacen(&two.to_string(), "", 1))
            }
            (Binary::Subtract, Value::List(list)) => {
                let without = match two {
                    Value::List(other) => other.items(),
                    other => vec![other.clone()],
                };
                self.spend((list.len() * without.len()) as u64)?;
                let has = |item: &Value| without.iter().any(|other| other.equals(item));
                let items = self.filter(list.items(), |item| !has(item))?;
                self.list(items)
            }
            (Binary::Subtract, Value::Object(object)) if object.instant().is_some() => {
                library::moved_days(one, -two.as_long().unwrap_or(0))
            }
            _ => self.compute_numbers(operator, one, two),
        }
    }

    /// Numbers in the wider of their kinds.
    fn compute_numbers(&mut self, operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
        let (one, two) = (self.as_number(one, operator, two)?, self.as_number(two, operator, one)?);
        if self.language == Language::JavaScript {
            return Ok(javascript(operator, &one, &two));
        }
        let is_double = |value: &Value| matches!(value, Value::Double(_));
        let is_decimal = |value: &Value| matches!(value, Value::Decimal(_));
        if is_double(&one) || is_double(&two) {
            return Ok(Value::Double(double(operator, &one, &two)));
        }
        let divides = operator == Binary::Divide && self.language == Language::Groovy;
        if is_decimal(&one) || is_decimal(&two) || divides {
            return decimal(operator, &one, &two);
        }
        whole(operator, &one, &two)
    }

    /// A value as a number, as the language has it.
    fn as_number(&self, value: &Value, operator: Binary, other: &Value) -> Outcome<Value> {
        let is_loose = self.language.is_jexl() || self.language == Language::JavaScript;
        match value {
            Value::Letter(letter) => Ok(Value::Int(u32::from(*letter) as i32)),
            Value::Object(object) if matches!(**object, Object::Counter(_)) => {
                library::loose_number(value).ok_or_else(|| no_number(value, operator, other))
            }
            number if number.is_number() => Ok(number.clone()),
            Value::Null if self.language == Language::Groovy => Err(throw(
                "NullPointerException",
                format!("Cannot execute null{}{other}", sign(operator)),
            )),
            _ if is_loose => match library::loose_number(value) {
                Some(number) => Ok(number),
                None if self.language == Language::JavaScript => Ok(Value::Double(f64::NAN)),
                None => Err(no_number(value, operator, other)),
            },
            _ => Err(no_number(value, operator, other)),
        }
    }

    pub(super) fn negative(&mut self, value: &Value) -> Outcome<Value> {
        match value {
            Value::Int(number) => Ok(Value::Int(number.wrapping_neg())),
            Value::Double(number) => Ok(Value::Double(-number)),
            other => self.operate(Binary::Subtract, &Value::Int(0), other),
        }
    }

    /// `==`: by their letters and their worth; Java's texts are equal only where they are the same object.
    fn is_equal(&self, one: &Value, two: &Value) -> bool {
        match self.language {
            Language::BeanShell => match (one, two) {
                (Value::Text(_), Value::Text(_)) => one.is_same(two),
                _ => one.equals(two),
            },
            Language::Groovy => one.equals(two),
            _ => self.is_loosely_equal(one, two),
        }
    }

    fn is_loosely_equal(&self, one: &Value, two: &Value) -> bool {
        match (one, two) {
            (Value::Null, _) | (_, Value::Null) | (Value::Text(_), Value::Text(_)) => {
                one.equals(two)
            }
            (Value::Truth(truth), other) | (other, Value::Truth(truth)) => match other {
                Value::Text(text) if self.language.is_jexl() => (**text == *"true") == *truth,
                _ => {
                    let truth = Value::Int(i32::from(*truth));
                    library::loose_number(other).is_some_and(|number| number.equals(&truth))
                }
            },
            _ => match (library::loose_number(one), library::loose_number(two)) {
                (Some(one), Some(two)) => one.equals(&two),
                _ => {
                    one.equals(two) || self.language.is_jexl() && one.to_string() == two.to_string()
                }
            },
        }
    }

    /// `===`: the same object in Groovy, the same kind and worth in JavaScript.
    fn is_identical(&self, one: &Value, two: &Value) -> bool {
        match self.language {
            Language::JavaScript => {
                let is_kind = |value: &Value| (value.is_number(), matches!(value, Value::Text(_)));
                is_kind(one) == is_kind(two) && one.equals(two)
            }
            _ => one.is_same(two),
        }
    }

    fn compare(&mut self, operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
        let is_loose = self.language.is_jexl() || self.language == Language::JavaScript;
        let both_texts = matches!((one, two), (Value::Text(_), Value::Text(_)));
        let order = match is_loose && !both_texts {
            true => match (library::loose_number(one), library::loose_number(two)) {
                (Some(one), Some(two)) => one.order(&two),
                _ => None,
            },
            false => one.order(two),
        };
        let Some(order) = order else {
            let is_nan = is_loose && self.language == Language::JavaScript
                || one.as_double().or(two.as_double()).is_some_and(f64::is_nan);
            return if is_nan { Ok(Value::Truth(false)) } else { Err(no_order(one, two)) };
        };
        Ok(match operator {
            Binary::Less => Value::Truth(order == Ordering::Less),
            Binary::LessEqual => Value::Truth(order != Ordering::Greater),
            Binary::Greater => Value::Truth(order == Ordering::Greater),
            Binary::GreaterEqual => Value::Truth(order != Ordering::Less),
            _ => Value::Int(order as i32),
        })
    }

    /// Whether a pattern matches all of a text; of JEXL also whether a list has it.
    fn matches(&mut self, one: &Value, two: &Value) -> Outcome<bool> {
        if let (true, Value::List(_) | Value::Map(_)) = (self.language.is_jexl(), two) {
            return self.is_in(one, two);
        }
        let text = one.to_string();
        self.spend(text.len() as u64)?;
        let pattern = Pattern::of(&two.to_string())
            .map_err(|error| throw("PatternSyntaxException", error.to_string()))?;
        Ok(pattern.is_whole(&text))
    }

    fn is_in(&mut self, one: &Value, two: &Value) -> Outcome<bool> {
        match two {
            Value::Map(map) => Ok(map.get(one).is_some()),
            Value::Null => Ok(false),
            Value::Class(class) => Ok(library::is_kind_of(one, class)),
            _ => {
                let items = iterable(self, two)?;
                self.spend(items.len() as u64)?;
                Ok(items.iter().any(|item| item.equals(one)))
            }
        }
    }

    fn range(&mut self, operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
        let is_letters = matches!((one, two), (Value::Text(one), Value::Text(two)) if one.len() == 1 && two.len() == 1);
        let bound = |value: &Value| match value {
            Value::Text(text) => text.chars().next().map(|letter| i64::from(u32::from(letter))),
            other => other.as_long(),
        };
        let (Some(from), Some(to)) = (bound(one), bound(two)) else {
            return Err(no_order(one, two));
        };
        let is_below = operator == Binary::RangeBelow;
        let step = if from <= to { 1 } else { -1 };
        let count = from.abs_diff(to).saturating_add(u64::from(!is_below));
        self.allot(
            usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Value>()),
        )?;
        let of = |at: i64| match is_letters {
            true => char::from_u32((from + step * at) as u32)
                .map_or(Value::Null, |l| Value::text(l.to_string())),
            false => Value::whole(from + step * at),
        };
        Ok(Value::list((0..count as i64).map(of).collect()))
    }
}

fn double(operator: Binary, one: &Value, two: &Value) -> f64 {
    let nan = f64::NAN;
    let (one, two) = (one.as_double().unwrap_or(nan), two.as_double().unwrap_or(nan));
    match operator {
        Binary::Add => one + two,
        Binary::Subtract => one - two,
        Binary::Multiply => one * two,
        Binary::Divide => one / two,
        Binary::Remainder => one % two,
        _ => one.powf(two),
    }
}

/// Numbers of JavaScript are floating; those without a fraction are whole here, so that they are written without one.
fn javascript(operator: Binary, one: &Value, two: &Value) -> Value {
    normal(double(operator, one, two))
}

/// A floating number, whole where it has no fraction.
pub(crate) fn normal(number: f64) -> Value {
    let is_whole = number.fract() == 0.0 && number.abs() < 9.0e15;
    if is_whole { Value::whole(number as i64) } else { Value::Double(number) }
}

fn decimal(operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
    let (Some(first), Some(second)) = (one.as_decimal(), two.as_decimal()) else {
        return Ok(Value::Double(double(operator, one, two)));
    };
    let divides = matches!(operator, Binary::Divide | Binary::Remainder);
    if divides && second.is_zero() {
        return Err(throw("ArithmeticException", "Division by zero"));
    }
    let value = match operator {
        Binary::Add => first.sum(second),
        Binary::Subtract => first.difference(second),
        Binary::Multiply => first.product(second),
        Binary::Divide => first.quotient(second),
        Binary::Remainder => first.remainder(second),
        _ => Decimal::of_double(double(operator, one, two)),
    };
    Ok(value.map_or_else(|| Value::Double(double(operator, one, two)), Value::decimal))
}

fn whole(operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
    let (first, second) = (one.as_long().unwrap_or(0), two.as_long().unwrap_or(0));
    let divides = matches!(operator, Binary::Divide | Binary::Remainder);
    if divides && second == 0 {
        return Err(throw("ArithmeticException", "/ by zero"));
    }
    if operator == Binary::Power {
        let exponent = u32::try_from(second).ok();
        let power = exponent.and_then(|exponent| first.checked_pow(exponent));
        return Ok(power.map_or_else(|| Value::Double(double(operator, one, two)), Value::whole));
    }
    let value = match operator {
        Binary::Add => first.wrapping_add(second),
        Binary::Subtract => first.wrapping_sub(second),
        Binary::Multiply => first.wrapping_mul(second),
        Binary::Divide => first.wrapping_div(second),
        _ => first.wrapping_rem(second),
    };
    // Two numbers of 32 bits make one of 32 bits, whatever is lost.
    let is_int = matches!((one, two), (Value::Int(_), Value::Int(_)));
    Ok(if is_int { Value::Int(value as i32) } else { Value::Long(value) })
}

fn bits(operator: Binary, one: &Value, two: &Value) -> Outcome<Value> {
    if let (Value::Truth(one), Value::Truth(two)) = (one, two) {
        return Ok(Value::Truth(match operator {
            Binary::BitAnd => one & two,
            Binary::BitOr => one | two,
            _ => one ^ two,
        }));
    }
    let (Some(first), Some(second)) = (one.as_long(), two.as_long()) else {
        return Err(no_number(one, operator, two));
    };
    let is_long = matches!(one, Value::Long(_));
    let distance = (second & if is_long { 63 } else { 31 }) as u32;
    let value = match operator {
        Binary::ShiftLeft => first << distance,
        Binary::ShiftRight => first >> distance,
        Binary::ShiftUnsigned if is_long => ((first as u64) >> distance) as i64,
        Binary::ShiftUnsigned => i64::from(first as u32 >> distance),
        Binary::BitAnd => first & second,
        Binary::BitOr => first | second,
        _ => first ^ second,
    };
    let is_int = matches!((one, two), (Value::Int(_), Value::Int(_)))
        || matches!(operator, Binary::ShiftLeft | Binary::ShiftUnsigned) && !is_long;
    Ok(if is_int { Value::Int(value as i32) } else { Value::Long(value) })
}

fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        _ => " ",
    }
}

fn no_number(value: &Value, operator: Binary, other: &Value) -> Fault {
    let method = match operator {
        Binary::Add => "plus",
        Binary::Subtract => "minus",
        Binary::Multiply => "multiply",
        Binary::Divide => "div",
        Binary::Remainder => "mod",
        _ => "power",
    };
    super::call::missing_method(
        &library::full_name(value.class()),
        method,
        std::slice::from_ref(other),
    )
}

fn no_order(one: &Value, two: &Value) -> Fault {
    let (first, second) = (one.class(), two.class());
    throw(
        "IllegalArgumentException",
        format!("Cannot compare {first} with value '{one}' and {second} with value '{two}'"),
    )
}
