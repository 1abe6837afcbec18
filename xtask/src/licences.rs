//! Licences and sources of the dependencies without cargo-deny: each crate comes from the public registry, under a licence that
//! `deny.toml` allows. It looks at what is compiled for this machine. Expressions of SPDX are evaluated: one side of an `OR` is
//! enough, both of an `AND` are needed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{npm, process, sanitizer};

/// Where every crate comes from, as cargo writes it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What is wrong with the dependencies, one sentence each.
///
/// # Errors
/// `deny.toml` or the dependencies cannot be read.
pub(crate) fn problems(root: &Path) -> Result<Vec<String>> {
    let config = fs::read_to_string(root.join("deny.toml")).context("reading deny.toml")?;
    let allowed = list(&config, "allow")?;
    // Of other machines' dependencies nothing may be there without the network.
    let host = sanitizer::host(root)?;
    let arguments = ["metadata", "--format-version=1", "--locked", "--filter-platform", &host];
    let metadata = process::capture(root, "cargo", &arguments)?;
    let metadata: Value = serde_json::from_str(&metadata).context("reading cargo metadata")?;
    let allowed = allowed.into_iter().collect();
    let mut problems = problems_of(&metadata, &allowed)?;
    problems.extend(problems_of_npm(&npm::packages(root)?, &allowed));
    Ok(problems)
}

fn problems_of_npm(packages: &[npm::Package], allowed: &BTreeSet<String>) -> Vec<String> {
    let mut problems = Vec::new();
    for package in packages {
        let name = format!("{} {} of npm", package.name, package.version);
        if !package.source.starts_with(npm::REGISTRY) {
            problems.push(format!("{name} is from {}", package.source));
        }
        if !is_allowed(&package.licence, allowed) {
            let licence = &package.licence;
            problems.push(format!("{name} is under {licence}, which deny.toml does not allow"));
        }
    }
    problems
}

/// The texts of the list under a key of `deny.toml`, which is written with one list of this name.
fn list(config: &str, key: &str) -> Result<Vec<String>> {
    let start = format!("\n{key} = [");
    let (_, rest) = config.split_once(&start).with_context(|| format!("deny.toml: no {key}"))?;
    let (inside, _) = rest.split_once(']').with_context(|| format!("deny.toml: {key} is open"))?;
    let texts: Vec<String> = inside.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    ensure!(!texts.is_empty(), "deny.toml: {key} is empty");
    Ok(texts)
}

fn problems_of(metadata: &Value, allowed: &BTreeSet<String>) -> Result<Vec<String>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo metadata: no graph")?;
    let used: BTreeSet<&str> = nodes.iter().filter_map(|node| node["id"].as_str()).collect();
    let packages = metadata["packages"].as_array().context("cargo metadata: no packages")?;
    let mut problems = Vec::new();
    let is_used =
        |package: &&Value| package["id"].as_str().is_some_and(|package| used.contains(package));
    for package in packages.iter().filter(is_used) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        // What lies in this checkout has no source.
        if package["source"].is_string() && text("source") != REGISTRY {
            problems.push(format!("{name} is from {}", text("source")));
        }
        match package["license"].as_str() {
            None => problems.push(format!("{name} names no licence")),
            Some(licence) if !is_allowed(licence, allowed) => {
                problems.push(format!("{name} is under {licence}, which deny.toml does not allow"));
            }
            Some(_) => {}
        }
    }
    Ok(problems)
}

/// Whether an expression of SPDX can be kept by licences that are allowed. What cannot be read is not allowed.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // Cargo once allowed a slash where SPDX has OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, allowed) == Some(true) && rest.is_empty()
}

/// Terms with `OR` between them; `None` where there is no such thing.
fn any(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut holds = all(rest, allowed)?;
    while let Some((&"OR", after)) = rest.split_first() {
        *rest = after;
        holds |= all(rest, allowed)?;
    }
    Some(holds)
}

/// Licences with `AND` between them.
fn all(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let mut holds = one(rest, allowed)?;
    while let Some((&"AND", after)) = rest.split_first() {
        *rest = after;
        holds &= one(rest, allowed)?;
    }
    Some(holds)
}

/// One licence, with its exception, or an expression in brackets.
fn one(rest: &mut &[&str], allowed: &BTreeSet<String>) -> Option<bool> {
    let (word, after) = rest.split_first()?;
    *rest = after;
    if *word == "(" {
        let holds = any(rest, allowed)?;
        let (close, after) = rest.split_first()?;
        *rest = after;
        return (*close == ")").then_some(holds);
    }
    let is_licence = !matches!(*word, ")" | "OR" | "AND" | "WITH");
    let mut name = is_licence.then(|| (*word).to_owned())?;
    if let Some((&"WITH", after)) = rest.split_first() {
        let (exception, after) = after.split_first()?;
        name = format!("{name} WITH {exception}");
        *rest = after;
    }
    Some(allowed.contains(&name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn allowed() -> BTreeSet<String> {
        ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Zlib"].map(str::to_owned).into()
    }

    #[test]
    fn expressions_are_evaluated() {
        for (expression, expect) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("(GPL-3.0 OR MIT) AND Zlib", true),
            ("GPL-3.0 OR (MIT AND Zlib)", true),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
            ("MIT WITH LLVM-exception", false),
            ("GPL-3.0", false),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("MIT)", false),
            ("WITH", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed()), expect, "{expression}");
        }
    }

    #[test]
    fn foreign_sources_and_licences_are_named() {
        let package = |name: &str, source: Value, licence: Value| json!({ "id": name, "name": name, "version": "1.0.0", "source": source, "license": licence });
        let metadata = json!({
            "packages": [
                package("ours", Value::Null, "MIT".into()),
                package("good", REGISTRY.into(), "MIT/Apache-2.0".into()),
                package("git", "git+https://example.com/x".into(), "MIT".into()),
                package("strict", REGISTRY.into(), "GPL-3.0".into()),
                package("silent", REGISTRY.into(), Value::Null),
                package("unused", "git+https://example.com/y".into(), Value::Null),
            ],
            "resolve": { "nodes": [
                { "id": "ours" }, { "id": "good" }, { "id": "git" }, { "id": "strict" }, { "id": "silent" },
            ] },
        });
        assert_eq!(
            problems_of(&metadata, &allowed()).unwrap(),
            [
                "git 1.0.0 is from git+https://example.com/x",
                "strict 1.0.0 is under GPL-3.0, which deny.toml does not allow",
                "silent 1.0.0 names no licence",
            ]
        );
    }

    #[test]
    fn licences_of_npm_are_looked_at() {
        let package = |name: &str, licence: &str, source: &str| npm::Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.to_owned(),
            source: source.to_owned(),
        };
        let packages = [
            package("good", "MIT", npm::REGISTRY),
            package("strict", "GPL-3.0", npm::REGISTRY),
            package("git", "MIT", "git+ssh://example.com/x"),
        ];
        let expect = [
            "strict 1.0.0 of npm is under GPL-3.0, which deny.toml does not allow",
            "git 1.0.0 of npm is from git+ssh://example.com/x",
        ];
        assert_eq!(problems_of_npm(&packages, &allowed()), expect);
    }

    #[test]
    fn the_lists_of_deny_toml_are_read() {
        let config = fs::read_to_string(crate::workspace::root().join("deny.toml")).unwrap();
        let allowed = list(&config, "allow").unwrap();
        assert!(allowed.contains(&"Apache-2.0 WITH LLVM-exception".to_owned()), "{allowed:?}");
        assert_eq!(list(&config, "targets").unwrap().len(), 4);
        assert!(list(&config, "nothing").is_err());
    }
}
