//! The Boundary Extractor: what stands between two texts.

use super::{ExtractError, MATCHES_MAX, field, flag, inputs, match_number, put_matches, value};
use crate::element::Element;
use crate::sample::SampleView;
use crate::scope::Scope;

pub(super) fn extract(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Result<(), ExtractError> {
    let properties = &element.properties;
    let name = value(properties, "BoundaryExtractor.refname", scope);
    if name.is_empty() {
        return Err(ExtractError::NoName { name: element.name.evaluate(scope) });
    }
    let default = value(properties, "BoundaryExtractor.default", scope);
    let empties = flag(properties, "BoundaryExtractor.default_empty_value", scope) == Some(true);
    if !default.trim().is_empty() || empties {
        scope.set_variable(&name, default);
    }
    let left = value(properties, "BoundaryExtractor.lboundary", scope);
    let right = value(properties, "BoundaryExtractor.rboundary", scope);
    let number = match_number(&value(properties, "BoundaryExtractor.match_number", scope), 0);
    let word = value(properties, "BoundaryExtractor.useHeaders", scope);
    let mut values = Vec::new();
    for text in inputs(element, scope, sample, |sample| field::text_of(sample, &word)) {
        between(&text, &left, &right, &mut values);
    }
    put_matches(scope, &name, &values, number);
    Ok(())
}

/// Adds what stands between the two; where one of them is empty, the text's own end is meant.
fn between(text: &str, left: &str, right: &str, values: &mut Vec<String>) {
    if text.trim().is_empty() {
        return;
    }
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return values.push(text.to_owned()),
        (true, false) => {
            return values.extend(text.find(right).map(|end| text[..end].to_owned()));
        }
        (false, true) => {
            let begin = text.find(left).map(|begin| begin + left.len());
            return values.extend(begin.map(|begin| text[begin..].to_owned()));
        }
        (false, false) => {}
    }
    let mut at = 0;
    while values.len() < MATCHES_MAX {
        let Some(begin) = text[at..].find(left).map(|begin| at + begin + left.len()) else { break };
        let Some(end) = text[begin..].find(right).map(|end| begin + end) else { break };
        values.push(text[begin..end].to_owned());
        at = begin;
    }
}
