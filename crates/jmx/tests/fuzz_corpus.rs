//! The fuzz target's seeds as a plain test: each plan comes to what its name says, and no prefix of one is more than an error.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/jmx_plan.rs"]
mod jmx_plan;

fn seed(name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/jmx/");
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn plans_come_to_what_their_seeds_say() {
    assert_eq!(jmx_plan::check(&seed("shop")), Some((11, 0)));
    assert_eq!(jmx_plan::check(&seed("entities")), None, "no document types");
}

#[test]
fn every_prefix_is_survived() {
    let bytes = seed("shop");
    // As for JMeter, a plan ends with the tree in its root: what follows is not read.
    let end = b"</hashTree>";
    let last = bytes.windows(end.len()).rposition(|part| part == end).expect("a tree");
    for len in (0..bytes.len()).step_by(37) {
        let expect = (len >= last + end.len()).then_some((11, 0));
        assert_eq!(jmx_plan::check(&bytes[..len]), expect, "{len} bytes");
    }
}
