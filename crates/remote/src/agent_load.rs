//! `AgentLoad`: an agent's part of the load under way: the host's orders go to the engine, what the engine measured to the host.

use std::sync::mpsc::TryRecvError;
use std::time::Instant;

use control::{AgentHandle, AgentOrder};
use engine::{ReadyRun, Stopper};
use metrics::{Batch, Snapshot};
use session::{Control, Observer, ObserverError, Session, SessionOptions};
use workload::Plan;

use crate::execution::ends_at_once;
use crate::uplink::Uplink;

/// A run that waits for its start.
pub(crate) struct Prepared {
    /// The agent's part of the plan.
    pub(crate) plan: Plan,
    /// The engine, made ready.
    pub(crate) ready: ReadyRun,
    /// The agent's share of the whole load, 0 to 1.
    pub(crate) share: f64,
}

/// Runs the agent's part, from this instant on, to its end. All of it was reported then.
///
/// # Errors
/// The engine could not start, or failed, with the reason.
pub(crate) fn run(prepared: Prepared, at: Instant, handle: &AgentHandle) -> Result<(), String> {
    let Prepared { plan, ready, share } = prepared;
    let run = ready.start(at);
    let uplink = Uplink::new(handle, share, true);
    let mut load = AgentLoad { handle, stopper: run.stopper(), uplink };
    let options = SessionOptions::counting(|| 0);
    let session =
        Session::over(Box::new(run), &plan, options).map_err(|error| error.to_string())?;
    let outcome = session.run(&mut [&mut load]).map_err(|error| error.to_string())?;
    load.uplink.record(outcome.generator, Vec::new());
    load.uplink.end();
    Ok(())
}

/// An agent's part of the load under way.
struct AgentLoad<'a> {
    handle: &'a AgentHandle,
    stopper: Stopper,
    uplink: Uplink<'a>,
}

impl Observer for AgentLoad<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.uplink.rows(batch);
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, _control: &mut Control<'_>) {
        self.uplink.record(snapshot.generator.clone(), Vec::new());
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        loop {
            match self.handle.orders.try_recv() {
                Ok(AgentOrder::Stop(cause)) if ends_at_once(&cause) => control.abort(),
                Ok(AgentOrder::Stop(_)) => control.drain(),
                Ok(AgentOrder::SkipOverdue(before)) => self.stopper.skip_overdue(before),
                // The run is over for this agent, or its host has gone.
                Ok(AgentOrder::Leave(_)) | Err(TryRecvError::Disconnected) => {
                    control.abort();
                    break;
                }
                // Its users do not wait for those of other agents.
                Ok(AgentOrder::Prepare(_) | AgentOrder::Start(_) | AgentOrder::Pass { .. }) => {}
                Err(TryRecvError::Empty) => break,
            }
        }
        self.uplink.flush();
    }
}
