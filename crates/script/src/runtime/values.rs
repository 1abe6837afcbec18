//! Values of JavaScript as ours.

use std::borrow::Cow;

use rquickjs::function::This;
use rquickjs::{Coerced, Function, Object, Result, Value};

use super::ffi::ascii;

/// Whether JavaScript takes a value for true.
pub(crate) fn truthy(value: &Value<'_>) -> Result<bool> {
    if let Some(truth) = value.as_bool() {
        return Ok(truth);
    }
    value.get::<Coerced<bool>>().map(|truth| truth.0)
}

/// A value as JavaScript's `String()` makes it.
pub(crate) fn string_of(value: &Value<'_>) -> Result<String> {
    if let Some(text) = ascii(value) {
        return Ok(text.to_owned());
    }
    let text = value.get::<Coerced<String>>();
    if text.as_ref().is_err_and(rquickjs::Error::is_exception) || !value.is_string() {
        return text.map(|text| text.0);
    }
    // Half a character, which no UTF-8 has, becomes the sign for it.
    text.map(|text| text.0).or_else(|_| {
        let string: Object<'_> = value.ctx().globals().get("String")?;
        let prototype: Object<'_> = string.get("prototype")?;
        prototype.get::<_, Function<'_>>("toWellFormed")?.call((This(value.clone()),))
    })
}

/// The text of a string, with the sign for what is no character where it has half of one.
pub(crate) fn lossy_text<'a>(string: &'a Value<'_>) -> Result<Cow<'a, str>> {
    if let Some(text) = ascii(string) {
        return Ok(Cow::Borrowed(text));
    }
    let text = string.get::<rquickjs::String<'_>>()?.to_cstring()?;
    Ok(Cow::Owned(String::from_utf8_lossy(text.as_ref()).into_owned()))
}

/// A number that was given, if one was.
pub(crate) fn number_of(value: &Value<'_>) -> Option<f64> {
    value.as_float().or_else(|| value.as_int().map(f64::from))
}

/// The fields of an object as strings, in its order; none if the value is not an object.
pub(crate) fn string_fields(value: &Value<'_>) -> Result<Vec<(String, String)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let fields = object.props::<String, Value<'_>>();
    fields.map(|field| field.and_then(|(name, value)| Ok((name, string_of(&value)?)))).collect()
}
