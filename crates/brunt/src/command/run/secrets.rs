//! `Vault`: the secrets of `--secret-source`, and the log's redaction of those that a script asked for.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, PoisonError};

use script::Secrets;

use crate::input::reason;

/// What stands in logs in the place of a secret.
const REDACTED: &str = "***SECRET_REDACTED***";

/// One source: its name and what it holds.
#[derive(Debug, PartialEq, Eq)]
struct Source {
    name: String,
    values: BTreeMap<String, String>,
}

/// The sources of secrets, and what was given away.
#[derive(Debug, Default)]
pub(super) struct Vault {
    sources: Vec<Source>,
    default: usize,
    given: Mutex<Vec<String>>,
}

impl Vault {
    /// Reads the sources as they stand on the command line: `mock=default,name=a,key=value`, `file=name=b,filename=PATH`.
    ///
    /// # Errors
    /// One is not to be understood, or its file cannot be read.
    pub(super) fn open(given: &[String]) -> Result<Self, String> {
        let mut vault = Self::default();
        for text in given {
            let wrong = |why: &str| format!("flag --secret-source: {text}: {why}");
            let (kind, rest) = text.split_once('=').unwrap_or((text, ""));
            let (mut name, mut default) = (kind.to_owned(), given.len() == 1);
            let mut values = BTreeMap::new();
            let mut file = None;
            for part in rest.split(',').filter(|part| !part.is_empty()) {
                match part.split_once('=') {
                    None if part == "default" => default = true,
                    None if kind == "file" => file = Some(part),
                    None => return Err(wrong("expected name=value pairs")),
                    Some(("name", value)) => name = value.to_owned(),
                    Some(("filename", path)) if kind == "file" => file = Some(path),
                    Some((key, value)) => drop(values.insert(key.to_owned(), value.to_owned())),
                }
            }
            match (kind, file) {
                ("mock", _) => {}
                ("file", Some(path)) => {
                    let text = fs::read_to_string(path)
                        .map_err(|error| wrong(&format!("{path}: {}", reason(&error))))?;
                    values = pairs(&text);
                }
                ("file", None) => return Err(wrong("it names no file")),
                _ => return Err(wrong("there are mock and file")),
            }
            if vault.has_source(&name) {
                return Err(wrong("there is a source of that name already"));
            }
            if default {
                vault.default = vault.sources.len();
            }
            vault.sources.push(Source { name, values });
        }
        Ok(vault)
    }

    /// Whether there is nothing to ask for.
    pub(super) fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// A line of a log without the secrets that were given away.
    pub(super) fn redacted(&self, text: &str) -> String {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }
}

/// `name=value`, a line each.
fn pairs(text: &str) -> BTreeMap<String, String> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

impl Secrets for Vault {
    fn get(&self, source: Option<&str>, key: &str) -> Result<String, String> {
        let source = match source {
            Some(name) => self.sources.iter().find(|source| source.name == name),
            None => self.sources.get(self.default),
        };
        let source = source.ok_or_else(|| "no secret sources are configured".to_owned())?;
        let value = source.values.get(key).ok_or_else(|| "no value".to_owned())?;
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if !value.is_empty() && !given.contains(value) {
            given.push(value.clone());
            // A secret that is part of another must not break it up.
            given.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
        Ok(value.clone())
    }

    fn has_source(&self, name: &str) -> bool {
        self.sources.iter().any(|source| source.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(given: &[&str]) -> Result<Vault, String> {
        Vault::open(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn secrets_are_given_and_kept_out_of_logs() {
        let vault =
            vault(&["mock=default,k=abc,l=abcdef", "mock=name=m,k=xyz"]).expect("it is right");
        assert_eq!(vault.get(None, "k").as_deref(), Ok("abc"));
        assert_eq!(
            vault.redacted("abc abcdef xyz"),
            "***SECRET_REDACTED*** ***SECRET_REDACTED***def xyz"
        );
        assert_eq!(vault.get(None, "l").as_deref(), Ok("abcdef"));
        assert_eq!(vault.get(Some("m"), "k").as_deref(), Ok("xyz"));
        assert_eq!(vault.redacted("abcdef xyz"), "***SECRET_REDACTED*** ***SECRET_REDACTED***");
        assert!(vault.get(None, "none").is_err() && vault.get(Some("none"), "k").is_err());
    }

    #[test]
    fn wrong_sources_are_refused() {
        for wrong in ["vault=x", "mock=a", "file=", "file=/nonexistent/secrets"] {
            assert!(vault(&[wrong]).is_err(), "{wrong}");
        }
        assert!(vault(&["mock=a=1", "mock=a=2"]).is_err());
    }
}
