//! Each codec's messages, from one side to the other, and hostile bytes.

use proptest::prelude::*;

use super::*;

const IDENTIFIER: &str = r#"{"channel":"ChatChannel","id":"1"}"#;

fn codec(name: &str) -> Codec {
    Codec::of_subprotocol(name).expect(name)
}

fn base() -> impl Iterator<Item = Codec> {
    Codec::all().filter(|codec| codec.dialect == Dialect::Base)
}

#[test]
fn subprotocols_by_name() {
    assert_eq!(Codec::all().count(), 6);
    for codec in Codec::all() {
        assert_eq!(Codec::of_subprotocol(codec.subprotocol()), Some(codec));
    }
    assert_eq!(Codec::of_subprotocol("actioncable-unsupported"), None);
}

#[test]
fn what_rails_says() {
    let json = codec("actioncable-v1-json");
    let cases = [
        (r#"{"type":"welcome"}"#, Kind::Welcome),
        (r#"{"type":"ping","message":1700000000}"#, Kind::Ping),
        (r#"{"identifier":"x","type":"confirm_subscription"}"#, Kind::Confirm),
        (r#"{"identifier":"x","type":"reject_subscription"}"#, Kind::Reject),
        (r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#, Kind::Disconnect),
        (r#"{"identifier":"x","message":null}"#, Kind::Message),
        (r#"{"type":"pong_2","extra":[{}]}"#, Kind::Unknown),
        ("{}", Kind::Unknown),
    ];
    for (text, kind) in cases {
        assert_eq!(json.decode(text.as_bytes()).map(|incoming| incoming.kind), Ok(kind), "{text}");
    }
    let text = r#"{"identifier":"{\"channel\":\"ChatChannel\",\"id\":\"1\"}","message":{"action":"newMessage","n":[1,2]}}"#;
    let incoming = json.decode(text.as_bytes()).expect("a broadcast");
    assert!(incoming.identifier.is(IDENTIFIER));
    assert_eq!(incoming.message, Value::Json(r#"{"action":"newMessage","n":[1,2]}"#));
    let bye = json.decode(cases[4].0.as_bytes()).expect("a disconnect");
    assert!(bye.reason.is("unauthorized") && bye.reconnect == Some(false));
}

#[test]
fn what_anycable_adds() {
    let welcome = br#"{"type":"welcome","sid":"s1","restored":true,"restored_ids":["{\"channel\":\"A\"}","b"]}"#;
    let welcome = codec("actioncable-v1-ext-json").decode(welcome).expect("a welcome");
    assert!(welcome.session.is("s1") && welcome.restored);
    let ids: Vec<_> = welcome.restored_ids.iter().map(Text::decoded).collect();
    assert_eq!(ids, [r#"{"channel":"A"}"#, "b"]);
    let json: &[u8] = br#"{"identifier":"i","message":1,"stream_id":"s","epoch":"e","offset":7}"#;
    let mut packed = Vec::new();
    json_to_msgpack(std::str::from_utf8(json).expect("UTF-8"), &mut packed).expect("JSON");
    // Reply: 2 identifier, 3 message, 6 stream, 7 epoch, 8 offset.
    let buffer: &[u8] = b"\x12\x01i\x1a\x01\x01\x32\x01s\x3a\x01e\x40\x07";
    for (format, bytes) in [("json", json), ("msgpack", &packed), ("protobuf", buffer)] {
        let incoming = codec(&format!("actioncable-v1-ext-{format}")).decode(bytes).expect(format);
        assert!(
            incoming.stream.is("s") && incoming.epoch.is("e") && incoming.identifier.is("i"),
            "{format}"
        );
        assert_eq!((incoming.kind, incoming.offset), (Kind::Message, Some(7)));
        assert_eq!(incoming.message.to_json().expect("JSON").as_deref(), Some("1"));
    }
    for (text, kind) in [
        (r#"{"type":"confirm_history","identifier":"i"}"#, Kind::HistoryConfirmed),
        (r#"{"type":"reject_history","identifier":"i"}"#, Kind::HistoryRejected),
        (
            r#"{"type":"presence","identifier":"i","message":{"type":"join","id":"1"}}"#,
            Kind::Presence,
        ),
    ] {
        assert_eq!(
            codec("actioncable-v1-ext-json").decode(text.as_bytes()).map(|one| one.kind),
            Ok(kind)
        );
    }
}

#[test]
fn commands_on_the_wire() {
    let encode = |name: &str, command: &Command<'_>| {
        let mut out = Vec::new();
        codec(name).encode(command, &mut out).map(|()| out)
    };
    let json = |command: &Command<'_>| {
        String::from_utf8(encode("actioncable-v1-ext-json", command).expect("a command"))
            .expect("UTF-8")
    };
    let subscribe = Command::new(CommandKind::Subscribe, IDENTIFIER);
    let escaped = r#""{\"channel\":\"ChatChannel\",\"id\":\"1\"}""#;
    assert_eq!(json(&subscribe), format!(r#"{{"command":"subscribe","identifier":{escaped}}}"#));
    let speak = Command::with_data(CommandKind::Message, "i", r#"{"action":"speak"}"#);
    assert_eq!(
        json(&speak),
        r#"{"command":"message","identifier":"i","data":"{\"action\":\"speak\"}"}"#
    );
    let whisper = Command::with_data(CommandKind::Whisper, "i", r#"{"x":1}"#);
    assert_eq!(json(&whisper), r#"{"command":"whisper","identifier":"i","data":{"x":1}}"#);
    assert_eq!(json(&Command::new(CommandKind::Pong, "")), r#"{"command":"pong"}"#);
    let streams = [
        Position { stream: "s", epoch: "e", offset: 9 },
        Position { stream: "t", epoch: "e", offset: 1 },
    ];
    let history = Some(History { since: Some(5), streams: &streams });
    let history = Command { history, ..Command::new(CommandKind::History, "i") };
    let text = r#"{"command":"history","identifier":"i","history":{"since":5,"streams":{"s":{"epoch":"e","offset":9},"t":{"epoch":"e","offset":1}}}}"#;
    assert_eq!(json(&history), text);
    let join = Command { presence: Some(r#"{"id":"1"}"#), ..Command::new(CommandKind::Join, "i") };
    assert_eq!(json(&join), r#"{"command":"join","identifier":"i","presence":{"id":"1"}}"#);
    // MessagePack says the same; protocol buffers have numbers for less.
    for command in [&history, &join, &whisper] {
        let mut expect = Vec::new();
        json_to_msgpack(&json(command), &mut expect).expect("JSON");
        assert_eq!(encode("actioncable-v1-ext-msgpack", command), Ok(expect));
    }
    let buffer: &[u8] = b"\x10\x04\x1a\x01i\x42\x18\x08\x05\x12\x0a\x0a\x01s\x12\x05\x12\x01e\x18\x09\x12\x0a\x0a\x01t\x12\x05\x12\x01e\x18\x01";
    let buffer = [&buffer[..6], &[(buffer.len() - 7) as u8], &buffer[7..]].concat();
    assert_eq!(encode("actioncable-v1-ext-protobuf", &history), Ok(buffer));
    assert_eq!(encode("actioncable-v1-ext-protobuf", &join), Err(CableError::NotInProtobuf));
}

#[test]
fn commands_arrive() {
    for codec in base() {
        for kind in [CommandKind::Subscribe, CommandKind::Unsubscribe] {
            let mut out = Vec::new();
            codec.encode(&Command::new(kind, IDENTIFIER), &mut out).expect("a command");
            let received = codec.decode_command(&out).expect("a command");
            assert!(
                received.kind == kind
                    && received.identifier.is(IDENTIFIER)
                    && received.data.is_empty()
            );
        }
        let mut out = Vec::new();
        let data = r#"{"action":"speak","message":"é\n\""}"#;
        codec
            .encode(&Command::with_data(CommandKind::Message, IDENTIFIER, data), &mut out)
            .expect("a command");
        assert_eq!(codec.decode_command(&out).expect("a command").data, data);
        assert!(codec.decode_command(b"").is_err());
    }
    let unknown = codec("actioncable-v1-json").decode_command(br#"{"command":"shout"}"#);
    assert_eq!(unknown, Err(CableError::Command));
}

#[test]
fn replies_arrive() {
    let kinds = [Kind::Welcome, Kind::Ping, Kind::Confirm, Kind::Reject];
    for codec in base() {
        for kind in kinds {
            let mut out = Vec::new();
            codec
                .encode_reply(&Reply { kind, identifier: "i", ..Reply::default() }, &mut out)
                .expect("a reply");
            let incoming = codec.decode(&out).expect("a reply");
            assert_eq!((incoming.kind, incoming.identifier.is("i")), (kind, true), "{codec:?}");
        }
        for reconnect in [true, false] {
            let mut out = Vec::new();
            let reply = Reply {
                kind: Kind::Disconnect,
                reason: "r",
                reconnect: Some(reconnect),
                ..Reply::default()
            };
            codec.encode_reply(&reply, &mut out).expect("a reply");
            let incoming = codec.decode(&out).expect("a reply");
            assert!(incoming.reason.is("r") && incoming.reconnect == Some(reconnect), "{codec:?}");
        }
    }
}

/// JSON texts without spaces.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<bool>().prop_map(|b| b.to_string()),
        any::<f64>()
            .prop_filter("JSON has no infinity", |f| f.is_finite())
            .prop_map(|f| format!("{f:?}")),
        ".*".prop_map(quoted),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        let array = proptest::collection::vec(inner.clone(), 0..5)
            .prop_map(|all| format!("[{}]", all.join(",")));
        let pair = (".*", inner).prop_map(|(name, value)| format!("{}:{value}", quoted(name)));
        let object =
            proptest::collection::vec(pair, 0..5).prop_map(|all| format!("{{{}}}", all.join(",")));
        prop_oneof![array, object]
    })
}

fn quoted(text: String) -> String {
    let mut out = Vec::new();
    json::push_string(&text, &mut out);
    drop(text);
    String::from_utf8(out).expect("UTF-8")
}

proptest! {
    #[test]
    fn any_message_arrives_in_any_format(message in json(), identifier in ".{1,40}") {
        for codec in base() {
            let mut out = Vec::new();
            let reply = Reply { identifier: &identifier, message: Some(&message), ..Reply::default() };
            codec.encode_reply(&reply, &mut out).expect("a reply");
            let incoming = codec.decode(&out).expect("a reply");
            prop_assert!(incoming.identifier.is(&identifier));
            prop_assert_eq!(incoming.kind, Kind::Message);
            let json = incoming.message.to_json().expect("JSON");
            prop_assert_eq!(json.as_deref(), Some(message.as_str()));
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for codec in Codec::all() {
            if let Ok(incoming) = codec.decode(&bytes) {
                incoming.message.to_json().ok();
            }
            codec.decode_command(&bytes).ok();
        }
    }
}
