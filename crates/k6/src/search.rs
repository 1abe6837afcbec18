//! `SearchedScript`: a script whose scenario is run again and again, each time at another load, as a search for the limit does.
//! `setup` comes before the first trial, and `teardown` after the last. Thresholds, outputs and the summary are a test's.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cli::{ExitCode, ExitError};
use engine::Settings;
use metrics::Batch;
use script::{Control, PriorStages, Stage, VuPoolPlan, VuStats};
use session::{
    Control as RunControl, Observer, ObserverError, OpenDisplays, RunPlace, RunRequest,
    SessionOptions, SessionOutcome,
};
use stdx::Nanos;
use workload::executor::{ArrivalKind, Executor, Scenario};

use crate::config::{self, TestConfig, ready};
use crate::flags::RunFlags;
use crate::run::after;
use crate::stage::{load_of, plan_of, run_stage, settings, vu_plan};

/// Virtual users at most where the script's scenario says no number.
const VUS_MAX: u64 = 1000;
/// Virtual users that are made before a trial for each that is at work on average (Little's law): random arrivals need more than
/// the average.
const SPARE: f64 = 2.0;

/// A script whose iterations a search raises.
pub struct SearchedScript {
    meant: TestConfig,
    scenario: Scenario,
    /// Virtual users at most.
    vus_max: u64,
    /// What `setup` returned, as JSON.
    data: Option<String>,
    earlier: PriorStages,
    /// How long an iteration took in the trial before, on average, in seconds.
    iteration_s: f64,
}

/// What a script is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptSource {
    /// The script or archive.
    pub path: String,
    /// Its variables.
    pub env: Vec<(String, String)>,
    /// The cores it may use; `None` for all.
    pub cpus: Option<u64>,
    /// The scenario that is raised; `None` where the script has one.
    pub scenario: Option<String>,
}

/// How much of a script is run, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct ScriptTrial<'a> {
    /// How many at a time, or how often.
    pub load: TrialLoad,
    /// How long iterations begin.
    pub duration: Nanos,
    /// Takes the time at which the load began, from the rows' zero, before other observers see the first row.
    pub begun: &'a Cell<Nanos>,
}

/// The load of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrialLoad {
    /// Iterations begin so often a second.
    Iterations(f64),
    /// So many virtual users iterate.
    Vus(u64),
}

/// How a trial ended.
pub struct TrialOutcome {
    /// The generator's own figures. Iterations that fell due and found every virtual user at work are no fault of the generator
    /// here: they are in `unsent`, and not in its record.
    pub session: SessionOutcome,
    /// Iterations that were completed.
    pub iterations: u64,
    /// Iterations that fell due and were not begun, since every virtual user was at work.
    pub unsent: u64,
}

impl SearchedScript {
    /// Compiles the script, whose init code loads its modules and data. What is wrong with it has been logged when this returns its
    /// code.
    ///
    /// # Errors
    /// The script cannot be run.
    pub fn open(source: &ScriptSource) -> Result<Self, ExitCode> {
        let flags = RunFlags { env: source.env.clone(), quiet: true, ..RunFlags::default() };
        let loaded = config::load(&source.path, &flags, true)?;
        loaded.warn();
        let logger = Arc::clone(&loaded.logger);
        let meant = ready((&flags, source.cpus), &source.path, loaded)
            .map_err(|error| logger.report(&error))?;
        if meant.outputs.is_some() {
            let text = "K6_OUT: a search writes no outputs of its steps (unset it)";
            logger.log_line(script::Level::Error, text);
            return Err(ExitCode::Usage);
        }
        let scenario =
            chosen(&meant.options.scenarios, source.scenario.as_deref()).map_err(|text| {
                logger.log_line(script::Level::Error, &format!("{}: {text}", source.path));
                ExitCode::Usage
            })?;
        let vus_max = match scenario.executor {
            Executor::ArrivalRate { vus_max, .. } => vus_max,
            _ => VUS_MAX,
        };
        let vus_max = vus_max.min(script::vus_that_fit()).max(1);
        let scenario = scenario.clone();
        let earlier = PriorStages::default();
        Ok(Self { meant, scenario, vus_max, data: None, earlier, iteration_s: 0.0 })
    }

