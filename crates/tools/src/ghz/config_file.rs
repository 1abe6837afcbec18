//! A config file of ghz: JSON, TOML or YAML, by its ending.

use anyhow::{Context as _, Result, bail};
use cli::input;
use serde_json::{Map, Value};

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
        "toml" => Ok(of_toml(toml::Value::Table(text.parse::<toml::Table>()?))),
        "yaml" | "yml" => Ok(serde_norway::from_str(text)?),
        _ => bail!("the config's name ends neither in .json, .toml, .yaml nor .yml"),
    }
}

fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(is_on) => is_on.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(list) => list.into_iter().map(of_toml).collect(),
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(name, value)| (name, of_toml(value)));
            Value::Object(fields.collect::<Map<String, Value>>())
        }
    }
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
