//! Bodies of requests: JSON, forms, multipart, XML and text, by the first media type that is understood best.

use serde_json::{Map, Value};

use super::document::{Document, list, members, text};
use super::example::Examples;
use super::parameter::{examples_beside, scalar_text, swagger_schema};
use crate::percent::encode_form;
use crate::{Body, Content, Multipart, Part, Text};

/// A body with its media type.
pub(super) struct MadeBody {
    pub body: Body,
    /// The `Content-Type`; `None`: the script makes it, with the boundary.
    pub content_type: Option<String>,
    /// Whether no valid value was found, so that this is a guess.
    pub is_guess: bool,
}

/// A media type of a body, with its schema.
struct Media<'a> {
    content_type: String,
    schema: Value,
    examples: Vec<&'a Value>,
    encoding: Option<&'a Value>,
}

/// The body of an operation of OpenAPI 3.
pub(super) fn body_of(
    document: &Document,
    examples: &Examples<'_>,
    operation: &Value,
) -> Option<MadeBody> {
    let request_body = document.resolve(operation.get("requestBody")?)?;
    let (content_type, media) = members(request_body, "content")
        .min_by_key(|(content_type, _)| preference(content_type))?;
    let media = document.resolve(media)?;
    Some(made(
        document,
        examples,
        &Media {
            content_type: content_type.to_owned(),
            schema: media.get("schema").cloned().unwrap_or(Value::Bool(true)),
            examples: examples_beside(document, media),
            encoding: media.get("encoding"),
        },
    ))
}

/// The body of an operation of Swagger 2, which stands among its parameters.
pub(super) fn swagger_body(
    document: &Document,
    examples: &Examples<'_>,
    operation: &Value,
    parameters: &[&Value],
) -> Option<MadeBody> {
    let consumes = Some(list(operation, "consumes")).filter(|types| !types.is_empty());
    let consumes = consumes.unwrap_or_else(|| list(&document.root, "consumes"));
    let content_type = consumes
        .iter()
        .filter_map(Value::as_str)
        .min_by_key(|content_type| preference(content_type));
    if let Some(parameter) =
        parameters.iter().find(|parameter| text(parameter, "in") == Some("body"))
    {
        return Some(made(
            document,
            examples,
            &Media {
                content_type: content_type.unwrap_or("application/json").to_owned(),
                schema: parameter.get("schema").cloned().unwrap_or(Value::Bool(true)),
                examples: examples_beside(document, parameter),
                encoding: None,
            },
        ));
    }
    let fields: Vec<&&Value> =
        parameters.iter().filter(|parameter| text(parameter, "in") == Some("formData")).collect();
    if fields.is_empty() {
        return None;
    }
    let has_file = fields.iter().any(|field| text(field, "type") == Some("file"));
    let is_form = |content_type: &&str| content_type.contains("form");
    let usual = if has_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    let content_type = content_type
        .filter(is_form)
        .filter(|content_type| !has_file || content_type.starts_with("multipart/"));
    Some(made(
        document,
        examples,
        &Media {
            content_type: content_type.unwrap_or(usual).to_owned(),
            schema: form_schema(&fields),
            examples: Vec::new(),
            encoding: None,
        },
    ))
}

/// The fields of a form of Swagger 2 as the schema of an object.
fn form_schema(fields: &[&&Value]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in fields {
        let Some(name) = text(field, "name") else { continue };
        if super::document::is_set(field, "required") {
            required.push(Value::from(name));
        }
        let is_file = text(field, "type") == Some("file");
        let file = serde_json::json!({ "type": "string", "format": "binary" });
        properties.insert(
            name.to_owned(),
            if is_file { file } else { swagger_schema(field).unwrap_or_default() },
        );
    }
    serde_json::json!({ "type": "object", "required": required, "properties": properties })
}

/// A smaller number for what is understood better.
fn preference(content_type: &str) -> usize {
    let short = short(content_type);
    match short.as_str() {
        "application/json" => 0,
        _ if short.ends_with("json") => 1,
        "application/x-www-form-urlencoded" => 2,
        "multipart/form-data" => 3,
        _ if short.starts_with("multipart/") => 4,
        _ if short.starts_with("text/") => 5,
        _ if short.contains("xml") => 6,
        "*/*" => 9,
        _ => 8,
    }
}

