//! Where `k6/secrets` finds secrets: `mock=K=V,…` and `file=PATH`. All of them are kept out of the log from the start.

use std::collections::HashMap;
use std::sync::Arc;

use cli::reason;
use script::Secrets;

use crate::console::Logger;
use crate::error::K6Error;

/// The sources by their names.
struct Sources {
    default: String,
    sources: HashMap<String, HashMap<String, String>>,
}

impl Secrets for Sources {
    fn get(&self, source: Option<&str>, key: &str) -> Result<String, String> {
        let name = source.unwrap_or(&self.default);
        let source =
            self.sources.get(name).ok_or_else(|| format!("no secret source \"{name}\""))?;
        source.get(key).cloned().ok_or_else(|| format!("no value for \"{key}\""))
    }

    fn has_source(&self, name: &str) -> bool {
        self.sources.contains_key(name)
    }
}

/// Reads what flags say; `None` where they name no source.
///
/// # Errors
/// One is no source, or its file cannot be read.
pub(super) fn read(texts: &[String], logger: &Logger) -> Result<Option<Arc<dyn Secrets>>, K6Error> {
    let mut all = Sources { default: String::new(), sources: HashMap::new() };
    let mut first = None;
    for text in texts {
        let (name, is_default, pairs) = source(text).map_err(K6Error::other)?;
        logger.hide(pairs.values().cloned());
        if is_default {
            all.default.clone_from(&name);
        }
        first.get_or_insert_with(|| name.clone());
        if all.sources.insert(name.clone(), pairs).is_some() {
            return Err(K6Error::other(format!("secret source \"{name}\" is there twice")));
        }
    }
    if let (true, Some(first)) = (all.default.is_empty(), first) {
        // One that is alone need not be called the default.
        all.default = if all.sources.len() == 1 { first } else { "default".to_owned() };
    }
    Ok((!texts.is_empty()).then(|| Arc::new(all) as Arc<dyn Secrets>))
}

/// A source's name, whether it is the default, and its secrets.
type Source = (String, bool, HashMap<String, String>);

fn source(text: &str) -> Result<Source, String> {
    let (kind, rest) = text.split_once('=').unwrap_or((text, ""));
    let (mut name, mut is_default, mut pairs) = (kind.to_owned(), false, HashMap::new());
    match kind {
        "mock" => {
            for part in rest.split(',').filter(|part| !part.is_empty()) {
                match part.split_once('=') {
                    None if part == "default" => is_default = true,
                    Some(("name", value)) => value.clone_into(&mut name),
                    Some((key, value)) => drop(pairs.insert(key.to_owned(), value.to_owned())),
                    // It may be the secret, with another sign in place of this.
                    None => {
                        return Err("parsing a part of the mock secret source, needs =".to_owned());
                    }
                }
            }
        }
        "file" => {
            let mut path = None;
            for part in rest.split(',') {
                match part.split_once('=') {
                    None if part == "default" => is_default = true,
                    Some(("name", value)) => value.clone_into(&mut name),
                    Some(("filename", value)) => path = Some(value.to_owned()),
                    None if path.is_none() => path = Some(part.to_owned()),
                    other => {
                        let key = other.map_or("", |(key, _)| key);
                        return Err(format!(
                            "unknown configuration key for file secret source \"{key}\""
                        ));
                    }
                }
            }
            let path = path
                .filter(|path| !path.is_empty())
                .ok_or("missing filename for file secret source")?;
            let text = std::fs::read_to_string(&path)
                .map_err(|error| format!("reading secrets from {path}: {}", reason(&error)))?;
            let text = text.trim_start_matches('\u{feff}');
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                let (key, value) =
                    line.split_once('=').ok_or_else(|| format!("{path}: a line without ="))?;
                pairs.insert(key.to_owned(), value.to_owned());
            }
        }
        other => {
            return Err(format!("no secret source for type \"{other}\"; there are mock and file"));
        }
    }
    Ok((name, is_default, pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read() {
        let (name, is_default, pairs) = source("mock=default,k1=v1,k2=a=b").unwrap();
        assert_eq!((name.as_str(), is_default), ("mock", true));
        assert_eq!((pairs["k1"].as_str(), pairs["k2"].as_str()), ("v1", "a=b"));
        for text in ["vault=x", "mock=x", "file=", "file=/nowhere/at/all"] {
            assert!(source(text).is_err(), "{text}");
        }
        // Issue 42, F14: what is to be a secret stands in no error, however it is written.
        for text in ["mock=key:canary42", "file=a.txt,key=canary42"] {
            let error = source(text).unwrap_err();
            assert!(!error.contains("canary42"), "{error}");
        }
    }
}
