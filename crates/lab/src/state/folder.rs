//! `StudyFolder`: the paths below the folder of a study's results. A file lock, which the system releases when its process ends,
//! admits one study at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cli::{ExitCode, ExitError};
use stdx::private_file;

/// The folder of one study's results, locked.
#[derive(Debug)]
pub(crate) struct StudyFolder {
    /// Its path, absolute.
    pub(crate) out: PathBuf,
    /// The study's file, absolute.
    pub(crate) file: PathBuf,
    /// Its folder.
    pub(crate) study: PathBuf,
    /// Holds the lock for the duration of the study.
    _lock: File,
}

/// The names that a study creates in its folder; `-fresh` removes these and nothing else.
pub(crate) const OWN: [&str; 5] = ["results", "runs", "plan.json", "study.json", "report.html"];

impl StudyFolder {
    /// Opens the folder and locks it; it is created if it does not exist.
    ///
    /// # Errors
    /// It cannot be created or written, or another study is running in it.
    pub(crate) fn open(out: &Path, file: &Path) -> Result<Self, ExitError> {
        let at = |path: &Path| path.display().to_string();
        fs::create_dir_all(out).with_context(|| format!("making the folder {}", at(out)))?;
        let out = out.canonicalize().with_context(|| format!("opening {}", at(out)))?;
        let file = file.canonicalize().with_context(|| format!("opening {}", at(file)))?;
        let study = file.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        let name = out.join(".lock");
        let lock =
            private_file::open_lock(&name).with_context(|| format!("making {}", at(&name)))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { out, file, study, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(ExitError {
                code: ExitCode::Failure,
                error: anyhow!("{}: a study is running in this folder", at(&out)),
            }),
            Err(fs::TryLockError::Error(error)) => {
                Err(anyhow!("locking {}: {}", at(&name), cli::reason(&error)).into())
            }
        }
    }

    /// Removes the files of an earlier study.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(crate) fn clear(&self) -> Result<(), ExitError> {
        for name in OWN {
            remove(&self.out.join(name))?;
        }
        Ok(())
    }

    /// It holds files of an earlier study.
    #[must_use]
    pub(crate) fn is_used(&self) -> bool {
        OWN.iter().any(|name| self.out.join(name).exists())
    }

    pub(crate) fn plan(&self) -> PathBuf {
        self.out.join("plan.json")
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.out.join("report.html")
    }

    /// JUnit, for build servers.
    pub(crate) fn junit(&self) -> PathBuf {
        self.out.join("junit.xml")
    }

    pub(crate) fn document(&self) -> PathBuf {
        self.out.join("study.json")
    }

    /// The folder of the logs of one run.
    pub(crate) fn run(&self, workload: &str, variant: &str, repeat: usize) -> PathBuf {
        self.out.join("runs").join(workload).join(variant).join(number(repeat))
    }

    /// The files of the results of one run: one, or one for each load generator in a folder.
    pub(crate) fn results(
        &self,
        (workload, variant): (&str, &str),
        repeat: usize,
        generators: usize,
    ) -> Vec<PathBuf> {
        let of_variant = self.out.join("results").join(workload).join(variant);
        match generators {
            1 => vec![of_variant.join(format!("{}.arrow", number(repeat)))],
            _ => {
                let folder = of_variant.join(number(repeat));
                (1..=generators)
                    .map(|generator| folder.join(format!("{generator}.arrow")))
                    .collect()
            }
        }
    }

    /// Creates the folders of a run, empty. The logs of the attempt before are moved to `001.before`.
    ///
    /// # Errors
    /// One cannot be created.
    pub(crate) fn prepare(&self, run: &Path, results: &[PathBuf]) -> Result<(), ExitError> {
        if run.exists() {
            let before = run.with_extension("before");
            remove(&before)?;
            fs::rename(run, &before).with_context(|| format!("moving {}", run.display()))?;
        }
        results.iter().try_for_each(|file| remove(file))?;
        let parents = results.iter().filter_map(|file| file.parent());
        for folder in parents.chain([run]) {
            let making = || format!("making the folder {}", folder.display());
            fs::create_dir_all(folder).with_context(making)?;
        }
        Ok(())
    }
}

/// `001`.
fn number(repeat: usize) -> String {
    format!("{repeat:03}")
}

fn remove(path: &Path) -> Result<(), ExitError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(anyhow!("removing {}: {}", path.display(), cli::reason(&error)).into())
        }
        _ => Ok(()),
    }
}
