//! The fuzz targets' seeds as plain tests: each targets file comes to what its name says.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../fuzz/checks/targets.rs"]
mod targets;

use std::path::PathBuf;

use targets::{Format, check};

fn folder(format: Format) -> PathBuf {
    let name = match format {
        Format::Http => "targets_http",
        Format::Json => "targets_json",
    };
    [env!("CARGO_MANIFEST_DIR"), "../../fuzz/corpus", name].iter().collect()
}

#[test]
fn seeds_come_to_what_they_say() {
    let cases = [
        (Format::Http, "four", 4, 0),
        (Format::Http, "weights", 2, 0),
        (Format::Http, "no_newline", 1, 0),
        (Format::Http, "absent_body", 0, 1),
        (Format::Http, "bad_scheme", 1, 1),
        (Format::Http, "bad_header", 0, 1),
        (Format::Http, "empty", 0, 1),
        (Format::Json, "two", 2, 0),
        (Format::Json, "bad_base64", 0, 1),
        (Format::Json, "no_url", 1, 1),
        (Format::Json, "deep", 0, 1),
        (Format::Json, "nulls", 1, 0),
        (Format::Json, "empty", 0, 1),
    ];
    for (format, name, targets, problems) in cases {
        let bytes = std::fs::read(folder(format).join(name)).expect("a seed");
        let (found, wrong) = check(format, &bytes);
        assert_eq!((found.len(), wrong.len()), (targets, problems), "{format:?} {name}: {wrong:?}");
    }
}

#[test]
fn every_prefix_of_every_seed_is_survived() {
    for format in [Format::Http, Format::Json] {
        let mut seeds = 0;
        for entry in std::fs::read_dir(folder(format)).expect("the corpus") {
            let bytes = std::fs::read(entry.expect("an entry").path()).expect("a seed");
            for len in (0..bytes.len()).take(4096) {
                let (targets, problems) = check(format, &bytes[..len]);
                assert!(targets.len() + problems.len() <= len + 1);
            }
            seeds += 1;
        }
        assert!(seeds >= 6, "{format:?}");
    }
}
