//! `http-client.env.json`: environments by name, with what `$shared` has for all of them.

use serde_json::Value;

/// The variables of an environment.
pub(super) struct Environment {
    pub variables: Vec<(String, String)>,
    /// What is to be said about the choice.
    pub note: Option<String>,
}

/// Reads the environment `name`, or the only one.
pub(super) fn read(content: &str, name: Option<&str>) -> Result<Environment, serde_json::Error> {
    let root: Value = serde_json::from_str(content.trim_start_matches('\u{feff}'))?;
    let all = root.as_object();
    let named = || {
        all.into_iter().flatten().filter(|(key, value)| !key.starts_with('$') && value.is_object())
    };
    let (chosen, note) = match name {
        Some(name) => {
            let found = all.and_then(|all| all.get(name));
            let names = || {
                named()
                    .map(|(key, _)| stdx::terminal_line(key).to_string())
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            (
                found,
                found
                    .is_none()
                    .then(|| format!("the environments have no {name}; they are {}", names())),
            )
        }
        None => match named().collect::<Vec<_>>().as_slice() {
            [] => (None, Some("the file of environments holds none".to_owned())),
            [(_, only)] => (Some(*only), None),
            [(first, value), ..] => (
                Some(*value),
                Some(format!(
                    "the environment {} is used; -env-name chooses",
                    stdx::terminal_line(first)
                )),
            ),
        },
    };
    let mut variables = Vec::new();
    for part in all.and_then(|all| all.get("$shared")).into_iter().chain(chosen) {
        collect("", part, 0, &mut variables);
    }
    Ok(Environment { variables, note })
}

/// The members of an object, those of inner ones by `outer.inner`.
fn collect(prefix: &str, value: &Value, depth: usize, variables: &mut Vec<(String, String)>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let name = format!("{prefix}{key}");
        match value {
            Value::Object(_) if depth < 5 => {
                collect(&format!("{name}."), value, depth + 1, variables);
            }
            Value::String(text) => variables.push((name, text.clone())),
            Value::Null => variables.push((name, String::new())),
            other => variables.push((name, other.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_chosen() {
        let content = r#"{"$shared": {"v": "1"}, "dev": {"host": "d", "n": 7, "in": {"x": true}}, "prod": {"host": "p"}}"#;
        let dev = read(content, Some("dev")).expect("parses");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            dev.variables,
            [pair("v", "1"), pair("host", "d"), pair("in.x", "true"), pair("n", "7")]
        );
        assert!(read(content, None).expect("parses").note.expect("noted").contains("dev is used"));
        assert!(
            read(content, Some("x")).expect("parses").note.expect("noted").contains("dev, prod")
        );
    }
}
