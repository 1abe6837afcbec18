//! An OpenAPI document as a tree in its own order, and what its references lead to. No file is read here: a reference to another
//! document is looked up among those that the caller brought.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use serde_norway::Value as Yaml;

use super::flow;
use super::problem::DocumentError;

/// A document and the other documents that it refers to.
pub(super) struct Document {
    pub root: Value,
    /// The paths, in the document's order.
    pub paths: Vec<String>,
    others: BTreeMap<String, Value>,
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self, DocumentError> {
        let tree = parse_tree(text)?;
        let paths = match tree.get("paths") {
            Some(Yaml::Mapping(paths)) => paths.keys().cloned().map(key_text).collect(),
            _ => Vec::new(),
        };
        let root = without_tags(tree);
        if root.get("openapi").is_none() && root.get("swagger").is_none() {
            return Err(DocumentError::NotOpenApi);
        }
        Ok(Self { root, paths, others: BTreeMap::new() })
    }

    /// Adds the text of another document under the name by which references call it.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<(), DocumentError> {
        let mut tree = without_tags(parse_tree(text)?);
        rebase(&mut tree, name);
        self.others.insert(name.to_owned(), tree);
        Ok(())
    }

    /// Whether this is Swagger 2.
    pub(super) fn is_swagger(&self) -> bool {
        self.root.get("swagger").is_some()
    }

    /// The names of other documents that this one, or a document added to it, refers to and that were not added yet.
    pub(super) fn missing_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        for tree in std::iter::once(&self.root).chain(self.others.values()) {
            collect_names(tree, &mut names);
        }
        names.sort();
        names.dedup();
        names.retain(|name| !self.others.contains_key(name));
        names
    }

    /// What `value` stands for: itself, or what its reference leads to, by at most `REFERENCES_MAX` steps. `None` where the reference
    /// leads nowhere or in a circle.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        let mut current = value;
        for _ in 0..REFERENCES_MAX {
            match reference(current) {
                None => return Some(current),
                Some(target) => current = self.target(target)?,
            }
        }
        None
    }

    /// What a reference leads to, which may be a reference again.
    pub(super) fn target(&self, reference: &str) -> Option<&Value> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let root = if file.is_empty() { &self.root } else { self.others.get(file_name(file))? };
        let mut place = root;
        for part in fragment.split('/').skip(1) {
            let key = unescape(part);
            place = match place {
                Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
                _ => place.get(&key)?,
            };
        }
        Some(place)
    }
}

/// The reference that a value consists of.
pub(super) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref").and_then(Value::as_str)
}

/// A member that is a text.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A member that is a list; empty where there is none.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The pairs of a member that is an object.
pub(super) fn members<'a>(
    value: &'a Value,
    key: &str,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let mapping = value.get(key).and_then(Value::as_object);
    mapping.into_iter().flatten().map(|(key, value)| (key.as_str(), value))
}

/// A member that is `true`.
pub(super) fn is_set(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// The tree of a text in JSON or YAML, in its order.
fn parse_tree(text: &str) -> Result<Yaml, DocumentError> {
    let text = text.trim_start_matches('\u{feff}');
    let is_json = text.trim_start().starts_with('{');
    match serde_json::from_str(text) {
        Ok(tree) if is_json => Ok(tree),
        // A YAML document may begin with a brace as well.
        Err(json) if is_json && flow::is_too_deep(text) => Err(DocumentError::Json(json)),
        Err(json) if is_json => parse_yaml(text).map_err(|_| DocumentError::Json(json)),
        _ if flow::is_too_deep(text) => Err(DocumentError::TooDeep),
        _ => parse_yaml(text).map_err(DocumentError::Yaml),
    }
}

fn parse_yaml(text: &str) -> Result<Yaml, serde_norway::Error> {
    let mut tree: Yaml = serde_norway::from_str(text)?;
    tree.apply_merge()?;
    Ok(tree)
}

/// The tree as JSON: keys such as 200 and true are texts, and tags are left out.
fn without_tags(tree: Yaml) -> Value {
    match tree {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(value),
        Yaml::Number(number) => serde_json::to_value(number).unwrap_or(Value::Null),
        Yaml::String(text) => Value::String(text),
        Yaml::Sequence(items) => Value::Array(items.into_iter().map(without_tags).collect()),
        Yaml::Mapping(mapping) => {
            let pairs =
                mapping.into_iter().map(|(key, value)| (key_text(key), without_tags(value)));
            Value::Object(pairs.collect::<Map<_, _>>())
        }
        Yaml::Tagged(tagged) => without_tags(tagged.value),
    }
}

fn key_text(key: Yaml) -> String {
    match key {
        Yaml::String(text) => text,
        other => serde_json::to_string(&other).unwrap_or_default(),
    }
}

/// The names of files in references anywhere in a tree.
fn collect_names(tree: &Value, names: &mut Vec<String>) {
    if let Some(target) = reference(tree) {
        let file = target.split('#').next().unwrap_or_default();
        if !file.is_empty() {
            names.push(file_name(file).to_owned());
        }
    }
    match tree {
        Value::Object(mapping) => mapping.values().for_each(|value| collect_names(value, names)),
        Value::Array(items) => items.iter().for_each(|value| collect_names(value, names)),
        _ => (),
    }
}

/// Makes the references of another document lead from the first one: `#/x` becomes `name#/x`, and file names go from its folder.
fn rebase(tree: &mut Value, name: &str) {
    match tree {
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                match value {
                    Value::String(target) if key == "$ref" => {
                        let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
                        let file = if file.is_empty() {
                            name.to_owned()
                        } else {
                            beside(name, file_name(file))
                        };
                        *target = format!("{file}#{fragment}");
                    }
                    value => rebase(value, name),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, name)),
        _ => (),
    }
}

