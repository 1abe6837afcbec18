//! Duration and Size Assertion.

use super::{AssertionFailure, assertion_reach};
use crate::element::Element;
use crate::extract::value;
use crate::sample::{Reach, SampleView};
use crate::scope::Scope;

pub(super) fn judge_duration(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let text = value(&element.properties, "DurationAssertion.duration", scope);
    let allowed: u64 = text.trim().parse().unwrap_or(0);
    (allowed > 0 && sample.elapsed_ms > allowed).then(|| {
        AssertionFailure::failure(format!(
            "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {} milliseconds.",
            grouped(sample.elapsed_ms),
            grouped(allowed)
        ))
    })
}

pub(super) fn judge_size(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let properties = &element.properties;
    let size = match assertion_reach(element, scope) {
        Reach::Variable(name) => {
            let value = scope.variable(&name);
            match value.as_deref().and_then(|value| value.parse::<u64>().ok()) {
                Some(size) => size,
                None => {
                    let value = value.as_deref().unwrap_or("null");
                    let message = format!("Error parsing variable name: {name} value: {value}");
                    return Some(AssertionFailure::failure(message));
                }
            }
        }
        _ => match value(properties, "Assertion.test_field", scope).as_str() {
            "SizeAssertion.response_headers" => sample.header_bytes,
            "SizeAssertion.response_data" => sample.body_bytes,
            "SizeAssertion.response_code" => length(sample.code),
            "SizeAssertion.response_message" => length(sample.message),
            _ => sample.bytes(),
        },
    };
    let text = value(properties, "SizeAssertion.size", scope);
    let Ok(allowed) = text.parse::<u64>() else {
        let message = format!("java.lang.NumberFormatException: For input string: \"{text}\"");
        return Some(AssertionFailure::error(message));
    };
    let operator = value(properties, "SizeAssertion.operator", scope);
    let (holds, words) = match operator.trim() {
        "1" => (size == allowed, "been equal to"),
        "2" => (size != allowed, "not been equal to"),
        "3" => (size > allowed, "been greater than"),
        "4" => (size < allowed, "been less than"),
        "5" => (size >= allowed, "been greater or equal to"),
        "6" => (size <= allowed, "been less than or equal to"),
        _ => (false, "ERROR - invalid condition"),
    };
    (!holds).then(|| {
        AssertionFailure::failure(format!(
            "The result was the wrong size: It was {} bytes, but should have {words} {} bytes.",
            grouped(size),
            grouped(allowed)
        ))
    })
}

/// The letters of a text as Java counts them.
fn length(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// A number with commas between its thousands, as Java's messages have them.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
