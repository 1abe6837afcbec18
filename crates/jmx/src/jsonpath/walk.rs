//! Goes along paths.

use std::fmt::Write as _;

use serde_json::Value;

use super::{Path, PathError, Step, VISITED_MAX, is_definite};
use crate::ending;

/// A way through a document.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Value,
    visited: usize,
}

pub(super) fn find(path: &Path, root: &Value) -> Result<Vec<Value>, PathError> {
    let mut walk = Walk { root, visited: 0 };
    let found = walk.values(path, root)?;
    if found.is_empty() && path.is_definite() {
        return Err(PathError::NotFound(format!("No results for path: {}", written(&path.steps))));
    }
    Ok(found)
}

impl Walk<'_> {
    /// The values that a path leads to from one.
    pub(super) fn values(&mut self, path: &Path, begin: &Value) -> Result<Vec<Value>, PathError> {
        let mut found = Vec::new();
        let end = path.steps.iter().position(|step| matches!(step, Step::Function(_)));
        let steps = &path.steps[..end.unwrap_or(path.steps.len())];
        self.go(steps, 0, begin, &mut found)?;
        let Some(end) = end else { return Ok(found.into_iter().cloned().collect()) };
        let mut value = match is_definite(steps) {
            true => found.first().map(|value| (*value).clone()),
            false => Some(found.into_iter().cloned().collect()),
        };
        for step in &path.steps[end..] {
            let Step::Function(function) = step else {
                return Err(PathError::Malformed { reason: "a function must be the last", at: 0 });
            };
            value = value.map(|value| function.compute(&value)).transpose()?;
        }
        Ok(value.into_iter().collect())
    }

    fn go<'v>(
        &mut self,
        steps: &[Step],
        at: usize,
        value: &'v Value,
        found: &mut Vec<&'v Value>,
    ) -> Result<(), PathError> {
        self.visited += 1;
        if self.visited > VISITED_MAX {
            return Err(PathError::TooLong);
        }
        if ending::is_over() {
            return Err(PathError::Ended);
        }
        let Some(step) = steps.get(at) else {
            found.push(value);
            return Ok(());
        };
        let is_certain = is_definite(&steps[..at]);
        match step {
            Step::Names(_) => self.names(steps, at, value, found)?,
            Step::All => {
                for value in children(value) {
                    self.go(steps, at + 1, value, found)?;
                }
            }
            Step::Indices(indices) => {
                let Some(list) = value.as_array() else {
                    return self.no_list(steps, at, value, is_certain);
                };
                for index in indices {
                    let index = if *index < 0 { index + list.len() as i64 } else { *index };
                    if let Some(value) = usize::try_from(index).ok().and_then(|at| list.get(at)) {
                        self.go(steps, at + 1, value, found)?;
                    }
                }
            }
            Step::Slice(from, to) => {
                let Some(list) = value.as_array() else {
                    return self.no_list(steps, at, value, is_certain);
                };
                for value in slice(list, *from, *to) {
                    self.go(steps, at + 1, value, found)?;
                }
            }
            Step::Filter(condition) => {
                let candidates: Vec<&Value> = match value {
                    Value::Array(list) => list.iter().collect(),
                    Value::Object(_) => vec![value],
                    _ => Vec::new(),
                };
                for value in candidates {
                    if condition.holds(value, self)? {
                        self.go(steps, at + 1, value, found)?;
                    }
                }
            }
            Step::Below => self.below(steps, at + 1, value, found)?,
            Step::Function(_) => {}
        }
        Ok(())
    }

    /// Takes the fields of an object; a definite path must find them.
    fn names<'v>(
        &mut self,
        steps: &[Step],
        at: usize,
        value: &'v Value,
        found: &mut Vec<&'v Value>,
    ) -> Result<(), PathError> {
        let Step::Names(names) = &steps[at] else { return Ok(()) };
        let is_certain = is_definite(&steps[..at]);
        let Some(fields) = value.as_object() else {
            return match is_certain {
                true => Err(self.no_object(steps, at, value)),
                false => Ok(()),
            };
        };
        let is_last = at + 1 == steps.len();
        for name in names {
            match fields.get(name) {
                Some(value) => self.go(steps, at + 1, value, found)?,
                None if is_certain && names.len() == 1 && !is_last => {
                    let place = written(&steps[..=at]);
                    return Err(PathError::NotFound(format!("Missing property in path {place}")));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Takes the next step from a value and from all below it.
    fn below<'v>(
        &mut self,
        steps: &[Step],
        at: usize,
        value: &'v Value,
        found: &mut Vec<&'v Value>,
    ) -> Result<(), PathError> {
        // The next step is taken where it can be, so that values of another kind do not matter.
        let fits = match &steps[at] {
            Step::Names(_) => value.is_object(),
            Step::Indices(_) | Step::Slice(..) => value.is_array(),
            _ => value.is_object() || value.is_array(),
        };
        if fits {
            self.go(steps, at, value, found)?;
        }
        for value in children(value) {
            self.below(steps, at, value, found)?;
        }
        Ok(())
    }

    fn no_object(&self, steps: &[Step], at: usize, value: &Value) -> PathError {
        let place = written(&steps[..at]);
        let names = written(&steps[at..=at]);
        let names = names.trim_start_matches('$');
        PathError::NotFound(match value {
            Value::Null => format!("Missing property in path {place}{names}"),
            value => format!(
                "Expected to find an object with property {names} in path {place} but found '{}'. This is not a json object according to the JsonProvider: 'com.jayway.jsonpath.spi.json.JsonSmartJsonProvider'.",
                java_class(value)
            ),
        })
    }

    fn no_list(
        &self,
        steps: &[Step],
        at: usize,
        value: &Value,
        is_certain: bool,
    ) -> Result<(), PathError> {
        if !is_certain {
            return Ok(());
        }
        let place = written(&steps[..at]);
        Err(PathError::NotFound(match value {
            Value::Null => format!("The path {place} is null"),
            value => {
                let step = written(&steps[at..=at]);
                let step = step.trim_start_matches('$');
                format!(
                    "Filter: {step} can only be applied to arrays. Current context is: {}",
                    super::plain(value)
                )
            }
        }))
    }
}

/// The values from one place to before another; those below 0 count from the end.
fn slice(list: &[Value], from: Option<i64>, to: Option<i64>) -> &[Value] {
    let bound = |index: i64| {
        let index = if index < 0 { index + list.len() as i64 } else { index };
        usize::try_from(index).unwrap_or(0).min(list.len())
    };
    let (from, to) = (from.map_or(0, bound), to.map_or(list.len(), bound));
    list.get(from..to).unwrap_or_default()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(list) => Box::new(list.iter()),
        Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn java_class(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "java.lang.Boolean",
        Value::Number(number) if number.is_f64() => "java.lang.Double",
        Value::Number(number) => match number.as_i64().map(i32::try_from) {
            Some(Ok(_)) => "java.lang.Integer",
            _ => "java.lang.Long",
        },
        Value::String(_) => "java.lang.String",
        Value::Array(_) => "net.minidev.json.JSONArray",
        Value::Object(_) => "java.util.LinkedHashMap",
    }
}

/// Steps as Jayway writes them: `$['a'][0]`.
fn written(steps: &[Step]) -> String {
    let mut text = "$".to_owned();
    for step in steps {
        match step {
            Step::Names(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
                write!(text, "[{}]", names.join(",")).expect("a text takes all");
            }
            Step::All => text.push_str("[*]"),
            Step::Indices(indices) => {
                let indices: Vec<String> = indices.iter().map(i64::to_string).collect();
                write!(text, "[{}]", indices.join(",")).expect("a text takes all");
            }
            Step::Slice(from, to) => {
                let bound = |bound: &Option<i64>| bound.map(|bound| bound.to_string());
                let (from, to) = (bound(from).unwrap_or_default(), bound(to).unwrap_or_default());
                write!(text, "[{from}:{to}]").expect("a text takes all");
            }
            Step::Filter(_) => text.push_str("[?]"),
            Step::Below => text.push_str(".."),
            Step::Function(_) => text.push_str(".function()"),
        }
    }
    text
}
