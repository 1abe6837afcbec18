//! A schema with its references followed and its `allOf` parts in one: what a value is made by.

use serde_json::{Map, Value, json};

use super::document::{Document, list, reference};

/// The schema behind `schema`, without `$ref` and `allOf` at its top. Circles are cut.
pub(super) fn merged(document: &Document, schema: &Value) -> Value {
    let mut whole = Map::new();
    let mut merge = Merge { document, parts: 0 };
    merge.add(schema, 0, &mut whole);
    Value::Object(whole)
}

struct Merge<'a> {
    document: &'a Document,
    parts: usize,
}

impl Merge<'_> {
    fn add(&mut self, schema: &Value, depth: usize, whole: &mut Map<String, Value>) {
        self.parts += 1;
        if depth > DEPTH_MAX || self.parts > PARTS_MAX {
            return;
        }
        if let Some(target) = reference(schema) {
            let document = self.document;
            if let Some(part) = document.target(target) {
                self.add(part, depth + 1, whole);
            }
        }
        for part in list(schema, "allOf") {
            self.add(part, depth + 1, whole);
        }
        let own = schema.as_object().into_iter().flatten();
        for (key, value) in own.filter(|(key, _)| *key != "$ref" && *key != "allOf") {
            combine(whole, key, value);
        }
    }
}

/// Adds a keyword to those that are there already: the narrower of two bounds, both lists of required names.
fn combine(whole: &mut Map<String, Value>, key: &str, value: &Value) {
    let Some(present) = whole.get_mut(key) else {
        whole.insert(key.to_owned(), value.clone());
        return;
    };
    match key {
        "properties" | "patternProperties" => {
            for (name, part) in value.as_object().into_iter().flatten() {
                let both = match present.get(name) {
                    Some(other) if other != part => json!({ "allOf": [other, part] }),
                    _ => part.clone(),
                };
                present[name.as_str()] = both;
            }
        }
        "required" => {
            let names = value.as_array().into_iter().flatten().cloned();
            present.as_array_mut().into_iter().for_each(|present| present.extend(names.clone()));
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            if value.as_f64() > present.as_f64() || value.as_bool() == Some(true) {
                *present = value.clone();
            }
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            if value.as_f64() < present.as_f64() || value.as_bool() == Some(true) {
                *present = value.clone();
            }
        }
        "enum" => {
            let other = value.as_array().cloned().unwrap_or_default();
            present
                .as_array_mut()
                .into_iter()
                .for_each(|present| present.retain(|choice| other.contains(choice)));
        }
        "readOnly" | "writeOnly" | "uniqueItems" => {
            *present = json!(present == &json!(true) || value == &json!(true));
        }
        "nullable" => *present = json!(present == &json!(true) && value == &json!(true)),
        "additionalProperties" | "items" if value == &json!(true) => (),
        "oneOf" | "anyOf" => (),
        _ => *present = value.clone(),
    }
}

/// References and parts inside each other.
const DEPTH_MAX: usize = 30;
/// Parts of one schema.
const PARTS_MAX: usize = 500;
