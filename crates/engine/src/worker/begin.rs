//! Beginning hits: when they are due, when a user is idle, and no more when the run's time is up.

use std::sync::Arc;
use std::sync::mpsc::TryRecvError;

use net::Io;
use stdx::Nanos;

use super::Worker;
use crate::failure::Failure;
use crate::failure_reason::FailureReason;
use crate::hit::Hit;
use crate::ids::{HitId, OriginId};
use crate::named_by::NamedBy;
use crate::request::{Request, Unsendable};
use crate::schedule::{NextUser, Schedule};
use workload::StopMode;

/// The most hits begun before events are looked at.
const BURST_MAX: usize = 64;
/// Hits due within the run's time are still begun this long after it; those later than that are not sent.
pub(super) const GRACE: Nanos = Nanos::from_millis(100);

impl<I: Io> Worker<I> {
    /// Begins what is due.
    pub(super) fn begin_due(&mut self) {
        match self.schedule {
            Schedule::Closed(_) => {
                self.change_load();
                return self.begin_idle_users();
            }
            Schedule::Users(_) => return self.poll_users(),
            Schedule::Open(_) | Schedule::Ended => {}
        }
        self.skip_overdue();
        self.change_load();
        let end = self.prepared.plan.duration.unwrap_or(Nanos::MAX);
        // What a tick gathers is due before the end and begun after it.
        let grace = GRACE.saturating_add(self.prepared.settings.tick);
        if self.now > end.saturating_add(grace) {
            return self.end_schedule(end);
        }
        for _ in 0..BURST_MAX {
            let must_wait = self.has_backlog() || self.must_poll();
            let Schedule::Open(open) = &mut self.schedule else { return };
            let Some(begin) = open.next_begin() else {
                // Another load may have more for this worker.
                if !self.prepared.settings.load_may_change || end == Nanos::MAX {
                    self.schedule = Schedule::Ended;
                }
                return;
            };
            if begin > self.now
                || open.peek().is_some_and(|(_, due)| due >= self.changes_at)
                || must_wait
                || self.hits.len() >= open.in_flight_max
            {
                return;
            }
            let Some((seq, due)) = open.peek() else { return };
            let target = match self.next_target(seq) {
                NextTarget::Target(target) => target,
                NextTarget::Later => return,
                NextTarget::End => {
                    self.schedule = Schedule::Ended;
                    return;
                }
            };
            if let Schedule::Open(open) = &mut self.schedule {
                open.advance();
            }
            self.now = self.io.now();
            let lag = self.note_begin(due);
            let mut hit = Hit::new(seq, due);
            hit.lag = lag;
            self.begin(hit, target);
        }
    }

    /// Begins the next hit of each user of a closed loop that is idle, or has ended its think time.
    pub(super) fn begin_idle_users(&mut self) {
        let Schedule::Closed(closed) = &self.schedule else { return self.poll_users() };
        // Also where every user thinks: none may be due before the end.
        if closed.left == 0 || self.prepared.plan.duration.is_some_and(|end| self.now >= end) {
            return self.end_schedule(self.now);
        }
        // A hit that fails at once makes its user idle again; that one waits for the next turn.
        for _ in 0..closed.ready(self.now).min(BURST_MAX as u64) {
            if self.prepared.plan.duration.is_some_and(|end| self.now >= end) {
                return self.end_schedule(self.now);
            }
            if self.has_backlog() || self.awaits_name() {
                return;
            }
            let Schedule::Closed(closed) = &self.schedule else { return };
            let Some(due) = closed.next_due(self.now).filter(|due| *due <= self.now) else {
                return;
            };
            let (seq, measured) = (closed.next_number(), self.is_measured(due));
            if measured && closed.left == 0 {
                self.schedule = Schedule::Ended;
                return;
            }
            let target = match self.next_target(seq) {
                NextTarget::Target(target) => target,
                NextTarget::Later => return,
                NextTarget::End => {
                    self.schedule = Schedule::Ended;
                    return;
                }
            };
            let Schedule::Closed(closed) = &mut self.schedule else { return };
            let NextUser { contact, thought } = closed.begin(measured);
            let lag = if thought { self.now.saturating_sub(due) } else { Nanos::ZERO };
            if thought && measured {
                self.lag.record(lag);
            }
            let mut hit = Hit::new(seq, due);
            (hit.lag, hit.contact) = (lag, contact);
            self.begin(hit, target);
        }
    }

