//! `Listing`: the runs of a store, newest first. Each manifest is read, by several threads where there are many.

use std::fs;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::store::{Run, Store};

/// The runs of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// The runs, newest first.
    pub runs: Vec<Run>,
    /// Folders that cannot be read.
    pub problems: Vec<Problem>,
}

/// A folder of the store that cannot be read.
#[derive(Debug)]
pub struct Problem {
    /// The folder's name.
    pub id: String,
    /// Why.
    pub error: StoreError,
}

/// Which runs are wanted. Everything that is set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Their name.
    pub name: Option<String>,
    /// Their command.
    pub command: Option<String>,
    /// Labels that they have with these values.
    pub labels: Vec<(String, String)>,
    /// A text in their name, command line, labels, note, branch, conclusion, targets or the server's result, whatever its case.
    pub text: Option<String>,
}

/// Folders for each thread, at least.
const SHARE_MIN: usize = 250;
/// Threads that read, at most.
const READERS_MAX: usize = 8;

impl Store {
    /// All runs, newest first. A store that is not there has none.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let folders = self.folders()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from).min(READERS_MAX);
        let share = folders.len().div_ceil(cores).max(SHARE_MIN);
        let mut listing = Listing::default();
        std::thread::scope(|scope| {
            let shares = folders.chunks(share);
            let readers: Vec<_> =
                shares.map(|share| scope.spawn(move || Listing::of(share))).collect();
            for reader in readers {
                // A reader that panicked has said so.
                let part = reader.join().unwrap_or_default();
                listing.runs.extend(part.runs);
                listing.problems.extend(part.problems);
            }
        });
        listing.runs.sort_by(|a, b| {
            let key = |run: &Run| (run.manifest.started.clone(), run.manifest.id.clone());
            key(b).cmp(&key(a))
        });
        listing.problems.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(listing)
    }

    /// The folders of runs. Those that begin with a dot are half made or half removed.
    fn folders(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = match fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::Io { path: self.folder().to_owned(), error }),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io(self.folder()))?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
        Ok(folders)
    }
}

impl Listing {
    fn of(folders: &[PathBuf]) -> Self {
        let mut listing = Self::default();
        for folder in folders {
            match Store::read_at(folder) {
                Ok(run) => listing.runs.push(run),
                Err(error) => {
                    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    listing.problems.push(Problem { id, error });
                }
            }
        }
        listing
    }
}

impl Filter {
    /// Whether a run is wanted.
    #[must_use]
    pub fn takes(&self, run: &Run) -> bool {
        let manifest = &run.manifest;
        let is = |wanted: &Option<String>, value: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == value)
        };
        let labelled = |(key, value): &(String, String)| manifest.label(key) == Some(value);
        is(&self.name, &manifest.name)
            && is(&self.command, &manifest.command)
            && self.labels.iter().all(labelled)
            && self.text.as_deref().is_none_or(|text| has_text(run, &text.to_lowercase()))
    }
}

fn has_text(run: &Run, text: &str) -> bool {
    let manifest = &run.manifest;
    let branch = manifest.git.as_ref().map_or("", |git| git.branch.as_str());
    let fixed = [&manifest.id, &manifest.name, &manifest.command, &manifest.note, branch];
    let baseline = manifest.baseline.iter().map(String::as_str);
    let labels = manifest.labels.iter().flat_map(|(key, value)| [key.as_str(), value.as_str()]);
    let lists = manifest.args.iter().chain(&manifest.conclusion).map(String::as_str);
    let server = manifest.server.iter().map(|server| server.result.as_str());
    let shown = manifest.attacked.iter().map(String::as_str).chain(server);
    let mut all = fixed.into_iter().chain(baseline).chain(labels).chain(lists).chain(shown);
    all.any(|one| one.to_lowercase().contains(text))
}
