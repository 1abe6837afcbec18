//! Beginning hits: when they are due, when a user is idle, and no more when the run's time is up.

use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

use net::Io;
use stdx::Nanos;

use super::Worker;
use crate::failure::Failure;
use crate::hit::Hit;
use crate::origins::Named;
use crate::pace::Pace;
use crate::request::{Request, Unsendable};
use workload::StopMode;

/// The most hits begun before events are looked at.
const BURST_MAX: usize = 64;
/// Hits due within the run's time are still begun this long after it; those later than that are not sent.
const GRACE: Nanos = Nanos::from_millis(100);

impl<I: Io> Worker<I> {
    /// Begins what is due.
    pub(super) fn begin_due(&mut self) {
        match self.pace {
            Pace::Closed(_) => return self.begin_idle_users(),
            Pace::Users(_) => return self.poll_users(),
            Pace::Open(_) | Pace::Over => {}
        }
        let end = self.prepared.plan.duration.unwrap_or(Nanos::MAX);
        // What a tick gathers is due before the end and begun after it.
        let grace = GRACE.saturating_add(self.prepared.settings.tick);
        if self.now > end.saturating_add(grace) {
            return self.end_pace(end);
        }
        for _ in 0..BURST_MAX {
            let is_behind = self.is_behind();
            let Pace::Open(open) = &mut self.pace else { return };
            let Some(begin) = open.next_begin() else {
                self.pace = Pace::Over;
                return;
            };
            if begin > self.now || is_behind || self.hits.len() >= open.in_flight_max {
                return;
            }
            let Some((seq, due)) = open.cursor.peek() else { return };
            let target = match self.next_target(seq) {
                Next::Target(target) => target,
                Next::Later => return,
                Next::End => {
                    self.pace = Pace::Over;
                    return;
                }
            };
            if let Pace::Open(open) = &mut self.pace {
                open.cursor.advance();
            }
            self.now = self.io.now();
            if self.counts(due) {
                self.note_begin(due);
            }
            self.begin(seq, due, target);
        }
    }

    /// Has each user of a closed loop that is idle, or has thought, begin its next hit.
    pub(super) fn begin_idle_users(&mut self) {
        let Pace::Closed(closed) = &self.pace else { return self.poll_users() };
        // Also where every user thinks: none may be due before the end.
        if closed.left == 0 || self.prepared.plan.duration.is_some_and(|end| self.now >= end) {
            return self.end_pace(self.now);
        }
        // A hit that fails at once makes its user idle again; that one waits for the next turn.
        for _ in 0..closed.ready(self.now).min(BURST_MAX as u64) {
            if self.prepared.plan.duration.is_some_and(|end| self.now >= end) {
                return self.end_pace(self.now);
            }
            if self.is_behind() || self.awaits_name() {
                return;
            }
            let Pace::Closed(closed) = &self.pace else { return };
            let Some(due) = closed.next_due(self.now).filter(|due| *due <= self.now) else {
                return;
            };
            let (seq, counted) = (closed.next, self.counts(due));
            if counted && closed.left == 0 {
                self.pace = Pace::Over;
                return;
            }
            let target = match self.next_target(seq) {
                Next::Target(target) => target,
                Next::Later => return,
                Next::End => {
                    self.pace = Pace::Over;
                    return;
                }
            };
            let thought = match &mut self.pace {
                Pace::Closed(closed) => closed.begin(counted),
                Pace::Open(_) | Pace::Users(_) | Pace::Over => false,
            };
            if thought && counted {
                self.lag.record(self.now.saturating_sub(due));
            }
            self.begin(seq, due, target);
        }
    }

    /// No more hits are begun. Those that fell due until `at` and were not begun are counted.
    pub(super) fn end_pace(&mut self, at: Nanos) {
        if let Pace::Users(users) = &mut self.pace {
            return users.stop(StopMode::Graceful);
        }
        if let Pace::Open(open) = &self.pace {
            let plan = &self.prepared.plan;
            let until = at.min(plan.duration.unwrap_or(Nanos::MAX));
            let mut left = open.cursor.count_until_below(until, plan.hits_max);
            if let Some(lane) = &self.lazy {
                left = lane.count_waiting(left);
            }
            // Those of the warm-up are counted nowhere.
            if let Some(warm) = plan.warmup.0.checked_sub(1) {
                let warm = Nanos(warm).min(until);
                left = left.saturating_sub(open.cursor.count_until_below(warm, plan.hits_max));
            }
            self.watch.planned += left;
            self.watch.not_sent += left;
        }
        self.pace = Pace::Over;
    }

