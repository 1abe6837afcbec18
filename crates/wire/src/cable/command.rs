//! A client's messages, written by the client and read by a server.

use std::borrow::Cow;

use super::codec::{Codec, Format};
use super::error::CableError;
use super::incoming::text;
use super::json::{Scanner, Text, push_string};
use super::msgpack::{self, Head};
use super::protobuf::{self, Field};
use super::value::{Value, json_to_msgpack, utf8};

/// What a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Subscribe to a channel.
    Subscribe,
    /// Leave it.
    Unsubscribe,
    /// Perform an action; `data` is its JSON text.
    Message,
    /// Extended: ask for history.
    History,
    /// Extended: answer a ping.
    Pong,
    /// Extended: send to the other subscribers; `data` is any JSON text.
    Whisper,
    /// Extended: join the presence set; `presence`.
    Join,
    /// Extended: leave it.
    Leave,
    /// Extended: ask for the members of the presence set.
    Presence,
}

/// One command to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// What it is.
    pub kind: CommandKind,
    /// The subscription it is for, as JSON text; empty for a pong.
    pub identifier: &'a str,
    /// JSON text.
    pub data: Option<&'a str>,
    /// Extended: the history asked for, in a subscribe or a history command.
    pub history: Option<History<'a>>,
    /// Extended: the member that joins, as JSON text: `{"id":…,"info":…}`.
    pub presence: Option<&'a str>,
}

/// Extended: what is asked of the streams' history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History<'a> {
    /// Everything since then, in seconds of Unix time, where a stream's place is not known.
    pub since: Option<i64>,
    /// The last place known of each stream.
    pub streams: &'a [Position<'a>],
}

/// Extended: a place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The stream's name.
    pub stream: &'a str,
    /// Its epoch.
    pub epoch: &'a str,
    /// The place.
    pub offset: i64,
}

/// One command as a server reads it; the extended protocol's `history` and `presence` are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// What it is.
    pub kind: CommandKind,
    /// The subscription it is for: JSON text.
    pub identifier: Text<'a>,
    /// JSON text; empty for none.
    pub data: Cow<'a, str>,
}

/// The commands by their names; protocol buffers number them from 1 in this order, as far as they have them.
const COMMANDS: [(CommandKind, &str); 9] = [
    (CommandKind::Subscribe, "subscribe"),
    (CommandKind::Unsubscribe, "unsubscribe"),
    (CommandKind::Message, "message"),
    (CommandKind::History, "history"),
    (CommandKind::Pong, "pong"),
    (CommandKind::Whisper, "whisper"),
    (CommandKind::Join, "join"),
    (CommandKind::Leave, "leave"),
    (CommandKind::Presence, "presence"),
];
/// So many commands have a number.
const NUMBERED: usize = 6;

impl CommandKind {
    fn index(self) -> usize {
        COMMANDS.iter().position(|command| command.0 == self).expect("the table has all commands")
    }

    fn of_name(name: Text<'_>) -> Result<Self, CableError> {
        let found = COMMANDS.iter().find(|command| name.is(command.1));
        found.map(|command| command.0).ok_or(CableError::Command)
    }
}

impl<'a> Command<'a> {
    /// A command without data.
    #[must_use]
    pub const fn new(kind: CommandKind, identifier: &'a str) -> Self {
        Self { kind, identifier, data: None, history: None, presence: None }
    }

    /// An action to perform, or a whisper; `data` is JSON text, an action's with a member `action`.
    #[must_use]
    pub const fn with_data(kind: CommandKind, identifier: &'a str, data: &'a str) -> Self {
        Self { data: Some(data), ..Self::new(kind, identifier) }
    }
}

impl Codec {
    /// Appends a command as one message. In JSON, fields of JSON text are copied without a check.
    ///
    /// # Errors
    /// Protocol buffers have no number for the command, or a text for MessagePack is no JSON; what was appended is of no use.
    pub fn encode(self, command: &Command<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
        match self.format {
            Format::Json => encode_json(command, out),
            Format::Msgpack => encode_msgpack(command, out)?,
            Format::Protobuf => encode_protobuf(command, out)?,
        }
        Ok(())
    }

    /// Reads a command, for a server.
    ///
    /// # Errors
    /// The bytes are no command in this codec's format.
    pub fn decode_command(self, bytes: &[u8]) -> Result<Received<'_>, CableError> {
        match self.format {
            Format::Json => decode_json(utf8(bytes)?),
            Format::Msgpack => decode_msgpack(bytes),
            Format::Protobuf => decode_protobuf(bytes),
        }
    }
}

fn encode_json(command: &Command<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"command\":");
    push_string(COMMANDS[command.kind.index()].1, out);
    if !command.identifier.is_empty() {
        out.extend_from_slice(b",\"identifier\":");
        push_string(command.identifier, out);
    }
    if let Some(data) = command.data {
        out.extend_from_slice(b",\"data\":");
        // An action's data is a text of JSON; a whisper's is JSON.
        if command.kind == CommandKind::Message {
            push_string(data, out);
        } else {
            out.extend_from_slice(data.as_bytes());
        }
    }
    if let Some(history) = command.history {
        out.extend_from_slice(b",\"history\":");
        push_history(&history, out);
    }
    if let Some(presence) = command.presence {
        out.extend_from_slice(b",\"presence\":");
        out.extend_from_slice(presence.as_bytes());
    }
    out.push(b'}');
}

