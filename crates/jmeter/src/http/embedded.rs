//! Embedded resources of a page: the addresses of images, scripts, style sheets and frames in it.

use std::collections::HashSet;

use wire::url::Url;

use super::reference::joined;

/// Resources of a page at most.
pub(super) const RESOURCES_MAX: usize = 2_000;

/// The attributes that name a resource, by their elements.
const NAMES: &[(&str, &str)] = &[
    ("img", "src"),
    ("applet", "code"),
    ("embed", "src"),
    ("input", "src"),
    ("script", "src"),
    ("frame", "src"),
    ("iframe", "src"),
    ("bgsound", "src"),
    ("body", "background"),
    ("table", "background"),
    ("td", "background"),
    ("th", "background"),
    ("tr", "background"),
    ("link", "href"),
];

/// The resources of a page in their order, each once, as addresses.
pub(crate) fn resources(html: &str, page: &Url) -> Vec<String> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    let mut base = page.clone();
    for tag in tags(html) {
        if found.len() >= RESOURCES_MAX {
            break;
        }
        if tag.name == "base" {
            if let Some(joined) = attribute(tag.text, "href").and_then(|href| base.join(&href).ok())
            {
                base = joined;
            }
            continue;
        }
        let Some(reference) = reference(&tag) else { continue };
        let Ok(url) = joined(&base, reference.trim()) else { continue };
        let address = url.to_string();
        if known.insert(address.clone()) {
            found.push(address);
        }
    }
    found
}

fn reference(tag: &Tag<'_>) -> Option<String> {
    let (_, name) = NAMES.iter().find(|(element, _)| *element == tag.name)?;
    let says = |name: &str| attribute(tag.text, name).unwrap_or_default().to_ascii_lowercase();
    match tag.name.as_str() {
        "input" if says("type") != "image" => None,
        "link" if !matches!(says("rel").as_str(), "stylesheet" | "shortcut icon" | "icon") => None,
        _ => attribute(tag.text, name)
            .filter(|value| !value.is_empty() && !value.starts_with("data:")),
    }
}

struct Tag<'a> {
    name: String,
    text: &'a str,
}

/// The tags of a page, without those in comments.
fn tags(html: &str) -> impl Iterator<Item = Tag<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find('<')?;
            let tail = &rest[at + 1..];
            if let Some(comment) = tail.strip_prefix("!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let end = tail.find('>').unwrap_or(tail.len());
            let text = &tail[..end];
            rest = &tail[end..];
            let letters =
                text.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(text.len());
            if letters > 0 {
                let name = text[..letters].to_ascii_lowercase();
                return Some(Tag { name, text: &text[letters..] });
            }
        }
    })
}

/// The value of an attribute.
fn attribute(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        if rest.is_empty() {
            return None;
        }
        let end =
            rest.find(|letter: char| letter.is_whitespace() || letter == '=' || letter == '/');
        let (key, tail) = rest.split_at(end.unwrap_or(rest.len()).max(1));
        let (value, tail) = value_of(tail.trim_start());
        if key.eq_ignore_ascii_case(name) {
            return Some(value.replace("&amp;", "&"));
        }
        rest = tail;
    }
}

fn value_of(tail: &str) -> (&str, &str) {
    let Some(given) = tail.strip_prefix('=') else { return ("", tail) };
    let given = given.trim_start();
    for quote in ['"', '\''] {
        if let Some(inner) = given.strip_prefix(quote) {
            let end = inner.find(quote).unwrap_or(inner.len());
            return (&inner[..end], inner.get(end + 1..).unwrap_or_default());
        }
    }
    let end = given.find(char::is_whitespace).unwrap_or(given.len());
    given.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_name_their_resources() {
        let page = Url::parse("http://h/dir/p.html").expect("a URL");
        let html = r#"<html><!-- <img src="no.png"> --><link rel="stylesheet" href="s.css"><link rel=next href=no>
            <img alt='a>' src="/a.png?x=1&amp;y=2"><img src=/a.png?x=1&y=2><script src='j.js'></script><input type=image src=i.gif>
            <input src=no.gif><img src="data:image/png;base64,xx"><a href="no"></a><"#;
        assert_eq!(
            resources(html, &page),
            [
                "http://h/dir/s.css",
                "http://h/a.png?x=1&y=2",
                "http://h/dir/j.js",
                "http://h/dir/i.gif"
            ]
        );
        assert!(resources("<img src", &page).is_empty());
        assert!(resources(&"<".repeat(10_000), &page).is_empty());
    }
}
