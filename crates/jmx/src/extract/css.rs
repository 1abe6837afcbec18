//! The CSS Selector Extractor.

use dom_query::Matcher;

use super::{MATCHES_MAX, flag, inputs, match_number, put_matches, value};
use crate::element::Element;
use crate::ending;
use crate::html;
use crate::sample::SampleView;
use crate::scope::Scope;

pub(super) fn extract(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) {
    let properties = &element.properties;
    let name = value(properties, "HtmlExtractor.refname", scope);
    let default = value(properties, "HtmlExtractor.default", scope);
    let empties = flag(properties, "HtmlExtractor.default_empty_value", scope) == Some(true);
    if !default.is_empty() || empties {
        scope.set_variable(&name, default);
    }
    let selector = value(properties, "HtmlExtractor.expr", scope);
    let attribute = value(properties, "HtmlExtractor.attribute", scope);
    let number = match_number(&value(properties, "HtmlExtractor.match_number", scope), 0);
    let Ok(matcher) = Matcher::new(&selector) else {
        return scope.log("WARN", &format!("CSS selector '{selector}' is not understood"));
    };
    let mut values = Vec::new();
    for text in inputs(element, scope, sample, |sample| sample.text.to_owned()) {
        let page = html::parse(&text);
        for node in page.select_matcher(&matcher).nodes() {
            if values.len() >= MATCHES_MAX || ending::is_over() {
                break;
            }
            values.push(match attribute.trim().is_empty() {
                true => html::visible_text(node),
                false => node.attr_or(&attribute.to_ascii_lowercase(), "").to_string(),
            });
        }
    }
    put_matches(scope, &name, &values, number);
}