fn short(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn made(document: &Document, examples: &Examples<'_>, media: &Media<'_>) -> MadeBody {
    let short = short(&media.content_type);
    let (value, is_guess) = match examples.value(&media.schema, &media.examples) {
        Ok(value) => (value, false),
        Err(value) => (value, true),
    };
    let schema = super::merge::merged(document, &media.schema);
    let mut content_type = Some(media.content_type.clone());
    let body = match short.as_str() {
        "*/*" => {
            content_type = Some("application/json".to_owned());
            json_text(&value)
        }
        "application/x-ndjson" | "application/jsonl" => format!("{value}\n"),
        _ if short.contains("json") => json_text(&value),
        "application/x-www-form-urlencoded" => form_text(&value),
        _ if short.starts_with("multipart/") => {
            let subtype = short.trim_start_matches("multipart/").to_owned();
            let parts = multipart(document, &value, &schema, media.encoding);
            return MadeBody {
                body: Body::Multipart(Multipart { subtype, parts }),
                content_type: None,
                is_guess,
            };
        }
        _ if short.contains("xml") && !value.is_string() => {
            xml_text(&media.schema, &schema, &value)
        }
        _ => scalar_text(&value),
    };
    MadeBody { body: Body::Text(Text::literal(body)), content_type, is_guess }
}

fn json_text(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn form_text(value: &Value) -> String {
    let mut pairs = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let values = value.as_array().map_or_else(|| vec![value], |items| items.iter().collect());
        pairs.extend(
            values
                .into_iter()
                .map(|value| format!("{}={}", encode_form(name), encode_form(&scalar_text(value)))),
        );
    }
    pairs.join("&")
}

fn multipart(
    document: &Document,
    value: &Value,
    schema: &Value,
    encoding: Option<&Value>,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        let property =
            schema.get("properties").and_then(|all| all.get(name)).cloned().unwrap_or_default();
        let property = super::merge::merged(document, &property);
        let own_type =
            encoding.and_then(|all| all.get(name)).and_then(|one| text(one, "contentType"));
        let own_type =
            own_type.and_then(|all| all.split(',').next()).map(|one| one.trim().to_owned());
        let (items, property) = match (value, property.get("items")) {
            (Value::Array(items), Some(part)) => {
                (items.iter().collect(), super::merge::merged(document, part))
            }
            _ => (vec![value], property),
        };
        parts.extend(items.into_iter().map(|item| part(name, item, &property, own_type.clone())));
    }
    parts
}

fn part(name: &str, value: &Value, property: &Value, own_type: Option<String>) -> Part {
    let is_binary = matches!(text(property, "format"), Some("binary"))
        || property.get("contentMediaType").is_some() && property.get("contentEncoding").is_none();
    let media = own_type.or_else(|| text(property, "contentMediaType").map(str::to_owned));
    let usual = match value {
        _ if is_binary => Some("application/octet-stream".to_owned()),
        Value::Object(_) | Value::Array(_) => Some("application/json".to_owned()),
        _ => None,
    };
    Part {
        name: Text::literal(name),
        file_name: is_binary.then(|| Text::literal(format!("{name}.bin"))),
        content_type: media.or(usual),
        headers: Vec::new(),
        content: Content::Text(Text::literal(scalar_text(value))),
    }
}

/// A value as XML: members as elements, lists as repeated elements.
fn xml_text(reference: &Value, schema: &Value, value: &Value) -> String {
    let of_reference =
        super::document::reference(reference).and_then(|target| target.rsplit('/').next());
    let of_schema = schema.get("xml").and_then(|xml| text(xml, "name"));
    let mut out = String::new();
    push_element(of_schema.or(of_reference).unwrap_or("root"), value, &mut out);
    out
}

fn push_element(name: &str, value: &Value, out: &mut String) {
    let name: String =
        name.chars().filter(|char| char.is_alphanumeric() || "_-.".contains(*char)).collect();
    if let Value::Array(items) = value {
        items.iter().for_each(|item| push_element(&name, item, out));
        return;
    }
    out.push_str(&format!("<{name}>"));
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| push_element(key, value, out));
        }
        scalar => {
            let text =
                scalar_text(scalar).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            out.push_str(&text);
        }
    }
    out.push_str(&format!("</{name}>"));
}
