//! `VuPool`: a worker's VUs and what they have under way.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use metrics::tally::MetricId;
use stdx::{MemoryShare, Nanos, NumberHash, OutOfMemory};
use workload::arrival::Shard;
use workload::executor::Scenario;
use workload::{Commands, PollBudget, StopMode};

use crate::host::action::{Action, ActionResult, Ticket};
use crate::host::exception::Exception;
use crate::host::execution::{AbortReason, Stage};
use crate::host::sample::Sample;
use crate::host::traits::Host;
use crate::host::virtual_user::{UserProgram, VirtualUser as _};
use crate::http::call::HttpCall;
use crate::http::calls::Calls;
use crate::http::targets::TargetCache;
use crate::pool::control::Counters;
use crate::pool::plan::{VuPoolPlan, scenario_info};
use crate::pool::scenario_state::ScenarioState;
use crate::pool::slot::{Assignment, RequestOwner, Slot, Slots, VuSlot};
use crate::pool::vu_host::VuHost;
use crate::record::live_metrics::PUBLISH_EVERY;
use crate::record::recorder::Recorder;
use crate::record::vu_stats::VuStats;
use crate::sockets::state::Sockets;

/// `vus` and `vus_max` are seen this often, from the test's beginning on.
const GAUGE_STEP: Nanos = Nanos::SECOND;
/// Samples wait this long in a worker at most; the outputs' queue in `k6` says what a kill costs altogether.
const EMIT_EVERY: Nanos = Nanos::from_millis(250);

/// How many VUs there is memory for, at most: how much what they run takes is seen when they are made.
#[must_use]
pub fn vus_that_fit<P: UserProgram>() -> u64 {
    (stdx::memory_left() / P::USER_BYTES) as u64
}

/// One worker's VUs.
pub(crate) struct VuPool<P: UserProgram> {
    pub(crate) plan: VuPoolPlan,
    pub(crate) shard: Shard,
    pub(crate) host: Rc<VuHost>,
    /// What its VUs share, or why there is none.
    shared: Result<P::Shared, Exception>,
    pub(crate) slots: Slots<P::User>,
    /// What they take beside what they count themselves.
    vu_memory: MemoryShare,
    /// What `setup` returned.
    pub(crate) data: Option<Rc<str>>,
    /// What others may see of this pool.
    pub(crate) counters: Arc<Counters>,
    pub(crate) periods: Periods,
    /// The scenarios' own state, by their number.
    pub(crate) scenarios: Vec<ScenarioState>,
    /// When the scenarios' clock began.
    pub(crate) zero: Option<Nanos>,
    /// Answers that wait for their VU.
    pub(crate) answers: VecDeque<(RequestOwner, ActionResult)>,
    /// What redirects ask for.
    pub(crate) redirects: VecDeque<HttpCall>,
    /// What is sent once the rate of requests allows it, and when.
    pub(crate) held: VecDeque<(Nanos, HttpCall)>,
    /// The VUs that are to be woken, and when.
    pub(crate) sleepers: BinaryHeap<Reverse<(Nanos, VuSlot)>>,
    /// What was sent.
    pub(crate) calls: Calls,
    /// What is to be sent.
    pub(crate) commands: Commands,
    /// Iterations that were due by an arrival rate and never begun.
    pub(crate) not_begun: u64,
    /// All that were due by one, and those of them that came to their end.
    pub(crate) due_and_ended: (u64, u64),
    /// What may still be begun in this poll.
    pub(crate) budget: PollBudget,
    pub(crate) sockets: Sockets,
    /// The numbers of its VUs' streams of gRPC, by the VU's place and the ticket.
    pub(crate) streams: HashMap<(VuSlot, Ticket), u32, NumberHash>,
    pub(crate) targets: TargetCache,
    /// What a VU asked for.
    pub(crate) actions: Vec<Action>,
    pub(crate) samples: Vec<Sample>,
    pub(crate) recorder: Recorder,
    pub(crate) stats: VuStats,
    pub(crate) stopping: Option<StopMode>,
}

impl<P: UserProgram> std::fmt::Debug for VuPool<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VuPool").field("vus", &self.slots.len()).finish_non_exhaustive()
    }
}

