//! Where the checkout is and what is in it: its root, its packages as cargo knows them, its files. It reads and changes
//! nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

/// A package of this workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name, which is its folder's.
    pub(crate) name: String,
    /// `[package.metadata.house] floor`, if it has one.
    pub(crate) floor: Option<u64>,
    /// Packages of this workspace it depends on, tests included.
    pub(crate) dependencies: Vec<Dependency>,
}

/// An arrow between two packages of this workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The package it points to.
    pub(crate) name: String,
    /// `[dev-dependencies]`: tests alone need it.
    pub(crate) dev: bool,
}

/// The checkout's root: the folder above this crate.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map_or_else(|| here.to_path_buf(), Path::to_path_buf)
}

/// The folder cargo builds into.
///
/// # Errors
/// `cargo metadata` failed.
pub(crate) fn target_dir() -> Result<PathBuf> {
    let metadata = metadata()?;
    let dir =
        metadata["target_directory"].as_str().context("cargo metadata: no target_directory")?;
    Ok(PathBuf::from(dir))
}

/// The packages of this workspace.
///
/// # Errors
/// `cargo metadata` failed.
pub(crate) fn packages() -> Result<Vec<Package>> {
    Ok(packages_of(&metadata()?))
}

/// The version of a package of this workspace.
///
/// # Errors
/// `cargo metadata` failed, or there is no such package.
pub(crate) fn version(name: &str) -> Result<String> {
    let metadata = metadata()?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let version = packages.find(|package| package["name"] == name);
    let version = version.and_then(|package| package["version"].as_str());
    Ok(version.with_context(|| format!("no package {name}"))?.to_owned())
}

/// Builds a program of tests of this workspace; returns its path. `target` are the words that choose it.
///
/// # Errors
/// It does not compile, or cargo names no such program.
pub(crate) fn test_program(name: &str, target: &[&str]) -> Result<PathBuf> {
    // As `cargo test --workspace` does, or features and so all crates would differ.
    let words = ["test", "--workspace", "--locked", "--no-run", "--message-format=json"];
    let output = process::command("cargo")
        .args(words)
        .args(target)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .context("starting cargo")?;
    ensure!(output.status.success(), "cargo could not build {name}");
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    executable(&messages, name).with_context(|| format!("cargo names no program {name}"))
}

/// The path of a program of tests in cargo's messages.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

fn metadata() -> Result<Value> {
    let arguments = ["metadata", "--no-deps", "--format-version=1", "--offline"];
    let text = process::capture(&root(), "cargo", &arguments)?;
    serde_json::from_str(&text).context("reading cargo metadata")
}

/// The packages that a `cargo metadata --no-deps` names; arrows to others are left out.
fn packages_of(metadata: &Value) -> Vec<Package> {
    let empty = Vec::new();
    let list = metadata["packages"].as_array().unwrap_or(&empty);
    let names: Vec<&str> = list.iter().filter_map(|package| package["name"].as_str()).collect();
    let dependencies = |package: &Value| -> Vec<Dependency> {
        let all = package["dependencies"].as_array().unwrap_or(&empty);
        let ours =
            all.iter().filter(|one| one["name"].as_str().is_some_and(|n| names.contains(&n)));
        ours.map(|one| Dependency {
            name: one["name"].as_str().unwrap_or_default().to_owned(),
            dev: one["kind"].as_str() == Some("dev"),
        })
        .collect()
    };
    list.iter()
        .map(|package| Package {
            name: package["name"].as_str().unwrap_or_default().to_owned(),
            floor: package["metadata"]["house"]["floor"].as_u64(),
            dependencies: dependencies(package),
        })
        .collect()
}

/// Every file that git has or would add, relative to the root.
///
/// # Errors
/// `git ls-files` failed.
pub(crate) fn committed_files() -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = process::capture(&root(), "git", &arguments)?;
    Ok(list.split_terminator('\0').map(str::to_owned).collect())
}

/// Every file below `dir`, relative to `root`, sorted; folders called `target` or `node_modules` and hidden ones are left
/// out. A folder that is not there has no files.
///
/// # Errors
/// A folder cannot be read.
pub(crate) fn files_below(root: &Path, dir: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![root.join(dir)];
    while let Some(dir) = open.pop() {
        if !dir.is_dir() {
            continue;
        }
        let entries = fs::read_dir(&dir).with_context(|| format!("reading {}", dir.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') || matches!(name.as_str(), "target" | "node_modules") {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_gives_floors_and_arrows_of_this_workspace_alone() {
        let metadata = serde_json::json!({"packages": [
            {"name": "net", "metadata": {"house": {"floor": 2}}, "dependencies": [
                {"name": "stdx", "kind": null}, {"name": "mio", "kind": null}, {"name": "demo", "kind": "dev"}]},
            {"name": "stdx", "metadata": null, "dependencies": []},
            {"name": "demo", "metadata": {}, "dependencies": []},
        ]});
        let packages = packages_of(&metadata);
        assert_eq!(packages[0].floor, Some(2));
        assert_eq!(packages[1].floor, None);
        let arrows: Vec<_> =
            packages[0].dependencies.iter().map(|one| (one.name.as_str(), one.dev)).collect();
        assert_eq!(arrows, [("stdx", false), ("demo", true)]);
    }

    #[test]
    fn a_program_is_found_in_cargos_messages() {
        let messages = "{\"target\":{\"name\":\"x\"},\"executable\":\"/x\"}\nno JSON\n\
                        {\"target\":{\"name\":\"control\"},\"executable\":null}\n\
                        {\"target\":{\"name\":\"control\"},\"executable\":\"/t/control-1\"}";
        assert_eq!(executable(messages, "control"), Some(PathBuf::from("/t/control-1")));
        assert_eq!(executable(messages, "y"), None);
    }

    #[test]
    fn files_below_finds_this_file_and_no_build_output() {
        let files = files_below(&root(), "xtask").unwrap();
        assert!(files.contains(&PathBuf::from("xtask/src/workspace.rs")));
        assert!(files_below(&root(), "no-such-folder").unwrap().is_empty());
    }
}
