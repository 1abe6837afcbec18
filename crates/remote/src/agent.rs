//! `serve`: the load generator of an agent, run after run.

use std::fmt;
use std::time::Instant;

use control::{AgentHandle, AgentOrder, AgentReport};
use engine::ReadyRun;
use fleet::Share;

use crate::agent_load::{self, Prepared};
use crate::archive::{Archive, Content, use_own_proxies};
use crate::cable_part::PreparedCable;

/// A script that an agent is to run: its part of it.
pub struct ScriptWork<'a> {
    /// The script with all it needs, in a form of its own.
    pub archive: &'a [u8],
    /// What `setup()` returned, where there was one.
    pub setup: Option<&'a [u8]>,
    /// The agent's part of the load.
    pub share: &'a Share,
    /// Worker threads.
    pub workers: usize,
}

impl fmt::Debug for ScriptWork<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptWork").field("share", self.share).finish_non_exhaustive()
    }
}

/// Runs an agent's part of a script, from [`AgentOrder::Prepare`], which it was given, to its end: it reports that it is prepared,
/// starts when it is ordered to, and sends all it measured. It does not report the end.
pub type RunScript<'a> = &'a dyn Fn(&ScriptWork<'_>, &AgentHandle);

/// Carries out the orders of an agent's host until it ends, with so many worker threads.
pub fn serve(handle: &AgentHandle, workers: usize, run_script: RunScript<'_>) {
    let mut prepared: Option<PreparedWork> = None;
    while let Ok(order) = handle.orders.recv() {
        match order {
            AgentOrder::Prepare(work) => {
                let outcome = match Content::decode(&work.archive) {
                    Ok(Content::Load(archive)) => {
                        prepare(*archive, &work.share, workers).map(PreparedWork::Load)
                    }
                    Ok(Content::Cable(archive)) => {
                        PreparedCable::new(*archive, &work.share, workers).map(PreparedWork::Cable)
                    }
                    Ok(Content::Script(archive)) => {
                        let (setup, share) = (work.setup.as_deref(), &work.share);
                        run_script(
                            &ScriptWork { archive: &archive, setup, share, workers },
                            handle,
                        );
                        report(handle, AgentReport::Ended);
                        continue;
                    }
                    Err(error) => Err(error.to_string()),
                };
                let (ready, outcome) = match outcome {
                    Ok(ready) => (Some(ready), Ok(())),
                    Err(cause) => (None, Err(cause)),
                };
                prepared = ready;
                report(handle, AgentReport::Prepared(outcome));
            }
            AgentOrder::Start(at) => {
                if let Some(prepared) = prepared.take()
                    && let Err(cause) = prepared.run(at, handle)
                {
                    report(handle, AgentReport::Abort(cause));
                }
                report(handle, AgentReport::Ended);
            }
            AgentOrder::Leave(_) => prepared = None,
            AgentOrder::SkipOverdue(_) | AgentOrder::Pass { .. } | AgentOrder::Stop(_) => {}
        }
    }
}

/// Work that waits for its start.
enum PreparedWork {
    Load(Prepared),
    Cable(PreparedCable),
}

impl PreparedWork {
    /// Runs it, from this instant on, to its end.
    ///
    /// # Errors
    /// The engine could not start, or failed, with the reason.
    fn run(self, at: Instant, handle: &AgentHandle) -> Result<(), String> {
        match self {
            Self::Load(prepared) => agent_load::run(prepared, at, handle),
            Self::Cable(prepared) => prepared.run(at, handle),
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
fn prepare(archive: Archive, share: &Share, workers: usize) -> Result<Prepared, String> {
    let segment = share.segment().map_err(|error| error.to_string())?;
    let part = segment.vus();
    let mut settings = archive.settings;
    use_own_proxies(&mut settings);
    settings.workers = archive.workers.unwrap_or(workers);
    settings.stall_max = Some(fleet::PAUSE_MIN);
    settings.rows = true;
    let (plan, settings) =
        engine::cut(archive.plan, settings, part).map_err(|error| error.to_string())?;
    let ready = ReadyRun::new(plan.clone(), &settings, None).map_err(|error| error.to_string())?;
    Ok(Prepared { plan, ready, share: part.share() })
}
