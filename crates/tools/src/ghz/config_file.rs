//! A config file of ghz: JSON, TOML or YAML, by its ending.

use anyhow::{Context as _, Result, bail};
use cli::input;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

/// Reads a config file.
///
/// # Errors
/// It cannot be read, or is wrong; the error has the line.
pub(super) fn read(path: &str) -> Result<Value> {
    let bytes = input::read_text(path).map_err(|failed| anyhow::anyhow!("{failed}"))?;
    let text = String::from_utf8(bytes).with_context(|| format!("{path} is no UTF-8"))?;
    parse(path, &text).with_context(|| path.to_owned())
}

fn parse(path: &str, text: &str) -> Result<Value> {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "json" => Ok(serde_json::from_str(text)?),
        "toml" => Ok(of_table(DeTable::parse(text)?.get_ref())),
        "yaml" | "yml" => Ok(serde_norway::from_str(text)?),
        _ => bail!("the config's name ends neither in .json, .toml, .yaml nor .yml"),
    }
}

fn of_toml(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or_else(|_| number.as_str().into(), Value::from),
        DeValue::Float(number) => {
            number.as_str().parse::<f64>().map_or_else(|_| number.as_str().into(), Value::from)
        }
        DeValue::Boolean(is_on) => (*is_on).into(),
        DeValue::Datetime(time) => time.to_string().into(),
        DeValue::Array(list) => list.iter().map(|item| of_toml(item.get_ref())).collect(),
        DeValue::Table(table) => of_table(table),
    }
}

fn of_table(table: &DeTable<'_>) -> Value {
    let fields = table.iter();
    let fields =
        fields.map(|(name, value)| (name.get_ref().as_ref().to_owned(), of_toml(value.get_ref())));
    Value::Object(fields.collect::<Map<String, Value>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_formats_have_the_same_values() {
        let expect = serde_json::json!({"total": 3, "data": {"text": "a"}, "insecure": true});
        for (path, text) in [
            ("c.json", "{\"total\": 3, \"data\": {\"text\": \"a\"}, \"insecure\": true}"),
            ("c.toml", "total = 3\ninsecure = true\n[data]\ntext = \"a\"\n"),
            ("c.yaml", "total: 3\ninsecure: true\ndata:\n  text: a\n"),
        ] {
            assert_eq!(parse(path, text).expect(path), expect, "{path}");
        }
        assert!(parse("c.ini", "").is_err() && parse("c.toml", "total = ").is_err());
    }
}
