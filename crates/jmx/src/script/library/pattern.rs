//! Regular expressions in scripts.

use std::sync::{Arc, Mutex};

use super::arguments::Arguments;
use super::text::array;
use crate::pattern::Pattern;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{Matcher, Object, Value, lock};

/// Matches that are looked for at most.
const MATCHES_MAX: usize = 100_000;

/// The pattern of a value: a text, a pattern of Java, or one of JavaScript with its flags before it.
fn source(value: &Value) -> String {
    value.to_string()
}

fn compiled(
    machine: &mut Machine<'_>,
    written: &str,
    length: usize,
) -> Outcome<std::rc::Rc<Pattern>> {
    machine.spend(1 + length as u64 / 16)?;
    Pattern::of(written).map_err(|error| throw("PatternSyntaxException", error.to_string()))
}

/// `text =~ pattern`.
pub(crate) fn matcher(machine: &mut Machine<'_>, one: &Value, two: &Value) -> Outcome<Value> {
    let text: Arc<str> = Arc::from(one.to_string());
    let written = source(two);
    let pattern = compiled(machine, &written, text.len())?;
    let matches = pattern.matches(&text, MATCHES_MAX);
    machine.allot(matches.len() * 64)?;
    let matches = matches.into_iter().map(|found| found.groups).collect();
    let (pattern, place) = (written.into(), Mutex::default());
    Ok(Value::object(Object::Matcher(Matcher { text, pattern, matches, place })))
}

/// The matches: a text each, or a list of a text and its groups.
pub(super) fn found(matcher: &Matcher) -> Vec<Value> {
    matcher.matches.iter().map(|groups| match_value(groups)).collect()
}

fn group(groups: &[Option<String>], at: usize) -> Value {
    groups.get(at).and_then(Option::as_deref).map_or(Value::Null, Value::from)
}

fn match_value(groups: &[Option<String>]) -> Value {
    match groups.len() {
        1 => group(groups, 0),
        count => Value::list((0..count).map(|at| group(groups, at)).collect()),
    }
}

/// A match by its number; negative ones count from the end.
pub(super) fn match_at(matcher: &Matcher, at: i64) -> Outcome<Value> {
    let count = matcher.matches.len() as i64;
    let place = usize::try_from(if at < 0 { at + count } else { at }).ok();
    let groups = place.and_then(|place| matcher.matches.get(place));
    groups.map(|groups| match_value(groups)).ok_or_else(|| {
        throw(
            "IndexOutOfBoundsException",
            format!("index is out of range 0..{} (index = {at})", count - 1),
        )
    })
}

/// Methods of texts that take a pattern.
pub(super) fn text_method(
    machine: &mut Machine<'_>,
    text: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let written = || source(&call.get(0));
    Ok(Some(match (name, call.len()) {
        ("matches", 1) => compiled(machine, &written(), text.len())?.is_whole(text).into(),
        ("replaceAll" | "replaceFirst", 2) => {
            let max = if name == "replaceAll" { MATCHES_MAX } else { 1 };
            replaced(machine, text, &written(), (&call.get(1), max))?
        }
        ("split", 0) => super::call_method(machine, &Value::text(text), "tokenize", &[])?,
        ("split", 1 | 2) => {
            let limit = call.long(1);
            let parts = split(machine, text, &written(), limit)?;
            machine.allot(text.len())?;
            array(parts)
        }
        ("find", 1) => {
            let found = compiled(machine, &written(), text.len())?.matches(text, 1);
            found.first().map_or(Value::Null, |found| group(&found.groups, 0))
        }
        ("findAll", 1) if !matches!(call.get(0), Value::Closure(_)) => {
            let found = compiled(machine, &written(), text.len())?.matches(text, MATCHES_MAX);
            machine.list(found.iter().map(|found| group(&found.groups, 0)).collect())?
        }
        _ => return Ok(None),
    }))
}

/// A text with what matches replaced; a closure may make what takes its place.
pub(super) fn replaced(
    machine: &mut Machine<'_>,
    text: &str,
    written: &str,
    (with, max): (&Value, usize),
) -> Outcome<Value> {
    let pattern = compiled(machine, written, text.len())?;
    let matches = pattern.matches(text, max);
    let (mut result, mut rest) = (String::new(), text);
    for found in matches {
        let whole = found.groups.first().and_then(Option::as_deref).unwrap_or("");
        // An empty match is not replaced: where it stands is not known here.
        let Some(at) = rest.find(whole).filter(|_| !whole.is_empty()) else { continue };
        result.push_str(&rest[..at]);
        let by = match with {
            Value::Closure(closure) => {
                let groups = (0..found.groups.len()).map(|at| group(&found.groups, at)).collect();
                machine.call(closure, groups)?.to_string()
            }
            other => filled(&other.to_string(), &found.groups),
        };
        machine.allot(by.len())?;
        result.push_str(&by);
        rest = &rest[at + whole.len()..];
    }
    result.push_str(rest);
    machine.text(result)
}

/// What takes the place of a match: `$1` stands for its first group.
fn filled(with: &str, groups: &[Option<String>]) -> String {
    let mut text = String::new();
    let mut letters = with.chars().peekable();
    while let Some(letter) = letters.next() {
        let number = letters.peek().and_then(|digit| digit.to_digit(10));
        match (letter, number) {
            ('\\', _) => text.extend(letters.next()),
            ('$', Some(number)) => {
                letters.next();
                text.push_str(groups.get(number as usize).and_then(Option::as_deref).unwrap_or(""));
            }
            (letter, _) => text.push(letter),
        }
    }
    text
}

