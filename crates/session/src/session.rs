//! `Session`: starts a run and hands its events on until it ends.

use std::time::{Duration, Instant};

use cli::Interrupts;
use engine::{LazyTargets, ReadyRun, RunEvent, Settings};
use metrics::server::Side;
use metrics::{Batch, Event, Generator, Snapshot};
use monitor::{Neighbour, Neighbours};
use stdx::Nanos;
use wire::tls::Agreed;
use workload::Plan;

use crate::error::{ObserverError, SessionError};
use crate::execution::Execution;
use crate::labels::target_labels;
use crate::observer::{Control, Observer};
use crate::quota::QuotaStops;
use crate::results_file::{ResultsFile, RunInfo};
use crate::results_writer::{OpenResults, ResultsWriter};
use crate::stop::{DeadlineKind, OnInterrupt, StopPolicy};
use crate::warning::warn;

/// How often interrupts and deadlines are looked at while the run reports nothing.
pub const POLL_EVERY: Duration = Duration::from_millis(50);
/// An interrupted run that is not over after this time says why.
const NOTICE_AFTER: Nanos = Nanos::SECOND;

/// What a session does besides running its plan.
pub struct SessionOptions {
    /// How often the user has interrupted the run so far.
    pub interrupts: Box<dyn Fn() -> usize>,
    /// Where rows go.
    pub results: Option<ResultsFile>,
    /// The results stay open at the end, for what is known later: [`SessionOutcome::results`].
    pub keeps_results_open: bool,
    /// When the run is ended from outside.
    pub stop: StopPolicy,
    /// An interrupted run prints that it waits for requests under way, if that takes more than a second.
    pub drain_notice: bool,
}

impl SessionOptions {
    /// Heeds these interrupts; no results, and no deadline.
    #[must_use]
    pub fn new(interrupts: &Interrupts) -> Self {
        let interrupts = interrupts.clone();
        Self { drain_notice: true, ..Self::counting(move || interrupts.seen()) }
    }

    /// The same with interrupts that something else counts.
    pub fn counting(interrupts: impl Fn() -> usize + 'static) -> Self {
        Self {
            interrupts: Box::new(interrupts),
            results: None,
            keeps_results_open: false,
            stop: StopPolicy::default(),
            drain_notice: false,
        }
    }
}

/// A run that has started. Dropping it ends the run.
pub struct Session {
    execution: Box<dyn Execution>,
    interrupts: Box<dyn Fn() -> usize>,
    writer: Option<ResultsWriter>,
    keeps_results_open: bool,
    stop: StopPolicy,
    drain_notice: bool,
    /// When what is waited for is printed, since its start.
    notice_at: Option<Nanos>,
    /// When the run is aborted, since its start.
    stop_at: Option<Nanos>,
    /// The run was aborted at the deadline that its plan has.
    stopped_as_planned: bool,
    /// The interrupts that were handled.
    interrupted: usize,
    /// Stops of this process by a CPU quota.
    quota: QuotaStops,
    /// What other processes use meanwhile.
    neighbours: Neighbours,
    /// The first observer that failed, by its place, and why.
    failed: Option<(usize, ObserverError)>,
    /// What was done to the run.
    events: Vec<Event>,
    /// How often no memory was left before it.
    memory_refused: u64,
}

/// How a run ended.
pub struct SessionOutcome {
    /// The generator's last record of itself.
    pub generator: Generator,
    /// When the last count was taken, since the run's start.
    pub ended: Nanos,
    /// When the last event came; what was written and watched may have taken longer.
    pub finished: Instant,
    /// How often the user interrupted the run.
    pub interrupts: usize,
    /// What the first TLS handshake agreed on.
    pub tls: Option<Agreed>,
    /// The results, where they are kept open.
    pub results: Option<OpenResults>,
    /// What was seen of the servers, where they were watched, by the clock of this machine.
    pub server: Option<Side>,
    /// What was done to the run while it went on, by time. The results have it already.
    pub events: Vec<Event>,
}

