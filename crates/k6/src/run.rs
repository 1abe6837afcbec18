//! `run`: a k6 script. Compile ─▶ setup ─▶ the scenarios ─▶ teardown ─▶ thresholds and summary.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cli::{CommandError, ExitCode, ExitError, Invocation, Output, ParsedArgs, usage_error};
use metrics::tally::{Assertion, MetricSummary, Tally};
use metrics::{Generator, Verdict};
use report::k6_summary::{K6Input, K6Part};
use script::{GroupTallies, Level, PriorStages, Stage, SystemTag, VuStats};
use session::save::{self, SaveRequest, SavedTest};
use session::{BarePort, RunFigures, RunOutcome, TerminalView};
use stdx::Nanos;
use store::OpenRun;
use workload::VuAssignment;

use crate::arguments::typed;
use crate::config::{self, TestConfig, resolve};
use crate::flags::{RUN, RunFlags};
use crate::fleet::run_on_fleet;
use crate::judge::{assertions, joined_once, judge, shortened};
use crate::outputs::Losses;
use crate::rest::Rest;
use crate::setup_totals::SetupTotals;
use crate::stage::{StageResult, run_stage};
use crate::summary;
use crate::summary_mode::SummaryMode;
use crate::waits::{linger, wait_while_paused};
use crate::watch::{JUDGE_EVERY, JUDGE_FLEET_EVERY, Progress, Watch};

/// Runs a script.
pub fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = match typed(invocation, RUN)? {
        Ok(typed) => typed,
        Err(code) => return Ok(code),
    };
    let mut meant = match resolve(&typed) {
        Ok(meant) => meant,
        Err(code) => return Ok(code),
    };
    meant.reports.spare(&typed.operands)?;
    if let Some(export) = &meant.summary_export {
        export.spares("--summary-export", &typed.operands)?;
    }
    // A test must not be run for a summary that cannot be written.
    meant.summary_export.iter().try_for_each(Output::try_out)?;
    meant.reports.try_out()?;
    let Ok(rest) = meant.address.as_deref().map(|at| rest(&meant, at)).transpose() else {
        return Ok(ExitCode::NoApi);
    };
    if !meant.quiet {
        Output::Stdout.write(meant.announcement().as_bytes())?;
    }
    let mut saved = saving(&typed, invocation)?.map(SaveRequest::begin).transpose()?;
    if let (Some(run), Some(outputs)) = (&mut saved, &mut meant.outputs) {
        outputs.stored = Some(save::results_of(run, outputs.format())?);
    }
    let (logger, compat) = (Arc::clone(&meant.logger), meant.compat);
    let ended = test(meant, rest.as_ref(), saved.as_mut());
    logger.write_counts();
    // k6 loses lines of its log without a word, and ends with 0.
    let is_cut = |code: &ExitCode| *code == ExitCode::Ok && !compat && logger.is_cut();
    let ended = ended.map(|code| if is_cut(&code) { ExitCode::Failure } else { code });
    let code = save::finish_saved(saved, ended)?;
    if let Some(rest) = &rest {
        rest.finish();
    }
    Ok(code)
}

/// The store's run that flags ask for.
///
/// # Errors
/// A flag stands for nothing.
fn saving(
    typed: &ParsedArgs<RunFlags>,
    invocation: &Invocation,
) -> Result<Option<SaveRequest>, ExitError> {
    let path = typed.operands.first().map_or("", String::as_str);
    let name = std::path::Path::new(path).file_stem().and_then(|stem| stem.to_str());
    typed.flags.saving.request(SavedTest {
        command: "run",
        args: &invocation.args,
        name: name.unwrap_or_default(),
        inputs: &[path],
    })
}

