//! `TestConfig`: the script compiled, its options read, what the command line says put above them.

use std::io::IsTerminal as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cli::{ExitCode, Output, ParsedArgs};
use engine::IoChoice;
use metrics::Gates;
use metrics::tally::Tally;
use remote::flags::FleetRequest;
use report::k6_summary::is_trend_stat;
use results::{Encoding, Format, MisleadingEnding};
use script::{AbortReason, DeclaredMetric, Fields, Files, Level, Options, Program, SystemTag};
use serde_json::Value;
use session::{
    Displays, MetricsRequest, MonitorConfig, OnInvalid, ReportFiles, RunFigures, TerminalView,
};
use workload::executor::Scenario;

use crate::announcement;
use crate::beginning::{Beginning, TimedFiles};
use crate::console::{self, Logger};
use crate::dashboard::{self, Dashboard};
use crate::error::K6Error;
use crate::flag_checks::{check_fleet, check_own_flags, check_watching};
use crate::flags::RunFlags;
use crate::judge::{self, Limit};
use crate::look_clock;
use crate::network::Network;
use crate::option_layers::{self, LayeredOptions};
use crate::outputs::{self, Outputs, TestMetadata};
use crate::script_variables::ScriptVariables;
use crate::secrets;
use crate::source::Source;
use crate::summary_mode::SummaryMode;
use crate::variables::strange_variables;
use crate::vu_count;
use crate::writes::Writes;
use session::monitor_flags::monitor_beside;

/// A script made ready to run.
pub(super) struct TestConfig {
    pub(super) program: Program,
    pub(super) options: Options,
    pub(super) thresholds: Vec<Limit>,
    /// The metrics and submetrics that thresholds are of; none where no thresholds are judged.
    pub(super) watched: Vec<String>,
    /// Every metric, with the submetrics that thresholds want; nothing counted yet.
    pub(super) tally: Tally,
    pub(super) setup: bool,
    pub(super) teardown: bool,
    pub(super) handle_summary: bool,
    /// The script's init code writes to the console: it is seen how often it runs.
    pub(super) init_logs: bool,
    pub(super) mode: SummaryMode,
    pub(super) machine_readable: bool,
    pub(super) summary_export: Option<Output>,
    /// Where `handleSummary` may write.
    pub(super) writes: Writes,
    pub(super) outputs: Option<Outputs>,
    /// What is watched beside the test.
    pub(super) watching: Option<MonitorConfig>,
    /// The conditions under which the test fails, beside the thresholds.
    pub(super) gates: Gates,
    /// Whether an INVALID verdict decides the exit code.
    pub(super) on_invalid: OnInvalid,
    pub(super) network: Network,
    pub(super) address: Option<String>,
    pub(super) compat: bool,
    /// A VU waits before its next iteration if its socket was refused.
    pub(super) backs_off: bool,
    /// How sockets are waited for.
    pub(super) io: IoChoice,
    pub(super) quiet: bool,
    /// What is seen of the scenarios while they go on, besides k6's progress.
    pub(super) displays: Displays,
    /// The files that the report is written to.
    pub(super) reports: ReportFiles,
    pub(super) linger: bool,
    pub(super) colored: bool,
    pub(super) cores: usize,
    pub(super) began: Instant,
    pub(super) logger: Arc<Logger>,
    pub(super) source: Rc<Source>,
    /// The machines that run the scenarios, where it is not this one.
    pub(super) fleet: Option<FleetRequest>,
    /// The script's variables.
    pub(super) variables: ScriptVariables,
    /// What the script is called on the command line.
    pub(super) path: String,
    /// What the outputs are called there.
    output_names: String,
}

/// A script that was compiled, with its options.
pub(super) struct Loaded {
    pub(super) program: Program,
    pub(super) options: Options,
    /// The options of the script itself, or of its archive.
    pub(super) own: Fields,
    pub(super) source: Rc<Source>,
    pub(super) logger: Arc<Logger>,
    pub(super) variables: ScriptVariables,
    /// The layers that set an option of execution, which drops the scenarios of layers below them.
    overriding: Vec<&'static str>,
    began: Instant,
}

impl Loaded {
    /// Warns of strange options, after all layers are merged.
    pub(super) fn warn(&self) {
        for layer in &self.overriding {
            let text = format!(
                "\"{layer}\" level configuration overrode scenarios configuration entirely"
            );
            self.logger.log_line(Level::Warn, &text);
        }
        self.options.warnings.iter().for_each(|text| self.logger.log_line(Level::Warn, text));
    }

