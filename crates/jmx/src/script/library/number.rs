//! Numbers of texts, and the methods of numbers.

use super::arguments::Arguments;
use crate::script::run::{Fault, Machine, Outcome, throw};
use crate::script::value::{Decimal, Object, Value, lock};

fn no_number(text: &str) -> Fault {
    throw("NumberFormatException", format!("For input string: \"{text}\""))
}

/// `Integer.parseInt`.
pub(super) fn parse_int(text: &str) -> Outcome<Value> {
    text.parse().map(Value::Int).map_err(|_| no_number(text))
}

/// `Long.parseLong`.
pub(super) fn parse_long(text: &str) -> Outcome<Value> {
    text.parse().map(Value::Long).map_err(|_| no_number(text))
}

/// `Double.parseDouble`: spaces around it do not count.
pub(super) fn parse_double(text: &str) -> Outcome<Value> {
    let digits = text.trim();
    let digits = digits.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(digits);
    let is_word = digits.starts_with(|letter: char| letter.is_alphabetic()) && digits != "NaN";
    let number = digits.parse().ok().filter(|_| !is_word);
    number.map(Value::Double).ok_or_else(|| no_number(text))
}

/// `new BigDecimal`.
pub(super) fn parse_decimal(text: &str) -> Outcome<Value> {
    let decimal = Decimal::parse(text).or_else(|| Decimal::of_double(text.parse().ok()?));
    decimal.map(Value::decimal).ok_or_else(|| no_number(text))
}

/// A text as the number that it is written as.
pub(crate) fn parse_number(text: &str) -> Outcome<Value> {
    let digits = text.trim();
    match digits.parse::<i64>() {
        Ok(number) => Ok(Value::whole(number)),
        Err(_) => parse_double(digits),
    }
}

/// A value as a number where a language takes texts for numbers; `None` of what is none.
pub(crate) fn loose_number(value: &Value) -> Option<Value> {
    match value {
        Value::Null => Some(Value::Int(0)),
        Value::Truth(truth) => Some(Value::Int(i32::from(*truth))),
        Value::Text(text) if text.trim().is_empty() => Some(Value::Int(0)),
        Value::Text(text) => parse_number(text).ok(),
        Value::Letter(letter) => parse_number(&letter.to_string()).ok(),
        Value::Object(object) => match &**object {
            Object::Counter(count) => Some(Value::Long(*lock(count))),
            _ => object.instant().map(|instant| Value::Long(instant.unix_ms)),
        },
        number if number.is_number() => Some(number.clone()),
        _ => None,
    }
}

/// A method of a number.
pub(super) fn method(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if let Some(value) = conversion(value, name, call) {
        return Ok(Some(value));
    }
    match (name, call.len()) {
        ("times", 1) | ("upto" | "downto", 2) | ("step", 3) => {
            count(machine, value, name, call).map(Some)
        }
        (
            "plus" | "minus" | "multiply" | "div" | "divide" | "mod" | "remainder" | "add"
            | "subtract" | "intdiv" | "power" | "pow",
            _,
        ) => arithmetic(machine, value, name, call).map(Some),
        ("toString" | "toPlainString", 0) => {
            let text = machine.written(value);
            machine.text(text).map(Some)
        }
        ("toString", 1) => {
            machine.text(in_radix(value.as_long().unwrap_or(0), call.long(0))).map(Some)
        }
        ("toFixed", 1) => {
            let places = usize::try_from(call.long(0)).unwrap_or(0).min(100);
            machine.text(format!("{:.places$}", value.as_double().unwrap_or(0.0))).map(Some)
        }
        ("setScale", 1 | 2) => scaled(value, call),
        ("round", 1) => Ok(rounded(value, call.long(0)).map(|value| match value {
            Value::Decimal(decimal) => Value::Double(decimal.double()),
            other => other,
        })),
        _ => Ok(None),
    }
}

fn rounded(value: &Value, places: i64) -> Option<Value> {
    let places = u32::try_from(places).ok().filter(|places| *places <= 30)?;
    value.as_decimal()?.rounded(places).map(Value::decimal)
}

/// `setScale`: without a mode nothing may be lost.
fn scaled(value: &Value, call: Arguments<'_>) -> Outcome<Option<Value>> {
    let Some(decimal) = value.as_decimal() else { return Ok(None) };
    let places = u32::try_from(call.long(0)).ok().filter(|places| *places <= 30);
    let Some(places) = places else { return Ok(None) };
    let rounded = match call.get(1) {
        Value::Int(number) => {
            let mode = usize::try_from(number).ok().and_then(|at| ROUNDING_MODES.get(at));
            decimal.rounded_by(places, mode.unwrap_or(&"UNNECESSARY"))
        }
        mode => decimal.rounded_by(places, &mode.to_string()),
    };
    let lost = || throw("ArithmeticException", "Rounding necessary");
    rounded.map(|decimal| Some(Value::decimal(decimal))).ok_or_else(lost)
}

