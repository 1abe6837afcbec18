//! `assert_sample`: what assertions say of samples, in JMeter's own words.

mod json;
mod response;
mod size;
mod xpath;

use md5::Digest as _;

use crate::class::Class;
use crate::element::Element;
use crate::extract::{flag, value};
use crate::sample::{Reach, SampleView};
use crate::scope::Scope;

/// Why a sample fails an assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssertionFailure {
    /// JMeter's message.
    pub message: String,
    /// Whether the sample is wrong, or could not be judged.
    pub kind: Failing,
}

/// Which kind of failure it is: JMeter's results in XML tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// The sample is not as it must be.
    Failure,
    /// It cannot be judged: it is no XML, or the pattern is broken.
    Error,
}

impl AssertionFailure {
    fn failure(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: Failing::Failure }
    }

    fn error(message: impl Into<String>) -> Self {
        Self { message: message.into(), kind: Failing::Error }
    }

    /// What is said where there is nothing to judge.
    fn null() -> Self {
        Self::failure("Response was null")
    }
}

/// What a sample fails with when one below it failed an assertion that reaches down.
pub const CHILDREN_FAILED: &str = "One or more sub-samples failed";

/// Judges one sample, whatever the assertion's reach; `None` where it passes, or where the element is no assertion.
pub fn assert_sample(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    match element.class {
        Class::ResponseAssertion => response::judge(element, scope, sample),
        Class::DurationAssertion => size::judge_duration(element, scope, sample),
        Class::SizeAssertion => size::judge_size(element, scope, sample),
        Class::Md5Assertion => judge_md5(element, scope, sample),
        Class::XmlAssertion => judge_xml(sample),
        Class::JsonAssertion => json::judge_path(element, scope, sample),
        Class::JmesPathAssertion => json::judge_expression(element, scope, sample),
        Class::XPathAssertion => xpath::judge(element, scope, sample),
        Class::XPath2Assertion => xpath::judge_second(element, scope, sample),
        _ => None,
    }
}

/// Which samples an assertion judges.
pub fn assertion_reach(element: &Element, scope: &mut dyn Scope) -> Reach {
    let word = value(&element.properties, "Assertion.scope", scope);
    let name = value(&element.properties, "Scope.variable", scope);
    Reach::of(&word, || name)
}

/// Whether a sample is a success before this assertion judges it, whatever its code.
pub fn assumes_success(element: &Element, scope: &mut dyn Scope) -> bool {
    element.class == Class::ResponseAssertion
        && flag(&element.properties, "Assertion.assume_success", scope) == Some(true)
}

fn judge_md5(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let expected = value(&element.properties, "MD5HexAssertion.size", scope);
    if sample.body.is_empty() {
        return Some(AssertionFailure::null());
    }
    if expected.is_empty() {
        return Some(AssertionFailure::failure("MD5Hex to test against is empty"));
    }
    let found = md5::Md5::digest(sample.body);
    let found = found.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    (!found.eq_ignore_ascii_case(&expected)).then(|| {
        AssertionFailure::failure(format!(
            "Error asserting MD5 sum : got {found} but should have been {expected}"
        ))
    })
}

fn judge_xml(sample: &SampleView<'_>) -> Option<AssertionFailure> {
    if sample.text.is_empty() {
        return Some(AssertionFailure::null());
    }
    crate::xpath::parse_xml(sample.text)
        .err()
        .map(|error| AssertionFailure::error(error.to_string()))
}

#[cfg(test)]
mod tests;
