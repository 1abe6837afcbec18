//! An attack under way: from what was meant to the exit code.

use std::borrow::Cow;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use engine::{CertificateRole, LazyTargets, Run, RunEvent, Settings, StartError};
use metrics::{
    Batch, By, FailureKind, Generator, Groups, Phases, Sample, Snapshot, Summary, TargetLabel,
    TargetTable, Timeline, Traffic, Verdict,
};
use workload::Plan;

use super::descriptors;
use super::exporter::Exporter;
use super::meant::{Closing, Meant};
use super::sharing::Sharing;
use super::store::{Held, Opened, Store, emptied};
use super::targets::{self, Source};
use crate::command::live::Live;
use crate::dialect::Dialect;
use crate::exit_code::{ExitCode, Failed, Outcome};
use crate::input::{Interrupts, LOOK_EVERY};
use crate::listener::BarePort;
use crate::output::{self, Place};
use crate::start_error;

/// Carries out what was meant.
pub(super) fn attack(mut meant: Meant, dialect: Dialect) -> Outcome {
    let interrupts = Interrupts::watch()?;
    if dialect == Dialect::Native {
        mind_descriptors(&meant.plan, &meant.settings);
    }
    let exporter = exporter(&meant, dialect)?;
    // Opened before the first request: an output that cannot be written must not cost an attack.
    let encoding = meant.encoding;
    let watching = meant.watching.take();
    let open = |place| Opened::new(place, encoding, watching.as_ref());
    let opened = meant.results.take().map(open).transpose()?;
    let (lazy, problem) = lazy(meant.lazy.take(), dialect)?;
    let run =
        Run::start(meant.plan.clone(), &meant.settings, lazy).map_err(|error| match error {
            StartError::Certificate { role: CertificateRole::Roots, .. }
                if dialect == Dialect::Vegeta =>
            {
                anyhow!("bad certificate").into()
            }
            error => cannot_start(error),
        })?;
    // Dropping the run on the way out ends it.
    let mut conductor = conductor(&meant, interrupts);
    let labels = &conductor.labels;
    let store = opened.map(|opened| opened.start(&run, &meant.plan, labels)).transpose()?;
    (conductor.store, conductor.exporter) = (store, exporter);
    let ending = conductor.conduct(&run)?;
    if let Some(complaint) = ending.sharing.as_ref().and_then(Sharing::complaint) {
        output::complain(&format!("brunt: {complaint}"));
    }
    close(&meant.plan.name, meant.report, &ending)?;
    let found = problem.and_then(|problem| problem.found(dialect));
    found.map_or(Ok(ExitCode::Ok), |error| Err(Failed { code: ExitCode::Input, error }))
}

/// Says where too few descriptors can be open.
pub(super) fn mind_descriptors(plan: &Plan, settings: &Settings) {
    let limit = descriptors::limit();
    let complaint = descriptors::complaint(&plan.load, settings, limit);
    if let Some(complaint) = complaint {
        output::complain(&format!("brunt: {complaint}"));
    }
}

/// Why the targets of a lazy source may end early.
struct Problem {
    source: String,
    slot: targets::FirstProblem,
}

impl Problem {
    /// What was wrong, if something was.
    fn found(&self, dialect: Dialect) -> Option<anyhow::Error> {
        let problem = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(match dialect {
            Dialect::Native => anyhow!("{}: {problem} (the attack ended there)", self.source),
            Dialect::Vegeta => anyhow!("{problem} (the attack ended there)"),
        })
    }
}

/// The targets that are read while attacking.
fn lazy(
    source: Option<Source>,
    dialect: Dialect,
) -> Result<(Option<LazyTargets>, Option<Problem>), Failed> {
    let Some(source) = source else { return Ok((None, None)) };
    let (targets, slot) = targets::stream(&source, dialect)?;
    Ok((Some(targets), Some(Problem { source: source.name, slot })))
}

