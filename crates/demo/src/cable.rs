//! Action Cable's server: who is subscribed to what, what a command does, and what is sent for it. It knows no sockets: what
//! it sends goes to its caller, receiver by receiver.

use std::collections::BTreeMap;
use std::sync::Arc;

use net::Key;
use serde_json::{Value, json};
use stdx::{Nanos, Prng};
use wire::cable::{Codec, CommandKind, Dialect, Format, Kind, Reply};

use crate::ServiceTime;
use crate::stats::SocketStats;
use crate::upgrade::User;

/// A socket's subscriptions at most; further ones are rejected.
const SUBSCRIPTIONS_MAX: usize = 64;

/// The largest data of a message taken: 128 KiB. Twice as much waiting drops a client, which one message must not do.
const DATA_MAX: usize = 128 << 10;

/// Action Cable as it is asked to be, its defects included. Shares are from 0 to 1; they and the delay are drawn for each
/// message to each subscriber alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Cable {
    /// How often all clients are pinged.
    pub ping: Nanos,
    /// How long a message to a subscriber is kept back; their order stays.
    pub delay: ServiceTime,
    /// The share of messages that are lost.
    pub loss: f64,
    /// The share sent twice.
    pub duplicate: f64,
    /// The share that the next message to the same client overtakes; a ping lets them go at last.
    pub reorder: f64,
    /// The share of subscriptions rejected.
    pub reject: f64,
    /// The share of subscriptions that are never answered.
    pub no_confirm: f64,
    /// After how long each client is sent a disconnect with reconnect, and closed.
    pub disconnect_after: Option<Nanos>,
}

impl Default for Cable {
    /// Without defects, a ping every 3 s as Rails has it.
    fn default() -> Self {
        Self {
            ping: Nanos::from_millis(3000),
            delay: ServiceTime::None,
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            reject: 0.0,
            no_confirm: 0.0,
            disconnect_after: None,
        }
    }
}

impl Cable {
    /// The shares, for being checked.
    pub(crate) fn shares(&self) -> [f64; 5] {
        [self.loss, self.duplicate, self.reorder, self.reject, self.no_confirm]
    }
}

/// The streams and their subscribers.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    /// By stream; a client may have several subscriptions to one, which are numbered.
    streams: BTreeMap<Arc<str>, BTreeMap<(Key, u32), Listener>>,
}

/// A subscriber of a stream.
#[derive(Clone, Debug)]
struct Listener {
    identifier: Arc<str>,
    format: Format,
}

/// A client's side of the cable.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) format: Format,
    user: Box<User>,
    subscriptions: Vec<Subscription>,
    /// Subscriptions are numbered by it.
    numbered: u32,
}

#[derive(Debug)]
struct Subscription {
    identifier: Arc<str>,
    number: u32,
    channel: Channel,
}

#[derive(Debug)]
enum Channel {
    Echo,
    /// With its stream.
    Chat(Arc<str>),
}

/// What is to be sent for a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandReply {
    /// To the sender: a confirmation or a rejection, on which no defect acts.
    Answer(Vec<u8>),
    /// To the sender, as a message to a subscription.
    Echo(Arc<[u8]>),
    /// What was broadcast, to each in turn; subscribers of one codec and identifier share the bytes.
    Broadcast(Vec<(Key, Format, Arc<[u8]>)>),
    /// Nothing.
    Nothing,
}

impl Member {
    /// A client that speaks this codec's format.
    pub(crate) fn new(format: Format, user: User) -> Self {
        Self { format, user: Box::new(user), subscriptions: Vec::new(), numbered: 0 }
    }
}

/// A codec of the base protocol.
pub(crate) const fn codec(format: Format) -> Codec {
    Codec { format, dialect: Dialect::Base }
}

/// A reply's bytes.
pub(crate) fn encode(format: Format, reply: &Reply<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    codec(format).encode_reply(reply, &mut out).expect("our own messages are JSON");
    out
}

impl Hub {
    /// Does what a client's message says.
    pub(crate) fn handle_command(
        &mut self,
        (key, member): (Key, &mut Member),
        (cable, rng): (&Cable, &mut Prng),
        bytes: &[u8],
        stats: &mut SocketStats,
    ) -> CommandReply {
        let Ok(received) = codec(member.format).decode_command(bytes) else {
            stats.cable_malformed += 1;
            return CommandReply::Nothing;
        };
        let identifier = received.identifier.decoded();
        match received.kind {
            CommandKind::Subscribe => {
                self.subscribe((key, member), &identifier, (cable, rng), stats)
            }
            CommandKind::Unsubscribe => self.unsubscribe(key, member, &identifier),
            CommandKind::Message => self.perform(member, &identifier, &received.data, stats),
            _ => CommandReply::Nothing,
        }
    }

    /// Forgets a client.
    pub(crate) fn leave(&mut self, key: Key, member: &Member) {
        for subscription in &member.subscriptions {
            self.forget(key, subscription);
        }
    }

