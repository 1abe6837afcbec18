//! The XPath Extractor and the XPath2 Extractor.

use super::{MATCHES_MAX, flag, inputs, match_number, put, value};
use crate::class::Class;
use crate::element::Element;
use crate::sample::SampleView;
use crate::scope::Scope;
use crate::xpath::{Names, Shape, Tree, XPathError, evaluate, namespaces_of, texts};

pub(super) fn extract(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) {
    let properties = &element.properties;
    let is_second = element.class == Class::XPath2Extractor;
    let prefix = if is_second { "XPathExtractor2" } else { "XPathExtractor" };
    let key = |name: &str| format!("{prefix}.{name}");
    let name = value(properties, &key("refname"), scope);
    let default = value(properties, &key("default"), scope);
    let absent = if is_second { 0 } else { -1 };
    let number = match_number(&value(properties, &key("matchNumber"), scope), absent);
    let mut is = |name: &str| flag(properties, &key(name), scope) == Some(true);
    let (tolerates, knows_namespaces, takes_markup) =
        (is("tolerant"), is("namespace"), is("fragment"));
    let query = value(properties, &key("xpathQuery"), scope);
    let declared = namespaces_of(&value(properties, &key("namespaces"), scope));
    let names =
        Names { namespaces: &declared, ignores_namespaces: !is_second && !knows_namespaces };
    let shape = match (takes_markup, is_second) {
        (true, true) => Shape::DeclaredMarkup,
        (true, false) => Shape::Markup,
        (false, true) => Shape::AllText,
        (false, false) => Shape::FirstText,
    };
    scope.set_variable(&name, default);
    let count = format!("{name}_matchNr");
    let before = scope.variable(&count).and_then(|count| count.parse::<usize>().ok());
    let before = before.unwrap_or(0).min(MATCHES_MAX);
    scope.set_variable(&count, "0".to_owned());
    scope.remove_variable(&format!("{name}_1"));
    let mut found = Vec::new();
    for text in inputs(element, scope, sample, |sample| sample.text.to_owned()) {
        let tree = match tolerates {
            true => Ok(Tree::of_page(&text)),
            false => Tree::of_xml(&text),
        };
        let values = tree.map_err(|error| error.to_string()).and_then(|tree| {
            let value = evaluate(&tree, &query, names);
            value
                .map(|value| texts(&tree, &value, shape))
                .map_err(|error: XPathError| error.to_string())
        });
        match values {
            Ok(values) => found.extend(chosen(values, number, scope)),
            // JMeter notes it beside the sample, which stays a success.
            Err(error) => {
                return scope
                    .log("WARN", &format!("Exception while processing '{query}': {error}"));
            }
        }
    }
    scope.set_variable(&count, found.len().to_string());
    if let Some(Some(first)) = found.first() {
        scope.set_variable(&name, first.clone());
    }
    for (at, value) in found.iter().enumerate().filter(|(_, value)| value.is_some()) {
        put(scope, &format!("{name}_{}", at + 1), value.as_deref());
    }
    for at in found.len() + 1..=before.max(found.len() + 1) {
        scope.remove_variable(&format!("{name}_{at}"));
    }
}

/// All of them, or the one of a number.
fn chosen(
    mut values: Vec<Option<String>>,
    number: i64,
    scope: &mut dyn Scope,
) -> Vec<Option<String>> {
    values.truncate(MATCHES_MAX);
    if number < 0 {
        return values;
    }
    super::choose(&values, number, scope).cloned().into_iter().collect()
}
