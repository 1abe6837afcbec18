//! AddressSanitizer on stable Rust: the toolchain ships its runtime for Linux and macOS, and the compiler takes the unstable flag
//! where it is allowed to.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::process;

/// The flag of AddressSanitizer.
pub(crate) const ADDRESS: &str = "-Zsanitizer=address";
/// Has the stable compiler take that flag.
pub(crate) const UNSTABLE: (&str, &str) = ("RUSTC_BOOTSTRAP", "1");

/// The triple of this machine.
///
/// # Errors
/// rustc does not name it.
pub(crate) fn host(root: &Path) -> Result<String> {
    let about = process::capture(root, "rustc", &["-vV"])?;
    let line = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("rustc -vV names no host")?.to_owned())
}

/// Whether rustc came with the runtime of AddressSanitizer.
///
/// # Errors
/// rustc does not name the folder of its libraries.
pub(crate) fn has_address_runtime(root: &Path, host: &str) -> Result<bool> {
    let arguments = ["--print", "target-libdir", "--target", host];
    let folder = process::capture(root, "rustc", &arguments)?;
    let mut entries = fs::read_dir(folder.trim()).context("reading rustc's folder of libraries")?;
    Ok(entries.any(|entry| {
        entry.is_ok_and(|entry| is_address_runtime(&entry.file_name().to_string_lossy()))
    }))
}

fn is_address_runtime(name: &str) -> bool {
    name.starts_with("librustc") && name.contains("rt.asan.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_found_by_its_name() {
        let names = ["librustc-stable_rt.asan.a", "librustc-nightly_rt.asan.dylib"];
        assert!(names.into_iter().all(is_address_runtime));
        assert!(!is_address_runtime("librustc-stable_rt.tsan.a"));
        assert!(!is_address_runtime("libstd-1.rlib"));
    }
}