impl Session {
    /// Starts a run on worker threads. With `lazy`, targets come from that iterator.
    ///
    /// # Errors
    /// The settings cannot be used, the machine refuses a thread, or the results cannot be written.
    pub(crate) fn start(
        plan: Plan,
        settings: &Settings,
        lazy: Option<LazyTargets>,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let (name, seed, labels) = (plan.name.clone(), plan.seed, target_labels(&plan));
        let row_delivery = options.results.as_ref().map(ResultsFile::row_delivery);
        let row_delivery = row_delivery.unwrap_or_default();
        let settings = Settings { row_delivery, ..settings.clone() };
        let ready = ReadyRun::new(plan, &settings, lazy)?;
        // Of what takes long to make ready, nothing is sent after an interrupt.
        if (options.interrupts)() > 0 {
            ready.drain();
        }
        let run = ready.start_soon();
        let info = RunInfo { epoch: run.epoch(), name, seed, labels };
        Self::of(Box::new(run), info, options)
    }

    /// A session over a run of this plan that has already started, or is simulated.
    ///
    /// # Errors
    /// The results cannot be written.
    pub fn over(
        execution: Box<dyn Execution>,
        plan: &Plan,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let info = RunInfo {
            epoch: execution.epoch(),
            name: plan.name.clone(),
            seed: plan.seed,
            labels: target_labels(plan),
        };
        Self::of(execution, info, options)
    }

    fn of(
        execution: Box<dyn Execution>,
        info: RunInfo,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let SessionOptions { interrupts, results, keeps_results_open, stop, drain_notice } =
            options;
        let writer = results.map(|file| file.start(info)).transpose()?;
        let stop_at = stop.deadline.and_then(|deadline| {
            Some(Nanos::from(deadline.after?).saturating_add(deadline.grace.into()))
        });
        Ok(Self {
            execution,
            interrupts,
            writer,
            keeps_results_open,
            stop,
            drain_notice,
            notice_at: None,
            stop_at,
            stopped_as_planned: false,
            interrupted: 0,
            quota: QuotaStops::begin(),
            neighbours: Neighbours::begin(),
            failed: None,
            events: Vec::new(),
            memory_refused: stdx::memory_refusals(),
        })
    }

    /// Runs to the end: rows go to every observer and to the results, interrupts and deadlines to the run.
    ///
    /// # Errors
    /// The results could not be written, or an observer failed.
    pub fn run(
        mut self,
        observers: &mut [&mut dyn Observer],
    ) -> Result<SessionOutcome, SessionError> {
        let last = loop {
            match self.execution.next_event(POLL_EVERY) {
                Some(RunEvent::Rows(batch)) => self.take_rows(batch, observers),
                Some(RunEvent::Progress(snapshot)) => self.take_progress(&snapshot, observers),
                Some(RunEvent::Finished(snapshot)) => break snapshot,
                None => {}
            }
            self.handle_interrupts();
            self.handle_deadline();
            let mut control = Control::new(&mut *self.execution, self.interrupted);
            observers.iter_mut().for_each(|observer| observer.tick(&mut control));
            let events = control.into_events();
            self.record(events, observers);
            self.show_server(observers);
        };
        self.end(*last, observers)
    }

    fn take_rows(&mut self, batch: Batch, observers: &mut [&mut dyn Observer]) {
        for (place, observer) in observers.iter_mut().enumerate() {
            if self.failed.as_ref().is_some_and(|(failed, _)| *failed == place) {
                continue;
            }
            if let Err(error) = observer.rows(&batch) {
                self.failed.get_or_insert((place, error));
            }
        }
        match &mut self.writer {
            Some(writer) => writer.add(batch, &mut *self.execution),
            None => self.execution.recycle(batch),
        }
    }

    fn take_progress(&mut self, snapshot: &Snapshot, observers: &mut [&mut dyn Observer]) {
        if let Some(writer) = &self.writer {
            writer.note(snapshot.generator.clone());
        }
        let mut control = Control::new(&mut *self.execution, self.interrupted);
        observers.iter_mut().for_each(|observer| observer.progress(snapshot, &mut control));
        let events = control.into_events();
        self.record(events, observers);
    }

    fn show_server(&self, observers: &mut [&mut dyn Observer]) {
        let rows = self.writer.as_ref().map_or_else(Vec::new, ResultsWriter::recent);
        if !rows.is_empty() {
            observers.iter_mut().for_each(|observer| observer.server(&rows));
        }
    }

