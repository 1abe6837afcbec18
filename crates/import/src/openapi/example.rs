//! Values for a schema: its own example, default, constant or first choice if that is valid, else one that is made from its keywords.
//! What only answers have (`readOnly`) is left out. Work and depth are bounded: circular schemas end at an empty list, at null, or
//! where a member is not required.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use super::document::{Document, is_set, list, members, reference};
use super::merge::merged;
use super::scalar;
use super::validate::{Validator, kinds};

/// Makes values by the schemas of one document.
pub(super) struct Examples<'a> {
    document: &'a Document,
    budget: Cell<usize>,
}

/// Where in a value the next part stands.
#[derive(Clone, Copy, Default)]
struct Position {
    depth: usize,
    /// Asks for another value than that of a smaller number: the elements of a list without doubles.
    variant: usize,
}

impl<'a> Examples<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, budget: Cell::new(VALUES_MAX) }
    }

    /// A value for a request that is valid by `schema`: the first valid one of `examples` (which stand beside the schema), else one
    /// that the schema gives.
    ///
    /// # Errors
    /// Where nothing valid was found: the best guess.
    pub(super) fn value(&self, schema: &Value, examples: &[&Value]) -> Result<Value, Value> {
        self.budget.set(VALUES_MAX);
        let mut first = None;
        for example in examples {
            let value = self.without_read_only(schema, example, 0);
            if self.is_valid(schema, &value) {
                return Ok(value);
            }
            first.get_or_insert(value);
        }
        let made = self.part(schema, Position::default()).unwrap_or_else(|| json!({}));
        if self.is_valid(schema, &made) { Ok(made) } else { Err(first.unwrap_or(made)) }
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        Validator::new(self.document).is_valid(schema, value)
    }

    /// A value for a schema, `None` where none may be made that deep.
    fn part(&self, schema: &Value, at: Position) -> Option<Value> {
        let left = self.budget.get().checked_sub(1)?;
        self.budget.set(left);
        if at.depth > DEPTH_MAX {
            return None;
        }
        let schema = merged(self.document, schema);
        if at.variant == 0
            && let Some(value) = self.given(&schema)
        {
            return Some(value);
        }
        if let Some(choices) =
            schema.get("enum").and_then(Value::as_array).filter(|choices| !choices.is_empty())
        {
            let chosen =
                choices.iter().filter(|choice| self.is_valid(&schema, choice)).nth(at.variant);
            return chosen.or_else(|| choices.get(at.variant)).or_else(|| choices.first()).cloned();
        }
        if let Some(constant) = schema.get("const") {
            return Some(constant.clone());
        }
        for word in ["oneOf", "anyOf"] {
            if !list(&schema, word).is_empty() {
                return self.branch(&schema, word, at);
            }
        }
        self.by_kind(&schema, at)
    }

    /// The value that the schema itself names, if it is valid.
    fn given(&self, schema: &Value) -> Option<Value> {
        let candidates =
            [schema.get("example"), list(schema, "examples").first(), schema.get("default")];
        let mut values =
            candidates.into_iter().flatten().map(|value| self.without_read_only(schema, value, 0));
        values.find(|value| self.is_valid(schema, value))
    }

    /// The value of the first branch by which the whole is valid.
    fn branch(&self, schema: &Value, word: &str, at: Position) -> Option<Value> {
        let mut rest = schema.clone();
        rest.as_object_mut().and_then(|members| members.remove(word));
        let mut first = None;
        let branches = list(schema, word).iter().take(BRANCHES_MAX);
        for branch in branches {
            let mut whole = json!({ "allOf": [rest.clone(), branch.clone()] });
            if let Some(named) = discriminated(schema, branch) {
                whole = json!({ "allOf": [whole, named] });
            }
            let Some(value) = self.part(&whole, Position { depth: at.depth + 1, ..at }) else {
                continue;
            };
            if self.is_valid(schema, &value) {
                return Some(value);
            }
            first.get_or_insert(value);
        }
        first
    }

    fn by_kind(&self, schema: &Value, at: Position) -> Option<Value> {
        let kinds = kinds(schema);
        let kind = kinds.iter().find(|kind| **kind != "null").or(kinds.first()).copied();
        match kind.unwrap_or_else(|| implied_kind(schema)) {
            "object" if at.depth > 2 && nothing(schema).is_some() => Some(Value::Null),
            "object" => self.object(schema, at).or_else(|| nothing(schema)),
            "array" => self.array(schema, at).or_else(|| nothing(schema)),
            "null" => Some(Value::Null),
            "boolean" => Some(Value::Bool(at.variant.is_multiple_of(2))),
            "integer" => Some(scalar::integer(schema, at.variant)),
            "number" => Some(scalar::number(schema, at.variant)),
            _ => Some(Value::String(scalar::string(schema, at.variant))),
        }
    }

    fn object(&self, schema: &Value, at: Position) -> Option<Value> {
        let mut made = Map::new();
        let required: Vec<&str> =
            list(schema, "required").iter().filter_map(Value::as_str).collect();
        let below = Position { depth: at.depth + 1, ..at };
        for (name, part) in members(schema, "properties") {
            let needed = required.contains(&name);
            let target = merged(self.document, part);
            let optional_fits = at.depth < OPTIONAL_DEPTH_MAX && self.budget.get() > VALUES_MAX / 2;
            if is_set(&target, "readOnly")
                || !needed && (!optional_fits || self.is_circular(part, at.depth))
            {
                continue;
            }
            match self.part(&hinted(target, name), below) {
                Some(value) if needed || self.is_valid(part, &value) => {
                    made.insert(name.to_owned(), value);
                }
                None if needed => return None,
                _ => (),
            }
        }
        for name in required {
            if !made.contains_key(name)
                && schema.get("properties").and_then(|all| all.get(name)).is_none()
            {
                made.insert(name.to_owned(), self.additional(schema, below)?);
            }
        }
        let least =
            schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0).min(MEMBERS_MAX);
        for number in 1.. {
            if made.len() as u64 >= least || number > MEMBERS_MAX {
                break;
            }
            made.insert(format!("key{number}"), self.additional(schema, below)?);
        }
        Some(Value::Object(made))
    }

    /// A value for a member that no property describes.
    fn additional(&self, schema: &Value, at: Position) -> Option<Value> {
        match schema.get("additionalProperties") {
            Some(part @ Value::Object(_)) => self.part(part, at),
            _ => Some(json!("text")),
        }
    }

    /// Whether an optional part leads to a schema of its own kind again: deep inside, one turn is enough.
    fn is_circular(&self, part: &Value, depth: usize) -> bool {
        depth > 2
            && (reference(part).is_some()
                || part.get("items").is_some_and(|items| reference(items).is_some()))
    }

    fn array(&self, schema: &Value, at: Position) -> Option<Value> {
        let bound = |key| schema.get(key).and_then(Value::as_u64);
        let least = bound("minItems").unwrap_or(0);
        let prefix = list(schema, "prefixItems");
        let wanted = if at.depth < OPTIONAL_DEPTH_MAX {
            least.max(1).max(prefix.len() as u64)
        } else {
            least
        };
        let count = wanted.min(bound("maxItems").unwrap_or(u64::MAX)).min(ITEMS_MAX);
        let varied = is_set(schema, "uniqueItems");
        let mut items = Vec::new();
        for index in 0..count as usize {
            let part = prefix.get(index).or_else(|| schema.get("items"));
            let variant = if varied { index } else { at.variant };
            let below = Position { depth: at.depth + 1, variant };
            match part {
                Some(Value::Bool(false)) => break,
                Some(part) => match self.part(part, below) {
                    Some(item) => items.push(item),
                    None if (items.len() as u64) < least => return None,
                    None => break,
                },
                None => items.push(json!(format!("text{}", index + 1))),
            }
        }
        Some(Value::Array(items))
    }

    /// An example without what only answers have.
    fn without_read_only(&self, schema: &Value, value: &Value, depth: usize) -> Value {
        let inner = depth + 1;
        match value {
            Value::Object(object) if depth < DEPTH_MAX => {
                let schema = merged(self.document, schema);
                let property = |name: &str| schema.get("properties").and_then(|all| all.get(name));
                let read_only = |part: &Value| is_set(&merged(self.document, part), "readOnly");
                let pairs =
                    object.iter().filter(|(name, _)| !property(name).is_some_and(read_only));
                let kept = pairs.map(|(name, value)| {
                    let part =
                        property(name).map(|part| self.without_read_only(part, value, inner));
                    (name.clone(), part.unwrap_or_else(|| value.clone()))
                });
                Value::Object(kept.collect())
            }
            Value::Array(items) if depth < DEPTH_MAX => {
                let schema = merged(self.document, schema);
                let Some(part) = schema.get("items") else { return value.clone() };
                Value::Array(
                    items.iter().map(|item| self.without_read_only(part, item, inner)).collect(),
                )
            }
            _ => value.clone(),
        }
    }
}

