//! Addresses of requests: their parts joined, path variables in place, and encoded as Postman sends them.

use serde_json::Value;

use super::value::{text, value_text};
use crate::percent::encode_typed;
use crate::variables::{Variables, encoded_for, with_defaults};
use crate::{Piece, Text};

/// The address that a request's `url` stands for.
pub(super) fn address(variables: &mut Variables, url: &Value) -> Text {
    let raw = match url {
        Value::String(raw) => raw.clone(),
        url if url.get("host").is_some() => joined(url),
        url => text(url, "raw").unwrap_or_default().to_owned(),
    };
    let raw = raw.trim().split('#').next().unwrap_or_default();
    let (path, query) =
        raw.split_once('?').map_or((raw, None), |(path, query)| (path, Some(query)));
    let mut made = Text::default();
    for (index, segment) in path.split('/').enumerate() {
        made.push_str(if index == 0 { "" } else { "/" });
        match path_variable(url, segment) {
            Some(value) => made.push(&encoded_for(&variables.substitute(&value), encode_segment)),
            None => made.push(&encoded_for(&variables.substitute(segment), encode_typed)),
        }
    }
    if let Some(query) = query {
        made.push_str("?");
        made.push(&encoded_for(&variables.substitute(query), encode_typed));
    }
    with_scheme(made)
}

/// The address with a scheme, `http` if it has none.
pub(crate) fn with_scheme(address: Text) -> Text {
    let plain = with_defaults(&address);
    let scheme = plain.split_once("://").map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let begins_with_run_value = matches!(address.pieces.first(), Some(Piece::Value(value)) if !matches!(value.source, crate::Source::Env { .. }));
    if plain.is_empty() || begins_with_run_value || scheme.is_some_and(is_scheme) {
        return address;
    }
    let mut made = Text::literal("http://");
    made.push(&address);
    made
}

/// The parts of an address as one text, without what is disabled.
fn joined(url: &Value) -> String {
    let mut made = text(url, "protocol")
        .map(|protocol| format!("{}://", protocol.trim_end_matches("://")))
        .unwrap_or_default();
    if let Some(auth) = url.get("auth").filter(|auth| auth.is_object()) {
        made.push_str(&format!(
            "{}:{}@",
            value_text(auth.get("user")),
            value_text(auth.get("password"))
        ));
    }
    made.push_str(&list_text(url.get("host"), "."));
    if let Some(port) =
        url.get("port").map(|port| value_text(Some(port))).filter(|port| !port.is_empty())
    {
        made.push_str(&format!(":{port}"));
    }
    let path = list_text(url.get("path"), "/");
    if !path.is_empty() {
        made.push_str(if path.starts_with('/') { "" } else { "/" });
        made.push_str(&path);
    }
    let parameters = url.get("query").and_then(Value::as_array).into_iter().flatten();
    let enabled =
        parameters.filter(|parameter| parameter.get("disabled") != Some(&Value::Bool(true)));
    for (index, parameter) in enabled.enumerate() {
        made.push_str(if index == 0 { "?" } else { "&" });
        made.push_str(&pair(parameter));
    }
    if let Some(query) = text(url, "query").filter(|query| !query.is_empty()) {
        made.push_str(&format!("?{query}"));
    }
    made
}

/// A parameter of the query; one without a value is its name alone.
fn pair(parameter: &Value) -> String {
    let escaped = |text: String| text.replace('&', "%26").replace('#', "%23");
    let key = escaped(value_text(parameter.get("key"))).replace('=', "%3D");
    match parameter.get("value") {
        None | Some(Value::Null) => key,
        value => format!("{key}={}", escaped(value_text(value))),
    }
}

fn list_text(value: Option<&Value>, separator: &str) -> String {
    match value {
        Some(Value::Array(parts)) => {
            let part = |part: &Value| {
                part.get("value")
                    .map_or_else(|| value_text(Some(part)), |value| value_text(Some(value)))
            };
            parts.iter().map(part).collect::<Vec<_>>().join(separator)
        }
        other => value_text(other),
    }
}

/// The value of `:name` in the path.
fn path_variable(url: &Value, segment: &str) -> Option<String> {
    let name = segment.strip_prefix(':').filter(|name| !name.is_empty())?;
    let variables = url.get("variable").and_then(Value::as_array)?;
    let is_that =
        |variable: &&Value| text(variable, "key").or_else(|| text(variable, "id")) == Some(name);
    let variable = variables.iter().find(is_that)?;
    variable.get("value").filter(|value| !value.is_null()).map(|value| value_text(Some(value)))
}

fn encode_segment(text: &str) -> String {
    encode_typed(text).replace('?', "%3F").replace('#', "%23")
}