    /// A number that is another one where the script, a module of it or a file that it opens has other bytes.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.meant.source.fingerprint()
    }

    /// Runs `setup`, where there is one. It comes before the first trial.
    ///
    /// # Errors
    /// It failed; that has been logged.
    pub fn set_up(&mut self) -> Result<(), ExitCode> {
        if !self.meant.setup {
            return Ok(());
        }
        let stage = (Stage::Setup, self.earlier);
        let done = run_stage(&self.meant, stage, None, None).map_err(|error| {
            self.meant.logger.log_line(script::Level::Error, &error.error.to_string());
            error.code
        })?;
        self.earlier.elapsed = done.elapsed;
        match after(&self.meant, &done, ExitCode::SetupTimeout) {
            ExitCode::Ok => {
                self.data = done.outcome.returned;
                Ok(())
            }
            code => Err(code),
        }
    }

    /// The most virtual users of a trial.
    #[must_use]
    pub const fn vus_max(&self) -> u64 {
        self.vus_max
    }

    /// Runs the scenario at a load.
    ///
    /// # Errors
    /// The run cannot be started, the script ends the test, or no virtual user can be made.
    pub fn run(
        &mut self,
        trial: &ScriptTrial<'_>,
        (options, shown): (SessionOptions, OpenDisplays),
        observers: &mut [&mut dyn Observer],
    ) -> Result<TrialOutcome, ExitError> {
        let stats = Arc::new(Mutex::new(VuStats::default()));
        let plan = self.plan(trial, &stats);
        let control = Arc::clone(&plan.control);
        let load = load_of(&self.meant, plan);
        let settings = Settings { rows: true, ..settings(&self.meant, Stage::Iteration) };
        let control_of_pilot = Arc::clone(&control);
        let (began, begun) = (self.meant.began, trial.begun);
        let mut pilot = Pilot { began, control: control_of_pilot, begun };
        let request = RunRequest { shown, ..RunRequest::new(plan_of(load), options) };
        let mut all: Vec<&mut dyn Observer> = vec![&mut pilot];
        all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
        let mut ended = request.carry_out(RunPlace::here(&settings), &mut all)?.ended;
        drop(all);
        if let Some(text) = control.aborted().or_else(|| control.broken()) {
            return Err(ExitError::new(ExitCode::Script, text));
        }
        let stats = std::mem::take(&mut *stats.lock().unwrap_or_else(PoisonError::into_inner));
        let unsent = ended.generator.not_sent;
        ended.generator.not_sent = 0;
        ended.generator.planned = ended.generator.planned.saturating_sub(unsent);
        self.iteration_s = mean_iteration_s(&stats);
        Ok(TrialOutcome { session: ended, iterations: stats.iterations, unsent })
    }

    /// The plan of a trial's virtual users.
    fn plan(&self, trial: &ScriptTrial<'_>, stats: &Arc<Mutex<VuStats>>) -> VuPoolPlan {
        let mut plan = vu_plan(&self.meant, Stage::Iteration, self.data.as_deref(), stats);
        let executor = executor(trial, self.iteration_s, self.vus_max);
        let scenarios = vec![Scenario { start: Nanos::ZERO, executor, ..self.scenario.clone() }];
        plan.control = Control::new(&scenarios, &plan.work.segment);
        (plan.work.scenarios, plan.work.earlier) = (scenarios, self.earlier);
        plan
    }

    /// Runs `teardown`, where there is one.
    ///
    /// # Errors
    /// It failed.
    pub fn close(self) -> Result<(), ExitError> {
        if !self.meant.teardown {
            return Ok(());
        }
        let stage = (Stage::Teardown, self.earlier);
        let done = run_stage(&self.meant, stage, self.data.as_deref(), None)?;
        match after(&self.meant, &done, ExitCode::TeardownTimeout) {
            ExitCode::Ok | ExitCode::Interrupted => Ok(()),
            code => Err(ExitError::new(code, "the script's teardown() failed".to_owned())),
        }
    }
}

/// Notes when the load began, and ends virtual users that the user interrupts.
struct Pilot<'a> {
    /// The zero of the script's clock.
    began: Instant,
    control: Arc<Control>,
    /// When the load began, from the rows' zero.
    begun: &'a Cell<Nanos>,
}