    /// Records what observers did to the run.
    fn record(&mut self, events: Vec<Event>, observers: &mut [&mut dyn Observer]) {
        for event in &events {
            observers.iter_mut().for_each(|observer| observer.event(event));
            self.writer.iter().for_each(|writer| writer.event(event.clone()));
        }
        self.events.extend(events);
    }

    /// Passes the user's interrupts, broken results and failed observers on to the run.
    fn handle_interrupts(&mut self) {
        let interrupts = (self.interrupts)();
        if interrupts > self.interrupted {
            self.interrupted = interrupts;
            match self.stop.on_interrupt {
                OnInterrupt::Drain if interrupts == 1 => {
                    self.execution.drain();
                    let at = self.execution.elapsed().saturating_add(NOTICE_AFTER);
                    self.notice_at = Some(at).filter(|_| self.drain_notice);
                }
                OnInterrupt::Drain | OnInterrupt::Abort => self.execution.abort(),
            }
            let now = self.execution.elapsed();
            let within = self.stop.deadline.map(|deadline| Nanos::from(deadline.grace));
            let until = within.map(|grace| now.saturating_add(grace));
            self.stop_at = self.stop_at.into_iter().chain(until).min();
        }
        let now = self.execution.elapsed();
        if self.notice_at.take_if(|at| now >= *at).is_some() && self.interrupted == 1 {
            warn("waiting for the requests under way (Ctrl-C again gives them up)");
        }
        if self.failed.is_some() || self.writer.as_ref().is_some_and(ResultsWriter::is_broken) {
            self.execution.abort();
        }
    }

    /// Aborts a run that outlives its deadline.
    fn handle_deadline(&mut self) {
        if self.stop_at.is_some_and(|at| self.execution.elapsed() >= at) {
            self.stop_at = None;
            let kind = self.stop.deadline.map(|deadline| deadline.kind);
            self.stopped_as_planned = self.interrupted == 0 && kind == Some(DeadlineKind::Planned);
            self.execution.abort();
        }
    }

    /// Says how often no memory was left: what needed it failed, and is counted as that.
    fn warn_of_memory(&self) {
        let refused = stdx::memory_refusals() - self.memory_refused;
        if refused > 0 {
            let mib = stdx::memory_limit() >> 20;
            let times = stdx::counted(refused, "time");
            warn(&format!(
                "no memory was left {times}: messages, pages and scripts may take {mib} MiB (-memory-limit)"
            ));
        }
    }

    fn end(
        mut self,
        last: Snapshot,
        observers: &mut [&mut dyn Observer],
    ) -> Result<SessionOutcome, SessionError> {
        let (finished, ended) = (Instant::now(), last.to);
        self.warn_of_memory();
        observers.iter_mut().for_each(|observer| observer.last(&last));
        let mut generator = last.generator;
        // A run that ended when its plan wanted it to was not interrupted, though it was ended from outside.
        generator.interrupted &= !self.stopped_as_planned || self.interrupted > 0;
        generator.throttled = self.quota.since();
        if let Some(busiest) = self.neighbours.busiest().filter(|one| is_busy(one, &generator)) {
            (generator.neighbour, generator.neighbour_cpu) = (busiest.name, busiest.cpu);
        }
        let (mut results, mut server) = (None, None);
        let mut written = Ok(());
        if let Some(writer) = self.writer.take() {
            let (open, last, side) = writer.end(generator);
            (generator, server) = (last, side);
            if self.keeps_results_open {
                results = Some(open);
            } else {
                written = open.finish(Vec::new());
            }
        }
        observers.iter_mut().for_each(|observer| observer.finished());
        if let Some((_, error)) = self.failed {
            return Err(SessionError::Observer(error));
        }
        written?;
        let (interrupts, tls) = (self.interrupted, self.execution.tls_agreed());
        let events = self.events;
        Ok(SessionOutcome { generator, ended, finished, interrupts, tls, results, server, events })
    }
}

/// It used a quarter of a CPU or more: what each machine does beside a run is not worth a name.
fn is_busy(neighbour: &Neighbour, generator: &Generator) -> bool {
    neighbour.cpu.0.saturating_mul(4) >= generator.wall.0
}
