//! `LoadTest`: a load test that a command line asks for, with its files read and its plan validated. Nothing was sent yet.

use cli::{ExitError, Interrupts, Output};
use engine::Settings;
use metrics::Gates;
use remote::Resumable;
use remote::flags::FleetRequest;
use results::Format;
use session::save::SaveRequest;
use session::web::{self, LivePage, LiveView};
use session::{AbortWhen, MonitorConfig, Observer, OnInvalid, Progress, ReportFiles, tui};
use workload::Plan;

use super::outputs::{Outputs, ReportFormat};
use super::targets::Source;

/// A load test that a command line asks for.
#[derive(Debug)]
pub(crate) struct LoadTest {
    /// The load and its targets.
    pub(crate) plan: Plan,
    /// How the engine carries the plan out.
    pub(crate) settings: Settings,
    /// The targets that are read during the test (`-lazy`).
    pub(crate) lazy: Option<Source>,
    /// Where results go; `None` keeps none.
    pub(crate) results: Option<Output>,
    /// The format of the results.
    pub(crate) format: Format,
    /// The report at the end.
    pub(crate) report: ReportFormat,
    /// Whether the report has a row for each connection.
    pub(crate) per_connection: bool,
    /// Whether live progress is shown on standard error.
    pub(crate) progress: bool,
    /// Whether the run is shown on the whole terminal.
    pub(crate) tui: bool,
    /// The address that serves live metrics.
    pub(crate) prometheus: Option<String>,
    /// The address of the live page; empty for any that is free.
    pub(crate) web: Option<String>,
    /// The servers that samples are sent to.
    pub(crate) sent_to: Vec<String>,
    /// What is watched beside the test.
    pub(crate) watching: Option<MonitorConfig>,
    /// The conditions under which the test fails.
    pub(crate) gates: Gates,
    /// Whether an INVALID verdict decides the exit code.
    pub(crate) on_invalid: OnInvalid,
    /// When the test is ended early.
    pub(crate) abort_when: AbortWhen,
    /// The files that the report is written to.
    pub(crate) reports: ReportFiles,
    /// The store that keeps the run, where one does.
    pub(crate) saving: Option<SaveRequest>,
    /// The machines that send the load, where it is not this one.
    pub(crate) fleet: Option<FleetSource>,
}

/// Where a fleet that sends a load comes from.
#[derive(Debug)]
pub(crate) enum FleetSource {
    /// It is formed.
    Form(FleetRequest),
    /// It has sent the load all the while, without a command.
    Resume(Box<Resumable>),
}

impl LoadTest {
    /// A test of this plan with these outputs. The settings keep rows where an output takes them.
    #[must_use]
    pub(super) fn new(plan: Plan, mut settings: Settings, outputs: Outputs) -> Self {
        settings.rows = outputs.take_rows();
        let Outputs { results, format, report, progress, tui, prometheus, web, .. } = outputs;
        let (sent_to, reports) = (outputs.sent_to, outputs.reports);
        let (watching, gates, on_invalid) = (outputs.watching, outputs.gates, outputs.on_invalid);
        let (lazy, per_connection, abort_when) = (None, false, outputs.abort_when);
        Self {
            plan,
            settings,
            lazy,
            results,
            format,
            report,
            per_connection,
            progress,
            tui,
            prometheus,
            web,
            sent_to,
            watching,
            gates,
            on_invalid,
            abort_when,
            reports,
            saving: None,
            fleet: None,
        }
    }

    /// Refuses outputs that would replace what the test reads.
    ///
    /// # Errors
    /// One would.
    pub(super) fn spares(&self, inputs: &[&str]) -> Result<(), ExitError> {
        if let Some(results) = &self.results {
            results.spares("-output", inputs)?;
        }
        self.reports.spare(inputs)
    }

    /// The live page, where it is asked for.
    pub(super) fn live_page(&self, interrupts: &Interrupts) -> Option<LivePage> {
        self.web.as_deref().and_then(|address| web::open(address, interrupts))
    }

    /// The run on the live page. On a fleet its load is not to be changed.
    pub(super) fn live_view(&self, page: &LivePage) -> LiveView {
        match self.fleet {
            None => page.controlled_view(&self.plan),
            Some(_) => page.view(&self.plan),
        }
    }

    /// What the terminal shows meanwhile: the full-screen view, or the live progress.
    pub(super) fn live_progress(&self, interrupts: &Interrupts) -> Option<Box<dyn Observer>> {
        if let Some(view) = self.tui.then(|| tui::open(&self.plan, interrupts)).flatten() {
            return Some(Box::new(view));
        }
        let progress = self.progress.then(|| Progress::new(&self.plan))?;
        Some(Box::new(match &self.fleet {
            Some(FleetSource::Form(request)) => progress.of_agents(request.options.agents),
            Some(FleetSource::Resume(_)) | None => progress,
        }))
    }
}
