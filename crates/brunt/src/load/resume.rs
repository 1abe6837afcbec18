//! `fleet resume`: goes on with a fleet's run whose command has died, to its results and its report.

use std::path::Path;

use cli::{CommandError, ExitCode, ExitError, usage_error};
use remote::Resumable;
use session::monitor_flags::MonitorTargets;
use session::save::SaveFlags;

use super::cable;
use super::environment::Environment;
use super::flags::{DisplayFlags, ResultsFlags};
use super::gates;
use super::load_test::{FleetSource, LoadTest};
use super::outputs::{OutputFlags, Outputs};
use super::run::run_load_test;
use crate::dialect::LoadRules;

/// Goes on with a run; without a name, with the newest one.
///
/// # Errors
/// There is no such run, it has a command, or the test cannot be carried out to its end.
pub(crate) fn run(
    dir: &Path,
    run: Option<&str>,
    (results, display): (&ResultsFlags, &DisplayFlags),
) -> Result<ExitCode, CommandError> {
    let newest = || remote::newest_run(dir).ok_or_else(|| usage_error("the fleet had no run yet"));
    let name = run.map_or_else(newest, |name| Ok(name.to_owned()))?;
    let found =
        Resumable::find(dir, &name).map_err(|error| ExitError::from(anyhow::Error::new(error)))?;
    let (watched, saving) = (&MonitorTargets::default(), &SaveFlags::default());
    let flags = OutputFlags { results, display, watched, saving };
    let rules = LoadRules::of(cli::Dialect::Native);
    if let Some(archive) = found.cable().cloned() {
        let outputs = Outputs::resolve(rules, &flags, &Environment::of_process_with_report())?;
        return Ok(cable::resume(found, archive, outputs)?);
    }
    let Some((plan, settings)) = found.load() else {
        return Err(usage_error(format!("run {name} cannot be resumed")));
    };
    let (plan, settings) = (plan.clone(), settings.clone());
    gates::check_load(&display.gates, &plan.load)?;
    gates::check_names(&display.gates, &plan.targets)?;
    let outputs = Outputs::resolve(rules, &flags, &Environment::of_process())?;
    let fleet = Some(FleetSource::Resume(Box::new(found)));
    let test = LoadTest { fleet, ..LoadTest::new(plan, settings, outputs) };
    Ok(run_load_test(test, rules)?)
}
