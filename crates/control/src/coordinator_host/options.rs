//! `CoordinatorOptions`: what a run of a fleet is made from, and its copy on disk.

use std::io;
use std::path::Path;

use fleet::{Config, Digest, Incarnation, Name, Policy};
use serde::{Deserialize, Serialize};
use stdx::{Nanos, private_file};

use crate::files::run_folder;

/// What a run of a fleet is made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinatorOptions {
    /// The run; no other of this fleet had the name.
    pub run: Name,
    /// This program's version; agents must have the same.
    pub version: String,
    /// Agents that the run needs, 1 to [`fleet::AGENTS_MAX`]; `None`: all that join within [`fleet::GATHER_FOR`].
    pub agents: Option<usize>,
    /// Labels (`KEY=VALUE`) that an agent must have, all of them.
    pub labels: Vec<String>,
    /// The SHA-256 of the archive, one of the run's files.
    pub archive: Digest,
    /// The SHA-256 of what `setup()` returned, where there was one.
    pub setup: Option<Digest>,
    /// How long agents may take to join, and then to make ready.
    pub ready_within: Nanos,
    /// From the decision to start until the start, at least [`fleet::LEAD_MIN`].
    pub lead: Nanos,
    /// How long deltas may take to come in after the load's end.
    pub drain_within: Nanos,
    /// The run goes on without an agent that was lost.
    pub goes_on: bool,
}

impl CoordinatorOptions {
    /// What the coordinator is made from.
    pub(super) fn config(&self, incarnation: Incarnation) -> Config {
        Config {
            run: self.run.clone(),
            incarnation,
            version: self.version.clone(),
            agents: self.agents,
            archive: self.archive,
            setup: self.setup,
            ready_within: self.ready_within,
            lead: self.lead,
            drain_within: self.drain_within,
            policy: if self.goes_on { Policy::GoOn } else { Policy::Fail },
        }
    }

    /// Writes them beside the journal, for a process that takes over.
    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        private_file::write(path, &serde_json::to_vec_pretty(self)?)
    }

    /// Those of a run in the fleet's folder.
    ///
    /// # Errors
    /// There is no such run, or its file is damaged.
    pub fn load(dir: &Path, run: &Name) -> io::Result<Self> {
        let bytes = private_file::read(&run_folder(dir, run).join(OPTIONS), OPTIONS_MAX)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// The options' file in the folder of a run, and its most bytes.
pub(super) const OPTIONS: &str = "run.json";
const OPTIONS_MAX: u64 = 1 << 20;