/// Appends what is asked of the history, as JSON.
fn push_history(history: &History<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    if let Some(since) = history.since {
        out.extend_from_slice(format!("\"since\":{since},").as_bytes());
    }
    out.extend_from_slice(b"\"streams\":{");
    for (at, position) in history.streams.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_string(position.stream, out);
        out.extend_from_slice(b":{\"epoch\":");
        push_string(position.epoch, out);
        out.extend_from_slice(format!(",\"offset\":{}}}", position.offset).as_bytes());
    }
    out.extend_from_slice(b"}}");
}

fn encode_msgpack(command: &Command<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    let some = [
        !command.identifier.is_empty(),
        command.data.is_some(),
        command.history.is_some(),
        command.presence.is_some(),
    ];
    msgpack::push_map(1 + some.into_iter().filter(|some| *some).count(), out);
    msgpack::push_text("command", out);
    msgpack::push_text(COMMANDS[command.kind.index()].1, out);
    if !command.identifier.is_empty() {
        msgpack::push_text("identifier", out);
        msgpack::push_text(command.identifier, out);
    }
    if let Some(data) = command.data {
        msgpack::push_text("data", out);
        if command.kind == CommandKind::Message {
            msgpack::push_text(data, out);
        } else {
            json_to_msgpack(data, out)?;
        }
    }
    if let Some(history) = command.history {
        msgpack::push_text("history", out);
        let mut json = Vec::new();
        push_history(&history, &mut json);
        json_to_msgpack(utf8(&json)?, out)?;
    }
    if let Some(presence) = command.presence {
        msgpack::push_text("presence", out);
        json_to_msgpack(presence, out)?;
    }
    Ok(())
}

/// `action_cable.Message`.
fn encode_protobuf(command: &Command<'_>, out: &mut Vec<u8>) -> Result<(), CableError> {
    let number = command.kind.index();
    if number >= NUMBERED || command.presence.is_some() {
        return Err(CableError::NotInProtobuf);
    }
    protobuf::push_number(2, number as u64 + 1, out);
    protobuf::push_bytes(3, command.identifier.as_bytes(), out);
    protobuf::push_bytes(4, command.data.unwrap_or_default().as_bytes(), out);
    let Some(history) = command.history else { return Ok(()) };
    let mut request = Vec::new();
    protobuf::push_number(1, history.since.unwrap_or_default() as u64, &mut request);
    for position in history.streams {
        let (mut place, mut entry) = (Vec::new(), Vec::new());
        protobuf::push_bytes(2, position.epoch.as_bytes(), &mut place);
        protobuf::push_number(3, position.offset as u64, &mut place);
        protobuf::push_bytes(1, position.stream.as_bytes(), &mut entry);
        protobuf::push_message(2, &place, &mut entry);
        protobuf::push_message(2, &entry, &mut request);
    }
    protobuf::push_message(8, &request, out);
    Ok(())
}

fn decode_json(json: &str) -> Result<Received<'_>, CableError> {
    let mut scanner = Scanner::new(json);
    let (mut command, mut identifier, mut data) =
        (Text::default(), Text::default(), Cow::default());
    scanner.members(&mut |scanner, name| {
        match name.decoded().as_ref() {
            "command" => command = scanner.text()?,
            "identifier" => identifier = scanner.text()?,
            "data" if scanner.peek() == Some(b'"') => data = scanner.text()?.decoded(),
            "data" => data = scanner.value()?.into(),
            _ => drop(scanner.value()?),
        }
        Ok(())
    })?;
    scanner.end()?;
    Ok(Received { kind: CommandKind::of_name(command)?, identifier, data })
}

fn decode_msgpack(bytes: &[u8]) -> Result<Received<'_>, CableError> {
    let mut reader = msgpack::Reader::new(bytes);
    let (mut command, mut identifier, mut data) = (Text::default(), Text::default(), Value::Absent);
    let Head::Map(pairs) = reader.head()? else { return Err(CableError::Msgpack) };
    for _ in 0..pairs {
        match text(&mut reader)?.decoded().as_ref() {
            "command" => command = text(&mut reader)?,
            "identifier" => identifier = text(&mut reader)?,
            "data" => data = Value::Msgpack(reader.value()?),
            _ => drop(reader.value()?),
        }
    }
    let data = match data {
        Value::Msgpack(bytes) => match msgpack::Reader::new(bytes).head()? {
            Head::Text(text) => text.into(),
            _ => data.to_json()?.unwrap_or_default(),
        },
        _ => Cow::default(),
    };
    Ok(Received { kind: CommandKind::of_name(command)?, identifier, data })
}

fn decode_protobuf(bytes: &[u8]) -> Result<Received<'_>, CableError> {
    let mut reader = protobuf::Reader::new(bytes);
    let (mut command, mut identifier, mut data) = (0, Text::default(), Cow::default());
    while let Some((number, field)) = reader.field()? {
        match (number, field) {
            (2, Field::Number(number)) => command = number,
            (3, Field::Bytes(bytes)) => identifier = Text::plain(protobuf::text(bytes)?),
            (4, Field::Bytes(bytes)) => data = protobuf::text(bytes)?.into(),
            (2..=4, _) => return Err(CableError::Protobuf),
            _ => (),
        }
    }
    let kind = (command as usize).checked_sub(1).and_then(|at| COMMANDS[..NUMBERED].get(at));
    Ok(Received { kind: kind.ok_or(CableError::Command)?.0, identifier, data })
}