/// What takes the run's events, yet without results and metrics to take them to.
fn conductor(meant: &Meant, interrupts: Interrupts) -> Conductor {
    let mut conductor = Conductor::new(labels(&meant.plan), interrupts);
    conductor.live = meant.progress.then(|| Live::new(&meant.plan));
    conductor.groups = meant.per_connection.then(|| Groups::new(By::Connection));
    conductor.sharing = Sharing::watch(&meant.plan, &meant.settings);
    conductor.keep_summary = meant.report != Closing::Nothing;
    conductor
}

/// The live metrics. Vegeta does not notice that a port is taken; natively that is an error.
fn exporter(meant: &Meant, dialect: Dialect) -> Result<Option<Exporter>, Failed> {
    let Some(addr) = &meant.prometheus else {
        return Ok(None);
    };
    let bare = match dialect {
        Dialect::Native => BarePort::Loopback,
        Dialect::Vegeta => BarePort::AllAddresses,
    };
    if let (Some(port), BarePort::Loopback) = (addr.strip_prefix(':'), bare) {
        output::complain(&format!(
            "metrics are at http://127.0.0.1:{port}/metrics, for this machine alone (for all: -prometheus-addr=0.0.0.0:{port})"
        ));
    }
    match (Exporter::start(addr, bare), dialect) {
        (Ok(exporter), _) => Ok(Some(exporter)),
        (Err(_), Dialect::Vegeta) => Ok(None),
        (Err(error), Dialect::Native) => {
            let reason = crate::input::reason(&error);
            Err(anyhow!("flag -prometheus-addr: cannot listen on \"{addr}\": {reason}").into())
        }
    }
}

/// What the rows' targets are called.
pub(crate) fn labels(plan: &Plan) -> TargetTable {
    let label = |target: &workload::Target| TargetLabel {
        attack: plan.name.clone(),
        method: target.method.clone(),
        url: stdx::without_password(&target.url).into_owned(),
        name: target.name.clone(),
    };
    TargetTable { labels: plan.targets.list().iter().map(label).collect() }
}

/// A certificate or proxy is at fault, or the machine is.
pub(crate) fn cannot_start(error: StartError) -> Failed {
    let code = match error {
        StartError::Worker(_) => ExitCode::Failure,
        _ => ExitCode::Input,
    };
    Failed { code, error: start_error::with_flag(error) }
}

/// Prints the closing report.
fn close(title: &str, report: Closing, ending: &Ending) -> Result<(), Failed> {
    let verdict = ending.verdict();
    let input = ending.input(title, &verdict);
    let document = match report {
        Closing::Nothing => return Ok(()),
        Closing::Text => report::text(&input),
        Closing::Json => report::json(&input),
    };
    Place::Stdout.write(document.as_bytes())
}

/// Takes a run's events to where they belong until it ends: rows to the results, figures to the report and the terminal,
/// the user's interrupts to the run.
pub(crate) struct Conductor {
    labels: TargetTable,
    interrupts: Interrupts,
    /// Where rows go.
    pub(crate) store: Option<Store>,
    /// The results stay open at the end, for what is known later: [`Ending::held`].
    pub(crate) holds_results: bool,
    /// Who else wants them.
    pub(super) exporter: Option<Exporter>,
    /// Live progress.
    pub(crate) live: Option<Live>,
    /// Rows are summed up for a report.
    pub(crate) keep_summary: bool,
    /// What hits spent their time on, where a report wants it.
    pub(crate) phases: Option<Phases>,
    /// Who else wants the rows as they come.
    pub(crate) rows: Option<TakeRows>,
    /// Why they could not be taken.
    rows_lost: Option<Failed>,
    /// When to stop with what is under way; `None` waits for it.
    pub(crate) stop: Option<Stop>,
    stop_at: Option<Instant>,
    /// It was stopped at the time that was meant.
    stopped_on_time: bool,
    /// Hits left out of the figures.
    left_out: u64,
    summary: Summary,
    timeline: Timeline,
    traffic: Traffic,
    /// Rows by connection, where they are asked for.
    pub(super) groups: Option<Groups>,
    /// What connections carried, where users share them.
    pub(super) sharing: Option<Sharing>,
    /// What else looks at the run in each turn.
    pub(crate) each_turn: Option<EachTurn>,
    heeded: usize,
}

