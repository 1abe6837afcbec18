//! Finds a value in an answer: where it stands, and how a script takes it from there.

use super::entry::Answer;
use super::facts::{Facts, Field, Leaf};
use super::item::item_at;
use super::look::{
    Look, is_id_name, is_named, is_numbered, is_same_name, is_token_name, look, may_be_made,
};
use super::surroundings::{is_word, left_of, right_of};
use crate::percent::{encode_component, encode_form};
use crate::{Between, Decoding, Find};

/// What is known of the place that a value goes to.
#[derive(Debug, Clone, Default)]
pub(super) struct Sink {
    /// The field, the key, the header; of a path, the segment before.
    pub(super) name: String,
    pub(super) place: SinkPlace,
    /// How it is called in comments.
    pub(super) shown: String,
}

/// Where a value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SinkPlace {
    Path,
    Query,
    Header,
    Cookie,
    #[default]
    Field,
}

/// A place where a value stands.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) find: Find,
    pub(super) cut: Option<Between>,
    pub(super) decodings: Vec<Decoding>,
    /// What it is called there.
    pub(super) key: String,
    /// How it is called in comments.
    pub(super) shown: String,
    /// How sure it is; the highest wins.
    pub(super) score: u32,
}

/// An answer with what is known of it.
pub(super) struct Source<'a> {
    pub(super) answer: &'a Answer,
    pub(super) facts: &'a Facts,
    /// The address that redirects led to; empty: none.
    pub(super) address: &'a str,
    /// Whether the answer's own `Location` is at hand: the redirect is not followed.
    pub(super) has_location: bool,
}

/// The best place of a value in an answer.
pub(super) fn find(source: &Source<'_>, value: &str, sink: &Sink) -> Option<Hit> {
    let look = look(value);
    let mut hits = vec![];
    in_headers(&mut hits, source, value, look);
    in_location(&mut hits, source.answer, value, sink);
    in_json(&mut hits, source.facts, value, look, sink);
    in_fields(&mut hits, source.facts, value, look, sink);
    in_address(&mut hits, source.address, value, look);
    if hits.is_empty() {
        hits.extend(in_body(source.answer, value, look, sink));
    }
    hits.into_iter().reduce(|best, hit| if hit.score > best.score { hit } else { best })
}

fn in_headers(hits: &mut Vec<Hit>, source: &Source<'_>, value: &str, look: Look) {
    if look == Look::Word {
        return;
    }
    for (name, content) in &source.answer.headers {
        let lower = name.to_ascii_lowercase();
        let is_address =
            matches!(lower.as_str(), "location" | "link" | "content-location" | "refresh");
        if is_boring(&lower) || (lower == "location" && !source.has_location) {
            continue;
        }
        let hit = Hit {
            find: Find::Header(name.clone()),
            cut: None,
            decodings: vec![],
            key: lower.trim_start_matches("x-").to_owned(),
            shown: format!("the header {name}"),
            score: 85,
        };
        if content == value {
            hits.push(hit);
        } else if look != Look::Number || is_address {
            let score = if is_address { 75 } else { 60 };
            hits.extend(part_of(content, value, &Hit { score, ..hit }));
        }
    }
}

/// The name of a new thing, whatever it looks like: the last segment of the `Location` of an answer that leads nowhere.
fn in_location(hits: &mut Vec<Hit>, answer: &Answer, value: &str, sink: &Sink) {
    let is_wanted = look(value) == Look::Word && value.len() >= 3;
    if !is_wanted || sink.place != SinkPlace::Path || answer.redirect().is_some() {
        return;
    }
    let is_location = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("location");
    let Some((name, content)) = answer.headers.iter().find(is_location) else { return };
    if content.strip_suffix(value).is_some_and(|before| before.ends_with('/')) {
        let whole = Hit {
            find: Find::Header(name.clone()),
            cut: None,
            decodings: vec![],
            key: sink.name.clone(),
            shown: format!("the header {name}"),
            score: 75,
        };
        hits.extend(part_of(content, value, &whole));
    }
}

/// Whether a header field, its name in small letters, has nothing that a page would send again.
fn is_boring(lower: &str) -> bool {
    BORING.contains(&lower) || lower.starts_with("access-control-")
}

const BORING: &[&str] = &[
    "set-cookie",
    "date",
    "server",
    "age",
    "expires",
    "content-length",
    "last-modified",
    "x-runtime",
    "vary",
    "content-security-policy",
    "cache-control",
];

/// The hit for a value that is a part of a text: as it is, or percent-encoded.
fn part_of(text: &str, value: &str, whole: &Hit) -> Option<Hit> {
    let forms = [(value.to_owned(), None), (encode_component(value), Some(Decoding::Url))];
    forms.into_iter().find_map(|(form, decoding)| {
        let cut = context(text, &form)?;
        let decodings = decoding.into_iter().filter(|_| form != value).collect();
        Some(Hit { cut: Some(cut), decodings, ..whole.clone() })
    })
}

