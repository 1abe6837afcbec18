//! `Observer`: receives what a run reports, and may end the run.

use engine::{LoadChange, LoadChangeError};
use metrics::server::Row;
use metrics::{Batch, Event, EventKind, Snapshot};
use stdx::Nanos;

use crate::error::ObserverError;
use crate::execution::Execution;

/// Receives what a run reports, in the order in which observers are given to the session.
pub trait Observer {
    /// Rows of finished requests, those that a stop cut off included.
    ///
    /// # Errors
    /// The rows cannot be taken. The session aborts the run, gives this observer no further rows, and returns the error.
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        let _ = batch;
        Ok(())
    }

    /// What all workers counted since the last call: about once a second, but not at the end.
    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        let _ = (snapshot, control);
    }

    /// What all workers counted after the last call of `progress`, once, at the end.
    fn last(&mut self, snapshot: &Snapshot) {
        let _ = snapshot;
    }

    /// Called after each event, and every [`POLL_EVERY`](crate::POLL_EVERY) without one.
    fn tick(&mut self, control: &mut Control<'_>) {
        let _ = control;
    }

    /// What was done to the run, by this observer or another one.
    fn event(&mut self, event: &Event) {
        let _ = event;
    }

    /// Rows of the server's side, where it is watched. Those that come faster than they are taken are left out here, and not in
    /// the results.
    fn server(&mut self, rows: &[Row]) {
        let _ = rows;
    }

    /// Called once, after the last event and after the results are written.
    fn finished(&mut self) {}
}

/// An observer that may be left out.
impl<O: Observer> Observer for Option<O> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.as_mut().map_or(Ok(()), |observer| observer.rows(batch))
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        if let Some(observer) = self {
            observer.progress(snapshot, control);
        }
    }

    fn last(&mut self, snapshot: &Snapshot) {
        if let Some(observer) = self {
            observer.last(snapshot);
        }
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        if let Some(observer) = self {
            observer.tick(control);
        }
    }

    fn event(&mut self, event: &Event) {
        if let Some(observer) = self {
            observer.event(event);
        }
    }

    fn server(&mut self, rows: &[Row]) {
        if let Some(observer) = self {
            observer.server(rows);
        }
    }

    fn finished(&mut self) {
        if let Some(observer) = self {
            observer.finished();
        }
    }
}

/// An observer whose kind is chosen while the program runs.
impl<O: Observer + ?Sized> Observer for Box<O> {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        (**self).rows(batch)
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        (**self).progress(snapshot, control);
    }

    fn last(&mut self, snapshot: &Snapshot) {
        (**self).last(snapshot);
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        (**self).tick(control);
    }

    fn event(&mut self, event: &Event) {
        (**self).event(event);
    }

    fn server(&mut self, rows: &[Row]) {
        (**self).server(rows);
    }

    fn finished(&mut self) {
        (**self).finished();
    }
}

/// What an observer may know of a run and order it to do.
pub struct Control<'a> {
    execution: &'a mut dyn Execution,
    interrupts: usize,
    /// What observers did to the run, for the session to record.
    events: Vec<Event>,
}

impl<'a> Control<'a> {
    pub(crate) fn new(execution: &'a mut dyn Execution, interrupts: usize) -> Self {
        Self { execution, interrupts, events: Vec::new() }
    }

    pub(crate) fn into_events(self) -> Vec<Event> {
        self.events
    }

    /// Marks this moment, in results and reports.
    pub fn mark(&mut self, text: String) {
        let now = self.execution.elapsed();
        self.record(now, EventKind::Mark(text));
    }

    /// Ends the run before its time: no more requests begin, and those under way are waited for. Results and reports say why.
    pub fn end_early(&mut self, reason: String) {
        let now = self.execution.elapsed();
        self.record(now, EventKind::Ended(reason));
        self.drain();
    }

    /// Offers another load from now on; results and reports say so.
    ///
    /// # Errors
    /// This run's load cannot be changed so.
    pub fn change_load(&mut self, change: LoadChange) -> Result<(), LoadChangeError> {
        let at = self.execution.change_load(change)?;
        let what = match change {
            LoadChange::Pause => EventKind::Pause,
            LoadChange::Resume => EventKind::Resume,
            LoadChange::Rate(rate) => EventKind::Rate(rate.per_s()),
            LoadChange::Users(users) => EventKind::Users(users),
        };
        self.record(at, what);
        Ok(())
    }

    fn record(&mut self, at: Nanos, what: EventKind) {
        let at = self.execution.epoch().saturating_add_unsigned(at.0);
        self.events.push(Event { at, what, run: String::new() });
    }

    /// The time since the run's start.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.execution.elapsed()
    }

    /// How often the user has interrupted the run.
    #[must_use]
    pub fn interrupts(&self) -> usize {
        self.interrupts
    }

    /// Begins no more requests and waits for those under way.
    pub fn drain(&mut self) {
        self.execution.drain();
    }

    /// Ends the run now.
    pub fn abort(&mut self) {
        self.execution.abort();
    }
}
