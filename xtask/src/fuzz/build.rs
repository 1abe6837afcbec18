//! The programs of the targets: `fuzz/Cargo.toml` compiled with what libFuzzer needs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process;
use crate::sanitizer::{ADDRESS, UNSTABLE, has_address_runtime, host};

/// What finds bad memory accesses in the targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sanitizer {
    /// AddressSanitizer, for which stable Rust has the runtime and an unstable flag.
    Address,
    /// None: about twice as fast.
    None,
}

/// The compiled targets.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    folder: PathBuf,
    /// What they were compiled with.
    pub(super) sanitizer: Sanitizer,
}

/// Coverage as libFuzzer wants it; the flags are those of cargo-fuzz. Overflows and `debug_assert!` are faults.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg=fuzzing -Cdebug-assertions -Ccodegen-units=1";
impl Programs {
    /// The program of a target.
    pub(super) fn path(&self, target: &str) -> PathBuf {
        self.folder.join(target)
    }
}

/// Compiles all targets, with the sanitizer if rustc has its runtime.
///
/// # Errors
/// They do not compile.
pub(super) fn build(root: &Path, dir: &Path, sanitizer: Sanitizer) -> Result<Programs> {
    let host = host(root)?;
    let sanitizer = if has_address_runtime(root, &host)? { sanitizer } else { Sanitizer::None };
    let target_dir = dir.join(match sanitizer {
        Sanitizer::Address => "address",
        Sanitizer::None => "plain",
    });
    share_lock(root)?;
    let target_text = target_dir.to_string_lossy();
    let arguments = ["build", "--release", "--target", &host, "--target-dir", &target_text];
    let flags = match sanitizer {
        Sanitizer::Address => format!("{ADDRESS} {COVERAGE}"),
        Sanitizer::None => COVERAGE.to_owned(),
    };
    let mut variables = vec![("RUSTFLAGS", flags.as_str())];
    variables.extend((sanitizer == Sanitizer::Address).then_some(UNSTABLE));
    process::stream_with(&root.join("fuzz"), "cargo", &arguments, &variables)?;
    Ok(Programs { folder: target_dir.join(&host).join("release"), sanitizer })
}

/// Has the targets use the versions that are shipped: their lock begins as the workspace's, and cargo adds the fuzzer to it.
fn share_lock(root: &Path) -> Result<()> {
    let (ours, theirs) = (root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"));
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    if time(&theirs).is_none_or(|theirs| Some(theirs) < time(&ours)) {
        fs::copy(&ours, &theirs).context("copying Cargo.lock to fuzz/")?;
    }
    Ok(())
}