/// Looks at a run while it goes on, and may end it.
pub(crate) type EachTurn = Box<dyn FnMut(&Run)>;

/// Takes rows somewhere; where it fails, nothing is worth going on for.
pub(crate) type TakeRows = Box<dyn FnMut(&Batch) -> Result<(), Failed>>;

/// When a run is stopped with what is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// How long the run is to take; `None` is until its requests are sent.
    pub(crate) after: Option<Duration>,
    /// How long after that, or after an interrupt, requests under way are waited for.
    pub(crate) grace: Duration,
    /// What becomes of those that are not waited for.
    pub(crate) cut_off: CutOff,
}

/// What becomes of hits that a stop cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutOff {
    /// They are rows like any other; the report tells them apart.
    Counted,
    /// They count in no figure, only in [`Ending::left_out`]: they were ended on purpose, and did not fail.
    LeftOut,
}

/// How a run ended, and what was seen of it.
pub(crate) struct Ending {
    /// The figures; empty unless they were kept.
    pub(crate) summary: Summary,
    /// The same over time.
    pub(crate) timeline: Timeline,
    /// Hits under way, and how sends were spaced.
    pub(crate) traffic: Traffic,
    /// Rows by connection.
    pub(crate) groups: Option<Groups>,
    /// What connections carried.
    sharing: Option<Sharing>,
    /// What hits spent their time on, where that was asked for.
    pub(crate) phases: Option<Phases>,
    /// Hits that count in no figure ([`CutOff::LeftOut`]); the results have them.
    pub(crate) left_out: u64,
    /// The generator's last word.
    pub(crate) generator: Generator,
    /// Results that are still open.
    pub(crate) held: Option<Held>,
    /// When the last hit was over; what was written and watched may have taken longer.
    pub(crate) finished: Instant,
}

impl Conductor {
    /// Keeps a summary; writes and shows nothing yet.
    pub(crate) fn new(labels: TargetTable, interrupts: Interrupts) -> Self {
        Self {
            labels,
            interrupts,
            store: None,
            holds_results: false,
            exporter: None,
            live: None,
            keep_summary: true,
            phases: None,
            rows: None,
            rows_lost: None,
            stop: None,
            stop_at: None,
            stopped_on_time: false,
            left_out: 0,
            summary: Summary::new(),
            timeline: Timeline::new(),
            traffic: Traffic::new(),
            groups: None,
            sharing: None,
            each_turn: None,
            heeded: 0,
        }
    }

    /// Conducts the run to its end.
    ///
    /// # Errors
    /// Its results could not be stored, or its rows not be taken; the error names the place.
    pub(crate) fn conduct(mut self, run: &Run) -> Result<Ending, Failed> {
        self.stop_at =
            self.stop.and_then(|stop| Instant::now().checked_add(stop.after? + stop.grace));
        let last = loop {
            match run.next_event(LOOK_EVERY) {
                Some(RunEvent::Rows(batch)) => self.take_rows(batch, run),
                Some(RunEvent::Progress(snapshot)) => self.show(&snapshot),
                Some(RunEvent::Finished(snapshot)) => break snapshot.generator,
                None => {}
            }
            self.heed(run);
            self.stop_late(run);
            if let Some(look) = &mut self.each_turn {
                look(run);
            }
        };
        self.end(last, Instant::now())
    }

    fn take_rows(&mut self, batch: Batch, run: &Run) {
        let counted = match self.stop.map(|stop| stop.cut_off) {
            Some(CutOff::LeftOut) => without_stopped(&batch),
            Some(CutOff::Counted) | None => Cow::Borrowed(&batch),
        };
        self.left_out += (batch.samples.len() - counted.samples.len()) as u64;
        self.count(&counted);
        if let Some(Err(failed)) = self.rows.as_mut().map(|take| take(&batch)) {
            (self.rows, self.rows_lost) = (None, Some(failed));
        }
        if let Some(exporter) = &self.exporter {
            exporter.add(&batch, &self.labels);
        }
        match &mut self.store {
            Some(store) => store.add(batch, run),
            None => run.recycle(emptied(batch)),
        }
    }

