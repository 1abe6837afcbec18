//! Every key of a study that decides what is run, as a flat list of paths and values.

use toml::de::{DeTable, DeValue};

/// Keys that do not change what is run.
const DESCRIPTIVE: [&str; 5] = ["title", "note", "expect", "fit", "install"];

/// Adds every key with its value, by its path; elements of lists by their number, from 1.
pub(super) fn flatten(table: &DeTable<'_>, path: &str, out: &mut Vec<(String, String)>) {
    for (name, value) in table {
        let name = name.get_ref().as_ref();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        if !DESCRIPTIVE.contains(&name) {
            flatten_value(value.get_ref(), &path, out);
        }
    }
}

fn flatten_value(value: &DeValue<'_>, path: &str, out: &mut Vec<(String, String)>) {
    let text = match value {
        DeValue::Table(table) => return flatten(table, path, out),
        DeValue::Array(list) => {
            for (number, one) in list.iter().enumerate() {
                flatten_value(one.get_ref(), &format!("{path}[{}]", number + 1), out);
            }
            return;
        }
        DeValue::String(text) => text.clone().into_owned(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(time) => time.to_string(),
    };
    out.push((path.to_owned(), text));
}
