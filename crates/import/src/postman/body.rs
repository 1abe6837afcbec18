//! Bodies of requests: text, forms, multipart, GraphQL and files.

use serde_json::Value;

use super::value::{text, value_text};
use crate::media::type_of_file;
use crate::percent::encode_component;
use crate::variables::Variables;
use crate::{Body, Content, Encoding, Exchange, Header, Multipart, Part, Text};

/// Adds the body, with its `Content-Type` unless the request has one.
pub(super) fn add(variables: &mut Variables, body: Option<&Value>, exchange: &mut Exchange) {
    let Some(body) = body.filter(|body| body.get("disabled") != Some(&Value::Bool(true))) else {
        return;
    };
    let (made, content_type) = match text(body, "mode") {
        Some("raw") => raw(variables, body),
        Some("urlencoded") => (
            urlencoded(variables, body.get("urlencoded")),
            Some("application/x-www-form-urlencoded"),
        ),
        Some("formdata") => (multipart(variables, body.get("formdata")), None),
        Some("graphql") => (graphql(variables, body.get("graphql")), Some("application/json")),
        Some("file") => file(body.get("file")),
        _ => return,
    };
    if made == Body::None {
        return;
    }
    if exchange.body == Body::None {
        exchange.body = made;
    }
    if let (Some(content_type), None) = (content_type, exchange.header("content-type")) {
        exchange
            .headers
            .push(Header { name: "Content-Type".to_owned(), value: Text::literal(content_type) });
    }
}

fn raw(variables: &mut Variables, body: &Value) -> (Body, Option<&'static str>) {
    let source = value_text(body.get("raw"));
    let options = body.get("options").and_then(|options| options.get("raw"));
    let content_type = match options.and_then(|options| text(options, "language")) {
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("html") => "text/html",
        Some("javascript") => "application/javascript",
        _ => "text/plain",
    };
    let made =
        if source.is_empty() { Body::None } else { Body::Text(variables.substitute(&source)) };
    (made, Some(content_type))
}

/// The enabled fields of a form.
fn fields(form: Option<&Value>) -> impl Iterator<Item = &Value> {
    let all = form.and_then(Value::as_array).into_iter().flatten();
    all.filter(|field| field.get("disabled") != Some(&Value::Bool(true)))
}

fn urlencoded(variables: &mut Variables, form: Option<&Value>) -> Body {
    if let Some(source) = form.and_then(Value::as_str) {
        return if source.is_empty() {
            Body::None
        } else {
            Body::Text(variables.substitute(source))
        };
    }
    let mut made = Text::default();
    for field in fields(form) {
        made.push_str(if made.is_empty() { "" } else { "&" });
        let key = variables.substitute(&value_text(field.get("key")));
        made.push(&key.encoded(encode_component, Encoding::Url));
        made.push_str("=");
        let value = variables.substitute(&value_text(field.get("value")));
        made.push(&value.encoded(encode_component, Encoding::Url));
    }
    if made.is_empty() { Body::None } else { Body::Text(made) }
}

fn multipart(variables: &mut Variables, form: Option<&Value>) -> Body {
    let mut parts = Vec::new();
    for field in fields(form) {
        let name = variables.substitute(&value_text(field.get("key")));
        let content_type = text(field, "contentType")
            .filter(|content_type| !content_type.is_empty())
            .map(str::to_owned);
        let sources: Vec<String> = match field.get("src") {
            Some(Value::Array(sources)) => {
                sources.iter().map(|source| value_text(Some(source))).collect()
            }
            Some(source) if !source.is_null() => vec![value_text(Some(source))],
            _ => Vec::new(),
        };
        if text(field, "type") != Some("file") {
            let content = Content::Text(variables.substitute(&value_text(field.get("value"))));
            parts.push(Part { name, file_name: None, content_type, headers: Vec::new(), content });
            continue;
        }
        for path in sources.into_iter().filter(|path| !path.is_empty()) {
            let base = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
            let file_name = text(field, "fileName").map_or(base, str::to_owned);
            let content_type =
                content_type.clone().or_else(|| Some(type_of_file(&path).to_owned()));
            let (name, file_name) = (name.clone(), Some(Text::literal(file_name)));
            parts.push(Part {
                name,
                file_name,
                content_type,
                headers: Vec::new(),
                content: Content::File { path },
            });
        }
    }
    if parts.is_empty() {
        Body::None
    } else {
        Body::Multipart(Multipart { subtype: "form-data".to_owned(), parts })
    }
}

fn graphql(variables: &mut Variables, graphql: Option<&Value>) -> Body {
    let Some(graphql) = graphql else { return Body::None };
    let mut query = |key: &str| variables.substitute(&value_text(graphql.get(key)));
    let (text, operation, values) = (query("query"), query("operationName"), query("variables"));
    Body::Text(graphql_text(&text, &operation, &values))
}

/// The JSON of a GraphQL request; its variables are JSON already.
pub(crate) fn graphql_text(query: &Text, operation: &Text, variables: &Text) -> Text {
    let mut made = Text::literal("{\"query\":");
    made.push(&quoted(query));
    if !operation.is_empty() {
        made.push_str(",\"operationName\":");
        made.push(&quoted(operation));
    }
    if !variables.with_values_as("x").trim().is_empty() {
        made.push_str(",\"variables\":");
        made.push(variables);
    }
    made.push_str("}");
    made
}

/// The text as a string of JSON.
fn quoted(text: &Text) -> Text {
    let inside = |literal: &str| {
        let quoted = Value::from(literal).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let mut made = Text::literal("\"");
    made.push(&text.encoded(inside, Encoding::Json));
    made.push_str("\"");
    made
}

/// A file as the whole body, with the type that the end of its name stands for.
fn file(file: Option<&Value>) -> (Body, Option<&'static str>) {
    let Some(file) = file else { return (Body::None, None) };
    let path = file.as_str().or_else(|| text(file, "src"));
    match (path.filter(|path| !path.is_empty()), text(file, "content")) {
        (Some(path), _) => (Body::File { path: path.to_owned() }, known_type(path)),
        (None, Some(content)) => (Body::Text(Text::literal(content)), None),
        _ => (Body::None, None),
    }
}

/// The type of a file whose name has one.
fn known_type(path: &str) -> Option<&'static str> {
    Some(type_of_file(path)).filter(|content_type| *content_type != "application/octet-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_type_of_its_ending() {
        let of = |body: &str| {
            let body: Value = serde_json::from_str(body).unwrap();
            let mut exchange = Exchange::default();
            add(&mut Variables::default(), Some(&body), &mut exchange);
            exchange.header("content-type").and_then(Text::as_literal).map(str::to_owned)
        };
        let file = |path: &str| format!("{{\"mode\":\"file\",\"file\":{{\"src\":\"{path}\"}}}}");
        assert_eq!(of(&file("a/pixel.png")).as_deref(), Some("image/png"));
        assert_eq!(of(&file("order.json")).as_deref(), Some("application/json"));
        assert_eq!(of(&file("data")), None);
        assert_eq!(of("{\"mode\":\"file\"}"), None);
    }
}
