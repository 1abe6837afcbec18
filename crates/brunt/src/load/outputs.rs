//! `Outputs`: where the results of a test go, and what people see of it.

use cli::{CommandError, Output, usage_error};
use metrics::Gates;
use results::{Encoding, Format};
use session::save::SaveFlags;
use session::{
    AbortWhen, Displays, MetricsRequest, MonitorConfig, OnInvalid, PageRequest, ReportFiles,
    TakenAddress, TerminalView,
};

use super::environment::Environment;
use super::flags::{DisplayFlags, ResultsFlags};
use crate::dialect::LoadRules;
use session::monitor_flags::MonitorTargets;
use session::monitor_flags::{self, monitor_beside};

/// The report on standard output at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportFormat {
    /// No report.
    Nothing,
    /// The text report.
    Text,
    /// The JSON report.
    Json,
}

/// Where the results of a test go, and what people see of it.
#[derive(Debug)]
pub(super) struct Outputs {
    /// Where results go; `None` keeps none.
    pub(super) results: Option<Output>,
    /// The format of the results.
    pub(super) format: Format,
    /// The report at the end.
    pub(super) report: ReportFormat,
    /// What is seen of the test while it goes on.
    pub(super) displays: Displays,
    /// The servers that samples are sent to.
    pub(super) sent_to: Vec<String>,
    /// What is watched beside the test.
    pub(super) watching: Option<MonitorConfig>,
    /// The conditions under which the test fails.
    pub(super) gates: Gates,
    /// Whether an INVALID verdict decides the exit code.
    pub(super) on_invalid: OnInvalid,
    /// When the test is ended early.
    pub(super) abort_when: AbortWhen,
    /// Whether the store keeps the run.
    pub(super) saves: bool,
    /// The files that the report is written to.
    pub(super) reports: ReportFiles,
}

/// The flags that outputs depend on.
pub(super) struct OutputFlags<'a> {
    /// Where results go.
    pub(super) results: &'a ResultsFlags,
    /// What people see.
    pub(super) display: &'a DisplayFlags,
    /// What is watched beside the test.
    pub(super) watched: &'a MonitorTargets,
    /// Whether and where the store keeps the run.
    pub(super) saving: &'a SaveFlags,
}

impl Outputs {
    /// The outputs that these flags ask for.
    ///
    /// # Errors
    /// Two outputs need standard output, or the monitor's rows have nowhere to go.
    pub(super) fn resolve(
        rules: &LoadRules,
        flags: &OutputFlags<'_>,
        environment: &Environment<'_>,
    ) -> Result<Self, CommandError> {
        let (results, report) = match rules.bare_results {
            Some(_) => {
                // Vegeta's flag names files alone, whatever they are called.
                let named = flags.results.sent_to.last().or(flags.results.output.as_ref());
                (Some(Output::named(named.map(String::as_str))), ReportFormat::Nothing)
            }
            None => results_and_report(flags, environment)?,
        };
        check_watched(flags.watched)?;
        let watching = monitor_beside(flags.watched);
        let saves = flags.saving.is_asked();
        if watching.is_some() && results.is_none() && !saves {
            return Err(usage_error("-watch needs a file for its samples (give -output=FILE)"));
        }
        Ok(Self {
            results,
            format: rules
                .bare_results
                .map_or_else(|| format(flags.results), |bare| Ok(bare.into()))?,
            report,
            displays: displays(rules, flags.display, environment),
            sent_to: match rules.bare_results {
                Some(_) => Vec::new(),
                None => flags.results.sent_to.clone(),
            },
            watching,
            gates: flags.display.gates.clone(),
            on_invalid: flags.display.on_invalid,
            abort_when: flags.display.abort_when,
            saves,
            reports: flags.saving.reports.clone(),
        })
    }

    /// Whether an output needs a row for each request.
    pub(super) fn take_rows(&self) -> bool {
        self.results.is_some()
            || self.saves
            || !self.reports.is_empty()
            || self.report != ReportFormat::Nothing
            || self.displays.take_rows()
            || !self.sent_to.is_empty()
            || !self.gates.is_empty()
            || self.on_invalid == OnInvalid::Fail
    }
}

/// What is seen of a test while it goes on.
fn displays(rules: &LoadRules, flags: &DisplayFlags, environment: &Environment<'_>) -> Displays {
    let &DisplayFlags { progress, quiet, tui, ref prometheus_addr, ref web, .. } = flags;
    let is_shown = progress.unwrap_or(environment.stderr_is_terminal && !quiet);
    let terminal = match (tui, is_shown && rules.bare_results.is_none()) {
        (true, _) => TerminalView::FullScreen,
        (false, true) => TerminalView::Progress,
        (false, false) => TerminalView::Nothing,
    };
    let metrics = prometheus_addr.as_ref().map(|address| MetricsRequest {
        address: address.clone(),
        bare: rules.bare_port,
        taken: if rules.checks_first { TakenAddress::Refused } else { TakenAddress::Ignored },
    });
    Displays { terminal, page: web.as_deref().map(PageRequest::at), metrics }
}

/// Refuses flags that say how to watch where nothing is watched.
///
/// # Errors
/// They do.
pub(super) fn check_watched(watched: &MonitorTargets) -> Result<(), CommandError> {
    if watched.is_stray() { Err(usage_error(monitor_flags::STRAY)) } else { Ok(()) }
}

/// Where results go, and the report, as flags and terminal decide.
fn results_and_report(
    flags: &OutputFlags<'_>,
    environment: &Environment<'_>,
) -> Result<(Option<Output>, ReportFormat), CommandError> {
    let &DisplayFlags { json, quiet, .. } = flags.display;
    let results = match flags.results.output.as_deref() {
        Some("none") => None,
        // Binary results are no use on a terminal, and JSON has standard output to itself.
        None if environment.stdout_is_terminal || json || flags.saving.is_given() => None,
        output => Some(Output::named(output)),
    };
    let is_taken = results == Some(Output::Stdout);
    let report = match (json, is_taken) {
        (true, true) => {
            let text = "-json prints the report where the results go (give -output=FILE)";
            return Err(usage_error(text));
        }
        (true, false) => ReportFormat::Json,
        (false, true) => ReportFormat::Nothing,
        (false, false) if quiet => ReportFormat::Nothing,
        (false, false) if results.is_none() || environment.stdout_is_terminal => ReportFormat::Text,
        (false, false) => ReportFormat::Nothing,
    };
    Ok((results, report))
}

/// The format of the results.
///
/// # Errors
/// The ending of their name stands for none.
fn format(flags: &ResultsFlags) -> Result<Format, CommandError> {
    let named = flags.to.as_deref().and_then(Encoding::parse);
    let output = flags.output.as_deref().filter(|output| *output != "none");
    Ok(session::format_of("-output", &Output::named(output), named, Encoding::Arrow)?)
}
