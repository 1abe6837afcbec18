//! Other programs: starting them, streaming or keeping what they print, finding them on `PATH`. Nothing here reads from
//! the caller's stdin.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A program to start, without what cargo set for this one. Build scripts of dependencies name some of these variables as
/// their input (ring's does), so a cargo started by the toolbox would compile them again, and all above them.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    let of_cargo = |name: &str| {
        let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
        prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(of_cargo)) {
        command.env_remove(name);
    }
    command
}

/// Runs a program in `dir` with its output going where ours goes.
///
/// # Errors
/// It cannot be started, or it ended with failure.
pub(crate) fn stream(dir: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    stream_with(dir, program, arguments, &[])
}

/// As [`stream`], with these variables added to the environment.
///
/// # Errors
/// It cannot be started, or it ended with failure.
pub(crate) fn stream_with(
    dir: &Path,
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> Result<()> {
    let status = command(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(dir)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("starting {program}"))?;
    if !status.success() {
        bail!("`{program} {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// Runs a program in `dir` and gives what it printed on stdout.
///
/// # Errors
/// It cannot be started, it ended with failure (the message carries its stderr), or it did not print UTF-8.
pub(crate) fn capture(dir: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let output = command(program)
        .args(arguments)
        .current_dir(dir)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {program}"))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{program} {}` ended with {}: {}",
            arguments.join(" "),
            output.status,
            messages.trim()
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("what {program} printed"))
}

/// The program's path, if it is on `PATH`, in cargo's folder or in Go's.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let extra = ["/usr/sbin".into(), home.join(".cargo/bin"), home.join("go/bin")];
    std::env::split_paths(&path)
        .chain(extra)
        .map(|dir| dir.join(program))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_keeps_stdout_and_names_the_failed_command() {
        let here = Path::new(".");
        assert_eq!(capture(here, "echo", &["a", "b"]).unwrap(), "a b\n");
        let error = capture(here, "sh", &["-c", "echo no >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.contains("sh -c") && error.contains("no"), "{error}");
        assert!(stream(here, "false", &[]).is_err());
        assert!(stream(here, "/no/such/program", &[]).is_err());
    }

    #[test]
    fn find_looks_on_path() {
        assert!(find("sh").is_some());
        assert_eq!(find("no-such-program-here"), None);
    }
}
