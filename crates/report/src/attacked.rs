//! What was attacked, in a line: the method and URL of the target, or how many targets there were and which got most requests.

use metrics::AttackedTargets;

use crate::number::counted;
use crate::object::Object;
use crate::{Input, escape};

/// Characters of a URL that are shown; a longer one is cut.
const URL_MAX: usize = 200;

/// `GET http://127.0.0.1/`, or `12 targets, most requests to GET http://127.0.0.1/ (45%)`.
fn words(targets: &AttackedTargets) -> String {
    let most = &targets.most;
    let end = most.url.char_indices().nth(URL_MAX);
    let url = end.map_or_else(|| most.url.clone(), |(end, _)| format!("{}…", &most.url[..end]));
    let name = format!("{} {url}", most.method);
    let name = name.trim();
    if targets.count == 1 && targets.unplaced == 0 {
        return name.to_owned();
    }
    let share = 100.0 * most.requests as f64 / targets.requests.max(1) as f64;
    let at_least = if targets.unplaced > 0 { "at least " } else { "" };
    let count = counted(targets.count, "target");
    format!("{at_least}{count}, most requests to {name} ({share:.0}%)")
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
    }
}
