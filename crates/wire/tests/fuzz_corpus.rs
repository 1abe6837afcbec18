//! The fuzz targets' seeds as a plain test: each response, WebSocket and cable message comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/cable.rs"]
mod cable;
#[path = "../../../fuzz/checks/h1_response.rs"]
mod h1_response;
#[path = "../../../fuzz/checks/ws_session.rs"]
mod ws_session;

use wire::h1::response::DecodeError;
use wire::ws::WsError;

use h1_response::check;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");

fn seed(name: &str) -> Vec<u8> {
    seed_of("h1_response", name)
}

fn seed_of(target: &str, name: &str) -> Vec<u8> {
    std::fs::read(format!("{CORPUS}{target}/{name}")).expect("a seed")
}

#[test]
fn good_seeds_decode() {
    let cases: [(&str, u16, &str); 5] = [
        ("length", 200, "hello"),
        ("chunked", 200, "hello!"),
        ("until_eof", 404, "gone"),
        ("interim", 204, ""),
        ("redirect", 302, ""),
    ];
    for (name, status, body) in cases {
        let found = check(&seed(name)).expect(name);
        assert_eq!((found.status, found.body.as_slice()), (status, body.as_bytes()), "{name}");
    }
    assert_eq!(check(&seed("length")).map(|found| found.consumed), Ok(seed("length").len() - 8));
}

#[test]
fn bad_seeds_fail() {
    assert_eq!(check(&seed("truncated")), Err(DecodeError::Truncated));
    for name in ["chunk_overflow", "two_lengths", "garbage"] {
        assert!(check(&seed(name)).is_err(), "{name}");
    }
}

#[test]
fn every_prefix_of_every_seed_is_survived() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/h1_response");
    let mut seeds = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus") {
        let bytes = std::fs::read(entry.expect("an entry").path()).expect("a seed");
        for len in (0..bytes.len()).take(4096) {
            if let Ok(found) = check(&bytes[..len]) {
                assert!(found.consumed <= len);
            }
        }
        seeds += 1;
    }
    assert!(seeds >= 9);
}

#[test]
fn sessions_come_to_what_their_seeds_say() {
    let cases: [(&str, &[&str], Option<WsError>); 8] = [
        ("text", &["Text(\"Hello\")"], None),
        ("fragments", &["Ping([112])", "Text(\"Hello\")"], None),
        ("close", &["Text(\"a\")", "Close { code: Some(1000), reason: \"bye\" }"], None),
        ("masked", &[], Some(WsError::Masked)),
        ("two_to_the_63", &[], Some(WsError::LengthTopBit)),
        ("announced_4_exbibytes", &[], Some(WsError::TooBig(1 << 20))),
        ("not_utf8", &[], Some(WsError::Utf8)),
        ("long_ping", &[], Some(WsError::ControlTooLong)),
    ];
    for (name, events, fault) in cases {
        let outcome = ws_session::check(&seed_of("ws_session", name));
        assert_eq!(
            (outcome.events.as_slice(), outcome.fault),
            (&events.iter().map(ToString::to_string).collect::<Vec<_>>()[..], fault),
            "{name}"
        );
        assert_eq!(outcome.out.is_empty(), name == "text", "{name}");
    }
    for name in ["deflated", "reserved_bits", "bomb"] {
        assert_eq!(
            ws_session::check(&seed_of("ws_session", name)).fault,
            Some(WsError::ReservedBits)
        );
    }
}

#[test]
fn cable_messages_come_to_what_their_seeds_say() {
    // In how many of the six codecs it is a message, and a command.
    let cases = [
        ("welcome", 2, 0),
        ("extended", 2, 0),
        ("broadcast", 2, 0),
        ("subscribe", 2, 2),
        ("speak", 2, 2),
        ("msgpack", 2, 0),
        ("protobuf", 1, 0),
        ("deep", 0, 0),
        ("not_utf8", 0, 0),
        ("huge_map", 0, 0),
        ("lone_surrogate", 2, 0),
    ];
    for (name, messages, commands) in cases {
        assert_eq!(cable::check(&seed_of("cable", name)), (messages, commands), "{name}");
    }
}