/// Java's modes by their numbers.
const ROUNDING_MODES: [&str; 8] =
    ["UP", "DOWN", "CEILING", "FLOOR", "HALF_UP", "HALF_DOWN", "HALF_EVEN", "UNNECESSARY"];

fn conversion(value: &Value, name: &str, call: Arguments<'_>) -> Option<Value> {
    if call.len() > 0 {
        return None;
    }
    let long = || value.as_long();
    Some(match name {
        "intValue" | "toInteger" => Value::Int(long()? as i32),
        "longValue" | "toLong" => Value::Long(long()?),
        "doubleValue" | "toDouble" | "floatValue" | "toFloat" => Value::Double(value.as_double()?),
        "toBigDecimal" => Value::decimal(value.as_decimal()?),
        "abs" => match value {
            Value::Int(number) => Value::Int(number.wrapping_abs()),
            Value::Long(number) => Value::Long(number.wrapping_abs()),
            Value::Double(number) => Value::Double(number.abs()),
            Value::Decimal(decimal) => {
                Value::decimal(Decimal { unscaled: decimal.unscaled.abs(), scale: decimal.scale })
            }
            _ => return None,
        },
        "negate" | "unaryMinus" => match value {
            Value::Int(number) => Value::Int(number.wrapping_neg()),
            Value::Double(number) => Value::Double(-number),
            other => Value::Long(other.as_long()?.wrapping_neg()),
        },
        "round" => Value::Long(value.as_double()?.round() as i64),
        "trunc" => Value::Double(value.as_double()?.trunc()),
        "next" => Value::whole(long()?.wrapping_add(1)),
        "previous" => Value::whole(long()?.wrapping_sub(1)),
        "isNaN" => value.as_double()?.is_nan().into(),
        "isInfinite" => value.as_double()?.is_infinite().into(),
        "stripTrailingZeros" => Value::decimal(value.as_decimal()?.stripped(0)),
        "scale" => Value::Int(value.as_decimal()?.scale as i32),
        "signum" => Value::Int(value.as_double()?.partial_cmp(&0.0)? as i32),
        "toCharacter" => Value::Letter(char::from_u32(long()? as u32)?),
        _ => return None,
    })
}

fn arithmetic(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Value> {
    use crate::script::tree::Binary;
    let operator = match name {
        "plus" | "add" => Binary::Add,
        "minus" | "subtract" => Binary::Subtract,
        "multiply" => Binary::Multiply,
        "mod" | "remainder" => Binary::Remainder,
        "power" | "pow" => Binary::Power,
        _ => Binary::Divide,
    };
    let result = machine.operate(operator, value, &call.get(0))?;
    match (name, result.as_long()) {
        ("intdiv", Some(whole)) => Ok(Value::whole(whole)),
        _ => Ok(result),
    }
}

/// `5.times { }`, `1.upto(5) { }`.
fn count(
    machine: &mut Machine<'_>,
    value: &Value,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Value> {
    let Some(Value::Closure(closure)) = call.all().last().cloned() else { return Ok(Value::Null) };
    let from = value.as_long().unwrap_or(0);
    let (mut at, end, step) = match name {
        "times" => (0, from - 1, 1),
        "upto" => (from, call.long(0), 1),
        "downto" => (from, call.long(0), -1),
        _ => (from, call.long(0) - call.long(1).signum(), call.long(1)),
    };
    if step == 0 {
        return Err(throw("GroovyRuntimeException", "Infinite loop due to step size of 0"));
    }
    while if step > 0 { at <= end } else { at >= end } {
        machine.spend(1)?;
        machine.call(&closure, vec![Value::whole(at)])?;
        at += step;
    }
    Ok(Value::Null)
}

/// A number in the digits of a base.
pub(super) fn in_radix(number: i64, radix: i64) -> String {
    let radix = u64::try_from(radix).ok().filter(|radix| (2..=36).contains(radix)).unwrap_or(10);
    let mut left = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((left % radix) as u32, radix as u32).unwrap_or('0'));
        left /= radix;
        if left == 0 {
            break;
        }
    }
    digits.extend((number < 0).then_some('-'));
    digits.iter().rev().collect()
}
