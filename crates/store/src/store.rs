//! `Store`: a folder of runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use jiff::Timestamp;
use stdx::private_file;

use crate::clock::{now, of_unix_ms};
use crate::error::StoreError;
use crate::facts::{Git, Input, Machine};
use crate::format::{LOCK, VERSION, is_name};
use crate::leftovers::{self, Beginning, GONE, is_locked};
use crate::manifest::{Manifest, State};
use crate::open_run::OpenRun;
use crate::own_file::{self, DOCUMENT_BYTES_MAX};
use crate::place;
use crate::secrets::{labels_without_secrets, without_secrets};

/// A folder of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// What is known of a run before it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// The name that runs of the same test share.
    pub name: String,
    /// The command.
    pub command: String,
    /// Its arguments as typed; secrets are hidden before they are stored.
    pub args: Vec<String>,
    /// The labels that people gave it.
    pub labels: Vec<(String, String)>,
    /// The files that say what the load is.
    pub inputs: Vec<Input>,
    /// The version of brunt.
    pub brunt: String,
    /// The Unix times (ns) at which it began and ended, of a run that was made before it came here.
    pub made: Option<(i64, i64)>,
}

/// A run of the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What is known of it.
    pub manifest: Manifest,
    /// Its folder.
    pub folder: PathBuf,
    /// Its process still lives.
    pub is_under_way: bool,
}

impl Run {
    /// Its verdict in a word: `VALID`, `INVALID`, `running`, `failed`, `cut off`, `-`.
    #[must_use]
    pub fn verdict(&self) -> &str {
        match self.manifest.state {
            State::Running if self.is_under_way => "running",
            State::Running => "cut off",
            State::Failed => "failed",
            State::Finished => self.manifest.verdict.as_deref().unwrap_or("-"),
        }
    }

    /// Its file of results, where it has one; it may be missing.
    ///
    /// # Errors
    /// It is a link, a pipe, a folder or a device, and may lead out of the run's folder.
    pub fn results(&self) -> Result<Option<PathBuf>, StoreError> {
        let Some(name) = &self.manifest.results else { return Ok(None) };
        let path = self.folder.join(name);
        own_file::check(&path)?;
        Ok(Some(path))
    }

    /// The text of a report that it stored; `None` where its manifest names no such.
    ///
    /// # Errors
    /// It is no regular file of the run's folder, is larger than 64 MiB, or cannot be read.
    pub fn document(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.manifest.documents.iter().any(|known| known == name) {
            return Ok(None);
        }
        own_file::read(&self.folder.join(name), DOCUMENT_BYTES_MAX).map(Some)
    }

    /// Whether it ended as it should and its figures are valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.manifest.state == State::Finished && self.manifest.verdict.as_deref() == Some("VALID")
    }
}

impl Store {
    /// The store in this folder, which need not be there yet.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Begins a run: its folder is there with its manifest from now on.
    ///
    /// # Errors
    /// The name is none, or the system refuses the folder.
    pub fn begin(&self, begin: Begin) -> Result<OpenRun, StoreError> {
        check_name(&begin.name)?;
        let of_unix_ns = |ns: i64| of_unix_ms(ns.div_euclid(1_000_000));
        let made = begin.made.map(|(began, ended)| (of_unix_ns(began), of_unix_ns(ended)));
        let manifest = Manifest {
            version: VERSION,
            name: begin.name,
            command: begin.command,
            args: without_secrets(&begin.args),
            started: made.as_ref().map_or_else(now, |(began, _)| began.clone()),
            ended: made.map(|(_, ended)| ended),
            state: State::Running,
            labels: labels_without_secrets(begin.labels),
            inputs: begin.inputs,
            git: Git::here(),
            machine: Machine::here(),
            brunt: begin.brunt,
            ..Manifest::default()
        };
        self.add(manifest, |folder| {
            let lock = folder.join(LOCK);
            let file = private_file::open_lock(&lock).map_err(StoreError::io(&lock))?;
            // A file system without locks: the run counts as cut off until it ends.
            file.try_lock().ok();
            Ok(file)
        })
        .map(|(folder, manifest, lock)| OpenRun::new(folder, manifest, lock))
    }

