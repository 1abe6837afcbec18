//! `run_on_fleet`: the scenarios of a test on the agents of a fleet, as a stage of the test here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use cli::{ExitCode, ExitError, Interrupts, eprint_line};
use metrics::tally::{MetricId, Tally};
use metrics::{Snapshot, Summary, Verdict};
use remote::flags::FleetRequest;
use remote::{FleetExecution, FleetWork, PartSink, Records, RemoteError};
use script::{AbortReason, Control, LiveMetrics, Stage, VuStats};
use session::{Control as RunControl, Observer, RunPlace};
use stdx::Nanos;
use workload::Load;

use super::archive::ScriptArchive;
use super::record::PartRecord;
use crate::archive::left_behind;
use crate::config::TestConfig;
use crate::stage::{Prepare, StageObserver, StageResult, plan_of, request};

/// How long requests may take to end after the last iteration was to.
const REQUESTS_END: Nanos = Nanos::from_secs(60);

/// The lane of what only the coordinator sees; agents have those from 1.
const OWN_LANE: u64 = 0;

/// Runs the scenarios on a fleet. `data` is what `setup` returned.
///
/// # Errors
/// The fleet does not form, or the results cannot be written.
pub(crate) fn run_on_fleet(
    meant: &TestConfig,
    fleet: &FleetRequest,
    data: Option<&str>,
    prepare: Prepare<'_>,
) -> Result<StageResult, ExitError> {
    let interrupts = Interrupts::watch_until(ExitCode::Interrupted)?;
    let plan = plan_of(Load::Closed { users: meant.options.reservation().vus });
    let (request, _) = request(meant, (Stage::Iteration, plan), &interrupts)?;
    let (execution, records) = start(meant, fleet, data, &interrupts)?;
    let control = Control::new(&meant.options.scenarios, &meant.options.segment);
    let start = execution.start();
    control.begin(start.saturating_duration_since(meant.began).into());
    let live = Arc::new(LiveMetrics::default());
    let merged = Merged::new(&control, &live);
    let execution = Box::new(execution.with_parts(merged.clone()));
    let more = request.shown.more_on_page();
    let started = request.start(RunPlace::Fleet(execution))?;
    let mut watch = prepare(Arc::clone(&control), Arc::clone(&live));
    watch.begins_at(start);
    let is_logged = interrupts.seen() > 0;
    let mut observer = StageObserver::new(meant, &control, (Some(watch), more), is_logged);
    let mut vus = VuGauges { control: Arc::clone(&control), live, tally: meant.tally.clone() };
    let run = started.run(&mut [&mut vus, &mut observer]);
    drop(observer);
    let run = run?;
    let outcome = records.outcome();
    if let Some(cause) = &outcome.failed {
        control.halt(AbortReason::Abort(format!("the fleet ended the run early: {cause}")));
    }
    let verdict = Verdict::new(&Summary::new(), Some(&run.ended.generator), &[]);
    Ok(StageResult {
        outcome: merged.stats(vus.tally),
        elapsed: merged.elapsed(),
        interrupted: interrupts.seen() > 0,
        verdict: verdict.with_agents(&outcome.agents),
        control,
        run,
        agents: outcome.agents,
    })
}

/// Forms the fleet.
fn start(
    meant: &TestConfig,
    request: &FleetRequest,
    data: Option<&str>,
    interrupts: &Interrupts,
) -> Result<(FleetExecution, Records), ExitError> {
    let archive = ScriptArchive::of(meant).encode();
    if let Some(text) = left_behind(&meant.source, &meant.variables) {
        session::warn(&text);
    }
    let setup = data.map(|data| data.as_bytes().to_vec());
    let graceful = meant.options.scenarios.iter().map(|scenario| scenario.graceful_stop).max();
    let longest_end = graceful.unwrap_or(Nanos::ZERO).saturating_add(REQUESTS_END);
    let work = FleetWork::script(archive, setup, meant.options.reservation().vus, longest_end);
    let mut notice = |text: &str| eprint_line(&format!("fleet: {text}"));
    let started = remote::start(&work, &request.options, interrupts, &mut notice);
    started.map_err(|error| match error {
        RemoteError::Interrupted => ExitError { code: ExitCode::Interrupted, error: error.into() },
        error => anyhow::Error::new(error).into(),
    })
}

/// The last record of each agent.
#[derive(Clone)]
struct Merged {
    records: Rc<RefCell<BTreeMap<u16, PartRecord>>>,
    control: Arc<Control>,
    live: Arc<LiveMetrics>,
}

impl Merged {
    fn new(control: &Arc<Control>, live: &Arc<LiveMetrics>) -> Self {
        let (control, live) = (Arc::clone(control), Arc::clone(live));
        Self { records: Rc::default(), control, live }
    }

    /// What the VUs of all agents did; `own` is what only this machine sees.
    fn stats(&self, own: Tally) -> VuStats {
        let mut all = VuStats { tally: own, ..VuStats::default() };
        self.records.borrow().values().for_each(|record| all.merge(&record.stats()));
        all
    }

    /// How long the scenarios took.
    fn elapsed(&self) -> Nanos {
        let records = self.records.borrow();
        records.values().map(|record| record.elapsed).max().unwrap_or(Nanos::ZERO)
    }
}

impl PartSink for Merged {
    /// Takes an agent's newer record. What ends one part ends the test.
    fn take(&mut self, agent: u16, bytes: &[u8]) -> Result<(), &'static str> {
        let record = PartRecord::decode(bytes).ok_or("a bad record of a script")?;
        for (text, reason) in [
            (&record.aborted, AbortReason::Abort as fn(String) -> AbortReason),
            (&record.broken, AbortReason::Broken),
            (&record.failed, AbortReason::Fail),
        ] {
            if let Some(text) = text {
                self.control.halt(reason(text.clone()));
            }
        }
        if record.lost_parts {
            session::warn(
                "the metrics of scenarios and groups are too many to travel, and left out",
            );
        }
        self.control.count_elsewhere(usize::from(agent), &record.instance());
        self.live.publish(u64::from(agent), &record.tally);
        self.records.borrow_mut().insert(agent, record);
        Ok(())
    }
}

/// Counts the VUs of all agents, once a second.
struct VuGauges {
    control: Arc<Control>,
    live: Arc<LiveMetrics>,
    tally: Tally,
}

impl Observer for VuGauges {
    fn progress(&mut self, _snapshot: &Snapshot, _run: &mut RunControl<'_>) {
        let seen = self.control.instance();
        self.tally.add(MetricId::VUS, seen.active as f64, &());
        self.tally.add(MetricId::VUS_MAX, seen.initialized as f64, &());
        self.live.publish(OWN_LANE, &self.tally);
    }
}