/// Serves the REST API; why that cannot be has been said.
fn rest(meant: &TestConfig, address: &str) -> Result<Arc<Rest>, ()> {
    let bare = if meant.compat { BarePort::AllAddresses } else { BarePort::Loopback };
    if bare == BarePort::Loopback
        && let Some(port) = address.strip_prefix(':')
    {
        meant.logger.log_line(Level::Info, &format!(
            "the REST API is at 127.0.0.1:{port}, for this machine only (for other machines: -a 0.0.0.0:{port})"
        ));
    }
    Rest::start(address, bare, meant.options.paused).map_err(|text| {
        meant.logger.log_line(Level::Error, &format!("Error from API server: {text}"));
    })
}

/// The operands of a command line of `run`; none where its flags are wrong.
#[must_use]
pub fn operands(invocation: &Invocation) -> Vec<String> {
    invocation.parse(RUN).map(|typed| typed.operands).unwrap_or_default()
}

/// Whether this command line is valid; the script is not read.
pub fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    let typed = invocation.parse(RUN)?;
    config::script(&typed).map(drop).map_err(usage_error)
}

/// What was seen of a test so far.
struct TestProgress {
    outcome: VuStats,
    /// How long its stages took.
    elapsed: Nanos,
    /// How many VUs there are.
    vus: u64,
    /// What `setup` returned, as JSON.
    data: Option<String>,
    code: ExitCode,
}

impl TestProgress {
    /// What a stage that starts now needs to know of the earlier ones.
    fn earlier(&self) -> PriorStages {
        PriorStages { elapsed: self.elapsed, vus: self.vus }
    }

    fn add(&mut self, done: &StageResult) {
        self.outcome.merge(&done.outcome);
        self.elapsed = self.elapsed.saturating_add(done.elapsed);
    }
}

/// Runs the test from setup to summary; gives the code to end with.
fn test(
    mut meant: TestConfig,
    rest: Option<&Arc<Rest>>,
    saved: Option<&mut OpenRun>,
) -> Result<ExitCode, ExitError> {
    let provenance = session::provenance_row();
    wait_while_paused(&meant, rest.map(Arc::as_ref))?;
    let mut seen = TestProgress {
        outcome: VuStats { tally: meant.tally.clone(), ..VuStats::default() },
        elapsed: Nanos::ZERO,
        vus: VuAssignment::new(&meant.options.scenarios, &meant.options.segment).total,
        data: None,
        code: ExitCode::Ok,
    };
    if meant.setup {
        let done = run_stage(&meant, (Stage::Setup, seen.earlier()), None, None)?;
        seen.add(&done);
        seen.code = after(&meant, &done, ExitCode::SetupTimeout);
        seen.data = done.outcome.returned;
    }
    let mut last = match seen.code {
        ExitCode::Ok => Some(scenarios(&meant, rest, &mut seen)?),
        _ => None,
    };
    if let (Some(outputs), Some(done)) = (&mut meant.outputs, &mut last) {
        outputs.held = done.run.ended.results.take();
    }
    if meant.teardown && last.is_some() {
        let stage = (Stage::Teardown, seen.earlier());
        let down = run_stage(&meant, stage, seen.data.as_deref(), None)?;
        seen.add(&down);
        let late = after(&meant, &down, ExitCode::TeardownTimeout);
        seen.code = if seen.code == ExitCode::Ok { late } else { seen.code };
    }
    let agents = last.as_mut().map_or_else(Vec::new, |done| std::mem::take(&mut done.agents));
    let Conclusion { crossed, gates, mut asserted, summary } =
        conclude(&mut meant, &seen, last.as_ref().map(|done| &done.run), agents)?;
    if let Some(done) = &mut last {
        asserted = done.run.with_facts(asserted, provenance);
    }
    let verdict = last.as_ref().and_then(|done| done.run.verdict(&asserted));
    let judged = last.as_ref().zip(verdict.as_ref());
    let judged = judged.and_then(|(done, verdict)| JudgedFigures::of(&done.run, verdict));
    if let Some(judged) = judged {
        write_reports(&meant, judged, (saved, &asserted))?;
    }
    if last.is_some() && !crossed.is_empty() {
        let text = format!("thresholds on metrics '{crossed}' have been crossed");
        meant.logger.log_line(Level::Error, &text);
        cli::annotate_failure("load test", &text);
        seen.code = if seen.code == ExitCode::Ok { ExitCode::Thresholds } else { seen.code };
    }
    let code = session::conclude_shown_run(&gates, verdict.as_ref(), meant.on_invalid);
    seen.code =
        [seen.code, code, summary].into_iter().find(|c| *c != ExitCode::Ok).unwrap_or(ExitCode::Ok);
    if let Some(done) = &last {
        notes(&meant, done, seen.elapsed);
        write_result(&meant, judged, (done, &asserted));
    }
    if meant.linger {
        linger(&meant)?;
    }
    Ok(seen.code)
}

