//! `Runner`: carries out the steps that a search proposes, each a run of its own on fresh connections.

use std::cell::Cell;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts};
use engine::Settings;
use k6::SearchedScript;
use metrics::tally::Assertion;
use metrics::{Batch, FailureKind, Snapshot, Summary, Verdict};
use remote::flags::FleetRequest;
use report::seek::LimitAtLoad;
use session::web::LivePage;
use session::{
    Control, Deadline, DeadlineKind, Observer, ObserverError, OnInterrupt, OpenDisplays,
    PrometheusExporter, ResultsFile, RunPlace, RunRequest, SessionOptions, SessionOutcome,
    StopPolicy, target_labels,
};
use stdx::{Nanos, mix};
use study::seek::{By, Meter, Step, TimeLeft, Trial};
use workload::Plan;

use super::config::SeekConfig;
use super::limit::WatchedStep;
use crate::load::fleet;

/// How long a step without a `-timeout` may go on after its last hit was begun.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// The longest pause for a server that may still work on what timed out.
const PAUSE_MAX: f64 = 60.0;

/// Carries out steps.
pub(super) struct Runner<'a> {
    config: &'a SeekConfig,
    /// The script, where one is run.
    script: Option<SearchedScript>,
    interrupts: Interrupts,
    page: Option<LivePage>,
    /// The live metrics of all steps.
    metrics: Option<PrometheusExporter>,
    /// How long to pause before the next step.
    pause: Duration,
    /// What limits the server, by the step that shows most of it; `None` where nothing is watched.
    pub(super) limit: Option<LimitAtLoad>,
}

/// Measures a step, and ends it early where there is nothing more to see.
struct StepObserver<'m, 's> {
    meter: &'m mut Meter<'s>,
    summary: Summary,
    /// When the step was ended early, since its start.
    cut: Option<Nanos>,
    /// When the load began, from the rows' zero: a script makes its virtual users before.
    begun: &'m Cell<Nanos>,
}

impl Observer for StepObserver<'_, '_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.summary.add(batch);
        self.meter.begin_at(self.begun.get());
        self.meter.add(batch);
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        let now = control.elapsed();
        if self.cut.is_none() && self.meter.is_plainly_missed(now, snapshot.in_flight) {
            // What is under way is waited for, so that the next step finds an empty queue.
            control.drain();
            self.cut = Some(now);
        }
    }
}

/// How a step on a fleet ended.
struct FleetStep {
    session: SessionOutcome,
    agents: Vec<Assertion>,
}

/// Carries out a step on a fleet that is formed for it.
///
/// # Errors
/// The fleet cannot be formed, or ended the step early.
fn on_fleet(
    (request, settings): (RunRequest, &Settings),
    fleet: &FleetRequest,
    interrupts: &Interrupts,
    observers: &mut [&mut dyn Observer],
) -> Result<FleetStep, ExitError> {
    let formed = fleet::form((&request.plan, settings), fleet, interrupts, &mut |_| ());
    let (execution, records) = formed.map_err(anyhow::Error::new)?;
    let session = request.carry_out(RunPlace::Fleet(Box::new(execution)), observers)?.ended;
    let mut agents = Vec::new();
    match fleet::conclude(&records, &mut agents) {
        Some(cause) => Err(anyhow!("the fleet ended a step early: {cause}").into()),
        None => Ok(FleetStep { session, agents }),
    }
}

impl<'a> Runner<'a> {
    /// Nothing was run yet but the `setup` of the script, where there is one.
    ///
    /// # Errors
    /// It failed; the script's log says why.
    pub(super) fn new(
        config: &'a SeekConfig,
        mut script: Option<SearchedScript>,
        (metrics, interrupts): (Option<PrometheusExporter>, Interrupts),
    ) -> Result<Self, ExitCode> {
        script.as_mut().map_or(Ok(()), SearchedScript::set_up)?;
        let page = config.displays.page.as_ref().and_then(|page| page.open(&interrupts));
        Ok(Self { config, script, interrupts, page, metrics, pause: Duration::ZERO, limit: None })
    }

    /// Runs a script's `teardown`.
    ///
    /// # Errors
    /// It failed.
    pub(super) fn close(self) -> Result<(), ExitError> {
        self.script.map_or(Ok(()), SearchedScript::close)
    }

