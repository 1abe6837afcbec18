//! `GhzOptions`: what a command line and its config file say, by the names of ghz's options.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};
use cli::nearest;
use serde_json::Value;
use stdx::Nanos;

use super::table::{self, Kind, REFUSED, ROWS, Row};

/// The options that are given, by name. Those of the command line stand before those of a config file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct GhzOptions(BTreeMap<&'static str, Value>);

impl GhzOptions {
    /// Reads a command line; its operand is the host.
    ///
    /// # Errors
    /// An argument is unknown, or has a wrong value.
    pub(super) fn of_args(args: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some((row, given, on)) = flag(arg)? else {
                if options.0.insert("host", arg.as_str().into()).is_some() {
                    bail!("unexpected {arg}");
                }
                continue;
            };
            let value = match (row.kind, given) {
                (Kind::Switch, None) => Value::from(on),
                (_, Some(text)) => row.value(text)?,
                (_, None) => {
                    let text = rest.next();
                    row.value(text.ok_or_else(|| anyhow!("expected argument for flag '{arg}'"))?)?
                }
            };
            options.0.insert(row.name, value);
        }
        Ok(options)
    }

    /// Adds what a config file has and the command line has not.
    ///
    /// # Errors
    /// A key is unknown, or has a wrong value.
    pub(super) fn add_config(&mut self, config: &Value) -> Result<()> {
        let Value::Object(object) = config else { bail!("the config is no object") };
        for (name, value) in object {
            let row = table::named(name).ok_or_else(|| unknown(name))?;
            let value = row.config_value(value)?;
            self.0.entry(row.name).or_insert(value);
        }
        Ok(())
    }

    /// Refuses what is not done here.
    ///
    /// # Errors
    /// It is given.
    pub(super) fn check(&self) -> Result<()> {
        let is_set = |name: &&str| self.0.get(*name).is_some_and(|value| *value != false);
        if let Some(name) = REFUSED.iter().copied().find(is_set) {
            bail!("--{name} is not done by brunt ghz");
        }
        Ok(())
    }

    /// The value of an option as it was given.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The text of an option; `None` where it is not given, or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A number.
    pub(super) fn number(&self, name: &str, default: i64) -> i64 {
        self.0.get(name).and_then(Value::as_i64).unwrap_or(default)
    }

    /// A number from 0.
    pub(super) fn count(&self, name: &str, default: u64) -> u64 {
        u64::try_from(self.number(name, default as i64)).unwrap_or(0)
    }

    /// A time; `None` where it is not given, or 0.
    pub(super) fn time(&self, name: &str) -> Option<Nanos> {
        let ns = self.0.get(name)?.as_u64()?;
        Some(Nanos(ns)).filter(|time| *time > Nanos::ZERO)
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Value::Bool(true))
    }
}

/// The option of an argument, the value in it, and what a switch is set to; `None` of an operand.
fn flag(arg: &str) -> Result<Option<(&'static Row, Option<&str>, bool)>> {
    if let Some(body) = arg.strip_prefix("--") {
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        if let Some(row) = table::named(name) {
            return Ok(Some((row, value, true)));
        }
        let off = name.strip_prefix("no-").and_then(table::named);
        let off = off.filter(|row| row.kind == Kind::Switch);
        return off.map(|row| Some((row, value, false))).ok_or_else(|| unknown(name));
    }
    let Some(body) = arg.strip_prefix('-').filter(|body| !body.is_empty()) else { return Ok(None) };
    let letter = body.chars().next().unwrap_or(' ');
    let row = table::lettered(letter).ok_or_else(|| anyhow!("unknown short flag '-{letter}'"))?;
    let value = body[letter.len_utf8()..].trim_start_matches('=');
    Ok(Some((row, Some(value).filter(|value| !value.is_empty()), true)))
}