    /// Refuses scenarios of functions that the script, called so on the command line, does not export.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn check_functions(&self, path: &str) -> Result<(), K6Error> {
        let is_missing = |of: &&Scenario| !self.program.functions.contains(&of.exec);
        match self.options.scenarios.iter().find(is_missing) {
            None => Ok(()),
            Some(Scenario { exec, name, .. }) => Err(K6Error::config(format!(
                "function '{exec}' not found in exports of {path}, which scenario {name} wants to run"
            ))),
        }
    }

    /// Refuses thresholds that are malformed, or of metrics that the script does not have.
    ///
    /// # Errors
    /// There is one.
    pub(super) fn check_thresholds(&self, flags: &RunFlags) -> Result<(), K6Error> {
        metrics_of(flags, &self.options, &self.program.metrics.from(0)).map(drop)
    }
}

/// Compiles a script and reads its options.
///
/// # Errors
/// It cannot be run. It has been said why.
pub(super) fn load(path: &str, flags: &RunFlags, shows_env: bool) -> Result<Loaded, ExitCode> {
    load_of((path, || Source::find(path, flags)), flags, shows_env)
}

/// The same of a script that `find` finds, which is called `path`.
///
/// # Errors
/// It cannot be run. It has been said why.
pub(super) fn load_of(
    (path, find): (&str, impl FnOnce() -> Result<Source, K6Error>),
    flags: &RunFlags,
    shows_env: bool,
) -> Result<Loaded, ExitCode> {
    let began = Instant::now();
    let logger = Logger::new(flags, began).map_err(K6Error::print)?;
    let console = option_layers::console(flags).filter(|_| !flags.is_part);
    let mut logger = logger;
    if let Some(path) = &console {
        logger.set_console(path).map_err(K6Error::print)?;
    }
    let logger = Arc::new(logger);
    let report = |error: K6Error| logger.report(&error);
    let source = Rc::new(find().map_err(report)?);
    let variables = option_layers::variables(flags, shows_env, &source.env);
    let secret_sources = if flags.is_part { Vec::new() } else { option_layers::secrets(flags) };
    let secrets = secrets::read(&secret_sources, &logger).map_err(report)?;
    let host = Rc::new(Beginning::new(path, began, &logger));
    let seen = Rc::clone(&host);
    let files = Rc::clone(&source) as Rc<dyn Files>;
    let files = Rc::new(TimedFiles { files, beginning: Rc::clone(&host) });
    let shown = Arc::new(variables.shown.clone());
    look_clock::start();
    let program = Program::compile_with(&source.main, shown, files, host, secrets);
    if let Some(AbortReason::Abort(text)) = seen.halt.take() {
        return Err(report(K6Error { code: ExitCode::Aborted, text }));
    }
    let mut program = program.map_err(|error| report(seen.error_of(error)))?;
    let layers = option_layers::all(program.options.as_deref(), source.options.clone(), flags);
    let LayeredOptions { own, all, overriding } = layers.map_err(report)?;
    if program.functions.is_empty() {
        let text = format!("{path}: no exported functions in script");
        return Err(report(K6Error::other(text)));
    }
    let options = Options::of(all).map_err(|error| report(K6Error::config(error.to_string())))?;
    let above = options.above(program.options.as_deref());
    if !above.is_empty() {
        program.options_above = Some(Value::Object(above).to_string().into());
    }
    for name in &options.unknown {
        let field = format!("json: unknown field \"{name}\"");
        let text = "There were unknown fields in the options exported in the script";
        logger.log(Level::Warn, text, &[("error", field.as_str())]);
    }
    if let Some(text) = strange_variables() {
        logger.log_line(Level::Warn, &text);
    }
    Ok(Loaded { program, options, own, overriding, source, logger, variables, began })
}

/// What the script is called.
///
/// # Errors
/// None is named, or several.
pub(super) fn script(typed: &ParsedArgs<RunFlags>) -> Result<&str, &'static str> {
    match typed.operands.as_slice() {
        [path] => Ok(path),
        [] => Err("requires a script or an archive, or - for standard input"),
        _ => Err("accepts 1 script, received more"),
    }
}

/// Loads a script; on an error prints it and gives the exit code.
pub(super) fn resolve(typed: &ParsedArgs<RunFlags>) -> Result<TestConfig, ExitCode> {
    let flags = &typed.flags;
    let path = script(typed).map_err(|text| K6Error::other(text.to_owned()).print())?;
    let loaded = load(path, flags, true)?;
    loaded.warn();
    let logger = Arc::clone(&loaded.logger);
    ready((flags, typed.global.cpus), path, loaded).map_err(|error| logger.report(&error))
}

