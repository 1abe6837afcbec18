//! The fuzz target's seeds as a plain test: each input comes to requests as its name says, and no prefix of it to a script that breaks.

#[path = "../../../fuzz/checks/import_script.rs"]
mod import_script;

/// The seeds, and whether a request comes of each.
const SEEDS: [(&str, bool); 7] = [
    ("har", true),
    ("cut_har", true),
    ("curl", true),
    ("openapi", true),
    ("postman", true),
    ("http", true),
    ("empty", false),
];

fn seed(name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/import_script/");
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn inputs_come_to_what_their_seeds_say() {
    for (name, has_requests) in SEEDS {
        let count = import_script::check(&seed(name)).expect("UTF-8");
        assert_eq!(count > 0, has_requests, "{name}: {count}");
    }
}

#[test]
fn every_prefix_is_survived() {
    for (name, _) in SEEDS {
        let bytes = seed(name);
        for len in (0..bytes.len()).step_by(bytes.len() / 60 + 1) {
            import_script::check(&bytes[..len]);
        }
    }
}
