//! `hook`: a pre-commit hook of git that checks what CI would refuse first: formatting, tidy, and clippy over the crates with
//! staged changes. It checks the files as they are in the work tree, and never changes them.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::{process, tidy, workspace};

/// The hook. Its second line is how the command knows its own hook from another.
const SCRIPT: &str = "#!/bin/sh\n# Written by `cargo xtask hook`.\nexec cargo xtask hook check\n";

/// The command: installs the hook, or with `check` does its work.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments {
        [] => install(),
        [word] if word == "check" => check(),
        _ => bail!("usage: cargo xtask hook [check]"),
    }
}

/// Writes the hook where git looks for it; another hook is not overwritten.
fn install() -> Result<ExitCode> {
    let root = workspace::root();
    let folder = process::capture(&root, "git", &["rev-parse", "--git-path", "hooks"])?;
    let folder = root.join(folder.trim());
    let path = folder.join("pre-commit");
    if fs::read_to_string(&path).is_ok_and(|found| found != SCRIPT) {
        bail!("{} exists already; add `cargo xtask hook check` to it", path.display());
    }
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    fs::write(&path, SCRIPT).with_context(|| format!("writing {}", path.display()))?;
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&path, executable).with_context(|| path.display().to_string())?;
    println!("hook: {} checks every commit; `git commit --no-verify` skips it", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Runs the checks, the fast ones first.
fn check() -> Result<ExitCode> {
    let root = workspace::root();
    let names = ["diff", "--cached", "--name-only", "--diff-filter=d", "-z"];
    let staged = process::capture(&root, "git", &names)?;
    let Some(selection) = selection(staged.split_terminator('\0'), package) else {
        return tidy::run(&[]);
    };
    process::stream(&root, "cargo", &["fmt", "--all", "--", "--check"])?;
    if tidy::run(&[])? != ExitCode::SUCCESS {
        return Ok(ExitCode::FAILURE);
    }
    let mut arguments = vec!["clippy", "--all-targets", "--locked"];
    arguments.extend(selection.iter().map(String::as_str));
    arguments.extend(["--", "-D", "warnings"]);
    process::stream(&root, "cargo", &arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// The arguments that select the packages of the staged files; `None` if no file concerns the compiler. A file outside of the
/// packages, such as the workspace's manifest, selects all.
fn selection<'a>(
    staged: impl Iterator<Item = &'a str>,
    package: impl Fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let mut packages = BTreeSet::new();
    for path in staged.filter(|path| is_compiled(path)) {
        match folder(path).and_then(&package) {
            Some(package) => packages.insert(package),
            None => return Some(vec!["--workspace".to_owned()]),
        };
    }
    let arguments: Vec<String> =
        packages.into_iter().flat_map(|package| ["--package".to_owned(), package]).collect();
    (!arguments.is_empty()).then_some(arguments)
}

/// Whether the compiler or clippy reads the file.
fn is_compiled(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "rs" | "toml" | "lock" | "c" | "h") && !path.starts_with("fuzz/")
}

/// The folder of the package that a file belongs to.
fn folder(path: &str) -> Option<&str> {
    if path.starts_with("xtask/") {
        return Some("xtask");
    }
    let end = path.strip_prefix("crates/")?.find('/')?;
    path.get(.."crates/".len() + end)
}

/// The name of the package in a folder.
fn package(folder: &str) -> Option<String> {
    let manifest: PathBuf = workspace::root().join(folder).join("Cargo.toml");
    let manifest = fs::read_to_string(manifest).ok()?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(line.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_files(staged: &[&str], expect: Option<&[&str]>) {
        let name = |folder: &str| folder.strip_prefix("crates/").map(str::to_owned);
        let found = selection(staged.iter().copied(), name);
        let found = found.as_ref().map(|found| found.iter().map(String::as_str).collect());
        assert_eq!(found, expect.map(<[&str]>::to_vec), "{staged:?}");
    }

    #[test]
    fn staged_files_select_their_packages() {
        check_files(&[], None);
        check_files(&["README.md", "docs/man/a.1", "fuzz/a.rs"], None);
        let net = ["crates/net/src/a.rs", "crates/net/Cargo.toml", "README.md"];
        check_files(&net, Some(&["--package", "net"]));
        let two = ["crates/wire/src/b.rs", "crates/net/src/a.rs"];
        check_files(&two, Some(&["--package", "net", "--package", "wire"]));
        check_files(&["crates/net/src/a.rs", "Cargo.lock"], Some(&["--workspace"]));
    }

    #[test]
    fn folders_have_their_package_names() {
        assert_eq!(package("crates/quickjs").as_deref(), Some("rquickjs-sys"));
        assert_eq!(package("xtask").as_deref(), Some("xtask"));
        assert_eq!(package("crates/none"), None);
    }
}
