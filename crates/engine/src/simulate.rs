//! A whole run on the calling thread, over any [`Io`]: the simulated world's way to run a plan. It is the same worker and
//! the same loop as a real run's; only the threads and the clock are missing.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use metrics::{Batch, Snapshot};
use net::Io;
use workload::Plan;

use crate::error::StartError;
use crate::merge::Merge;
use crate::prepared::Prepared;
use crate::record::{Message, Outlet, Recorder};
use crate::schedule::Schedule;
use crate::serials::Serials;
use crate::settings::Settings;
use crate::stop_signal::StopSignal;
use crate::worker::{Start, Worker};

/// Messages that wait between two turns; a turn makes far fewer.
const MESSAGES_MAX: usize = 4096;

/// What came of a run.
#[derive(Debug)]
pub struct SimulationResult {
    /// The rows, in order of completion.
    pub batches: Vec<Batch>,
    /// All counts, with the generator's last word.
    pub total: Snapshot,
}

/// Runs a plan to its end in the world that `io` is part of. Its offset 0 is the Unix epoch.
///
/// # Errors
/// The settings cannot be used.
pub fn simulate<I: Io>(
    io: I,
    plan: Plan,
    settings: &Settings,
) -> Result<SimulationResult, StartError> {
    let prepared = Arc::new(Prepared::new(plan, settings.clone())?);
    let (messages, inbox) = sync_channel(MESSAGES_MAX);
    let (_, batches) = sync_channel(1);
    let (spare, snapshots) = sync_channel(1);
    spare.try_send(Box::new(Snapshot::new())).ok();
    let outlet = Outlet { worker: 0, messages, batches, snapshots };
    let mut merge = Merge::new(prepared.generator(1, "sim"), vec![spare]);
    let start = Start {
        schedule: Schedule::of_worker(&prepared, 0, 1),
        stop_signal: Arc::new(StopSignal::default()),
        lazy: None,
        serials: Serials::of(0, 1),
        conns_max: settings.max_connections.unwrap_or(usize::MAX),
        idle_max: settings.connections,
        recorder: Recorder::new(outlet, settings, 0),
        prepared,
    };
    let mut worker = Worker::new(io, start);
    let mut result = SimulationResult { batches: Vec::new(), total: Snapshot::new() };
    while !worker.turn() {
        collect(&inbox, &mut merge, &mut result);
    }
    worker.finish();
    collect(&inbox, &mut merge, &mut result);
    Ok(result)
}

fn collect(inbox: &Receiver<Message>, merge: &mut Merge, result: &mut SimulationResult) {
    while let Ok(message) = inbox.try_recv() {
        let account = match message {
            Message::Rows(batch) => {
                result.batches.push(batch);
                None
            }
            Message::Counts(worker, counts) => merge.add(worker, counts),
            Message::Done(worker, counts) => merge.end(worker, &counts, false),
        };
        if let Some(account) = account {
            // Each account's generator is cumulative: the last one stands for all.
            result.total.generator.clear();
            result.total.in_flight = 0;
            result.total.merge(&account);
            result.total.generator = account.generator;
        }
    }
}
