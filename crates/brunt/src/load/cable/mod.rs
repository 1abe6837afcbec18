//! `cable`: argv → CableConfig → a run of its users → report, results, exit code.

pub(crate) mod config;
pub(crate) mod flags;
mod memory;

use std::sync::Arc;

use ::cable::{Cable, CableReport};
use cli::{CommandError, CommandResult, ExitCode, ExitError, Interrupts, Invocation, Output};
use metrics::Generator;
use metrics::tally::Assertion;
use report::cable::{CableInput, CableMemory};
use session::{
    GateObserver, OnCutOff, Progress, ResultsFile, RunFigures, Session, SessionOptions,
    target_labels,
};

use self::config::CableConfig;
use self::flags::FLAGS;
use self::memory::Memory;
use super::environment::Environment;
use super::load_test::LoadTest;
use super::outputs::ReportFormat;

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
    Ok(test(config::resolve(&args, &Environment::of_process_with_report())?)?)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    config::validate(&invocation.parse(FLAGS)?)
}

/// Carries out a test.
fn test(config: CableConfig) -> CommandResult {
    let CableConfig { cable, load_test, fails_on_loss } = config;
    let LoadTest {
        plan,
        settings,
        results,
        encoding,
        report: format,
        progress,
        watching,
        gates,
        ..
    } = load_test;
    let interrupts = Interrupts::watch()?;
    session::warn_descriptor_limit(&plan, &settings);
    let open = |output| ResultsFile::open(&output, encoding, watching.as_ref());
    let results = results.map(open).transpose()?;
    let sockets = Arc::clone(&cable);
    let mut memory = Memory::before(move || sockets.open());
    let mut progress = progress.then(|| Progress::new(&plan));
    let mut figures = RunFigures::new(OnCutOff::Counted);
    let mut gates = GateObserver::new(&gates, target_labels(&plan));
    let options = SessionOptions { results, ..SessionOptions::new(&interrupts) };
    let options = SessionOptions { keeps_results_open: gates.is_some(), ..options };
    let ended = Session::start(plan, &settings, None, options)
        .and_then(|session| {
            session.run(&mut [&mut figures, &mut gates, &mut memory, &mut progress])
        })
        .map_err(ExitError::from)?;
    let generator = &ended.generator;
    let asserted =
        gates.map_or_else(Vec::new, |gates| gates.outcomes(&figures.summary, generator, &[]));
    if let Some(results) = ended.results {
        results.finish(asserted.clone())?;
    }
    let outcome = cable.report();
    let run = (&figures, generator, asserted.as_slice());
    report(&cable, &outcome, run, (memory.most(), format))?;
    let code = session::conclude_gates(session::gates_of(&asserted));
    let lost = outcome.deliveries.lost + outcome.unanswered > 0 || outcome.subscribed == 0;
    Ok(if fails_on_loss && lost { ExitCode::Lost } else { code })
}

fn report(
    cable: &Cable,
    outcome: &CableReport,
    (figures, generator, assertions): (&RunFigures, &Generator, &[Assertion]),
    (memory, format): (Option<CableMemory>, ReportFormat),
) -> Result<(), ExitError> {
    let verdict = figures.verdict(generator);
    let input = CableInput {
        plan: cable.plan(),
        outcome,
        generator,
        verdict: &verdict,
        memory,
        assertions,
    };
    let document = match format {
        ReportFormat::Nothing => return Ok(()),
        ReportFormat::Text => report::cable::text(&input),
        ReportFormat::Json => report::cable::json(&input),
    };
    Output::Stdout.write(document.as_bytes())
}