fn in_json(hits: &mut Vec<Hit>, facts: &Facts, value: &str, look: Look, sink: &Sink) {
    let may_be_part =
        look > Look::Number || (look == Look::Number && sink.place == SinkPlace::Path);
    let encoded = encode_component(value);
    let has_part = |text: &str| {
        text.len() < 4096
            && text.contains(['/', '='])
            && (text.contains(value) || text.contains(&encoded))
    };
    for leaf in &facts.leaves {
        if leaf.text == value {
            let score = json_score(value, look, leaf.key(), sink);
            hits.extend(score.map(|score| leaf_hit(leaf, score)));
        } else if may_be_part && has_part(&leaf.text) {
            hits.extend(part_of(&leaf.text, value, &leaf_hit(leaf, 50)));
        }
    }
}

fn leaf_hit(leaf: &Leaf, score: u32) -> Hit {
    Hit {
        find: Find::Json(leaf.path.clone()),
        cut: None,
        decodings: vec![],
        key: name_of(leaf),
        shown: format!("the JSON's {}", shown_path(leaf)),
        score,
    }
}

/// How sure it is that a leaf is what is sent; none: chance.
fn json_score(value: &str, look: Look, key: &str, sink: &Sink) -> Option<u32> {
    let is_same = is_same_name(key, &sink.name);
    let is_id = is_id_name(key);
    let to_id = sink.place == SinkPlace::Path || is_id_name(&sink.name) || sink.name.is_empty();
    let base = match look {
        Look::Random => 70,
        Look::Code if is_id || is_same => 60,
        Look::Number if is_same => 60,
        Look::Number if is_id && to_id => 55,
        Look::Number if is_token_name(&sink.name) && is_token_name(key) => 55,
        Look::Word if is_same && is_token_name(key) && !sink.name.is_empty() => 50,
        Look::Word if is_path_to(value, key, sink) => 45,
        _ => return None,
    };
    Some(base + if is_same { 15 } else { 0 } + if is_id { 5 } else { 0 })
}

/// Whether a segment of a path is the name of one of the things that the segment before it is called by: `/jobs/job-SrCGIZEG`.
fn is_path_to(value: &str, key: &str, sink: &Sink) -> bool {
    sink.place == SinkPlace::Path
        && !sink.name.is_empty()
        && may_be_made(value)
        && (is_id_name(key) || is_named(&sink.name, key))
}

fn in_fields(hits: &mut Vec<Hit>, facts: &Facts, value: &str, look: Look, sink: &Sink) {
    if value.is_empty() {
        return;
    }
    for field in facts.fields.iter().filter(|field| field.is_first && field.value == value) {
        let is_same = is_same_name(&field.name, &sink.name);
        if !is_likely(field, is_same, look) || !is_stable(&field.selector) {
            continue;
        }
        let element = field.selector.split('[').next().unwrap_or_default();
        let element = element.rsplit(' ').next().unwrap_or_default();
        let is_of_form = u32::from(field.selector.starts_with("form"));
        let attribute = field.attribute.into();
        hits.push(Hit {
            find: Find::Html { selector: field.selector.clone(), attribute },
            cut: None,
            decodings: vec![],
            key: field.name.clone(),
            shown: format!("the page's {element} {}", field.name),
            score: if is_same { 85 } else { 72 } - is_of_form,
        });
    }
}

/// Whether the value of a field is what is sent, and not the same by chance.
fn is_likely(field: &Field, is_same: bool, look: Look) -> bool {
    let is_token = is_token_name(&field.name);
    match look {
        Look::Random => field.is_hidden || is_same || is_token,
        Look::Code | Look::Number => is_same,
        Look::Word => is_same && is_token && field.is_hidden && field.value.len() >= 8,
    }
}

/// Whether another session finds the element: not by a form's action that was made up.
fn is_stable(selector: &str) -> bool {
    selector.split(['/', '"', '?', '=', '&']).all(|part| look_of_part(part) == Look::Word)
}

/// Numbers in names (`item-17`) come from templates; only long ones and made-up parts count.
fn look_of_part(part: &str) -> Look {
    match look(part) {
        Look::Number if part.len() < 3 => Look::Word,
        other => other,
    }
}

fn in_address(hits: &mut Vec<Hit>, address: &str, value: &str, look: Look) {
    if look == Look::Word {
        return;
    }
    let hit = Hit {
        find: Find::Address,
        cut: None,
        decodings: vec![],
        key: String::new(),
        shown: "the address that the redirect led to".to_owned(),
        score: 78,
    };
    hits.extend(part_of(address, value, &hit).map(|hit| {
        let form =
            if hit.decodings.is_empty() { value.to_owned() } else { encode_component(value) };
        Hit { key: segment_before(address, &form), ..hit }
    }));
}

