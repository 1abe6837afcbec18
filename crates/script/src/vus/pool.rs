//! `Crew`: a worker's VUs and what they have under way.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::arrival::Shard;
use workload::executor::Scenario;
use workload::{Commands, PollBudget, StopMode};

use super::control::Counters;
use super::exchange::Exchange;
use super::live::TELL_EVERY;
use super::outcome::Outcome;
use super::plan::{CrewPlan, role};
use super::recorder::Recorder;
use super::scenario_state::Work;
use super::slot::{Post, Slot, Whose};
use super::socket_state::Sockets;
use super::targets::KnownTargets;
use super::vu_host::World;
use crate::host::action::{Action, Answer};
use crate::host::execution::{Halt, Stage};
use crate::host::sample::Sample;
use crate::host::traits::Host;
use crate::runtime::exception::Exception;
use crate::runtime::realm::Realm;
use crate::runtime::vu::Vu;

/// `vus` and `vus_max` are seen this often, from the test's beginning on.
const GAUGE_STEP: Nanos = Nanos::SECOND;

/// One worker's VUs.
pub(super) struct Crew {
    pub(super) plan: CrewPlan,
    pub(super) shard: Shard,
    pub(super) world: Rc<World>,
    /// What its VUs share, or why there is none.
    pub(super) realm: Result<Rc<Realm>, Exception>,
    pub(super) slots: Vec<Slot>,
    /// What `setup` returned.
    pub(super) data: Option<Rc<str>>,
    /// When each scenario's last iteration has ended, from the start.
    pub(super) ends: Vec<Nanos>,
    /// What others may see of this crew.
    pub(super) counters: Arc<Counters>,
    /// When the gauges are seen next, from the test's beginning on.
    pub(super) gauges_at: Nanos,
    /// When those who want to know the metrics are told next.
    pub(super) tell_at: Nanos,
    /// The scenarios' own state, by their number.
    pub(super) works: Vec<Work>,
    /// When the scenarios' clock began.
    pub(super) zero: Option<Nanos>,
    /// Answers that wait for their VU.
    pub(super) answers: VecDeque<(Whose, Answer)>,
    /// What redirects ask for.
    pub(super) redirects: VecDeque<Exchange>,
    /// What is sent once the rate of requests allows it, and when.
    pub(super) held: VecDeque<(Nanos, Exchange)>,
    /// Who is to be woken, and when.
    pub(super) sleepers: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// What was sent, by its number; each number is answered once.
    pub(super) sent: Vec<Option<Exchange>>,
    /// Numbers that are free.
    pub(super) free: Vec<u32>,
    /// What is to be sent.
    pub(super) commands: Commands,
    /// What may still be begun in this poll.
    pub(super) budget: PollBudget,
    pub(super) sockets: Sockets,
    pub(super) targets: KnownTargets,
    /// What a VU asked for.
    pub(super) asked: Vec<Action>,
    pub(super) samples: Vec<Sample>,
    pub(super) recorder: Recorder,
    pub(super) seen: Outcome,
    pub(super) stopping: Option<StopMode>,
}

impl std::fmt::Debug for Crew {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Crew").field("vus", &self.slots.len()).finish_non_exhaustive()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        let mut outcome = self.plan.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        self.seen.samples_dropped = self.slots.iter().map(|slot| slot.vu.samples_dropped()).sum();
        self.recorder.flush(0);
        self.seen.parts = self.recorder.parts();
        outcome.merge(&self.seen);
    }
}