    /// No more hits are begun. Those that fell due until `at` and were not begun are counted.
    pub(super) fn end_schedule(&mut self, at: Nanos) {
        if let Schedule::Users(users) = &mut self.schedule {
            return users.stop(StopMode::Graceful);
        }
        if let Schedule::Open(open) = &self.schedule {
            let plan = &self.prepared.plan;
            let until = at.min(plan.duration.unwrap_or(Nanos::MAX));
            let mut left = open.count_until_below(until, plan.hits_max);
            if let Some(lane) = &self.lazy {
                left = lane.count_waiting(left);
            }
            // Those of the warm-up are counted nowhere.
            if let Some(warm) = plan.warmup.0.checked_sub(1) {
                let warm = Nanos(warm).min(until);
                left = left.saturating_sub(open.count_until_below(warm, plan.hits_max));
            }
            self.self_metrics.planned += left;
            self.self_metrics.not_sent += left;
        }
        self.schedule = Schedule::Ended;
    }

    /// Skips what fell due while this worker stood still too long, and what the owner of the run has it skip.
    fn skip_overdue(&mut self) {
        let stood_still = self.now.saturating_sub(self.begun_at);
        self.begun_at = self.now;
        let stalled = self.prepared.settings.stall_max.is_some_and(|max| stood_still > max);
        let before = if stalled { self.now } else { self.orders.skipped() };
        if before > self.skipped {
            self.skipped = before;
            self.skip_before(before);
        }
    }

    /// Counts the hits that fell due before then and were not begun as not sent.
    #[cold]
    pub(super) fn skip_before(&mut self, before: Nanos) {
        let plan = &self.prepared.plan;
        let before =
            before.min(plan.duration.map_or(Nanos::MAX, |end| end.saturating_add(Nanos(1))));
        let Schedule::Open(open) = &mut self.schedule else { return };
        let mut skipped = 0;
        while let Some((seq, due)) = open.peek()
            && due < before
            && plan.hits_max.is_none_or(|max| seq < max)
        {
            skipped += u64::from(due >= plan.warmup);
            open.advance();
        }
        self.self_metrics.planned += skipped;
        self.self_metrics.not_sent += skipped;
    }

    /// A hit of an open loop starts: it waited for its target or for room, or the generator is as late as it is. Returns the generator's
    /// part; a measured hit is counted.
    fn note_begin(&mut self, due: Nanos) -> Nanos {
        let measured = self.is_measured(due);
        let starved = due < self.fed_at && self.now.saturating_sub(due) > STARVED_FROM;
        let held = due < self.freed_at && !starved;
        let lag = if held || starved { Nanos::ZERO } else { self.now.saturating_sub(due) };
        match measured {
            true if starved => self.self_metrics.starved += 1,
            true if held => self.self_metrics.held += 1,
            true => self.lag.record(lag),
            false => {}
        }
        lag
    }

    fn next_target(&mut self, seq: u64) -> NextTarget {
        let open = matches!(self.schedule, Schedule::Open(_));
        if open && self.prepared.plan.hits_max.is_some_and(|max| seq >= max) {
            return NextTarget::End;
        }
        let Some(lane) = &mut self.lazy else {
            let plan = &self.prepared.plan;
            return NextTarget::Target(
                HitTarget::Planned(plan.targets.pick(plan.seed, seq) as u32),
            );
        };
        match lane.targets.try_recv() {
            Ok(target) => {
                if std::mem::take(&mut lane.starved) {
                    self.fed_at = self.now;
                }
                NextTarget::Target(HitTarget::Lazy(target))
            }
            Err(TryRecvError::Empty) => {
                lane.starved = true;
                NextTarget::Later
            }
            Err(TryRecvError::Disconnected) => {
                lane.starved = false;
                NextTarget::End
            }
        }
    }

