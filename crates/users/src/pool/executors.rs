//! The scenarios' executors: which VUs begin an iteration, and which have to end one. Nothing here looks through all VUs but a
//! scenario's beginning and its end.

use std::rc::Rc;

use metrics::tally::MetricId;
use stdx::Nanos;
use workload::StopMode;
use workload::executor::Executor;

use crate::host::execution::Stage;
use crate::host::traits::{Host as _, Level};
use crate::host::virtual_user::{UserProgram, VirtualUser as _};
use crate::pool::scenario_state::{Phase, ScenarioState};
use crate::pool::slot::{SampleOrigin, State, VuSlot};
use crate::pool::vu_pool::VuPool;
use crate::record::recorder::SampleContext;

impl<P: UserProgram> VuPool<P> {
    /// Begins and ends iterations of all scenarios. Scenarios that end come first: others may have their VUs then.
    pub(crate) fn work(&mut self, now: Nanos, zero: Nanos) {
        if self.plan.control.is_halted() {
            self.stopping = Some(StopMode::Immediate);
        } else if self.plan.control.drained_at().is_some() {
            self.stopping = self.stopping.max(Some(StopMode::Graceful));
        }
        let elapsed = now.saturating_sub(zero);
        for work in 0..self.scenarios.len() {
            // One that has not begun does not begin any more.
            let stops = match self.scenarios[work].phase {
                Phase::Waiting => self.stopping.is_some(),
                _ => self.stopping == Some(StopMode::Immediate),
            };
            let scenario = &self.plan.work.scenarios[work];
            let drained = self.host.is_drained(scenario.graceful_stop);
            let ends = stops || drained || elapsed >= scenario.end();
            if ends && !self.scenarios[work].is_over() {
                self.end_scenario(work);
            }
        }
        for work in 0..self.scenarios.len() {
            let start = self.plan.work.scenarios[work].start;
            if elapsed >= start && !self.scenarios[work].is_over() {
                self.run_scenario(work, elapsed.saturating_sub(start), now);
            }
        }
    }

    /// Whether the load is stopped for now: VUs are where they are.
    pub(crate) fn is_paused(&self) -> bool {
        self.stopping.is_none() && self.plan.control.is_paused()
    }

    /// Ends all iterations of a scenario.
    fn end_scenario(&mut self, work: usize) {
        for at in 0..self.scenarios[work].staff.len() {
            let (_, slot) = self.scenarios[work].staff[at];
            self.end_iteration(work, slot);
        }
        self.set_over(work);
    }

    /// Nothing begins any more: VUs that rest become idle.
    fn end_rests(&mut self, work: usize) {
        for at in 0..self.scenarios[work].staff.len() {
            let (_, slot) = self.scenarios[work].staff[at];
            if self.slots[slot].scenario == work && self.slots[slot].state == State::Resting {
                self.set_idle(slot);
            }
        }
    }

    /// Ends an iteration of a VU that works there, if one is under way.
    fn end_iteration(&mut self, work: usize, slot: VuSlot) {
        if self.slots[slot].scenario != work {
            return;
        }
        match self.slots[slot].state {
            State::Busy(_) => {
                // Whatever it waits for comes too late.
                self.slots[slot].vu.stop();
                self.start_actions(slot);
                self.take_samples(slot);
                self.end_cut(slot);
            }
            State::Resting => self.set_idle(slot),
            State::Idle => {}
        }
    }

    fn run_scenario(&mut self, work: usize, at: Nanos, now: Nanos) {
        if self.scenarios[work].phase == Phase::Waiting {
            self.assign_vus(work);
        }
        let begins = self.stopping.is_none() && at < self.scenarios[work].duration;
        if begins {
            self.begin_iterations(work, at, now);
        } else if self.scenarios[work].phase == Phase::Running {
            self.begin_last(work, at, now);
            self.scenarios[work].phase = Phase::Ending;
        }
        if !begins && self.scenarios[work].busy > 0 {
            self.end_rests(work);
        }
        self.end_left(work, now);
        if self.scenarios[work].busy == 0 && (!begins || self.is_done(work)) {
            self.set_over(work);
        }
    }

