//! One stage of a test as a run of the engine: setup, the scenarios, or teardown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use cli::{ExitCode, ExitError, Interrupts};
use engine::{Capture, CapturedHeaders, HeadStyle, Redirects, Settings};
use metrics::tally::Assertion;
use metrics::{Snapshot, Summary, TargetTable, Verdict};
use script::{
    Control, Level, LiveMetrics, PriorStages, SamplePlan, Stage, VuPoolPlan, VuStats, WorkPlan,
    vu_pool,
};
use session::web::MoreOnPage;
use session::{
    Control as RunControl, GateObserver, Observer, RunOutcome, RunPlace, RunRequest,
    SessionOptions, go_words,
};
use stdx::Nanos;
use workload::executor::{Executor, Scenario};
use workload::{Load, Plan, Segment, Targets, VuFactory};

use crate::config::TestConfig;
use crate::console::Logger;
use crate::network::http_plan;
use crate::outputs::Outputs;
use crate::summary_mode::SummaryMode;
use crate::watch::Watch;

/// Printed at once, since the graceful stop may take a while.
const INTERRUPTED: &str = "interrupted: iterations have their graceful stop to come to an end, but for those that run for 1s without waiting; a second interrupt ends them at once";

/// The result of a stage.
pub(super) struct StageResult {
    pub(super) outcome: VuStats,
    /// From when VUs had been made until the last of them was done.
    pub(super) elapsed: Nanos,
    pub(super) interrupted: bool,
    pub(super) verdict: Verdict,
    pub(super) control: Arc<Control>,
    /// Its run: thresholds and gates are judged after teardown, and belong to its results, which are still open.
    pub(super) run: RunOutcome,
    /// The agents of a fleet, which the results have.
    pub(super) agents: Vec<Assertion>,
}

/// Makes the monitor of a running stage.
pub(super) type Prepare<'a> = &'a dyn Fn(Arc<Control>, Arc<LiveMetrics>) -> Watch;

/// Runs a stage to its end.
///
/// # Errors
/// A worker could not be started.
pub(super) fn run_stage(
    meant: &TestConfig,
    (stage, earlier): (Stage, PriorStages),
    data: Option<&str>,
    prepare: Option<Prepare<'_>>,
) -> Result<StageResult, ExitError> {
    let interrupts = Interrupts::watch_until(ExitCode::Interrupted)?;
    let outcome = Arc::new(Mutex::new(VuStats::default()));
    let live = prepare.map(|_| Arc::new(LiveMetrics::default()));
    let mut plan = vu_plan(meant, stage, data, &outcome);
    plan.samples.live.clone_from(&live);
    plan.work.earlier = earlier;
    let control = Arc::clone(&plan.control);
    let load = load_of(meant, plan);
    let (request, needs_rows) = request(meant, (stage, plan_of(load)), &interrupts)?;
    let settings = Settings { rows: needs_rows, ..settings(meant, stage) };
    let more = request.shown.more_on_page();
    let started = request.start(RunPlace::here(&settings))?;
    let watch = prepare.zip(live).map(|(prepare, live)| prepare(Arc::clone(&control), live));
    let is_logged = interrupts.seen() > 0;
    let mut observer = StageObserver::new(meant, &control, (watch, more), is_logged);
    let run = started.run(&mut [&mut observer]);
    drop(observer);
    let run = run?;
    let outcome = std::mem::take(&mut *outcome.lock().unwrap_or_else(PoisonError::into_inner));
    let verdict = Verdict::new(&Summary::new(), Some(&run.ended.generator), &[]);
    let interrupted = interrupts.seen() > 0;
    let finished = Nanos::from(run.ended.finished.saturating_duration_since(meant.began));
    let elapsed = finished.saturating_sub(control.began_at().unwrap_or(finished));
    Ok(StageResult { outcome, elapsed, interrupted, verdict, control, run, agents: Vec::new() })
}

/// The run of a stage, and whether it needs a row for each request. The scenarios alone have outputs, displays and gates.
///
/// # Errors
/// An output cannot be opened.
pub(super) fn request(
    meant: &TestConfig,
    (stage, plan): (Stage, Plan),
    interrupts: &Interrupts,
) -> Result<(RunRequest, bool), ExitError> {
    // The log says that it is interrupted, and thresholds are judged after teardown.
    let options = SessionOptions {
        keeps_results_open: true,
        drain_notice: false,
        ..SessionOptions::new(interrupts)
    };
    if stage != Stage::Iteration {
        return Ok((RunRequest::new(plan, options), false));
    }
    let outputs = meant.outputs.as_ref();
    let open = |outputs: &Outputs| outputs.open_results(meant.watching.as_ref()).transpose();
    let results = outputs.and_then(open).transpose()?;
    let gates = GateObserver::new(&meant.gates, TargetTable::default());
    let is_reported = gates.is_some() || outputs.is_some_and(|outputs| outputs.stored.is_some());
    let figures = meant.figures(is_reported);
    let needs_rows = results.is_some() || figures.is_some() || meant.displays.take_rows();
    let shown = meant.displays.open(&plan, interrupts)?;
    let options = SessionOptions { results, ..options };
    Ok((RunRequest { plan, options, shown, figures, gates, abort: None }, needs_rows))
}

/// Passes the user's interrupts on to scripts, and has thresholds judged and progress shown.
pub(super) struct StageObserver {
    began: Instant,
    control: Arc<Control>,
    logger: Arc<Logger>,
    /// The log has the first interrupt.
    interrupt_logged: bool,
    watch: Option<Watch>,
    /// Where the live page takes what only scripts have.
    more: Option<MoreOnPage>,
}

