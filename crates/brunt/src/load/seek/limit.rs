//! `WatchedStep`: the figures of a step of a search and what was seen of the servers meanwhile: what limits them.

use metrics::{Batch, TargetTable, Verdict};
use report::seek::LimitAtLoad;
use session::{Observer, ObserverError, OnCutOff, RunFigures, SessionOutcome};
use study::seek::{Judgement, Search, Step, level};

use crate::load::watched::WatchedServers;

/// A step beside which servers are watched.
pub(super) struct WatchedStep {
    figures: RunFigures,
    servers: WatchedServers,
}

impl WatchedStep {
    /// Of these targets; nothing was seen yet.
    pub(super) fn new(labels: TargetTable) -> Self {
        let figures = RunFigures::new(OnCutOff::Counted).of_targets(labels);
        Self { figures, servers: WatchedServers::new() }
    }

    /// What limits the server in this step; `None` where nothing that was seen shows one, and of an INVALID step.
    pub(super) fn limit(
        mut self,
        search: &Search,
        step: &Step,
        (outcome, verdict): (&SessionOutcome, &Verdict),
    ) -> Option<LimitAtLoad> {
        if step.spoilt.is_some() {
            return None;
        }
        if let Some(seen) = &outcome.server {
            self.servers.add(seen);
        }
        let missed = level::judge_alone(&search.objective, step) == Judgement::Missed;
        let server = self.servers.beside(&self.figures.summary);
        let input = self.figures.input("", (&outcome.generator, verdict), &[]);
        LimitAtLoad::of(step.load, missed, &report::Input { server, ..input })
    }
}

impl Observer for WatchedStep {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.servers.rows(batch)?;
        self.figures.rows(batch)
    }
}