    /// Begins what may begin now.
    fn begin_iterations(&mut self, work: usize, at: Nanos, now: Nanos) {
        if self.is_paused() {
            return self.skip_due(work, at);
        }
        let executor = &self.plan.work.scenarios[work].executor;
        match executor {
            Executor::ArrivalRate { .. } => {
                self.publish();
                self.begin_due(work, at, now);
            }
            Executor::RampingVus { graceful_ramp_down, .. } => {
                let wanted = self.plan.work.segment.vus().count(executor.vus_at(at));
                let until = now.saturating_add(*graceful_ramp_down);
                self.ramp(work, wanted, until);
                self.begin_idle(work, now);
            }
            Executor::ExternallyControlled { vus_max, .. } => {
                let wanted = self.plan.control.of(work).wanted().min(*vus_max);
                let wanted = self.plan.work.segment.vus().count(wanted);
                self.ramp(work, wanted, now);
                self.begin_idle(work, now);
            }
            _ => self.begin_idle(work, now),
        }
    }

    /// A scenario's time is up: what was due before begins, and a ramp makes its last step.
    fn begin_last(&mut self, work: usize, at: Nanos, now: Nanos) {
        if self.stopping.is_some() {
            return;
        }
        if self.is_paused() {
            return self.skip_due(work, self.scenarios[work].duration);
        }
        let executor = &self.plan.work.scenarios[work].executor;
        let duration = self.scenarios[work].duration;
        match executor {
            Executor::ArrivalRate { .. } => {
                self.publish();
                self.begin_due(work, duration, now);
            }
            Executor::RampingVus { graceful_ramp_down, .. } => {
                let wanted = self.plan.work.segment.vus().count(executor.vus_at_end().unwrap_or(0));
                let ended = now.saturating_sub(at.saturating_sub(duration));
                let until = ended.saturating_add(*graceful_ramp_down);
                self.ramp(work, wanted, until);
            }
            _ => {}
        }
    }

    /// Gives a scenario that begins its VUs.
    fn assign_vus(&mut self, work: usize) {
        self.scenarios[work].phase = Phase::Running;
        let control = std::sync::Arc::clone(&self.plan.control);
        for (index, number) in control.staff.numbers[work].iter().enumerate() {
            if let Some(slot) = self.slot_of(*number) {
                self.assign(work, index as u64, slot);
            }
        }
        let executor = &self.plan.work.scenarios[work].executor;
        let ramps =
            matches!(executor, Executor::RampingVus { .. } | Executor::ExternallyControlled { .. });
        if ramps {
            let ScenarioState { idle, ramp, staff, .. } = &mut self.scenarios[work];
            idle.clear();
            staff.iter().for_each(|(index, slot)| ramp.park(*index, *slot));
        } else {
            self.scenarios[work].ramp.wanted = executor.vus_max();
        }
    }

    /// Assigns a VU to a scenario.
    pub(crate) fn assign(&mut self, work: usize, index: u64, slot: VuSlot) {
        let assignment = Rc::clone(&self.scenarios[work].assignment);
        let employed = &mut self.slots[slot];
        employed.scenario = work;
        employed.index = index;
        employed.in_scenario = 0;
        employed.assignment = Some(assignment);
        self.scenarios[work].staff.push((index, slot));
        self.make_ready(work, slot);
    }

    /// A VU may begin an iteration.
    fn make_ready(&mut self, work: usize, slot: VuSlot) {
        self.scenarios[work].idle.push_back(slot);
        if self.is_arrival(work) {
            self.plan.control.of(work).note_idle();
        }
    }

    pub(crate) fn is_arrival(&self, work: usize) -> bool {
        matches!(self.plan.work.scenarios[work].executor, Executor::ArrivalRate { .. })
    }

