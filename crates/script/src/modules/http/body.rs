//! The bodies of requests.

use rquickjs::{ArrayBuffer, Ctx, Exception, Result, Value};

use crate::action::HttpAsk;
use crate::modules::string_of;
use crate::raw::copied;

/// The body: bytes as they are, a string, an object as a form.
pub(super) fn set<'js>(ctx: &Ctx<'js>, body: &Value<'js>, ask: &mut HttpAsk) -> Result<()> {
    if let Some(buffer) = ArrayBuffer::from_value(body.clone()) {
        ask.body = Some(copied(&buffer));
        return Ok(());
    }
    if body.is_string() {
        ask.body = Some(string_of(body)?.into_bytes());
        return Ok(());
    }
    if body.as_object().is_none() || body.is_array() || body.is_function() {
        let text = "a request's body is a string, an ArrayBuffer or an object";
        return Err(Exception::throw_type(ctx, text));
    }
    ask.body = Some(form(body)?.into_bytes());
    ask.default_header("Content-Type", "application/x-www-form-urlencoded");
    Ok(())
}

/// The fields of an object as a form, sorted by name; an array is a field for each of its values.
fn form(body: &Value<'_>) -> Result<String> {
    let mut fields = Vec::new();
    let object = body.as_object().into_iter();
    for field in object.flat_map(|object| object.props::<String, Value<'_>>()) {
        let (name, value) = field?;
        match value.as_array() {
            Some(values) => {
                for value in values.iter::<Value<'_>>() {
                    fields.push((name.clone(), string_of(&value?)?));
                }
            }
            None => fields.push((name, string_of(&value)?)),
        }
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", form_encoded(name), form_encoded(value)))
        .collect();
    Ok(pairs.join("&"))
}

/// WHATWG URL, 5.2: a space is `+`, and all but letters, digits and `*-._` are percent-encoded. Go leaves `~` as it is and
/// encodes `*`; so do we.
fn form_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_encoded_as_go_does() {
        assert_eq!(form_encoded("a b&c=ü~*"), "a+b%26c%3D%C3%BC~%2A");
    }
}
