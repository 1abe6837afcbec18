//! `LiveView`: the observer of a run that a live page shows.

use std::cell::RefCell;
use std::rc::Rc;

use metrics::server::Row;
use metrics::{Batch, Event, EventKind, Snapshot};
use serde_json::{Value, json};
use stdx::Nanos;
use workload::{Load, Plan};

use super::board::{Order, Phase, Shared, event};
use super::frame::{Frame, Totals};
use super::server::LiveServer;
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
    pub(super) takes_marks: bool,
    /// The load at present, where the page may change it.
    offered: Option<CurrentLoad>,
    /// Why the last change was refused.
    refused: Option<String>,
    pub(super) epoch: i64,
    pub(super) duration: Option<Nanos>,
    has_rate: bool,
    elapsed: Nanos,
    server: LiveServer,
    /// What a command adds of its own: users, checks, thresholds.
    more: MoreOnPage,
}

/// What a command adds of its own to a live page.
#[derive(Clone, Debug, Default)]
pub struct MoreOnPage(Rc<RefCell<Value>>);

impl MoreOnPage {
    /// Shows this beside what every run has, from the next second on, until it is set anew.
    pub fn set(&self, more: Value) {
        self.0.replace(more);
    }
}

/// The load of a run, as its controls show it.
#[derive(Clone, Copy, Debug)]
struct CurrentLoad {
    is_paused: bool,
    /// Requests per second; `None` in a closed loop.
    rate: Option<f64>,
    /// `None` in an open loop.
    users: Option<u64>,
}

/// What a plan offers at its start.
fn plan_load(plan: &Plan) -> CurrentLoad {
    let (rate, users) = match &plan.load {
        Load::Open { shape, .. } => (Some(shape.mean_rate_per_s(plan.duration)), None),
        Load::Closed { users } => (None, Some(*users)),
        Load::Users(_) => (None, None),
    };
    CurrentLoad { is_paused: false, rate, users }
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
            takes_marks: true,
            offered: None,
            refused: None,
            epoch,
            duration: plan.begins_for(),
            has_rate: matches!(plan.load, Load::Open { .. }),
            elapsed: Nanos::ZERO,
            server: LiveServer::default(),
            more: MoreOnPage::default(),
        }
    }

    /// The same with controls for the load of this plan.
    pub(super) fn controlled(self, plan: &Plan) -> Self {
        Self { offered: Some(plan_load(plan)), ..self }
    }

    /// The same, whose moments cannot be marked.
    pub(super) fn without_marks(self) -> Self {
        Self { takes_marks: false, ..self }
    }

    /// Which controls the page has: of a rate, or of users. Null without any.
    pub(super) fn control(&self) -> Value {
        match &self.offered {
            None => Value::Null,
            Some(CurrentLoad { rate: Some(_), .. }) => "rate".into(),
            Some(_) => "users".into(),
        }
    }

    /// Where a command puts what it adds of its own.
    #[must_use]
    pub fn more(&self) -> MoreOnPage {
        self.more.clone()
    }

    pub(super) fn state(&self) -> Value {
        let moment = (self.elapsed, self.epoch, self.phase);
        let mut state = state::json(&self.total, &self.counts, moment, &self.marks);
        state["more"] = self.more.0.borrow().clone();
        state["server"] = self.server.json();
        state["load"] = match self.offered {
            None => Value::Null,
            Some(CurrentLoad { is_paused, rate, users }) => {
                json!({ "paused": is_paused, "rate": rate, "users": users, "refused": self.refused })
            }
        };
        state
    }

    /// Carries out what browsers ordered.
    fn carry_out(&mut self, control: &mut Control<'_>) {
        let orders = std::mem::take(&mut self.shared.board().orders);
        for order in orders {
            match order {
                Order::Mark(text) => {
                    if self.marks.len() < MARKS_MAX {
                        control.mark(text);
                    }
                }
                Order::Change(_) if self.offered.is_none() => {}
                Order::Change(change) => {
                    self.refused = control.change_load(change).err().map(|why| why.to_string());
                }
            }
        }
    }

    /// Adds a period, and sends it.
    fn add(&mut self, snapshot: &Snapshot) {
        let frame = Frame::of(snapshot, &self.before, self.has_rate);
        let frame = Frame { server: self.server.period(), ..frame };
        self.shared.send_log();
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
        self.carry_out(control);
    }

    fn server(&mut self, rows: &[Row]) {
        rows.iter().for_each(|row| self.server.add(row));
    }

    fn event(&mut self, event: &Event) {
        // It was done in the last tick, to which this page's clock was set.
        if self.marks.len() < MARKS_MAX {
            self.marks.push((self.elapsed, event.what.to_string()));
        }
        let Some(offered) = &mut self.offered else { return };
        match event.what {
            EventKind::Mark(_) | EventKind::Ended(_) => {}
            EventKind::Pause => offered.is_paused = true,
            EventKind::Resume => offered.is_paused = false,
            EventKind::Rate(rate) => offered.rate = Some(rate),
            EventKind::Users(users) => offered.users = Some(users),
        }
    }

    fn finished(&mut self) {
        self.shared.send_log();
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
