//! Parameters of operations, and how their values are written into path, query, header fields and cookies.

use serde_json::Value;

use super::document::{Document, is_set, list, members, text};
use super::example::Examples;
use crate::percent::encode_component;

/// A parameter with the value that is sent.
pub(super) struct Parameter {
    pub name: String,
    pub place: ParameterPlace,
    style: Style,
    is_exploded: bool,
    value: Value,
    /// Whether no valid value was found, so that this is a guess.
    pub is_guess: bool,
}

/// Where a parameter is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterPlace {
    Path,
    Query,
    Header,
    Cookie,
}

/// How lists and objects are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Form,
    Simple,
    Label,
    Matrix,
    SpaceDelimited,
    PipeDelimited,
    TabDelimited,
    DeepObject,
    /// The value as one text of JSON.
    Json,
}

impl Parameter {
    /// The parameter with its value; `None` if it is one of a body, or an optional one for which the document has no example.
    pub(super) fn read(
        document: &Document,
        examples: &Examples<'_>,
        parameter: &Value,
    ) -> Option<Self> {
        let place = match text(parameter, "in")? {
            "path" => ParameterPlace::Path,
            "query" => ParameterPlace::Query,
            "header" => ParameterPlace::Header,
            "cookie" => ParameterPlace::Cookie,
            _ => return None,
        };
        let name = text(parameter, "name")?.to_owned();
        let media = members(parameter, "content").next().map(|(_, media)| media);
        let described = media.unwrap_or(parameter);
        let own = examples_beside(document, described);
        let required = is_set(parameter, "required") || place == ParameterPlace::Path;
        let schema = if document.is_swagger() {
            swagger_schema(parameter)
        } else {
            described.get("schema").cloned()
        };
        let schema = schema.unwrap_or(Value::Bool(true));
        let has_example = !own.is_empty()
            || document.resolve(&schema).is_some_and(|schema| schema.get("example").is_some());
        if !required && !has_example {
            return None;
        }
        let (value, is_guess) = match examples.value(&schema, &own) {
            Ok(value) => (value, false),
            Err(value) => (value, true),
        };
        let (style, is_exploded) =
            if media.is_some() { (Style::Json, false) } else { style(document, parameter, place) };
        Some(Self { name, place, style, is_exploded, value, is_guess })
    }

    /// The value as a part of the path, encoded.
    pub(super) fn in_path(&self) -> String {
        let name = encode_component(&self.name);
        let separator = if self.is_exploded { "." } else { "," };
        match (self.style, &self.value) {
            (Style::Label, _) => format!(".{}", self.joined(separator)),
            (Style::Matrix, Value::Array(items)) if self.is_exploded => items
                .iter()
                .map(|item| format!(";{name}={}", encode_component(&scalar_text(item))))
                .collect(),
            (Style::Matrix, Value::Object(_)) if self.is_exploded => {
                format!(";{}", self.joined(";"))
            }
            (Style::Matrix, _) => format!(";{name}={}", self.joined(",")),
            _ => self.joined(","),
        }
    }

    /// The pairs of the query, encoded.
    pub(super) fn in_query(&self) -> Vec<String> {
        let name = encode_component(&self.name);
        let pair =
            |name: &str, value: &Value| format!("{name}={}", encode_component(&scalar_text(value)));
        match (&self.value, self.style) {
            (Value::Array(items), Style::Form) if self.is_exploded => {
                items.iter().map(|item| pair(&name, item)).collect()
            }
            (Value::Array(_) | Value::Object(_), Style::SpaceDelimited) => {
                vec![format!("{name}={}", self.joined("%20"))]
            }
            (Value::Array(_) | Value::Object(_), Style::PipeDelimited) => {
                vec![format!("{name}={}", self.joined("%7C"))]
            }
            (Value::Array(_), Style::TabDelimited) => {
                vec![format!("{name}={}", self.joined("%09"))]
            }
            (Value::Object(_), Style::DeepObject) => {
                let mut pairs = Vec::new();
                deep_pairs(&name, &self.value, &mut pairs);
                pairs
            }
            (Value::Object(object), Style::Form) if self.is_exploded => {
                object.iter().map(|(key, value)| pair(&encode_component(key), value)).collect()
            }
            (Value::Array(_) | Value::Object(_), Style::Form) => {
                vec![format!("{name}={}", self.joined(","))]
            }
            (value, _) => vec![pair(&name, value)],
        }
    }

