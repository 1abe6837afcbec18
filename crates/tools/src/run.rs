//! The run of a tool's command line, and its report in the tool's layout.

use std::time::Duration;

use cli::{ExitError, Interrupts, OpenOutput, Output, ResultsOption, eprint_line};
use metrics::{Batch, Generator};
use report::Measurement;
use session::{
    Deadline, DeadlineKind, Observer, ObserverError, ResultsFile, RunFigures, RunPlace, RunRequest,
    SessionOptions, StopPolicy,
};

use crate::config::{Layout, ToolConfig};

/// Runs the load and writes the report; the results go to a file as well if one is named.
///
/// # Errors
/// It cannot be started, or its report or results cannot be written.
pub(crate) fn run_config(
    config: &ToolConfig,
    results: Option<ResultsOption>,
) -> Result<(), ExitError> {
    let results = results.map(ResultsFile::of_option).transpose()?;
    let mut outlet = config.place.open_for_documents()?;
    let interrupts = Interrupts::watch()?;
    config.notes.iter().for_each(|note| eprint_line(note));
    if let Layout::Wrk(offered, _) = &config.layout {
        outlet.write(report::wrk::head(offered).as_bytes())?;
    }
    let mut figures = RunFigures::new(config.layout.on_cut_off()).with_phases();
    let mut rows = matches!(config.layout, Layout::HeyCsv).then(HeyCsv::start).transpose()?;
    let options =
        SessionOptions { results, stop: stop(config), ..SessionOptions::new(&interrupts) };
    let request = RunRequest::new(config.plan.clone(), options);
    let source = RunPlace::here(&config.settings);
    let generator = request.carry_out(source, &mut [&mut figures, &mut rows])?.ended.generator;
    outlet.write(document(config, &figures, &generator).as_bytes())?;
    if figures.left_out > 0 {
        let hits = figures.left_out;
        session::warn(&format!("requests under way at the end, in no figure: {hits}"));
    }
    let verdict = figures.verdict(&generator);
    if !verdict.is_valid() && !matches!(config.layout, Layout::Text | Layout::Json) {
        session::warn(&verdict.to_string());
    }
    Ok(())
}

/// When it ends: at the end of its plan, so long as requests under way may take.
fn stop(config: &ToolConfig) -> StopPolicy {
    let after = config.plan.duration.map(Duration::from);
    let kind = DeadlineKind::Planned;
    let deadline = config.grace.map(|grace| Deadline { after, grace, kind });
    StopPolicy { deadline, ..StopPolicy::default() }
}

/// The report.
fn document(config: &ToolConfig, figures: &RunFigures, generator: &Generator) -> String {
    let Some(phases) = &figures.phases else { return String::new() };
    let seen = Measurement { summary: &figures.summary, phases, generator: Some(generator) };
    let verdict = figures.verdict(generator);
    let input = figures.input("", (generator, &verdict), &[]);
    match &config.layout {
        Layout::Wrk(offered, style) => report::wrk::text(&seen, offered, *style),
        Layout::Perfer(offered, style) => report::perfer::text(&seen, offered, style),
        Layout::Hey => report::hey::text(&seen),
        Layout::Text => report::text(&input),
        Layout::Json => report::json(&input),
        Layout::HeyCsv | Layout::Quiet => String::new(),
    }
}

/// Writes rows to standard output in hey's format, as they come.
struct HeyCsv {
    outlet: OpenOutput,
    text: String,
}

impl HeyCsv {
    /// Writes the head.
    fn start() -> Result<Self, ExitError> {
        let mut outlet = Output::Stdout.open_for_documents()?;
        outlet.write(report::hey::CSV_HEAD.as_bytes())?;
        Ok(Self { outlet, text: String::new() })
    }
}

impl Observer for HeyCsv {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.text.clear();
        report::hey::csv_rows(batch, &mut self.text);
        self.outlet.write(self.text.as_bytes()).map_err(|failed| failed.error.into())
    }
}
