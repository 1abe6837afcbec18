//! `Manifest`: what is known of a run, as `manifest.json` has it. The format is described in docs/reference/store.md.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::facts::{Git, Input, Machine};
use crate::file;
use crate::format::{MANIFEST, VERSION, is_name};
use crate::own_file::{self, MANIFEST_BYTES_MAX};

/// What is known of a run. Fields that a newer brunt of the same version adds are lost when an older one changes a label.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The version of the format.
    pub version: u32,
    /// The run's id, which is the name of its folder.
    pub id: String,
    /// The name that runs of the same test share.
    pub name: String,
    /// The command: `attack`, `run`.
    pub command: String,
    /// Its arguments, without secrets.
    pub args: Vec<String>,
    /// When it began: RFC 3339, UTC, milliseconds.
    pub started: String,
    /// When it ended; the same format.
    pub ended: Option<String>,
    /// Whether it has ended, as its process wrote it.
    pub state: State,
    /// The code that its process ended with.
    pub exit_code: Option<u8>,
    /// `VALID` or `INVALID`; `None` where nothing was judged.
    pub verdict: Option<String>,
    /// Why the verdict is not `VALID`.
    pub reasons: Vec<String>,
    /// What the run showed, a sentence each.
    pub conclusion: Vec<String>,
    /// What was attacked, in a few words without passwords: `GET http://127.0.0.1/`.
    pub attacked: Option<String>,
    /// How the server came out; `None` where the run does not say, and in manifests of older versions.
    pub server: Option<ServerResult>,
    /// The file of its results, in its folder.
    pub results: Option<String>,
    /// Its reports, in its folder.
    pub documents: Vec<String>,
    /// The labels that people gave it.
    pub labels: BTreeMap<String, String>,
    /// What people noted of it.
    pub note: String,
    /// The baseline that it is a run of.
    pub baseline: Option<String>,
    /// The commit of the working tree that it was started in.
    pub git: Option<Git>,
    /// The machine that offered the load.
    pub machine: Machine,
    /// The files that say what the load is.
    pub inputs: Vec<Input>,
    /// The version of brunt.
    pub brunt: String,
    /// Its figures, where it has any.
    pub figures: Option<Figures>,
}

/// Whether a run has ended, as its process wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It has not, or its process was killed.
    #[default]
    Running,
    /// It ended as it should.
    Finished,
    /// It could not be carried out to its end.
    Failed,
}

/// How a server came out of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerResult {
    /// The outcome's name, as in the report: `kept up`, `overloaded`.
    pub outcome: String,
    /// The result in a few words.
    pub result: String,
}

/// The figures of a run that lists and trends show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Requests that ended.
    pub requests: u64,
    /// Requests that began, per second.
    pub rate_per_s: f64,
    /// Requests that succeeded, per second.
    pub throughput_per_s: f64,
    /// The share of requests that failed, 0 to 1.
    pub errors: f64,
    /// Response times.
    pub response_ns: ResponseTimes,
}

/// Response times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseTimes {
    /// The mean.
    pub mean: u64,
    /// The median.
    pub p50: u64,
    /// The 90th percentile.
    pub p90: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

/// Whether a name can neither lead out of a folder, nor to a hidden file of it.
fn is_own_file(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

impl Manifest {
    /// Reads the manifest of the run in this folder.
    ///
    /// # Errors
    /// There is none, it is none (also where it is a link, a pipe, or larger than 16 MiB), or a newer brunt wrote it.
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(MANIFEST);
        let text = own_file::read(&path, MANIFEST_BYTES_MAX)?;
        Self::parse(&path, &text)
    }

    /// Reads a manifest's text; `path` is named in errors.
    pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<Self, StoreError> {
        let manifest: Self = serde_json::from_slice(text)
            .map_err(|error| StoreError::Manifest { path: path.to_owned(), error })?;
        if manifest.version > VERSION {
            return Err(StoreError::Newer { path: path.to_owned(), found: manifest.version });
        }
        // It may come from another machine: its files are in its folder, and nowhere else.
        let results = manifest.results.iter().map(|name| ("results", name));
        let documents = manifest.documents.iter().map(|name| ("documents", name));
        if let Some((field, name)) = results.chain(documents).find(|(_, name)| !is_own_file(name)) {
            return Err(StoreError::Field {
                path: path.to_owned(),
                field,
                value: name.clone(),
                wanted: "the name of a file in the run's folder",
            });
        }
        Ok(manifest)
    }

    /// Refuses a manifest from elsewhere whose id or name is none; `path` is named in errors.
    pub(crate) fn check_names(&self, path: &Path) -> Result<(), StoreError> {
        let names = [("name", &self.name), ("id", &self.id)];
        let Some((field, name)) = names.into_iter().find(|(_, name)| !is_name(name)) else {
            return Ok(());
        };
        Err(StoreError::Field {
            path: path.to_owned(),
            field,
            value: name.clone(),
            wanted: "1 to 80 letters, digits, '.', '_' and '-', beginning with none of the last three",
        })
    }

    /// Replaces the manifest in this folder.
    ///
    /// # Errors
    /// The system refuses it; the manifest that was there stays.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        let mut text = serde_json::to_vec_pretty(self).expect("a manifest has no map of odd keys");
        text.push(b'\n');
        file::replace(&folder.join(MANIFEST), &text)
    }

    /// Whether another manifest is of the same run, whatever people have said of it since.
    pub(crate) fn is_same_run(&self, other: &Self) -> bool {
        let run = |one: &Self| (one.id.clone(), one.started.clone(), one.command.clone());
        run(self) == run(other) && self.args == other.args && self.machine == other.machine
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }
}
