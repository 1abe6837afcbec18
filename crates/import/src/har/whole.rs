//! A whole address in an answer: a signed link, the `Location` of a new thing, the next page.

use super::find::{Hit, Source, context};
use super::look::{Look, look};
use crate::{Between, Decoding, Find};

/// Where an address stands in an answer.
pub(super) fn whole_hit(place: &Source<'_>, form: &str) -> Option<Hit> {
    in_json(place, form).or_else(|| in_header(place, form)).or_else(|| in_page(place, form))
}

fn in_json(place: &Source<'_>, form: &str) -> Option<Hit> {
    let leaf = place.facts.leaves.iter().find(|leaf| leaf.text == form)?;
    let key = leaf.key();
    Some(hit(Find::Json(leaf.path.clone()), key, format!("the JSON's {key}")))
}

fn in_header(place: &Source<'_>, form: &str) -> Option<Hit> {
    place.answer.headers.iter().find_map(|(name, content)| {
        let lower = name.to_ascii_lowercase();
        if !matches!(lower.as_str(), "location" | "link") {
            return None;
        }
        let cut = if content == form { None } else { Some(link_cut(content, form)?) };
        Some(Hit { cut, ..hit(Find::Header(name.clone()), &lower, format!("the header {name}")) })
    })
}

/// A link of a page: as a whole only if it is signed, since the name of any other says what the numbers in it are.
fn in_page(place: &Source<'_>, form: &str) -> Option<Hit> {
    let mut values = form.split(['?', '&', '=']).skip(1);
    let is_signed = values.any(|part| look(part) == Look::Random || part.contains('%'));
    if !is_signed || place.answer.is_json() {
        return None;
    }
    let forms = [
        (form.to_owned(), None),
        (form.replace('&', "&amp;"), Some(Decoding::Html)),
        (form.replace('/', "\\/"), Some(Decoding::Json)),
        (form.replace('&', "\\u0026"), Some(Decoding::Json)),
    ];
    forms.into_iter().find_map(|(escaped, decoding)| {
        let cut = context(&place.answer.text, &escaped)?;
        let decodings = decoding.into_iter().filter(|_| escaped != form).collect();
        Some(Hit { decodings, ..hit(Find::Body(cut), "link", "a link of the page".to_owned()) })
    })
}

fn hit(find: Find, key: &str, shown: String) -> Hit {
    Hit { find, cut: None, decodings: vec![], key: key.to_owned(), shown, score: 0 }
}

/// `<…>; rel="next"` of a header Link.
fn link_cut(content: &str, form: &str) -> Option<Between> {
    let at = content.find(&format!("<{form}>"))?;
    let rest = &content[at + 1 + form.len()..];
    let end = rest.find(',').unwrap_or(rest.len());
    let left = if at == 0 { "<".to_owned() } else { context(content, form)?.left };
    Some(Between { left, right: rest[..end].to_owned() })
}