/// A script that was loaded, made ready to run; `cpus` is the value of `-cpus`.
///
/// # Errors
/// Flags, options or outputs are wrong.
pub(super) fn ready(
    (flags, cpus): (&RunFlags, Option<u64>),
    path: &str,
    loaded: Loaded,
) -> Result<TestConfig, K6Error> {
    loaded.check_functions(path)?;
    let Loaded { program, options, source, logger, variables, began, .. } = loaded;
    let exists = |name: &str| program.functions.iter().any(|known| known == name);
    let mode = checked(flags, &options, &logger)?;
    let Metrics { tally, thresholds, watched } =
        metrics_of(flags, &options, &program.metrics.from(0))?;
    let mut names = if flags.is_part { Vec::new() } else { option_layers::outputs(flags) };
    let page = dashboard::read(flags.web.as_deref(), &mut names, |name| std::env::var(name).ok());
    let fleet = check_fleet((flags, cpus), &options, &names)?;
    vu_count::check(&options, vu_count::vus_max(fleet.is_some()))?;
    outputs::spare(&names, path)?;
    let known = TestMetadata {
        registry: program.metrics.clone(),
        tally: tally.clone(),
        limits: thresholds.clone(),
        system: options.system_tags,
        epoch_ns: epoch_ns(began),
    };
    check_own_flags(flags)?;
    let watching = monitor_beside(&flags.watched);
    let is_saved = flags.saving.is_asked() && !flags.is_part;
    check_watching(watching.as_ref(), &names, flags.saving.is_asked())?;
    let export = option_layers::text(flags.summary_export.as_deref(), "K6_SUMMARY_EXPORT");
    Ok(TestConfig {
        setup: exists("setup") && !options.no_setup,
        teardown: exists("teardown") && !options.no_teardown,
        handle_summary: exists("handleSummary"),
        init_logs: logger.has_console_lines(),
        mode,
        machine_readable: option_layers::switch(
            flags.machine_readable,
            "K6_NEW_MACHINE_READABLE_SUMMARY",
        ),
        summary_export: export.map(|file| summary_place(&file)).transpose()?,
        writes: writes(flags, path)?,
        outputs: outputs::start(&names, (known, &logger), is_saved)?,
        watching,
        gates: flags.gates.clone(),
        on_invalid: flags.on_invalid,
        network: Network::of(flags, &options.http).map_err(K6Error::config)?,
        address: option_layers::text(flags.address.as_deref(), "K6_ADDRESS"),
        compat: flags.compat,
        backs_off: !flags.no_backoff,
        io: flags.io,
        quiet: flags.quiet,
        reports: dashboard::reports(flags, page.export.as_deref()),
        displays: displays(flags, &page),
        linger: options.linger || option_layers::switch(flags.linger, "K6_LINGER"),
        colored: std::io::stdout().is_terminal() && !console::no_color(flags),
        cores: asked_cores(cpus).clamp(1, session::WORKERS_MAX as usize),
        program,
        options,
        thresholds,
        watched,
        tally,
        began,
        logger,
        source,
        fleet,
        variables,
        path: path.to_owned(),
        output_names: shown(&names),
    })
}

/// What is seen of a test while it goes on. A part of a fleet shows nothing.
fn displays(flags: &RunFlags, page: &Dashboard) -> Displays {
    if flags.is_part {
        return Displays::default();
    }
    Displays {
        terminal: if flags.tui { TerminalView::FullScreen } else { TerminalView::Nothing },
        page: page.request(),
        metrics: flags.prometheus_addr.as_deref().map(MetricsRequest::at),
    }
}

/// Where `--summary-export` wants the summary.
///
/// # Errors
/// The name stands for something else than JSON.
fn summary_place(file: &str) -> Result<Output, K6Error> {
    let place = Output::named(Some(file));
    if let Output::File(name) = &place {
        let wrong = |wrong: MisleadingEnding| K6Error::config(format!("--summary-export: {wrong}"));
        Format::of_text(name, Encoding::Json).map_err(wrong)?;
    }
    Ok(place)
}

/// Where the script may write.
fn writes(flags: &RunFlags, path: &str) -> Result<Writes, K6Error> {
    match flags.compat {
        true => Ok(Writes::anywhere()),
        false => Writes::of(path, &flags.allow_write).map_err(K6Error::other),
    }
}

/// The cores that `-cpus` asks for; without it all.
fn asked_cores(cpus: Option<u64>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cpus.map_or(cores, |n| usize::try_from(n).unwrap_or(cores))
}

