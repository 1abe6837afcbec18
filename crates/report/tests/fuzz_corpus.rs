//! The fuzz target's seeds as a plain test: no text of a server leaves its place in a report, whole or cut.

#[path = "../../../fuzz/checks/report_texts.rs"]
mod report_texts;

const SEEDS: [&str; 6] = ["plain", "elements", "escapes", "entity", "json", "table"];

fn seed(name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/report_texts/");
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn texts_stay_in_their_place() {
    for name in SEEDS {
        let bytes = seed(name);
        let whole = report_texts::check(&bytes);
        assert!(whole > 10_000, "{name}: {whole} bytes of reports");
        for len in 0..bytes.len() {
            report_texts::check(&bytes[..len]);
        }
    }
}
