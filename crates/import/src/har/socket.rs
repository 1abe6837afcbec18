//! WebSockets of a recording: what was sent goes out once the message before it has come.

use serde_json::Value;

use super::correlate::Correlator;
use super::facts::{Leaf, add_leaves};
use super::find::{Sink, SinkPlace};
use crate::{Conversation, Reply, Text};

/// How many messages a socket sends.
const MESSAGES_MAX: usize = 500;

impl Correlator<'_> {
    /// The conversation of a WebSocket.
    pub(super) fn conversation(&mut self, url: Text) -> Conversation {
        let entry = self.entry();
        let mut messages = vec![];
        let mut after = None;
        for message in &entry.messages {
            if !message.is_sent {
                after = Some(marker(&message.data));
                continue;
            }
            if !message.is_text || messages.len() >= MESSAGES_MAX {
                continue;
            }
            let shown = format!("a message of {}", self.label());
            let is_json = serde_json::from_str::<Value>(&message.data).is_ok();
            let text = if is_json && message.data.trim_start().starts_with(['{', '[']) {
                self.json(&message.data)
            } else {
                self.inner(
                    &message.data,
                    &Sink { name: String::new(), place: SinkPlace::Field, shown },
                )
            };
            messages.push(Reply { after: after.take(), text });
        }
        Conversation {
            place: crate::Place::default(),
            name: self.label(),
            url,
            headers: vec![],
            messages,
        }
    }
}

/// What marks a message that came: its kind, if it is JSON and has one; empty: any message.
fn marker(data: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(data) else { return String::new() };
    let mut leaves: Vec<Leaf> = vec![];
    add_leaves(&mut leaves, &mut vec![], &value);
    let kinds = ["type", "event", "kind", "op", "action"];
    let leaf = leaves.iter().find(|leaf| kinds.contains(&leaf.key()) && leaf.path.len() == 1);
    let text = leaf.map(|leaf| leaf.text.clone()).unwrap_or_default();
    // The text itself is looked for, whatever is between it and its key.
    if text.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char)) {
        text
    } else {
        String::new()
    }
}
