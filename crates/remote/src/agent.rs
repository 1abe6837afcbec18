//! `serve`: the load generator of an agent, run after run.

use control::{AgentHandle, AgentOrder, AgentReport, Work};
use engine::ReadyRun;

use crate::agent_load::{self, Prepared};
use crate::archive::Archive;

/// Carries out the orders of an agent's host until it ends, with so many worker threads.
pub fn serve(handle: &AgentHandle, workers: usize) {
    let mut prepared = None;
    while let Ok(order) = handle.orders.recv() {
        match order {
            AgentOrder::Prepare(work) => {
                let outcome = prepare(&work, workers);
                let (ready, outcome) = match outcome {
                    Ok(ready) => (Some(ready), Ok(())),
                    Err(cause) => (None, Err(cause)),
                };
                prepared = ready;
                report(handle, AgentReport::Prepared(outcome));
            }
            AgentOrder::Start(at) => {
                if let Some(prepared) = prepared.take()
                    && let Err(cause) = agent_load::run(prepared, at, handle)
                {
                    report(handle, AgentReport::Abort(cause));
                }
                report(handle, AgentReport::Ended);
            }
            AgentOrder::Leave(_) => prepared = None,
            AgentOrder::SkipOverdue(_) | AgentOrder::Stop(_) => {}
        }
    }
}

/// A host that has gone needs no report.
fn report(handle: &AgentHandle, report: AgentReport) {
    handle.reports.send(report).unwrap_or_default();
}

/// Cuts the agent's part out of the plan and makes it ready.
///
/// # Errors
/// The work cannot be done here, with the reason.
fn prepare(work: &Work, workers: usize) -> Result<Prepared, String> {
    let archive = Archive::decode(&work.archive).map_err(|error| error.to_string())?;
    let segment = work.share.segment().map_err(|error| error.to_string())?;
    let part = segment.vus();
    let mut settings = archive.settings;
    settings.workers = archive.workers.unwrap_or(workers);
    settings.stall_max = Some(fleet::PAUSE_MIN);
    settings.rows = true;
    let (plan, settings) =
        engine::cut(archive.plan, settings, part).map_err(|error| error.to_string())?;
    let ready = ReadyRun::new(plan.clone(), &settings, None).map_err(|error| error.to_string())?;
    Ok(Prepared { plan, ready, share: part.share() })
}
