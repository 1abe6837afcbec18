//! `Folder`: where a study keeps what. One study at a time: a lock that the system takes back when its holder is gone.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::exit_code::{ExitCode, Failed};
use crate::input;

/// The folder of one study's results, locked.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its path, absolute.
    pub(super) out: PathBuf,
    /// The study's file, absolute.
    pub(super) file: PathBuf,
    /// Its folder.
    pub(super) study: PathBuf,
    /// Held as long as the study goes on.
    _lock: File,
}

/// What a study makes in its folder; `--fresh` removes these and nothing else.
pub(super) const OWN: [&str; 5] = ["results", "runs", "plan.json", "study.json", "report.html"];

impl Folder {
    /// Opens the folder, which is made where there is none.
    ///
    /// # Errors
    /// It cannot be made or written, or another study is running in it.
    pub(super) fn open(out: &Path, file: &Path) -> Result<Self, Failed> {
        let at = |path: &Path| format!("{}", path.display());
        fs::create_dir_all(out).with_context(|| format!("making the folder {}", at(out)))?;
        let out = out.canonicalize().with_context(|| format!("opening {}", at(out)))?;
        let file = file.canonicalize().with_context(|| format!("opening {}", at(file)))?;
        let study = file.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        let name = out.join(".lock");
        let lock = File::create(&name).with_context(|| format!("making {}", at(&name)))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { out, file, study, _lock: lock }),
            Err(fs::TryLockError::WouldBlock) => Err(Failed {
                code: ExitCode::Failure,
                error: anyhow!("{}: a study is running in this folder", at(&out)),
            }),
            Err(fs::TryLockError::Error(error)) => {
                Err(anyhow!("locking {}: {}", at(&name), input::reason(&error)).into())
            }
        }
    }

    /// Removes what an earlier study made here.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(super) fn clear(&self) -> Result<(), Failed> {
        for name in OWN {
            remove(&self.out.join(name))?;
        }
        Ok(())
    }

    /// Something that an earlier study made is here.
    #[must_use]
    pub(super) fn is_used(&self) -> bool {
        OWN.iter().any(|name| self.out.join(name).exists())
    }

    pub(super) fn plan(&self) -> PathBuf {
        self.out.join("plan.json")
    }

    pub(super) fn report(&self) -> PathBuf {
        self.out.join("report.html")
    }

    pub(super) fn document(&self) -> PathBuf {
        self.out.join("study.json")
    }

    /// Where one run keeps its logs.
    pub(super) fn run(&self, workload: &str, variant: &str, repeat: usize) -> PathBuf {
        self.out.join("runs").join(workload).join(variant).join(number(repeat))
    }

    /// Where one run keeps its results: a file, or a folder of one file each generator.
    pub(super) fn results(
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

    /// Makes the folders of a run anew, empty. What an attempt before left in the run's own is kept beside it, as
    /// `001.before`: the last one.
    ///
    /// # Errors
    /// One cannot be made.
    pub(super) fn prepare(&self, run: &Path, results: &[PathBuf]) -> Result<(), Failed> {
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

fn remove(path: &Path) -> Result<(), Failed> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(anyhow!("removing {}: {}", path.display(), input::reason(&error)).into())
        }
        _ => Ok(()),
    }
}
