//! The fleet that a command line asks for.

use cli::{CommandError, ExitError, Interrupts, eprint_line, usage_error};
use engine::Settings;
use metrics::tally::Assertion;
use remote::flags::{FleetFlags, FleetRequest};
use remote::{Archive, CableArchive, CableParts, FleetExecution, FleetWork, Records, RemoteError};
use workload::Plan;

use super::load_test::FleetSource;

/// The fleet that the flags ask for; `cpus` is the value of `-cpus`.
///
/// # Errors
/// A flag needs another one.
pub(super) fn resolve(
    flags: &FleetFlags,
    cpus: Option<u64>,
) -> Result<Option<FleetSource>, CommandError> {
    Ok(flags.request(cpus).map_err(usage_error)?.map(FleetSource::Form))
}

/// Forms the fleet, or takes it over, and returns once its start is agreed on.
///
/// # Errors
/// The plan cannot go to other machines, or the fleet does not form.
pub(super) fn start(
    (plan, settings): (&Plan, &Settings),
    source: &FleetSource,
    interrupts: &Interrupts,
) -> Result<(FleetExecution, Records), ExitError> {
    let mut notice = |text: &str| eprint_line(&format!("fleet: {text}"));
    let started = match source {
        FleetSource::Form(request) => form((plan, settings), request, interrupts, &mut notice),
        FleetSource::Resume(run) => run.resume(interrupts, &mut notice),
    };
    started.map_err(|error| anyhow::Error::new(error).into())
}

/// The same for a test of Action Cable, with what its agents say of their parts.
///
/// # Errors
/// As [`start`].
pub(super) fn start_cable(
    archive: CableArchive,
    source: &FleetSource,
    interrupts: &Interrupts,
) -> Result<(FleetExecution, Records, CableParts), ExitError> {
    let mut notice = |text: &str| eprint_line(&format!("fleet: {text}"));
    let plan = archive.plan.clone();
    let started = match source {
        FleetSource::Form(request) => {
            let work = FleetWork::cable(CableArchive { workers: request.workers, ..archive });
            remote::start(&work, &request.options, interrupts, &mut notice)
        }
        FleetSource::Resume(run) => run.resume(interrupts, &mut notice),
    };
    let (execution, records) = started.map_err(anyhow::Error::new)?;
    let parts = CableParts::new(&plan, records.agents());
    Ok((execution.with_parts(parts.clone()), records, parts))
}

/// Forms a fleet for this plan.
///
/// # Errors
/// As [`start`].
pub(super) fn form(
    (plan, settings): (&Plan, &Settings),
    request: &FleetRequest,
    interrupts: &Interrupts,
    notice: &mut dyn FnMut(&str),
) -> Result<(FleetExecution, Records), RemoteError> {
    let archive =
        Archive { plan: plan.clone(), settings: settings.clone(), workers: request.workers };
    remote::start(&FleetWork::load(archive), &request.options, interrupts, notice)
}

/// Adds the fleet's agents to what was asserted of the run. Returns why the run ended early, where that was not asked for.
pub(super) fn conclude(records: &Records, asserted: &mut Vec<Assertion>) -> Option<String> {
    let outcome = records.outcome();
    asserted.extend(outcome.agents);
    outcome.failed
}
