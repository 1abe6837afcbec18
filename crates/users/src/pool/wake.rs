//! When a pool has something to do: which VUs sleep until when, and when a scenario goes on.

use std::cmp::Reverse;

use stdx::Nanos;
use workload::PollBudget;
use workload::executor::Executor;

use crate::host::virtual_user::UserProgram;
use crate::pool::scenario_state::ScenarioState;
use crate::pool::slot::{State, VuSlot};
use crate::pool::users::TURN_BYTES;
use crate::pool::vu_pool::VuPool;

/// How often the number of VUs that is set from outside (the REST API) is read.
const CONTROL_STEP: Nanos = Nanos::from_millis(10);
/// Changes of a ramp that come faster than this are made together.
const RAMP_STEP: Nanos = Nanos::from_millis(1);
/// A due iteration that another pool can begin is looked at again after this time.
const OTHERS_STEP: Nanos = Nanos::from_millis(1);
/// The state that pools share (progress, the end of the test) is looked at this often.
const LOOK_STEP: Nanos = Nanos::from_millis(50);

impl<P: UserProgram> VuPool<P> {
    /// When the next VU is to be woken, or the next request sent that was held back.
    fn first_alarm(&self) -> Option<Nanos> {
        let alarm = self.sleepers.peek().map(|Reverse((at, _))| *at);
        alarm.into_iter().chain(self.held.front().map(|(at, ..)| *at)).min()
    }

    pub(crate) fn wake_sleepers(&mut self, now: Nanos) {
        while let Some(Reverse((at, slot))) = self.sleepers.peek().copied() {
            if at > now || !self.budget.is_left() || self.commands.bytes.len() >= TURN_BYTES {
                return;
            }
            self.sleepers.pop();
            if self.slots[slot].alarm == Some(at) {
                self.slots[slot].alarm = None;
            }
            match (self.slots[slot].until, self.slots[slot].state) {
                // It has other plans by now.
                (None, _) | (_, State::Idle) => {}
                (Some(until), _) if until > now => self.wake_at(slot, until),
                (Some(_), State::Busy(_)) => {
                    self.budget.spend(PollBudget::CONNECTION);
                    self.wake(slot, now);
                }
                (Some(_), State::Resting) => self.set_idle(slot),
            }
        }
    }

    /// Schedules a VU's wake-up. It enters the queue only if the new time is earlier, so that a VU that changes it often has few
    /// entries.
    pub(crate) fn wake_at(&mut self, slot: VuSlot, until: Nanos) {
        let asleep = &mut self.slots[slot];
        asleep.until = Some(until);
        if asleep.alarm.is_none_or(|alarm| until < alarm) {
            asleep.alarm = Some(until);
            self.sleepers.push(Reverse((until, slot)));
        }
    }

    /// When there is something to do though nothing was answered.
    pub(crate) fn next_wake(&self, now: Nanos, zero: Nanos) -> Option<Nanos> {
        let mut wake = self.first_alarm();
        let mut at_latest = |at: Nanos| wake = Some(wake.map_or(at, |known| known.min(at)));
        if self.gauges() {
            at_latest(zero.saturating_add(self.periods.gauges_at - self.plan.work.earlier.elapsed));
        }
        for (at, work) in self.scenarios.iter().enumerate().filter(|(_, work)| !work.is_over()) {
            let scenario = &self.plan.work.scenarios[at];
            let begin = zero.saturating_add(scenario.start);
            at_latest(now.saturating_add(LOOK_STEP));
            if now < begin {
                at_latest(begin);
                continue;
            }
            for moment in [begin.saturating_add(work.duration), zero.saturating_add(scenario.end())]
            {
                if moment > now {
                    at_latest(moment);
                }
            }
            let next = self.next_begin(at, work, now, begin);
            if let Some(next) = next.filter(|_| self.stopping.is_none()) {
                at_latest(next);
            }
            work.ramp.next_leave().into_iter().for_each(&mut at_latest);
        }
        wake
    }

    /// When a scenario may begin its next iteration.
    fn next_begin(
        &self,
        at: usize,
        work: &ScenarioState,
        now: Nanos,
        begin: Nanos,
    ) -> Option<Nanos> {
        let executor = &self.plan.work.scenarios[at].executor;
        if now >= begin.saturating_add(work.duration) {
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
        match executor {
            Executor::RampingVus { .. } => {
                let change = executor.next_change(now.saturating_sub(begin))?;
                Some(begin.saturating_add(change).max(now.saturating_add(RAMP_STEP)))
            }
            Executor::ExternallyControlled { .. } => Some(now.saturating_add(CONTROL_STEP)),
            _ => None,
        }
    }
}
