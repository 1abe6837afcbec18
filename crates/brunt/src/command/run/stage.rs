//! One stage of a test as a run of the engine: setup, the scenarios, or teardown.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use engine::{Capture, HeadStyle, KeptHeaders, Redirects, Run, Settings};
use metrics::{TargetTable, Verdict};
use script::{Control, CrewPlan, Outcome, Stage, SystemTags, crew};
use stdx::{Law, Nanos};
use workload::executor::{Executor, Scenario};
use workload::{Crew, Load, Plan, Segment, Targets};

use super::console;
use super::meant::Meant;
use super::network::http_plan;
use crate::command::attack::{Conductor, cannot_start};
use crate::exit_code::Failed;
use crate::input::Interrupts;

/// What came of a stage.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    pub(super) elapsed: Nanos,
    pub(super) interrupted: bool,
    pub(super) control: Arc<Control>,
    pub(super) verdict: Verdict,
}

/// Runs a stage to its end.
///
/// # Errors
/// A worker could not be started.
pub(super) fn carry_out(meant: &Meant, stage: Stage, data: Option<&str>) -> Result<Done, Failed> {
    let interrupts = Interrupts::watch()?;
    let outcome = Arc::new(Mutex::new(Outcome::default()));
    let plan = crew_plan(meant, stage, data, &outcome);
    let control = Arc::clone(&plan.control);
    let users = plan.scenarios.iter().map(|scenario| scenario.executor.vus_max()).sum();
    let load = Load::Users(Crew { users, make: Arc::new(move |lane| crew(&plan, lane)) });
    let began = Instant::now();
    let run = Run::start(plan_of(load), &settings(meant, stage), None).map_err(cannot_start)?;
    let mut conductor = Conductor::new(TargetTable { labels: Vec::new() }, interrupts.clone());
    conductor.keep_summary = false;
    let ending = conductor.conduct(&run)?;
    drop(run);
    let outcome = std::mem::take(&mut *outcome.lock().unwrap_or_else(PoisonError::into_inner));
    let verdict = ending.verdict();
    let interrupted = interrupts.seen() > 0;
    let elapsed = began.elapsed().into();
    Ok(Done { outcome, elapsed, interrupted, control, verdict })
}

fn crew_plan(
    meant: &Meant,
    stage: Stage,
    data: Option<&str>,
    outcome: &Arc<Mutex<Outcome>>,
) -> CrewPlan {
    let options = &meant.options;
    let scenarios = match stage {
        Stage::Setup => vec![once("setup", options.setup_timeout)],
        Stage::Teardown => vec![once("teardown", options.teardown_timeout)],
        Stage::Init | Stage::Iteration => options.scenarios.clone(),
    };
    let (began, vault) = (meant.began, Arc::clone(&meant.vault));
    let segment = match stage {
        Stage::Iteration => meant.options.segment.clone(),
        _ => Segment::default(),
    };
    CrewPlan {
        program: meant.program.clone(),
        control: Control::new(&scenarios, &segment),
        segment,
        options: meant.program.options.as_deref().map(Into::into),
        unix_ms: unix_ms(began),
        scenarios,
        stage,
        data: data.map(Into::into),
        max_redirects: options.max_redirects,
        http: http_plan(options),
        discard_bodies: options.discard_bodies,
        user_agent: options.user_agent.clone().unwrap_or_else(|| USER_AGENT.to_owned()),
        batch: options.batch,
        min_iteration: options.min_iteration,
        tally: meant.tally.clone(),
        tags: options.tags.clone(),
        system_tags: SystemTags::default(),
        emit: None,
        clock: Arc::new(move || began.elapsed().into()),
        log: Arc::new(move |level, source, text| {
            console::log(began, level, source, &vault.redacted(text));
        }),
        outcome: Arc::clone(outcome),
    }
}

/// What requests call us where the script does not say.
const USER_AGENT: &str = concat!("brunt/", env!("CARGO_PKG_VERSION"));

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

fn plan_of(load: Load) -> Plan {
    Plan {
        name: String::new(),
        load,
        duration: None,
        warmup: Nanos::ZERO,
        think: Law::None,
        hits_max: None,
        targets: Targets::default(),
        seed: 0,
    }
}

fn settings(meant: &Meant, stage: Stage) -> Settings {
    let options = &meant.options;
    let mut settings = Settings {
        workers: if stage == Stage::Iteration { meant.cores } else { 1 },
        timeout: None,
        keepalive: !options.no_reuse,
        redirects: Redirects::Keep,
        capture: Capture {
            body_max: Capture::BODY_MAX,
            headers: KeptHeaders::WholeHead,
            ..Capture::default()
        },
        head: HeadStyle::Plain,
        rows: false,
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