fn in_body(answer: &Answer, value: &str, look: Look, sink: &Sink) -> Option<Hit> {
    let is_numbered = sink.place == SinkPlace::Path && is_numbered(value);
    if (look == Look::Word && !is_numbered) || answer.text.is_empty() {
        return None;
    }
    let text = answer.text.as_str();
    let mut seen: Vec<String> = vec![];
    for (form, decodings) in writings(value) {
        if seen.contains(&form) {
            continue;
        }
        // Short numbers are many: only behind the word that stands before them where they are sent.
        let find = match look {
            Look::Random => anywhere(text, &form),
            _ => named(text, &form, sink)
                .or_else(|| is_numbered.then(|| alone(text, &form)).flatten()),
        };
        if let Some(find) = find {
            return Some(Hit {
                find,
                cut: None,
                decodings: if form == value { vec![] } else { decodings },
                key: if sink.name.is_empty() { "value".to_owned() } else { sink.name.clone() },
                shown: "the body".to_owned(),
                score: 40,
            });
        }
        seen.push(form);
    }
    None
}

/// The value between two texts of a body, or as an item of a list there.
fn anywhere(text: &str, form: &str) -> Option<Find> {
    let item = || text.match_indices(form).take(20).find_map(|(at, _)| item(text, at, form));
    context(text, form).map(Find::Body).or_else(item)
}

fn item(text: &str, at: usize, form: &str) -> Option<Find> {
    let (between, nth) = item_at(text, at, at + form.len())?;
    Some(Find::BodyItem { between, nth })
}

/// A word with a number that the body has in one place only.
fn alone(text: &str, form: &str) -> Option<Find> {
    let is_once = text.matches(form).take(2).count() == 1;
    is_once.then(|| context(text, form)).flatten().map(Find::Body)
}

/// How pages write a value: as it is, in attributes, in strings of scripts, in addresses.
fn writings(value: &str) -> Vec<(String, Vec<Decoding>)> {
    let html = value.replace('&', "&amp;").replace('+', "&#x2B;").replace('"', "&quot;");
    let units = value.replace('&', "\\u0026").replace('+', "\\u002b");
    let small = units.replace('/', "\\u002f").replace('=', "\\u003d");
    let capitals = value.replace('&', "\\u0026").replace('+', "\\u002B");
    let capitals = capitals.replace('/', "\\u002F").replace('=', "\\u003D");
    let url = encode_component(value);
    vec![
        (value.to_owned(), vec![]),
        (value.replace('&', "&amp;"), vec![Decoding::Html]),
        (html, vec![Decoding::Html]),
        (value.replace('/', "\\/"), vec![Decoding::Json]),
        (value.replace('&', "\\u0026"), vec![Decoding::Json]),
        (value.replace('/', "\\u002f"), vec![Decoding::Json]),
        (value.replace('/', "\\u002F"), vec![Decoding::Json]),
        (small, vec![Decoding::Json]),
        (capitals, vec![Decoding::Json]),
        (url.clone(), vec![Decoding::Url]),
        (url.to_ascii_lowercase(), vec![Decoding::Url]),
        (encode_form(value), vec![Decoding::UrlForm]),
        (url.replace('%', "%25"), vec![Decoding::Url, Decoding::Url]),
    ]
}

/// The first place of `form` that has the sink's name shortly before it.
fn named(text: &str, form: &str, sink: &Sink) -> Option<Find> {
    let name = sink.name.as_str();
    if name.len() < 2 {
        return None;
    }
    let places = || {
        let places = text.match_indices(form).map(|(at, _)| at).take(50);
        places.filter(|at| has_name_before(text, *at, name))
    };
    let cut = places().find_map(|at| context_at(text, at, at + form.len()));
    cut.map(Find::Body).or_else(|| places().find_map(|at| item(text, at, form)))
}

fn has_name_before(text: &str, at: usize, name: &str) -> bool {
    let start = floor_boundary(text, at.saturating_sub(name.len() + 12));
    let before = &text[start..at];
    let Some(found) = before.rfind(name) else { return false };
    let between = &before[found + name.len()..];
    !between.is_empty() && between.chars().all(|char| " \"':=/\\>value-_".contains(char))
}

/// What stands around `form` in a text and finds it again in another session's: `left` is there first, nothing in it is made up.
pub(super) fn context(text: &str, form: &str) -> Option<Between> {
    if form.is_empty() || form.len() > text.len() {
        return None;
    }
    text.match_indices(form).take(20).find_map(|(at, _)| context_at(text, at, at + form.len()))
}

