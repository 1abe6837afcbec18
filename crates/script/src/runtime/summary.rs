//! What `handleSummary` returned: places, and what is to be written there.

use rquickjs::{Ctx, Exception, Result, Value};
use serde_json::{Value as Json, json};

use crate::runtime::{ffi, run_loop};

/// What is to be written to a place, by its name: a path, `stdout` or `stderr`.
pub type Document = (String, Vec<u8>);

/// What the function returned as JSON: a list of places with texts or bytes; `None` where it returned nothing.
pub(crate) fn written<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Option<String>> {
    let value = match value.as_promise() {
        Some(promise) => run_loop::outcome(ctx, promise)?,
        None => value,
    };
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let Some(object) = value.as_object() else {
        let text = "handleSummary() should return a map with string keys";
        return Err(Exception::throw_type(ctx, text));
    };
    let mut all = Vec::new();
    for field in object.props::<String, Value<'js>>() {
        let (place, content) = field?;
        if let Some(text) = content.as_string() {
            all.push(json!([place, text.to_string()?]));
        } else if let Some(bytes) = ffi::array_buffer(&content) {
            all.push(json!([place, ffi::copied(&bytes)]));
        } else {
            let text = format!(
                "error handling summary object {place}: invalid type, it needs to be a string or ArrayBuffer"
            );
            return Err(Exception::throw_type(ctx, &text));
        }
    }
    Ok(Some(Json::Array(all).to_string()))
}

/// The documents in what a call of `handleSummary` gave.
#[must_use]
pub fn documents(returned: &str) -> Vec<Document> {
    let parsed: Vec<(String, Json)> = serde_json::from_str(returned).unwrap_or_default();
    let document = |(place, content): (String, Json)| match content {
        Json::String(text) => (place, text.into_bytes()),
        Json::Array(bytes) => {
            let byte = |value: &Json| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            (place, bytes.iter().filter_map(byte).collect())
        }
        _ => (place, Vec::new()),
    };
    parsed.into_iter().map(document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_texts_or_bytes() {
        let documents = documents(r#"[["stdout","a\n"],["f.bin",[1,255]]]"#);
        let expect = [("stdout".to_owned(), b"a\n".to_vec()), ("f.bin".to_owned(), vec![1, 255])];
        assert_eq!(documents, expect);
    }
}
