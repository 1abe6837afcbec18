//! The fuzz target's seeds as plain tests: each text comes to what is said here, and no damage of one shows a value.

#[path = "../../../fuzz/checks/redaction.rs"]
mod redaction;

use stdx::Prng;

fn seed(name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/redaction/");
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn texts_come_to_what_their_seeds_say() {
    let [url, ..] = redaction::check(&seed("url"));
    assert_eq!(url.as_deref(), Some("http://u:p@h/?token=***&page=2;%74oken=***#token=***"));
    let [_, message, _] = redaction::check(&seed("message"));
    let expect = "Get \"http://h/?token=***\": EOF at http://h/?page=1&token=*** c";
    assert_eq!(message.as_deref(), Some(expect));
    let [.., lines] = redaction::check(&seed("fields"));
    let expect = "HTTP/1.1 302 Found\r\nToken: ***\r\nLocation: /?token=***&page=2\r\ntoken: ***";
    assert_eq!(lines.as_deref(), Some(expect));
    let [.., lines] = redaction::check(&seed("odd_space"));
    assert_eq!(lines.as_deref(), Some("HTTP/1.1 200 OK\r\n\u{b}\ttoken: ***\r\n"));
    assert_eq!(redaction::check(&seed("nothing")), [None, None, None]);
}

#[test]
fn damage_shows_no_value() {
    for name in ["url", "message", "fields"] {
        let bytes = seed(name);
        let mut rng = Prng::new(bytes.len() as u64);
        for _ in 0..10_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] = bytes[rng.below(bytes.len() as u64) as usize];
            }
            redaction::check(&damaged);
        }
    }
}
