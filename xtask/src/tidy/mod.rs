//! `tidy`: the house rules that no compiler checks (STYLE.md, ARCHITECTURE.md). It changes nothing. Each rule is a function
//! from text to problems; what the rules let pass stands in `xtask/tidy-allow.txt`, which may only shrink.

mod allow;
mod circles;
mod foreign;
mod functions;
mod imports;
mod links;
mod manifest;
mod modules;
mod named_tests;
mod problem;
mod source;
mod words;
mod writers;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::workspace;

use functions::Lengths;

use problem::Problem;

/// Where Rust sources live.
const SOURCE_DIRS: [&str; 3] = ["crates", "xtask", "fuzz"];

/// Files that must lie at the root.
const ROOT_FILES: [&str; 9] = [
    "LICENSE",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "ARCHITECTURE.md",
    "STYLE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "deny.toml",
];

/// The command.
pub(crate) fn run(_arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    println!("tidy: {}", Lengths::of(&read_sources(&root)?));
    let problems = problems(&root)?;
    for problem in &problems {
        println!("{}:{}: {}: {}", problem.file, problem.line, problem.rule, problem.text);
    }
    if problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("tidy: {} problems", problems.len());
    Ok(ExitCode::FAILURE)
}

/// Every problem of the checkout at `root`.
///
/// # Errors
/// A file cannot be read, or cargo cannot read the workspace.
pub(crate) fn problems(root: &Path) -> Result<Vec<Problem>> {
    let sources = read_sources(root)?;
    let mut found = Vec::new();
    for (path, text) in &sources {
        found.extend(source::check(path, text));
        found.extend(words::check(path, text));
        found.extend(writers::check(path, text));
    }
    found.extend(modules::check(&sources));
    found.extend(circles::check(&sources));
    found.extend(Lengths::of(&sources).check());
    found.extend(foreign::check(root, &workspace::committed_files()?));
    let packages = workspace::packages()?;
    found.extend(manifest::check_floors(&packages));
    found.extend(manifest::check_comments(&read(root, "Cargo.toml")?));
    let names: Vec<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    found.extend(manifest::check_architecture(&read(root, "ARCHITECTURE.md")?));
    found.extend(manifest::check_crates(&read(root, manifest::CRATES)?, &names));
    for file in ROOT_FILES.into_iter().filter(|file| !root.join(file).is_file()) {
        found.push(Problem::new(file, 0, "files", "must lie at the root"));
    }
    for file in markdown_files(root)? {
        let text = read(root, &file)?;
        found.extend(links::check(root, &file, &text));
        found.extend(named_tests::check(&file, &text, &sources));
    }
    let mut left = allow::apply(&read(root, allow::FILE)?, found);
    left.sort();
    Ok(left)
}

/// Every Rust source, by its path relative to `root`.
fn read_sources(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut sources = BTreeMap::new();
    for dir in SOURCE_DIRS {
        for path in workspace::files_below(root, dir)? {
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = read(root, &path)?;
                sources.insert(path.to_string_lossy().into_owned(), text);
            }
        }
    }
    Ok(sources)
}

/// Our own Markdown: at the root, and below the folders that hold some.
fn markdown_files(root: &Path) -> Result<Vec<String>> {
    let mut files: Vec<String> =
        ROOT_FILES.iter().filter(|name| name.ends_with(".md")).map(ToString::to_string).collect();
    for dir in ["docs", "bench", "crates", "examples", "web", "modules", "fuzz"] {
        let below = workspace::files_below(root, dir)?;
        let below = below.iter().map(|path| path.to_string_lossy().into_owned());
        files.extend(below.filter(|name| name.ends_with(".md")));
    }
    Ok(files)
}

/// A file's text; empty where there is no such file; the check of `ROOT_FILES` reports that.
fn read(root: &Path, file: impl Into<PathBuf>) -> Result<String> {
    let path = root.join(file.into());
    if !path.exists() {
        return Ok(String::new());
    }
    fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let problems = problems(&workspace::root()).unwrap();
        let lines: Vec<String> = problems
            .iter()
            .map(|one| format!("{}:{}: {}: {}", one.file, one.line, one.rule, one.text))
            .collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }
}
