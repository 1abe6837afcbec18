//! The methods of texts. Places are counted in letters.

use std::sync::Arc;

use super::arguments::Arguments;
use super::{closures, digest, javascript, number, pattern, text_format};
use crate::script::Language;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{List, ListKind, Value};

/// A method of a text.
pub(super) fn method(
    machine: &mut Machine<'_>,
    text: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    machine.spend(text.len() as u64 / 256)?;
    if machine.language == Language::JavaScript
        && let Some(value) = javascript::text_method(machine, text, name, call)?
    {
        return Ok(Some(value));
    }
    if let Some(value) = question(text, name, call) {
        return Ok(Some(value));
    }
    if let Some(value) = change(text, name, call)? {
        return machine.text(value).map(Some);
    }
    if let Some(value) = pattern::text_method(machine, text, name, call)? {
        return Ok(Some(value));
    }
    match conversion(machine, text, name, call)? {
        Some(value) => Ok(Some(value)),
        None => letters(machine, text, name, call),
    }
}

/// Methods whose answer is a number or a truth.
fn question(text: &str, name: &str, call: Arguments<'_>) -> Option<Value> {
    let first = || call.text(0);
    Some(match (name, call.len()) {
        ("length" | "size", 0) => Value::count(length(text)),
        ("isEmpty", 0) => text.is_empty().into(),
        ("isBlank" | "isAllWhitespace", 0) => text.trim().is_empty().into(),
        ("equals" | "contentEquals", 1) => {
            matches!(call.get(0), Value::Text(other) if *other == *text).into()
        }
        ("equalsIgnoreCase", 1) => (text.to_lowercase() == first().to_lowercase()).into(),
        ("contains", 1) => text.contains(&first()).into(),
        ("containsIgnoreCase", 1) => text.to_lowercase().contains(&first().to_lowercase()).into(),
        ("startsWith", 1) => text.starts_with(&first()).into(),
        ("endsWith", 1) => text.ends_with(&first()).into(),
        ("compareTo", 1) => Value::Int(difference(text, &first())),
        ("compareToIgnoreCase", 1) => {
            Value::Int(difference(&text.to_lowercase(), &first().to_lowercase()))
        }
        ("indexOf", 1 | 2) => index(text, &needle(call), call.long(1)),
        ("lastIndexOf", 1) => place(text, text.rfind(&needle(call))),
        ("hashCode", 0) => Value::Int(hash(text)),
        ("count", 1) => Value::count(text.matches(&first()).count()),
        ("isNumber" | "isBigDecimal" | "isDouble" | "isFloat", 0) => {
            text.trim().parse::<f64>().is_ok().into()
        }
        ("isInteger", 0) => text.trim().parse::<i32>().is_ok().into(),
        ("isLong", 0) => text.trim().parse::<i64>().is_ok().into(),
        _ => return None,
    })
}

/// What is looked for: a text, or the letter of a code.
fn needle(call: Arguments<'_>) -> String {
    match call.get(0) {
        Value::Int(code) => char::from_u32(code as u32).map(String::from).unwrap_or_default(),
        other => other.to_string(),
    }
}

pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Java's difference of two texts: of their first letters that differ, or of their lengths.
fn difference(one: &str, two: &str) -> i32 {
    let differing = one.encode_utf16().zip(two.encode_utf16()).find(|(one, two)| one != two);
    match differing {
        Some((one, two)) => i32::from(one) - i32::from(two),
        None => length(one) as i32 - length(two) as i32,
    }
}

