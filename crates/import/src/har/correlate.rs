//! Which values of requests came in answers before: each is taken there and sent here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::entry::Entry;
use super::find::{Hit, Sink, SinkPlace, Source as Place, find};
use super::index::AnswerEntry;
use super::look::{Look, is_id_name, is_rare, is_same_name, is_token_name, is_uuid4, look};
use super::received::Received;
use super::tokens::{hash, tokens_of};
use super::whole::whole_hit;
use crate::percent::encode_component;
use crate::{Encoding, Extraction, Find, Hearing, Source, Text, Value};

/// How long a value may be that is looked for, in bytes.
const VALUE_BYTES_MAX: usize = 256 << 10;
/// In how many answers a value is looked for, the latest first.
const ANSWERS_MAX: usize = 60;
/// How far a time in a request may be from the request's own, in milliseconds.
const CLOCK_MS_MAX: i64 = 600_000;

/// A request with those that its redirects led to; or a WebSocket.
#[derive(Debug)]
pub(super) struct Unit {
    /// Entries, by their place in the list.
    pub(super) chain: Vec<usize>,
    /// The answer that its last entry got.
    pub(super) known: Rc<AnswerEntry>,
}

/// The search through one recording.
pub(super) struct Correlator<'a> {
    pub(super) entries: &'a [Entry],
    pub(super) units: &'a [Unit],
    /// The unit whose request is made.
    pub(super) at: usize,
    /// What is taken of which unit.
    pub(super) taken: Vec<Taken>,
    /// Variables that are made before a unit.
    pub(super) made: Vec<(usize, String, Source)>,
    /// Redirects that are not to be followed, since a value stands in them alone.
    pub(super) split: BTreeSet<usize>,
    /// The messages of WebSockets that came so far.
    pub(super) heard: Vec<Received>,
    /// What is taken of messages, and of which unit's.
    pub(super) hearings: Vec<(usize, Hearing)>,
    /// Notes on values that are sent as they were recorded.
    pub(super) unbound: Vec<String>,
    pub(super) unbound_values: BTreeSet<String>,
    /// Whether the recording has any cookie.
    pub(super) has_cookies: bool,
    typed: BTreeSet<(String, String)>,
    pub(super) tokens: HashMap<u64, Vec<usize>>,
    /// Which requests have the last part of a UUID.
    sent_uuids: HashMap<u64, Vec<usize>>,
    names: BTreeMap<String, usize>,
}

/// A value that is taken of an answer.
pub(super) struct Taken {
    pub(super) unit: usize,
    pub(super) extraction: Extraction,
    value: String,
    key: String,
}

impl<'a> Correlator<'a> {
    pub(super) fn new(entries: &'a [Entry], units: &'a [Unit]) -> Self {
        Self {
            entries,
            units,
            at: 0,
            taken: vec![],
            made: vec![],
            split: BTreeSet::new(),
            heard: vec![],
            hearings: vec![],
            unbound: vec![],
            unbound_values: BTreeSet::new(),
            has_cookies: entries.iter().any(has_cookies),
            typed: BTreeSet::new(),
            tokens: tokens_of_units(entries, units),
            sent_uuids: uuids_sent(entries),
            names: BTreeMap::new(),
        }
    }

