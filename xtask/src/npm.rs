//! The packages of npm that the program holds: those that `modules/package-lock.json` has and that are not for building alone.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// A package.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Its licence as an expression of SPDX; empty where it names none.
    pub(crate) licence: String,
    /// Where it comes from.
    pub(crate) source: String,
}

/// The lock file.
const LOCK: &str = "modules/package-lock.json";
/// Where every package comes from.
pub(crate) const REGISTRY: &str = "https://registry.npmjs.org/";

/// Licences of packages whose `package.json` has an older form that npm's lock file leaves out.
const OLD_FORM: [(&str, &str); 3] =
    [("esprima 1.2.2", "BSD-2-Clause"), ("prelude-ls 1.1.2", "MIT"), ("underscore 1.7.0", "MIT")];

/// All packages, by name and version.
///
/// # Errors
/// The lock file cannot be read.
pub(crate) fn packages(root: &Path) -> Result<Vec<Package>> {
    let text = fs::read_to_string(root.join(LOCK)).with_context(|| format!("reading {LOCK}"))?;
    let lock: Value = serde_json::from_str(&text).with_context(|| format!("reading {LOCK}"))?;
    let all = lock["packages"].as_object().with_context(|| format!("{LOCK}: no packages"))?;
    let shipped = all.iter().filter(|(path, of)| !path.is_empty() && of["dev"] != true);
    let mut packages: Vec<Package> = shipped.map(|(path, of)| package(path, of)).collect();
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    packages.dedup();
    Ok(packages)
}

fn package(path: &str, of: &Value) -> Package {
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    // An alias has the package's own name beside it.
    let last = path.rsplit("node_modules/").next().unwrap_or_default();
    let name = of["name"].as_str().unwrap_or(last).to_owned();
    let full = format!("{name} {}", text("version"));
    let old = OLD_FORM.iter().find(|(known, _)| *known == full);
    let licence = old.map_or_else(|| text("license"), |(_, licence)| (*licence).to_owned());
    // npm may leave out what comes from the registry, and nothing else.
    let source = of["resolved"].as_str().unwrap_or(REGISTRY).to_owned();
    Package { name, version: text("version"), licence, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn packages_have_a_licence_and_come_from_the_registry() {
        let packages = packages(&workspace::root()).unwrap();
        for package in &packages {
            assert!(!package.licence.is_empty(), "{package:?}");
            assert!(package.source.starts_with(REGISTRY), "{package:?}");
        }
        let versions = |name: &str| -> Vec<&str> {
            let of_it = packages.iter().filter(|package| package.name == name);
            of_it.map(|package| package.version.as_str()).collect()
        };
        assert_eq!(versions("chai"), ["4.3.4", "4.5.0"]);
        assert!(versions("esbuild").is_empty(), "it is for building alone");
    }
}
