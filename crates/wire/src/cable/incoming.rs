//! A server's messages, read by a client.

use super::codec::{Codec, Dialect, Format};
use super::error::CableError;
use super::json::{Scanner, Text};
use super::msgpack::{self, Head};
use super::protobuf::{self, Field};
use super::value::{Value, utf8};

/// What a message of the server is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Something sent to a subscription.
    #[default]
    Message,
    /// The connection is ready.
    Welcome,
    /// The server is about to close; `reason`, `reconnect`.
    Disconnect,
    /// A sign of life; `message` is the time.
    Ping,
    /// A subscription is confirmed.
    Confirm,
    /// A subscription is rejected.
    Reject,
    /// Extended: the history asked for follows or has come.
    HistoryConfirmed,
    /// Extended: there is no such history.
    HistoryRejected,
    /// Extended: a member joined or left, or the list of members; `message`.
    Presence,
    /// An unknown type, or an empty message.
    Unknown,
}

/// One message of the server. What is absent is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// What it is.
    pub kind: Kind,
    /// The subscription it is for: JSON text.
    pub identifier: Text<'a>,
    /// What was sent.
    pub message: Value<'a>,
    /// Why the server disconnects.
    pub reason: Text<'a>,
    /// Whether a disconnected client should reconnect, if the message has it.
    pub reconnect: Option<bool>,
    /// Extended: the session's number, in a welcome.
    pub session: Text<'a>,
    /// Extended: the welcome restores an earlier session.
    pub restored: bool,
    /// Extended: the subscriptions restored.
    pub restored_ids: Vec<Text<'a>>,
    /// Extended: the stream that the message came by.
    pub stream: Text<'a>,
    /// Extended: the stream's epoch.
    pub epoch: Text<'a>,
    /// Extended: the message's place in its stream.
    pub offset: Option<i64>,
}

/// Subscriptions restored by one welcome that are taken; an empty name is a byte of the message and 24 of memory.
const RESTORED_MAX: usize = 65_536;

/// The types by their names; protocol buffers number them from 1 in this order, `Presence` excepted.
pub(super) const KINDS: [(Kind, &str); 8] = [
    (Kind::Welcome, "welcome"),
    (Kind::Disconnect, "disconnect"),
    (Kind::Ping, "ping"),
    (Kind::Confirm, "confirm_subscription"),
    (Kind::Reject, "reject_subscription"),
    (Kind::HistoryConfirmed, "confirm_history"),
    (Kind::HistoryRejected, "reject_history"),
    (Kind::Presence, "presence"),
];
/// So many types have a number.
pub(super) const NUMBERED: usize = 7;

impl Codec {
    /// Reads a message of the server. Unknown members are ignored.
    ///
    /// # Errors
    /// The bytes are no message in this codec's format.
    pub fn decode(self, bytes: &[u8]) -> Result<Incoming<'_>, CableError> {
        let mut incoming = match (self.format, self.dialect) {
            (Format::Json, _) => decode_json(utf8(bytes)?)?,
            (Format::Msgpack, _) => decode_msgpack(bytes)?,
            (Format::Protobuf, Dialect::Base) => decode_protobuf(bytes, &MESSAGE)?,
            (Format::Protobuf, Dialect::Extended) => decode_protobuf(bytes, &REPLY)?,
        };
        if incoming.kind == Kind::Message && incoming.message == Value::Absent {
            incoming.kind = Kind::Unknown;
        }
        Ok(incoming)
    }
}

fn kind(name: Text<'_>) -> Kind {
    if name.is_empty() {
        return Kind::Message;
    }
    KINDS.iter().find(|kind| name.is(kind.1)).map_or(Kind::Unknown, |kind| kind.0)
}

fn decode_json(text: &str) -> Result<Incoming<'_>, CableError> {
    let (mut scanner, mut incoming) = (Scanner::new(text), Incoming::default());
    scanner.members(&mut |scanner, name| {
        match name.decoded().as_ref() {
            "type" => incoming.kind = kind(scanner.text()?),
            "identifier" => incoming.identifier = scanner.text()?,
            "message" => incoming.message = Value::Json(scanner.value()?),
            "reason" => incoming.reason = scanner.text()?,
            "reconnect" => incoming.reconnect = scanner.flag()?,
            "sid" => incoming.session = scanner.text()?,
            "restored" => incoming.restored = scanner.flag()?.unwrap_or(false),
            "restored_ids" if scanner.peek() == Some(b'[') => scanner.elements(&mut |scanner| {
                let id = scanner.text()?;
                if incoming.restored_ids.len() < RESTORED_MAX {
                    incoming.restored_ids.push(id);
                }
                Ok(())
            })?,
            "stream_id" => incoming.stream = scanner.text()?,
            "epoch" => incoming.epoch = scanner.text()?,
            "offset" => incoming.offset = scanner.value()?.parse().ok(),
            _ => drop(scanner.value()?),
        }
        Ok(())
    })?;
    scanner.end()?;
    Ok(incoming)
}

