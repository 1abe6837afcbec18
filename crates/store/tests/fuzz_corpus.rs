//! The fuzz targets' seeds as plain tests: each manifest and archive comes to what its name says, and no damage of one is more than an
//! error.

#[path = "../../../fuzz/checks/store_archive.rs"]
mod store_archive;
#[path = "../../../fuzz/checks/store_manifest.rs"]
mod store_manifest;

use stdx::{Prng, mix};

fn seed(target: &str, name: &str) -> Vec<u8> {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");
    std::fs::read(format!("{CORPUS}{target}/{name}")).expect("a seed")
}

#[test]
fn manifests_come_to_what_their_seeds_say() {
    let cases = [
        ("run", Some("home")),
        ("up", None),
        ("hidden", None),
        ("newer", None),
        ("odd_figures", Some("x")),
        ("deep", None),
        ("escapes", Some("\u{1b}[31m")),
    ];
    for (name, expect) in cases {
        let found = store_manifest::check(&seed("store_manifest", name));
        assert_eq!(found.as_deref(), expect, "{name}");
    }
}

#[test]
fn archives_come_to_what_their_seeds_say() {
    let files = store_archive::check(&seed("store_archive", "run")).expect("a run");
    assert_eq!(files, ["manifest.json", "report.txt", "results.arrow"]);
    let refused =
        ["no_manifest", "link", "up", "absolute", "twice", "long_name", "extended", "id_up"];
    for name in refused {
        assert_eq!(store_archive::check(&seed("store_archive", name)), None, "{name}");
    }
    // Whether a file may be cut off is the archive's affair: nothing else is there in any case.
    store_archive::check(&seed("store_archive", "cut_off"));
}

#[test]
fn damage_is_survived() {
    for (target, name) in [("store_archive", "run"), ("store_manifest", "run")] {
        let bytes = seed(target, name);
        let mut rng = Prng::new(bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte))));
        for _ in 0..100 {
            let mut damaged = bytes.clone();
            for _ in 0..=rng.below(4) {
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] = rng.next_u64() as u8;
            }
            // What it comes to is its own affair; the checks hold the rest.
            match target {
                "store_archive" => drop(store_archive::check(&damaged)),
                _ => drop(store_manifest::check(&damaged)),
            }
        }
    }
}
