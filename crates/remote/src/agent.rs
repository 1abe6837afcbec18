//! `serve`: the load generator of an agent, run after run.

use std::fmt;

use control::{AgentHandle, AgentOrder, AgentReport};
use engine::ReadyRun;
use fleet::Share;

use crate::agent_load::{self, Prepared};
use crate::archive::{Archive, Content};

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
    let mut prepared = None;
    while let Ok(order) = handle.orders.recv() {
        match order {
            AgentOrder::Prepare(work) => {
                let archive = match Content::decode(&work.archive) {
                    Ok(Content::Load(archive)) => *archive,
                    Ok(Content::Script(archive)) => {
                        let (setup, share) = (work.setup.as_deref(), &work.share);
                        run_script(
                            &ScriptWork { archive: &archive, setup, share, workers },
                            handle,
                        );
                        report(handle, AgentReport::Ended);
                        continue;
                    }
                    Err(error) => {
                        report(handle, AgentReport::Prepared(Err(error.to_string())));
                        continue;
                    }
                };
                let outcome = prepare(archive, &work.share, workers);
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
            AgentOrder::SkipOverdue(_) | AgentOrder::Pass { .. } | AgentOrder::Stop(_) => {}
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
    settings.workers = archive.workers.unwrap_or(workers);
    settings.stall_max = Some(fleet::PAUSE_MIN);
    settings.rows = true;
    let (plan, settings) =
        engine::cut(archive.plan, settings, part).map_err(|error| error.to_string())?;
    let ready = ReadyRun::new(plan.clone(), &settings, None).map_err(|error| error.to_string())?;
    Ok(Prepared { plan, ready, share: part.share() })
}
