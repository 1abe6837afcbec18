//! Functions that a language has without an object: `println`, `parseInt`.

use super::arguments::Arguments;
use super::{host, javascript, text_format};
use crate::script::Language;
use crate::script::run::{Machine, Outcome};
use crate::script::value::Value;

/// A function of the language; `None` where it has none of this name.
pub(crate) fn call_global(
    machine: &mut Machine<'_>,
    name: &str,
    arguments: &[Value],
) -> Outcome<Option<Value>> {
    let call = Arguments(arguments);
    if machine.language == Language::JavaScript
        && let Some(value) = javascript::global(machine, name, call)?
    {
        return Ok(Some(value));
    }
    Ok(Some(match (name, machine.language) {
        ("print" | "println", _) => {
            let text = machine.written(&call.get(0));
            host::print(machine, &text)
        }
        ("printf", Language::Groovy) => {
            let text = text_format::format(&call.text(0), &arguments[1.min(arguments.len())..])?;
            host::print(machine, &text)
        }
        ("sprintf", Language::Groovy) => {
            let text = text_format::format(&call.text(0), &arguments[1.min(arguments.len())..])?;
            machine.text(text)?
        }
        ("sleep", Language::Groovy) => {
            machine.context.sleep(u64::try_from(call.long(0)).unwrap_or(0));
            Value::Null
        }
        _ => return Ok(None),
    }))
}
