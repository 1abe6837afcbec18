//! Values as the texts that JMeter makes of them.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// A value as a text: what is no list and no object without quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number_text(number),
        Value::Array(_) | Value::Object(_) => json_text(value),
        other => other.to_string(),
    }
}

/// A value as JSON, as json-smart writes it: with `\/` for `/`.
fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write_json(value, &mut text);
    text
}

fn write_json(value: &Value, text: &mut String) {
    match value {
        Value::Array(list) => {
            text.push('[');
            for (at, value) in list.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_json(value, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            text.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                write_quoted(name, text);
                text.push(':');
                write_json(value, text);
            }
            text.push('}');
        }
        Value::String(quoted) => write_quoted(quoted, text),
        other => text.push_str(&plain(other)),
    }
}

fn write_quoted(quoted: &str, text: &mut String) {
    text.push('"');
    for letter in quoted.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '/' => text.push_str("\\/"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2000}'..='\u{20ff}' => {
                write!(text, "\\u{:04X}", u32::from(letter)).expect("a text takes all");
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// A number as Java writes it: `1.0`, `1.0E10`.
fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(double) => double_text(double),
        None => number.to_string(),
    }
}

fn double_text(double: f64) -> String {
    let size = double.abs();
    if double == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{double:?}");
    }
    let text = format!("{double:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

/// A value as the JSON Assertion compares it: numbers with a point are written without an exponent.
pub(crate) fn decimal(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = number.as_f64().unwrap_or(0.0).to_string();
            if text.contains('.') { text } else { text + ".0" }
        }
        other => plain(other),
    }
}
