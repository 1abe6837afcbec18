//! The fuzz targets' seeds as a plain test: each comes to what its name says, and no prefix or damage of one is more than
//! an error or a loss.

#![allow(clippy::disallowed_methods, reason = "a test reads its seeds from files")]

#[path = "../../../../fuzz/checks/results_note.rs"]
mod results_note;
#[path = "../../../../fuzz/checks/results_read.rs"]
mod results_read;
#[path = "../../../../fuzz/checks/results_table.rs"]
mod results_table;

mod deltas;

use std::path::{Path, PathBuf};

use results::{Encoding, InputForm};
use stdx::{Prng, mix};

use results_read::{StreamContent, check};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn seed(name: &str) -> Vec<u8> {
    std::fs::read(corpus().join(name)).expect(name)
}

/// Every seed of the results.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for kind in ["arrow", "parquet", "csv", "json", "gob", "jtl"] {
        let folder = corpus().join(format!("results_{kind}"));
        for entry in std::fs::read_dir(folder).expect("a corpus") {
            let path = entry.expect("an entry").path();
            found.push((path.display().to_string(), std::fs::read(&path).expect("a seed")));
        }
    }
    found
}

#[test]
fn good_seeds_have_their_rows() {
    let cases = [
        ("results_arrow/whole", Encoding::Arrow, 6),
        ("results_parquet/whole", Encoding::Parquet, 6),
        ("results_arrow/server", Encoding::Arrow, 4),
        ("results_parquet/server", Encoding::Parquet, 2),
        ("results_arrow/thresholds", Encoding::Arrow, 10),
        ("results_parquet/thresholds", Encoding::Parquet, 10),
        ("results_gob/vegeta", Encoding::Gob, 6),
        ("results_gob/ours", Encoding::Gob, 6),
        ("results_csv/vegeta", Encoding::Csv, 2),
        ("results_json/vegeta", Encoding::Json, 2),
    ];
    for (name, form, rows) in cases {
        let found = check(&seed(name)).expect(name);
        assert_eq!(found, StreamContent { form: form.into(), rows, losses: 0 }, "{name}");
    }
}

#[test]
fn good_seeds_of_jmeter_have_their_requests() {
    for (name, form, rows) in [("default", InputForm::Jtl, 4), ("xml", InputForm::JtlXml, 3)] {
        let found = check(&seed(&format!("results_jtl/{name}"))).expect(name);
        assert_eq!(found, StreamContent { form, rows, losses: 0 }, "{name}");
    }
}

#[test]
fn cut_seeds_keep_earlier_rows_and_report_the_cut() {
    let gob = check(&seed("results_gob/cut_off")).expect("what came before");
    assert!(gob.rows > 0 && gob.losses == 1, "{gob:?}");
    let arrow = check(&seed("results_arrow/cut_off")).expect("what came before");
    assert!(arrow.losses == 1, "{arrow:?}");
    assert!(check(&seed("results_parquet/cut_off")).is_err(), "its index is at its end");
    assert!(check(&seed("results_parquet/long_lists")).is_err(), "billions of items");
}

#[test]
fn every_prefix_of_every_seed_is_survived() {
    let seeds = seeds();
    assert!(seeds.len() >= 13, "{}", seeds.len());
    for (name, bytes) in seeds {
        let whole = check(&bytes).map_or(usize::MAX, |found| found.rows);
        for len in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
            if let Ok(found) = check(&bytes[..len]) {
                assert!(found.rows <= whole, "{name}, {len} bytes");
            }
        }
    }
}

#[test]
fn damage_is_survived() {
    for (_, bytes) in seeds() {
        let mut rng = Prng::new(bytes.iter().fold(0, |seed, byte| mix(seed, u64::from(*byte))));
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            for _ in 0..=rng.below(8) {
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] = rng.next_u64() as u8;
            }
            // Whether it still reads is its own affair; that reading ends without a panic is ours.
            check(&damaged).ok();
        }
    }
}

#[test]
fn tables_come_to_what_their_seeds_say() {
    // Times, rows without one, and whether the first line is a generator's record.
    let cases = [
        ("seconds", Some((2, 0, false))),
        ("tabs", Some((1, 0, false))),
        ("quotes", Some((2, 0, false))),
        ("no_column", None),
        ("odd_numbers", Some((2, 4, false))),
        ("record", Some((0, 0, true))),
        ("record_of_huge_counts", None),
    ];
    for (name, expect) in cases {
        let bytes = std::fs::read(corpus().join("results_table").join(name)).expect("a seed");
        let totals = results_table::check(&bytes);
        let found = totals.map(|totals| (totals.times, totals.skipped, totals.is_record));
        assert_eq!(found, expect, "{name}");
    }
}

#[test]
fn notes_come_to_what_their_seeds_say() {
    let cases = [
        ("threshold", Some("Threshold")),
        ("check", Some("Check")),
        ("gate", Some("Gate")),
        ("metric", Some("Metric")),
        ("agent", Some("Agent")),
        ("event", Some("Event")),
        ("odd_types", Some("Agent")),
        ("no_object", None),
    ];
    for (name, expect) in cases {
        let bytes = std::fs::read(corpus().join("results_note").join(name)).expect("a seed");
        assert_eq!(results_note::check(&bytes).as_deref(), expect, "{name}");
    }
}