/// Java's hash of a text.
pub(super) fn hash(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// A place in bytes as one in letters; -1 of none.
fn place(text: &str, found: Option<usize>) -> Value {
    found.map_or(Value::Int(-1), |at| Value::count(length(&text[..at])))
}

fn index(text: &str, needle: &str, from: i64) -> Value {
    let from = usize::try_from(from).unwrap_or(0);
    let begin = text.char_indices().nth(from).map_or(text.len(), |(at, _)| at);
    place(text, text[begin..].find(needle).map(|at| begin + at))
}

/// A part of a text from a letter to another.
pub(super) fn part(text: &str, from: usize, to: usize) -> Option<String> {
    if from > to || to > length(text) {
        return None;
    }
    match text.is_ascii() {
        true => Some(text[from..to].to_owned()),
        false => {
            let units: Vec<u16> = text.encode_utf16().skip(from).take(to - from).collect();
            Some(String::from_utf16_lossy(&units))
        }
    }
}

/// Methods that make another text.
fn change(text: &str, name: &str, call: Arguments<'_>) -> Outcome<Option<String>> {
    let first = || call.text(0);
    Ok(Some(match (name, call.len()) {
        ("substring" | "subSequence", 1 | 2) => return substring(text, call).map(Some),
        ("trim", 0) => text.trim_matches(|letter: char| letter <= ' ').to_owned(),
        ("strip", 0) => text.trim().to_owned(),
        ("stripLeading", 0) => text.trim_start().to_owned(),
        ("stripTrailing", 0) => text.trim_end().to_owned(),
        ("toUpperCase", 0 | 1) => text.to_uppercase(),
        ("toLowerCase", 0 | 1) => text.to_lowercase(),
        ("capitalize", 0) => capitalized(text, char::to_uppercase),
        ("uncapitalize", 0) => capitalized(text, char::to_lowercase),
        ("concat" | "plus", 1) => format!("{text}{}", call.text(0)),
        ("minus", 1) => text.replacen(&first(), "", 1),
        ("replace", 2) => return replaced(text, &first(), &call.text(1)).map(Some),
        ("reverse", 0) => text.chars().rev().collect(),
        ("toString" | "intern" | "stripIndent", 0) => text.to_owned(),
        ("denormalize" | "normalize", 0) => text.replace("\r\n", "\n"),
        ("padLeft" | "padRight" | "center", 1 | 2) => return padded(text, name, call).map(Some),
        ("repeat" | "multiply", 1) => {
            let count = usize::try_from(call.long(0)).unwrap_or(0);
            if text.len().saturating_mul(count) > TEXT_MAX {
                return Err(throw("OutOfMemoryError", "the text is too long"));
            }
            text.repeat(count)
        }
        ("take", 1) => text.chars().take(usize::try_from(call.long(0)).unwrap_or(0)).collect(),
        ("drop", 1) => text.chars().skip(usize::try_from(call.long(0)).unwrap_or(0)).collect(),
        ("stripMargin", 0) => stripped_margin(text),
        _ => return Ok(None),
    }))
}

/// Bytes that a text made at once may have.
pub(super) const TEXT_MAX: usize = 64 << 20;

fn replaced(text: &str, what: &str, with: &str) -> Outcome<String> {
    let grown = text.matches(what).count().saturating_mul(with.len());
    if grown > TEXT_MAX {
        return Err(throw("OutOfMemoryError", "the text is too long"));
    }
    Ok(text.replace(what, with))
}

fn substring(text: &str, call: Arguments<'_>) -> Outcome<String> {
    let length = length(text);
    let (from, to) = (call.long(0), if call.len() > 1 { call.long(1) } else { length as i64 });
    let places = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    places.and_then(|(from, to)| part(text, from, to)).ok_or_else(|| {
        throw("StringIndexOutOfBoundsException", format!("begin {from}, end {to}, length {length}"))
    })
}

fn capitalized<I: Iterator<Item = char>>(text: &str, of: fn(char) -> I) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(of).chain(letters).collect()
}

fn padded(text: &str, name: &str, call: Arguments<'_>) -> Outcome<String> {
    let width = usize::try_from(call.long(0)).unwrap_or(0);
    if width > TEXT_MAX {
        return Err(throw("OutOfMemoryError", "the text is too long"));
    }
    let missing = width.saturating_sub(length(text));
    let with = if call.len() > 1 { call.text(1) } else { " ".to_owned() };
    let padding = |count: usize| with.chars().cycle().take(count).collect::<String>();
    Ok(match name {
        "padLeft" => padding(missing) + text,
        "padRight" => text.to_owned() + &padding(missing),
        _ => padding(missing / 2) + text + &padding(missing - missing / 2),
    })
}

