//! The scenarios' executors: who begins an iteration, and who has to end one. Nothing here looks through all VUs but a
//! scenario's beginning and its end.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use stdx::Nanos;
use workload::Ending;
use workload::executor::Executor;

use super::Crew;
use super::samples::{self, Around, Sampled};
use super::slot::{Post, State};
use crate::host::Host as _;
use crate::seat::Stage;
use crate::standing::Role;

/// While the number of VUs changes it is looked at this often.
const RAMP_STEP: Nanos = Nanos::from_millis(10);
/// A due iteration that another crew can begin is looked at again after this time.
const OTHERS_STEP: Nanos = Nanos::from_millis(1);
/// Other crews, and whoever ends the test, are looked at this often.
const LOOK_STEP: Nanos = Nanos::from_millis(50);

/// A scenario under way on this worker.
#[derive(Debug)]
pub(super) struct Work {
    post: Rc<Post>,
    /// Its VUs on this worker, by their index; where each is among the slots.
    staff: Vec<(u64, usize)>,
    /// VUs that may begin an iteration; who came first begins first.
    idle: VecDeque<usize>,
    /// VUs that a ramp does not want now, the lowest index first.
    parked: BinaryHeap<Reverse<(u64, usize)>>,
    /// VUs that a ramp has wanted no more since then, by their place among the staff.
    leaving: VecDeque<(Nanos, usize)>,
    /// How many VUs of all workers the executor wants.
    wanted: u64,
    /// VUs that are in an iteration, or rest after one.
    busy: usize,
    /// VUs that have done all iterations they are to do.
    finished: usize,
    pub(super) phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Running,
    Over,
}