    /// A hit of an open loop that is counted begins: either it waited for room, or we are as late as it is.
    fn note_begin(&mut self, due: Nanos) {
        if due < self.freed_at {
            self.watch.held += 1;
        } else {
            self.lag.record(self.now.saturating_sub(due));
        }
    }

    fn next_target(&mut self, seq: u64) -> Next {
        let open = matches!(self.pace, Pace::Open(_));
        if open && self.prepared.plan.hits_max.is_some_and(|max| seq >= max) {
            return Next::End;
        }
        let Some(lane) = &mut self.lazy else {
            let plan = &self.prepared.plan;
            return Next::Target(Picked::Planned(plan.targets.pick(plan.seed, seq) as u32));
        };
        match lane.targets.try_recv() {
            Ok(target) => {
                lane.starved = false;
                Next::Target(Picked::Lazy(target))
            }
            Err(TryRecvError::Empty) => {
                lane.starved = true;
                Next::Later
            }
            Err(TryRecvError::Disconnected) => {
                lane.starved = false;
                Next::End
            }
        }
    }

    /// Whether a hit due then is counted, or belongs to the warm-up.
    pub(super) fn counts(&self, due: Nanos) -> bool {
        due >= self.prepared.plan.warmup
    }

    fn begin(&mut self, seq: u64, intended: Nanos, target: Picked) {
        if self.counts(intended) {
            self.watch.planned += 1;
            self.watch.sent += 1;
        } else {
            self.watch.warmup_hits += 1;
        }
        let mut hit = Hit::new(seq, intended);
        if let Some(timeout) = self.prepared.settings.timeout {
            hit.deadline = self.now.saturating_add(timeout);
        }
        self.begin_hit(hit, target);
    }

    /// The request of a lazy target, or why there is none.
    fn lazy_request(
        &self,
        target: Result<workload::Target, String>,
    ) -> Result<Request, Unsendable> {
        let nameless = |reason| Unsendable {
            kind: metrics::FailureKind::Target,
            method: String::new(),
            url_text: String::new(),
            reason,
        };
        target.map_err(nameless).and_then(|target| self.prepared.request(&target))
    }

    /// Finds a hit's request and sends it on its way.
    pub(super) fn begin_hit(&mut self, mut hit: Hit, target: Picked) {
        let (origin, unsendable) = match target {
            Picked::Planned(index) => {
                (hit.target, hit.memo) = (Some(index), index);
                let request = &self.prepared.requests[index as usize];
                (self.target_origins[index as usize], request.as_ref().err().cloned())
            }
            Picked::Lazy(target) => match self.lazy_request(*target) {
                Ok(request) => {
                    let settings = &self.prepared.settings;
                    let origin = self.origins.number(&request, hit.owner, settings, Named::ByUser);
                    hit.own_request = Some(Arc::new(request));
                    (origin, None)
                }
                Err(unsendable) => (None, Some(unsendable)),
            },
            Picked::Asked(target, named) => match self.asked_request(&target, named, &mut hit) {
                Ok(origin) => (origin, None),
                Err(unsendable) => (None, Some(unsendable)),
            },
        };
        let number = self.hits.insert(hit) as u32;
        self.by_deadline.push(&mut self.hits, number);
        match (unsendable, origin) {
            (Some(unsendable), _) => {
                let failure = Failure::new(unsendable.kind, unsendable.reason.clone());
                self.fail_unsendable(number, &failure, &unsendable);
            }
            (None, Some(origin)) => {
                self.hits[number as usize].origin = origin;
                self.dispatch(number);
            }
            (None, None) => {
                let failure = Failure::new(metrics::FailureKind::Target, "too many hosts");
                self.fail(number, &failure);
            }
        }
    }
}

/// What is to be begun next.
enum Next {
    Target(Picked),
    /// Lazy targets are not there yet.
    Later,
    /// Lazy targets have ended.
    End,
}

/// A hit's target.
pub(super) enum Picked {
    /// The plan's target of this index.
    Planned(u32),
    /// The next of the lazy targets.
    Lazy(Box<Result<workload::Target, String>>),
    /// What a user asks for, and who named it.
    Asked(Arc<workload::Target>, Named),
}
