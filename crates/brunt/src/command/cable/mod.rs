//! `cable`: argv → the test of Action Cable that is meant → a run of its users → report, results, exit code.

mod meant;
mod memory;

use std::sync::Arc;

use ::cable::{Cable, CableReport};
use metrics::Generator;
use report::{CableInput, CableMemory};
use session::{OnCutOff, Progress, RunFigures, Session, SessionOptions};

use self::meant::{Meant, meant};
use self::memory::Memory;
use super::CommandError;
use super::attack::Closing;
use crate::dialect::Invocation;
use crate::exit_code::{self, ExitCode, Failed};
use crate::flags;
use crate::input::Interrupts;
use crate::output::Place;

/// What `brunt help cable` says besides the flags.
pub(super) const ABOUT: &str = "The common tests of Action Cable (Rails, AnyCable) without a script. Every user has a WebSocket of its own and
subscribes to the channel. In -params, -perform, -cookies and -header, {user} is the user's number, from 1.

patterns:
  echo         each user performs, and waits for its own message: round trips
  broadcast    -speakers users speak, all receive: every delivery is counted; lost, duplicated, out of order
  idle         all are connected and nobody speaks: memory per socket, missing pings
  herd         all come at once (or -within a time), and come back after each of -cuts, with -jitter or without

A message carries a token in the place of {token}, by which it is known again in whatever the server makes of it.
Who is refused waits 100 ms, then twice as long each time, up to 5 s; -no-backoff tries again at once.

Ctrl-C once: nothing more is sent, messages under way are waited for, a second at most. Twice: it ends now.";

/// Runs the test.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(&flags::cable::table())?;
    Ok(test(meant(typed)?)?)
}

/// Whether this command line would be taken, as far as its words tell.
pub(super) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    self::meant::check_words(&invocation.parse(&flags::cable::table())?)
}

/// Carries out what was meant.
fn test(meant: Meant) -> exit_code::Outcome {
    let Meant { cable, peopled, fails_on_loss } = meant;
    let interrupts = Interrupts::watch()?;
    session::warn_descriptor_limit(&peopled.plan, &peopled.settings);
    let results = peopled.open_results()?;
    let sockets = Arc::clone(&cable);
    let mut memory = Memory::before(move || sockets.open());
    let mut progress = peopled.progress.then(|| Progress::new(&peopled.plan));
    let mut figures = RunFigures::new(OnCutOff::Counted);
    let options = SessionOptions { results, ..SessionOptions::new(&interrupts) };
    let ended = Session::start(peopled.plan, &peopled.settings, None, options)
        .and_then(|session| session.run(&mut [&mut figures, &mut memory, &mut progress]))
        .map_err(Failed::from)?;
    let outcome = cable.report();
    let run = (&figures, &ended.generator);
    report(&cable, &outcome, run, (memory.most(), peopled.report))?;
    let lost = outcome.deliveries.lost + outcome.unanswered > 0 || outcome.subscribed == 0;
    Ok(if fails_on_loss && lost { ExitCode::Lost } else { ExitCode::Ok })
}

fn report(
    cable: &Cable,
    outcome: &CableReport,
    (figures, generator): (&RunFigures, &Generator),
    (memory, closing): (Option<CableMemory>, Closing),
) -> Result<(), Failed> {
    let verdict = figures.verdict(generator);
    let input = CableInput { plan: cable.plan(), outcome, generator, verdict: &verdict, memory };
    let document = match closing {
        Closing::Nothing => return Ok(()),
        Closing::Text => report::cable_text(&input),
        Closing::Json => report::cable_json(&input),
    };
    Place::Stdout.write(document.as_bytes())
}
