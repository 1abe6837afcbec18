//! `web`: builds the reports' charts with Node, into `crates/report/assets/`. `npm run build` writes the bundle and beside it
//! `SOURCES.sha256`, a hash for each source. `--check` compares those hashes with the tree, which needs no Node; where npm
//! is there, it builds again and compares the bundle too. `cargo build` itself never needs Node. See `web/README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// The sources' folder.
const SOURCES: &str = "web";
/// Where the bundle is committed.
const ASSETS: &str = "crates/report/assets";
/// What the build writes there.
const BUILT: [&str; 5] = ["chart.js", "chart.css", "live.js", "live.css", "SOURCES.sha256"];
/// Files of [`SOURCES`] beside `src/` that the bundle depends on.
const SETTINGS: [&str; 4] = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    if arguments.iter().any(|argument| argument == "--check") {
        return check(&root);
    }
    install(&root)?;
    build(&root)?;
    println!("web: built {} in {ASSETS}", BUILT.join(", "));
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> Result<ExitCode> {
    let recorded = committed(root)?.pop().context("the list of hashes")?;
    if recorded != hashes(root)?.into_bytes() {
        bail!("{SOURCES}/ changed since the bundle was built; run `cargo xtask web`");
    }
    if process::find("npm").is_none() {
        println!("web: hashes agree; no npm here, so the bundle was not built again");
        return Ok(ExitCode::SUCCESS);
    }
    // Without a network the packages cannot be had; the hashes are what must agree.
    if let Err(error) = install(root) {
        println!("web: hashes agree; the bundle was not built again: {error:#}");
        return Ok(ExitCode::SUCCESS);
    }
    compare_fresh_build(root)
}

/// Builds again and compares; what was committed is put back where the two differ.
fn compare_fresh_build(root: &Path) -> Result<ExitCode> {
    let before = committed(root)?;
    let built = build(root);
    let after = committed(root);
    let differ: Vec<&str> = match &after {
        Ok(after) => {
            let pairs = BUILT.iter().zip(before.iter().zip(after));
            pairs.filter(|(_, (old, new))| old != new).map(|(name, _)| *name).collect()
        }
        Err(_) => BUILT.to_vec(),
    };
    for (path, old) in paths(root).iter().zip(&before) {
        fs::write(path, old).with_context(|| format!("writing {}", path.display()))?;
    }
    built?;
    if !differ.is_empty() {
        bail!(
            "a fresh build of {} differs from {ASSETS}/; run `cargo xtask web`",
            differ.join(", ")
        );
    }
    println!("web: hashes agree, and so does a fresh build");
    Ok(ExitCode::SUCCESS)
}

fn install(root: &Path) -> Result<()> {
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    process::stream(&root.join(SOURCES), "npm", &arguments)
}

fn build(root: &Path) -> Result<()> {
    process::stream(&root.join(SOURCES), "npm", &["run", "--silent", "build"])
}

fn paths(root: &Path) -> [PathBuf; 5] {
    BUILT.map(|name| root.join(ASSETS).join(name))
}

/// The files of the bundle as they are, in the order of [`BUILT`].
fn committed(root: &Path) -> Result<Vec<Vec<u8>>> {
    let read = |path: &PathBuf| {
        fs::read(path).with_context(|| format!("reading {}; run `cargo xtask web`", path.display()))
    };
    paths(root).iter().map(read).collect()
}

/// The list as it should be now: `sha256  path` for each source, sorted by path.
fn hashes(root: &Path) -> Result<String> {
    let mut files: Vec<String> = SETTINGS.iter().map(|name| format!("{SOURCES}/{name}")).collect();
    let sources = workspace::files_below(root, &format!("{SOURCES}/src"))?;
    files.extend(sources.iter().map(|path| path.to_string_lossy().into_owned()));
    files.sort();
    // Linux has the one, macOS the other; they print alike.
    let (program, mut arguments) = match process::find("sha256sum") {
        Some(_) => ("sha256sum", vec![]),
        None => ("shasum", vec!["-a", "256"]),
    };
    arguments.extend(files.iter().map(String::as_str));
    process::capture(root, program, &arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_hash_for_each_source() {
        let list = hashes(&workspace::root()).unwrap();
        let well_formed = |line: &str| {
            line.split_once("  web/")
                .is_some_and(|(hash, path)| hash.len() == 64 && !path.is_empty())
        };
        assert!(list.lines().all(well_formed), "{list}");
        assert!(list.lines().count() > SETTINGS.len(), "{list}");
    }

    #[test]
    fn the_committed_bundle_is_of_these_sources() {
        let root = workspace::root();
        let recorded = committed(&root).unwrap().pop().unwrap();
        assert_eq!(String::from_utf8(recorded).unwrap(), hashes(&root).unwrap());
    }
}
