//! JSON Assertion and JSON JMESPath Assertion.

use serde_json::Value;

use super::AssertionFailure;
use crate::element::Element;
use crate::extract::{flag, value};
use crate::jmes::{self, JmesError};
use crate::jsonpath::{Path, PathError, decimal, parse_json};
use crate::pattern::Pattern;
use crate::sample::SampleView;
use crate::scope::Scope;

/// What both assertions expect.
struct Expectation {
    path: String,
    value: String,
    is_compared: bool,
    is_null: bool,
    is_inverted: bool,
    is_pattern: bool,
}

impl Expectation {
    fn of(element: &Element, path: &str, scope: &mut dyn Scope) -> Self {
        let properties = &element.properties;
        let mut is = |name: &str, absent| flag(properties, name, scope).unwrap_or(absent);
        Self {
            is_compared: is("JSONVALIDATION", false),
            is_null: is("EXPECT_NULL", false),
            is_inverted: is("INVERT", false),
            is_pattern: is("ISREGEX", true),
            path: value(properties, path, scope),
            value: value(properties, "EXPECTED_VALUE", scope),
        }
    }

    fn is_met_by(&self, found: &Value) -> bool {
        if self.is_pattern {
            let pattern = Pattern::of(&self.value);
            return pattern.is_ok_and(|pattern| pattern.is_whole(&decimal(found)));
        }
        let expected = serde_json::from_str(&self.value);
        expected.unwrap_or_else(|_| Value::String(self.value.clone())) == *found
    }
}

pub(super) fn judge_path(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let expected = Expectation::of(element, "JSON_PATH", scope);
    if sample.text.is_empty() {
        return Some(AssertionFailure::null());
    }
    let failure = look(&expected, sample.text).err();
    let path = &expected.path;
    let message = match (failure, expected.is_inverted) {
        (None, false) | (Some(_), true) => return None,
        (Some(message), false) => message,
        (None, true) if !expected.is_compared => format!("Failed that JSONPath not exists: {path}"),
        (None, true) if expected.is_null => format!("Failed that JSONPath {path} not matches null"),
        (None, true) => format!("Failed that JSONPath {path} not matches {}", expected.value),
    };
    Some(AssertionFailure::failure(message))
}

/// Looks for what is expected; the error says what is there instead.
fn look(expected: &Expectation, text: &str) -> Result<(), String> {
    let words = |error: PathError| error.to_string();
    let path = Path::parse(&expected.path).map_err(words)?;
    let mut values = path.find(&parse_json(text).map_err(words)?).map_err(words)?;
    let found = match path.is_definite() {
        true => values.pop().unwrap_or(Value::Null),
        false => Value::Array(values),
    };
    let written = &expected.path;
    if !expected.is_compared {
        let is_empty = found.as_array().is_some_and(Vec::is_empty) && !path.is_definite();
        return match is_empty {
            true => Err(format!(
                "JSONPath '{written}' is indefinite and the extracted Value is an empty Array. Please use an assertion value, to be sure to get a correct result. Expected value was '{}'",
                expected.value
            )),
            false => Ok(()),
        };
    }
    let is_met = match &found {
        Value::Array(list) => {
            list.is_empty() && expected.value == "[]"
                || list
                    .iter()
                    .any(|value| value.is_null() && expected.is_null || expected.is_met_by(value))
                || expected.is_met_by(&found)
        }
        value => value.is_null() && expected.is_null || expected.is_met_by(value),
    };
    if is_met {
        return Ok(());
    }
    let shown = decimal(&found);
    Err(match (expected.is_null, expected.is_pattern) {
        (true, _) => {
            format!("Value in json path '{written}' expected to be null, but found '{shown}'")
        }
        (false, true) => format!(
            "Value in json path '{written}' expected to match regexp '{}', but it did not match: '{shown}'",
            expected.value
        ),
        (false, false) => format!(
            "Value in json path '{written}' expected to be '{}', but found '{shown}'",
            expected.value
        ),
    })
}

pub(super) fn judge_expression(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let expected = Expectation::of(element, "JMES_PATH", scope);
    if sample.text.is_empty() {
        return Some(AssertionFailure::null());
    }
    match is_met(&expected, sample.text) {
        Ok(met) if met != expected.is_inverted => None,
        Ok(_) => Some(AssertionFailure::failure(missed(&expected))),
        Err(_) if expected.is_inverted => None,
        Err(error) => Some(AssertionFailure::error(error.to_string())),
    }
}

fn is_met(expected: &Expectation, text: &str) -> Result<bool, JmesError> {
    let found = jmes::search(&expected.path, text)?;
    if !expected.is_compared {
        return Ok(!found.is_null());
    }
    if expected.is_null {
        return Ok(found.is_null());
    }
    let text = jmes::text(&found);
    if expected.is_pattern {
        let pattern = Pattern::of(&expected.value);
        return Ok(pattern.is_ok_and(|pattern| pattern.is_whole(&text)));
    }
    if text == expected.value {
        return Ok(true);
    }
    let value: Value =
        serde_json::from_str(&expected.value).map_err(|reason| JmesError::NoJson { reason })?;
    Ok(value == found)
}

fn missed(expected: &Expectation) -> String {
    let not = if expected.is_inverted { " not" } else { "" };
    if !expected.is_compared {
        return format!("JMESPATH {} expected{not} to exist", expected.path);
    }
    match (expected.is_null, expected.is_pattern) {
        (true, _) => format!("Value expected{not} to be null"),
        (false, true) => format!("Value expected{not} to match {}", expected.value),
        (false, false) => format!("Value expected{not} to be equal to {}", expected.value),
    }
}