/// Lines without what stands before a `|`.
fn stripped_margin(text: &str) -> String {
    let line = |line: &str| match line.trim_start().strip_prefix('|') {
        Some(rest) => rest.to_owned(),
        None => line.to_owned(),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Methods that make a number, bytes or a list of a text.
fn conversion(
    machine: &mut Machine<'_>,
    text: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    Ok(Some(match (name, call.len()) {
        ("toInteger" | "intValue", 0) => number::parse_int(text.trim())?,
        ("toLong" | "longValue", 0) => number::parse_long(text.trim())?,
        ("toDouble" | "toFloat" | "doubleValue", 0) => number::parse_double(text)?,
        ("toBigDecimal", 0) => number::parse_decimal(text.trim())?,
        ("toBigInteger", 0) => number::parse_decimal(text.trim())?,
        ("toBoolean", 0) => {
            matches!(text.trim().to_lowercase().as_str(), "true" | "y" | "1").into()
        }
        ("getBytes", 0 | 1) => digest::encoded(machine, text, &call.text(0))?,
        ("bytes", 0) => digest::encoded(machine, text, "")?,
        ("toURI" | "toURL" | "execute", _) => return Ok(None),
        ("format" | "formatted", _) => machine.text(text_format::format(text, call.all())?)?,
        ("encodeBase64", 0) => machine.text(digest::base64(text.as_bytes()))?,
        ("decodeBase64", 0) => digest::from_base64(machine, text)?,
        ("md5", 0) => machine.text(digest::hex_digest("MD5", text.as_bytes())?)?,
        ("sha256", 0) => machine.text(digest::hex_digest("SHA-256", text.as_bytes())?)?,
        _ => return Ok(None),
    }))
}

/// Methods that look at the letters or the lines of a text.
fn letters(
    machine: &mut Machine<'_>,
    text: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let one = |letter: char| Value::text(letter.to_string());
    let items: Vec<Value> = match (name, call.len()) {
        ("charAt", 1) => return letter_at(text, call.long(0)).map(Some),
        ("codePointAt", 1) => {
            let letter = letter_at(text, call.long(0))?;
            return Ok(letter.as_long().map(Value::whole));
        }
        ("toCharArray" | "chars", 0) => text.chars().map(Value::Letter).collect(),
        ("toList" | "getChars", 0) => text.chars().map(one).collect(),
        ("readLines" | "lines", 0) => text.lines().map(Value::text).collect(),
        ("tokenize", 0 | 1) => tokens(text, call),
        ("eachLine", 1) => {
            let lines = text.lines().map(Value::text).collect();
            return closures::method(machine, lines, "each", call);
        }
        ("getAt", 1) => return super::place(machine, &Value::text(text), &call.get(0)).map(Some),
        (
            "each" | "collect" | "findAll" | "any" | "every" | "find" | "sum" | "eachWithIndex"
            | "inject" | "unique" | "groupBy" | "countBy" | "sort" | "max" | "min" | "first"
            | "last" | "shuffled",
            _,
        ) => {
            let items = text.chars().map(one).collect();
            return closures::method(machine, items, name, call);
        }
        _ => return Ok(None),
    };
    let kind = if name == "toCharArray" { ListKind::Array } else { ListKind::List };
    machine.allot(items.len() * size_of::<Value>())?;
    Ok(Some(Value::List(List::new(kind, items))))
}

fn letter_at(text: &str, at: i64) -> Outcome<Value> {
    let letter = usize::try_from(at).ok().and_then(|place| text.chars().nth(place));
    letter.map(Value::Letter).ok_or_else(|| {
        let length = length(text);
        throw(
            "StringIndexOutOfBoundsException",
            format!("Index {at} out of bounds for length {length}"),
        )
    })
}

/// The words between the letters that separate them.
fn tokens(text: &str, call: Arguments<'_>) -> Vec<Value> {
    let separators = if call.len() > 0 { call.text(0) } else { " \t\n\r\u{c}".to_owned() };
    let words = text.split(|letter| separators.contains(letter));
    words.filter(|word| !word.is_empty()).map(Value::text).collect()
}

/// An array of texts.
pub(super) fn array(texts: Vec<Arc<str>>) -> Value {
    Value::List(List::new(ListKind::Array, texts.into_iter().map(Value::Text).collect()))
}
