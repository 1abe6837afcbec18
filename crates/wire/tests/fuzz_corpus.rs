//! The fuzz targets' seeds as a plain test: each response, request, connection, body and message comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/cable.rs"]
mod cable;
#[path = "../../../fuzz/checks/content.rs"]
mod content;
#[path = "../../../fuzz/checks/h1_request.rs"]
mod h1_request;
#[path = "../../../fuzz/checks/h1_response.rs"]
mod h1_response;
#[path = "../../../fuzz/checks/h2_session.rs"]
mod h2_session;
#[path = "../../../fuzz/checks/url.rs"]
mod url;
#[path = "../../../fuzz/checks/ws_handshake.rs"]
mod ws_handshake;
#[path = "../../../fuzz/checks/ws_session.rs"]
mod ws_session;

use wire::content::ContentError;
use wire::h1::response::DecodeError;
use wire::h1::server::RequestFault;
use wire::ws::{HandshakeError, Refusal, WsError};

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
        ("announced_4_exbibytes", &[], Some(WsError::TooBig(1 << 16))),
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

#[test]
fn streams_come_to_what_their_seeds_say() {
    // Heads, bytes of bodies, ends and failures, of three streams.
    let cases = [
        ("three_responses", 3, 9, 3, 0),
        ("late_answer_of_a_cancelled_stream", 0, 0, 0, 3),
        ("continuation", 1, 2, 1, 2),
        ("interim_heads", 0, 0, 0, 3),
        ("pings", 0, 0, 0, 3),
        ("settings_flood", 0, 0, 0, 3),
        ("window_overflow", 0, 0, 0, 3),
        ("initial_window", 0, 0, 0, 3),
        ("goaway", 1, 0, 1, 2),
        ("reset", 0, 0, 0, 3),
        ("push_promise", 0, 0, 0, 3),
        ("trailers", 1, 1, 1, 2),
        ("http1", 0, 0, 0, 3),
        ("hpack_table_too_large", 0, 0, 0, 3),
        ("no_streams", 0, 0, 0, 3),
    ];
    for (name, heads, body_bytes, ends, failures) in cases {
        let totals = h2_session::check(&seed_of("h2_session", name));
        assert_eq!(
            (totals.heads, totals.body_bytes, totals.ends, totals.failures),
            (heads, body_bytes, ends, failures),
            "{name}"
        );
    }
}

#[test]
fn bodies_come_to_what_their_seeds_say() {
    let cases = [
        ("gzip", Ok(17)),
        ("deflate", Ok(17)),
        ("deflate_bare", Ok(17)),
        ("two_members", Ok(34)),
        ("gzip_twice", Ok(17)),
        ("gzip_fields", Ok(17)),
        ("identity", Ok(17)),
        ("unknown", Err(ContentError::Unsupported)),
        ("four", Err(ContentError::Unsupported)),
        ("cut_off", Err(ContentError::Truncated)),
        ("brotli_stored", Ok(5)),
        ("zstd_raw", Ok(5)),
        ("zstd_skippable", Ok(5)),
        ("zstd_repeated", Ok(9 * 131_072)),
    ];
    for (name, expect) in cases {
        let found = content::check(&seed_of("content", name));
        assert_eq!(found.map(|body| body.bytes), expect, "{name}");
    }
}

#[test]
fn requests_come_to_what_their_seeds_say() {
    let cases = [
        ("get", 1, None),
        ("pipelined", 4, None),
        ("two_lengths", 0, Some(RequestFault::ContentLength)),
        ("length_and_chunks", 0, Some(RequestFault::ContentLength)),
        ("no_host", 0, Some(RequestFault::Malformed)),
        ("huge_length", 0, None),
        ("huge_chunk", 0, None),
        ("cut_off", 0, None),
    ];
    for (name, complete, fault) in cases {
        let requests = h1_request::check(&seed_of("h1_request", name));
        assert_eq!((requests.complete.len(), requests.fault), (complete, fault), "{name}");
    }
}

#[test]
fn handshakes_come_to_what_their_seeds_say() {
    let refused = Err(Refusal::Upgrade);
    let some = |name: &str| Ok(Some(name.to_owned()));
    let cases = [
        ("answer", some("graphql-ws"), Err(Refusal::Version), 2),
        ("deflate", Ok(None), Err(Refusal::Version), 2),
        ("not_offered", Err(HandshakeError::Protocol("b".to_owned())), Err(Refusal::Version), 2),
        ("wrong_key", Err(HandshakeError::Accept), Err(Refusal::Version), 2),
        ("request", Err(HandshakeError::Accept), Ok(Some("a".to_owned())), 2),
        ("lists", Err(HandshakeError::Upgrade), refused, 4),
    ];
    for (name, answer, request, lists) in cases {
        let handshake = ws_handshake::check(&seed_of("ws_handshake", name));
        assert_eq!((handshake.answer, handshake.request), (answer, request), "{name}");
        assert_eq!(handshake.lists, lists, "{name}");
    }
}

#[test]
fn urls_come_to_what_their_seeds_say() {
    let cases: [(&str, bool, usize, &str); 8] = [
        ("plain", false, 6, "https://a.example/?q"),
        ("userinfo", true, 2, "https://u@x:***@[fe80::1]:443/"),
        ("control_in_user", false, 1, "http://a%1B[31m%0A:***@h/"),
        ("no_proxy", true, 1, "http://www.example.com:80/"),
        ("mapped_address", true, 1, "http://[::ffff:10.1.2.3]/"),
        ("no_url", false, 0, ""),
        ("beyond_ascii", false, 2, "http://a/%C3%A4"),
        ("redirects", false, 5, "http://b:81/"),
    ];
    for (name, is_direct, joined, last) in cases {
        let outcome = url::check(&seed_of("url", name));
        assert_eq!((outcome.is_direct, outcome.chain.len()), (is_direct, joined), "{name}");
        assert_eq!(outcome.chain.last().map_or("", String::as_str), last, "{name}");
    }
}
