//! `ScriptArchive`: a script on its way to agents.

use remote::ScriptWork;
use script::Fields;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::archive;
use crate::config::{self, TestConfig};
use crate::error::K6Error;
use crate::flags::RunFlags;
use crate::source::Source;
use crate::summary_mode::SummaryMode;

/// A script on its way to agents, and what the command line says of how it is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScriptArchive {
    /// k6's archive: the script, what it read, its options and variables.
    tar: Vec<u8>,
    compat: bool,
    no_backoff: bool,
    /// Worker threads of each agent; `None` is one for each of its cores.
    workers: Option<u64>,
    /// Metrics of scenarios and groups are counted on their own as well.
    pub(super) parts: bool,
    /// Rows are wanted.
    pub(super) rows: bool,
    /// Submetrics that gates select, beside those of thresholds.
    submetrics: Vec<(String, String)>,
}

impl ScriptArchive {
    /// That of a test. The script has read what it reads at its start.
    pub(super) fn of(meant: &TestConfig) -> Self {
        let tar = archive::bytes(&meant.source, &meant.options, &meant.variables, None);
        let submetrics = meant.gates.submetrics().into_iter();
        let workers = meant.fleet.as_ref().and_then(|request| request.workers);
        Self {
            tar,
            compat: meant.compat,
            no_backoff: !meant.backs_off,
            workers: workers.map(|workers| workers as u64),
            parts: meant.mode == SummaryMode::Full || meant.has_results(),
            rows: meant.has_results() || !meant.gates.is_empty(),
            submetrics: submetrics
                .map(|(metric, selector)| (metric.to_owned(), selector))
                .collect(),
        }
    }

    /// The bytes that agents fetch.
    pub(super) fn encode(&self) -> Vec<u8> {
        // Texts and bytes: all have a form.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        postcard::from_bytes(bytes)
            .map_err(|_| "the archive of the script cannot be read".to_owned())
    }

    /// The test on an agent: the scenarios' part that is its share.
    ///
    /// # Errors
    /// The script cannot be run here, with the reason.
    pub(super) fn config(&self, work: &ScriptWork<'_>) -> Result<TestConfig, String> {
        let mut options = Fields::new();
        let share = work.share;
        for (name, text) in
            [("executionSegment", &share.segment), ("executionSegmentSequence", &share.sequence)]
        {
            options.insert(name.to_owned(), Value::from(text.as_str()));
        }
        let flags = RunFlags {
            options,
            include_system_env: Some(false),
            compat: self.compat,
            no_backoff: self.no_backoff,
            quiet: true,
            is_part: true,
            ..RunFlags::default()
        };
        const NAME: &str = "the archive";
        let found = || Source::of_archive(&self.tar);
        let loaded = config::load_of((NAME, found), &flags, false).map_err(|_| {
            "the script cannot be loaded; the agent's log has the reason".to_owned()
        })?;
        let words = |error: K6Error| error.text;
        let workers = self.workers.unwrap_or(work.workers as u64);
        let mut meant = config::ready((&flags, Some(workers)), NAME, loaded).map_err(words)?;
        for (metric, selector) in &self.submetrics {
            meant.tally.declare_sub(metric, selector);
        }
        meant.mode = if self.parts { SummaryMode::Full } else { SummaryMode::Disabled };
        Ok(meant)
    }
}
