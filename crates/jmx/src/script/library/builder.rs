//! The methods of `StringBuilder`.

use std::sync::Mutex;

use super::arguments::Arguments;
use super::text;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{Value, lock};

/// A method of a builder; those that it has not are the text's.
pub(super) fn method(
    machine: &mut Machine<'_>,
    (value, built): (&Value, &Mutex<String>),
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if name != "append" && name != "leftShift" {
        // Its letters are counted or moved.
        machine.spend(lock(built).len() as u64 / 256)?;
    }
    match (name, call.len()) {
        ("append" | "leftShift", 1) => {
            let added = call.text(0);
            machine.allot(added.len())?;
            lock(built).push_str(&added);
        }
        ("insert", 2) => {
            let added = call.text(1);
            machine.allot(added.len())?;
            change(built, call, |text, at, _| text.insert_str(at, &added))?;
        }
        ("delete", 2) => {
            let to = call.long(1).max(0) as usize;
            change(built, call, |text, at, _| {
                let end = text.char_indices().nth(to).map_or(text.len(), |(end, _)| end);
                text.replace_range(at..end.max(at), "");
            })?;
        }
        ("deleteCharAt", 1) => change(built, call, |text, at, _| {
            if at < text.len() {
                text.remove(at);
            }
        })?,
        ("replace", 3) => {
            let to = call.long(1).max(0) as usize;
            change(built, call, |text, at, _| {
                let end = text.char_indices().nth(to).map_or(text.len(), |(end, _)| end);
                text.replace_range(at..end.max(at), &call.text(2));
            })?;
        }
        ("setLength", 1) => {
            let length = call.long(0).max(0) as usize;
            let mut text = lock(built);
            let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
            text.truncate(end);
        }
        ("reverse", 0) => {
            let mut text = lock(built);
            *text = text.chars().rev().collect();
        }
        _ => {
            let built = lock(built).clone();
            machine.allot(built.len() / 16)?;
            return text::method(machine, &built, name, call);
        }
    }
    Ok(Some(value.clone()))
}

/// Changes a text at the letter that the first argument names.
fn change(
    built: &Mutex<String>,
    call: Arguments<'_>,
    change: impl FnOnce(&mut String, usize, usize),
) -> Outcome<()> {
    let mut text = lock(built);
    let letters = text.chars().count();
    let place = usize::try_from(call.long(0)).ok().filter(|place| *place <= letters);
    let place = place.ok_or_else(|| {
        throw(
            "StringIndexOutOfBoundsException",
            format!("index {}, length {letters}", call.long(0)),
        )
    })?;
    let at = text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    change(&mut text, at, letters);
    Ok(())
}
