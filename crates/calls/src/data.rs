//! `CallData`: the messages of requests: from JSON, which may have templates, or as bytes.

use anyhow::{Context as _, Result, anyhow, bail};
use grpc::{CallRequest, Method, json};
use serde_json::Value;

use crate::request_values::RequestValues;
use crate::template::Template;

/// The messages of requests.
#[derive(Clone, Debug)]
pub enum CallData {
    /// JSON: a message, or an array of messages.
    Json(Template),
    /// One message as bytes, which nothing looks at.
    Binary(Vec<u8>),
}

impl CallData {
    /// Data of a JSON text.
    ///
    /// # Errors
    /// A template in it is wrong.
    pub fn json(text: &str) -> Result<Self> {
        Ok(Self::Json(Template::parse(text)?))
    }

    /// Whether every request is taken from the same messages.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Json(template) => template.is_constant(),
            Self::Binary(_) => true,
        }
    }

    /// The bodies that requests have in turn, where they are the same each time.
    ///
    /// # Errors
    /// The data does not fit the method.
    pub(crate) fn bodies(
        &self,
        (method, stream_messages): (&Method, Option<u64>),
        values: &mut RequestValues<'_>,
    ) -> Result<Vec<Vec<u8>>> {
        let messages = match self {
            Self::Binary(bytes) => vec![bytes.clone()],
            Self::Json(template) => messages(&template.render(values)?, method)?,
        };
        Ok(match method.is_client_stream() {
            true => vec![stream_body(&messages, stream_messages)?],
            false => messages.iter().map(|message| CallRequest::body(&[message])).collect(),
        })
    }
}

/// The body of a client's stream, of so many of the messages in turn.
fn stream_body(messages: &[Vec<u8>], count: Option<u64>) -> Result<Vec<u8>> {
    const BODY_MAX: u64 = 64 << 20;
    let Some(count) = count.filter(|_| !messages.is_empty()) else {
        return Ok(CallRequest::body(messages));
    };
    let longest = messages.iter().map(Vec::len).max().unwrap_or(0) as u64 + 5;
    if count.saturating_mul(longest) > BODY_MAX {
        bail!("a stream of {count} messages has more than {BODY_MAX} bytes");
    }
    let in_turn: Vec<&Vec<u8>> = messages.iter().cycle().take(count as usize).collect();
    Ok(CallRequest::body(&in_turn))
}

/// The messages of a JSON text, in the order of an array.
fn messages(text: &str, method: &Method) -> Result<Vec<Vec<u8>>> {
    let input = method.input();
    let one = |text: &str| {
        let message = json::decode(text, &input)?;
        Ok::<_, json::JsonError>(json::encode_bytes(&message))
    };
    let context = || format!("data for {} ({})", method.path(), input.full_name());
    if !text.trim_start().starts_with('[') {
        return Ok(vec![one(text).with_context(context)?]);
    }
    let list: Vec<Value> =
        serde_json::from_str(text).map_err(|error| anyhow!("{error}")).with_context(context)?;
    if list.is_empty() && !method.is_client_stream() {
        bail!("{}: the array has no message", context());
    }
    let number = |at: usize| format!("{}, message {} of the array", context(), at + 1);
    let messages = list.iter().enumerate();
    messages.map(|(at, item)| one(&item.to_string()).with_context(|| number(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::find_method;
    use crate::method::tests::{SHOP, definitions};
    use crate::request_values::MethodNames;

    fn bodies(method: &str, text: &str) -> Result<Vec<Vec<u8>>> {
        let method = find_method(&definitions(SHOP), method).expect("a method");
        let names = MethodNames::of(&method);
        let data = CallData::json(text)?;
        data.bodies((&method, None), &mut RequestValues::new(&names, (4, 0), 1))
    }

    #[test]
    fn arrays_are_messages() {
        let one = b"\0\0\0\0\x03\x0a\x01a".to_vec();
        let two = b"\0\0\0\0\x03\x0a\x01b".to_vec();
        assert_eq!(
            bodies("shop.v1.Shop/Buy", r#"{"name":"a"}"#).expect("one"),
            std::slice::from_ref(&one)
        );
        let list = r#"[{"name":"a"},{"name":"b"}]"#;
        assert_eq!(bodies("shop.v1.Shop/Buy", list).expect("two"), [one.clone(), two.clone()]);
        assert_eq!(bodies("shop.v1.Shop/Put", list).expect("a stream"), [[one, two].concat()]);
        assert_eq!(bodies("shop.v1.Shop/Put", "[]").expect("none"), [Vec::<u8>::new()]);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let error = |text: &str| format!("{:#}", bodies("shop.v1.Shop/Buy", text).expect_err(text));
        let text = error(r#"{"count": "x"}"#);
        assert!(text.starts_with("data for /shop.v1.Shop/Buy (shop.v1.Item): "), "{text}");
        assert!(text.contains("line 1:"), "{text}");
        assert!(error(r#"{"nam": "x"}"#).contains("nam"));
        assert!(error(r#"[{"name": "x"}, {"name": 5}]"#).contains("message 2 of the array"));
        assert!(error("[]").contains("no message"));
        assert!(error(r#"{"name":"#).contains("syntax error"));
    }
}