impl Observer for Pilot<'_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        if let (Nanos::ZERO, Some(at)) = (self.begun.get(), self.control.began_at()) {
            let ago = Nanos::from(self.began.elapsed()).saturating_sub(at);
            let zero_ago = session::unix_ns().saturating_sub(batch.epoch);
            self.begun.set(Nanos(u64::try_from(zero_ago).unwrap_or(0)).saturating_sub(ago));
        }
        Ok(())
    }

    fn tick(&mut self, run: &mut RunControl<'_>) {
        if run.interrupts() > 0 {
            self.control.interrupt();
        }
    }
}

/// The scenario that is raised: the one that there is, or the one that was named.
///
/// # Errors
/// There are several, or none of that name; the text lists them.
fn chosen<'a>(scenarios: &'a [Scenario], named: Option<&str>) -> Result<&'a Scenario, String> {
    let names = || scenarios.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
    match (named, scenarios) {
        (None, [only]) => Ok(only),
        (None, _) => Err(format!("it has the scenarios {} (give -scenario=NAME)", names())),
        (Some(name), _) => scenarios
            .iter()
            .find(|one| one.name == name)
            .ok_or_else(|| format!("it has no scenario {name:?}, but {}", names())),
    }
}

/// The executor of a trial. An iteration took `iteration_s` seconds in the one before; 0 where that is not known.
fn executor(trial: &ScriptTrial<'_>, iteration_s: f64, vus_max: u64) -> Executor {
    match trial.load {
        TrialLoad::Vus(vus) => Executor::ConstantVus { vus, duration: trial.duration },
        TrialLoad::Iterations(per_s) => {
            let at_work = (per_s * iteration_s.max(1.0) * SPARE).ceil() as u64;
            Executor::ArrivalRate {
                kind: ArrivalKind::Constant,
                start_per_s: per_s,
                stages: vec![(trial.duration, per_s)],
                vus: at_work.clamp(1, vus_max),
                vus_max,
            }
        }
    }
}

/// How long an iteration took, on average, in seconds; 0 without one.
fn mean_iteration_s(stats: &VuStats) -> f64 {
    let trend = stats.tally.metric("iteration_duration").map(|metric| &metric.value);
    match trend {
        Some(metrics::tally::Value::Trend(trend)) => trend.mean() / 1e3,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(name: &str) -> Scenario {
        Scenario {
            name: name.to_owned(),
            exec: "default".to_owned(),
            start: Nanos::ZERO,
            graceful_stop: Nanos::ZERO,
            tags: Vec::new(),
            env: Vec::new(),
            executor: Executor::ConstantVus { vus: 1, duration: Nanos::SECOND },
        }
    }

    #[test]
    fn one_scenario_is_raised() {
        let [browse, buy] = ["browse", "buy"].map(scenario);
        let both = [browse.clone(), buy.clone()];
        assert_eq!(chosen(std::slice::from_ref(&browse), None), Ok(&browse));
        assert_eq!(chosen(&both, Some("buy")), Ok(&buy));
        let several = chosen(&both, None).unwrap_err();
        assert_eq!(several, "it has the scenarios browse, buy (give -scenario=NAME)");
        let unknown = chosen(&both, Some("by")).unwrap_err();
        assert_eq!(unknown, "it has no scenario \"by\", but browse, buy");
    }

    #[test]
    fn as_many_users_are_made_as_the_last_trial_needed() {
        let users = |per_s: f64, iteration_s: f64| {
            let (load, begun) = (TrialLoad::Iterations(per_s), &Cell::default());
            let trial = ScriptTrial { load, duration: Nanos::SECOND, begun };
            match executor(&trial, iteration_s, 50) {
                Executor::ArrivalRate { vus, vus_max, .. } => (vus, vus_max),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(users(3.0, 0.0), (6, 50));
        assert_eq!(users(4.0, 2.5), (20, 50));
        assert_eq!(users(400.0, 2.5), (50, 50), "no more than may be");
        assert_eq!(users(0.1, 0.1), (1, 50), "at least one");
    }
}
