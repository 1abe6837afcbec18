//! The fields of options: JSON in, typed values out, or which field is wrong.

use serde_json::{Map, Value};
use stdx::Nanos;

use super::error::{OptionsError, Result, wrong};

/// Options as JSON, by k6's names.
pub type Fields = Map<String, Value>;

/// A time as k6's options write it: with units, days among them, or a number of milliseconds.
#[must_use]
pub fn time_of(text: &str) -> Option<Nanos> {
    if let Ok(milliseconds) = text.parse::<f64>() {
        let is_time = milliseconds.is_finite() && milliseconds >= 0.0;
        return is_time.then(|| Nanos::from_secs_f64(milliseconds / 1e3));
    }
    let Some((days, rest)) = text.split_once('d') else { return Nanos::parse(text).ok() };
    let days: u64 = days.parse().ok()?;
    let rest = if rest.is_empty() { Nanos::ZERO } else { Nanos::parse(rest).ok()? };
    days.checked_mul(24 * 3600).map(|seconds| Nanos::from_secs(seconds).saturating_add(rest))
}

/// A time: a text with units, or milliseconds.
pub(super) fn time(fields: &Fields, name: &str) -> Result<Option<Nanos>> {
    let wrong = || OptionsError(format!("{name}: invalid duration {}", fields[name]));
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => time_of(text).map(Some).ok_or_else(wrong),
        Some(Value::Number(number)) => match number.as_f64() {
            Some(milliseconds) if milliseconds >= 0.0 => {
                Ok(Some(Nanos::from_secs_f64(milliseconds / 1e3)))
            }
            _ => Err(wrong()),
        },
        Some(_) => Err(wrong()),
    }
}

/// A whole number; also as a text.
pub(super) fn count(fields: &Fields, name: &str) -> Result<Option<u64>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match whole(value) {
            Some(count) => Ok(Some(count)),
            // k6's rates are whole, and its manual has the way out.
            None if name.to_ascii_lowercase().ends_with("rate") && value.is_f64() => wrong(
                format!("{name}: {value} is not a whole number from 0 on (give a longer timeUnit)"),
            ),
            None => wrong(format!("{name}: {value} is not a whole number from 0 on")),
        },
    }
}

/// A whole number from 0 on, also as a text or with nothing after its point.
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            (float.fract() == 0.0 && (0.0..9e15).contains(&float)).then_some(float as u64)
        }),
        _ => None,
    }
}

/// A limit; 0 and less are no limit.
pub(super) fn limit(fields: &Fields, name: &str) -> Result<Option<u64>> {
    match fields.get(name) {
        Some(Value::Number(number)) if number.as_i64().is_some_and(|n| n <= 0) => Ok(None),
        _ => count(fields, name).map(|count| count.filter(|count| *count > 0)),
    }
}

pub(super) fn text(fields: &Fields, name: &str) -> Result<Option<String>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value) => wrong(format!("{name}: {value} is not a string")),
    }
}

pub(super) fn flag(fields: &Fields, name: &str) -> Result<bool> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(value) => wrong(format!("{name}: {value} is not true or false")),
    }
}

/// Names and texts.
pub(super) fn pairs(fields: &Fields, name: &str) -> Result<Vec<(String, String)>> {
    let pairs = match fields.get(name) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(pairs)) => pairs,
        Some(value) => return wrong(format!("{name}: {value} is not an object")),
    };
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(value) => Ok((key.clone(), value.clone())),
        Value::Null => Ok((key.clone(), String::new())),
        value => wrong(format!("{name}: {key} is {value}, which is not a string")),
    };
    pairs.iter().map(pair).collect()
}

/// A list of texts; `None` where it is not there.
pub(super) fn list(fields: &Fields, name: &str) -> Result<Option<Vec<String>>> {
    let list = match fields.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(value) => return wrong(format!("{name}: {value} is not an array")),
    };
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        value => wrong(format!("{name}: {value} is not a string")),
    };
    list.iter().map(text).collect::<Result<Vec<_>>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_days_or_are_milliseconds() {
        for (text, expect) in [
            ("1m30s", Some(90_000)),
            ("2d", Some(172_800_000)),
            ("1d12h", Some(129_600_000)),
            ("5", Some(5)),
            ("0", Some(0)),
            ("-5", None),
            ("5 parsecs", None),
            ("1dx", None),
        ] {
            assert_eq!(time_of(text), expect.map(Nanos::from_millis), "{text}");
        }
    }
}
