//! `extract`: what post-processors take out of samples into variables.

mod boundary;
mod css;
mod field;
mod json;
mod regex;
mod template;
mod xpath;

use crate::class::Class;
use crate::element::{Element, Properties};
use crate::sample::{Reach, SampleView};
use crate::scope::Scope;

pub(crate) use template::Template;

/// Why an extractor gives up so that JMeter loses the row of the sample.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Its lists of names, paths and defaults are not of one length.
    #[error("Mismatch between number of variables, json expressions and default values")]
    CountMismatch,
    /// A match number is none.
    #[error("For input string: \"{text}\"")]
    NoNumber {
        /// What stands in its place.
        text: String,
    },
    /// A mandatory property is missing.
    #[error("One of the mandatory properties is missing in Boundary Extractor:{name}")]
    NoName {
        /// The extractor's name.
        name: String,
    },
}

/// Values that one extractor takes at most.
pub(crate) const MATCHES_MAX: usize = 100_000;

/// Sets the variables of an extractor. An element that is none does nothing.
///
/// # Errors
/// JMeter throws here: the row of the sample is lost.
pub fn extract(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Result<(), ExtractError> {
    match element.class {
        Class::RegexExtractor => regex::extract(element, scope, sample),
        Class::BoundaryExtractor => return boundary::extract(element, scope, sample),
        Class::JsonExtractor => return json::extract_paths(element, scope, sample),
        Class::JmesPathExtractor => return json::extract_expression(element, scope, sample),
        Class::HtmlExtractor => css::extract(element, scope, sample),
        Class::XPathExtractor | Class::XPath2Extractor => xpath::extract(element, scope, sample),
        _ => {}
    }
    Ok(())
}

/// A property of an element in a scope; empty where it is absent.
pub(crate) fn value(properties: &Properties, name: &str, scope: &mut dyn Scope) -> String {
    properties.text(name).map_or_else(String::new, |text| text.evaluate(scope))
}

/// Whether a property is `true`; `absent` where there is none.
pub(crate) fn flag(properties: &Properties, name: &str, scope: &mut dyn Scope) -> Option<bool> {
    let text = properties.text(name)?.evaluate(scope);
    Some(text.trim().eq_ignore_ascii_case("true"))
}

/// The texts that an extractor looks at; `of` takes one out of a sample.
fn inputs(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
    of: impl Fn(&SampleView<'_>) -> String,
) -> Vec<String> {
    let word = value(&element.properties, "Sample.scope", scope);
    let name = value(&element.properties, "Scope.variable", scope);
    match Reach::of(&word, || name) {
        Reach::Variable(name) => scope.variable(&name).into_iter().collect(),
        reach => reach.samples(sample).into_iter().map(of).collect(),
    }
}

/// The match number of an extractor; `absent` where it has none.
fn match_number(text: &str, absent: i64) -> i64 {
    match text.trim() {
        "" => absent,
        number => number.parse().unwrap_or(0),
    }
}

/// One of several: by chance for 0, else the one of this number, from 1.
fn choose<'a, T>(values: &'a [T], number: i64, scope: &mut dyn Scope) -> Option<&'a T> {
    match number {
        0 if values.is_empty() => None,
        0 => values.get((scope.random() % values.len() as u64) as usize),
        number => usize::try_from(number).ok().and_then(|number| values.get(number - 1)),
    }
}

/// Sets a variable, or removes it where there is no value.
fn put(scope: &mut dyn Scope, name: &str, value: Option<&str>) {
    match value {
        Some(value) => scope.set_variable(name, value.to_owned()),
        None => scope.remove_variable(name),
    }
}

/// Takes the count of earlier matches away; how many there were.
fn take_count(scope: &mut dyn Scope, name: &str) -> usize {
    let name = format!("{name}_matchNr");
    let before = scope.variable(&name);
    if before.is_some() {
        scope.remove_variable(&name);
    }
    before.and_then(|count| count.parse().ok()).unwrap_or(0).min(MATCHES_MAX)
}

/// Sets `NAME_1` and so on and their count, or one of the values, as all extractors but those of JSON and XPath do.
fn put_matches(scope: &mut dyn Scope, name: &str, values: &[String], number: i64) {
    let before = take_count(scope, name);
    let mut count = 0;
    if number < 0 {
        count = values.len();
        scope.set_variable(&format!("{name}_matchNr"), count.to_string());
        for (at, value) in values.iter().enumerate() {
            scope.set_variable(&format!("{name}_{}", at + 1), value.clone());
        }
    } else if let Some(value) = choose(values, number, scope) {
        scope.set_variable(name, value.clone());
    }
    for at in count + 1..=before {
        scope.remove_variable(&format!("{name}_{at}"));
    }
}

#[cfg(test)]
mod tests;
