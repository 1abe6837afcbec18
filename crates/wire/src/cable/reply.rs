//! A server's messages, written by the server. The base protocol alone: `brunt serve` has no sessions.

use super::codec::{Codec, Format};
use super::error::CableError;
use super::incoming::{KINDS, Kind};
use super::json::push_string;
use super::value::json_to_msgpack;
use super::{msgpack, protobuf};

/// One message of the server to send. What is empty is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply<'a> {
    /// What it is.
    pub kind: Kind,
    /// The subscription it is for, as JSON text.
    pub identifier: &'a str,
    /// What is sent: JSON text.
    pub message: Option<&'a str>,
    /// Why the server disconnects.
    pub reason: &'a str,
    /// Whether the client should come back.
    pub reconnect: Option<bool>,
}

impl Codec {
    /// Appends a reply as one message of the base protocol. In JSON its message is copied without a check.
    ///
    /// # Errors
    /// The message is no JSON and has to be translated; what was appended is of no use.
    pub fn encode_reply(self, reply: &Reply<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
        match self.format {
            Format::Json => encode_json(reply, out),
            Format::Msgpack => encode_msgpack(reply, out)?,
            Format::Protobuf => encode_protobuf(reply, out)?,
        }
        Ok(())
    }
}

fn name(kind: Kind) -> Option<&'static str> {
    KINDS.iter().find(|one| one.0 == kind).map(|one| one.1)
}

/// The members that are texts, those that are there.
fn texts<'a>(reply: &Reply<'a>) -> impl Iterator<Item = (&'static str, &'a str)> {
    let all = [
        ("type", name(reply.kind).unwrap_or("")),
        ("identifier", reply.identifier),
        ("reason", reply.reason),
    ];
    all.into_iter().filter(|member| !member.1.is_empty())
}

fn encode_json(reply: &Reply<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    for (name, text) in texts(reply) {
        push_member(name, out);
        push_string(text, out);
    }
    if let Some(message) = reply.message {
        push_member("message", out);
        out.extend_from_slice(message.as_bytes());
    }
    if let Some(reconnect) = reply.reconnect {
        push_member("reconnect", out);
        out.extend_from_slice(if reconnect { b"true" } else { b"false" });
    }
    match out.get_mut(start) {
        Some(first) => *first = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// Appends a member's name with the comma before it, which becomes the brace before the first.
fn push_member(name: &str, out: &mut Vec<u8>) {
    out.push(b',');
    push_string(name, out);
    out.push(b':');
}

fn encode_msgpack(reply: &Reply<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    let others = usize::from(reply.message.is_some()) + usize::from(reply.reconnect.is_some());
    msgpack::push_map(texts(reply).count() + others, out);
    for (name, text) in texts(reply) {
        msgpack::push_text(name, out);
        msgpack::push_text(text, out);
    }
    if let Some(message) = reply.message {
        msgpack::push_text("message", out);
        json_to_msgpack(message, out)?;
    }
    if let Some(reconnect) = reply.reconnect {
        msgpack::push_text("reconnect", out);
        out.push(if reconnect { 0xc3 } else { 0xc2 });
    }
    Ok(())
}

/// `action_cable.Message`.
fn encode_protobuf(reply: &Reply<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    let number = KINDS.iter().position(|one| one.0 == reply.kind).map_or(0, |at| at as u64 + 1);
    protobuf::push_number(1, number, out);
    protobuf::push_bytes(3, reply.identifier.as_bytes(), out);
    if let Some(message) = reply.message {
        let mut bytes = Vec::new();
        json_to_msgpack(message, &mut bytes)?;
        protobuf::push_bytes(5, &bytes, out);
    }
    protobuf::push_bytes(6, reply.reason.as_bytes(), out);
    protobuf::push_number(7, reply.reconnect.map_or(0, u64::from), out);
    Ok(())
}
