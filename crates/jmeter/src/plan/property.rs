//! Properties of elements in a scope, as texts, numbers and truth values.

use jmx::{Element, Properties, Scope};

/// A property as a number; `None` where it is none.
pub(crate) fn number(element: &Element, name: &str, scope: &mut dyn Scope) -> Option<i64> {
    text(&element.properties, name, scope).trim().parse().ok()
}

/// A property in a scope; empty where it is absent.
pub(crate) fn text(properties: &Properties, name: &str, scope: &mut dyn Scope) -> String {
    properties.text(name).map_or_else(String::new, |text| text.evaluate(scope))
}

/// Whether a property says `true`; `None` where it is absent or blank.
pub(crate) fn flag(properties: &Properties, name: &str, scope: &mut dyn Scope) -> Option<bool> {
    let text = properties.text(name)?.evaluate(scope);
    let word = text.trim();
    (!word.is_empty()).then(|| word.eq_ignore_ascii_case("true"))
}
