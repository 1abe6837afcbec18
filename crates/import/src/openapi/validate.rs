//! Whether a value is valid by a schema of JSON Schema as OpenAPI uses it. Formats count only where a made value could violate them;
//! what is not understood counts as valid.

use serde_json::{Map, Value};

use super::document::{Document, is_set, list, members, text};
use super::pattern;

/// Checks values by the schemas of one document, with bounds for depth and work: beyond them, values count as valid.
pub(super) struct Validator<'a> {
    document: &'a Document,
    budget: std::cell::Cell<usize>,
}

impl<'a> Validator<'a> {
    pub(super) fn new(document: &'a Document) -> Self {
        Self { document, budget: std::cell::Cell::new(CHECKS_MAX) }
    }

    /// Whether `value`, as part of a request, is valid by `schema`.
    pub(super) fn is_valid(&self, schema: &Value, value: &Value) -> bool {
        self.check(schema, value, 0)
    }

    fn check(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let left = self.budget.get();
        if depth > DEPTH_MAX || left == 0 {
            return true;
        }
        self.budget.set(left - 1);
        if let Value::Bool(allowed) = schema {
            return *allowed;
        }
        let Some(resolved) = self.document.resolve(schema) else { return true };
        if value.is_null() && is_set(resolved, "nullable") {
            return true;
        }
        let siblings =
            schema.get("$ref").is_some() && schema.as_object().is_some_and(|all| all.len() > 1);
        (!siblings || self.keywords(&without_reference(schema), value, depth))
            && self.keywords(resolved, value, depth)
    }

    fn keywords(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        has_type(schema, value)
            && schema
                .get("enum")
                .and_then(Value::as_array)
                .is_none_or(|values| contains(values, value))
            && schema.get("const").is_none_or(|constant| equal(constant, value))
            && self.combinations(schema, value, depth)
            && match value {
                Value::String(text) => string_fits(schema, text),
                Value::Number(_) => number_fits(schema, value.as_f64().unwrap_or(0.0)),
                Value::Array(items) => self.items_fit(schema, items, depth),
                Value::Object(mapping) => self.members_fit(schema, mapping, depth),
                _ => true,
            }
    }

    fn combinations(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let count = |word| {
            list(schema, word).iter().filter(|part| self.check(part, value, depth + 1)).count()
        };
        list(schema, "allOf").iter().all(|part| self.check(part, value, depth + 1))
            && (list(schema, "oneOf").is_empty() || count("oneOf") == 1)
            && (list(schema, "anyOf").is_empty() || count("anyOf") > 0)
            && schema.get("not").is_none_or(|part| !self.check(part, value, depth + 1))
    }

    fn items_fit(&self, schema: &Value, items: &[Value], depth: usize) -> bool {
        let prefix = list(schema, "prefixItems");
        let is_item_valid = |(index, item): (usize, &Value)| {
            let part = prefix.get(index).or_else(|| schema.get("items"));
            part.is_none_or(|part| self.check(part, item, depth + 1))
        };
        let unique = || (1..items.len()).all(|index| !contains(&items[..index], &items[index]));
        within(schema, "minItems", "maxItems", items.len())
            && (!is_set(schema, "uniqueItems") || items.len() > UNIQUE_ITEMS_MAX || unique())
            && items.iter().enumerate().all(is_item_valid)
    }

    fn members_fit(&self, schema: &Value, mapping: &Map<String, Value>, depth: usize) -> bool {
        let properties = schema.get("properties");
        let property = |name: &str| properties.and_then(|all| all.get(name));
        let is_read_only =
            |part: &Value| self.document.resolve(part).is_some_and(|part| is_set(part, "readOnly"));
        let mut required = list(schema, "required").iter().filter_map(Value::as_str);
        let complete = required
            .all(|name| mapping.contains_key(name) || property(name).is_some_and(is_read_only));
        let is_member_valid = |(name, value): (&String, &Value)| {
            if let Some(part) = property(name) {
                return !is_read_only(part) && self.check(part, value, depth + 1);
            }
            let mut by_pattern = members(schema, "patternProperties")
                .filter(|(expression, _)| pattern::is_match(expression, name) == Some(true))
                .peekable();
            if by_pattern.peek().is_some() {
                return by_pattern.all(|(_, part)| self.check(part, value, depth + 1));
            }
            schema.get("additionalProperties").is_none_or(|part| self.check(part, value, depth + 1))
        };
        complete
            && within(schema, "minProperties", "maxProperties", mapping.len())
            && mapping.iter().all(is_member_valid)
    }
}