impl StageObserver {
    /// Of a stage that this control ends; `interrupt_logged` says that the log has the first interrupt.
    pub(super) fn new(
        meant: &TestConfig,
        control: &Arc<Control>,
        (watch, more): (Option<Watch>, Option<MoreOnPage>),
        interrupt_logged: bool,
    ) -> Self {
        let (control, logger) = (Arc::clone(control), Arc::clone(&meant.logger));
        Self { began: meant.began, control, logger, interrupt_logged, watch, more }
    }

    fn show_beside(&self) {
        if let (Some(more), Some(watch)) = (&self.more, &self.watch) {
            more.set(watch.beside());
        }
    }
}

impl Observer for StageObserver {
    fn progress(&mut self, _: &Snapshot, _: &mut RunControl<'_>) {
        self.show_beside();
    }

    fn last(&mut self, _: &Snapshot) {
        self.show_beside();
    }

    fn tick(&mut self, run: &mut RunControl<'_>) {
        forward_interrupts(run.interrupts(), &self.control, self.began.elapsed().into());
        if run.interrupts() > 0 && !std::mem::replace(&mut self.interrupt_logged, true) {
            self.logger.log(Level::Warn, INTERRUPTED, &[]);
        }
        if let Some(watch) = &mut self.watch {
            watch.update(run);
        }
    }
}

/// Passes the user's interrupts on to scripts, even to one in an endless loop.
fn forward_interrupts(interrupts: usize, control: &Control, now: Nanos) {
    match interrupts {
        0 => {}
        1 => control.drain(now),
        _ => control.interrupt(),
    }
}

pub(super) fn vu_plan(
    meant: &TestConfig,
    stage: Stage,
    data: Option<&str>,
    outcome: &Arc<Mutex<VuStats>>,
) -> VuPoolPlan {
    let options = &meant.options;
    let scenarios = match stage {
        Stage::Setup => vec![once("setup", options.setup_timeout)],
        Stage::Teardown => vec![once("teardown", options.teardown_timeout)],
        Stage::Summary => vec![once("handleSummary", options.summary_timeout)],
        Stage::Init | Stage::Iteration => options.scenarios.clone(),
    };
    let segment = match stage {
        Stage::Iteration => options.segment.clone(),
        _ => Segment::default(),
    };
    let (began, logger) = (meant.began, Arc::clone(&meant.logger));
    VuPoolPlan {
        control: Control::new(&scenarios, &segment),
        options: Some(options.for_scripts().into()),
        unix_ms: unix_ms(began),
        work: WorkPlan {
            scenarios,
            segment,
            stage,
            earlier: PriorStages::default(),
            data: data.map(Into::into),
            min_iteration: options.min_iteration,
            backs_off: meant.backs_off,
        },
        http: http_plan(options),
        samples: sample_plan(meant, stage),
        clock: Arc::new(move || began.elapsed().into()),
        log: Arc::new(move |level, text, fields| logger.log(level, text, fields)),
        outcome: Arc::clone(outcome),
    }
}

/// The users of a plan, as a load.
pub(super) fn load_of(meant: &TestConfig, plan: VuPoolPlan) -> Load {
    let (users, program) = (plan.vus_max(), meant.program.clone());
    Load::Users(VuFactory { users, make: Arc::new(move |lane| vu_pool(&program, &plan, lane)) })
}

fn sample_plan(meant: &TestConfig, stage: Stage) -> SamplePlan {
    SamplePlan {
        tally: meant.tally.clone(),
        // The results have the metrics of scenarios and groups, as the full summary has.
        parts: meant.mode == SummaryMode::Full || meant.has_results(),
        tags: meant.options.tags.clone(),
        system_tags: meant.options.system_tags,
        row_tags: stage == Stage::Iteration
            && (meant.has_results() || meant.displays.page.is_some()),
        emit: meant.outputs.as_ref().filter(|_| stage != Stage::Summary).and_then(Outputs::emit),
        live: None,
    }
}

/// A function that is called once, within a time.
fn once(function: &str, timeout: Nanos) -> Scenario {
    Scenario {
        name: function.to_owned(),
        exec: function.to_owned(),
        start: Nanos::ZERO,
        graceful_stop: Nanos::ZERO,
        tags: Vec::new(),
        env: Vec::new(),
        executor: Executor::PerVuIterations { vus: 1, iterations: 1, max_duration: timeout },
    }
}

/// A plan of this load, whose requests scripts make.
pub(super) fn plan_of(load: Load) -> Plan {
    Plan::new(load, Targets::default(), 0)
}

pub(super) fn settings(meant: &TestConfig, stage: Stage) -> Settings {
    let options = &meant.options;
    let mut settings = Settings {
        workers: if stage == Stage::Iteration { meant.cores } else { 1 },
        io: meant.io,
        timeout: None,
        keepalive: !options.no_reuse,
        redirects: Redirects::Keep,
        capture: Capture {
            body_max: Capture::BODY_MAX,
            headers: CapturedHeaders::WholeHead,
            ..Capture::default()
        },
        head: HeadStyle::Plain,
        rows: false,
        failure_text: go_words::FAILURE_TEXT,
        ..Settings::default()
    };
    settings.tls.insecure = options.insecure;
    meant.network.set(&mut settings);
    settings
}

/// What the wall clock said at a moment, in milliseconds since 1970.
fn unix_ms(at: Instant) -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(at.elapsed()).as_secs_f64() * 1e3
}