impl<P: UserProgram> Drop for VuPool<P> {
    fn drop(&mut self) {
        let mut outcome = self.plan.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        self.stats.samples_dropped = self.slots.iter().map(|slot| slot.vu.samples_dropped()).sum();
        self.recorder.flush(0);
        self.stats.parts = self.recorder.parts();
        self.stats.tally = std::mem::take(&mut self.recorder.tally);
        outcome.merge(&self.stats);
    }
}

/// When there is something to do that comes again and again.
pub(crate) struct Periods {
    /// When the gauges are seen next, from the test's beginning on.
    pub(crate) gauges_at: Nanos,
    /// When the live metrics are published next.
    pub(crate) publish_at: Nanos,
    /// When outputs get what there is for them by then.
    emit_at: Nanos,
}

/// How many threads of this process have users: no more than there are shards, of which other machines may have some.
fn threads(shard: Shard) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    usize::try_from(shard.step).unwrap_or(usize::MAX).min(cores)
}

impl<P: UserProgram> VuPool<P> {
    pub(crate) fn new(program: &P, plan: VuPoolPlan, shard: Shard) -> Self {
        let host = Rc::new(VuHost::new(&plan));
        let recorder = Recorder::new(&plan, program.metrics());
        let shared = program.share(threads(shard));
        let work = |(at, scenario): (usize, &Scenario)| {
            let (function, info) = (scenario.exec.as_str().into(), scenario_info(&plan, at));
            let duration = scenario.executor.duration_of(plan.work.segment.vus());
            ScenarioState::new(Assignment { function, scenario: info }, duration, scenario.end())
        };
        let scenarios = plan.work.scenarios.iter().enumerate().map(work).collect();
        let mut vu_pool = Self {
            shard,
            host,
            shared,
            slots: Slots::default(),
            vu_memory: MemoryShare::default(),
            data: plan.work.data.as_deref().map(Into::into),
            counters: plan.control.join(),
            periods: Periods {
                gauges_at: GAUGE_STEP * (plan.work.earlier.elapsed.0 / GAUGE_STEP.0 + 1),
                publish_at: Nanos::ZERO,
                emit_at: Nanos::ZERO,
            },
            scenarios,
            zero: None,
            answers: VecDeque::new(),
            redirects: VecDeque::new(),
            held: VecDeque::new(),
            sleepers: BinaryHeap::new(),
            calls: Calls::default(),
            commands: Commands::default(),
            not_begun: 0,
            due_and_ended: (0, 0),
            budget: PollBudget::default(),
            sockets: Sockets::default(),
            streams: HashMap::default(),
            targets: TargetCache::default(),
            actions: Vec::new(),
            samples: Vec::new(),
            recorder,
            stats: VuStats::default(),
            stopping: None,
            plan,
        };
        vu_pool.fill();
        vu_pool
    }

    /// Makes the VUs that scenarios want from the start: this worker's share of them.
    fn fill(&mut self) {
        let Shard { first, step } = self.shard;
        let is_test = self.plan.work.stage == Stage::Iteration;
        for number in (first..self.plan.control.staff.total).step_by(step as usize) {
            // VU 0 calls `setup` and `teardown`.
            let number = if is_test { number + 1 } else { 0 };
            // Another thread may have no room for its own.
            if self.plan.control.is_halted() || self.spawn_vu(number).is_none() {
                return;
            }
        }
        self.publish();
    }

    /// Where a VU is that was made at the start, if it is on this worker.
    pub(crate) fn slot_of(&self, number: u64) -> Option<VuSlot> {
        let Shard { first, step } = self.shard;
        let at = (number - 1).checked_sub(first).filter(|at| at.is_multiple_of(step))? / step;
        Some(VuSlot(at as usize)).filter(|slot| slot.0 < self.slots.len())
    }

    /// Makes a VU; gives its place.
    pub(crate) fn spawn_vu(&mut self, number: u64) -> Option<VuSlot> {
        self.budget.spend(PollBudget::CONNECTION);
        let host = Rc::clone(&self.host) as Rc<dyn Host>;
        let room = self.vu_memory.resize((self.slots.len() + 1) * P::USER_BYTES);
        let room = room.map_err(|OutOfMemory| Exception::out_of_memory());
        let shared = room.and_then(|()| self.shared.as_ref().map_err(Exception::clone));
        match shared.and_then(|shared| P::spawn(shared, host, number)) {
            Ok(vu) => {
                let slot = self.slots.push(Slot::new(vu, number));
                self.counters.initialized.store(self.slots.len() as u64, Ordering::Relaxed);
                Some(slot)
            }
            Err(exception) => {
                self.end_without_vu(exception);
                None
            }
        }
    }

