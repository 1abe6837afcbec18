//! `Runner`: carries out the steps that a search proposes, each a run of its own on fresh connections.

use std::time::{Duration, Instant};

use engine::{Run, RunEvent};
use metrics::{FailureKind, Generator, Summary, Verdict};
use stdx::{Nanos, mix};
use study::seek::{By, Meter, Step, Trial};
use workload::Plan;

use super::meant::Meant;
use crate::command::attack::cannot_start;
use crate::command::live::Live;
use crate::exit_code::Failed;
use crate::input::{Interrupts, LOOK_EVERY};

/// How long a step without a `-timeout` may go on after its last hit was begun.
const DRAIN_MAX: Duration = Duration::from_secs(60);
/// The longest pause for a server that may still work on what timed out.
const PAUSE_MAX: f64 = 60.0;

/// Carries out steps.
pub(super) struct Runner<'a> {
    meant: &'a Meant,
    interrupts: Interrupts,
    /// How long to pause before the next step.
    pause: Duration,
}

/// What a run told, besides what its meter saw.
struct Seen {
    summary: Summary,
    generator: Generator,
    cut: Option<Nanos>,
    interrupted: bool,
}

impl<'a> Runner<'a> {
    /// Nothing was run yet.
    pub(super) fn new(meant: &'a Meant, interrupts: Interrupts) -> Self {
        Self { meant, interrupts, pause: Duration::ZERO }
    }

    /// Runs step number `number`, after the pause that the one before asks for; `None` where the user ended it.
    ///
    /// # Errors
    /// The run cannot be started.
    pub(super) fn run(&mut self, trial: Trial, number: usize) -> Result<Option<Step>, Failed> {
        if !self.rest() {
            return Ok(None);
        }
        let mut meter = Meter::new(&self.meant.search, trial, self.meant.warmup);
        let plan = Plan {
            name: format!("step {}", number + 1),
            load: self.meant.load(trial.load),
            duration: Some(meter.duration()),
            seed: mix(self.meant.plan.seed, number as u64),
            ..self.meant.plan.clone()
        };
        let settings = self.meant.settings(trial.load);
        let live = self.meant.live.then(|| Live::new(&plan));
        let run = Run::start(plan, &settings, None).map_err(cannot_start)?;
        let seen = self.watch(&run, &mut meter, live);
        if seen.interrupted {
            return Ok(None);
        }
        self.pause = self.pause_after(&seen);
        let verdict = Verdict::new(&seen.summary, Some(&seen.generator), &[]);
        Ok(Some(meter.finish(&verdict, seen.cut)))
    }

    /// Pauses; `false` where the user ended it.
    fn rest(&self) -> bool {
        let end = Instant::now() + self.pause;
        while self.interrupts.seen() == 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::park_timeout(left.min(LOOK_EVERY));
        }
        false
    }

    /// Takes a run's events until it ended, and ends it early where there is nothing more to see.
    fn watch(&self, run: &Run, meter: &mut Meter<'_>, mut live: Option<Live>) -> Seen {
        let started = Instant::now();
        let mut seen = Seen {
            summary: Summary::new(),
            generator: Generator::default(),
            cut: None,
            interrupted: false,
        };
        let last = started + Duration::from_nanos(meter.duration().0) + self.patience();
        loop {
            match run.next_event(LOOK_EVERY) {
                Some(RunEvent::Rows(batch)) => {
                    seen.summary.add(&batch);
                    meter.add(&batch);
                    run.recycle(batch);
                }
                Some(RunEvent::Progress(snapshot)) => {
                    live.iter_mut().for_each(|live| live.show(&snapshot));
                    let now = Nanos::from(started.elapsed());
                    if seen.cut.is_none() && meter.is_plainly_missed(now, snapshot.in_flight) {
                        // What is under way is waited for, so that the next step finds an empty queue.
                        run.drain();
                        seen.cut = Some(now);
                    }
                }
                Some(RunEvent::Finished(snapshot)) => {
                    seen.generator = snapshot.generator;
                    break;
                }
                None => {}
            }
            if self.interrupts.seen() > 0 {
                seen.interrupted = true;
            }
            if seen.interrupted || Instant::now() > last {
                run.abort();
            }
        }
        live.iter_mut().for_each(Live::clear);
        seen
    }

    /// How long hits may take beyond the step's end.
    fn patience(&self) -> Duration {
        let timeout = self.meant.settings.timeout;
        timeout.map_or(DRAIN_MAX, |timeout| Duration::from_nanos(timeout.0) + LOOK_EVERY * 20)
    }

    /// The pause after a step: what was asked for, and where hits timed out, as long as the server may need for what it does
    /// not know to be given up.
    fn pause_after(&self, seen: &Seen) -> Duration {
        let given_up = seen.summary.failures[FailureKind::Timeout as usize];
        let rate_per_s = seen.summary.throughput();
        let closed = self.meant.search.by == By::Connections;
        let extra = match given_up {
            0 => 0.0,
            _ if closed => 0.0,
            hits if rate_per_s > 0.0 => (hits as f64 / rate_per_s).min(PAUSE_MAX),
            _ => PAUSE_MAX,
        };
        Duration::from_nanos(self.meant.cooldown.0) + Duration::from_secs_f64(extra)
    }
}