/// Runs the scenarios.
fn scenarios(
    meant: &TestConfig,
    rest: Option<&Arc<Rest>>,
    seen: &mut TestProgress,
) -> Result<StageResult, ExitError> {
    let crossed: RefCell<Arc<AtomicBool>> = RefCell::default();
    let before = SetupTotals { tally: seen.outcome.tally.clone(), elapsed: seen.elapsed.into() };
    let prepare = |control, live| {
        let every = if meant.fleet.is_some() { JUDGE_FLEET_EVERY } else { JUDGE_EVERY };
        let limits = (meant.thresholds.clone(), every);
        let mut watch = Watch::new(control, live, before.clone(), limits);
        crossed.replace(watch.crossed());
        watch.serve(rest.cloned());
        if !meant.quiet && meant.displays.terminal != TerminalView::FullScreen {
            watch.show(progress(meant, before.elapsed));
        }
        watch
    };
    let stage = (Stage::Iteration, seen.earlier());
    let done = match &meant.fleet {
        None => run_stage(meant, stage, seen.data.as_deref(), Some(&prepare))?,
        Some(request) => run_on_fleet(meant, request, seen.data.as_deref(), &prepare)?,
    };
    let stopped = rest.is_some_and(|rest| rest.is_stopped());
    seen.code = ended(meant, &done, stopped);
    if seen.code == ExitCode::Ok && crossed.borrow().load(Ordering::Relaxed) {
        // Whatever teardown adds to the metric afterwards.
        meant.logger.log_line(
            Level::Error,
            "a threshold with abortOnFail was crossed, which ended the test",
        );
        seen.code = ExitCode::Thresholds;
    }
    seen.add(&done);
    seen.vus = done.control.instance().initialized;
    Ok(done)
}

/// The figures of the scenarios with the verdict on them.
#[derive(Clone, Copy)]
struct JudgedFigures<'a> {
    figures: &'a RunFigures,
    generator: &'a Generator,
    verdict: &'a Verdict,
}

impl<'a> JudgedFigures<'a> {
    /// Those of a run; `None` where none were made.
    fn of(run: &'a RunOutcome, verdict: &'a Verdict) -> Option<Self> {
        let (figures, generator) = (run.figures.as_ref()?, &run.ended.generator);
        Some(Self { figures, generator, verdict })
    }
}

/// Writes the report of the scenarios to its files and to the job's summary, and stores it.
fn write_reports(
    meant: &TestConfig,
    JudgedFigures { figures, generator, verdict }: JudgedFigures<'_>,
    (saved, asserted): (Option<&mut OpenRun>, &[Assertion]),
) -> Result<(), ExitError> {
    let title = saved.as_ref().map_or(meant.path.as_str(), |run| run.name()).to_owned();
    let attacked = figures.attacked();
    let input = figures.input(&title, (generator, verdict), asserted);
    let input = report::Input { attacked: attacked.as_ref(), ..input };
    let written = meant.reports.write_run(&input);
    cli::append_job_summary(|| report::markdown(&input));
    if let Some(run) = saved {
        save::save_report(run, &input)?;
    }
    written
}

/// How a test came out.
struct Conclusion {
    /// The metrics of crossed thresholds.
    crossed: String,
    /// The results of the gates.
    gates: Vec<Assertion>,
    /// All that the results have of thresholds, checks, metrics, gates and agents.
    asserted: Vec<Assertion>,
    /// The code that the making of the summary ends with.
    summary: ExitCode,
}

