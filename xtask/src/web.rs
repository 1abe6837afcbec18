//! `web`: builds the bundles that are committed, with Node: the reports' charts from `web/` into `crates/report/assets/`, and the
//! packages of npm that scripts import by address, from `modules/` into `crates/script/assets/`. `npm run build` writes a bundle and
//! beside it `SOURCES.sha256`, a hash for each source. `--check` compares those hashes with the tree, which needs no Node; where npm
//! is there, it builds again and compares the bundles too. `cargo build` itself never needs Node. See the folders' `README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, workspace};

/// A bundle that is committed.
struct Bundle {
    /// The sources' folder.
    sources: &'static str,
    /// Files of it beside `src/` that the bundle depends on.
    settings: &'static [&'static str],
    /// Where the bundle is committed.
    assets: &'static str,
    /// What the build writes there, the list of hashes last.
    built: &'static [&'static str],
}

const BUNDLES: [Bundle; 2] = [
    Bundle {
        sources: "web",
        settings: &["build.mjs", "package-lock.json", "package.json", "tsconfig.json"],
        assets: "crates/report/assets",
        built: &["chart.js", "chart.css", "live.js", "live.css", "SOURCES.sha256"],
    },
    Bundle {
        sources: "modules",
        settings: &["build.mjs", "package-lock.json", "package.json"],
        assets: "crates/script/assets",
        built: &[
            "ajv.js.b64",
            "chai-4.3.js.b64",
            "chai-4.5.js.b64",
            "form-urlencoded.js.b64",
            "jsonpath.js.b64",
            "papaparse.js.b64",
            "SOURCES.sha256",
        ],
    },
];

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    let is_check = arguments.iter().any(|argument| argument == "--check");
    for bundle in &BUNDLES {
        if is_check {
            bundle.check(&root)?;
            continue;
        }
        bundle.install(&root)?;
        bundle.build(&root)?;
        println!("web: built {} in {}", bundle.built.join(", "), bundle.assets);
    }
    Ok(ExitCode::SUCCESS)
}

impl Bundle {
    fn check(&self, root: &Path) -> Result<()> {
        let name = self.sources;
        let recorded = self.committed(root)?.pop().context("the list of hashes")?;
        if recorded != self.hashes(root)?.into_bytes() {
            bail!("{name}/ changed since the bundle was built; run `cargo xtask web`");
        }
        if process::find("npm").is_none() {
            println!("web: hashes of {name}/ agree; no npm here, so it was not built again");
            return Ok(());
        }
        // Without a network the packages cannot be had; the hashes are what must agree.
        if let Err(error) = self.install(root) {
            println!("web: hashes of {name}/ agree; it was not built again: {error:#}");
            return Ok(());
        }
        self.compare_fresh_build(root)
    }

    /// Builds again and compares; what was committed is put back where the two differ.
    fn compare_fresh_build(&self, root: &Path) -> Result<()> {
        let before = self.committed(root)?;
        let built = self.build(root);
        let after = self.committed(root);
        let differ: Vec<&str> = match &after {
            Ok(after) => {
                let pairs = self.built.iter().zip(before.iter().zip(after));
                pairs.filter(|(_, (old, new))| old != new).map(|(name, _)| *name).collect()
            }
            Err(_) => self.built.to_vec(),
        };
        for (path, old) in self.paths(root).iter().zip(&before) {
            fs::write(path, old).with_context(|| format!("writing {}", path.display()))?;
        }
        built?;
        if !differ.is_empty() {
            bail!(
                "a fresh build of {} differs from {}/; run `cargo xtask web`",
                differ.join(", "),
                self.assets
            );
        }
        println!("web: hashes of {}/ agree, and so does a fresh build", self.sources);
        Ok(())
    }

    fn install(&self, root: &Path) -> Result<()> {
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        process::stream(&root.join(self.sources), "npm", &arguments)
    }

    fn build(&self, root: &Path) -> Result<()> {
        process::stream(&root.join(self.sources), "npm", &["run", "--silent", "build"])
    }

    fn paths(&self, root: &Path) -> Vec<PathBuf> {
        self.built.iter().map(|name| root.join(self.assets).join(name)).collect()
    }

    /// The files of the bundle as they are, in the order of `built`.
    fn committed(&self, root: &Path) -> Result<Vec<Vec<u8>>> {
        let read = |path: &PathBuf| {
            fs::read(path)
                .with_context(|| format!("reading {}; run `cargo xtask web`", path.display()))
        };
        self.paths(root).iter().map(read).collect()
    }

    /// The list as it should be now: `sha256  path` for each source, sorted by path.
    fn hashes(&self, root: &Path) -> Result<String> {
        let folder = self.sources;
        let mut files: Vec<String> =
            self.settings.iter().map(|name| format!("{folder}/{name}")).collect();
        let sources = workspace::files_below(root, &format!("{folder}/src"))?;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_hash_for_each_source() {
        for bundle in &BUNDLES {
            let list = bundle.hashes(&workspace::root()).unwrap();
            let well_formed = |line: &str| {
                line.split_once(&format!("  {}/", bundle.sources))
                    .is_some_and(|(hash, path)| hash.len() == 64 && !path.is_empty())
            };
            assert!(list.lines().all(well_formed), "{list}");
            assert!(list.lines().count() >= bundle.settings.len(), "{list}");
        }
    }

    #[test]
    fn the_committed_bundles_are_of_these_sources() {
        let root = workspace::root();
        for bundle in &BUNDLES {
            let recorded = bundle.committed(&root).unwrap().pop().unwrap();
            assert_eq!(String::from_utf8(recorded).unwrap(), bundle.hashes(&root).unwrap());
        }
    }
}