    /// Adds a run with all that `fill` puts into its folder; it gets an id, unless it has one that no other run has, and
    /// appears when all is there.
    pub(crate) fn add<T>(
        &self,
        mut manifest: Manifest,
        fill: impl FnOnce(&Path) -> Result<T, StoreError>,
    ) -> Result<(PathBuf, Manifest, T), StoreError> {
        static ADDED: AtomicU32 = AtomicU32::new(0);
        place::create(&self.folder)?;
        let serial = ADDED.fetch_add(1, Ordering::Relaxed);
        let beginning = Beginning::create(&self.folder, serial)?;
        let hidden = &beginning.folder;
        let added = (|| {
            let filled = fill(hidden)?;
            for attempt in 0..ATTEMPTS_MAX {
                if attempt > 0 || manifest.id.is_empty() {
                    let serial = serial.wrapping_add(attempt << 16);
                    manifest.id = new_id(&manifest.started, serial);
                }
                manifest.write(hidden)?;
                let folder = self.folder.join(&manifest.id);
                // A folder that is not empty is not replaced: another run has this id.
                match fs::rename(hidden, &folder) {
                    Ok(()) => return Ok((folder, manifest, filled)),
                    Err(_) if folder.exists() => {}
                    Err(error) => return Err(StoreError::Io { path: folder, error }),
                }
            }
            let error = std::io::ErrorKind::AlreadyExists.into();
            Err(StoreError::Io { path: self.folder.clone(), error })
        })();
        if added.is_err() {
            // What is left of it appears in no list.
            fs::remove_dir_all(hidden).ok();
        }
        added
    }

    /// The run in this folder of the store.
    ///
    /// # Errors
    /// The id is none, it has no manifest, or one of a newer brunt.
    pub fn read(&self, id: &str) -> Result<Run, StoreError> {
        check_name(id)?;
        let folder = self.folder.join(id);
        if folder.is_symlink() {
            return Err(StoreError::Foreign { path: folder, found: "a symbolic link" });
        }
        Self::read_at(&folder)
    }

    /// The run in this folder, wherever it is.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_at(folder: &Path) -> Result<Run, StoreError> {
        let mut manifest = Manifest::read(folder)?;
        // Who moved the folder meant another name.
        if let Some(name) = folder.file_name().and_then(|name| name.to_str()) {
            name.clone_into(&mut manifest.id);
        }
        let mut is_under_way = false;
        if manifest.state == State::Running {
            is_under_way = is_locked(folder);
            if !is_under_way {
                // It may have ended in between.
                let again = Manifest::read(folder)?;
                manifest = Manifest { id: manifest.id, ..again };
            }
        }
        Ok(Run { manifest, folder: folder.to_owned(), is_under_way })
    }

    /// Changes what people say of a run: its labels, its note, its baseline, its name.
    ///
    /// # Errors
    /// It is under way, has a name that is none, or cannot be written.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Manifest)) -> Result<Run, StoreError> {
        let mut run = self.read(id)?;
        if run.is_under_way {
            return Err(StoreError::UnderWay { id: id.to_owned() });
        }
        change(&mut run.manifest);
        run.manifest.labels = labels_without_secrets(std::mem::take(&mut run.manifest.labels));
        check_name(&run.manifest.name)?;
        run.manifest.write(&run.folder)?;
        Ok(run)
    }

    /// Removes a run. It is gone from lists at once.
    ///
    /// # Errors
    /// It is under way, or the system refuses it.
    pub fn remove(&self, run: &Run) -> Result<(), StoreError> {
        if run.is_under_way {
            return Err(StoreError::UnderWay { id: run.manifest.id.clone() });
        }
        let hidden = self.folder.join(format!("{GONE}{}", run.manifest.id));
        fs::rename(&run.folder, &hidden).map_err(StoreError::io(&run.folder))?;
        fs::remove_dir_all(&hidden).map_err(StoreError::io(&hidden))
    }

    /// Removes what killed processes left half made, half written or half removed: at once where it is known that they are gone,
    /// else after ten minutes. Gives how many folders and files there were.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        leftovers::sweep(&self.folder)
    }
}

/// Ids that are tried before a store is given up.
const ATTEMPTS_MAX: u32 = 100;

/// Refuses a name that could not be a word of a command line.
///
/// # Errors
/// It is none.
fn check_name(name: &str) -> Result<(), StoreError> {
    if is_name(name) { Ok(()) } else { Err(StoreError::Name { name: name.to_owned() }) }
}

/// The id of a run that began at this time: it sorts by time, and ends in four digits of chance.
fn new_id(started: &str, serial: u32) -> String {
    let digits: String = started.chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = digits.split_at(digits.len().min(8));
    let mut mixed = u64::from(std::process::id()) << 32 | u64::from(serial);
    mixed ^= Timestamp::now().as_nanosecond() as u64;
    // The finalizer of MurmurHash3: every bit of the input changes every bit of the output.
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        mixed = (mixed ^ mixed >> 33).wrapping_mul(factor);
    }
    format!("{day}-{time}-{:04x}", (mixed ^ mixed >> 33) & 0xffff)
}
