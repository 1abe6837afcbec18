//! `CablePart`: an agent's part of a test of Action Cable: its users, held at each barrier until those of all agents are up.

use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::Instant;

use cable::{Cable, CablePlan, PartRecord};
use control::{AgentHandle, AgentOrder, AgentReport};
use engine::{ReadyRun, Settings};
use fleet::Share;
use metrics::{Batch, Snapshot};
use session::{Control, Observer, ObserverError, Session, SessionOptions};
use workload::{Load, Plan, Targets};

use crate::archive::{CableArchive, use_own_proxies};
use crate::execution::ends_at_once;
use crate::uplink::Uplink;

/// The most messages that a record has: 8,000 of them take some 200 KiB.
const MESSAGES_MAX: usize = 8_000;

/// A part that waits for its start.
pub(crate) struct PreparedCable {
    cable: Arc<Cable>,
    plan: Plan,
    ready: ReadyRun,
    share: f64,
}

impl PreparedCable {
    /// Cuts the agent's users out of the test and makes them ready.
    ///
    /// # Errors
    /// The work cannot be done here, with the reason.
    pub(crate) fn new(
        archive: CableArchive,
        share: &Share,
        workers: usize,
    ) -> Result<Self, String> {
        let segment = share.segment().map_err(|error| error.to_string())?;
        let part = segment.vus();
        let users = archive.plan.users;
        if part.count(users.into()) == 0 {
            let users = stdx::counted(users.into(), "user");
            return Err(format!("of {users} none is left for it (give more users)"));
        }
        let share = part.share();
        let cable = Cable::new(CablePlan { part: Some(part.clone()), ..archive.plan });
        let workers = archive.workers.unwrap_or(workers);
        let mut settings = Settings { workers, rows: true, ..archive.settings };
        use_own_proxies(&mut settings);
        let seed = cable.plan().seed;
        let targets = Targets::new(Vec::new());
        let plan =
            Plan { name: archive.name, ..Plan::new(Load::Users(cable.users()), targets, seed) };
        let ready =
            ReadyRun::new(plan.clone(), &settings, None).map_err(|error| error.to_string())?;
        Ok(Self { cable, plan, ready, share })
    }

    /// Runs the part, from this instant on, to its end. All of it was reported then.
    ///
    /// # Errors
    /// The engine could not start, or failed, with the reason.
    pub(crate) fn run(self, at: Instant, handle: &AgentHandle) -> Result<(), String> {
        let Self { cable, plan, ready, share } = self;
        let run = ready.start(at);
        let mut part = CablePart {
            handle,
            uplink: Uplink::new(handle, share, true),
            line: cable.plan().line(),
            start: at,
            reached: 0,
            cable: Arc::clone(&cable),
        };
        let options = SessionOptions::counting(|| 0);
        let session =
            Session::over(Box::new(run), &plan, options).map_err(|error| error.to_string())?;
        let outcome = session.run(&mut [&mut part]).map_err(|error| error.to_string())?;
        for piece in cable.take_last_record().split(MESSAGES_MAX) {
            part.uplink.record(outcome.generator.clone(), encode(&piece));
        }
        part.uplink.end();
        Ok(())
    }
}

/// A part under way.
struct CablePart<'a> {
    handle: &'a AgentHandle,
    uplink: Uplink<'a>,
    cable: Arc<Cable>,
    /// What rows of messages are called.
    line: String,
    start: Instant,
    /// Barriers that the host knows to be reached.
    reached: u32,
}

impl CablePart<'_> {
    fn report_barrier(&mut self) {
        let reached = self.cable.barriers_reached();
        if reached > self.reached
            && self.handle.reports.try_send(AgentReport::AtBarrier(reached)).is_ok()
        {
            self.reached = reached;
        }
    }
}

impl Observer for CablePart<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        // A row of a broadcast's message says what one worker's users had of it: the coordinator makes those of the whole.
        let line = self.cable.plan().is_broadcast().then_some(self.line.as_bytes());
        self.uplink.rows_where(batch, |sample| line != Some(batch.text(sample.line)));
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, _control: &mut Control<'_>) {
        for piece in self.cable.take_record().split(MESSAGES_MAX) {
            let record = if piece.is_empty() { Vec::new() } else { encode(&piece) };
            self.uplink.record(snapshot.generator.clone(), record);
        }
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        self.report_barrier();
        loop {
            match self.handle.orders.try_recv() {
                Ok(AgentOrder::Pass { barrier, at }) => {
                    let since = at.saturating_duration_since(self.start);
                    self.cable.pass_barrier(barrier, since.into());
                }
                Ok(AgentOrder::Stop(cause)) if ends_at_once(&cause) => control.abort(),
                Ok(AgentOrder::Stop(_)) => control.drain(),
                // The run is over for this agent, or its host has gone.
                Ok(AgentOrder::Leave(_)) | Err(TryRecvError::Disconnected) => {
                    control.abort();
                    break;
                }
                // Users go on from where they stood.
                Ok(AgentOrder::SkipOverdue(_) | AgentOrder::Prepare(_) | AgentOrder::Start(_)) => {}
                Err(TryRecvError::Empty) => break,
            }
        }
        self.uplink.flush();
    }
}

fn encode(record: &PartRecord) -> Vec<u8> {
    // Numbers and texts have a form.
    postcard::to_allocvec(record).unwrap_or_default()
}
