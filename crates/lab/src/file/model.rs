//! The parts of a study: `Study`, its variants, servers and workloads.

use std::time::Duration;

use nix::sys::signal::Signal;
use stdx::Nanos;
use study::plan::{Cell, Ordering};

use super::command_family::CommandFamily;

/// A study, read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) title: String,
    /// Decides the order of runs.
    pub(crate) seed: u64,
    pub(crate) times: Timing,
    pub(crate) monitor: Option<MonitorPlan>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) workloads: Vec<Workload>,
    /// Names of the workloads that the short form leaves out; empty for the full form.
    pub(crate) skipped: Vec<String>,
    /// Every key that decides what is run, with its value: they must be equal for runs to be of one study.
    pub(crate) facts: Vec<(String, String)>,
}

/// How often each run is repeated, and the pauses around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timing {
    pub(crate) repeats: usize,
    pub(crate) warm_up: Nanos,
    pub(crate) cool_down: Nanos,
}

/// What the monitor watches beside each run.
#[derive(Clone, Debug)]
pub(crate) struct MonitorPlan {
    pub(crate) every: Nanos,
    pub(crate) scrape: Vec<String>,
    /// `KIND:PATH` each.
    pub(crate) logs: Vec<String>,
}

/// A variant: a set-up that is compared with others.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    pub(crate) name: String,
    pub(crate) note: String,
    pub(crate) requires: Vec<Requirement>,
    /// It is left out if a requirement is missing.
    pub(crate) optional: bool,
    pub(crate) values: Vec<(String, String)>,
    pub(crate) before: Vec<Vec<String>>,
    pub(crate) after: Vec<Vec<String>>,
    pub(crate) generators: usize,
    pub(crate) prefix: Vec<String>,
    pub(crate) servers: Vec<ServerPlan>,
}

/// What a variant needs on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) what: Required,
    /// The command that installs it; may be empty.
    pub(crate) install: String,
}

/// A program or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Required {
    /// A program in the PATH, or by its path.
    Command(String),
    /// A file or folder.
    File(String),
}

/// How a server is started and stopped.
#[derive(Clone, Debug)]
pub(crate) struct ServerPlan {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    pub(crate) folder: String,
    pub(crate) environment: Vec<(String, String)>,
    /// The address that is probed; `None`: it is ready once it is started.
    pub(crate) ready: Option<String>,
    pub(crate) within: Duration,
    pub(crate) stop: Signal,
    pub(crate) version: Vec<String>,
    /// It serves the load: what it takes is the server's side. A part of the load generator is not watched.
    pub(crate) watched: bool,
}

/// A workload: a command line of brunt that offers load.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) name: String,
    /// brunt's arguments, without the output flag.
    pub(crate) command: Vec<String>,
    pub(crate) family: CommandFamily,
    /// Its own number of repeats; `None` for that of the study.
    pub(crate) repeats: Option<usize>,
    /// Names of variants; empty for all.
    pub(crate) only: Vec<String>,
    /// Its variants are one set-up under several loads: a model is fitted to them.
    pub(crate) fit: bool,
    pub(crate) expect: Vec<Ordering>,
    pub(crate) forms: Forms,
}

/// The forms of a study that a workload is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forms {
    /// Both.
    Both,
    /// The full one: its `quick` is empty.
    FullOnly,
}

/// The form of a study that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As `[study]` says.
    Full,
    /// As `[study.quick]` and the workloads' `quick` say.
    Quick,
}

impl Workload {
    /// It is run for the variant of this name.
    #[must_use]
    pub(crate) fn is_for(&self, variant: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == variant)
    }
}

impl Study {
    /// The pairs of workload and variant that each repeat runs, without the variants at the indices `excluded`.
    #[must_use]
    pub(crate) fn cells(&self, excluded: &[usize]) -> Vec<Cell> {
        let of = |workload: usize| {
            let variants = self.variants.iter().enumerate();
            variants
                .filter(move |(at, variant)| {
                    !excluded.contains(at) && self.workloads[workload].is_for(&variant.name)
                })
                .map(move |(variant, _)| Cell { workload, variant })
        };
        (0..self.workloads.len()).flat_map(of).collect()
    }

    /// The same pairs, each with its number of repeats.
    #[must_use]
    pub(crate) fn repeated(&self, excluded: &[usize]) -> Vec<(Cell, usize)> {
        let repeats = |cell: &Cell| self.workloads[cell.workload].repeats;
        let of = |cell: Cell| (cell, repeats(&cell).unwrap_or(self.times.repeats));
        self.cells(excluded).into_iter().map(of).collect()
    }
}
