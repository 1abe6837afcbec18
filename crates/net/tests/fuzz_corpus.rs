//! The fuzz target's seeds as a plain test: each message of a name server comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/dns_message.rs"]
mod dns_message;

#[test]
fn messages_come_to_what_their_seeds_say() {
    let cases = [
        ("two_addresses", Some(2)),
        ("v6", Some(1)),
        ("alias", Some(1)),
        ("alias_of_itself", Some(0)),
        ("pointer_to_itself", None),
        ("no_such_host", None),
        ("cut_off", None),
        ("counts_that_lie", None),
        ("length_that_lies", None),
        ("name", None),
    ];
    for (name, addresses) in cases {
        let path = format!("{}/../../fuzz/corpus/dns_message/{name}", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("a seed");
        assert_eq!(dns_message::check(&bytes), addresses, "{name}");
        for len in 0..bytes.len() {
            dns_message::check(&bytes[..len]);
        }
    }
}