    /// Whether a hit due then is measured, or belongs to the warm-up.
    pub(super) fn is_measured(&self, due: Nanos) -> bool {
        due >= self.prepared.plan.warmup
    }

    fn begin(&mut self, mut hit: Hit, target: HitTarget) {
        if self.is_measured(hit.intended) {
            self.self_metrics.planned += 1;
            self.self_metrics.sent += 1;
        } else {
            self.self_metrics.warmup_hits += 1;
        }
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
        let nameless = |reason: String| Unsendable {
            kind: metrics::FailureKind::Target,
            method: String::new(),
            url_text: String::new(),
            reason: FailureReason::Other(reason.into()),
        };
        target.map_err(nameless).and_then(|target| self.prepared.request(&target))
    }

    /// Gives a hit the request that was made for it alone. Returns its origin, or why it cannot be sent.
    fn give(
        &mut self,
        hit: &mut Hit,
        made: Result<Request, Unsendable>,
    ) -> (Option<OriginId>, Option<Unsendable>) {
        match made {
            Ok(request) => {
                let settings = &self.prepared.settings;
                let origin = self.origins.id_of(&request, hit.owner, settings, NamedBy::User);
                hit.own_request = Some(Arc::new(request));
                (origin, None)
            }
            Err(unsendable) => (None, Some(unsendable)),
        }
    }

    /// Finds a hit's request and sends it on its way; gives its id, which is free again where it failed at once.
    pub(super) fn begin_hit(&mut self, mut hit: Hit, target: HitTarget) -> HitId {
        let (origin, unsendable) = match target {
            HitTarget::Planned(index) => {
                (hit.target, hit.head_cache) = (Some(index), index);
                match self.prepared.planned(hit.target) {
                    Some(request) => {
                        (self.target_origins[index as usize], request.as_ref().err().cloned())
                    }
                    None => {
                        let target = self.prepared.plan.targets.list().get(index as usize);
                        let target = target.expect("a target of the plan").to_target();
                        let made = self.prepared.request(&target);
                        self.give(&mut hit, made)
                    }
                }
            }
            HitTarget::Lazy(target) => {
                let made = self.lazy_request(*target);
                self.give(&mut hit, made)
            }
            HitTarget::Requested(target, named) => {
                match self.cached_request(&target, named, &mut hit) {
                    Ok(origin) => (origin, None),
                    Err(unsendable) => (None, Some(unsendable)),
                }
            }
        };
        self.promptness.begin(&mut hit);
        let hit_id = self.hits.insert(hit);
        self.deadlines.push(&mut self.hits, hit_id);
        match (unsendable, origin) {
            (Some(unsendable), _) => {
                let failure = Failure::new(unsendable.kind, unsendable.reason.clone());
                self.fail_unsendable(hit_id, &failure, &unsendable);
            }
            (None, Some(origin)) => {
                let hit = &mut self.hits[hit_id];
                if hit.kind.is_dial() {
                    self.origins.list[origin].tls = hit.tls_given.take();
                }
                self.dispatch_to(hit_id, origin);
            }
            (None, None) => {
                let failure = Failure::other(metrics::FailureKind::Target, "too many hosts");
                self.fail(hit_id, &failure);
            }
        }
        hit_id
    }
}

/// A hit that began so long after it was due, since its target came late, waited for it: less is the way from one thread to another.
const STARVED_FROM: Nanos = Nanos::from_millis(10);

/// What is to be begun next.
enum NextTarget {
    Target(HitTarget),
    /// Lazy targets are not there yet.
    Later,
    /// Lazy targets have ended.
    End,
}

/// A hit's target.
pub(super) enum HitTarget {
    /// The plan's target of this index.
    Planned(u32),
    /// The next of the lazy targets.
    Lazy(Box<Result<workload::Target, String>>),
    /// The target of a user's request, and the source of its name.
    Requested(Arc<workload::Target>, NamedBy),
}
