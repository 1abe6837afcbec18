//! `cable`: argv → CableConfig → a run of its users → report, results, exit code.

pub(crate) mod config;
pub(crate) mod flags;
mod memory;

use std::sync::Arc;

use ::cable::{Cable, CableReport};
use anyhow::anyhow;
use cli::{
    CommandError, CommandResult, Document, ExitCode, ExitError, Interrupts, Invocation, Output,
    append_job_summary,
};
use remote::{CableArchive, Records, Resumable};
use report::cable::{CableInput, CableMemory};
use session::save::{self, SaveRequest, SavedTest};
use session::{
    GateObserver, LoadOnPage, OnCutOff, RunFigures, RunOutcome, RunPlace, RunRequest,
    SessionOptions, target_labels,
};

use store::{Finish, OpenRun};

use self::config::CableConfig;
use self::flags::FLAGS;
use self::memory::Memory;
use super::environment::Environment;
use super::fleet;
use super::load_test::{FleetSource, LoadTest};
use super::outputs::{Outputs, ReportFormat};

/// What `brunt help cable` says besides the flags.
pub(crate) const ABOUT: &str = "The common tests of Action Cable (Rails, AnyCable), without a script. Every user opens a WebSocket and subscribes
to the channel. In -params, -perform, -cookies and -header, {user} is the user's number, from 1.

patterns:
  echo         each user performs an action and waits for its own message: measures round trips
  broadcast    -speakers users send, all users receive: counts deliveries, lost, duplicated and out of order
  idle         all users are connected and send nothing: measures memory per socket, counts missing pings
  herd         all users connect at once (or -within a time), and reconnect after each of -cuts, with -jitter or not

Each message carries a token in place of {token}; brunt finds it again anywhere in the server's message.
A refused user waits 100 ms, then twice as long each time, up to 5 s; with -no-backoff it tries again at once.

Ctrl-C once: no new messages are sent, and those under way get up to a second. Twice: end at once.";

/// Runs the test.
///
/// # Errors
/// The command line is wrong, or the test cannot be carried out.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLAGS)?;
    let config = config::resolve(&args, &Environment::of_process_with_report())?;
    let name = config.load_test.plan.name.clone();
    let test_of = SavedTest { command: "cable", args: &invocation.args, name: &name, inputs: &[] };
    let saving = args.flags.saving.request(test_of)?;
    let mut saved = saving.map(SaveRequest::begin).transpose()?;
    let ended = test(config, saved.as_mut());
    Ok(save::finish_saved(saved, ended)?)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    config::validate(&invocation.parse(FLAGS)?)
}

/// Goes on with a fleet's test whose command has died.
///
/// # Errors
/// The test cannot be carried out to its end.
pub(super) fn resume(found: Resumable, archive: CableArchive, outputs: Outputs) -> CommandResult {
    let cable = Cable::new(archive.plan);
    let plan = config::engine_plan(&cable, archive.name);
    let fleet = Some(FleetSource::Resume(Box::new(found)));
    let load_test = LoadTest { fleet, ..LoadTest::new(plan, archive.settings, outputs) };
    test(CableConfig { cable, load_test, fails_on_loss: false }, None)
}

