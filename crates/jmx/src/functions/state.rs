//! Functions of variables, properties, counters and files.

use crate::arguments::Arguments;
use crate::scope::{Scope, Shared, Writing};

pub(super) fn p(call: &Arguments, scope: &mut dyn Scope) -> String {
    let name = call.text(0);
    let default = call.get(1).unwrap_or_else(|| "1".to_owned());
    trimmed(&scope.property(&name).unwrap_or(default))
}

/// JMeter takes the blanks off a property that is read, and off its default.
fn trimmed(value: &str) -> String {
    value.trim().to_owned()
}

pub(super) fn property(call: &Arguments, scope: &mut dyn Scope) -> String {
    let name = call.text(0);
    let default = call.get(2).unwrap_or_else(|| name.clone());
    let value = trimmed(&scope.property(&name).unwrap_or(default));
    call.stored(scope, 1, value)
}

pub(super) fn set_property(call: &Arguments, scope: &mut dyn Scope) -> String {
    let name = call.text(0);
    let value = call.text(1);
    let returns = call.get(2).is_some_and(|word| word.eq_ignore_ascii_case("true"));
    let old = scope.set_property(&name, value);
    if returns { old.unwrap_or_else(|| "null".to_owned()) } else { String::new() }
}

pub(super) fn v(call: &Arguments, scope: &mut dyn Scope) -> String {
    let name = call.text(0);
    let default = call.get(1).unwrap_or_else(|| name.clone());
    scope.variable(&name).unwrap_or(default)
}

/// `${__split(a,b, NAME)}`: `NAME_1` to `NAME_n`, and how many in `NAME_n`; what is empty becomes `?`.
pub(super) fn split(call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let name = call.text(1);
    let name = name.trim();
    let separator = call.get(2).filter(|separator| !separator.is_empty());
    let separator = separator.unwrap_or_else(|| ",".to_owned());
    let parts = text.split(separator.as_str()).filter(|_| !text.is_empty());
    let parts: Vec<&str> = parts.collect();
    scope.set_variable(name, text.clone());
    scope.set_variable(&format!("{name}_n"), parts.len().to_string());
    for (at, part) in parts.iter().enumerate() {
        let part = if part.is_empty() { "?" } else { part };
        scope.set_variable(&format!("{name}_{}", at + 1), part.to_owned());
    }
    text
}

pub(super) fn counter(call: &Arguments, scope: &mut dyn Scope) -> String {
    let word = call.text(0);
    let shared = match word.eq_ignore_ascii_case("true") {
        true => Shared::OneThread,
        false => Shared::AllThreads,
    };
    let count = scope.count(call.call, shared).to_string();
    call.stored(scope, 1, count)
}

pub(super) fn log(call: &Arguments, scope: &mut dyn Scope) -> String {
    let text = call.text(0);
    let level = call.get(1).filter(|level| !level.is_empty());
    let note = call.text(3);
    let line = if note.is_empty() { text.clone() } else { format!("{note}{text}") };
    scope.log(&level.unwrap_or_else(|| "INFO".to_owned()), &line);
    text
}

/// The text of a file; `**ERR**` where it cannot be read.
pub(super) fn file_to_string(call: &Arguments, scope: &mut dyn Scope) -> String {
    let path = call.text(0);
    let encoding = call.text(1);
    let text = scope.file(&path, &encoding).unwrap_or_else(|| "**ERR**".to_owned());
    call.stored(scope, 2, text)
}

/// The next line of a file, from the first again after the last.
pub(super) fn string_from_file(call: &Arguments, scope: &mut dyn Scope) -> String {
    let path = call.text(0);
    let Some(text) = scope.file(&path, "") else { return "**ERR**".to_owned() };
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return "**ERR**".to_owned();
    }
    let count = scope.count(call.call, Shared::AllThreads).saturating_sub(1);
    let line = lines[(count % lines.len() as u64) as usize].to_owned();
    let name = call.get(1).filter(|name| !name.trim().is_empty());
    scope.set_variable(name.as_deref().map_or("StringFromFile_", str::trim), line.clone());
    line
}

/// `${__StringToFile(path,text,appends,encoding)}`: whether it could be written.
pub(super) fn string_to_file(call: &Arguments, scope: &mut dyn Scope) -> String {
    let word = call.text(2).trim().to_ascii_lowercase();
    let how = if matches!(&*word, "" | "true") { Writing::Append } else { Writing::Replace };
    let text = call.text(1).replace("\\n", "\n");
    scope.write_file(call.text(0).trim(), &text, how).to_string()
}
