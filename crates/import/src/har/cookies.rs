//! Cookies that no answer set: those that pages' scripts made, and those from before the recording. The jar has all others.

use std::collections::BTreeMap;

use super::correlate::Correlator;
use super::find::{Sink, SinkPlace};
use crate::{Source, Step, Text};

/// What the user's jar has, by host and name: the value that the recording saw last.
#[derive(Default)]
pub(super) struct Jar {
    values: BTreeMap<(String, String), String>,
    /// Hosts that a page was loaded from, so that its scripts may set cookies.
    visited: Vec<String>,
}

impl Jar {
    /// The cookies that have to be set before the request: steps, and the names of those that were there before the recording.
    pub(super) fn before(&mut self, correlator: &mut Correlator<'_>) -> (Vec<Step>, Vec<String>) {
        let entry = correlator.entry();
        let host = entry.url.host_str().unwrap_or_default().to_owned();
        let mut steps = vec![];
        let mut old = vec![];
        for (name, value) in &entry.cookies {
            if self.get(&host, name).is_some() {
                continue;
            }
            let is_old = !self.visited.contains(&host);
            let sink = Sink {
                name: name.clone(),
                place: SinkPlace::Cookie,
                shown: format!("the cookie {name}"),
            };
            let text = match correlator.resolve(value, &sink) {
                Some(found) => Text { pieces: vec![crate::Piece::Value(found)] },
                None if is_old => {
                    old.push(name.clone());
                    let source = Source::Env {
                        name: format!("COOKIE_{name}"),
                        default: Some(value.clone()),
                    };
                    Text::value(source)
                }
                None => Text::literal(value.as_str()),
            };
            let url = Text::literal(format!("{}/", entry.origin()));
            steps.push(Step::SetCookie { url, name: name.clone(), value: text });
            self.values.insert((host.clone(), name.clone()), value.clone());
        }
        (steps, old)
    }

    /// What an answer, replayed or not, sets.
    pub(super) fn after(&mut self, entry: &super::entry::Entry) {
        let host = entry.url.host_str().unwrap_or_default();
        for cookie in &entry.answer.cookies {
            self.values.insert((host.to_owned(), cookie.name.clone()), cookie.value.clone());
        }
        if !self.visited.iter().any(|seen| seen == host) {
            self.visited.push(host.to_owned());
        }
    }

    /// A cookie of the host, or of one that shares its end: `Domain` is not kept by all writers.
    fn get(&self, host: &str, name: &str) -> Option<&String> {
        let end = |host: &str| -> String {
            let labels: Vec<&str> = host.rsplit('.').take(2).collect();
            labels.join(".")
        };
        self.values
            .iter()
            .find(|((seen, key), _)| key == name && (seen == host || end(seen) == end(host)))
            .map(|(_, value)| value)
    }
}