impl Crew {
    pub(super) fn new(plan: CrewPlan, shard: Shard) -> Self {
        let world = Rc::new(World::new(&plan));
        let recorder = Recorder::new(&plan);
        let realm = Realm::new(&plan.program);
        let work = |(at, scenario): (usize, &Scenario)| {
            let (function, role) = (scenario.exec.as_str().into(), role(&plan, at));
            let duration = scenario.executor.duration_of(plan.segment.vus());
            Work::new(Post { function, role }, duration)
        };
        let works = plan.scenarios.iter().enumerate().map(work).collect();
        let seen = Outcome { tally: plan.tally.clone(), ..Outcome::default() };
        let mut crew = Self {
            shard,
            world,
            realm,
            slots: Vec::new(),
            data: plan.data.as_deref().map(Into::into),
            ends: plan.scenarios.iter().map(Scenario::end).collect(),
            counters: plan.control.join(),
            gauges_at: GAUGE_STEP * (plan.earlier.elapsed.0 / GAUGE_STEP.0 + 1),
            tell_at: Nanos::ZERO,
            works,
            zero: None,
            answers: VecDeque::new(),
            redirects: VecDeque::new(),
            held: VecDeque::new(),
            sleepers: BinaryHeap::new(),
            sent: Vec::new(),
            free: Vec::new(),
            commands: Commands::default(),
            budget: PollBudget::default(),
            sockets: Sockets::default(),
            targets: KnownTargets::default(),
            asked: Vec::new(),
            samples: Vec::new(),
            recorder,
            seen,
            stopping: None,
            plan,
        };
        crew.fill();
        crew
    }

    /// Makes the VUs that scenarios want from the start: this worker's share of them.
    fn fill(&mut self) {
        let Shard { first, step } = self.shard;
        let is_test = self.plan.stage == Stage::Iteration;
        for number in (first..self.plan.control.staff.total).step_by(step as usize) {
            // `setup` and `teardown` are called by nobody.
            if self.hire(if is_test { number + 1 } else { 0 }).is_none() {
                return;
            }
        }
        self.publish();
    }

    /// Where a VU is that was made at the start, if it is on this worker.
    pub(super) fn slot_of(&self, number: u64) -> Option<usize> {
        let Shard { first, step } = self.shard;
        let at = (number - 1).checked_sub(first).filter(|at| at.is_multiple_of(step))? / step;
        Some(at as usize).filter(|at| *at < self.slots.len())
    }

    /// Makes a VU; gives its place.
    pub(super) fn hire(&mut self, number: u64) -> Option<usize> {
        self.budget.spend(PollBudget::CONNECTION);
        let host = Rc::clone(&self.world) as Rc<dyn Host>;
        let vu = self.realm.clone().and_then(|realm| Vu::new(&realm, host, number));
        match vu {
            Ok(vu) => {
                self.slots.push(Slot::new(vu, number));
                Some(self.slots.len() - 1)
            }
            Err(exception) => {
                self.plan.control.halt(Halt::Broken(exception.text.clone()));
                self.note(exception, None);
                None
            }
        }
    }

    /// Tells others how far this crew is.
    pub(super) fn publish(&self) {
        let Counters { completed, interrupted, active, initialized } = &*self.counters;
        completed.store(self.seen.iterations, Ordering::Relaxed);
        interrupted.store(self.seen.interrupted, Ordering::Relaxed);
        active.store(self.active() as u64, Ordering::Relaxed);
        initialized.store(self.slots.len() as u64, Ordering::Relaxed);
    }

    /// The first crew counts how many VUs all have. None of them works in `setup` and `teardown`.
    pub(super) fn gauge(&mut self, now: Nanos, zero: Nanos) {
        let elapsed = self.plan.earlier.elapsed.saturating_add(now.saturating_sub(zero));
        if !self.gauges() || elapsed < self.gauges_at {
            return;
        }
        self.gauges_at = GAUGE_STEP * (elapsed.0 / GAUGE_STEP.0 + 1);
        let (active, all) = match self.plan.stage {
            Stage::Iteration => {
                let seen = self.plan.control.instance();
                (seen.active, seen.initialized)
            }
            _ => (0, self.plan.earlier.vus),
        };
        let at = self.world.sampled_at();
        for (metric, value) in [(MetricId::VUS, active), (MetricId::VUS_MAX, all)] {
            self.recorder.gauge(&mut self.seen.tally, at, metric, value as f64);
        }
    }

    /// Whether it is this crew that counts VUs.
    pub(super) fn gauges(&self) -> bool {
        let stages = [Stage::Setup, Stage::Iteration, Stage::Teardown];
        self.shard.first == 0 && stages.contains(&self.plan.stage)
    }

    /// Tells those who want to know the metrics, if it is time.
    pub(super) fn tell(&mut self, now: Nanos) {
        if let Some(live) = self.plan.live.as_ref().filter(|_| now >= self.tell_at) {
            self.tell_at = now.saturating_add(TELL_EVERY);
            live.tell(self.shard.first, &self.seen.tally);
        }
    }
}
