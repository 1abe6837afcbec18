//! Whole runs of the engine against servers whose answers are mutated, in the simulated world: the test `mutants` of `engine`,
//! optimised, with as many answers as are wanted.

use std::path::Path;

use anyhow::Result;

use crate::process;

/// Runs `outputs` mutated outputs of each protocol's server, from the world of `seed` on.
///
/// # Errors
/// Something did not hold: the test has printed the seed.
pub(super) fn run(root: &Path, dir: &Path, outputs: u64, seed: u64) -> Result<()> {
    let target_dir = dir.join("mutants").to_string_lossy().into_owned();
    let words = ["test", "--package", "engine", "--test", "mutants", "--release", "--locked"];
    let place = ["--target-dir", &target_dir, "--", "--nocapture"];
    let words = [&words[..], &place[..]].concat();
    let (outputs, seed) = (outputs.to_string(), seed.to_string());
    let variables = [
        // Overflows and `debug_assert!` are faults, as in the targets.
        ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true"),
        ("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true"),
        ("MUTANTS", outputs.as_str()),
        ("MUTANTS_FROM", seed.as_str()),
    ];
    process::stream_with(root, "cargo", &words, &variables)?;
    println!("fuzz: {outputs} mutated outputs of each protocol, no fault");
    Ok(())
}