    /// Ends the stage: a VU cannot be made.
    #[cold]
    fn end_without_vu(&mut self, mut exception: Exception) {
        let is_test = self.plan.work.stage == Stage::Iteration;
        if exception.out_of_memory && is_test {
            exception = Exception::out_of_memory();
            let (made, wanted) = (self.plan.control.instance().initialized, self.wanted_vus());
            let bound = self
                .shared
                .as_ref()
                .map_or_else(|_| stdx::memory_limit_in_words(), P::memory_bound);
            exception.text = format!(
                "no memory is left for another virtual user: {made} of {wanted} were made ({bound})"
            );
        }
        self.plan.control.halt(AbortReason::Broken(exception.text.clone()));
        // The end of the scenarios says it, once for all threads.
        if !(exception.out_of_memory && is_test) {
            self.log_exception(exception, None);
        }
    }

    /// How many VUs the test wants, of all threads: from the start, and later those that scenarios may have in addition.
    fn wanted_vus(&self) -> u64 {
        let staffed = self.plan.control.staffed();
        if self.zero.is_none() {
            return staffed;
        }
        let own = self.plan.work.segment.vus();
        let most =
            self.plan.work.scenarios.iter().map(|scenario| own.count(scenario.executor.vus_max()));
        most.fold(0, u64::saturating_add).max(staffed)
    }

    /// Publishes this pool's counts to other threads.
    pub(crate) fn publish(&self) {
        let Counters { completed, interrupted, active, initialized } = &*self.counters;
        completed.store(self.stats.iterations, Ordering::Relaxed);
        interrupted.store(self.stats.interrupted, Ordering::Relaxed);
        active.store(self.active() as u64, Ordering::Relaxed);
        initialized.store(self.slots.len() as u64, Ordering::Relaxed);
    }

    /// The first pool counts how many VUs all have. None of them works in `setup` and `teardown`.
    pub(crate) fn gauge(&mut self, now: Nanos, zero: Nanos) {
        let elapsed = self.plan.work.earlier.elapsed.saturating_add(now.saturating_sub(zero));
        if !self.gauges() || elapsed < self.periods.gauges_at {
            return;
        }
        self.periods.gauges_at = GAUGE_STEP * (elapsed.0 / GAUGE_STEP.0 + 1);
        let (active, all) = match self.plan.work.stage {
            Stage::Iteration => {
                let seen = self.plan.control.instance();
                (seen.active, seen.initialized)
            }
            _ => (0, self.plan.work.earlier.vus),
        };
        let at = self.host.sampled_at();
        for (metric, value) in [(MetricId::VUS, active), (MetricId::VUS_MAX, all)] {
            self.recorder.gauge(at, metric, value as f64);
        }
    }

    /// Whether it is this pool that counts VUs.
    pub(crate) fn gauges(&self) -> bool {
        let stages = [Stage::Setup, Stage::Iteration, Stage::Teardown];
        self.shard.first == 0 && stages.contains(&self.plan.work.stage)
    }

    /// Hands over what outputs want, if it is time; returns when it is, if some of it waits.
    pub(crate) fn emit_samples(&mut self, now: Nanos) -> Option<Nanos> {
        if !self.recorder.holds_samples() {
            return None;
        }
        if now < self.periods.emit_at {
            return Some(self.periods.emit_at);
        }
        self.periods.emit_at = now.saturating_add(EMIT_EVERY);
        self.recorder.flush(0);
        None
    }

    /// Publishes the live metrics, if it is time.
    pub(crate) fn publish_live(&mut self, now: Nanos) {
        if let Some(live) =
            self.plan.samples.live.as_ref().filter(|_| now >= self.periods.publish_at)
        {
            self.periods.publish_at = now.saturating_add(PUBLISH_EVERY);
            live.publish(self.shard.first, &self.recorder.tally);
        }
    }
}
