//! `Runner`: carries out the steps that a search proposes, each a run of its own on fresh connections.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts};
use engine::Settings;
use metrics::tally::Assertion;
use metrics::{Batch, FailureKind, Snapshot, Summary, Verdict};
use remote::flags::FleetRequest;
use session::web::{self, LivePage};
use session::{
    Control, Deadline, DeadlineKind, Observer, ObserverError, OnInterrupt, Progress, Session,
    SessionOptions, SessionOutcome, StopPolicy,
};
use stdx::{Nanos, mix};
use study::seek::{By, Meter, Step, TimeLeft, Trial};
use workload::Plan;

use super::config::SeekConfig;
use crate::load::fleet;

/// How long a step without a `-timeout` may go on after its last hit was begun.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// The longest pause for a server that may still work on what timed out.
const PAUSE_MAX: f64 = 60.0;

/// Carries out steps.
pub(super) struct Runner<'a> {
    config: &'a SeekConfig,
    interrupts: Interrupts,
    page: Option<LivePage>,
    /// How long to pause before the next step.
    pause: Duration,
}

/// Measures a step, and ends it early where there is nothing more to see.
struct StepObserver<'m, 's> {
    meter: &'m mut Meter<'s>,
    summary: Summary,
    /// When the step was ended early, since its start.
    cut: Option<Nanos>,
}

impl Observer for StepObserver<'_, '_> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.summary.add(batch);
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

impl<'a> Runner<'a> {
    /// Nothing was run yet.
    pub(super) fn new(config: &'a SeekConfig, interrupts: Interrupts) -> Self {
        let address = config.web.as_deref();
        let page = address.and_then(|address| web::open(address, &interrupts));
        Self { config, interrupts, page, pause: Duration::ZERO }
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
        let mut progress = self.config.live.then(|| Progress::new(&plan));
        let stop = self.stop(meter.duration());
        let options = SessionOptions { stop, ..SessionOptions::new(&self.interrupts) };
        let mut step = StepObserver { meter: &mut meter, summary: Summary::new(), cut: None };
        let mut view = self.page.as_ref().map(|page| page.view_of_step(&plan));
        let observers: &mut [&mut dyn Observer] = &mut [&mut step, &mut view, &mut progress];
        let (outcome, agents) = match &self.config.fleet {
            None => (Session::start(plan, &settings, None, options)?.run(observers)?, Vec::new()),
            Some(request) => self.on_fleet(request, (&plan, &settings), options, observers)?,
        };
        if outcome.interrupts > 0 {
            return Ok(None);
        }
        let StepObserver { summary, cut, .. } = step;
        self.pause = self.pause_after(&summary);
        let verdict = Verdict::new(&summary, Some(&outcome.generator), &[]).with_agents(&agents);
        let took = Nanos(u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX));
        Ok(Some(Step { took, ..meter.finish(&verdict, cut) }))
    }

    /// Runs a step on a fleet; also returns its agents.
    ///
    /// # Errors
    /// The fleet does not form, or lost an agent.
    fn on_fleet(
        &self,
        request: &FleetRequest,
        (plan, settings): (&Plan, &Settings),
        options: SessionOptions,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(SessionOutcome, Vec<Assertion>), ExitError> {
        let formed = fleet::form((plan, settings), request, &self.interrupts, &mut |_| ());
        let (execution, records) = formed.map_err(anyhow::Error::new)?;
        let outcome = Session::over(execution, plan, options)?.run(observers)?;
        let mut agents = Vec::new();
        match fleet::conclude(&records, &mut agents) {
            Some(cause) => Err(anyhow!("the fleet ended a step early: {cause}").into()),
            None => Ok((outcome, agents)),
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
