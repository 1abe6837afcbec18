//! Metadata as it is given: `NAME: VALUE`, or an object of JSON.

use grpc::encode_binary;
use serde_json::Value;

/// The metadata of a text: one field, or an object with a text, or several, for each name. Values of names that end in `-bin` go
/// out in base64.
///
/// # Errors
/// The text is neither; the error is the reason.
pub fn parse_metadata(text: &str) -> Result<Vec<(String, String)>, MetadataError> {
    let fields = match text.trim_start().starts_with('{') {
        true => of_object(text)?,
        false => vec![of_line(text)?],
    };
    fields.into_iter().map(checked).collect()
}

/// Why a text is no metadata.
#[derive(Debug, PartialEq, Eq)]
pub struct MetadataError(String);

impl std::fmt::Display for MetadataError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MetadataError {}

fn of_line(text: &str) -> Result<(String, String), MetadataError> {
    let parts = text.split_once(':').filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = parts.ok_or_else(|| {
        MetadataError("metadata is not \"NAME: VALUE\", nor an object of JSON".to_owned())
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn of_object(text: &str) -> Result<Vec<(String, String)>, MetadataError> {
    let wrong = |what: String| MetadataError(format!("metadata: {what}"));
    let value: Value = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
    let Value::Object(object) = value else { return Err(wrong("no object".to_owned())) };
    let mut fields = Vec::new();
    for (name, value) in object {
        match value {
            Value::String(text) => fields.push((name, text)),
            Value::Array(list) if list.iter().all(Value::is_string) => {
                let texts = list.iter().filter_map(Value::as_str);
                fields.extend(texts.map(|text| (name.clone(), text.to_owned())));
            }
            _ => return Err(wrong(format!("\"{name}\" is not a text"))),
        }
    }
    Ok(fields)
}

fn checked((name, value): (String, String)) -> Result<(String, String), MetadataError> {
    let name = name.to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !name.bytes().all(is_name) {
        return Err(MetadataError(format!("metadata: \"{name}\" is no name of a field")));
    }
    let value = if name.ends_with("-bin") { encode_binary(value.as_bytes()) } else { value };
    if value.contains(['\r', '\n']) {
        return Err(MetadataError(format!("metadata: \"{name}\" has a line break")));
    }
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_objects_are_metadata() {
        let own = |list: &[(&str, &str)]| -> Vec<(String, String)> {
            list.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
        };
        assert_eq!(parse_metadata("X-A: b: c"), Ok(own(&[("x-a", "b: c")])));
        let object = r#"{"a": "1", "k-bin": "ab", "m": ["2", "3"]}"#;
        let expect = own(&[("a", "1"), ("k-bin", "YWI"), ("m", "2"), ("m", "3")]);
        let mut parsed = parse_metadata(object).expect("metadata");
        parsed.sort();
        assert_eq!(parsed, expect);
        for bad in ["x", ":x", "{", "{\"a\": 1}", "a b: c", "a: b\nc"] {
            assert!(parse_metadata(bad).is_err(), "{bad}");
        }
    }
}
