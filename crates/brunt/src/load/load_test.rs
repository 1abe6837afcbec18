//! `LoadTest`: a load test that a command line asks for, with its files read and its plan validated. Nothing was sent yet.

use cli::{ExitCode, ExitError, Interrupts, Output};
use engine::{LazyTargets, Settings};
use metrics::Gates;
use remote::Resumable;
use remote::flags::FleetRequest;
use results::Format;
use session::save::SaveRequest;
use session::{
    AbortObserver, AbortWhen, Displays, LoadOnPage, MonitorConfig, OnInvalid, OpenDisplays,
    ReportFiles, TerminalView, target_labels,
};
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
    /// The targets that come during the test.
    pub(crate) lazy: Option<LazySource>,
    /// Where results go; `None` keeps none.
    pub(crate) results: Option<Output>,
    /// The format of the results.
    pub(crate) format: Format,
    /// The report at the end.
    pub(crate) report: ReportFormat,
    /// Whether the report has a row for each connection.
    pub(crate) per_connection: bool,
    /// What is seen of the test while it goes on.
    pub(crate) displays: Displays,
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

/// Where targets come from that are not known before the test.
pub(crate) enum LazySource {
    /// They are read (`-lazy`).
    Read(Source),
    /// Each is made for its hit.
    Made(LazyTargets),
}

impl std::fmt::Debug for LazySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(source) => f.debug_tuple("Read").field(source).finish(),
            Self::Made(_) => f.write_str("Made"),
        }
    }
}

/// Where a fleet that sends a load comes from.
#[derive(Debug)]
pub(crate) enum FleetSource {
    /// It is formed.
    Form(FleetRequest),
    /// It has sent the load all the while, without a command.
    Resume(Box<Resumable>),
}

impl FleetSource {
    /// How many agents were asked for, where a number was.
    fn agents(&self) -> Option<usize> {
        match self {
            Self::Form(request) => request.options.agents,
            Self::Resume(_) => None,
        }
    }
}

impl LoadTest {
    /// A test of this plan with these outputs. The settings keep rows where an output takes them.
    #[must_use]
    pub(super) fn new(plan: Plan, mut settings: Settings, outputs: Outputs) -> Self {
        settings.rows = outputs.take_rows();
        let Outputs { results, format, report, displays, .. } = outputs;
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
            displays,
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

    /// Refuses to end the test early by what it does not have.
    ///
    /// # Errors
    /// It has no gates, no rate that was asked for, or a rate that is counted elsewhere.
    pub(super) fn check_abort(&self) -> Result<(), ExitError> {
        if let Some(objection) = self.abort_when.objection(&self.plan, &self.gates) {
            return Err(ExitError::new(ExitCode::Usage, objection));
        }
        if self.fleet.is_some() && self.abort_when.rate {
            let text = "-abort-when=rate needs this machine to send the load: the counts of a fleet's agents come late (give gates)";
            return Err(ExitError::new(ExitCode::Usage, text));
        }
        Ok(())
    }

    /// What ends the test early, where that is asked for.
    pub(super) fn abort(&self) -> Option<AbortObserver> {
        let labels = || target_labels(&self.plan);
        AbortObserver::new(self.abort_when, &self.plan, &self.gates, labels)
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

    /// Opens the displays; `load` is what viewers of a page may do to it, where this machine sends it.
    ///
    /// # Errors
    /// The live metrics cannot be served.
    pub(super) fn open_displays(
        &self,
        load: LoadOnPage,
        interrupts: &Interrupts,
    ) -> Result<OpenDisplays, ExitError> {
        let mut displays = self.displays.clone();
        match (&self.fleet, &mut displays) {
            (None, Displays { page: Some(page), .. }) => page.load = load,
            (None, _) => {}
            (Some(source), Displays { terminal: terminal @ TerminalView::Progress, .. }) => {
                *terminal = TerminalView::ProgressOfAgents(source.agents());
            }
            (Some(_), _) => {}
        }
        displays.open(&self.plan, interrupts)
    }
}