/// Carries out a test.
fn test(config: CableConfig, mut saved: Option<&mut OpenRun>) -> CommandResult {
    let CableConfig { cable, mut load_test, fails_on_loss } = config;
    load_test.check_abort()?;
    load_test.reports.try_out()?;
    let interrupts = Interrupts::watch()?;
    let provenance = session::provenance_row();
    let (format, watching) = (load_test.format, load_test.watching.take());
    let (output, run) = (load_test.results.take(), saved.as_deref_mut());
    let results = save::open_results(output, format, run, watching.as_ref())?;
    let request = RunRequest {
        plan: load_test.plan.clone(),
        options: SessionOptions { results, ..SessionOptions::new(&interrupts) },
        shown: load_test.open_displays(LoadOnPage::Fixed, &interrupts)?,
        figures: Some(RunFigures::new(OnCutOff::Counted)),
        gates: GateObserver::new(&load_test.gates, target_labels(&load_test.plan)),
        abort: load_test.abort(),
    };
    let CableOutcome { mut outcome, report: seen, memory, fleet } = match &load_test.fleet {
        None => run_here(&cable, &load_test, request)?,
        Some(source) => run_on_fleet(&cable, (&load_test, source, &interrupts), request)?,
    };
    let mut asserted = outcome.gate_outcomes(&[]);
    let failed = fleet.and_then(|records| fleet::conclude(&records, &mut asserted));
    let asserted = outcome.conclude(asserted, provenance)?;
    let verdict = outcome.verdict(&asserted);
    if let Some((figures, verdict)) = outcome.figures.as_ref().zip(verdict.as_ref()) {
        let input = CableInput {
            plan: cable.plan(),
            outcome: &seen,
            generator: &outcome.ended.generator,
            verdict,
            memory,
            assertions: &asserted,
        };
        report(saved, &input, figures, &load_test)?;
    }
    if let Some(cause) = failed {
        return Err(anyhow!("the fleet ended the run early: {cause}").into());
    }
    let code = outcome.exit_code(&asserted, verdict.as_ref(), load_test.on_invalid);
    let lost = seen.deliveries.lost + seen.unanswered > 0 || seen.subscribed == 0;
    Ok(if fails_on_loss && lost { ExitCode::Lost } else { code })
}

/// What became of a test.
struct CableOutcome {
    outcome: RunOutcome,
    report: CableReport,
    memory: Option<CableMemory>,
    fleet: Option<Records>,
}

/// Runs the users on this machine.
fn run_here(
    cable: &Arc<Cable>,
    test: &LoadTest,
    request: RunRequest,
) -> Result<CableOutcome, ExitError> {
    session::warn_descriptor_limit(&test.plan, &test.settings);
    let sockets = Arc::clone(cable);
    let mut memory = Memory::before(move || sockets.open());
    let outcome = request.carry_out(RunPlace::here(&test.settings), &mut [&mut memory])?;
    Ok(CableOutcome { outcome, report: cable.report(), memory: memory.most(), fleet: None })
}

/// Runs the users on the agents of a fleet.
fn run_on_fleet(
    cable: &Cable,
    (test, source, interrupts): (&LoadTest, &FleetSource, &Interrupts),
    request: RunRequest,
) -> Result<CableOutcome, ExitError> {
    let archive = CableArchive {
        plan: cable.plan().clone(),
        name: test.plan.name.clone(),
        settings: test.settings.clone(),
        workers: None,
    };
    let (execution, records, parts) = fleet::start_cable(archive, source, interrupts)?;
    let outcome = request.carry_out(RunPlace::Fleet(Box::new(execution)), &mut [])?;
    Ok(CableOutcome { outcome, report: parts.report(), memory: None, fleet: Some(records) })
}

fn report(
    saved: Option<&mut OpenRun>,
    input: &CableInput<'_>,
    figures: &RunFigures,
    test: &LoadTest,
) -> Result<(), ExitError> {
    if let Some(run) = saved {
        keep(run, input, figures, report::planned(&target_labels(&test.plan)))?;
    }
    append_job_summary(|| report::cable::markdown(input));
    test.reports.write(|document| match document {
        Document::Json => report::cable::json(input),
        Document::Markdown => report::cable::markdown(input),
        Document::Junit => report::cable::junit(input),
        _ => report::cable::text(input),
    })?;
    let document = match test.report {
        ReportFormat::Nothing => return Ok(()),
        ReportFormat::Text => report::cable::text(input),
        ReportFormat::Json => report::cable::json(input),
    };
    Output::Stdout.write(document.as_bytes())
}

/// Stores the report, and how the test came out.
fn keep(
    run: &mut OpenRun,
    input: &CableInput<'_>,
    figures: &RunFigures,
    attacked: Option<String>,
) -> Result<(), ExitError> {
    let documents =
        [("report.txt", report::cable::text(input)), ("report.json", report::cable::json(input))];
    save::save_documents(run, &documents)?;
    run.conclude(Finish {
        verdict: Some(save::verdict_word(input.verdict)),
        reasons: input.verdict.reasons.iter().map(ToString::to_string).collect(),
        conclusion: report::cable::conclusion(input),
        attacked,
        server: Some(save::server_of(&report::cable::server_result(input))),
        figures: Some(save::figures_of(&figures.summary)),
    });
    Ok(())
}
