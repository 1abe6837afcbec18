//! Errors of modules, thrown with the place of what is wrong.

use rquickjs::{Ctx, Error, Exception, Object, Result};

use super::source_map::SourcePos;

/// An error that is thrown where an import stands.
pub(crate) fn thrown_at(ctx: &Ctx<'_>, text: &str, place: Option<&SourcePos>) -> Error {
    match place {
        Some(place) => thrown(ctx, "Error", text, &at(place)),
        None => Exception::throw_message(ctx, text),
    }
}

pub(super) fn thrown(ctx: &Ctx<'_>, class: &str, text: &str, stack: &str) -> Error {
    let made = || -> Result<Object<'_>> {
        let exception = Exception::from_message(ctx.clone(), text)?;
        let object = exception.into_object();
        object.set("name", class)?;
        object.set("stack", stack)?;
        Ok(object)
    };
    match made() {
        Ok(object) => ctx.throw(object.into_value()),
        Err(error) => error,
    }
}

/// A place as a line of a stack.
pub(crate) fn at(place: &SourcePos) -> String {
    format!("at {}:{}:{}", place.file, place.line, place.column)
}

/// A line of a source with a mark below its column, as two lines of a stack.
pub(crate) fn excerpt(place: &SourcePos, line: &str) -> String {
    const WIDTH_MAX: usize = 160;
    let number = place.line.to_string();
    let column = place.column.saturating_sub(1) as usize;
    if line.chars().count() > WIDTH_MAX {
        // A bundle is one line: too long to help.
        return String::new();
    }
    let margin: String =
        line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("{number} | {line}\n{} | {margin}^", " ".repeat(number.len()))
}

/// k6's error for a function that is called too late.
pub(crate) fn only_in_init(function: &str) -> String {
    format!(
        "the \"{function}\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information"
    )
}
