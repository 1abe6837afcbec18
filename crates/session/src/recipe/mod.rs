//! `RunRequest`: the one way in which a command carries out a run.
//!
//! ```text
//! RunRequest { plan, options, displays, figures, gates, abort } ── start(RunPlace) ─▶ StartedRun ── run(observers of the command) ─▶ RunOutcome
//! ```
//!
//! The request has what every command has: results, interrupts and deadlines ([`SessionOptions`]), displays, figures and gates. What
//! one command has alone is an [`Observer`] of its own.

mod displays;

use cli::ExitCode;
use engine::{LazyTargets, Settings};
use metrics::Verdict;
use metrics::tally::Assertion;
use workload::Plan;

use crate::abort::AbortObserver;
use crate::error::SessionError;
use crate::execution::Execution;
use crate::figures::RunFigures;
use crate::gates::{GateObserver, OnInvalid, conclude_run};
use crate::observer::Observer;
use crate::session::{Session, SessionOptions, SessionOutcome};
use crate::web::LivePage;

pub use displays::{
    Displays, LoadOnPage, MetricsRequest, OpenDisplays, PageOpened, PageRequest, TakenAddress,
    TerminalView,
};

/// A run as a command asks for it.
pub struct RunRequest {
    /// The load.
    pub plan: Plan,
    /// Results, interrupts and deadlines.
    pub options: SessionOptions,
    /// What is seen of it.
    pub shown: OpenDisplays,
    /// What reports are made from, where one is.
    pub figures: Option<RunFigures>,
    /// What judges its gates, where it has any.
    pub gates: Option<GateObserver>,
    /// What ends it early, where that is asked for.
    pub abort: Option<AbortObserver>,
}

/// Where a run takes place.
pub enum RunPlace<'a> {
    /// On threads of this process.
    Here {
        /// How the engine carries out the plan.
        settings: &'a Settings,
        /// The targets that are read while it goes on.
        lazy: Option<LazyTargets>,
    },
    /// On a fleet, where it has been agreed on.
    Fleet(Box<dyn Execution>),
}

impl<'a> RunPlace<'a> {
    /// On threads of this process, with the targets of the plan.
    #[must_use]
    pub const fn here(settings: &'a Settings) -> Self {
        Self::Here { settings, lazy: None }
    }
}

impl RunRequest {
    /// A run that nothing shows, judges or sums up.
    #[must_use]
    pub fn new(plan: Plan, options: SessionOptions) -> Self {
        let shown = OpenDisplays::default();
        Self { plan, options, shown, figures: None, gates: None, abort: None }
    }

    /// Starts the run. What is known after it alone, the results of gates and the ends of agents, belongs to its results, which
    /// then stay open.
    ///
    /// # Errors
    /// The settings cannot be used, the machine refuses a thread, or the results cannot be written.
    pub fn start(self, place: RunPlace<'_>) -> Result<StartedRun, SessionError> {
        let Self { plan, mut options, shown, figures, gates, abort } = self;
        options.keeps_results_open |= gates.is_some() || matches!(place, RunPlace::Fleet(_));
        let session = match place {
            RunPlace::Here { settings, lazy } if shown.changes_load => {
                let settings = Settings { load_may_change: true, ..settings.clone() };
                Session::start(plan, &settings, lazy, options)?
            }
            RunPlace::Here { settings, lazy } => Session::start(plan, settings, lazy, options)?,
            RunPlace::Fleet(execution) => Session::over(execution, &plan, options)?,
        };
        Ok(StartedRun { session, shown, figures, gates, abort })
    }

    /// Starts the run and carries it out; see [`StartedRun::run`].
    ///
    /// # Errors
    /// As both.
    pub fn carry_out(
        self,
        place: RunPlace<'_>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunOutcome, SessionError> {
        self.start(place)?.run(observers)
    }
}

/// A run that has started. Dropping it ends the run.
pub struct StartedRun {
    session: Session,
    shown: OpenDisplays,
    figures: Option<RunFigures>,
    gates: Option<GateObserver>,
    abort: Option<AbortObserver>,
}

impl StartedRun {
    /// Carries the run out. The command's own observers see each event first, the displays last.
    ///
    /// # Errors
    /// The results could not be written, or an observer failed.
    pub fn run(self, observers: &mut [&mut dyn Observer]) -> Result<RunOutcome, SessionError> {
        let Self { session, mut shown, mut figures, mut gates, mut abort } = self;
        let mut all: Vec<&mut dyn Observer> = Vec::with_capacity(observers.len() + 6);
        all.extend(observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer));
        all.push(&mut figures);
        all.push(&mut gates);
        all.push(&mut abort);
        all.push(&mut shown.metrics);
        all.push(&mut shown.view);
        all.push(&mut shown.terminal);
        let ended = session.run(&mut all)?;
        Ok(RunOutcome { ended, figures, gates, abort, page: shown.page })
    }
}

/// How a run came out.
pub struct RunOutcome {
    /// How it ended.
    pub ended: SessionOutcome,
    /// What reports are made from, where that was asked for.
    pub figures: Option<RunFigures>,
    gates: Option<GateObserver>,
    abort: Option<AbortObserver>,
    #[expect(dead_code, reason = "its browsers are let go when it is dropped")]
    page: Option<LivePage>,
}

impl RunOutcome {
    /// The results of the gates; `asserted` is what a script asserts and measured.
    #[must_use]
    pub fn gate_outcomes(&self, asserted: &[Assertion]) -> Vec<Assertion> {
        let judged = self.gates.as_ref().zip(self.figures.as_ref());
        judged.map_or_else(Vec::new, |(gates, figures)| {
            gates.outcomes(&figures.summary, &self.ended.generator, asserted)
        })
    }

    /// Writes what is known after the run to its results, where they are still open, and closes them; returns all that reports are
    /// made from: this, what was done to the run, and how it was made.
    ///
    /// # Errors
    /// The results cannot be written.
    pub fn conclude(
        &mut self,
        asserted: Vec<Assertion>,
        provenance: Assertion,
    ) -> Result<Vec<Assertion>, SessionError> {
        if let Some(results) = self.ended.results.take() {
            results.finish(asserted.clone())?;
        }
        Ok(self.with_facts(asserted, provenance))
    }

    /// What reports are made from, of results that are closed elsewhere.
    #[must_use]
    pub fn with_facts(
        &mut self,
        mut asserted: Vec<Assertion>,
        provenance: Assertion,
    ) -> Vec<Assertion> {
        asserted.extend(std::mem::take(&mut self.ended.events).into_iter().map(Assertion::Event));
        asserted.push(provenance);
        asserted
    }

    /// The exit code of the run: of its gates and its verdict, or of what ended it early.
    #[must_use]
    pub fn exit_code(
        &self,
        asserted: &[Assertion],
        verdict: Option<&Verdict>,
        on_invalid: OnInvalid,
    ) -> ExitCode {
        let code = conclude_run(asserted, verdict, on_invalid);
        self.abort.as_ref().map_or(code, |abort| abort.conclude(code))
    }

    /// The verdict on the figures, with the agents among what was asserted; `None` where no figures were made.
    #[must_use]
    pub fn verdict(&self, asserted: &[Assertion]) -> Option<Verdict> {
        let figures = self.figures.as_ref()?;
        Some(figures.verdict(&self.ended.generator).with_agents(asserted))
    }
}
