//! `Exception`: what a script threw, with its stack as the author of the script knows it.

use std::fmt;

use rquickjs::{CaughtError, Coerced, Ctx, Error, Value};

use crate::api::seat_of;
use crate::loader::module_loader::{at, excerpt};
use crate::loader::source_map::Place;
use crate::loader::store::Store;

/// What a script threw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Name and message, `TypeError: not a function`.
    pub text: String,
    /// Where, a line a frame, innermost first: `at name (file:line:column)`. Below the first the line of the source stands, with
    /// a mark below its column, where it is known.
    pub stack: String,
    /// A promise was rejected, and nobody handled it.
    pub in_promise: bool,
}

impl Exception {
    /// Takes the pending exception, or tells of an error of ours.
    pub(crate) fn of(ctx: &Ctx<'_>, error: Error) -> Self {
        match CaughtError::from_error(ctx, error) {
            CaughtError::Exception(exception) => Self::of_value(exception.as_object().as_value()),
            CaughtError::Value(value) => Self::of_value(&value),
            CaughtError::Error(error) => Self::told(error.to_string()),
        }
    }

    /// What is no script's fault, in our own words.
    pub(crate) fn told(text: String) -> Self {
        Self { text, stack: String::new(), in_promise: false }
    }

    /// The innermost place of the script, `at name (file:line:column)`.
    pub(crate) fn innermost(&self) -> Option<&str> {
        self.stack.lines().find(|line| frame(line).is_some())
    }

    /// What a rejected promise holds, or a `throw` threw.
    pub(crate) fn of_value(value: &Value<'_>) -> Self {
        let Some(object) = value.as_object().filter(|object| object.is_error()) else {
            let text = value.get::<Coerced<String>>().map(|text| text.0);
            // What cannot be made a string threw again while we tried.
            let text = text.unwrap_or_else(|_| {
                value.ctx().catch();
                "[object]".to_owned()
            });
            return Self::told(text);
        };
        let field = |name: &str| object.get::<_, Option<String>>(name).ok().flatten();
        let (name, message) =
            (field("name").unwrap_or_default(), field("message").unwrap_or_default());
        let stack = field("stack").unwrap_or_default();
        let seat = seat_of(value.ctx()).ok();
        let stack = match seat.as_ref().and_then(|seat| seat.store.get()) {
            Some(store) => told(store, &message, &stack),
            None => stack.lines().map(str::trim).collect::<Vec<_>>().join("\n"),
        };
        let text = match (name.is_empty(), message.is_empty()) {
            (true, _) => message,
            (false, true) => name,
            (false, false) => format!("{name}: {message}"),
        };
        Self { text, stack, in_promise: false }
    }
}

/// A stack with the places that the author of the script knows.
fn told(store: &Store, message: &str, stack: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut shown = stack.contains(" | ");
    for line in stack.lines() {
        let trimmed = line.trim();
        let Some((before, file, row, column, after)) = frame(trimmed) else {
            if !trimmed.is_empty() {
                // The mark below a line of source keeps its place.
                lines.push(if trimmed.starts_with("at ") { trimmed } else { line }.to_owned());
            }
            continue;
        };
        if file.starts_with("brunt:") {
            continue;
        }
        let (place, text) = store.original(file, row, column);
        lines.push(format!("{before}{}:{}:{}{after}", place.file, place.line, place.column));
        push_excerpt(&mut lines, &mut shown, &place, text);
    }
    if lines.is_empty()
        && let Some((place, text)) = missing_export(store, message)
    {
        lines.push(at(&place));
        push_excerpt(&mut lines, &mut shown, &place, text);
    }
    lines.join("\n")
}

fn push_excerpt(lines: &mut Vec<String>, shown: &mut bool, place: &Place, text: Option<String>) {
    let Some(text) = text.filter(|_| !*shown) else { return };
    *shown = true;
    let shown = excerpt(place, &text);
    lines.extend(shown.lines().map(str::to_owned));
}

/// A frame's parts: what stands before the file, the file, line, column, and what stands after.
fn frame(line: &str) -> Option<(&str, &str, u32, u32, &str)> {
    let (line, after) = match line.strip_suffix(')') {
        Some(line) => (line, ")"),
        None => (line, ""),
    };
    let mut parts = line.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let row = parts.next()?.parse().ok()?;
    let rest = parts.next()?;
    let start = rest.rfind(" (").map(|at| at + 2).or_else(|| Some(rest.find("at ")? + 3))?;
    Some((&rest[..start], &rest[start..], row, column, after))
}

/// Where a name is imported that QuickJS did not find; it says so without a place.
fn missing_export(store: &Store, message: &str) -> Option<(Place, Option<String>)> {
    let rest = message.strip_prefix("Could not find export '")?;
    let (name, rest) = rest.split_once("' in module '")?;
    store.import_of(name, rest.strip_suffix('\'')?)
}

impl fmt::Display for Exception {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        self.stack.lines().try_for_each(|line| write!(f, "\n\t{line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_apart() {
        for (line, expect) in [
            ("at f (file:///a b.js:3:5)", Some(("at f (", "file:///a b.js", 3, 5, ")"))),
            ("at file:///a.js:3:5", Some(("at ", "file:///a.js", 3, 5, ""))),
            (
                "at <anonymous> (https://h:1/a.js:3:5)",
                Some(("at <anonymous> (", "https://h:1/a.js", 3, 5, ")")),
            ),
            ("at map (native)", None),
            ("3 | const a = b ? c : d", None),
        ] {
            assert_eq!(frame(line), expect, "{line}");
        }
    }
}
