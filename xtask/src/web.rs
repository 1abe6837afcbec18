//! `web`: builds `web/` with Node and copies the bundle into `crates/report/assets/`, beside a list of the hashes of every
//! source and every file of the bundle. `--check` compares that list with the tree, which needs no Node; where Node and its
//! modules are there, it builds again and compares that too. `cargo build` itself never needs Node.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// Sources, package.json and the lock file.
const SOURCES: &str = "web";
/// Where `npm run build` leaves the bundle.
const BUILT: &str = "web/dist";
/// Where the bundle is committed.
const ASSETS: &str = "crates/report/assets";
/// The list of hashes, in [`ASSETS`].
const LIST: &str = "web.hashes";

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    if arguments.iter().any(|argument| argument == "--check") {
        return check(&root);
    }
    build(&root)?;
    for (name, text) in built_files(&root)? {
        let path = root.join(ASSETS).join(&name);
        fs::create_dir_all(root.join(ASSETS))?;
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let names: Vec<String> = built_files(&root)?.into_keys().collect();
    fs::write(root.join(ASSETS).join(LIST), hashes(&root, &names)?)?;
    println!("web: {} -> {ASSETS}", names.join(", "));
    Ok(ExitCode::SUCCESS)
}

fn check(root: &Path) -> Result<ExitCode> {
    if !root.join(SOURCES).join("package.json").is_file() {
        bail!("there is no {SOURCES}/package.json");
    }
    let list = root.join(ASSETS).join(LIST);
    let recorded = fs::read_to_string(&list)
        .with_context(|| format!("reading {}; run `cargo xtask web`", list.display()))?;
    let names: Vec<String> = assets_named(&recorded);
    if recorded != hashes(root, &names)? {
        bail!(
            "{SOURCES}/ or the bundle in {ASSETS}/ changed since the bundle was built; run `cargo xtask web`"
        );
    }
    if process::find("npm").is_none() {
        println!("web: hashes agree; no npm here, so nothing was built");
        return Ok(ExitCode::SUCCESS);
    }
    build(root)?;
    for (name, text) in built_files(root)? {
        if fs::read(root.join(ASSETS).join(&name)).ok().as_deref() != Some(&text) {
            bail!("a fresh build of {name} differs from {ASSETS}/{name}; run `cargo xtask web`");
        }
    }
    println!("web: hashes agree, and so does a fresh build");
    Ok(ExitCode::SUCCESS)
}

fn build(root: &Path) -> Result<()> {
    let dir = root.join(SOURCES);
    process::stream(&dir, "npm", &["ci", "--no-audit", "--no-fund", "--loglevel=error"])?;
    process::stream(&dir, "npm", &["run", "--silent", "build"])
}

/// The files of the fresh bundle by name.
fn built_files(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for path in workspace::files_below(root, BUILT)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.insert(name, fs::read(root.join(&path))?);
    }
    if files.is_empty() {
        bail!("`npm run build` left nothing in {BUILT}");
    }
    Ok(files)
}

/// The list as it should be now: `HASH PATH` a line, for every source and for these files of the bundle.
fn hashes(root: &Path, assets: &[String]) -> Result<String> {
    let sources = workspace::files_below(root, SOURCES)?
        .into_iter()
        .filter(|path| !path.starts_with(BUILT))
        .map(|path| path.to_string_lossy().into_owned());
    let assets = assets.iter().map(|name| format!("{ASSETS}/{name}"));
    let mut list = String::new();
    for path in sources.chain(assets) {
        let bytes = fs::read(root.join(&path)).with_context(|| format!("reading {path}"))?;
        writeln!(list, "{:016x} {path}", fnv1a(&bytes))?;
    }
    Ok(list)
}

/// The names of the bundle's files in a recorded list.
fn assets_named(list: &str) -> Vec<String> {
    list.lines()
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(_, path)| path.strip_prefix(ASSETS)?.strip_prefix('/'))
        .map(str::to_owned)
        .collect()
}

/// FNV-1a, 64 bits: it guards against forgetting, not against an attacker.
/// `hash = (hash xor byte) × prime`, from the offset basis on (Fowler, Noll, Vo).
fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(OFFSET_BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_list_names_its_bundle() {
        let list = "00 web/src/main.ts\n01 crates/report/assets/report.js\n";
        assert_eq!(assets_named(list), ["report.js"]);
    }
}