/// The kinds that a schema names.
pub(super) fn kinds(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether two values are the same to JSON: 1 is 1.0, and the order of members does not count.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_), Value::Number(_)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

fn contains(values: &[Value], value: &Value) -> bool {
    values.iter().any(|other| equal(other, value))
}

fn without_reference(schema: &Value) -> Value {
    let mut rest = schema.clone();
    if let Some(mapping) = rest.as_object_mut() {
        mapping.remove("$ref");
    }
    rest
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let kinds = kinds(schema);
    kinds.is_empty()
        || kinds.iter().any(|kind| match *kind {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => true,
        })
}

fn within(schema: &Value, least: &str, most: &str, len: usize) -> bool {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    bound(least).is_none_or(|least| len as f64 >= least)
        && bound(most).is_none_or(|most| len as f64 <= most)
}

fn string_fits(schema: &Value, value: &str) -> bool {
    within(schema, "minLength", "maxLength", value.chars().count())
        && text(schema, "pattern")
            .is_none_or(|expression| pattern::is_match(expression, value) != Some(false))
        && text(schema, "format").is_none_or(|format| format_fits(format, value))
}

/// The formats by which an example may be wrong; others count as kept.
fn format_fits(format: &str, value: &str) -> bool {
    let expression = match format {
        "uuid" => "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
        "email" => "^[^@ ]+@[^@ ]+$",
        "date" => "^[0-9]{4}-[01][0-9]-[0-3][0-9]$",
        "date-time" => {
            "^[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-5][0-9]:[0-6][0-9]([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
        }
        "ipv4" => "^([0-9]{1,3}[.]){3}[0-9]{1,3}$",
        "uri" => "^[a-zA-Z][a-zA-Z0-9+.-]*:[^ ]+$",
        _ => return true,
    };
    pattern::is_match(expression, value) != Some(false)
}

/// Both forms of the exclusive bounds: a number of its own (3.1), and a mark on the other bound (3.0).
fn number_fits(schema: &Value, value: f64) -> bool {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let multiple = bound("multipleOf").filter(|step| *step > 0.0).is_none_or(|step| {
        let quotient = value / step;
        (quotient - quotient.round()).abs() < 1e-9 * quotient.abs().max(1.0)
    });
    let low = bound("minimum")
        .is_none_or(|low| value > low || value == low && !is_set(schema, "exclusiveMinimum"));
    let high = bound("maximum")
        .is_none_or(|high| value < high || value == high && !is_set(schema, "exclusiveMaximum"));
    multiple
        && low
        && high
        && bound("exclusiveMinimum").is_none_or(|low| value > low)
        && bound("exclusiveMaximum").is_none_or(|high| value < high)
}

/// Schemas inside each other.
const DEPTH_MAX: usize = 60;
/// Schemas checked for one value.
const CHECKS_MAX: usize = 50_000;
/// Longer lists are not compared item by item.
const UNIQUE_ITEMS_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, value: &str) -> bool {
        let document = Document::parse("openapi: 3.1.0").expect("parses");
        let read = |text: &str| serde_norway::from_str::<Value>(text).expect("YAML");
        Validator::new(&document).is_valid(&read(schema), &read(value))
    }

    #[test]
    fn values_are_judged_by_every_keyword() {
        let table = [
            ("{type: integer, minimum: 10, exclusiveMinimum: true, multipleOf: 5}", "15", "10"),
            ("{type: number, exclusiveMinimum: 0, exclusiveMaximum: 10}", "0.5", "10"),
            ("{type: string, pattern: '^a+$', maxLength: 3}", "aaa", "aaaa"),
            ("{type: [string, 'null']}", "null", "1"),
            ("{type: string, nullable: true}", "null", "[]"),
            ("{type: array, uniqueItems: true, minItems: 2}", "[1, 2]", "[1, 1.0]"),
            ("{prefixItems: [{type: number}], items: false}", "[1]", "[1, 2]"),
            (
                "{required: [a], additionalProperties: false, properties: {a: {}}}",
                "{a: 1}",
                "{a: 1, b: 2}",
            ),
            ("{properties: {a: {readOnly: true}}, required: [a]}", "{}", "{a: 1}"),
            ("{oneOf: [{type: integer}, {type: number}]}", "1.5", "1"),
            ("{anyOf: [{const: a}, {enum: [b]}], not: {const: b}}", "a", "b"),
            ("{type: string, format: date-time}", "'2025-01-02T03:04:05Z'", "'2025-01-02'"),
        ];
        for (schema, valid, invalid) in table {
            assert!(check(schema, valid), "{schema} {valid}");
            assert!(!check(schema, invalid), "{schema} {invalid}");
        }
    }
}