fn decode_msgpack(bytes: &[u8]) -> Result<Incoming<'_>, CableError> {
    let (mut reader, mut incoming) = (msgpack::Reader::new(bytes), Incoming::default());
    let Head::Map(pairs) = reader.head()? else { return Err(CableError::Msgpack) };
    for _ in 0..pairs {
        let Head::Text(name) = reader.head()? else { return Err(CableError::Msgpack) };
        match name {
            "type" => incoming.kind = kind(text(&mut reader)?),
            "identifier" => incoming.identifier = text(&mut reader)?,
            "message" => incoming.message = Value::Msgpack(reader.value()?),
            "reason" => incoming.reason = text(&mut reader)?,
            "reconnect" => incoming.reconnect = flag(&mut reader)?,
            "sid" => incoming.session = text(&mut reader)?,
            "restored" => incoming.restored = flag(&mut reader)?.unwrap_or(false),
            "restored_ids" => incoming.restored_ids = texts(&mut reader)?,
            "stream_id" => incoming.stream = text(&mut reader)?,
            "epoch" => incoming.epoch = text(&mut reader)?,
            "offset" => incoming.offset = number(&mut reader)?,
            _ => drop(reader.value()?),
        }
    }
    if reader.is_empty() { Ok(incoming) } else { Err(CableError::Trailing) }
}

/// A text; empty for nil.
pub(super) fn text<'a>(reader: &mut msgpack::Reader<'a>) -> Result<Text<'a>, CableError> {
    match reader.head()? {
        Head::Text(text) => Ok(Text::plain(text)),
        Head::Nil => Ok(Text::default()),
        _ => Err(CableError::Msgpack),
    }
}

fn texts<'a>(reader: &mut msgpack::Reader<'a>) -> Result<Vec<Text<'a>>, CableError> {
    match reader.head()? {
        Head::Array(len) => {
            let mut all = Vec::new();
            for _ in 0..len {
                let one = text(reader)?;
                if all.len() < RESTORED_MAX {
                    all.push(one);
                }
            }
            Ok(all)
        }
        Head::Nil => Ok(Vec::new()),
        _ => Err(CableError::Msgpack),
    }
}

fn flag(reader: &mut msgpack::Reader<'_>) -> Result<Option<bool>, CableError> {
    match reader.head()? {
        Head::Bool(flag) => Ok(Some(flag)),
        Head::Nil => Ok(None),
        _ => Err(CableError::Msgpack),
    }
}

fn number(reader: &mut msgpack::Reader<'_>) -> Result<Option<i64>, CableError> {
    match reader.head()? {
        Head::Signed(number) => Ok(Some(number)),
        Head::Unsigned(number) => Ok(i64::try_from(number).ok()),
        Head::Nil => Ok(None),
        _ => Err(CableError::Msgpack),
    }
}

/// What a field of a protocol buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Type,
    Identifier,
    Message,
    Reason,
    Reconnect,
    Stream,
    Epoch,
    Offset,
    Session,
    Restored,
    RestoredId,
}

/// The fields of `action_cable.Message`, which both sides of the base protocol send.
const MESSAGE: [(u64, Part); 5] = [
    (1, Part::Type),
    (3, Part::Identifier),
    (5, Part::Message),
    (6, Part::Reason),
    (7, Part::Reconnect),
];

/// The fields of `action_cable.Reply`, which servers of the extended protocol send.
const REPLY: [(u64, Part); 11] = [
    (1, Part::Type),
    (2, Part::Identifier),
    (3, Part::Message),
    (4, Part::Reason),
    (5, Part::Reconnect),
    (6, Part::Stream),
    (7, Part::Epoch),
    (8, Part::Offset),
    (9, Part::Session),
    (10, Part::Restored),
    (11, Part::RestoredId),
];

fn decode_protobuf<'a>(
    bytes: &'a [u8],
    fields: &[(u64, Part)],
) -> Result<Incoming<'a>, CableError> {
    let (mut reader, mut incoming) = (protobuf::Reader::new(bytes), Incoming::default());
    while let Some((number, field)) = reader.field()? {
        let part = fields.iter().find(|field| field.0 == number).map(|field| field.1);
        match (part, field) {
            (None, _) => (),
            (Some(part), Field::Number(number)) => incoming.set_number(part, number)?,
            (Some(part), Field::Bytes(bytes)) => incoming.set_bytes(part, bytes)?,
            (Some(_), Field::Other) => return Err(CableError::Protobuf),
        }
    }
    // proto3 leaves false out; a server that disconnects says one or the other.
    if incoming.kind == Kind::Disconnect {
        incoming.reconnect.get_or_insert(false);
    }
    Ok(incoming)
}

impl<'a> Incoming<'a> {
    fn set_number(&mut self, part: Part, number: u64) -> Result<(), CableError> {
        match part {
            Part::Type => {
                let numbered = (number as usize).checked_sub(1).map(|at| KINDS[..NUMBERED].get(at));
                self.kind = numbered
                    .map_or(Kind::Message, |kind| kind.map_or(Kind::Unknown, |kind| kind.0));
            }
            Part::Reconnect => self.reconnect = Some(number != 0),
            Part::Restored => self.restored = number != 0,
            Part::Offset => self.offset = Some(number as i64),
            _ => return Err(CableError::Protobuf),
        }
        Ok(())
    }

    fn set_bytes(&mut self, part: Part, bytes: &'a [u8]) -> Result<(), CableError> {
        let text = || protobuf::text(bytes).map(Text::plain);
        match part {
            Part::Identifier => self.identifier = text()?,
            Part::Message => {
                let whole = msgpack::Reader::new(bytes).value()?;
                self.message = Value::Msgpack(whole);
                if whole.len() != bytes.len() {
                    return Err(CableError::Trailing);
                }
            }
            Part::Reason => self.reason = text()?,
            Part::Stream => self.stream = text()?,
            Part::Epoch => self.epoch = text()?,
            Part::Session => self.session = text()?,
            Part::RestoredId if self.restored_ids.len() == RESTORED_MAX => drop(text()?),
            Part::RestoredId => self.restored_ids.push(text()?),
            _ => return Err(CableError::Protobuf),
        }
        Ok(())
    }
}
