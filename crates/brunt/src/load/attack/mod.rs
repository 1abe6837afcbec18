//! `attack`: its flags, and the load test they come to.

pub(crate) mod config;
pub(crate) mod flags;
#[cfg(test)]
mod tests;

use cli::{CommandError, ExitCode, Invocation};

use session::save::SavedTest;

use self::flags::{AttackFlags, FLAGS};
use super::environment::Environment;
use super::run::run_load_test;
use crate::dialect::LoadRules;

/// The text of `brunt help attack` before the flags.
pub(crate) const ABOUT: &str = "Targets are the URLs that are given, in turn, each with a GET. Without one they are read from -targets, or from
standard input. A target is a line METHOD URL, then optional header lines NAME: VALUE and a line @FILE for the body,
then a blank line. A line that begins with # is a comment.
One comment has a meaning: #brunt weight=3 name=home before a target sets how often the target is chosen, and
its name in report -by=name. With -format=json each line is an object
{\"method\", \"url\", \"header\", \"body\" (base64), \"weight\", \"name\"}.

Requests start when they are due, however slow the server is, and response times count from that moment.
Results go to standard output as a stream (or to -output); on a terminal the report is printed instead.

shapes:
  linear:10..500                       from one rate to another over -duration
  steps:10x30s,50x30s                  one rate after another
  sine:100,50,60s[,peak]               mean, amplitude, period, start (mean-up, peak, mean-down, trough)
  poisson                              random arrivals of mean -rate
  replay:FILE                          at the times in a column of timestamps, or at rates by the minute
  replay:FILE,3x                       with three times as many requests

Ctrl-C once: no new requests start, those under way finish, and the results are complete. Twice: end at once.";

/// Attacks.
///
/// # Errors
/// The command line is wrong, or the test cannot be carried out.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLAGS)?;
    let rules = LoadRules::of(args.dialect);
    let mut load_test = config::resolve(&args, rules, &Environment::of_process())?;
    let AttackFlags { target, results, saving, .. } = &args.flags;
    load_test.spares(&target.files())?;
    let inputs: Vec<&str> = target.targets.as_deref().into_iter().collect();
    let (command, name) = ("attack", results.name.as_str());
    load_test.saving =
        saving.request(SavedTest { command, args: &invocation.args, name, inputs: &inputs })?;
    Ok(run_load_test(load_test, rules)?)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    config::validate(&invocation.parse(FLAGS)?, LoadRules::of(invocation.dialect))
}
