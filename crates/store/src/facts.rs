//! What a run was made with: the commit, the machine, and the files that say what the load is.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::git::{CHANGES, Questions};

/// The commit of a working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Git {
    /// The commit's hash.
    pub commit: String,
    /// The branch; empty where none is checked out.
    pub branch: String,
    /// Files that git follows were changed after the commit. What was changed inside of a submodule does not count.
    pub dirty: bool,
}

/// The machine that offered a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Its name.
    pub host: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Its system's name and release.
    pub kernel: String,
    /// Its processor.
    pub processor: String,
}

/// A file that says what the load is: a script, targets, a study.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Its path, as the command line has it.
    pub path: String,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// Bytes of a file that are hashed, at most: a file of targets may be large, and a run waits for this.
const HASHED_MAX: u64 = 256 << 20;

impl Git {
    /// Of the working tree of this folder; `None` where there is none, or no git.
    #[must_use]
    pub fn here() -> Option<Self> {
        let git = Questions::begin();
        let commit = git.ask(&["rev-parse", "--verify", "HEAD"]).ok()?;
        // A commit that no branch leads to has no name, which is no failure.
        let branch = git.ask(&["symbolic-ref", "--short", "-q", "HEAD"]).unwrap_or_default();
        let changed = git.ask(&CHANGES).unwrap_or_default();
        Some(Self { commit, branch, dirty: !changed.is_empty() })
    }

    /// The hash of the working tree's commit; `None` where there is none, or no git, or git takes longer than a second.
    #[must_use]
    pub fn commit_here() -> Option<String> {
        Questions::brief().ask(&["rev-parse", "--verify", "HEAD"]).ok()
    }
}

/// The commits that lead to a branch, tag or commit, from its own backwards, `max` at most.
///
/// # Errors
/// Git does not know it, or is not here.
pub fn ancestors(reference: &str, max: usize) -> Result<Vec<String>, StoreError> {
    let max = format!("--max-count={max}");
    // What begins with a dash is an option to git, whatever stands before it.
    let list = if reference.starts_with('-') {
        Err("no branch, tag or commit begins with a dash".to_owned())
    } else {
        Questions::begin().ask(&["rev-list", &max, reference, "--"])
    };
    let list =
        list.map_err(|reason| StoreError::Git { reference: reference.to_owned(), reason })?;
    Ok(list.lines().map(str::to_owned).collect())
}

impl Machine {
    /// This machine, as far as the system says.
    #[must_use]
    pub fn here() -> Self {
        let first =
            |path| fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default();
        let (system, release) =
            (first("/proc/sys/kernel/ostype"), first("/proc/sys/kernel/osrelease"));
        let kernel = format!("{system} {release}").trim().to_owned();
        let table = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = table.lines().find(|line| line.starts_with("model name"));
        let processor = model.and_then(|line| line.split_once(':'));
        Self {
            host: first("/proc/sys/kernel/hostname"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: if kernel.is_empty() { std::env::consts::OS.to_owned() } else { kernel },
            processor: processor.map_or(String::new(), |(_, name)| name.trim().to_owned()),
        }
    }
}

/// A file with its hash; `None` where it cannot be read again (a pipe) or is too large (256 MiB).
#[must_use]
pub fn hash_of(path: &str) -> Option<Input> {
    let meta = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    if meta.len() > HASHED_MAX {
        return None;
    }
    Some(Input { path: path.to_owned(), sha256: hash(Path::new(path)).ok()? })
}

fn hash(path: &Path) -> std::io::Result<String> {
    let (mut file, mut hasher, mut buf) = (File::open(path)?, Sha256::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buf)? {
            0 => break,
            len => hasher.update(&buf[..len]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_hashes() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("hash");
        fs::write(&path, "abc").unwrap();
        let found = hash_of(&path.display().to_string()).unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(found.sha256, expected);
        fs::remove_file(&path).unwrap();
        assert_eq!(hash_of("/nowhere/x"), None);
        assert!(ancestors("--all", 3).unwrap_err().to_string().contains("begins with a dash"));
    }

    #[test]
    fn the_machine_has_cores() {
        assert!(Machine::here().cores > 0);
    }
}
