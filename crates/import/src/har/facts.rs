//! What an answer holds that a later request may send: leaves of JSON, fields of forms, meta elements.

use std::collections::HashSet;

use dom_query::Document;
use serde_json::Value;

use super::entry::Answer;
use super::look::{Look, is_id_name, is_rare, look};
use crate::JsonStep;

/// How many leaves and fields of an answer are kept.
const FACTS_MAX: usize = 20_000;
/// How deep a leaf may lie.
const STEPS_MAX: usize = 24;
/// How long a key of JSON may be, in bytes: each leaf below it has it. No name that a person chose is longer.
const KEY_BYTES_MAX: usize = 256;

/// The values of an answer that have a name.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) leaves: Vec<Leaf>,
    pub(super) fields: Vec<Field>,
}

/// A string or a number in JSON.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) path: Vec<JsonStep>,
    pub(super) text: String,
}

/// A value of an element of a page.
#[derive(Debug)]
pub(super) struct Field {
    /// What selects the element: the first that it selects.
    pub(super) selector: String,
    pub(super) attribute: &'static str,
    pub(super) name: String,
    pub(super) value: String,
    /// Whether it is not typed: a hidden field, a meta element.
    pub(super) is_hidden: bool,
    /// Whether the selector selects this element first.
    pub(super) is_first: bool,
}

impl Facts {
    pub(super) fn of(answer: &Answer) -> Self {
        let mut facts = Self::default();
        if answer.text.is_empty() {
            return facts;
        }
        if answer.is_json() {
            if let Ok(value) = serde_json::from_str::<Value>(&answer.text) {
                add_leaves(&mut facts.leaves, &mut vec![], &value);
            }
        } else if answer.text.contains('<') {
            add_fields(&mut facts.fields, &answer.text);
        }
        facts
    }
}

impl Leaf {
    /// The name nearest to it: its key, or that of the list it stands in.
    pub(super) fn key(&self) -> &str {
        let keys = self.path.iter().rev().filter_map(|step| match step {
            JsonStep::Key(key) => Some(key.as_str()),
            JsonStep::Index(_) => None,
        });
        keys.take(1).next().unwrap_or_default()
    }
}

/// The leaves of a value, from outside to inside.
pub(super) fn add_leaves(leaves: &mut Vec<Leaf>, path: &mut Vec<JsonStep>, value: &Value) {
    if leaves.len() >= FACTS_MAX || path.len() > STEPS_MAX {
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members.iter().filter(|(key, _)| key.len() <= KEY_BYTES_MAX) {
                path.push(JsonStep::Key(key.clone()));
                add_leaves(leaves, path, value);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for (at, value) in elements.iter().enumerate() {
                path.push(JsonStep::Index(i64::try_from(at).unwrap_or(i64::MAX)));
                add_leaves(leaves, path, value);
                path.pop();
            }
        }
        Value::String(text) => leaves.push(Leaf { path: path.clone(), text: text.clone() }),
        Value::Number(number) => {
            leaves.push(Leaf { path: path.clone(), text: number.to_string() });
        }
        Value::Bool(_) | Value::Null => {}
    }
}

fn add_fields(fields: &mut Vec<Field>, text: &str) {
    let page = Document::from(text);
    let mut seen: HashSet<String> = HashSet::new();
    for meta in page.select("meta[name][content]").iter().take(FACTS_MAX) {
        let text = |key| meta.attr(key).unwrap_or_default().to_string();
        let (name, value) = (text("name"), text("content"));
        let selector = format!("meta[name={}]", quoted(&name));
        let (is_hidden, is_first) = (true, true);
        let field = Field { selector, attribute: "content", name, value, is_hidden, is_first };
        add(fields, &mut seen, field);
    }
    for form in page.select("form").iter().take(500) {
        let action = form.attr("action").unwrap_or_default().to_string();
        for input in form.select("input[name], textarea[name], button[name]").iter().take(2000) {
            let field = field_of(&input, &format!("form[action={}] ", quoted(&action)));
            add(fields, &mut seen, field);
        }
    }
    for input in page.select("input[name], textarea[name]").iter().take(FACTS_MAX) {
        add(fields, &mut seen, field_of(&input, ""));
    }
    for select in page.select("select[name]").iter().take(500) {
        add_options(fields, &mut seen, &select);
    }
}

