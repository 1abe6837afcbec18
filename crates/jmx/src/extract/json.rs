//! The JSON Extractor and the JSON JMESPath Extractor.

use serde_json::Value;

use super::{ExtractError, MATCHES_MAX, choose, flag, inputs, put, value};
use crate::element::Element;
use crate::jmes;
use crate::jsonpath::{Path, PathError, parse_json, plain};
use crate::sample::SampleView;
use crate::scope::Scope;

pub(super) fn extract_paths(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Result<(), ExtractError> {
    let properties = &element.properties;
    let names = value(properties, "JSONPostProcessor.referenceNames", scope);
    let paths = value(properties, "JSONPostProcessor.jsonPathExprs", scope);
    let defaults = value(properties, "JSONPostProcessor.defaultValues", scope);
    let numbers = value(properties, "JSONPostProcessor.match_numbers", scope);
    let (names, paths, defaults) = (parts(&names), parts(&paths), parts(&defaults));
    let numbers = match_numbers(&numbers, defaults.len())?;
    if names.len() != paths.len() || names.len() != defaults.len() {
        return Err(ExtractError::CountMismatch);
    }
    let concatenates = flag(properties, "JSONPostProcessor.compute_concat", scope) == Some(true);
    let texts = json_inputs(element, scope, sample);
    let documents: Result<Vec<Value>, PathError> =
        texts.iter().map(|text| parse_json(text)).collect();
    for (at, name) in names.iter().enumerate() {
        let name = name.trim();
        clear(scope, name);
        let found = documents.as_ref().map_err(Clone::clone).and_then(|documents| {
            let path = Path::parse(paths[at])?;
            find_all(&path, documents)
        });
        let task = Task { name, default: defaults[at], number: numbers[at], concatenates };
        match found {
            Ok(_) if texts.is_empty() => put(scope, name, Some(defaults[at])),
            Ok(values) => task.put(scope, &values),
            Err(error) => {
                let message = format!("Error processing JSON content in {name}, message: {error}");
                scope.log("ERROR", &message);
                put(scope, name, Some(defaults[at]));
            }
        }
    }
    Ok(())
}

/// The texts that are JSON perhaps: blank responses are left out.
fn json_inputs(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) -> Vec<String> {
    let mut texts = inputs(element, scope, sample, |sample| sample.text.to_owned());
    texts.retain(|text| !text.trim().is_empty());
    texts
}

fn find_all(path: &Path, documents: &[Value]) -> Result<Vec<Option<String>>, PathError> {
    let mut values = Vec::new();
    for document in documents {
        let found = match path.find(document) {
            Err(PathError::NotFound(_)) => continue,
            found => found?,
        };
        let room = MATCHES_MAX - values.len();
        let text = |value: &Value| (!value.is_null()).then(|| plain(value));
        values.extend(found.iter().take(room).map(text));
    }
    Ok(values)
}

/// The parts of a list as Java's `split` finds them: empty ones at the end do not count.
fn parts(list: &str) -> Vec<&str> {
    if list.is_empty() {
        return vec![""];
    }
    let mut parts: Vec<&str> = list.split(';').collect();
    while parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    parts
}

fn match_numbers(list: &str, count: usize) -> Result<Vec<i64>, ExtractError> {
    let mut numbers = vec![0; count];
    if list.trim().is_empty() {
        return Ok(numbers);
    }
    for (at, text) in parts(list).into_iter().enumerate() {
        let number = text.trim().parse::<i32>();
        let number = number.map_err(|_| ExtractError::NoNumber { text: text.to_owned() })?;
        *numbers.get_mut(at).ok_or(ExtractError::CountMismatch)? = number.into();
    }
    Ok(numbers)
}

/// Takes the variables of earlier matches away.
fn clear(scope: &mut dyn Scope, name: &str) {
    scope.remove_variable(&format!("{name}_matchNr"));
    for at in 1..=MATCHES_MAX {
        let name = format!("{name}_{at}");
        if scope.variable(&name).is_none() {
            break;
        }
        scope.remove_variable(&name);
    }
}

/// One variable of an extractor.
struct Task<'a> {
    name: &'a str,
    default: &'a str,
    number: i64,
    concatenates: bool,
}

impl Task<'_> {
    /// Sets the variables; a value that is null is the default.
    fn put(&self, scope: &mut dyn Scope, values: &[Option<String>]) {
        let name = self.name;
        let or_default =
            |value: &Option<String>| value.clone().unwrap_or_else(|| self.default.to_owned());
        let all = format!("{name}_ALL");
        match (values, self.number) {
            ([], number) => {
                scope.set_variable(name, self.default.to_owned());
                scope.set_variable(&format!("{name}_matchNr"), "0".to_owned());
                if number < 0 && self.concatenates {
                    scope.set_variable(&all, String::new());
                }
                return;
            }
            (values, ..0) => {
                let values: Vec<String> = values.iter().map(or_default).collect();
                for (at, value) in values.iter().enumerate() {
                    scope.set_variable(&format!("{name}_{}", at + 1), value.clone());
                }
                if self.concatenates {
                    scope.set_variable(&all, values.join(","));
                }
            }
            ([value], _) => scope.set_variable(name, or_default(value)),
            (values, number) => {
                let value = choose(values, number, scope);
                let value = value.map_or_else(|| self.default.to_owned(), or_default);
                scope.set_variable(name, value);
            }
        }
        if self.number != 0 {
            scope.set_variable(&format!("{name}_matchNr"), values.len().to_string());
        }
    }
}

pub(super) fn extract_expression(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Result<(), ExtractError> {
    let properties = &element.properties;
    let name = value(properties, "JMESExtractor.referenceName", scope);
    let default = value(properties, "JMESExtractor.defaultValue", scope);
    let number = value(properties, "JMESExtractor.matchNumber", scope);
    let number = match number.trim() {
        "" => 0,
        text => text.parse::<i32>().map_err(|_| ExtractError::NoNumber { text: number.clone() })?,
    };
    let expression = value(properties, "JMESExtractor.jmesPathExpr", scope);
    clear(scope, &name);
    let texts = json_inputs(element, scope, sample);
    if texts.is_empty() {
        scope.set_variable(&name, default);
        return Ok(());
    }
    let mut values = Vec::new();
    for text in &texts {
        match jmes::search(expression.trim(), text) {
            Ok(Value::Null) => {}
            Ok(Value::Array(list)) => values.extend(list.iter().take(MATCHES_MAX).map(jmes::text)),
            Ok(value) => values.push(jmes::text(&value)),
            Err(error) => {
                let message = format!("Error processing JSON content in {name}, message: {error}");
                scope.log("ERROR", &message);
                scope.set_variable(&name, default);
                return Ok(());
            }
        }
    }
    match (values.as_slice(), i64::from(number)) {
        ([], _) => scope.set_variable(&name, default),
        (values, ..0) => {
            for (at, value) in values.iter().enumerate() {
                scope.set_variable(&format!("{name}_{}", at + 1), value.clone());
            }
        }
        ([value], _) => scope.set_variable(&name, value.clone()),
        (values, number) => {
            let value = choose(values, number, scope).cloned();
            scope.set_variable(&name, value.unwrap_or(default));
        }
    }
    scope.set_variable(&format!("{name}_matchNr"), values.len().to_string());
    Ok(())
}