    /// The value as a header field's.
    pub(super) fn in_header(&self) -> String {
        let raw = match (&self.value, self.style) {
            (Value::Array(items), Style::Simple) => {
                items.iter().map(scalar_text).collect::<Vec<_>>().join(",")
            }
            (Value::Object(object), Style::Simple) => {
                let separator = if self.is_exploded { "=" } else { "," };
                let pairs = object
                    .iter()
                    .map(|(key, value)| format!("{key}{separator}{}", scalar_text(value)));
                pairs.collect::<Vec<_>>().join(",")
            }
            (value, _) => scalar_text(value),
        };
        raw.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
    }

    /// The cookie.
    pub(super) fn in_cookie(&self) -> String {
        format!("{}={}", encode_component(&self.name), self.joined(","))
    }

    /// The encoded elements, or names and values, with `separator` between them.
    fn joined(&self, separator: &str) -> String {
        match &self.value {
            Value::Array(items) if self.style != Style::Json => items
                .iter()
                .map(|item| encode_component(&scalar_text(item)))
                .collect::<Vec<_>>()
                .join(separator),
            Value::Object(object) if self.style != Style::Json => {
                let between = if self.is_exploded { "=" } else { separator };
                let pairs = object.iter().map(|(key, value)| {
                    format!(
                        "{}{between}{}",
                        encode_component(key),
                        encode_component(&scalar_text(value))
                    )
                });
                pairs.collect::<Vec<_>>().join(separator)
            }
            value => encode_component(&scalar_text(value)),
        }
    }
}

/// The examples that stand beside a schema, in a parameter or a body's media type.
pub(super) fn examples_beside<'a>(document: &'a Document, described: &'a Value) -> Vec<&'a Value> {
    let several = members(described, "examples")
        .filter_map(|(_, example)| document.resolve(example)?.get("value"));
    described.get("example").into_iter().chain(described.get("x-example")).chain(several).collect()
}

/// A value as text: texts bare, objects and lists as JSON.
pub(super) fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Swagger 2 has the schema's keywords in the parameter itself.
pub(super) fn swagger_schema(parameter: &Value) -> Option<Value> {
    let mut schema = parameter.clone();
    let members = schema.as_object_mut()?;
    for key in ["required", "in", "name", "description"] {
        members.remove(key);
    }
    Some(schema)
}

fn style(document: &Document, parameter: &Value, place: ParameterPlace) -> (Style, bool) {
    let form = matches!(place, ParameterPlace::Query | ParameterPlace::Cookie);
    let plain = if form { Style::Form } else { Style::Simple };
    if document.is_swagger() {
        let style = match text(parameter, "collectionFormat") {
            Some("ssv") => Style::SpaceDelimited,
            Some("pipes") => Style::PipeDelimited,
            Some("tsv") => Style::TabDelimited,
            _ => plain,
        };
        return (style, text(parameter, "collectionFormat") == Some("multi"));
    }
    let style = match text(parameter, "style") {
        Some("label") => Style::Label,
        Some("matrix") => Style::Matrix,
        Some("spaceDelimited") => Style::SpaceDelimited,
        Some("pipeDelimited") => Style::PipeDelimited,
        Some("deepObject") => Style::DeepObject,
        Some("form") => Style::Form,
        Some("simple") => Style::Simple,
        _ => plain,
    };
    let is_exploded = parameter.get("explode").and_then(Value::as_bool);
    let is_exploded = is_exploded.unwrap_or(style == Style::Form);
    // Exploded, the delimited styles are written as forms are.
    match style {
        Style::SpaceDelimited | Style::PipeDelimited if is_exploded => (Style::Form, true),
        style => (style, is_exploded),
    }
}

