//! References to answers of earlier requests: `{{login.response.body.$.token}}`.

use std::collections::BTreeSet;

use crate::{Between, Extraction, Find, JsonStep};

/// A reference in a file.
#[derive(Debug, PartialEq)]
pub(super) struct Reference {
    /// The whole name, as it stands between the braces.
    pub text: String,
    /// The name of the request.
    pub request: String,
    /// Where in its answer; `None` if that is not understood.
    pub find: Option<Find>,
}

impl Reference {
    /// The extraction that the request's exchange gets.
    pub(super) fn extraction(&self) -> Option<Extraction> {
        Some(Extraction {
            variable: self.variable(),
            find: self.find.clone()?,
            cut: None,
            decodings: Vec::new(),
            remark: String::new(),
        })
    }

    /// The variable that holds the value.
    pub(super) fn variable(&self) -> String {
        self.text
            .replace(".response.", " ")
            .replace("body.", "")
            .replace("headers.", "")
            .replace(['$', '.'], " ")
    }
}

/// Every reference of a file, once each.
pub(super) fn references(text: &str) -> Vec<Reference> {
    let names: BTreeSet<&str> = text
        .split("{{")
        .skip(1)
        .filter_map(|part| part.split_once("}}"))
        .map(|(name, _)| name.trim())
        .filter(|name| name.len() < 500)
        .collect();
    names.into_iter().take(REFERENCES_MAX).filter_map(reference).collect()
}

fn reference(text: &str) -> Option<Reference> {
    let (request, rest) = text.split_once(".response.")?;
    let (part, path) = rest.split_once('.').unwrap_or((rest, ""));
    let find = match part {
        "body" => body_place(path),
        "headers" if !path.is_empty() => Some(Find::Header(path.to_owned())),
        "status" | "statusCode" => Some(Find::Status),
        _ => None,
    };
    Some(Reference { text: text.to_owned(), request: request.to_owned(), find })
}

fn body_place(path: &str) -> Option<Find> {
    if matches!(path, "" | "*") {
        return Some(Find::Body(Between { left: String::new(), right: String::new() }));
    }
    if path.starts_with('/') || path.contains("..") || path.contains("[?") {
        return None;
    }
    json_path(path.trim_start_matches('$')).map(Find::Json)
}

/// The steps of `.a.b[0]['c']`.
fn json_path(path: &str) -> Option<Vec<JsonStep>> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (index, behind) = inside.split_once(']')?;
            let name = index.trim().trim_matches(['\'', '"']);
            steps.push(match index.trim().parse() {
                Ok(number) => JsonStep::Index(number),
                Err(_) if name == "*" => return None,
                Err(_) => JsonStep::Key(name.to_owned()),
            });
            rest = behind;
        } else {
            let part = rest.trim_start_matches('.');
            let len = part.find(['.', '[']).unwrap_or(part.len());
            if len == 0 {
                return None;
            }
            steps.push(JsonStep::Key(part[..len].to_owned()));
            rest = &part[len..];
        }
    }
    Some(steps)
}

/// References of one file.
const REFERENCES_MAX: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_into_answers() {
        let key = |name: &str| JsonStep::Key(name.to_owned());
        let table = [
            ("login.response.body.$.token", Some(Find::Json(vec![key("token")]))),
            ("login.response.body.token", Some(Find::Json(vec![key("token")]))),
            (
                "a.response.body.$.items[0]['x-y'].z",
                Some(Find::Json(vec![key("items"), JsonStep::Index(0), key("x-y"), key("z")])),
            ),
            ("a.response.headers.X-Id", Some(Find::Header("X-Id".to_owned()))),
            (
                "a.response.body.*",
                Some(Find::Body(Between { left: String::new(), right: String::new() })),
            ),
            ("a.response.body.$..x", None),
            ("a.response.body.//x", None),
        ];
        for (text, find) in table {
            assert_eq!(reference(text).expect("is one").find, find, "{text}");
        }
        assert_eq!(references("{{a}} {{b.response.body.c}} {{b.response.body.c}} {{").len(), 1);
    }
}
