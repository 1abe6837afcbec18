//! `bench`: its flags, and the load test they come to.

pub(crate) mod config;
pub(crate) mod flags;

use cli::{CommandError, ExitCode, Invocation};

use session::save::SavedTest;

use self::flags::{BenchFlags, FLAGS};
use super::environment::Environment;
use super::run::run_load_test;
use crate::dialect::LoadRules;

/// The text of `brunt help bench` before the flags.
pub(crate) const ABOUT: &str = "A closed loop: each connection sends its next request when the last response has come, so the server's speed
sets the rate. bench finds the server's throughput; to find what users experience at a given rate, use attack.
Without -output no results are written, only the report is printed.";

/// Benches.
///
/// # Errors
/// The command line is wrong, or the test cannot be carried out.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLAGS)?;
    let mut load_test = config::resolve(&args, &Environment::of_process_with_report())?;
    let BenchFlags { target, results, saving, .. } = &args.flags;
    load_test.spares(&target.files())?;
    let inputs: Vec<&str> = target.targets.as_deref().into_iter().collect();
    let (command, name) = ("bench", results.name.as_str());
    load_test.saving =
        saving.request(SavedTest { command, args: &invocation.args, name, inputs: &inputs })?;
    Ok(run_load_test(load_test, &LoadRules::NATIVE)?)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    config::validate(&invocation.parse(FLAGS)?)
}
