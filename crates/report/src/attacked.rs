//! What was attacked, in a line: the method and URL of the target, or how many targets there were and which got most requests.

use std::collections::BTreeSet;

use metrics::{AttackedTargets, TargetTable};
use stdx::shown_url;

use crate::figure::shortened;
use crate::number::counted;
use crate::object::Object;
use crate::{Input, escape};

/// Characters of a method and a URL that are shown; more are cut.
const NAME_MAX: usize = 205;

/// `GET http://127.0.0.1/`, or `12 targets, most requests to GET http://127.0.0.1/ (45%)`; not escaped, and at most some 260
/// characters.
#[must_use]
pub fn words(targets: &AttackedTargets) -> String {
    let most = &targets.most;
    let name = name(&most.method, &most.url);
    if targets.count == 1 && targets.unplaced == 0 {
        return name;
    }
    let share = 100.0 * most.requests as f64 / targets.requests.max(1) as f64;
    let at_least = if targets.unplaced > 0 { "at least " } else { "" };
    let count = counted(targets.count, "target");
    format!("{at_least}{count}, most requests to {name} ({share:.0}%)")
}

/// The same of what a plan has, before or without counts: `GET http://127.0.0.1/`, or `12 targets, first GET http://127.0.0.1/`;
/// `None` without targets.
#[must_use]
pub fn planned(table: &TargetTable) -> Option<String> {
    let first = table.first()?;
    let all: BTreeSet<_> = table.iter().map(|one| (one.method, one.url)).collect();
    let name = name(first.method, &shown_url(first.url));
    Some(match all.len() {
        1 => name,
        count => format!("{}, first {name}", counted(count as u64, "target")),
    })
}

fn name(method: &str, url: &str) -> String {
    shortened(format!("{method} {url}").trim(), NAME_MAX)
}

/// A line below the conclusion of a text; empty where the targets are not known.
pub(crate) fn text(input: &Input<'_>) -> String {
    let targets = input.attacked.map(words);
    targets.map_or_else(String::new, |words| format!("Attacked: {}\n", escape::terminal(&words)))
}

/// A paragraph of a page.
pub(crate) fn html(input: &Input<'_>) -> String {
    let targets = input.attacked.map(words);
    let line = |words: String| format!("<p>Attacked: {}</p>\n", escape::xml(&words));
    targets.map_or_else(String::new, line)
}

/// A paragraph of Markdown.
pub(crate) fn markdown(input: &Input<'_>) -> String {
    let targets = input.attacked.map(words);
    let line = |words: String| format!("Attacked: {}\n\n", escape::markdown(&words));
    targets.map_or_else(String::new, line)
}

/// `{"count":12,"method":"GET","url":"http://127.0.0.1/","requests":45}`: the number of targets, and the one that got most
/// requests; `None` where the targets are not known.
pub(crate) fn json(input: &Input<'_>) -> Option<String> {
    let targets = input.attacked?;
    let most = &targets.most;
    let object = Object::new()
        .number("count", targets.count)
        .text("method", &most.method)
        .text("url", &most.url)
        .number("requests", most.requests);
    Some(match targets.unplaced {
        0 => object.end(),
        unplaced => object.number("unplaced", unplaced).end(),
    })
}

#[cfg(test)]
mod tests {
    use metrics::AttackedTarget;

    use super::*;

    #[test]
    fn a_plan_is_its_target_or_how_many_it_has() {
        let table = |urls: &[&str]| {
            let label = |url: &&str| metrics::TargetLabel {
                method: "GET".to_owned(),
                url: (*url).to_owned(),
                ..metrics::TargetLabel::default()
            };
            urls.iter().map(label).collect()
        };
        assert_eq!(planned(&table(&[])), None);
        let twice = ["http://me:pw1234@h/", "http://me:pw1234@h/"];
        let one = planned(&table(&twice)).unwrap();
        assert!(one.starts_with("GET http://") && !one.contains("pw1234"), "{one}");
        let two = planned(&table(&["http://h/a", "http://h/b"]));
        assert_eq!(two.as_deref(), Some("2 targets, first GET http://h/a"));
    }

    #[test]
    fn one_target_is_its_url_and_many_are_counted() {
        let most = AttackedTarget {
            method: "GET".to_owned(),
            url: "http://127.0.0.1/".to_owned(),
            requests: 45,
        };
        let one = AttackedTargets { count: 1, most, requests: 45, unplaced: 0 };
        assert_eq!(words(&one), "GET http://127.0.0.1/");
        let many = AttackedTargets { count: 1200, requests: 100, ..one.clone() };
        assert_eq!(words(&many), "1,200 targets, most requests to GET http://127.0.0.1/ (45%)");
        let more = AttackedTargets { unplaced: 3, requests: 100, ..one };
        let text = "at least 1 target, most requests to GET http://127.0.0.1/ (45%)";
        assert_eq!(words(&more), text);
        let mut long = more;
        long.most.url = "ü".repeat(300);
        assert!(words(&long).contains(&format!("GET {}… (45%)", "ü".repeat(200))));
        long.most.method = "M".repeat(300);
        assert!(words(&long).chars().count() < 270);
    }
}
