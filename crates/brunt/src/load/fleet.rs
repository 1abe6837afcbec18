//! The fleet that a command line asks for.

use cli::{CommandError, ExitError, Interrupts, eprint_line, usage_error};
use engine::Settings;
use metrics::tally::Assertion;
use remote::{Archive, FleetExecution, FleetOptions, Records};
use workload::Plan;

use super::flags::FleetFlags;
use super::settings::as_usize;

/// The fleet that sends a test's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetRequest {
    /// Which agents, and how long they are waited for.
    pub(crate) options: FleetOptions,
    /// Worker threads of each agent; `None` is one for each of its cores.
    pub(crate) workers: Option<usize>,
}

/// The fleet that the flags ask for; `cpus` is the value of `-cpus`.
///
/// # Errors
/// A flag needs another one.
pub(super) fn resolve(
    flags: &FleetFlags,
    cpus: Option<u64>,
) -> Result<Option<FleetRequest>, CommandError> {
    if let Some(stray) = flags.stray() {
        return Err(usage_error(format!("-{stray} needs a fleet (give -fleet=DIR)")));
    }
    let Some(dir) = &flags.dir else { return Ok(None) };
    let agents = match flags.agents {
        None => {
            return Err(usage_error("-fleet needs the number of its agents (give -agents=N)"));
        }
        Some(agents) if agents > fleet::AGENTS_MAX as u64 => {
            let text = format!("flag -agents: a fleet has at most {} agents", fleet::AGENTS_MAX);
            return Err(usage_error(text));
        }
        Some(agents) => as_usize(agents),
    };
    let options = FleetOptions {
        dir: dir.into(),
        agents,
        labels: flags.labels.clone(),
        ready_within: flags.ready_within(),
        goes_on: flags.goes_on,
    };
    Ok(Some(FleetRequest { options, workers: cpus.map(as_usize) }))
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
    let started = remote::start(&archive, &request.options, interrupts, &mut notice);
    started.map_err(|error| anyhow::Error::new(error).into())
}

/// Adds the fleet's agents to what was asserted of the run. Returns why the run ended early, where that was not asked for.
pub(super) fn conclude(records: &Records, asserted: &mut Vec<Assertion>) -> Option<String> {
    let outcome = records.outcome();
    asserted.extend(outcome.agents);
    outcome.failed
}
