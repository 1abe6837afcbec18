//! XPath Assertion and XPath2 Assertion.

use super::{AssertionFailure, assertion_reach};
use crate::element::Element;
use crate::extract::{flag, value};
use crate::sample::{Reach, SampleView};
use crate::scope::Scope;
use crate::xpath::{Names, Tree, Value, evaluate, namespaces_of};

/// The text that is judged; `None` where there is none.
fn text_of(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) -> Option<String> {
    let text = match assertion_reach(element, scope) {
        Reach::Variable(name) => scope.variable(&name)?,
        _ => sample.text.to_owned(),
    };
    (!text.is_empty()).then_some(text)
}

pub(super) fn judge(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let properties = &element.properties;
    let mut is = |name: &str| flag(properties, name, scope) == Some(true);
    let (is_negated, knows_namespaces) = (is("XPath.negate"), is("XPath.namespace"));
    let tolerates = is("XPath.tolerant");
    let query = query_of(element, scope);
    let Some(text) = text_of(element, scope, sample) else { return Some(AssertionFailure::null()) };
    let tree = match tolerates {
        true => Tree::of_page(&text),
        false => match Tree::of_xml(&text) {
            Ok(tree) => tree,
            Err(error) => return Some(AssertionFailure::error(format!("SAXException: {error}"))),
        },
    };
    let names = Names { namespaces: &[], ignores_namespaces: !knows_namespaces };
    let failure = |message: String| Some(AssertionFailure::failure(message));
    match evaluate(&tree, &query, names) {
        Ok(Value::Nodes(nodes)) => match (nodes.is_empty(), is_negated) {
            (true, false) => failure(format!("No Nodes Matched {query}")),
            (false, true) => failure(
                "Specified XPath was found... Turn off negate if this is not desired".to_owned(),
            ),
            _ => None,
        },
        Ok(Value::Truth(truth)) if truth != is_negated => None,
        Ok(Value::Truth(_)) if is_negated => failure(format!("Nodes Matched for {query}")),
        Ok(Value::Truth(_)) => failure(format!("No Nodes Matched for {query}")),
        Ok(_) => failure(format!("Cannot understand: {query}")),
        Err(error) => {
            let message = format!("TransformerException: {error} for: {query}");
            Some(AssertionFailure::error(message))
        }
    }
}

pub(super) fn judge_second(
    element: &Element,
    scope: &mut dyn Scope,
    sample: &SampleView<'_>,
) -> Option<AssertionFailure> {
    let properties = &element.properties;
    let is_negated = flag(properties, "XPath.negate", scope) == Some(true);
    let namespaces = namespaces_of(&value(properties, "XPath.namespaces", scope));
    let query = query_of(element, scope);
    let Some(text) = text_of(element, scope, sample) else { return Some(AssertionFailure::null()) };
    let error = |error: String| {
        let message =
            format!("Exception occurred computing assertion with XPath:{query}, error:{error}");
        Some(AssertionFailure::error(message))
    };
    let tree = match Tree::of_xml(&text) {
        Ok(tree) => tree,
        Err(reason) => return error(reason.to_string()),
    };
    let names = Names { namespaces: &namespaces, ignores_namespaces: false };
    let is_met = match evaluate(&tree, &query, names) {
        Ok(Value::Nodes(nodes)) => !nodes.is_empty(),
        Ok(Value::List(items)) => !items.is_empty(),
        Ok(Value::Truth(truth)) => truth,
        Ok(Value::Text(_) | Value::Number(_)) => true,
        Err(reason) => return error(reason.to_string()),
    };
    (is_met == is_negated).then(|| {
        let words = if is_negated { "Nodes Matched for" } else { "No Nodes Matched for" };
        AssertionFailure::failure(format!("{words} {query}"))
    })
}

/// What is looked for; the root where nothing is said.
fn query_of(element: &Element, scope: &mut dyn Scope) -> String {
    match element.properties.text("XPath.xpath") {
        Some(text) => text.evaluate(scope),
        None => "/".to_owned(),
    }
}