/// The outputs as people see them, without passwords.
fn shown(names: &[String]) -> String {
    let without = |name: &String| stdx::shown_url(name).into_owned();
    let names: Vec<String> = names.iter().map(without).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

/// The metrics of a test before it starts, and the thresholds on them.
struct Metrics {
    tally: Tally,
    thresholds: Vec<Limit>,
    /// Metrics with thresholds, including those with an empty list.
    watched: Vec<String>,
}

/// Declares the script's metrics and those that thresholds select, and reads the thresholds.
fn metrics_of(
    flags: &RunFlags,
    options: &Options,
    own: &[DeclaredMetric],
) -> Result<Metrics, K6Error> {
    let mut tally = Tally::default();
    for own in own {
        tally.declare(&own.name, own.kind, own.contains);
    }
    if options.system_tags.has(SystemTag::ExpectedResponse) {
        tally.declare_sub("http_req_duration", "expected_response:true");
    }
    for (metric, selector) in flags.gates.submetrics() {
        tally.declare_sub(metric, &selector);
    }
    // k6 counts the metrics of thresholds even if it does not judge them.
    let declared = judge::declare(&options.watched, &mut tally);
    if option_layers::switch(flags.no_thresholds, "K6_NO_THRESHOLDS") {
        return Ok(Metrics { tally, thresholds: Vec::new(), watched: Vec::new() });
    }
    declared.map_err(K6Error::config)?;
    let thresholds = judge::read(&options.thresholds, &tally).map_err(K6Error::config)?;
    Ok(Metrics { tally, thresholds, watched: options.watched.clone() })
}

/// Refuses what k6 refuses before a test; gives how much the summary says.
fn checked(flags: &RunFlags, options: &Options, logger: &Logger) -> Result<SummaryMode, K6Error> {
    if let Some(wrong) = options.trend_stats.iter().find(|stat| !is_trend_stat(stat)) {
        return Err(K6Error::other(format!("invalid trend stat '{wrong}', unknown format")));
    }
    let known = |unit: &&str| !["s", "ms", "us"].contains(unit);
    if let Some(unit) = options.time_unit.as_deref().filter(known) {
        return Err(K6Error::other(format!(
            "invalid summary time unit '{unit}', use 's', 'ms' or 'us'"
        )));
    }
    let compatibility =
        option_layers::text(flags.compatibility.as_deref(), "K6_COMPATIBILITY_MODE");
    if let Some(wrong) = compatibility
        .filter(|mode| !["extended", "base", "experimental_enhanced"].contains(&mode.as_str()))
    {
        return Err(K6Error::other(format!(
            "invalid compatibility mode \"{wrong}\". Use: \"extended\", \"base\", \"experimental_enhanced\""
        )));
    }
    let traces = option_layers::text(flags.traces.as_deref(), "K6_TRACES_OUTPUT");
    if traces.is_some_and(|traces| traces != "none") {
        return Err(K6Error::other("flag --traces-output: there are no traces".to_owned()));
    }
    let word = option_layers::text(flags.summary_mode.as_deref(), "K6_SUMMARY_MODE");
    let mode = SummaryMode::named(word.as_deref().unwrap_or("compact"))
        .ok_or_else(|| K6Error::other("invalid summary mode".to_owned()))?;
    if mode == SummaryMode::Legacy {
        logger.log_line(Level::Warn, "The \"legacy\" summary mode has been deprecated by k6. Please, migrate to either \"compact\" or \"full\".");
    }
    let none = option_layers::switch(flags.no_summary, "K6_NO_SUMMARY");
    Ok(if none { SummaryMode::Disabled } else { mode })
}

/// Unix time of a moment, in nanoseconds.
fn epoch_ns(at: Instant) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.saturating_sub(at.elapsed()).as_nanos()).unwrap_or(i64::MAX)
}

impl TestConfig {
    /// Whether figures of the rows are needed besides the summary, for a report or for the verdict.
    pub(super) fn needs_figures(&self) -> bool {
        !self.reports.is_empty() || self.on_invalid == OnInvalid::Fail || cli::has_job_summary()
    }

    /// Figures of the scenarios' rows, where anything needs them; by name, since its answers show where redirects led all of a name.
    pub(super) fn figures(&self, is_reported: bool) -> Option<RunFigures> {
        let is_needed = is_reported || self.needs_figures() || self.has_result();
        is_needed.then(RunFigures::of_script)
    }

    /// Whether it is said after the summary how the server did, and whether the figures may be believed. k6 does not.
    pub(super) fn has_result(&self) -> bool {
        !self.compat && self.mode != SummaryMode::Disabled
    }

    /// Whether rows go to a file for `brunt report`.
    pub(super) fn has_results(&self) -> bool {
        self.outputs
            .as_ref()
            .is_some_and(|outputs| outputs.results.is_some() || outputs.stored.is_some())
    }

    /// What is about to be run, in k6's manner.
    pub(super) fn announcement(&self) -> String {
        let execution = self.fleet.as_ref().map_or_else(|| "local".to_owned(), on_fleet);
        announcement::text(&execution, &self.path, &self.output_names, &self.options)
    }
}

/// Where a fleet's test runs, in a few words.
fn on_fleet(request: &FleetRequest) -> String {
    match request.options.agents {
        Some(agents) => format!("on {} of a fleet", stdx::counted(agents as u64, "agent")),
        None => "on the agents of a fleet".to_owned(),
    }
}
