//! The fleet that a command line asks for.

use cli::{CommandError, ExitError, Interrupts, eprint_line, usage_error};
use engine::Settings;
use metrics::tally::Assertion;
use remote::flags::{FleetFlags, FleetRequest};
use remote::{Archive, FleetExecution, FleetWork, Records};
use workload::Plan;

/// The fleet that the flags ask for; `cpus` is the value of `-cpus`.
///
/// # Errors
/// A flag needs another one.
pub(super) fn resolve(
    flags: &FleetFlags,
    cpus: Option<u64>,
) -> Result<Option<FleetRequest>, CommandError> {
    flags.request(cpus).map_err(usage_error)
}

/// Forms the fleet, and returns once its start is agreed on.
///
/// # Errors
/// The plan cannot go to other machines, or the fleet does not form.
pub(super) fn start(
    (plan, settings): (&Plan, &Settings),
    request: &FleetRequest,
    interrupts: &Interrupts,
) -> Result<(FleetExecution, Records), ExitError> {
    let archive =
        Archive { plan: plan.clone(), settings: settings.clone(), workers: request.workers };
    let mut notice = |text: &str| eprint_line(&format!("fleet: {text}"));
    let started =
        remote::start(&FleetWork::load(archive), &request.options, interrupts, &mut notice);
    started.map_err(|error| anyhow::Error::new(error).into())
}

/// Adds the fleet's agents to what was asserted of the run. Returns why the run ended early, where that was not asked for.
pub(super) fn conclude(records: &Records, asserted: &mut Vec<Assertion>) -> Option<String> {
    let outcome = records.outcome();
    asserted.extend(outcome.agents);
    outcome.failed
}
