//! `cable`: argv → the test of Action Cable that is meant → a run of its users → report, results, exit code.

mod meant;
mod memory;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use ::cable::{Cable, CableReport};
use engine::Run;
use report::{CableInput, CableMemory};

use self::meant::{Meant, meant};
use self::memory::Memory;
use super::CommandError;
use super::attack::{self, Closing, Conductor, cannot_start};
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
    peopled.mind_descriptors();
    let results = peopled.open_results()?;
    let mut memory = Memory::before();
    let plan = peopled.plan;
    let run = Run::start(plan.clone(), &peopled.settings, None).map_err(cannot_start)?;
    let labels = attack::labels(&plan);
    let store = results.map(|opened| opened.start(&run, &plan, &labels)).transpose()?;
    let mut conductor = Conductor::new(labels, interrupts);
    conductor.store = store;
    conductor.live = peopled.progress.then(|| super::live::Live::new(&plan));
    let most = Rc::new(Cell::new(None));
    let (watched, seen) = (Arc::clone(&cable), Rc::clone(&most));
    conductor.each_turn =
        Some(Box::new(move |_| seen.set(memory.look(watched.open()).or(seen.get()))));
    let ending = conductor.conduct(&run)?;
    drop(run);
    let outcome = cable.report();
    report(&cable, &outcome, &ending, (most.get(), peopled.report))?;
    let lost = outcome.deliveries.lost + outcome.unanswered > 0 || outcome.subscribed == 0;
    Ok(if fails_on_loss && lost { ExitCode::Lost } else { ExitCode::Ok })
}

fn report(
    cable: &Cable,
    outcome: &CableReport,
    ending: &attack::Ending,
    (memory, closing): (Option<CableMemory>, Closing),
) -> Result<(), Failed> {
    let verdict = ending.verdict();
    let input = CableInput {
        plan: cable.plan(),
        outcome,
        generator: &ending.generator,
        verdict: &verdict,
        memory,
    };
    let document = match closing {
        Closing::Nothing => return Ok(()),
        Closing::Text => report::cable_text(&input),
        Closing::Json => report::cable_json(&input),
    };
    Place::Stdout.write(document.as_bytes())
}
