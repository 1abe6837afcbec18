//! The Regular Expression Extractor.

use super::{
    MATCHES_MAX, Template, choose, field, flag, inputs, match_number, put, take_count, value,
};
use crate::element::Element;
use crate::pattern::{Match, Pattern};
use crate::sample::SampleView;
use crate::scope::Scope;

pub(super) fn extract(element: &Element, scope: &mut dyn Scope, sample: &SampleView<'_>) {
    let properties = &element.properties;
    let name = value(properties, "RegexExtractor.refname", scope);
    let default = value(properties, "RegexExtractor.default", scope);
    let empties = flag(properties, "RegexExtractor.default_empty_value", scope) == Some(true);
    if !default.is_empty() || empties {
        scope.set_variable(&name, default);
    }
    let Ok(pattern) = Pattern::of(&value(properties, "RegexExtractor.regex", scope)) else {
        let message = format!("Error in pattern: '{}'", properties.written("RegexExtractor.regex"));
        return scope.log("ERROR", &message);
    };
    let template = Template::parse(&value(properties, "RegexExtractor.template", scope));
    let number = match_number(&value(properties, "RegexExtractor.match_number", scope), 0);
    let word = value(properties, "RegexExtractor.useHeaders", scope);
    let max = usize::try_from(number).ok().filter(|max| *max > 0).unwrap_or(MATCHES_MAX);
    let mut matches = Vec::new();
    for text in inputs(element, scope, sample, |sample| field::text_of(sample, &word)) {
        matches.extend(pattern.matches(&text, max - matches.len()));
    }
    let before = take_count(scope, &name);
    let mut count = 0;
    if number < 0 {
        remove_groups(scope, &name);
        count = matches.len();
        scope.set_variable(&format!("{name}_matchNr"), count.to_string());
        for (at, found) in matches.iter().enumerate() {
            put_match(scope, &format!("{name}_{}", at + 1), &template, found);
        }
    } else {
        match choose(&matches, number, scope) {
            Some(found) => put_match(scope, &name, &template, found),
            None => remove_groups(scope, &name),
        }
    }
    for at in count + 1..=before {
        let name = format!("{name}_{at}");
        scope.remove_variable(&name);
        remove_groups(scope, &name);
    }
}

/// Sets a variable to what the template makes of a match, and its groups: `NAME_g0` and so on, how many in `NAME_g`.
fn put_match(scope: &mut dyn Scope, name: &str, template: &Template, found: &Match) {
    scope.set_variable(name, template.fill(found));
    let before = group_count(scope, name).unwrap_or(0);
    for (at, group) in found.groups.iter().enumerate() {
        put(scope, &format!("{name}_g{at}"), group.as_deref());
    }
    scope.set_variable(&format!("{name}_g"), (found.groups.len() - 1).to_string());
    for at in found.groups.len()..=before {
        scope.remove_variable(&format!("{name}_g{at}"));
    }
}

fn group_count(scope: &dyn Scope, name: &str) -> Option<usize> {
    let count: usize = scope.variable(&format!("{name}_g"))?.parse().ok()?;
    Some(count.min(MATCHES_MAX))
}

fn remove_groups(scope: &mut dyn Scope, name: &str) {
    let count = group_count(scope, name).unwrap_or(0);
    for end in std::iter::once(String::new()).chain((0..=count).map(|at| at.to_string())) {
        let name = format!("{name}_g{end}");
        if scope.variable(&name).is_some() {
            scope.remove_variable(&name);
        }
    }
}