    /// The request that is made.
    pub(super) fn entry(&self) -> &'a Entry {
        &self.entries[self.units[self.at].chain[0]]
    }

    /// Where a value comes from when the script runs; none: it is the same in every session.
    pub(super) fn resolve(&mut self, value: &str, sink: &Sink) -> Option<Value> {
        if value.is_empty() || value.len() > VALUE_BYTES_MAX {
            return None;
        }
        let found = self
            .known(value, sink)
            .or_else(|| self.in_cookies(value, sink))
            .or_else(|| self.in_answers(value, sink))
            .or_else(|| self.in_messages(value, sink))
            .or_else(|| self.by_name_of_header(sink))
            .or_else(|| self.made_by_browser(value, sink));
        if found.is_none() {
            self.note_unbound(value, sink);
            self.typed.insert((typed_name(value, sink), value.to_owned()));
        }
        found
    }

    /// A variable that has the value already.
    pub(super) fn known(&self, value: &str, sink: &Sink) -> Option<Value> {
        let look = look(value);
        let fits = |taken: &&Taken| {
            let is_same = is_same_name(&taken.key, &sink.name);
            taken.value == value
                && match look {
                    Look::Random | Look::Code => true,
                    Look::Number => {
                        sink.place == SinkPlace::Path
                            || is_same
                            || is_id_name(&sink.name)
                            || is_rare(value)
                    }
                    Look::Word if sink.place == SinkPlace::Path => {
                        value.len() >= 3 && !sink.name.is_empty()
                    }
                    Look::Word => is_same && is_token_name(&sink.name),
                }
        };
        let taken = self.taken.iter().rev().find(fits)?;
        Some(variable(&taken.extraction.variable))
    }

    /// A cookie that goes out with the request as well, as double submits do, or that an answer set.
    fn in_cookies(&self, value: &str, sink: &Sink) -> Option<Value> {
        let is_wanted = look(value) == Look::Random || is_token_name(&sink.name);
        if sink.place == SinkPlace::Cookie || !is_wanted || value.len() < 6 {
            return None;
        }
        let sent = self.entry().cookies.iter();
        let by_request = sent.rev().find_map(|(name, cookie)| {
            same_cookie(cookie, value).map(|encodings| (self.entry(), name, "/", encodings))
        });
        let earlier = self.units[..self.at].iter().rev().flat_map(|unit| unit.chain.iter().rev());
        let (entry, name, path, encodings) = by_request.or_else(|| {
            earlier.map(|at| &self.entries[*at]).find_map(|entry| {
                entry.answer.cookies.iter().rev().find_map(|cookie| {
                    let encodings = same_cookie(&cookie.value, value)?;
                    Some((entry, &cookie.name, cookie.path.as_str(), encodings))
                })
            })
        })?;
        let url = format!("{}{path}", entry.origin());
        Some(Value { source: Source::Cookie { url, name: name.clone() }, encodings })
    }

    fn in_answers(&mut self, value: &str, sink: &Sink) -> Option<Value> {
        if self.is_typed(value, sink) {
            return None;
        }
        let (unit, hit) = self.search(value, sink)?;
        Some(self.take(unit, hit, value, sink))
    }

    /// Whether a request had the value before an answer had it.
    pub(super) fn is_typed(&self, value: &str, sink: &Sink) -> bool {
        self.typed.contains(&(typed_name(value, sink), value.to_owned()))
    }

    fn search(&mut self, value: &str, sink: &Sink) -> Option<(usize, Hit)> {
        let longest = tokens_of(value).max_by_key(|token| token.len())?;
        let candidates = self.tokens.get(&hash(longest))?;
        let mut best: Option<(usize, Hit)> = None;
        for unit in candidates.iter().rev().filter(|unit| **unit < self.at).take(ANSWERS_MAX) {
            let source = self.place(*unit);
            let Some(hit) = find(&source, value, sink) else { continue };
            if best.as_ref().is_none_or(|(_, seen)| hit.score > seen.score) {
                best = Some((*unit, hit));
            }
        }
        if best.is_none() && look(value) == Look::Random {
            self.split_where(value);
        }
        best
    }

    /// An answer of a unit, as it is searched.
    fn place(&self, unit: usize) -> Place<'a> {
        let chain = &self.units[unit].chain;
        let last = &self.entries[chain[chain.len() - 1]];
        Place {
            answer: &last.answer,
            facts: &self.units[unit].known.facts,
            address: if chain.len() > 1 { &last.address } else { "" },
            has_location: true,
        }
    }

    /// Notes the redirect that alone has a value, unless it is followed to an address that has it.
    fn split_where(&mut self, value: &str) {
        let encoded = encode_component(value);
        let found = self.units[..self.at].iter().rev().find_map(|unit| {
            let (_, hops) = unit.chain.split_last()?;
            hops.iter().rev().copied().find(|hop| {
                let mut headers = self.entries[*hop].answer.headers.iter();
                headers.any(|(name, content)| {
                    !name.eq_ignore_ascii_case("set-cookie")
                        && (content.contains(value) || content.contains(&encoded))
                })
            })
        });
        self.split.extend(found);
    }

    /// The header that frameworks fill from a cookie, where the recording has no cookies.
    fn by_name_of_header(&self, sink: &Sink) -> Option<Value> {
        if sink.place != SinkPlace::Header || !self.entry().cookies.is_empty() {
            return None;
        }
        let (name, encodings) = match sink.name.to_ascii_lowercase().as_str() {
            "x-csrftoken" => ("csrftoken", vec![]),
            "x-xsrf-token" => ("XSRF-TOKEN", vec![Encoding::UrlDecoded]),
            _ => return None,
        };
        let url = format!("{}/", self.entry().origin());
        Some(Value { source: Source::Cookie { url, name: name.to_owned() }, encodings })
    }

    fn made_by_browser(&mut self, value: &str, sink: &Sink) -> Option<Value> {
        if let Some(started) = self.entry().started_ms
            && sink.place != SinkPlace::Path
            && let Some(source) = clock(value, started)
        {
            return Some(Value { source, encodings: vec![] });
        }
        let may_make = sink.place != SinkPlace::Path || self.entry().method != "GET";
        if !may_make || !is_uuid4(value) || sink.place == SinkPlace::Cookie {
            return None;
        }
        if self.stood_in_an_answer(value) {
            return None;
        }
        if self.has_one_use(value) {
            return Some(Value { source: Source::Uuid, encodings: vec![] });
        }
        Some(self.uuid_of_several(value, sink))
    }

    /// Whether an answer before the request has a UUID. Most recordings have one in every request, so that only those answers are read
    /// which have its longest part.
    fn stood_in_an_answer(&self, uuid: &str) -> bool {
        let number = self.entry().number;
        let units = self.tokens.get(&last_part(uuid)).map_or(&[][..], Vec::as_slice);
        let entries = units.iter().flat_map(|unit| &self.units[*unit].chain);
        let mut before = entries.map(|at| &self.entries[*at]).filter(|one| one.number < number);
        before.any(|other| other.answer.text.contains(uuid))
    }

    /// Whether one request alone has a UUID.
    fn has_one_use(&self, uuid: &str) -> bool {
        let entries = self.sent_uuids.get(&last_part(uuid)).map_or(&[][..], Vec::as_slice);
        entries.iter().filter(|at| sends(&self.entries[**at], uuid)).take(2).count() < 2
    }

    /// The variable of a value that no answer gives, but something else before its first use.
    pub(super) fn variable_of(&mut self, hit: Hit, value: &str, sink: &Sink) -> String {
        let name = self.name(&hit.key, &sink.name, self.at);
        let Hit { find, cut, decodings, key, .. } = hit;
        let (variable, remark) = (name.clone(), String::new());
        let extraction = Extraction { variable, find, cut, decodings, remark };
        self.taken.push(Taken { unit: usize::MAX, extraction, value: value.to_owned(), key });
        name
    }

    /// A UUID that several requests send: made once, before the first of them.
    fn uuid_of_several(&mut self, value: &str, sink: &Sink) -> Value {
        let name = self.name(&sink.name, "uuid", self.at);
        self.made.push((self.at, name.clone(), Source::Uuid));
        let extraction = Extraction {
            variable: name.clone(),
            find: Find::Status,
            cut: None,
            decodings: vec![],
            remark: String::new(),
        };
        let (value, key) = (value.to_owned(), sink.name.clone());
        self.taken.push(Taken { unit: usize::MAX, extraction, value, key });
        variable(&name)
    }

    /// The whole address of the request, where an answer gave it as one: a signed link, the `Location` of a new thing.
    pub(super) fn whole_address(&mut self) -> Option<Text> {
        let entry = self.entry();
        let origin = entry.origin();
        let relative = &entry.address[origin.len()..];
        if relative.len() < 4 {
            return None;
        }
        let longest = tokens_of(relative).max_by_key(|token| token.len())?;
        let units = self.tokens.get(&hash(longest))?.iter().rev().copied();
        let units: Vec<usize> = units.filter(|unit| *unit < self.at).take(ANSWERS_MAX).collect();
        let sink = Sink { name: "url".into(), place: SinkPlace::Path, shown: self.label() };
        let forms = [(entry.address.as_str(), ""), (relative, origin)];
        let (unit, hit, form, start) = units.into_iter().find_map(|unit| {
            forms.iter().find_map(|(form, start)| {
                Some((unit, whole_hit(&self.place(unit), form)?, *form, *start))
            })
        })?;
        let mut text = Text::literal(start);
        text.pieces.push(crate::Piece::Value(self.take(unit, hit, form, &sink)));
        Some(text)
    }

    /// The variable of what stands at a place of an answer: that of an earlier request that needs the same, else a new one.
    fn take(&mut self, unit: usize, hit: Hit, value: &str, sink: &Sink) -> Value {
        let is_same = |taken: &&Taken| {
            let one = &taken.extraction;
            taken.unit == unit
                && taken.value == value
                && (look(value) == Look::Random || (one.find == hit.find && one.cut == hit.cut))
        };
        if let Some(taken) = self.taken.iter().find(is_same) {
            return variable(&taken.extraction.variable);
        }
        let name = self.name(&hit.key, &sink.name, unit);
        let extraction = Extraction {
            variable: name.clone(),
            find: hit.find,
            cut: hit.cut,
            decodings: hit.decodings,
            remark: format!("from {}, for {}", hit.shown, sink.shown),
        };
        self.taken.push(Taken { unit, extraction, value: value.to_owned(), key: hit.key });
        variable(&name)
    }

    /// How the request is called in comments.
    pub(super) fn label(&self) -> String {
        let entry = self.entry();
        let path: Vec<&str> = entry
            .url
            .path()
            .split('/')
            .map(|part| if look(part) == Look::Word { part } else { "{}" })
            .collect();
        format!("{} {}", entry.method, path.join("/"))
    }

    /// A name for a variable: what it is called where it is taken, with a number if that is another's.
    fn name(&mut self, key: &str, other: &str, unit: usize) -> String {
        let mut name = if key.is_empty() || key == "value" { other } else { key };
        let path;
        if matches!(name, "id" | "" | "key" | "uuid") && unit < self.units.len() {
            let entry = &self.entries[self.units[unit].chain[0]];
            let last = entry
                .url
                .path()
                .split('/')
                .rev()
                .find(|part| !part.is_empty() && look(part) == Look::Word);
            path = format!(
                "{} {}",
                last.unwrap_or("the").trim_end_matches('s'),
                if name.is_empty() { "value" } else { name }
            );
            name = &path;
        }
        let name: String = name.chars().take(40).collect();
        let count = self.names.entry(name.to_ascii_lowercase()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} {count}") }
    }
}

