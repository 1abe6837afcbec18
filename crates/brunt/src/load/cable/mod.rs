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
use metrics::tally::Assertion;
use remote::{CableArchive, Records, Resumable};
use report::cable::{CableInput, CableMemory};
use session::save::{self, SaveRequest, SavedTest};
use session::{
    GateObserver, Observer, OnCutOff, RunFigures, Session, SessionOptions, SessionOutcome,
    target_labels,
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

/// What became of a test.
struct CableOutcome {
    ended: SessionOutcome,
    report: CableReport,
    memory: Option<CableMemory>,
    fleet: Option<Records>,
}

/// Carries out a test.
fn test(config: CableConfig, mut saved: Option<&mut OpenRun>) -> CommandResult {
    let CableConfig { cable, mut load_test, fails_on_loss } = config;
    load_test.reports.try_out()?;
    let interrupts = Interrupts::watch()?;
    let (format, watching) = (load_test.format, load_test.watching.take());
    let (output, run) = (load_test.results.take(), saved.as_deref_mut());
    let results = save::open_results(output, format, run, watching.as_ref())?;
    let mut progress = load_test.live_progress(&interrupts);
    let page = load_test.live_page(&interrupts);
    let mut view = page.as_ref().map(|page| page.view(&load_test.plan));
    let mut figures = RunFigures::new(OnCutOff::Counted);
    let mut gates = GateObserver::new(&load_test.gates, target_labels(&load_test.plan));
    let keeps_results_open = gates.is_some() || load_test.fleet.is_some();
    let options =
        SessionOptions { results, keeps_results_open, ..SessionOptions::new(&interrupts) };
    let observers: &mut [&mut dyn Observer] =
        &mut [&mut figures, &mut gates, &mut view, &mut progress];
    let outcome = match &load_test.fleet {
        None => run_here(&cable, &load_test, options, observers)?,
        Some(source) => {
            let test = (&load_test, source, &interrupts);
            run_on_fleet(&cable, test, options, observers)?
        }
    };
    let CableOutcome { ended, report: seen, memory, fleet } = outcome;
    let generator = &ended.generator;
    let mut asserted =
        gates.map_or_else(Vec::new, |gates| gates.outcomes(&figures.summary, generator, &[]));
    let failed = fleet.and_then(|records| fleet::conclude(&records, &mut asserted));
    if let Some(results) = ended.results {
        results.finish(asserted.clone())?;
    }
    asserted.extend(ended.events.into_iter().map(Assertion::Event));
    asserted.push(session::provenance_row());
    let verdict = figures.verdict(generator).with_agents(&asserted);
    let input = CableInput {
        plan: cable.plan(),
        outcome: &seen,
        generator,
        verdict: &verdict,
        memory,
        assertions: &asserted,
    };
    report(saved, &input, &figures, &load_test)?;
    if let Some(cause) = failed {
        return Err(anyhow!("the fleet ended the run early: {cause}").into());
    }
    let code = session::conclude_run(&asserted, Some(&verdict), load_test.on_invalid);
    let lost = seen.deliveries.lost + seen.unanswered > 0 || seen.subscribed == 0;
    Ok(if fails_on_loss && lost { ExitCode::Lost } else { code })
}

/// Runs the users on this machine.
fn run_here(
    cable: &Arc<Cable>,
    test: &LoadTest,
    options: SessionOptions,
    observers: &mut [&mut dyn Observer],
) -> Result<CableOutcome, ExitError> {
    session::warn_descriptor_limit(&test.plan, &test.settings);
    let sockets = Arc::clone(cable);
    let mut memory = Memory::before(move || sockets.open());
    let session = Session::start(test.plan.clone(), &test.settings, None, options)?;
    let mut all: Vec<&mut dyn Observer> = vec![&mut memory];
    all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
    let ended = session.run(&mut all)?;
    Ok(CableOutcome { ended, report: cable.report(), memory: memory.most(), fleet: None })
}

/// Runs the users on the agents of a fleet.
fn run_on_fleet(
    cable: &Cable,
    (test, source, interrupts): (&LoadTest, &FleetSource, &Interrupts),
    options: SessionOptions,
    observers: &mut [&mut dyn Observer],
) -> Result<CableOutcome, ExitError> {
    let archive = CableArchive {
        plan: cable.plan().clone(),
        name: test.plan.name.clone(),
        settings: test.settings.clone(),
        workers: None,
    };
    let (execution, records, parts) = fleet::start_cable(archive, source, interrupts)?;
    let ended = Session::over(execution, &test.plan, options)?.run(observers)?;
    Ok(CableOutcome { ended, report: parts.report(), memory: None, fleet: Some(records) })
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
