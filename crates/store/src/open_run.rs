//! `OpenRun`: a run of the store that is under way.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::clock::now;
use crate::error::StoreError;
use crate::file;
use crate::format::LOCK;
use crate::manifest::{Figures, Manifest, ServerResult, State};

/// A run that is under way. Dropped without [`OpenRun::finish`] it has failed.
#[derive(Debug)]
pub struct OpenRun {
    folder: PathBuf,
    manifest: Manifest,
    /// Held for as long as the process lives.
    _lock: File,
    is_finished: bool,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finish {
    /// `VALID` or `INVALID`.
    pub verdict: Option<String>,
    /// Why it is not `VALID`.
    pub reasons: Vec<String>,
    /// What it showed.
    pub conclusion: Vec<String>,
    /// What was attacked, in a few words without passwords.
    pub attacked: Option<String>,
    /// How the server came out.
    pub server: Option<ServerResult>,
    /// Its figures.
    pub figures: Option<Figures>,
}

impl OpenRun {
    pub(crate) fn new(folder: PathBuf, manifest: Manifest, lock: File) -> Self {
        Self { folder, manifest, _lock: lock, is_finished: false }
    }

    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.manifest.id
    }

    /// The run's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// The run's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its results go, a file of this name in its folder. The manifest has it from now on: a run that is killed leaves
    /// what was written.
    ///
    /// # Errors
    /// The manifest cannot be written.
    pub fn results(&mut self, name: &str) -> Result<PathBuf, StoreError> {
        self.manifest.results = Some(name.to_owned());
        self.manifest.write(&self.folder)?;
        Ok(self.folder.join(name))
    }

    /// Stores a report beside the results, under this name.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add_document(&mut self, name: &str, text: &[u8]) -> Result<(), StoreError> {
        file::replace(&self.folder.join(name), text)?;
        if !self.manifest.documents.iter().any(|known| known == name) {
            self.manifest.documents.push(name.to_owned());
        }
        Ok(())
    }

    /// Stores how the run came out, before its process knows with which code it ends.
    pub fn conclude(&mut self, finish: Finish) {
        let Finish { verdict, reasons, conclusion, attacked, server, figures } = finish;
        let manifest = &mut self.manifest;
        (manifest.verdict, manifest.reasons) = (verdict, reasons);
        (manifest.conclusion, manifest.figures) = (conclusion, figures);
        (manifest.attacked, manifest.server) = (attacked, server);
    }

    /// Ends the run with the code of its process.
    ///
    /// # Errors
    /// The manifest cannot be written; the run then counts as cut off.
    pub fn finish(mut self, exit_code: u8) -> Result<(), StoreError> {
        self.end(State::Finished, Some(exit_code))
    }

    fn end(&mut self, state: State, exit_code: Option<u8>) -> Result<(), StoreError> {
        self.is_finished = true;
        self.manifest.state = state;
        self.manifest.exit_code = exit_code;
        // What was made before it came here ended then.
        self.manifest.ended.get_or_insert_with(now);
        // Results may never have been opened.
        let has_results =
            |name: &String| fs::metadata(self.folder.join(name)).is_ok_and(|meta| meta.len() > 0);
        self.manifest.results = self.manifest.results.take().filter(has_results);
        self.manifest.write(&self.folder)?;
        fs::remove_file(self.folder.join(LOCK)).ok();
        Ok(())
    }
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        if !self.is_finished {
            // The error that ends the command is the one to show; the run then counts as cut off.
            self.end(State::Failed, None).ok();
        }
    }
}
