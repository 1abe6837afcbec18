//! The fuzz target's seeds as a plain test: each file of a study comes to what its name says, and so does every prefix of it.

#[path = "../../../fuzz/checks/study_file.rs"]
mod study_file;

const SEEDS: [&str; 6] = ["template", "small", "empty", "no_toml", "deep", "odd_values"];

fn seed(name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/study_file/");
    std::fs::read(format!("{CORPUS}{name}")).expect("a seed")
}

#[test]
fn files_come_to_what_their_seeds_say() {
    for name in SEEDS {
        let problems = study_file::check(&seed(name)).expect("UTF-8");
        let is_sound = matches!(name, "template" | "small");
        assert_eq!(problems == 0, is_sound, "{name}: {problems} problems");
    }
}

#[test]
fn every_prefix_is_survived() {
    for name in SEEDS {
        let bytes = seed(name);
        for len in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
            study_file::check(&bytes[..len]);
        }
    }
}