impl Work {
    pub(super) fn new(post: Post) -> Self {
        Self {
            post: Rc::new(post),
            staff: Vec::new(),
            idle: VecDeque::new(),
            parked: BinaryHeap::new(),
            leaving: VecDeque::new(),
            wanted: 0,
            busy: 0,
            finished: 0,
            phase: Phase::Waiting,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}

impl Crew {
    /// Begins and ends iterations of all scenarios. Scenarios that end come first: others may have their VUs then.
    pub(super) fn work(&mut self, now: Nanos, zero: Nanos) {
        if self.plan.control.is_halted() {
            self.stopping = Some(Ending::Now);
        } else if self.plan.control.drained_at().is_some() {
            self.stopping = self.stopping.max(Some(Ending::AfterThis));
        }
        let elapsed = now.saturating_sub(zero);
        for work in 0..self.works.len() {
            // One that has not begun does not begin any more.
            let stops = match self.works[work].phase {
                Phase::Waiting => self.stopping.is_some(),
                Phase::Running | Phase::Over => self.stopping == Some(Ending::Now),
            };
            let scenario = &self.plan.scenarios[work];
            let drained = self.world.is_drained(scenario.graceful_stop);
            let ends = stops || drained || elapsed >= scenario.end();
            if ends && !self.works[work].is_over() {
                self.end_scenario(work);
            }
        }
        for work in 0..self.works.len() {
            let start = self.plan.scenarios[work].start;
            if elapsed >= start && !self.works[work].is_over() {
                self.run_scenario(work, elapsed.saturating_sub(start), now);
            }
        }
    }

    /// Ends all iterations of a scenario.
    fn end_scenario(&mut self, work: usize) {
        for at in 0..self.works[work].staff.len() {
            let (_, slot) = self.works[work].staff[at];
            self.end_iteration(work, slot);
        }
        self.set_over(work);
    }

    /// Nothing begins any more: who rests does so no longer.
    fn end_rests(&mut self, work: usize) {
        for at in 0..self.works[work].staff.len() {
            let (_, slot) = self.works[work].staff[at];
            if self.slots[slot].scenario == work && self.slots[slot].state == State::Resting {
                self.set_idle(slot);
            }
        }
    }

    /// Ends an iteration of a VU that works there, if one is under way.
    fn end_iteration(&mut self, work: usize, slot: usize) {
        if self.slots[slot].scenario != work {
            return;
        }
        match self.slots[slot].state {
            State::Busy(_) => {
                // Whatever it waits for comes too late.
                self.slots[slot].vu.stop();
                self.carry_out(slot);
                self.take_samples(slot);
                self.end_cut(slot);
            }
            State::Resting => self.set_idle(slot),
            State::Idle => {}
        }
    }

    fn run_scenario(&mut self, work: usize, at: Nanos, now: Nanos) {
        if self.works[work].phase == Phase::Waiting {
            self.man(work);
        }
        let executor = &self.plan.scenarios[work].executor;
        let begins = self.stopping.is_none() && at < executor.duration();
        if begins {
            match executor {
                Executor::ArrivalRate { .. } => {
                    self.publish();
                    self.begin_due(work, at, now);
                }
                Executor::RampingVus { graceful_ramp_down, .. } => {
                    let wanted = self.plan.segment.vus().count(executor.vus_at(at));
                    let grace = *graceful_ramp_down;
                    self.ramp(work, wanted, now, grace);
                    self.begin_idle(work, now);
                }
                Executor::ExternallyControlled { vus_max, .. } => {
                    let wanted = self.plan.control.of(work).wanted().min(*vus_max);
                    let wanted = self.plan.segment.vus().count(wanted);
                    self.ramp(work, wanted, now, Nanos::ZERO);
                    self.begin_idle(work, now);
                }
                _ => self.begin_idle(work, now),
            }
        }
        if !begins && self.works[work].busy > 0 {
            self.end_rests(work);
        }
        self.end_left(work, now);
        if self.works[work].busy == 0 && (!begins || self.is_done(work)) {
            self.set_over(work);
        }
    }

    /// Gives a scenario that begins its VUs.
    fn man(&mut self, work: usize) {
        self.works[work].phase = Phase::Running;
        let control = std::sync::Arc::clone(&self.plan.control);
        for (index, number) in control.staff.numbers[work].iter().enumerate() {
            if let Some(slot) = self.slot_of(*number) {
                self.employ(work, index as u64, slot);
            }
        }
        let executor = &self.plan.scenarios[work].executor;
        let ramps =
            matches!(executor, Executor::RampingVus { .. } | Executor::ExternallyControlled { .. });
        if ramps {
            let Work { idle, parked, staff, .. } = &mut self.works[work];
            idle.clear();
            parked.extend(staff.iter().map(|place| Reverse(*place)));
        } else {
            self.works[work].wanted = executor.vus_max();
        }
    }

    /// Has a VU work in a scenario.
    pub(super) fn employ(&mut self, work: usize, index: u64, slot: usize) {
        let post = Rc::clone(&self.works[work].post);
        let employed = &mut self.slots[slot];
        employed.scenario = work;
        employed.index = index;
        employed.in_scenario = 0;
        employed.post = Some(post);
        self.works[work].staff.push((index, slot));
        self.make_ready(work, slot);
    }

    /// A VU may begin an iteration.
    fn make_ready(&mut self, work: usize, slot: usize) {
        self.works[work].idle.push_back(slot);
        if self.is_arrival(work) {
            self.plan.control.of(work).note_idle();
        }
    }

    pub(super) fn is_arrival(&self, work: usize) -> bool {
        matches!(self.plan.scenarios[work].executor, Executor::ArrivalRate { .. })
    }

    /// A VU has ended its iteration, or its rest: it may begin another.
    pub(super) fn set_idle(&mut self, slot: usize) {
        let idle = &mut self.slots[slot];
        idle.state = State::Idle;
        idle.until = None;
        let (work, done) = (idle.scenario, idle.in_scenario);
        self.works[work].busy -= 1;
        match &self.plan.scenarios[work].executor {
            Executor::PerVuIterations { iterations, .. } if done >= *iterations => {
                self.works[work].finished += 1;
                self.close_all_sockets(slot, self.world.now());
            }
            _ => self.make_ready(work, slot),
        }
    }

    /// A VU begins an iteration.
    pub(super) fn set_busy(&mut self, slot: usize, now: Nanos) {
        let busy = &mut self.slots[slot];
        busy.state = State::Busy(now);
        let work = busy.scenario;
        self.works[work].busy += 1;
    }

    /// Changes how many VUs a scenario wants. Those it wants no more may go on for `grace`.
    fn ramp(&mut self, work: usize, wanted: u64, now: Nanos, grace: Nanos) {
        let Work { parked, idle, staff, leaving, wanted: before, .. } = &mut self.works[work];
        while let Some(Reverse((_, slot))) =
            parked.peek().copied().filter(|first| first.0.0 < wanted)
        {
            parked.pop();
            idle.push_back(slot);
        }
        if wanted < *before {
            let place = |index: u64| staff.partition_point(|(known, _)| *known < index);
            let since = now.saturating_add(grace);
            leaving.extend((place(wanted)..place(*before)).map(|place| (since, place)));
        }
        *before = wanted;
    }

    /// Ends iterations of VUs that have not been wanted for long enough.
    fn end_left(&mut self, work: usize, now: Nanos) {
        let Executor::RampingVus { graceful_ramp_down: grace, .. } =
            self.plan.scenarios[work].executor
        else {
            return self.end_unwanted(work, now, Nanos::ZERO);
        };
        self.end_unwanted(work, now, grace);
    }

    fn end_unwanted(&mut self, work: usize, now: Nanos, grace: Nanos) {
        while let Some((until, place)) = self.works[work].leaving.front().copied() {
            if until > now {
                return;
            }
            self.works[work].leaving.pop_front();
            let (index, slot) = self.works[work].staff[place];
            let left = until.saturating_sub(grace);
            // One that was wanted again meanwhile stays, or has begun another iteration since.
            let busy = matches!(self.slots[slot].state, State::Busy(began) if began <= left);
            if busy && index >= self.works[work].wanted {
                self.end_iteration(work, slot);
            }
        }
    }

    /// Whether a scenario has begun all its iterations.
    fn is_done(&self, work: usize) -> bool {
        match &self.plan.scenarios[work].executor {
            Executor::SharedIterations { iterations, .. } => {
                let progress = self.plan.control.of(work);
                progress.begun() >= progress.stripe.count(*iterations)
            }
            Executor::PerVuIterations { .. } => {
                self.works[work].finished == self.works[work].staff.len()
            }
            _ => false,
        }
    }

    /// A scenario is over; iterations that were never begun, since the time was up, are counted, unless the test was stopped.
    fn set_over(&mut self, work: usize) {
        self.works[work].phase = Phase::Over;
        for at in 0..self.works[work].staff.len() {
            let (_, slot) = self.works[work].staff[at];
            if self.slots[slot].scenario == work {
                self.close_all_sockets(slot, self.world.now());
            }
        }
        if self.stopping.is_some() || self.plan.control.is_halted() {
            return;
        }
        let undone = match &self.plan.scenarios[work].executor {
            Executor::PerVuIterations { iterations, .. } => {
                let staff = self.works[work].staff.iter();
                let begun = staff.map(|(_, slot)| self.slots[*slot].in_scenario);
                begun.map(|begun| iterations.saturating_sub(begun)).sum()
            }
            // The first who comes here counts them for all.
            Executor::SharedIterations { iterations, .. } => {
                let progress = self.plan.control.of(work);
                progress.take_rest(progress.stripe.count(*iterations))
            }
            _ => 0,
        };
        self.drop_iterations(work, undone);
    }

    fn drop_iterations(&mut self, work: usize, count: u64) {
        if count > 0 && self.plan.stage == Stage::Iteration {
            let value = (metrics::tally::MetricId::DROPPED_ITERATIONS, count as f64);
            self.record_own(work, value);
        }
    }

    /// Counts a value that is no VU's.
    pub(super) fn record_own(&mut self, work: usize, value: (metrics::tally::MetricId, f64)) {
        let sampled = Sampled { work, vu: 0, iteration: 0 };
        let outside = Rc::clone(&self.recorder.outside);
        let at = crate::host::Host::sampled_at(&*self.world);
        let around = Around { at, group: &outside, vu_tags: None, metadata: None };
        self.recorder.own(&mut self.seen.tally, sampled, &around, &[value]);
    }

    /// Begins an iteration on each VU that is idle now and may. One that ends its own at once waits for the next turn.
    fn begin_idle(&mut self, work: usize, now: Nanos) {
        if self.works[work].idle.is_empty() {
            return;
        }
        self.publish();
        for _ in 0..self.works[work].idle.len() {
            let Some(slot) = self.works[work].idle.pop_front_if(|_| self.share.is_left()) else {
                return;
            };
            let index = self.slots[slot].index;
            if index >= self.works[work].wanted {
                self.works[work].parked.push(Reverse((index, slot)));
                self.close_all_sockets(slot, now);
                continue;
            }
            let most = match &self.plan.scenarios[work].executor {
                Executor::SharedIterations { iterations, .. } => {
                    self.plan.control.of(work).stripe.count(*iterations)
                }
                _ => u64::MAX,
            };
            let Some(number) = self.plan.control.of(work).take(most) else {
                self.works[work].idle.push_front(slot);
                return;
            };
            self.begin(slot, number, now);
            if self.stopping == Some(Ending::Now) || self.plan.control.is_halted() {
                return;
            }
        }
    }

    /// Begins the iterations that are due; those without a free VU on any worker are dropped.
    fn begin_due(&mut self, work: usize, at: Nanos, now: Nanos) {
        let control = std::sync::Arc::clone(&self.plan.control);
        let progress = control.of(work);
        loop {
            let number = progress.begun();
            let due = self.plan.scenarios[work].executor.due(progress.stripe.number(number));
            let due = due.filter(|due| *due <= at);
            if due.is_none() || control.is_halted() || !self.share.is_left() {
                return;
            }
            let Some(slot) = self.works[work].idle.pop_front() else {
                if progress.has_idle() {
                    return;
                }
                if progress.take_this(number) {
                    self.drop_iterations(work, 1);
                    self.hire_more(work);
                }
                continue;
            };
            if progress.take_this(number) {
                progress.note_busy();
                self.begin(slot, number, now);
            } else {
                self.works[work].idle.push_front(slot);
            }
        }
    }

    /// One more VU, if the scenario may have one.
    fn hire_more(&mut self, work: usize) {
        let Executor::ArrivalRate { vus, vus_max, .. } = self.plan.scenarios[work].executor else {
            return;
        };
        let own = self.plan.segment.vus();
        let (vus, vus_max) = (own.count(vus), own.count(vus_max));
        if !self.plan.control.of(work).may_hire(vus_max.saturating_sub(vus)) {
            return;
        }
        let index = vus + self.works[work].staff.len() as u64;
        if let Some(slot) = self.hire(self.plan.control.next_vu()) {
            self.employ(work, index, slot);
        }
    }

    /// How many VUs are at work: those of arrival rates while they iterate, others as long as their scenario wants them.
    pub(super) fn active(&self) -> usize {
        let running =
            self.works.iter().enumerate().filter(|(_, work)| work.phase == Phase::Running);
        let active = running.map(|(at, work)| {
            let keeps = self.stopping.is_none() && !self.is_arrival(at) && !self.is_done(at);
            work.busy + if keeps { work.idle.len() } else { 0 }
        });
        active.sum()
    }

    /// When there is something to do though nothing was answered.
    pub(super) fn next_wake(&self, now: Nanos, zero: Nanos) -> Option<Nanos> {
        let mut wake = self.first_alarm();
        let mut at_latest = |at: Nanos| wake = Some(wake.map_or(at, |known| known.min(at)));
        for (at, work) in self.works.iter().enumerate().filter(|(_, work)| !work.is_over()) {
            let scenario = &self.plan.scenarios[at];
            let begin = zero.saturating_add(scenario.start);
            at_latest(now.saturating_add(LOOK_STEP));
            if now < begin {
                at_latest(begin);
                continue;
            }
            for moment in [
                begin.saturating_add(scenario.executor.duration()),
                zero.saturating_add(scenario.end()),
            ] {
                if moment > now {
                    at_latest(moment);
                }
            }
            let next = self.next_begin(at, work, now, begin);
            if let Some(next) = next.filter(|_| self.stopping.is_none()) {
                at_latest(next);
            }
        }
        wake
    }

    /// When a scenario may begin its next iteration.
    fn next_begin(&self, at: usize, work: &Work, now: Nanos, begin: Nanos) -> Option<Nanos> {
        let executor = &self.plan.scenarios[at].executor;
        if now >= begin.saturating_add(executor.duration()) {
            return None;
        }
        if self.is_arrival(at) {
            let progress = self.plan.control.of(at);
            let due = begin.saturating_add(executor.due(progress.stripe.number(progress.begun()))?);
            // Where others have VUs to spare, it is theirs.
            let mine = !work.idle.is_empty() || !progress.has_idle();
            return Some(if mine { due } else { due.max(now.saturating_add(OTHERS_STEP)) });
        }
        // A script that waits for nothing goes on at once, after others had their turn.
        if !work.idle.is_empty() && !self.is_done(at) {
            return Some(now);
        }
        let ramps =
            matches!(executor, Executor::RampingVus { .. } | Executor::ExternallyControlled { .. });
        ramps.then(|| now.saturating_add(RAMP_STEP))
    }
}

/// What a scenario is to the script.
pub(super) fn role(plan: &super::CrewPlan, number: usize) -> Option<Rc<Role>> {
    let scenario = &plan.scenarios[number];
    (plan.stage == Stage::Iteration).then(|| {
        Rc::new(Role {
            number,
            name: scenario.name.clone(),
            executor: scenario.executor.name(),
            env: scenario.env.clone(),
            tags: samples::tags_of(plan, scenario),
        })
    })
}