    /// Runs step number `number`, after the pause that the one before asks for; `None` where the user ended it. `left` is
    /// shown beside the number.
    ///
    /// # Errors
    /// The run cannot be started.
    pub(super) fn run(
        &mut self,
        trial: Trial,
        number: usize,
        left: Option<TimeLeft>,
    ) -> Result<Option<Step>, ExitError> {
        let begin = Instant::now();
        if !self.rest() {
            return Ok(None);
        }
        let mut meter = Meter::new(&self.config.search, trial);
        let plan = Plan {
            name: report::seek::step_name(number + 1, left),
            load: self.config.load(trial.load),
            duration: Some(meter.duration()),
            seed: mix(self.config.plan.seed, number as u64),
            ..self.config.plan.clone()
        };
        let settings = self.config.settings(trial.load);
        let meter_duration = meter.duration();
        let stop = self.stop(meter_duration);
        let mut watched =
            self.config.watching.as_ref().map(|_| WatchedStep::new(target_labels(&plan)));
        let results = self.config.watching.as_ref().map(ResultsFile::unkept).transpose()?;
        let options = SessionOptions { stop, results, ..SessionOptions::new(&self.interrupts) };
        let begun = Cell::default();
        let mut step =
            StepObserver { meter: &mut meter, summary: Summary::new(), cut: None, begun: &begun };
        let view = self.page.as_ref().map(|page| page.view_of_step(&plan));
        let terminal = self.config.displays.terminal.open(&plan, &self.interrupts);
        let shown = OpenDisplays::of_step(view, terminal);
        let observers: &mut [&mut dyn Observer] = &mut [&mut step, &mut watched, &mut self.metrics];
        let (mut agents, mut done) = (Vec::new(), None);
        let outcome = match (&mut self.script, &self.config.fleet) {
            (Some(script), _) => {
                let trial = self.config.trial(trial.load, meter_duration, &begun);
                let ended = script.run(&trial, (options, shown), observers)?;
                done = Some((ended.iterations, ended.unsent));
                ended.session
            }
            (None, None) => {
                let request = RunRequest { shown, ..RunRequest::new(plan, options) };
                request.carry_out(RunPlace::here(&settings), observers)?.ended
            }
            (None, Some(fleet)) => {
                let request = RunRequest { shown, ..RunRequest::new(plan, options) };
                let ended = on_fleet((request, &settings), fleet, &self.interrupts, observers)?;
                agents = ended.agents;
                ended.session
            }
        };
        if outcome.interrupts > 0 {
            return Ok(None);
        }
        let StepObserver { summary, cut, .. } = step;
        self.pause = self.pause_after(&summary);
        let verdict = Verdict::new(&summary, Some(&outcome.generator), &[]).with_agents(&agents);
        let took = Nanos(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
        meter.add_unsent(done.map_or(0, |(_, unsent)| unsent));
        let step = Step { took, ..meter.finish(&verdict, cut) };
        let step = match done {
            Some((iterations, _)) => of_iterations(step, iterations, summary.requests)?,
            None => step,
        };
        let limit = watched
            .and_then(|watched| watched.limit(&self.config.search, &step, (&outcome, &verdict)));
        self.keep_nearest(limit);
        Ok(Some(step))
    }

    /// Keeps what limits the server, of the step that shows most of it.
    fn keep_nearest(&mut self, limit: Option<LimitAtLoad>) {
        let is_nearer = |limit: &LimitAtLoad| {
            self.limit.as_ref().is_none_or(|before| limit.is_nearer_than(before))
        };
        if let Some(limit) = limit.filter(is_nearer) {
            self.limit = Some(limit);
        }
    }

    /// When a step of this length is ended: at once by the user, and where hits take too long beyond its end.
    fn stop(&self, duration: Nanos) -> StopPolicy {
        let timeout = self.config.settings.timeout;
        let grace = timeout.map_or(DRAIN_MAX, |timeout| {
            Duration::from_nanos(timeout.0) + INTERRUPT_CHECK_INTERVAL * 20
        });
        let (after, kind) = (Some(Duration::from(duration)), DeadlineKind::Overrun);
        let deadline = Some(Deadline { after, grace, kind });
        StopPolicy { on_interrupt: OnInterrupt::Abort, deadline }
    }

    /// Pauses; `false` where the user ended it.
    fn rest(&self) -> bool {
        let end = Instant::now() + self.pause;
        while self.interrupts.seen() == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::park_timeout(left.min(INTERRUPT_CHECK_INTERVAL));
        }
        false
    }

    /// The pause after a step: what was asked for, and where hits timed out, as long as the server may need for what it does
    /// not know to be given up.
    fn pause_after(&self, summary: &Summary) -> Duration {
        let given_up = summary.failures[FailureKind::Timeout as usize];
        let rate_per_s = summary.throughput();
        let closed = self.config.search.by == By::Connections;
        let extra = match given_up {
            0 => 0.0,
            _ if closed => 0.0,
            hits if rate_per_s > 0.0 => (hits as f64 / rate_per_s).min(PAUSE_MAX),
            _ => PAUSE_MAX,
        };
        Duration::from_nanos(self.config.cooldown.0) + Duration::from_secs_f64(extra)
    }
}

/// A step of a script: what it achieved is counted in iterations, each of so many requests.
///
/// # Errors
/// The script sends no requests, so that an objective says nothing of it.
fn of_iterations(step: Step, iterations: u64, requests: u64) -> Result<Step, ExitError> {
    if requests == 0 && iterations > 0 {
        return Err(
            anyhow!("the script sends no HTTP requests, which an objective is about").into()
        );
    }
    let share = iterations as f64 / requests.max(1) as f64;
    Ok(Step { achieved_per_s: step.achieved_per_s * share, ..step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_achieves_iterations() {
        let step = Step {
            load: 5.0,
            hits: 100,
            figures: Vec::new(),
            achieved_per_s: 12.0,
            mean: Nanos::MILLI,
            p50: Nanos::MILLI,
            p95: Nanos::MILLI,
            p99: Nanos::MILLI,
            errors: 0.0,
            warmup: Nanos::ZERO,
            measured: Nanos::SECOND,
            took: Nanos::SECOND,
            cut: false,
            spoilt: None,
        };
        let achieved = |iterations, requests| {
            of_iterations(step.clone(), iterations, requests).map(|s| s.achieved_per_s)
        };
        assert_eq!(achieved(40, 120).ok(), Some(4.0));
        assert!(achieved(40, 0).is_err(), "no request in 40 iterations");
        assert_eq!(achieved(0, 0).ok(), Some(0.0), "none came to its end");
    }
}
