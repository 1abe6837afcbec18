//! `msrv`: whether the workspace builds with the oldest Rust version it promises (`rust-version` in `Cargo.toml`), and whether
//! its dependencies promise that too.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{process, workspace};

/// The command.
pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).context("reading Cargo.toml")?;
    let minimum = minimum(&manifest).context("Cargo.toml: no rust-version")?;
    let newer = newer_dependencies(&dependencies()?, minimum);
    for dependency in &newer {
        println!("msrv: {dependency}; the workspace promises {minimum}");
    }
    let rustc = process::capture(&root, "rustc", &["--version"])?;
    if parts(rustc.split(' ').nth(1).unwrap_or_default())[..2] == parts(minimum)[..2] {
        println!("msrv: the compiler in use is {minimum}: every build is the check");
    } else {
        check_with(minimum)?;
    }
    Ok(if newer.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Checks the workspace with that version of Rust.
fn check_with(minimum: &str) -> Result<()> {
    let root = workspace::root();
    let toolchain = format!("+{minimum}");
    if process::capture(&root, "cargo", &[&toolchain, "--version"]).is_err() {
        bail!(
            "Rust {minimum} is not installed; rustup toolchain install --profile minimal {minimum}"
        );
    }
    let target = workspace::target_dir()?.join("msrv").to_string_lossy().into_owned();
    let arguments =
        [&toolchain, "check", "--workspace", "--all-targets", "--locked", "--target-dir", &target];
    process::stream(&root, "cargo", &arguments)
}

/// The value of `rust-version` in a manifest.
fn minimum(manifest: &str) -> Option<&str> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "))?;
    Some(value.trim_matches('"'))
}

/// What cargo knows about the packages that this machine's platform needs.
fn dependencies() -> Result<Value> {
    let root = workspace::root();
    let about = process::capture(&root, "rustc", &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc -vV")?;
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", host];
    let text = process::capture(&root, "cargo", &arguments)?;
    serde_json::from_str(&text).context("reading cargo metadata")
}

/// The packages that need a newer Rust version than `minimum`.
fn newer_dependencies(metadata: &Value, minimum: &str) -> Vec<String> {
    let empty = Vec::new();
    let packages = metadata["packages"].as_array().unwrap_or(&empty);
    let newer = packages.iter().filter_map(|package| {
        let needs = package["rust_version"].as_str()?;
        let name = package["name"].as_str()?;
        (parts(needs) > parts(minimum)).then(|| format!("{name} needs Rust {needs}"))
    });
    newer.collect()
}

/// The three numbers of a version; what is missing is 0.
fn parts(version: &str) -> [u64; 3] {
    let mut numbers = version.split(['.', '-']).map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(parts("1.100") > parts("1.95.2"));
        assert_eq!(parts("1.97.0-nightly"), [1, 97, 0]);
        assert_eq!(minimum("[workspace.package]\nrust-version = \"1.95\"\n"), Some("1.95"));
        assert_eq!(minimum("[package]\n"), None);
    }

    #[test]
    fn dependencies_that_need_more_are_named() {
        let metadata = serde_json::json!({"packages": [
            {"name": "old", "rust_version": "1.60"}, {"name": "none", "rust_version": null},
            {"name": "new", "rust_version": "1.96.1"}, {"name": "same", "rust_version": "1.95.0"},
        ]});
        assert_eq!(newer_dependencies(&metadata, "1.95"), ["new needs Rust 1.96.1"]);
    }
}
