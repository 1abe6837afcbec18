//! `LiveView`: the observer of a run that a live page shows.

use metrics::{Batch, Snapshot};
use serde_json::{Value, json};
use stdx::Nanos;
use workload::{Load, Plan};

use super::board::{Phase, Shared, event};
use super::frame::{Frame, Totals};
use super::state::{self, Counts};
use crate::error::ObserverError;
use crate::labels::target_labels;
use crate::observer::{Control, Observer};

/// Marks of a run, at most.
const MARKS_MAX: usize = 1000;
/// Runs of a command that are listed, at most.
const ENDED_MAX: usize = 500;

/// A run on the live page.
pub struct LiveView {
    shared: Shared,
    name: String,
    counts: Counts,
    total: Snapshot,
    before: Totals,
    phase: Phase,
    marks: Vec<(Nanos, String)>,
    pub(super) epoch: i64,
    pub(super) duration: Option<Nanos>,
    has_rate: bool,
    elapsed: Nanos,
    /// What a command adds of its own: users, checks, thresholds.
    more: Value,
}

impl LiveView {
    pub(super) fn new(shared: Shared, epoch: i64, plan: &Plan) -> Self {
        Self {
            shared,
            name: plan.name.clone(),
            counts: Counts::new(target_labels(plan)),
            total: Snapshot::new(),
            before: Totals::default(),
            phase: Phase::Running,
            marks: Vec::new(),
            epoch,
            duration: plan.begins_for(),
            has_rate: matches!(plan.load, Load::Open { .. }),
            elapsed: Nanos::ZERO,
            more: Value::Null,
        }
    }

    /// Shows this beside what every run has, until it is set anew.
    pub fn set_more(&mut self, more: Value) {
        self.more = more;
    }

    pub(super) fn state(&self) -> Value {
        let moment = (self.elapsed, self.epoch, self.phase);
        let mut state = state::json(&self.total, &self.counts, moment, &self.marks);
        state["more"] = self.more.clone();
        state
    }

    /// Takes the moments that browsers marked.
    fn take_marks(&mut self) {
        let texts = std::mem::take(&mut self.shared.board().marks);
        let room = MARKS_MAX.saturating_sub(self.marks.len());
        self.marks.extend(texts.into_iter().take(room).map(|text| (self.elapsed, text)));
    }

    /// Adds a period, and sends it.
    fn add(&mut self, snapshot: &Snapshot) {
        let frame = Frame::of(snapshot, &self.before, self.has_rate);
        self.before = Totals::of(snapshot);
        // Both are states and not counts.
        self.total.in_flight = 0;
        self.total.generator.clear();
        self.total.merge(snapshot);
        let state = self.state();
        let events = event("frame", &frame.json()) + &event("state", &state);
        let mut board = self.shared.board();
        board.history.push(frame);
        board.state = state;
        // While the board is held: a browser that comes in between gets these periods once.
        self.shared.viewers.send(events);
    }
}

impl Observer for LiveView {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        self.counts.add(batch);
        Ok(())
    }

    fn progress(&mut self, snapshot: &Snapshot, control: &mut Control<'_>) {
        self.elapsed = control.elapsed();
        if control.interrupts() > 0 {
            self.phase = Phase::Draining;
        }
        self.add(snapshot);
    }

    fn last(&mut self, snapshot: &Snapshot) {
        self.elapsed = snapshot.to;
        self.phase = Phase::Ended;
        self.add(snapshot);
    }

    fn tick(&mut self, control: &mut Control<'_>) {
        self.elapsed = control.elapsed();
        self.take_marks();
    }

    fn finished(&mut self) {
        let mut board = self.shared.board();
        if board.ended.len() < ENDED_MAX {
            let state = &board.state;
            let run = json!([
                self.name,
                state["requests"],
                state["failed"],
                state["elapsed"],
                state["times"],
                state["verdict"]["valid"],
            ]);
            board.ended.push(run);
        }
        let ended = Value::Array(board.ended.clone());
        self.shared.viewers.send(event("ended", &ended));
    }
}