/// Options that a server made up, by their number in the list.
fn add_options(
    fields: &mut Vec<Field>,
    seen: &mut HashSet<String>,
    select: &dom_query::Selection<'_>,
) {
    let name = select.attr("name").unwrap_or_default().to_string();
    if select.select("optgroup").length() > 0 {
        return;
    }
    for (at, option) in select.select("option").iter().take(2000).enumerate() {
        let value = option.attr("value").unwrap_or_default().to_string();
        if is_made_option(&name, &value) {
            let selector = format!("select[name={}] option:nth-of-type({})", quoted(&name), at + 1);
            let (name, is_hidden, is_first) = (name.clone(), true, true);
            let field = Field { selector, attribute: "value", name, value, is_hidden, is_first };
            add(fields, seen, field);
        }
    }
}

fn is_made_option(name: &str, value: &str) -> bool {
    match look(value) {
        Look::Random | Look::Code => true,
        Look::Number => is_rare(value) || is_id_name(name),
        Look::Word => false,
    }
}

fn field_of(input: &dom_query::Selection<'_>, form: &str) -> Field {
    let name = input.attr("name").unwrap_or_default().to_string();
    let is_textarea = input.is("textarea");
    let element = if is_textarea {
        "textarea"
    } else if input.is("button") {
        "button"
    } else {
        "input"
    };
    let value = if is_textarea {
        input.text().to_string()
    } else {
        input.attr("value").unwrap_or_default().to_string()
    };
    let is_hidden = input.attr("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
    Field {
        selector: format!("{form}{element}[name={}]", quoted(&name)),
        attribute: if is_textarea { "" } else { "value" },
        name,
        value,
        is_hidden,
        is_first: true,
    }
}

/// Adds a field; `seen` has the selectors of those before it.
fn add(fields: &mut Vec<Field>, seen: &mut HashSet<String>, mut field: Field) {
    if fields.len() < FACTS_MAX {
        field.is_first = seen.insert(field.selector.clone());
        fields.push(field);
    }
}

/// A text as a string of CSS.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\a ");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_their_number() {
        let text = "<select name=from><option value=''>-<option value=23896512>a<option value=23896513>b</select><select name=size><option value=10>10</select>";
        let answer = Answer { mime: "text/html".into(), text: text.into(), ..Answer::default() };
        let fields = Facts::of(&answer).fields;
        let shown: Vec<(&str, &str)> =
            fields.iter().map(|field| (field.selector.as_str(), field.value.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("select[name=\"from\"] option:nth-of-type(2)", "23896512"),
                ("select[name=\"from\"] option:nth-of-type(3)", "23896513"),
            ]
        );
    }

    #[test]
    fn fields_have_a_selector_that_finds_them_first() {
        let text = "<meta content='m&amp;1' name=csrf-token><form action='/a'><input value=\"1&quot;\" type=hidden name=t>\
                    </form><form action='/b'><input name=t value=2><textarea name=n>x &amp; y</textarea></form>";
        let answer = Answer { mime: "text/html".into(), text: text.into(), ..Answer::default() };
        let facts = Facts::of(&answer);
        let first: Vec<(&str, &str)> = facts
            .fields
            .iter()
            .filter(|field| field.is_first)
            .map(|field| (field.selector.as_str(), field.value.as_str()))
            .collect();
        assert_eq!(
            first,
            [
                ("meta[name=\"csrf-token\"]", "m&1"),
                ("form[action=\"/a\"] input[name=\"t\"]", "1\""),
                ("form[action=\"/b\"] input[name=\"t\"]", "2"),
                ("form[action=\"/b\"] textarea[name=\"n\"]", "x & y"),
                ("input[name=\"t\"]", "1\""),
                ("textarea[name=\"n\"]", "x & y"),
            ]
        );
    }
}