/// Null where it is allowed: what a circular schema ends with.
fn nothing(schema: &Value) -> Option<Value> {
    (is_set(schema, "nullable") || kinds(schema).contains(&"null")).then_some(Value::Null)
}

/// The type of a schema that names none.
fn implied_kind(schema: &Value) -> &'static str {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    match () {
        () if has(&["properties", "required", "additionalProperties", "minProperties"]) => "object",
        () if has(&["items", "prefixItems", "minItems", "uniqueItems"]) => "array",
        () if has(&[
            "minimum",
            "maximum",
            "multipleOf",
            "exclusiveMinimum",
            "exclusiveMaximum",
        ]) =>
        {
            "number"
        }
        () => "string",
    }
}

/// The schema with its property's name, by which a text without format may be guessed.
fn hinted(mut schema: Value, name: &str) -> Value {
    if let Some(object) = schema.as_object_mut() {
        object.insert(scalar::HINT.to_owned(), json!(name));
    }
    schema
}

/// What a discriminator demands of a branch: the property with the branch's name.
fn discriminated(schema: &Value, branch: &Value) -> Option<Value> {
    let discriminator = schema.get("discriminator")?;
    let property = discriminator.get("propertyName")?.as_str()?;
    let target = reference(branch)?;
    let last = target.rsplit('/').next().unwrap_or(target);
    let mapping = members(discriminator, "mapping")
        .find(|(_, value)| value.as_str().is_some_and(|value| value == target || value == last));
    let name = mapping.map_or(last, |(key, _)| key);
    Some(json!({ "required": [property], "properties": { property: { "default": name } } }))
}