/// In which units each token of answers stands.
fn tokens_of_units(entries: &[Entry], units: &[Unit]) -> HashMap<u64, Vec<usize>> {
    let mut tokens: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, unit) in units.iter().enumerate() {
        let answers = unit.chain.iter().map(|entry| &entries[*entry].answer);
        let headers = answers.flat_map(|answer| &answer.headers);
        let of_headers = headers.flat_map(|(_, value)| tokens_of(value).map(hash));
        for token in unit.known.tokens.iter().copied().chain(of_headers) {
            let units = tokens.entry(token).or_default();
            if units.last() != Some(&at) {
                units.push(at);
            }
        }
    }
    tokens
}

/// The hash of what follows a UUID's last dash.
fn last_part(uuid: &str) -> u64 {
    hash(uuid.rsplit('-').next().unwrap_or(uuid))
}

/// In which requests each token stands that may be the last part of a UUID.
fn uuids_sent(entries: &[Entry]) -> HashMap<u64, Vec<usize>> {
    let mut all: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        for token in texts_sent(entry).flat_map(tokens_of).filter(|token| token.len() == 12) {
            let places = all.entry(hash(token)).or_default();
            if places.last() != Some(&at) {
                places.push(at);
            }
        }
    }
    all
}

/// The texts of a request in which a value is looked for.
fn texts_sent(entry: &Entry) -> impl Iterator<Item = &str> {
    let body = match &entry.body {
        super::entry::Payload::Text(text) => Some(text.as_str()),
        _ => None,
    };
    let headers = entry.headers.iter().map(|(_, content)| content.as_str());
    std::iter::once(entry.address.as_str()).chain(headers).chain(body)
}