fn unknown(name: &str) -> anyhow::Error {
    let near = nearest(name, ROWS.iter().map(|row| row.name));
    let hint = near.map(|near| format!(" (did you mean --{near}?)")).unwrap_or_default();
    anyhow!("unknown long flag '--{name}'{hint}")
}

impl Row {
    /// The value of a text.
    fn value(&self, text: &str) -> Result<Value> {
        let name = self.name;
        Ok(match self.kind {
            Kind::Text => Value::from(text),
            Kind::Number => Value::from(
                text.parse::<i64>().map_err(|_| anyhow!("--{name}: \"{text}\" is no number"))?,
            ),
            Kind::Duration => {
                let time = Nanos::parse(text).map_err(|error| anyhow!("--{name}: {error}"))?;
                Value::from(time.0)
            }
            Kind::Switch => Value::from(text == "true"),
        })
    }

    /// The value of a config file's. Lists are texts there, and data is a document.
    fn config_value(&self, value: &Value) -> Result<Value> {
        match (self.kind, value) {
            (Kind::Number | Kind::Duration | Kind::Switch, Value::String(text)) => self.value(text),
            (Kind::Number, Value::Number(number)) if number.is_i64() => Ok(value.clone()),
            // A plain number is Go's: nanoseconds.
            (Kind::Duration, Value::Number(number)) if number.is_u64() => Ok(value.clone()),
            (Kind::Switch, Value::Bool(_)) | (Kind::Text, Value::String(_)) => Ok(value.clone()),
            (Kind::Text, Value::Array(list)) if self.name == "import-paths" => {
                let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
                Ok(Value::from(texts.join(",")))
            }
            (Kind::Text, Value::Object(_) | Value::Array(_)) => Ok(Value::from(value.to_string())),
            _ => bail!("config: \"{}\" has a wrong value {value}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<GhzOptions> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        GhzOptions::of_args(&args)
    }

    #[test]
    fn flags_have_several_spellings() {
        let all = options("--insecure -n 5 -c7 --rps=20 -z 1m30s --no-async -O json h:1")
            .expect("options");
        assert_eq!((all.count("total", 0), all.count("concurrency", 0)), (5, 7));
        assert_eq!((all.count("rps", 0), all.time("duration")), (20, Some(Nanos::from_secs(90))));
        assert!(all.is_on("insecure") && !all.is_on("async"));
        assert_eq!((all.text("host"), all.text("format")), (Some("h:1"), Some("json")));
        for (line, word) in [
            ("--nosuchflag h:1", "nosuchflag"),
            ("--totl 5", "did you mean --total"),
            ("-y", "-y"),
            ("-n x", "no number"),
            ("-z x", "duration"),
            ("-n", "expected argument"),
            ("a:1 b:2", "b:2"),
        ] {
            let error = options(line).expect_err(line).to_string();
            assert!(error.contains(word), "{line}: {error}");
        }
        for line in ["--stream-interval 1s", "--stream-dynamic-messages"] {
            assert!(options(line).expect(line).check().is_err(), "{line}");
        }
    }

    #[test]
    fn a_config_file_stands_behind_the_command_line() {
        let mut all = options("-n 5 h:1").expect("options");
        let config = serde_json::json!({
            "total": 9, "concurrency": "3", "timeout": "2s", "insecure": true, "data": {"a": 1},
            "import-paths": ["a", "b"], "host": "other:1",
        });
        all.add_config(&config).expect("a config");
        assert_eq!((all.count("total", 0), all.count("concurrency", 0)), (5, 3));
        assert_eq!((all.text("data"), all.text("import-paths")), (Some("{\"a\":1}"), Some("a,b")));
        assert_eq!(
            (all.text("host"), all.time("timeout")),
            (Some("h:1"), Some(Nanos::from_secs(2)))
        );
        assert!(all.add_config(&serde_json::json!({"nope": 1})).is_err());
        assert!(all.add_config(&serde_json::json!({"total": 1.5})).is_err());
    }
}