    /// A VU has ended its iteration, or its rest: it may begin another.
    pub(crate) fn set_idle(&mut self, slot: VuSlot) {
        let idle = &mut self.slots[slot];
        idle.state = State::Idle;
        idle.until = None;
        let (work, done) = (idle.scenario, idle.in_scenario);
        self.scenarios[work].busy -= 1;
        match &self.plan.work.scenarios[work].executor {
            Executor::PerVuIterations { iterations, .. } if done >= *iterations => {
                self.scenarios[work].finished += 1;
                self.close_all_sockets(slot, self.host.now());
            }
            _ => self.make_ready(work, slot),
        }
    }

    /// A VU begins an iteration.
    pub(crate) fn set_busy(&mut self, slot: VuSlot, now: Nanos) {
        let busy = &mut self.slots[slot];
        busy.state = State::Busy(now);
        let work = busy.scenario;
        self.scenarios[work].busy += 1;
    }

    /// Changes how many VUs a scenario wants. Those it wants no more may go on until then.
    fn ramp(&mut self, work: usize, wanted: u64, until: Nanos) {
        let ScenarioState { ramp, staff, idle, .. } = &mut self.scenarios[work];
        if wanted != ramp.wanted {
            ramp.want(wanted, until, staff, idle);
        }
    }

    /// Ends iterations of VUs that have not been wanted for long enough.
    fn end_left(&mut self, work: usize, now: Nanos) {
        while let Some(place) = self.scenarios[work].ramp.pop_left(now) {
            let (_, slot) = self.scenarios[work].staff[place];
            self.end_iteration(work, slot);
        }
    }

    /// Whether a scenario has begun all its iterations.
    pub(crate) fn is_done(&self, work: usize) -> bool {
        match &self.plan.work.scenarios[work].executor {
            Executor::SharedIterations { iterations, .. } => {
                let progress = self.plan.control.of(work);
                progress.begun() >= progress.stripe.count(*iterations)
            }
            Executor::PerVuIterations { .. } => {
                self.scenarios[work].finished == self.scenarios[work].staff.len()
            }
            _ => false,
        }
    }

    /// A scenario is over; iterations that were never begun, since the time was up, are counted, unless the test was stopped.
    fn set_over(&mut self, work: usize) {
        self.scenarios[work].phase = Phase::Over;
        for at in 0..self.scenarios[work].staff.len() {
            let (_, slot) = self.scenarios[work].staff[at];
            if self.slots[slot].scenario == work {
                self.close_all_sockets(slot, self.host.now());
            }
        }
        if self.stopping.is_some() || self.plan.control.is_halted() {
            return;
        }
        let undone = match &self.plan.work.scenarios[work].executor {
            Executor::PerVuIterations { iterations, .. } => {
                let staff = self.scenarios[work].staff.iter();
                let begun = staff.map(|(_, slot)| self.slots[*slot].in_scenario);
                begun.map(|begun| iterations.saturating_sub(begun)).sum()
            }
            // The first pool that comes here counts them for all.
            Executor::SharedIterations { iterations, .. } => {
                let progress = self.plan.control.of(work);
                progress.take_rest(progress.stripe.count(*iterations))
            }
            _ => 0,
        };
        self.drop_iterations(work, undone);
    }

    fn drop_iterations(&mut self, work: usize, count: u64) {
        if count > 0 && self.plan.work.stage == Stage::Iteration {
            let value = (MetricId::DROPPED_ITERATIONS, count as f64);
            self.record_own(work, value);
        }
    }

    /// Records a value that belongs to no VU.
    pub(crate) fn record_own(&mut self, work: usize, value: (MetricId, f64)) {
        let sampled = SampleOrigin { work, vu: 0, iteration: 0 };
        let outside = Rc::clone(&self.recorder.outside);
        let at = self.host.sampled_at();
        let around = SampleContext { at, group: &outside, vu_tags: None, metadata: None };
        self.recorder.own(sampled, &around, &[value]);
    }

