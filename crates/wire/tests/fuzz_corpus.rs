//! The fuzz target's seeds as a plain test: each response comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/h1_response.rs"]
mod h1_response;

use wire::h1::response::DecodeError;

use h1_response::check;

fn seed(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/h1_response/");
    std::fs::read(format!("{folder}{name}")).expect("a seed")
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
