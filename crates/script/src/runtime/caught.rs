//! Exceptions of scripts, caught: their stacks name the places that the author of the script knows.

use rquickjs::{CaughtError, Coerced, Ctx, Error, Value};
use users::{Exception, OUT_OF_MEMORY};

use super::current::vu_of;
use super::ffi::take_out_of_memory;
use super::frames::frame;
use crate::loader::module_error::{at, excerpt};
use crate::loader::source_map::SourcePos;
use crate::loader::store::{MissingExport, Store};

/// The pending exception; an error of ours becomes one without a stack.
pub(crate) fn caught(ctx: &Ctx<'_>, error: Error) -> Exception {
    match CaughtError::from_error(ctx, error) {
        CaughtError::Exception(exception) => exception_of(exception.as_object().as_value()),
        CaughtError::Value(value) => exception_of(&value),
        CaughtError::Error(error) => Exception::internal(error.to_string()),
    }
}

/// What modules threw, or why they did not come to their end. Where memory ran out, that is the reason, whatever came of it;
/// `bound` says what bounds it.
pub(crate) fn caught_init(ctx: &Ctx<'_>, error: Error, bound: &str) -> Exception {
    let is_pending = matches!(error, Error::WouldBlock);
    let is_short = take_out_of_memory(ctx) || matches!(error, Error::Allocation);
    let mut exception = caught(ctx, error);
    let follows = is_pending || exception.stack.is_empty() && exception.text == "null";
    if is_short && follows {
        exception = Exception::out_of_memory();
    } else if is_pending {
        return Exception::internal(NEVER_SETTLED.to_owned());
    }
    exception.out_of_memory |= is_short && exception.text.ends_with(OUT_OF_MEMORY);
    if exception.out_of_memory {
        exception.text = format!("{} ({bound})", exception.text);
    }
    exception
}

/// Why modules are not there where memory is not the reason.
const NEVER_SETTLED: &str =
    "a module waits for a promise that nothing settles (an await outside of the functions)";

/// What a rejected promise holds, or a `throw` threw.
pub(crate) fn exception_of(value: &Value<'_>) -> Exception {
    // There was no memory for the error that says so.
    if value.is_null() && take_out_of_memory(value.ctx()) {
        return Exception::out_of_memory();
    }
    let Some(object) = value.as_object().filter(|object| object.is_error()) else {
        let text = value.get::<Coerced<String>>().map(|text| text.0);
        // What cannot be made a string threw again while we tried.
        let text = text.unwrap_or_else(|_| {
            value.ctx().catch();
            "[object]".to_owned()
        });
        return Exception::internal(text);
    };
    let field = |name: &str| object.get::<_, Option<String>>(name).ok().flatten();
    let (name, message) = (field("name").unwrap_or_default(), field("message").unwrap_or_default());
    let stack = field("stack").unwrap_or_default();
    let vu = vu_of(value.ctx()).ok();
    let store = vu.as_ref().and_then(|vu| vu.store.get());
    let missing = store.and_then(|store| missing_export(store, &message));
    let stack = match store {
        Some(store) => mapped_stack(store, missing.as_ref(), &stack),
        None => stack.lines().map(str::trim).collect::<Vec<_>>().join("\n"),
    };
    let message = missing.map_or(message, |missing| missing.message());
    let text = match (name.is_empty(), message.is_empty()) {
        (true, _) => message,
        (false, true) => name,
        (false, false) => format!("{name}: {message}"),
    };
    Exception { text, stack, in_promise: false, out_of_memory: false }
}

/// A stack with the places that the author of the script knows.
fn mapped_stack(store: &Store, missing: Option<&MissingExport>, stack: &str) -> String {
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
        && let Some(MissingExport { place, line, .. }) = missing
    {
        lines.push(at(place));
        push_excerpt(&mut lines, &mut shown, place, line.clone());
    }
    lines.join("\n")
}

fn push_excerpt(
    lines: &mut Vec<String>,
    shown: &mut bool,
    place: &SourcePos,
    text: Option<String>,
) {
    let Some(text) = text.filter(|_| !*shown) else { return };
    *shown = true;
    let shown = excerpt(place, &text);
    lines.extend(shown.lines().map(str::to_owned));
}

const MISSING: &str = "Could not find export '";

impl MissingExport {
    /// QuickJS's message with the names in full.
    fn message(&self) -> String {
        format!("{MISSING}{}' in module '{}'", self.name, self.module)
    }
}

/// The import of a name that QuickJS did not find; it says so without a place, and cuts long names.
fn missing_export(store: &Store, message: &str) -> Option<MissingExport> {
    let rest = message.strip_prefix(MISSING)?;
    let (name, rest) = rest.split_once("' in module '")?;
    store.import_of(name, rest.strip_suffix('\'')?)
}