/// The name of a file that lies in the folder of `name`, or is reached from there.
fn beside(name: &str, file: &str) -> String {
    if file.starts_with('/') || file.contains("://") {
        return file.to_owned();
    }
    let mut folders: Vec<&str> = name.split('/').collect();
    folders.pop();
    for part in file.split('/') {
        match part {
            "." => (),
            ".." if folders.last().is_some_and(|last| *last != "..") => {
                folders.pop();
            }
            part => folders.push(part),
        }
    }
    folders.join("/")
}

fn file_name(file: &str) -> &str {
    file.trim_start_matches("./")
}

/// A part of a JSON pointer in a fragment: percent-encoded, `~1` for a slash and `~0` for a tilde.
fn unescape(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().replace("~1", "/").replace("~0", "~")
}

/// Steps from one reference to the next.
const REFERENCES_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_is_read_as_1_2_with_merges_and_numbers_for_keys() {
        let text = "openapi: 3.0.0\nbase: &b { no: on, 200: yes }\nx: { <<: *b, y: 1.0.0 }\n";
        let document = Document::parse(text).expect("parses");
        assert_eq!(document.root["x"]["no"].as_str(), Some("on"));
        assert_eq!(document.root["x"]["200"].as_str(), Some("yes"));
        assert_eq!(document.root["x"]["y"].as_str(), Some("1.0.0"));
    }

    #[test]
    fn references_are_followed_and_circles_end() {
        let text = r##"{"openapi":"3.0.0","a":{"$ref":"#/b"},"b":{"$ref":"#/paths/~1x%7By%7D/0"},"paths":{"/x{y}":[7]},
            "c":{"$ref":"#/d"},"d":{"$ref":"#/c"},"e":{"$ref":"other.yaml#/z"}}"##;
        let mut document = Document::parse(text).expect("parses");
        assert_eq!(document.resolve(&document.root["a"]).and_then(Value::as_i64), Some(7));
        assert!(document.resolve(&document.root["c"]).is_none());
        assert!(document.resolve(&document.root["e"]).is_none());
        assert_eq!(document.missing_names(), ["other.yaml"]);
        document
            .add("other.yaml", "z: {$ref: '#/y'}\ny: {$ref: sub/more.yaml#/q}")
            .expect("parses");
        assert_eq!(document.missing_names(), ["sub/more.yaml"]);
        document.add("sub/more.yaml", "q: {$ref: '../other.yaml#/n'}").expect("parses");
        document
            .add("other.yaml", "z: {$ref: '#/y'}\ny: {$ref: sub/more.yaml#/q}\nn: 3")
            .expect("parses");
        assert_eq!(document.resolve(&document.root["e"]).and_then(Value::as_i64), Some(3));
    }

    #[test]
    fn hostile_documents_are_refused() {
        let deep = format!(r#"{{"openapi":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        let bomb = (0..30).fold(String::from("openapi: &a0 [x, x]\n"), |text, level| {
            format!(
                "{text}k{level}: &a{} [*a{level}, *a{level}, *a{level}, *a{level}]\n",
                level + 1
            )
        });
        for text in ["", "{", "[1]", "a: [", deep.as_str(), bomb.as_str(), "hello"] {
            assert!(Document::parse(text).is_err(), "{text:.40}");
        }
    }
}