/// Judges thresholds and gates, prints the summary, and closes the outputs.
fn conclude(
    meant: &mut TestConfig,
    seen: &TestProgress,
    run: Option<&RunOutcome>,
    agents: Vec<Assertion>,
) -> Result<Conclusion, ExitError> {
    let (tally, elapsed) = (&seen.outcome.tally, seen.elapsed);
    let outcomes = judge(&meant.thresholds, tally, elapsed, meant.compat);
    let parts = parts(&seen.outcome.parts);
    let input = K6Input {
        tally,
        elapsed,
        trend_stats: &meant.options.trend_stats,
        thresholds: &outcomes,
        named: &meant.watched,
        time_unit: meant.options.time_unit.as_deref(),
        colored: meant.colored,
        grouped: meant.options.system_tags.has(SystemTag::Group),
        parts: (meant.mode == SummaryMode::Full).then_some(&parts),
    };
    // What cannot be printed costs no results.
    let printed = summary::write_summary(meant, &input, seen.data.as_deref());
    let figures = metrics_of(tally, &parts, elapsed, &meant.gates.percentiles());
    let asserted = [assertions(&outcomes, tally), figures].concat();
    let gates = run.map_or_else(Vec::new, |run| run.gate_outcomes(&asserted));
    let asserted = [gates.clone(), asserted, agents].concat();
    if let Some(outputs) = meant.outputs.take() {
        print_losses(&outputs.finish(asserted.clone())?);
    }
    let summary = printed?;
    Output::Stdout.write(report::assertion_text(&gates).as_bytes())?;
    let crossed = outcomes.iter().filter(|outcome| !outcome.holds);
    let crossed = crossed.map(|outcome| outcome.metric.as_str()).collect::<Vec<_>>();
    Ok(Conclusion { crossed: joined_once(&crossed), gates, asserted, summary })
}

/// Prints what is not in the outputs.
fn print_losses(losses: &Losses) {
    if losses.samples > 0 {
        cli::eprint_line(&format!(
            "brunt: {} made faster than could be written, and not in the outputs",
            stdx::counted(losses.samples, "sample")
        ));
    }
    for line in &losses.undelivered {
        cli::eprint_line(&format!("brunt: {line}"));
    }
}

/// The metrics of the test, of its scenarios and of its groups, as the results have them. Very long names are cut.
fn metrics_of(
    tally: &Tally,
    parts: &[K6Part],
    elapsed: Nanos,
    percentiles: &[f64],
) -> Vec<Assertion> {
    let seconds = elapsed.as_secs_f64();
    let of_part =
        |part: &K6Part| MetricSummary::of_part(&part.tally, (&part.scenario, &part.group), seconds);
    let of_parts = parts.iter().flat_map(of_part);
    let all = MetricSummary::of_test(tally, seconds, percentiles).into_iter().chain(of_parts);
    let kept = |one: MetricSummary| MetricSummary {
        scenario: shortened(&one.scenario),
        group: shortened(&one.group),
        metric: shortened(&one.metric),
        ..one
    };
    all.map(kept).map(Assertion::Metric).collect()
}

/// What scenarios and groups did, as the summary takes it.
fn parts(tallies: &GroupTallies) -> Vec<K6Part> {
    let part = |((scenario, group), tally): (&(String, String), &_)| K6Part {
        scenario: scenario.clone(),
        group: group.clone(),
        tally: Tally::clone(tally),
    };
    tallies.iter().map(part).collect()
}