/// Values made for one request.
const VALUES_MAX: usize = 2_000;
/// Schemas inside each other.
const DEPTH_MAX: usize = 24;
/// Deeper, what is not required is left out.
const OPTIONAL_DEPTH_MAX: usize = 4;
/// Elements of a list.
const ITEMS_MAX: u64 = 100;
/// Members that only `minProperties` demands.
const MEMBERS_MAX: u64 = 50;
/// Branches of a choice that are tried.
const BRANCHES_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// The value made for the schema `root` of a document with the schemas in `schemas`.
    fn made(schemas: &str) -> Value {
        let document = Document::parse(&format!("openapi: 3.1.0\ns:\n{schemas}")).expect("parses");
        let schema = json!({ "$ref": "#/s/root" });
        Examples::new(&document)
            .value(&schema, &[])
            .unwrap_or_else(|value| panic!("not valid: {value} {schemas}"))
    }

    #[test]
    fn values_are_valid_by_their_schemas() {
        let schemas = [
            "{type: integer, minimum: 10, maximum: 20, multipleOf: 5, exclusiveMinimum: true}",
            "{type: number, maximum: 1, minimum: 0.25}",
            "{type: number, exclusiveMinimum: 0, exclusiveMaximum: 0.001}",
            "{type: integer, maximum: -5}",
            "{type: array, minItems: 3, uniqueItems: true, items: {type: string, minLength: 4, maxLength: 6}}",
            "{type: array, minItems: 3, uniqueItems: true, items: {enum: [a, b, c]}}",
            "{type: array, minItems: 4, uniqueItems: true, items: {type: integer, minimum: 5, maximum: 8}}",
            "{type: array, minItems: 2, uniqueItems: true, items: {type: object, required: [a], properties: {a: {type: string, format: email}}}}",
            "{type: string, pattern: '^[A-Z]{2}[0-9]{4}$'}",
            "{type: string, minLength: 300}",
            "{type: string, format: date-time}",
            "{type: string, format: uuid}",
            "{type: object, minProperties: 3, additionalProperties: {type: integer, minimum: 7}}",
            "{oneOf: [{type: object, required: [a], properties: {a: {type: string}}}, {type: object, required: [b], properties: {b: {type: string}}, additionalProperties: false}]}",
            "{allOf: [{type: object, properties: {a: {type: integer, minimum: 3}}}, {required: [a], properties: {a: {maximum: 3}}}]}",
            "{anyOf: [{type: string, maxLength: 0}, {type: integer}]}",
            "{type: [string, 'null'], minLength: 3}",
            "{type: object, required: [id, a], properties: {id: {readOnly: true, type: integer}, a: {const: 7}}, additionalProperties: false}",
            "{type: string, default: 5, minLength: 2}",
            "{enum: [3, x], type: string}",
            "{required: [a, b], properties: {a: {type: boolean}}}",
        ];
        for schema in schemas {
            made(&format!("  root: {schema}\n"));
        }
    }

    #[test]
    fn circular_schemas_end() {
        let tree = "  root: {type: object, required: [name, children, parent], properties: {name: {type: string}, \
            children: {type: array, items: {$ref: '#/s/root'}}, parent: {nullable: true, allOf: [{$ref: '#/s/root'}]}}}\n";
        assert!(made(tree)["name"].is_string());
        let document = Document::parse("openapi: 3.0.0\na: {allOf: [{$ref: '#/a'}]}\nb: {required: [b], properties: {b: {$ref: '#/b'}}}\nc: {oneOf: [{$ref: '#/c'}, {$ref: '#/c'}]}").expect("parses");
        for name in ["a", "b", "c"] {
            // No value of finite size is valid; what matters is that the search ends.
            let _value = Examples::new(&document).value(&document.root[name], &[]);
        }
    }

    #[test]
    fn a_wide_schema_stays_within_the_bounds() {
        let member = |to: usize| {
            (0..20).map(|n| format!("p{n}: {{$ref: '#/s/l{to}'}}")).collect::<Vec<_>>().join(", ")
        };
        let levels = (0..20)
            .map(|n| format!("  l{n}: {{type: object, properties: {{{}}}}}\n", member(n + 1)));
        let text = made(&format!(
            "  root: {{$ref: '#/s/l0'}}\n{}  l20: {{type: string}}\n",
            levels.collect::<String>()
        ));
        assert!(text.to_string().len() < 100_000);
    }

    #[test]
    fn examples_come_first_if_they_are_valid() {
        let document = Document::parse("openapi: 3.0.0\ns: {type: object, properties: {id: {type: integer, readOnly: true}, n: {type: integer}}}").expect("parses");
        let examples = Examples::new(&document);
        let schema = &document.root["s"];
        assert_eq!(
            examples.value(schema, &[&json!({ "n": "x" }), &json!({ "id": 3, "n": 4 })]),
            Ok(json!({ "n": 4 }))
        );
    }
}