fn has_cookies(entry: &Entry) -> bool {
    !entry.cookies.is_empty() || !entry.answer.cookies.is_empty()
}

fn variable(name: &str) -> Value {
    Value { source: Source::Variable(name.to_owned()), encodings: vec![] }
}

/// Numbers are the same only under the same name.
fn typed_name(value: &str, sink: &Sink) -> String {
    if look(value) == Look::Number { sink.name.clone() } else { String::new() }
}

fn same_cookie(cookie: &str, value: &str) -> Option<Vec<Encoding>> {
    if cookie == value {
        return Some(vec![]);
    }
    let decoded = crate::percent::decoded(cookie);
    (decoded == value).then(|| vec![Encoding::UrlDecoded])
}

/// The time that a value is, if it is near the time of its request.
fn clock(value: &str, started_ms: i64) -> Option<Source> {
    let near = |ms: i64| (ms - started_ms).abs() <= CLOCK_MS_MAX;
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let number: i64 = if is_number { value.parse().unwrap_or(0) } else { 0 };
    match value.len() {
        13 if is_number && near(number) => Some(Source::UnixMilliseconds),
        10 if is_number && near(number.saturating_mul(1000)) => Some(Source::UnixSeconds),
        20..=35 if super::moment::milliseconds(value).is_some_and(near) => Some(Source::IsoTime),
        _ => None,
    }
}

fn sends(entry: &Entry, value: &str) -> bool {
    texts_sent(entry).any(|text| text.contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_near_the_request_are_the_clock() {
        let now = 1_795_752_751_000;
        assert_eq!(clock("1795752751445", now), Some(Source::UnixMilliseconds));
        assert_eq!(clock("1795752750", now), Some(Source::UnixSeconds));
        assert_eq!(clock("1900000000", now), None);
        assert_eq!(clock("2026-11-27T04:12:31.000Z", now), Some(Source::IsoTime));
    }
}
