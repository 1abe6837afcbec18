//! WebSockets of a recording: what was sent goes out once the message before it has come.

use serde_json::Value;

use super::correlate::Correlator;
use super::entry::Answer;
use super::facts::{Facts, Leaf, add_leaves};
use super::find::{Sink, SinkPlace, Source as Place, find};
use super::received::Received;
use crate::{Conversation, Find, Hearing, Reply, Source, Text, Value as Variable};

/// How many messages a socket sends, and how many of those that come are searched.
const MESSAGES_MAX: usize = 500;

impl Correlator<'_> {
    /// The conversation of a WebSocket.
    pub(super) fn conversation(&mut self, url: Text) -> Conversation {
        let entry = self.entry();
        let mut messages = vec![];
        let (mut after, mut left_out, mut unsearched) = (None, 0_usize, 0_usize);
        for message in &entry.messages {
            if !message.is_sent {
                let marker = marker(&message.data);
                after = Some(marker.clone());
                unsearched += usize::from(!self.receive(marker, &message.data));
                continue;
            }
            if !message.is_text || messages.len() >= MESSAGES_MAX {
                left_out += 1;
                continue;
            }
            let text = self.message(&message.data);
            messages.push(Reply { after: after.take(), text });
        }
        self.note_left_out(left_out);
        self.note_unsearched(unsearched);
        Conversation {
            place: crate::Place::default(),
            name: self.label(),
            url,
            headers: vec![],
            messages,
            hearings: vec![],
        }
    }

    /// Notes how many messages a socket sent that are not in the script.
    fn note_left_out(&mut self, count: usize) {
        if count > 0 {
            let label = self.label();
            self.unbound.push(format!("{label}: {count} messages that were sent are left out: those that are no text, and those after the first {MESSAGES_MAX}"));
        }
    }

    /// Notes how many messages came whose values are not looked for in what is sent later.
    fn note_unsearched(&mut self, count: usize) {
        if count > 0 {
            let label = self.label();
            self.unbound.push(format!("{label}: {count} messages that came are not searched for values: those after the first {MESSAGES_MAX} of the recording"));
        }
    }

    /// A message that is sent, with its values from answers and from messages before it.
    fn message(&mut self, data: &str) -> Text {
        let (sign, json) = data.split_at(sign_len(data));
        if json.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(json).is_ok()
        {
            let mut text = Text::literal(sign);
            text.push(&self.json(json));
            return text;
        }
        let shown = format!("a message of {}", self.label());
        self.inner(data, &Sink { name: String::new(), place: SinkPlace::Field, shown })
    }

    /// Keeps the values of a message that came. Says whether there was room for them.
    fn receive(&mut self, marker: String, data: &str) -> bool {
        let Ok(value) = serde_json::from_str::<Value>(&data[sign_len(data)..]) else { return true };
        let has_room = self.heard.len() < MESSAGES_MAX;
        if has_room {
            let mut facts = Facts::default();
            add_leaves(&mut facts.leaves, &mut vec![], &value);
            self.heard.push(Received { unit: self.at, marker, facts });
        }
        has_room
    }

    /// The variable of a value that a message had.
    pub(super) fn in_messages(&mut self, value: &str, sink: &Sink) -> Option<Variable> {
        if self.is_typed(value, sink) {
            return None;
        }
        let answer = Answer::default();
        let (at, hit) = self.heard.iter().enumerate().rev().find_map(|(at, heard)| {
            let facts = &heard.facts;
            let place = Place { answer: &answer, facts, address: "", has_location: false };
            let hit = find(&place, value, sink)?;
            (hit.cut.is_none() && hit.decodings.is_empty()).then_some((at, hit))
        })?;
        let Find::Json(path) = hit.find.clone() else { return None };
        let (unit, marker) = (self.heard[at].unit, self.heard[at].marker.clone());
        let has_such = |heard: &&Received| {
            let has_path = heard.facts.leaves.iter().any(|leaf| leaf.path == path);
            heard.unit == unit && has_path && heard.marker == marker
        };
        let nth = self.heard[..at].iter().filter(has_such).count();
        let variable = self.variable_of(hit, value, sink);
        self.hearings.push((unit, Hearing { variable: variable.clone(), marker, nth, path }));
        Some(Variable { source: Source::Variable(variable), encodings: vec![] })
    }
}

/// How long the signs are that socket.io and engine.io write before a message's JSON: `42`, `421`, `42/chat,`; in bytes.
fn sign_len(data: &str) -> usize {
    let Some(at) = data.find(['[', '{']) else { return 0 };
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"/,-_".contains(&byte);
    let is_numbered = data.starts_with(|char: char| char.is_ascii_digit());
    if is_numbered && data[..at].bytes().all(is_sign) { at } else { 0 }
}

/// What marks a message that came: its kind, if it is JSON and has one; empty: any message.
fn marker(data: &str) -> String {
    let len = sign_len(data);
    let Ok(value) = serde_json::from_str::<Value>(&data[len..]) else { return String::new() };
    if len > 0
        && let Some(event) = value.get(0).and_then(Value::as_str)
    {
        return plain(event);
    }
    let mut leaves: Vec<Leaf> = vec![];
    add_leaves(&mut leaves, &mut vec![], &value);
    let kinds = ["type", "event", "kind", "op", "action"];
    let leaf = leaves.iter().find(|leaf| kinds.contains(&leaf.key()) && leaf.path.len() == 1);
    let text = leaf.map(|leaf| leaf.text.clone()).unwrap_or_default();
    plain(&text)
}

/// The text if it stands in JSON as it is: it is looked for in messages, whatever is between it and its key.
fn plain(text: &str) -> String {
    if text.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char)) {
        text.to_owned()
    } else {
        String::new()
    }
}
