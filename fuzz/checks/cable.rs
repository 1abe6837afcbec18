//! Bytes as a message of Action Cable, to both sides, in every codec. What a message holds must be valid JSON.

use wire::cable::{Codec, Command, Incoming};

/// Every subprotocol.
const NAMES: [&str; 6] = [
    "actioncable-v1-json",
    "actioncable-v1-msgpack",
    "actioncable-v1-protobuf",
    "actioncable-v1-ext-json",
    "actioncable-v1-ext-msgpack",
    "actioncable-v1-ext-protobuf",
];

/// Reads the bytes in every codec, and says in how many they are a message of a server, and a command.
///
/// # Panics
/// A message's value is no JSON, or a command does not arrive as it was sent again.
pub(crate) fn check(bytes: &[u8]) -> (usize, usize) {
    let codecs = NAMES.map(|name| Codec::of_subprotocol(name).expect(name));
    let (mut messages, mut commands) = (0, 0);
    for codec in codecs {
        if let Ok(incoming) = codec.decode(bytes) {
            messages += 1;
            check_message(&incoming);
        }
        if let Ok(received) = codec.decode_command(bytes) {
            commands += 1;
            let identifier = received.identifier.decoded();
            let command = Command::new(received.kind, &identifier);
            let mut out = Vec::new();
            if codec.encode(&command, &mut out).is_ok() {
                let again = codec.decode_command(&out).expect("our own command");
                assert!(again.kind == received.kind && again.identifier.is(&identifier));
            }
        }
    }
    (messages, commands)
}

fn check_message(incoming: &Incoming<'_>) {
    let identifier = incoming.identifier.decoded();
    assert!(incoming.identifier.is(&identifier));
    if let Ok(Some(json)) = incoming.message.to_json() {
        let mut out = Vec::new();
        wire::cable::json_to_msgpack(&json, &mut out).expect("a message's JSON is valid");
    }
}
