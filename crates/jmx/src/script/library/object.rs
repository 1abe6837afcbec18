//! The methods of objects.

use std::sync::Arc;

use super::arguments::Arguments;
use super::{builder, calendar, digest, instant, json, pattern, random};
use crate::script::context::{Field, Host};
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{Object, Thrown, Value, lock};

/// A method of an object.
pub(super) fn method(
    machine: &mut Machine<'_>,
    value: &Value,
    object: &Object,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match object {
        Object::Builder(built) => builder::method(machine, (value, built), name, call),
        Object::Random(_) => random::method(machine, object, name, call),
        Object::Instant(_) => instant::method(machine, object, name, call),
        Object::DateFormat(..) => calendar::format_method(machine, object, name, call),
        Object::Zone(zone) => Ok(zone_method(zone, name)),
        Object::Duration(ms) => instant::duration_method(machine, *ms, name, call),
        Object::Counter(_) => Ok(counter(object, name, call)),
        Object::Entry(key, other) => Ok(match name {
            "getKey" => Some(key.clone()),
            "getValue" => Some(other.clone()),
            _ => None,
        }),
        Object::Iterator(left) => iterator(left, name).map(Some).or_else(|fault| match name {
            "next" => Err(fault),
            _ => Ok(None),
        }),
        Object::Pattern(pattern) => pattern::method(machine, pattern, name, call),
        Object::Matcher(matcher) => pattern::matcher_method(machine, matcher, name, call),
        Object::Digest(kind, fed) => digest::method(machine, *kind, fed, (name, call)),
        Object::Json(_) => json::builder_method(machine, object, name, call),
        Object::Pair(_, key, other) => Ok(match name {
            "getName" => Some(Value::Text(key.clone())),
            "getValue" => Some(Value::Text(other.clone())),
            _ => None,
        }),
        Object::Thrown(thrown) => Ok(exception(thrown, name)),
        Object::Uuid(_) | Object::Key(_) => Ok(None),
        Object::Plain(class) => plain(machine, class, name, call),
    }
}

fn zone_method(zone: &Arc<str>, name: &str) -> Option<Value> {
    matches!(name, "getID" | "getId").then(|| Value::Text(zone.clone()))
}

fn counter(object: &Object, name: &str, call: Arguments<'_>) -> Option<Value> {
    let Object::Counter(count) = object else { return None };
    let mut count = lock(count);
    let before = *count;
    let is_before =
        matches!(name, "getAndIncrement" | "getAndDecrement" | "getAndAdd" | "getAndSet");
    *count = match name {
        "get" | "intValue" | "longValue" | "next" => before,
        "incrementAndGet" | "getAndIncrement" => before.wrapping_add(1),
        "decrementAndGet" | "getAndDecrement" => before.wrapping_sub(1),
        "addAndGet" | "getAndAdd" => before.wrapping_add(call.long(0)),
        "set" | "getAndSet" => call.long(0),
        _ => return None,
    };
    if name == "set" {
        return Some(Value::Null);
    }
    Some(Value::whole(if is_before { before } else { *count }))
}

fn iterator(left: &std::sync::Mutex<Vec<Value>>, name: &str) -> Outcome<Value> {
    match name {
        "hasNext" => Ok((!lock(left).is_empty()).into()),
        "next" => lock(left)
            .pop()
            .ok_or_else(|| throw("NoSuchElementException", "there is no other value")),
        _ => Err(throw("MissingMethodException", name)),
    }
}

fn exception(thrown: &Thrown, name: &str) -> Option<Value> {
    Some(match name {
        "getMessage" | "getLocalizedMessage" => {
            thrown.message.clone().map_or(Value::Null, Value::Text)
        }
        "getCause" => Value::Null,
        "printStackTrace" | "addSuppressed" => Value::Null,
        "getStackTrace" => Value::list(Vec::new()),
        _ => return None,
    })
}

/// The methods of objects without a state.
fn plain(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    match class {
        "JsonSlurper" | "JsonSlurperClassic" => match name {
            "parseText" | "parse" => json::parse(machine, &call.get(0)).map(Some),
            "setType" => Ok(Some(Value::object(Object::Plain("JsonSlurper")))),
            _ => Ok(None),
        },
        "JsonOutput" => json::statics(machine, name, call),
        "FileServer" => {
            let field = match name {
                "getBaseDir" => Field::BaseDir,
                "getScriptName" => Field::PlanFile,
                _ => return Ok(None),
            };
            Ok(Some(machine.context.read(Host::Engine, field).unwrap_or_default()))
        }
        "Encoder" | "UrlEncoder" | "BareEncoder" | "BareUrlEncoder" | "Decoder" => {
            digest::base64_method(machine, class, name, call)
        }
        _ => Ok(None),
    }
}