fn context_at(text: &str, start: usize, end: usize) -> Option<Between> {
    // An escape before it (`%2F`, `\u002f`) is no letter of it.
    let before = &text.as_bytes()[..start];
    let is_escape = |len: usize, sign: &[u8]| {
        before.len() >= len && before[before.len() - len..].starts_with(sign)
    };
    let is_escaped = is_escape(3, b"%") || is_escape(6, b"\\u");
    if !is_escaped && text[..start].ends_with(is_word) || text[end..].starts_with(is_word) {
        return None;
    }
    let right = right_of(text, start, end)?;
    let left = left_of(text, start)?;
    Some(Between { left: left.to_owned(), right })
}

fn segment_before(address: &str, form: &str) -> String {
    let at = address.find(form).unwrap_or(0);
    let before = address[..at].trim_end_matches(['/', '=']);
    before.rsplit(['/', '?', '&', '=']).next().unwrap_or_default().to_owned()
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A name for a leaf: its key, with the key above it if it is only `id` or the like.
fn name_of(leaf: &Leaf) -> String {
    let keys: Vec<&str> = leaf
        .path
        .iter()
        .filter_map(|step| match step {
            crate::JsonStep::Key(key) => Some(key.as_str()),
            crate::JsonStep::Index(_) => None,
        })
        .collect();
    match keys.as_slice() {
        [.., above, last] if matches!(*last, "id" | "key" | "token" | "value" | "url" | "uuid") => {
            format!("{above} {last}")
        }
        [.., last] => (*last).to_owned(),
        [] => "value".to_owned(),
    }
}

fn shown_path(leaf: &Leaf) -> String {
    leaf.path.iter().fold(String::new(), |out, step| match step {
        crate::JsonStep::Key(key) if out.is_empty() => key.clone(),
        crate::JsonStep::Key(key) => format!("{out}.{key}"),
        crate::JsonStep::Index(index) => format!("{out}[{index}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Answer {
        Answer { status: 200, mime: "text/html".into(), text: text.into(), ..Answer::default() }
    }

    fn found(answer: &Answer, value: &str, name: &str, place: SinkPlace) -> Option<Hit> {
        let facts = Facts::of(answer);
        let source = Source { answer, facts: &facts, address: "", has_location: true };
        find(&source, value, &Sink { name: name.into(), place, shown: String::new() })
    }

    #[test]
    fn contexts_find_the_value_again() {
        let text = "<a href=\"/a/1\">x</a><a id=next href=\"/orders/95eeaade700a?x=1\">";
        let cut = context(text, "95eeaade700a").unwrap();
        assert_eq!((cut.left.as_str(), cut.right.as_str()), ("orders/", "?"));
        // What stands before it is of the session as well.
        assert!(context("x=a8f3b2c1d0e9&y=95eeaade700a", "95eeaade700a").is_some());
        assert!(context("a8f3b2c1d0e9/95eeaade700a", "95eeaade700a").is_none());
        assert!(context("x95eeaade700a", "95eeaade700a").is_none());
    }

    #[test]
    fn values_are_found_as_each_language_writes_them() {
        for (text, value) in [
            ("<script>var t = 'k\\u002f9xQ2w3E4r5'</script>", "k/9xQ2w3E4r5"),
            ("<script>var t = \"k\\/9xQ2w3E4r5\"</script>", "k/9xQ2w3E4r5"),
            ("<a href='/x?a=1&amp;t=k9xQ2w3E4r5%2F%3D'>", "k9xQ2w3E4r5/="),
            ("<a href='/x?a=k9xQ2w3E4r5'>", "k9xQ2w3E4r5"),
        ] {
            let hit = found(&page(text), value, "t", SinkPlace::Query);
            assert!(hit.is_some(), "{text}");
        }
        let number = page("<a href=\"/posts/57\">57 comments</a>");
        assert!(found(&number, "57", "posts", SinkPlace::Path).is_some());
        assert!(found(&number, "57", "users", SinkPlace::Path).is_none());
    }

    #[test]
    fn json_needs_names_where_values_are_short() {
        let answer = Answer {
            mime: "application/json".into(),
            text: "{\"n\":42,\"id\":42,\"page\":42}".into(),
            ..Answer::default()
        };
        let hit = found(&answer, "42", "items", SinkPlace::Path).unwrap();
        assert_eq!(hit.find, Find::Json(vec![crate::JsonStep::Key("id".into())]));
        assert!(found(&answer, "42", "limit", SinkPlace::Query).is_none());
        let hit = found(&answer, "42", "page", SinkPlace::Query).unwrap();
        assert_eq!(hit.key, "page");
    }
}