    /// Adds rows to the figures.
    fn count(&mut self, batch: &Batch) {
        if self.keep_summary {
            self.summary.add(batch);
            self.timeline.add(batch);
            self.traffic.add(batch);
            if let Some(groups) = &mut self.groups {
                groups.add(batch, &self.labels);
            }
        }
        if let Some(phases) = &mut self.phases {
            phases.add(batch);
        }
        if let Some(sharing) = &mut self.sharing {
            sharing.add(batch);
        }
    }

    fn show(&mut self, snapshot: &Snapshot) {
        if let Some(store) = &self.store {
            store.note(snapshot.generator.clone());
        }
        if let Some(live) = &mut self.live {
            live.show(snapshot);
        }
    }

    /// Passes interrupts and broken output on to the run.
    fn heed(&mut self, run: &Run) {
        let seen = self.interrupts.seen();
        if seen > self.heeded {
            self.heeded = seen;
            if seen == 1 {
                run.drain();
            } else {
                run.abort();
            }
            let grace = self.stop.and_then(|stop| Instant::now().checked_add(stop.grace));
            self.stop_at = self.stop_at.into_iter().chain(grace).min();
        }
        if self.rows_lost.is_some() || self.store.as_ref().is_some_and(Store::is_broken) {
            run.abort();
        }
    }

    /// Stops a run that outlives its time.
    fn stop_late(&mut self, run: &Run) {
        if self.stop_at.is_some_and(|at| Instant::now() >= at) {
            self.stop_at = None;
            self.stopped_on_time = self.heeded == 0;
            run.abort();
        }
    }

    fn end(mut self, mut last: Generator, finished: Instant) -> Result<Ending, Failed> {
        // A run that ended when it was meant to was not interrupted, though it was ended from outside.
        last.interrupted &= !self.stopped_on_time || self.heeded > 0;
        let mut held = None;
        let generator = match self.store.take() {
            Some(store) if self.holds_results => {
                let (open, last) = store.hold(last);
                held = Some(open);
                Ok(last)
            }
            Some(store) => store.finish(last),
            None => Ok(last),
        };
        if let Some(live) = &mut self.live {
            live.clear();
        }
        if let Some(failed) = self.rows_lost {
            return Err(failed);
        }
        let Self { summary, timeline, traffic, groups, sharing, phases, left_out, .. } = self;
        let generator = generator?;
        Ok(Ending {
            summary,
            timeline,
            traffic,
            groups,
            sharing,
            phases,
            left_out,
            generator,
            held,
            finished,
        })
    }
}

/// The rows of hits that came to an end of their own.
fn without_stopped(batch: &Batch) -> Cow<'_, Batch> {
    let stopped = |sample: &Sample| sample.failure == FailureKind::Stopped;
    if !batch.samples.iter().any(stopped) {
        return Cow::Borrowed(batch);
    }
    let mut kept = batch.clone();
    kept.samples.retain(|sample| !stopped(sample));
    Cow::Owned(kept)
}

impl Ending {
    /// May the figures be believed?
    #[must_use]
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::new(&self.summary, Some(&self.generator), &[])
    }

    /// What a report is made from.
    #[must_use]
    pub(crate) fn input<'a>(&'a self, title: &'a str, verdict: &'a Verdict) -> report::Input<'a> {
        report::Input {
            title,
            summary: &self.summary,
            verdict,
            generator: Some(&self.generator),
            losses: &[],
            groups: self.groups.as_ref(),
            timeline: Some(&self.timeline),
            traffic: Some(&self.traffic),
            buckets: None,
            server: None,
            assertions: &[],
        }
    }
}
