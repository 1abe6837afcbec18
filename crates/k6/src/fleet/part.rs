//! `run_part`: an agent's part of a script's scenarios, from its preparation to its end.

use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use control::{AgentHandle, AgentOrder, AgentReport};
use engine::Settings;
use metrics::tally::Tally;
use metrics::{Batch, Snapshot};
use remote::{ScriptWork, Uplink, ends_at_once};
use script::{Control, LiveMetrics, Stage, VuStats};
use session::{
    Control as RunControl, Observer, ObserverError, RunPlace, RunRequest, SessionOptions,
};
use stdx::Nanos;

use super::archive::ScriptArchive;
use super::record::PartRecord;
use crate::config::TestConfig;
use crate::stage::{load_of, plan_of, settings, vu_plan};

/// Runs an agent's part of a script's scenarios: makes the VUs, reports that they are ready, begins when it is ordered to, and sends
/// what it measured, once a second and at the end.
pub fn run_part(work: &ScriptWork<'_>, handle: &AgentHandle) {
    let prepared = ScriptArchive::decode(work.archive).and_then(|archive| {
        let meant = archive.config(work)?;
        Ok((archive, meant))
    });
    let outcome = prepared.and_then(|(archive, meant)| run(&archive, &meant, work, handle));
    if let Err(cause) = outcome {
        // Of the two the host takes the one that it waits for.
        report(handle, AgentReport::Prepared(Err(cause.clone())));
        report(handle, AgentReport::Abort(cause));
    }
}

/// A host that has gone needs no report.
fn report(handle: &AgentHandle, report: AgentReport) {
    handle.reports.send(report).unwrap_or_default();
}

fn run(
    archive: &ScriptArchive,
    meant: &TestConfig,
    work: &ScriptWork<'_>,
    handle: &AgentHandle,
) -> Result<(), String> {
    let stats = Arc::new(Mutex::new(VuStats::default()));
    let live = Arc::new(LiveMetrics::default());
    let data = work.setup.map(String::from_utf8_lossy);
    let mut plan = vu_plan(meant, Stage::Iteration, data.as_deref(), &stats);
    plan.samples.live = Some(Arc::clone(&live));
    plan.samples.row_tags = archive.rows;
    let control = Arc::clone(&plan.control);
    control.hold();
    let load = load_of(meant, plan);
    let settings = Settings { rows: true, ..settings(meant, Stage::Iteration) };
    let share = work.share.segment().map_err(|error| error.to_string())?.vus().share();
    let mut part = Part {
        handle,
        uplink: Uplink::new(handle, share, archive.rows),
        control: Arc::clone(&control),
        live,
        began: meant.began,
        is_ready: false,
        start_unix: None,
        is_aborted: false,
    };
    let request = RunRequest::new(plan_of(load), SessionOptions::counting(|| 0));
    let outcome = request.carry_out(RunPlace::here(&settings), &mut [&mut part]);
    let outcome = outcome.map_err(|error| error.to_string())?.ended;
    // VUs that cannot be made end the run before it was looked at.
    if !part.is_ready {
        return Err(control.broken().unwrap_or_else(|| "it ended before its start".to_owned()));
    }
    let finished = Nanos::from(outcome.finished.saturating_duration_since(meant.began));
    let elapsed = finished.saturating_sub(control.began_at().unwrap_or(finished));
    let stats = std::mem::take(&mut *stats.lock().unwrap_or_else(PoisonError::into_inner));
    let mut last = PartRecord::last(stats, &control, elapsed);
    part.uplink.record(outcome.generator, last.encode());
    part.uplink.end();
    Ok(())
}

/// An agent's part under way.
struct Part<'a> {
    handle: &'a AgentHandle,
    uplink: Uplink<'a>,
    control: Arc<Control>,
    live: Arc<LiveMetrics>,
    /// The zero of the script's clock.
    began: Instant,
    /// The host knows whether the VUs are made.
    is_ready: bool,
    /// Unix time of the start, in nanoseconds, once it is known.
    start_unix: Option<i64>,
    is_aborted: bool,
}

impl Part<'_> {
    /// Reports once that all VUs are made, or why they cannot be.
    fn report_ready(&mut self) {
        if self.is_ready {
            return;
        }
        let outcome = match self.control.broken() {
            Some(cause) => Err(cause),
            None if self.control.instance().initialized < self.control.staffed() => return,
            None => Ok(()),
        };
        self.is_ready = true;
        report(self.handle, AgentReport::Prepared(outcome));
    }

    fn obey(&mut self, order: &AgentOrder) {
        let on_clock = |at: Instant| Nanos::from(at.saturating_duration_since(self.began));
        match order {
            AgentOrder::Start(at) => {
                let ahead = at.saturating_duration_since(Instant::now()).as_nanos();
                let ahead = i64::try_from(ahead).unwrap_or(0);
                self.start_unix = Some(session::unix_ns().saturating_add(ahead));
                self.control.release(on_clock(*at));
            }
            AgentOrder::Stop(cause) if ends_at_once(cause) => self.control.interrupt(),
            AgentOrder::Stop(_) => self.control.drain(on_clock(Instant::now())),
            AgentOrder::Leave(_) => self.control.interrupt(),
            // VUs go on from where they stood.
            AgentOrder::SkipOverdue(_) | AgentOrder::Prepare(_) | AgentOrder::Pass { .. } => {}
        }
    }
}

impl Observer for Part<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        if let Some(start) = self.start_unix {
            let shift = start.saturating_sub(batch.epoch);
            self.uplink.set_shift(Nanos(u64::try_from(shift).unwrap_or(0)));
        }
        self.uplink.rows(batch);
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, _run: &mut RunControl<'_>) {
        if self.start_unix.is_some() {
            let mut tally = Tally::default();
            self.live.add(&mut tally);
            let mut record = PartRecord::live(tally, &self.control);
            self.uplink.record(snapshot.generator.clone(), record.encode());
        }
    }

    fn tick(&mut self, run: &mut RunControl<'_>) {
        self.report_ready();
        loop {
            match self.handle.orders.try_recv() {
                Ok(order) => self.obey(&order),
                Err(TryRecvError::Disconnected) => {
                    self.control.interrupt();
                    break;
                }
                Err(TryRecvError::Empty) => break,
            }
        }
        if self.control.is_halted() && !self.is_aborted {
            self.is_aborted = true;
            run.abort();
        }
        self.uplink.flush();
    }
}
