//! `seek`: argv → what is searched → steps, one run each, as `study` proposes them → table, JSON, plot, exit code.

mod meant;
mod runner;
mod state;

use std::io::Write;

use report::SeekInput;
use report::live::Paint;
use study::seek::{Ended as SearchEnded, Next, Outcome, Step, Trial, outcome, propose};

use self::meant::{Meant, meant};
use self::runner::Runner;
use self::state::State;
use super::CommandError;
use crate::analyze::figure_file::write_figure;
use crate::dialect::Invocation;
use crate::exit_code::{self, ExitCode, Failed};
use crate::flags;
use crate::input::Interrupts;
use crate::output::Place;

/// What `brunt help seek` says besides the flags.
pub(super) const ABOUT: &str = "Climbs from -from, each step twice the last, until the objective is missed, halves what lies between, and
then puts steps around the limit until it is known to -precision. Response times count from the moment a
request was due. An objective that says nothing of errors gets errors<1%: a server that refuses quickly
must not win. The table, the answer with its 95 % interval and the knee go to standard output.

Where the generator is what gives way, the search ends and says so: the answer is then a lower bound.

Ctrl-C ends the step under way and prints what is known; with -state the same command goes on from there.";

/// Seeks.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(&flags::seek::table())?;
    let meant = meant(&typed)?;
    let interrupts = Interrupts::watch()?;
    Ok(seek(meant, interrupts)?)
}

/// Whether this command line would be taken, as far as its words tell.
pub(super) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    self::meant::check_words(&invocation.parse(&flags::seek::table())?)
}

/// Carries out what was meant.
fn seek(mut meant: Meant, interrupts: Interrupts) -> exit_code::Outcome {
    let (state, mut steps) = State::open(&mut meant)?;
    // A place that cannot be written is found before the first step, not after the last.
    meant.plot.iter().try_for_each(|(path, _)| Place::named(Some(path)).try_out())?;
    if let (Some(state), false) = (&state, steps.is_empty()) {
        say(
            &meant,
            &format!("{state}: going on after {}", stdx::counted(steps.len() as u64, "step")),
        );
    }
    let mut runner = Runner::new(&meant, interrupts);
    let found = search(
        &meant,
        &mut steps,
        |trial, number| runner.run(trial, number),
        |steps| {
            let last = steps
                .last()
                .map(|step| report::seek_line(&meant.search, steps.len(), step, meant.paint));
            last.into_iter().for_each(|line| say(&meant, &line));
            state.as_ref().map_or(Ok(()), |state| state.save(steps))
        },
    )?;
    conclude(&meant, &steps, &found)
}

/// Runs what is proposed, step by step, until there is no more to do. `run` carries a step out, whatever it is made of, and
/// gives `None` where the user ended it; `keep` is told after each.
fn search(
    meant: &Meant,
    steps: &mut Vec<Step>,
    mut run: impl FnMut(Trial, usize) -> Result<Option<Step>, Failed>,
    keep: impl Fn(&[Step]) -> Result<(), Failed>,
) -> Result<Outcome, Failed> {
    loop {
        let trial = match propose(&meant.search, steps) {
            Next::Run(trial) => trial,
            Next::Done(outcome) => return Ok(outcome),
        };
        let Some(step) = run(trial, steps.len())? else {
            return Ok(outcome(&meant.search, steps, SearchEnded::Interrupted));
        };
        steps.push(step);
        keep(steps)?;
    }
}

/// Prints and draws what was found.
fn conclude(meant: &Meant, steps: &[Step], outcome: &Outcome) -> exit_code::Outcome {
    let input = SeekInput {
        search: &meant.search,
        steps,
        outcome,
        seed: meant.plan.seed,
        arrivals: meant.arrivals(),
    };
    let document = if meant.json { report::seek_json(&input) } else { report::seek_text(&input) };
    Place::Stdout.write(document.as_bytes())?;
    if let Some((path, document)) = &meant.plot {
        write_figure(&report::seek_figure(&input), path, *document)?;
    }
    Ok(match (outcome.answer, outcome.ended) {
        (Some(_), _) | (None, SearchEnded::Interrupted) => ExitCode::Ok,
        (None, _) => ExitCode::Unmet,
    })
}

/// Says something on standard error, unless silence was asked for.
fn say(meant: &Meant, line: &str) {
    if meant.lines {
        // A terminal that went away is no reason to stop.
        writeln!(std::io::stderr().lock(), "{line}").ok();
    }
}

/// Colours only where they are seen.
fn paint(stderr_is_terminal: bool) -> Paint {
    let plain = !stderr_is_terminal || std::env::var_os("NO_COLOR").is_some();
    if plain { Paint::Plain } else { Paint::Ansi }
}