/// The parts between what matches. Without a limit, empty ones at the end are left out.
fn split(
    machine: &mut Machine<'_>,
    text: &str,
    written: &str,
    limit: i64,
) -> Outcome<Vec<Arc<str>>> {
    let max = usize::try_from(limit).ok().filter(|limit| *limit > 0).map_or(MATCHES_MAX, |l| l - 1);
    if written.is_empty() {
        machine.allot(text.len().saturating_mul(LETTER_BYTES))?;
        return Ok(text.chars().map(|letter| Arc::from(letter.to_string())).collect());
    }
    let pattern = compiled(machine, written, text.len())?;
    let (mut parts, mut rest) = (Vec::new(), text);
    for found in pattern.matches(text, max) {
        let whole = found.groups.first().and_then(Option::as_deref).unwrap_or("");
        let Some(at) = rest.find(whole).filter(|_| !whole.is_empty()) else { continue };
        // An empty part at the beginning stays where the match has letters.
        parts.push(Arc::from(&rest[..at]));
        rest = &rest[at + whole.len()..];
    }
    parts.push(Arc::from(rest));
    while limit == 0
        && parts.len() > 1
        && parts.last().is_some_and(|part: &Arc<str>| part.is_empty())
    {
        parts.pop();
    }
    Ok(parts)
}

/// What a text of one letter takes.
const LETTER_BYTES: usize = 48;

/// The number of a flag of `Pattern`.
pub(super) fn flag(name: &str) -> Option<i32> {
    Some(match name {
        "CASE_INSENSITIVE" => 2,
        "MULTILINE" => 8,
        "DOTALL" => 32,
        "UNICODE_CASE" => 64,
        "COMMENTS" => 4,
        _ => return None,
    })
}

pub(super) fn statics(name: &str, call: Arguments<'_>) -> Outcome<Option<Value>> {
    match name {
        "compile" => {
            let flags = call.long(1);
            let letters = [(2, 'i'), (8, 'm'), (32, 's'), (4, 'x')];
            let letters: String = letters
                .iter()
                .filter(|(bit, _)| flags & bit != 0)
                .map(|(_, letter)| letter)
                .collect();
            let prefix = if letters.is_empty() { String::new() } else { format!("(?{letters})") };
            let pattern = format!("{prefix}{}", call.text(0));
            Ok(Some(Value::object(Object::Pattern(pattern.into()))))
        }
        "quote" => Ok(Some(quoted(&call.text(0)).into())),
        "quoteReplacement" => {
            Ok(Some(call.text(0).replace('\\', "\\\\").replace('$', "\\$").into()))
        }
        "matches" => {
            let pattern = Pattern::of(&call.text(0))
                .map_err(|error| throw("PatternSyntaxException", error.to_string()))?;
            Ok(Some(pattern.is_whole(&call.text(1)).into()))
        }
        _ => Ok(None),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric() && letter != '_' && letter.is_ascii() {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

/// A method of a pattern.
pub(super) fn method(
    machine: &mut Machine<'_>,
    pattern: &Arc<str>,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let own = Value::Text(pattern.clone());
    match name {
        "matcher" => matcher(machine, &call.get(0), &own).map(Some),
        "split" => text_method(machine, &call.text(0), "split", Arguments(&[own])),
        "pattern" => Ok(Some(own)),
        "test" | "exec" => super::javascript::regex_method(machine, pattern, name, call).map(Some),
        _ => Ok(None),
    }
}

/// A method of a matcher.
pub(super) fn matcher_method(
    machine: &mut Machine<'_>,
    matcher: &Matcher,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let place = *lock(&matcher.place);
    let current = matcher.matches.get(place.saturating_sub(1));
    Ok(Some(match (name, call.len()) {
        ("find", 0) => {
            let is_there = place < matcher.matches.len();
            *lock(&matcher.place) = place + 1;
            is_there.into()
        }
        ("matches", 0) => {
            *lock(&matcher.place) = 1;
            compiled(machine, &matcher.pattern, matcher.text.len())?.is_whole(&matcher.text).into()
        }
        ("group", 0 | 1) => {
            let at = usize::try_from(call.long(0)).unwrap_or(usize::MAX);
            let groups = current.ok_or_else(|| throw("IllegalStateException", "No match found"))?;
            if at >= groups.len() {
                return Err(throw(
                    "IndexOutOfBoundsException",
                    format!("No group {}", call.long(0)),
                ));
            }
            group(groups, at)
        }
        ("groupCount", 0) => {
            Value::count(matcher.matches.first().map_or(1, Vec::len).saturating_sub(1))
        }
        ("getCount" | "size" | "count", 0) => Value::count(matcher.matches.len()),
        ("hasGroup", 0) => matcher.matches.first().is_some_and(|groups| groups.len() > 1).into(),
        ("reset", 0) => {
            *lock(&matcher.place) = 0;
            Value::Null
        }
        ("getAt", 1) => match_at(matcher, call.long(0))?,
        ("replaceAll" | "replaceFirst", 1) => {
            let max = if name == "replaceAll" { MATCHES_MAX } else { 1 };
            replaced(machine, &matcher.text, &matcher.pattern, (&call.get(0), max))?
        }
        ("iterator" | "toList", 0) => machine.list(found(matcher))?,
        _ => return super::closures::method(machine, found(matcher), name, call),
    }))
}
