//! `attack`: argv → ParsedArgs → Meant → a run → results, report, exit code.

mod bench;
mod meant;
mod run;
mod targets;
#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::SystemTime;

use engine::Settings;
use results::Encoding;
use session::{MonitorConfig, ResultsFile};
use workload::{Load, Plan, VuFactory};

pub(super) use self::meant::Closing;
use self::meant::{World, meant};
use super::CommandError;
use crate::dialect::{Dialect, Invocation, ParsedArgs};
use crate::exit_code::{ExitCode, Failed};
use crate::flags;
use crate::flags::attack::{AttackFlags, FLAGS};
use crate::output::{self, Place};

/// What `brunt help attack` says besides the flags.
pub(super) const ABOUT: &str = "Targets are read from standard input unless -targets is given. A target is a line METHOD URL, then optionally
header lines NAME: VALUE and a body @FILE, then a blank line; lines that begin with # are skipped, but for
#brunt weight=3 name=home before a target: how often it is chosen, and its name for report -by name. With
-format=json each line is an object {\"method\", \"url\", \"header\", \"body\" (base64), \"weight\", \"name\"}.

Requests begin by the clock, whatever the server does: response times count from the moment a request was
due. Results go to standard output as a stream (or to -output); on a terminal the report is printed instead.

shapes:
  linear:10..500                       from one rate to another over -duration
  steps:10x30s,50x30s                  one rate after the other
  sine:100,50,60s[,peak]               mean, amplitude, period, start (mean-up, peak, mean-down, trough)
  poisson                              random arrivals of mean -rate
  replay:FILE                          at the moments of a column of timestamps

Ctrl-C once: no more requests begin, those under way end, the results are whole. Twice: it ends now.";

/// What `brunt help bench` says besides the flags.
pub(super) const BENCH_ABOUT: &str = "A closed loop: each connection sends its next request when its last one was answered, so the server's speed
sets the rate. It finds what a server can do; what users will feel at a given rate is attack's to tell. Without
-output no results are kept, and the report is printed.";

/// Attacks.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(FLAGS)?;
    let variable = |name: &str| std::env::var(name).ok();
    Ok(run::attack(meant(&typed, &world(&variable))?, typed.dialect)?)
}

/// Benches.
pub(super) fn run_bench(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(&flags::bench::table())?;
    let variable = |name: &str| std::env::var(name).ok();
    // Results go where they are sent with -output, and nowhere else; the report is what is printed.
    let world = World { stdout_is_terminal: true, ..world(&variable) };
    Ok(run::attack(bench::meant(typed, &world)?, Dialect::Native)?)
}

/// Whether `attack` would take this command line, as far as its words tell. Standard input is empty.
pub(super) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    meant::check_words(&invocation.parse(FLAGS)?)
}

/// The same of `bench`.
pub(super) fn validate_bench(invocation: &Invocation) -> Result<(), CommandError> {
    bench::check_words(&invocation.parse(&flags::bench::table())?)
}

/// The same of what `seek` offers.
pub(super) fn check_offer(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    bench::check_offer(typed)
}

/// What the command line of `seek` means as far as it is an attack's: whom to ask for what, from which seed, over what. When
/// hits begin is the search's to say.
pub(super) fn offer(typed: ParsedArgs<AttackFlags>) -> Result<(Plan, Settings), CommandError> {
    let variable = |name: &str| std::env::var(name).ok();
    let world = World { stdout_is_terminal: true, ..world(&variable) };
    let meant = bench::offer(typed, &world)?;
    Ok((meant.plan, meant.settings))
}

/// Users that decide themselves what they do, and how they are carried out.
pub(super) struct Peopled {
    /// What is offered: the users.
    pub(super) plan: Plan,
    /// How.
    pub(super) settings: Settings,
    /// Show live progress on standard error.
    pub(super) progress: bool,
    /// What to print at the end.
    pub(super) report: Closing,
    results: Option<Place>,
    encoding: Encoding,
    watching: Option<MonitorConfig>,
}

/// What the command line means where users decide: over what they reach the server, and where results go.
pub(super) fn peopled(
    typed: &ParsedArgs<AttackFlags>,
    crew: VuFactory,
) -> Result<Peopled, CommandError> {
    meant::check_connections(typed)?;
    let variable = |name: &str| std::env::var(name).ok();
    let world = World { stdout_is_terminal: true, ..world(&variable) };
    let meant = meant::assemble(typed, &world, (Load::Users(crew), Vec::new(), None))?;
    let meant::Meant { plan, settings, results, encoding, report, progress, watching, .. } = meant;
    Ok(Peopled { plan, settings, progress, report, results, encoding, watching })
}

impl Peopled {
    /// Opens the place for the results, if there is one.
    pub(super) fn open_results(&self) -> Result<Option<ResultsFile>, Failed> {
        let open = |place| ResultsFile::open(place, self.encoding, self.watching.as_ref());
        self.results.as_ref().map(open).transpose()
    }
}

/// The world as it is.
fn world<'a>(variable: &'a dyn Fn(&str) -> Option<String>) -> World<'a> {
    World {
        stdout_is_terminal: output::stdout_is_terminal(),
        stderr_is_terminal: std::io::stderr().is_terminal(),
        variable,
        cores: std::thread::available_parallelism().map_or(1, |n| n.get() as u64),
        seed: seed(),
    }
}

/// A seed for those who gave none: different each time, and told in the report.
pub(super) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    stdx::mix(now.map_or(0, |since| since.as_nanos() as u64), u64::from(std::process::id())) >> 32
}