    fn subscribe(
        &mut self,
        (key, member): (Key, &mut Member),
        identifier: &str,
        (cable, rng): (&Cable, &mut Prng),
        stats: &mut SocketStats,
    ) -> CommandReply {
        // As Rails: a second subscription to the same is not answered.
        if member.subscriptions.iter().any(|one| one.identifier.as_ref() == identifier) {
            return CommandReply::Nothing;
        }
        if rng.next_f64() < cable.no_confirm {
            stats.cable_unconfirmed += 1;
            return CommandReply::Nothing;
        }
        let channel =
            channel(identifier).filter(|_| member.subscriptions.len() < SUBSCRIPTIONS_MAX);
        let channel = channel.filter(|_| rng.next_f64() >= cable.reject);
        let kind = if channel.is_some() { Kind::Confirm } else { Kind::Reject };
        match channel {
            Some(channel) => self.add(key, member, identifier, channel),
            None => stats.cable_rejected += 1,
        }
        CommandReply::Answer(encode(member.format, &Reply { kind, identifier, ..Reply::default() }))
    }

    fn add(&mut self, key: Key, member: &mut Member, identifier: &str, channel: Channel) {
        member.numbered += 1;
        let (identifier, number): (Arc<str>, _) = (identifier.into(), member.numbered);
        if let Channel::Chat(stream) = &channel {
            let listener = Listener { identifier: Arc::clone(&identifier), format: member.format };
            self.streams.entry(Arc::clone(stream)).or_default().insert((key, number), listener);
        }
        member.subscriptions.push(Subscription { identifier, number, channel });
    }

    fn unsubscribe(&mut self, key: Key, member: &mut Member, identifier: &str) -> CommandReply {
        let at = member.subscriptions.iter().position(|one| one.identifier.as_ref() == identifier);
        if let Some(at) = at {
            let subscription = member.subscriptions.swap_remove(at);
            self.forget(key, &subscription);
        }
        CommandReply::Nothing
    }

    fn forget(&mut self, key: Key, subscription: &Subscription) {
        let Channel::Chat(stream) = &subscription.channel else { return };
        if let Some(listeners) = self.streams.get_mut(stream) {
            listeners.remove(&(key, subscription.number));
            if listeners.is_empty() {
                self.streams.remove(stream);
            }
        }
    }

    fn perform(
        &self,
        member: &Member,
        identifier: &str,
        data: &str,
        stats: &mut SocketStats,
    ) -> CommandReply {
        let found = member.subscriptions.iter().find(|one| one.identifier.as_ref() == identifier);
        let value = serde_json::from_str::<Value>(data).ok().filter(|_| data.len() <= DATA_MAX);
        let Some(value) = value else {
            stats.cable_malformed += 1;
            return CommandReply::Nothing;
        };
        match (found.map(|one| &one.channel), value["action"].as_str()) {
            (Some(Channel::Echo), Some("echo")) => {
                let reply = Reply { identifier, message: Some(data), ..Reply::default() };
                CommandReply::Echo(encode(member.format, &reply).into())
            }
            (Some(Channel::Chat(stream)), Some("speak")) => {
                stats.cable_broadcasts += 1;
                let user = &member.user;
                let message = json!({
                    "action": "newMessage", "author_id": user.id, "author": user.name, "message": value["message"],
                });
                CommandReply::Broadcast(self.broadcast(stream, &message.to_string()))
            }
            // As Rails: unknown actions are logged, here counted.
            _ => {
                stats.cable_malformed += 1;
                CommandReply::Nothing
            }
        }
    }

    /// The message to all subscribers of a stream.
    fn broadcast(&self, stream: &str, message: &str) -> Vec<(Key, Format, Arc<[u8]>)> {
        let Some(listeners) = self.streams.get(stream) else { return Vec::new() };
        let mut last: Option<(Format, &str, Arc<[u8]>)> = None;
        let mut sent = Vec::with_capacity(listeners.len());
        for ((key, _), listener) in listeners {
            let (format, identifier) = (listener.format, listener.identifier.as_ref());
            let same = last.as_ref().filter(|last| (last.0, last.1) == (format, identifier));
            let bytes = same.map(|last| Arc::clone(&last.2)).unwrap_or_else(|| {
                let reply = Reply { identifier, message: Some(message), ..Reply::default() };
                encode(format, &reply).into()
            });
            sent.push((*key, format, Arc::clone(&bytes)));
            last = Some((format, identifier, bytes));
        }
        sent
    }
}

/// The channel that an identifier names; `None` for an unknown one, and for a chat without `id`.
fn channel(identifier: &str) -> Option<Channel> {
    let params: Value = serde_json::from_str(identifier).ok()?;
    match params["channel"].as_str()? {
        "EchoChannel" => Some(Channel::Echo),
        "ChatChannel" => {
            let id = match &params["id"] {
                Value::Null => return None,
                Value::String(id) => id.clone(),
                other => other.to_string(),
            };
            Some(Channel::Chat(format!("chat_{id}").into()))
        }
        _ => None,
    }
}