/// How `setup` or `teardown` ended.
pub(super) fn after(meant: &TestConfig, done: &StageResult, late: ExitCode) -> ExitCode {
    if let Some(text) = done.control.aborted() {
        meant.logger.log_line(Level::Error, &text);
        ExitCode::Aborted
    } else if let Some(text) = done.control.not_json() {
        meant.logger.log_line(Level::Error, &text);
        ExitCode::Other
    } else if done.outcome.exception.as_ref().is_some_and(|thrown| thrown.in_promise) {
        // k6 treats a rejected promise differently from an exception.
        ExitCode::Other
    } else if done.outcome.exception.is_some() || done.control.broken().is_some() {
        ExitCode::Script
    } else if done.interrupted {
        ExitCode::Interrupted
    } else if done.outcome.interrupted > 0 {
        let (what, limit) = if late == ExitCode::SetupTimeout {
            ("setup", meant.options.setup_timeout)
        } else {
            ("teardown", meant.options.teardown_timeout)
        };
        let text = format!("{what}() execution timed out after {limit}");
        meant.logger.log_line(Level::Error, &text);
        late
    } else {
        ExitCode::Ok
    }
}

/// How the scenarios ended.
fn ended(meant: &TestConfig, done: &StageResult, stopped: bool) -> ExitCode {
    if let Some(text) = done.control.aborted() {
        meant.logger.log_line(Level::Error, &text);
        ExitCode::Aborted
    } else if let Some(text) = done.control.broken() {
        meant.logger.log_line(Level::Error, &text);
        ExitCode::Script
    } else if stopped {
        meant.logger.log_line(Level::Error, "test run stopped from REST API");
        ExitCode::Stopped
    } else if done.interrupted {
        let text = "test run was aborted because a signal was received";
        meant.logger.log_line(Level::Error, text);
        ExitCode::Interrupted
    } else {
        if done.outcome.iterations == 0 {
            let text =
                "No script iterations fully finished, consider making the test duration longer";
            meant.logger.log_line(Level::Warn, text);
        }
        let Some(text) = done.control.failed() else { return ExitCode::Ok };
        meant.logger.log_line(Level::Error, &text);
        ExitCode::MarkedFailed
    }
}

/// Progress of the scenarios, of a test that took so long beside them.
fn progress(meant: &TestConfig, beside: Duration) -> Progress {
    let one = |scenario: &workload::executor::Scenario| {
        let duration = Duration::from(scenario.executor.duration());
        let vus = meant.options.segment.vus().count(scenario.executor.vus_max());
        (scenario.name.clone(), duration, vus)
    };
    let scenarios = meant.options.scenarios.iter().map(one).collect();
    let mut progress = Progress::new(scenarios, meant.options.reservation().vus);
    progress.beside = beside;
    progress
}

/// Logs how the test ended, and what was lost.
fn notes(meant: &TestConfig, done: &StageResult, elapsed: Nanos) {
    if !meant.quiet {
        let beside = elapsed.saturating_sub(done.elapsed);
        let mut progress = progress(meant, beside.into());
        progress.draw(done.elapsed.into(), &done.control, true);
    }
    let left_out = done.outcome.tally.names_left_out;
    if left_out > 0 {
        let samples = stdx::counted(left_out, "sample");
        let text = "of checks and groups have no figures of their own: their names are too many, or too long";
        cli::eprint_line(&format!("brunt: {samples} {text}"));
    }
    let dropped = done.outcome.samples_dropped;
    if dropped > 0 {
        cli::eprint_line(&format!(
            "brunt: {} made faster than could be counted, and lost",
            stdx::counted(dropped, "sample")
        ));
    }
}

/// Says how the server did and whether the figures may be believed, on standard error: standard output has the summary, which
/// other programs read. Of a script without requests there is only the verdict.
fn write_result(
    meant: &TestConfig,
    judged: Option<JudgedFigures<'_>>,
    (done, asserted): (&StageResult, &[Assertion]),
) {
    let has_requests = |judged: &JudgedFigures<'_>| judged.figures.summary.requests > 0;
    if let Some(judged) = judged.filter(has_requests).filter(|_| meant.has_result()) {
        let JudgedFigures { figures, generator, verdict } = judged;
        let input = figures.input("", (generator, verdict), asserted);
        report::brief(&input).lines().for_each(cli::eprint_line);
        return;
    }
    let verdict = judged.map_or(&done.verdict, |judged| judged.verdict);
    if !verdict.is_valid() {
        cli::eprint_line(&format!("brunt: {verdict}"));
    }
}
