//! `inspect`: a value as k6's console writes it.

use rquickjs::{ArrayBuffer, Object, Result, Type, Value};

use crate::runtime::ffi;

/// Deeper than this, values are `...`.
const DEPTH_MAX: usize = 64;
/// A text that grew longer than this ends: 1 MiB.
const TEXT_MAX: usize = 1 << 20;

/// A value as k6's console writes it: strings raw, what holds others with one space inside its brackets.
///
/// # Errors
/// A getter of the value's throws.
pub(crate) fn inspect(value: &Value<'_>) -> Result<String> {
    let mut text = String::new();
    match value.type_of() {
        Type::String => text = plain(value)?,
        Type::Undefined => text.push_str("undefined"),
        _ => write(&mut text, value, &mut Vec::new())?,
    }
    Ok(text)
}

/// Writes a value inside of `above`, the objects around it.
fn write<'js>(text: &mut String, value: &Value<'js>, above: &mut Vec<Object<'js>>) -> Result<()> {
    match value.type_of() {
        Type::Null | Type::Undefined | Type::Uninitialized => text.push_str("null"),
        Type::Symbol => {
            let symbol = value.as_symbol().map(rquickjs::Symbol::description);
            let name = symbol.transpose()?.filter(|name| !name.is_undefined());
            let name = name.map(|name| plain(&name)).transpose()?.unwrap_or_default();
            text.push_str(&if above.is_empty() { name } else { format!("\"{name}\"") });
        }
        Type::String => text.push_str(&format!("\"{}\"", plain(value)?)),
        _ => match value.as_object() {
            Some(object) => return within(text, object, above),
            None => text.push_str(&plain(value)?),
        },
    }
    Ok(())
}

/// What JavaScript itself makes of a value.
fn plain(value: &Value<'_>) -> Result<String> {
    value.get::<rquickjs::Coerced<String>>().map(|text| text.0)
}

fn within<'js>(
    text: &mut String,
    object: &Object<'js>,
    above: &mut Vec<Object<'js>>,
) -> Result<()> {
    if object.is_function() {
        text.push_str("[object Function]");
    } else if above.contains(object) {
        text.push_str("[Circular]");
    } else if above.len() == DEPTH_MAX || text.len() > TEXT_MAX {
        text.push_str("...");
    } else if object.is_error() {
        text.push_str(&plain(object.as_value())?);
    } else if let Some(buffer) = object.as_array_buffer() {
        text.push_str(&bytes(buffer));
    } else if let Some(date) = date(object)? {
        text.push_str(&date);
    } else {
        above.push(object.clone());
        let response = super::http::fields_of(object);
        let object = response.as_ref().unwrap_or(object);
        if let Some(array) = object.as_array() {
            listed(text, array.len(), |at| array.get(at), above)?;
        } else if is_shared(object)? {
            listed(text, object.get("length")?, |at| object.get(at as u32), above)?;
        } else if let Some(name) = typed_array(object)? {
            let len: usize = object.get("length")?;
            text.push_str(&format!("{name}({len}) "));
            listed(text, len, |at| object.get(at as u32), above)?;
        } else {
            fields(text, object, above)?;
        }
        above.pop();
    }
    Ok(())
}

/// A date in quotes; nothing of an invalid one.
fn date(object: &Object<'_>) -> Result<Option<String>> {
    let class: Value<'_> = object.ctx().globals().get("Date")?;
    if !object.is_instance_of(&class) {
        return Ok(None);
    }
    match object.ctx().json_stringify(object.clone())? {
        Some(json) => Ok(Some(json.to_string()?).filter(|json| json.starts_with('"'))),
        None => Ok(None),
    }
}

/// Whether it is a `SharedArray`, which is shown as an array; other proxies are shown as objects.
fn is_shared(object: &Object<'_>) -> Result<bool> {
    let shared = object.as_value().type_of() == Type::Proxy;
    Ok(shared && object.get::<_, Value<'_>>("\u{1}shared")?.as_bool() == Some(true))
}

/// The class of a typed array.
fn typed_array(object: &Object<'_>) -> Result<Option<String>> {
    if object.get::<_, Value<'_>>("BYTES_PER_ELEMENT")?.as_int().is_none() {
        return Ok(None);
    }
    let symbols: Object<'_> = object.ctx().globals().get("Symbol")?;
    let tag: rquickjs::Symbol<'_> = symbols.get("toStringTag")?;
    let tag: Value<'_> = object.get(tag)?;
    let tag = tag.as_string().map(rquickjs::String::to_string).transpose()?;
    Ok(tag.filter(|tag| tag.ends_with("Array")))
}

fn bytes(buffer: &ArrayBuffer<'_>) -> String {
    let bytes = ffi::copied(buffer);
    let shown = &bytes[..bytes.len().min(TEXT_MAX / 3)];
    let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}", hex.join(" "), bytes.len())
}

fn listed<'js>(
    text: &mut String,
    len: usize,
    item: impl Fn(usize) -> Result<Value<'js>>,
    above: &mut Vec<Object<'js>>,
) -> Result<()> {
    if len == 0 {
        text.push_str("[]");
        return Ok(());
    }
    for at in 0..len {
        text.push_str(if at == 0 { "[ " } else { ", " });
        if text.len() > TEXT_MAX {
            text.push_str("...");
            break;
        }
        write(text, &item(at)?, above)?;
    }
    text.push_str(" ]");
    Ok(())
}

fn fields<'js>(
    text: &mut String,
    object: &Object<'js>,
    above: &mut Vec<Object<'js>>,
) -> Result<()> {
    let start = text.len();
    for field in object.props::<String, Value<'js>>() {
        let (name, value) = field?;
        text.push_str(if text.len() == start { "{ " } else { ", " });
        if text.len() > TEXT_MAX {
            text.push_str("...");
            break;
        }
        text.push_str(&name);
        text.push_str(": ");
        write(text, &value, above)?;
    }
    text.push_str(if text.len() == start { "{}" } else { " }" });
    Ok(())
}