    /// Begins an iteration on each VU that is idle now and may. One that ends its own at once waits for the next turn.
    fn begin_idle(&mut self, work: usize, now: Nanos) {
        if self.scenarios[work].idle.is_empty() {
            return;
        }
        self.publish();
        for _ in 0..self.scenarios[work].idle.len() {
            let Some(slot) = self.scenarios[work].idle.pop_front_if(|_| self.budget.is_left())
            else {
                return;
            };
            let index = self.slots[slot].index;
            if index >= self.scenarios[work].ramp.wanted {
                self.scenarios[work].ramp.park(index, slot);
                self.close_all_sockets(slot, now);
                continue;
            }
            let most = match &self.plan.work.scenarios[work].executor {
                Executor::SharedIterations { iterations, .. } => {
                    self.plan.control.of(work).stripe.count(*iterations)
                }
                _ => u64::MAX,
            };
            let Some(number) = self.plan.control.of(work).take(most) else {
                self.scenarios[work].idle.push_front(slot);
                return;
            };
            self.begin(slot, number, now);
            if self.stopping == Some(StopMode::Immediate) || self.plan.control.is_halted() {
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
            let due = self.plan.work.scenarios[work].executor.due(progress.stripe.number(number));
            let due = due.filter(|due| *due <= at);
            if due.is_none() || control.is_halted() || !self.budget.is_left() {
                return;
            }
            let Some(slot) = self.scenarios[work].idle.pop_front() else {
                if progress.has_idle() {
                    return;
                }
                if progress.take_this(number) {
                    self.note_due();
                    self.drop_iterations(work, 1);
                    self.not_begun += u64::from(self.plan.work.stage == Stage::Iteration);
                    self.spawn_extra_vu(work);
                }
                continue;
            };
            if progress.take_this(number) {
                self.note_due();
                progress.note_busy();
                self.begin(slot, number, now);
            } else {
                self.scenarios[work].idle.push_front(slot);
            }
        }
    }

    fn note_due(&mut self) {
        self.due_and_ended.0 += u64::from(self.plan.work.stage == Stage::Iteration);
    }

    /// The load is paused: what an arrival rate has due meanwhile is not asked for, and so not missed.
    fn skip_due(&self, work: usize, at: Nanos) {
        if !self.is_arrival(work) {
            return;
        }
        let progress = self.plan.control.of(work);
        loop {
            let number = progress.begun();
            let due = self.plan.work.scenarios[work].executor.due(progress.stripe.number(number));
            if due.is_none_or(|due| due > at) {
                return;
            }
            // Another worker may have been first.
            progress.take_this(number);
        }
    }

    /// One more VU, if the scenario may have one.
    fn spawn_extra_vu(&mut self, work: usize) {
        let Executor::ArrivalRate { vus, vus_max, .. } = self.plan.work.scenarios[work].executor
        else {
            return;
        };
        let own = self.plan.work.segment.vus();
        let (vus, vus_max) = (own.count(vus), own.count(vus_max));
        if !self.plan.control.of(work).may_hire(vus_max.saturating_sub(vus)) {
            return self.warn_of_few_vus(work, vus_max);
        }
        let index = vus + self.scenarios[work].staff.len() as u64;
        if let Some(slot) = self.spawn_vu(self.plan.control.next_vu()) {
            self.assign(work, index, slot);
        }
    }

    /// Warns once for a scenario that more VUs are wanted than it may have, as k6 does.
    fn warn_of_few_vus(&self, work: usize, vus_max: u64) {
        if self.plan.work.stage != Stage::Iteration || !self.plan.control.of(work).is_first_lack() {
            return;
        }
        let scenario = &self.plan.work.scenarios[work];
        let text =
            format!("Insufficient VUs, reached {vus_max} active VUs and cannot initialize more");
        let fields = [("executor", scenario.executor.name()), ("scenario", &*scenario.name)];
        (self.plan.log)(Level::Warn, &text, &fields);
    }

    /// How many VUs are at work: those of arrival rates while they iterate, others as long as their scenario wants them.
    pub(crate) fn active(&self) -> usize {
        let active = self.scenarios.iter().enumerate().map(|(at, work)| {
            let keeps = work.phase == Phase::Running
                && self.stopping.is_none()
                && !self.is_arrival(at)
                && !self.is_done(at);
            work.busy + if keeps { work.idle.len() } else { 0 }
        });
        active.sum()
    }
}