fn deep_pairs(name: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| {
                deep_pairs(&format!("{name}[{}]", encode_component(key)), value, pairs);
            });
        }
        Value::Array(items) => {
            items.iter().for_each(|item| deep_pairs(&format!("{name}[]"), item, pairs));
        }
        value => pairs.push(format!("{name}={}", encode_component(&scalar_text(value)))),
    }
}

/// The parameters of an operation after those of its path, the operation's own in the place of the path's of the same name.
pub(super) fn parameters_of<'a>(
    document: &'a Document,
    path_item: &'a Value,
    operation: &'a Value,
) -> Vec<&'a Value> {
    let mut all: Vec<&Value> = Vec::new();
    for parameter in list(path_item, "parameters").iter().chain(list(operation, "parameters")) {
        let Some(parameter) = document.resolve(parameter) else { continue };
        let key = |value: &'a Value| (text(value, "in"), text(value, "name"));
        match all.iter_mut().find(|other| key(other) == key(parameter)) {
            Some(present) => *present = parameter,
            None => all.push(parameter),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parameter as it is sent.
    fn sent(parameter: &str) -> String {
        let document = Document::parse(&format!("openapi: 3.0.0\np: {parameter}")).expect("parses");
        let examples = Examples::new(&document);
        let parameter =
            Parameter::read(&document, &examples, &document.root["p"]).expect("is sent");
        match parameter.place {
            ParameterPlace::Path => parameter.in_path(),
            ParameterPlace::Query => parameter.in_query().join("&"),
            ParameterPlace::Header => parameter.in_header(),
            ParameterPlace::Cookie => parameter.in_cookie(),
        }
    }

    #[test]
    fn styles_are_those_of_the_specification() {
        let table = [
            ("{in: path, name: c, schema: {type: array}, example: [a b, c]}", "a%20b,c"),
            (
                "{in: path, name: c, style: label, explode: true, schema: {type: array}, example: [a, b]}",
                ".a.b",
            ),
            (
                "{in: path, name: c, style: matrix, schema: {type: array}, example: [a, b]}",
                ";c=a,b",
            ),
            (
                "{in: path, name: c, style: matrix, explode: true, schema: {type: object}, example: {G: 1, R: 2}}",
                ";G=1;R=2",
            ),
            (
                "{in: path, name: c, explode: true, schema: {type: object}, example: {G: 1, R: 2}}",
                "G=1,R=2",
            ),
            ("{in: query, name: c, example: [1, 2], schema: {}}", "c=1&c=2"),
            ("{in: query, name: c, explode: false, example: [1, 2], schema: {}}", "c=1,2"),
            (
                "{in: query, name: c, style: pipeDelimited, explode: false, example: [1, 2], schema: {}}",
                "c=1%7C2",
            ),
            (
                "{in: query, name: c, style: spaceDelimited, explode: false, example: [1, 2], schema: {}}",
                "c=1%202",
            ),
            (
                "{in: query, name: c, style: deepObject, example: {a: 1, b: {c: x}}, schema: {}}",
                "c[a]=1&c[b][c]=x",
            ),
            ("{in: query, name: c, example: {a: 1, b: 2}, schema: {}}", "a=1&b=2"),
            (
                "{in: query, name: c, content: {application/json: {schema: {}, example: {k: v}}}}",
                "c=%7B%22k%22%3A%22v%22%7D",
            ),
            ("{in: query, name: 'a b', example: 'x&y=ü', schema: {}}", "a%20b=x%26y%3D%C3%BC"),
            ("{in: header, name: X, example: [7, 8], schema: {}}", "7,8"),
            ("{in: header, name: X, example: \"a\\r\\nEvil: 1\", schema: {}}", "a  Evil: 1"),
            ("{in: cookie, name: t, example: a;b, schema: {}}", "t=a%3Bb"),
        ];
        for (parameter, expect) in table {
            assert_eq!(sent(parameter), expect, "{parameter}");
        }
    }
}
