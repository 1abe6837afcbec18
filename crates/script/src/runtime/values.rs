//! Values of JavaScript as ours.

use rquickjs::function::This;
use rquickjs::{Coerced, Function, Object, Result, Value};

/// Whether JavaScript takes a value for true.
pub(crate) fn truthy(value: &Value<'_>) -> Result<bool> {
    value.get::<Coerced<bool>>().map(|truth| truth.0)
}

/// A value as JavaScript's `String()` makes it.
pub(crate) fn string_of(value: &Value<'_>) -> Result<String> {
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
