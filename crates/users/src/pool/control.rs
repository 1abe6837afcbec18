//! `Control`: what the pools of a stage share: how far its scenarios are, and whether it is to end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stdx::Nanos;
use workload::executor::{Executor, Scenario};
use workload::{Segment, SegmentSlice, VuAssignment};

use crate::host::execution::AbortReason;
use crate::host::traits::Instance;

/// Whether a load stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// It does.
    Yes,
    /// It goes on.
    No,
}

/// How often a pool that is held or paused looks whether it may go on.
pub(crate) const HOLD_STEP: Nanos = Nanos::from_millis(10);

/// What the pools of a stage share. Its holder may end the stage, or change how many VUs there are.
#[derive(Debug)]
pub struct Control {
    scenarios: Vec<ScenarioProgress>,
    /// The VUs of each scenario.
    pub(crate) staff: VuAssignment,
    /// The number of the last VU.
    last_vu: AtomicU64,
    halted: AtomicBool,
    /// No VU goes on, and none begins.
    paused: AtomicBool,
    /// A socket was refused.
    refused: AtomicBool,
    /// When the first pool began, on the plan's clock; `u64::MAX` while none has.
    began_at: AtomicU64,
    /// When the first pool may begin, on the plan's clock; `u64::MAX` while that is not known.
    not_before: AtomicU64,
    /// When the end was asked for, on the plan's clock; `u64::MAX` for never.
    drained_at: AtomicU64,
    halt: Mutex<AbortReasons>,
    counters: Mutex<Vec<Arc<Counters>>>,
}

/// Why it is to end.
#[derive(Clone, Debug, Default)]
struct AbortReasons {
    aborted: Option<String>,
    broken: Option<String>,
    not_json: Option<String>,
    failed: Option<String>,
}

/// How far a scenario is. Each has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ScenarioProgress {
    /// Which of the iterations are ours.
    pub(crate) stripe: SegmentSlice,
    /// Iterations that were begun, or dropped.
    begun: AtomicU64,
    /// Iterations that have ended.
    ended: AtomicU64,
    /// VUs that may begin an iteration of an arrival rate.
    idle: AtomicU64,
    /// VUs that were made since those of an arrival rate were all busy.
    hired: AtomicU64,
    /// More VUs were wanted than there may be.
    lacks_vus: AtomicBool,
    /// How many VUs of an externally controlled scenario are wanted.
    wanted: AtomicU64,
}

/// What one pool has counted. It alone writes them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    pub(crate) completed: AtomicU64,
    pub(crate) interrupted: AtomicU64,
    pub(crate) active: AtomicU64,
    pub(crate) initialized: AtomicU64,
}

impl Control {
    /// Whether a socket was refused for the first time.
    pub(crate) fn is_first_refusal(&self) -> bool {
        !self.refused.swap(true, Ordering::Relaxed)
    }

    /// Of scenarios that have not begun, and of which this segment is ours.
    #[must_use]
    pub fn new(scenarios: &[Scenario], segment: &Segment) -> Arc<Self> {
        let staff = VuAssignment::new(scenarios, segment);
        let progress = scenarios.iter().map(|scenario| {
            let wanted = match scenario.executor {
                Executor::ExternallyControlled { vus, .. } => vus,
                _ => 0,
            };
            let stripe = stripe(&scenario.executor, segment);
            ScenarioProgress {
                stripe,
                wanted: AtomicU64::new(wanted),
                ..ScenarioProgress::default()
            }
        });
        Arc::new(Self {
            scenarios: progress.collect(),
            last_vu: AtomicU64::new(staff.total),
            staff,
            halted: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            refused: AtomicBool::new(false),
            began_at: AtomicU64::new(u64::MAX),
            not_before: AtomicU64::new(0),
            drained_at: AtomicU64::new(u64::MAX),
            halt: Mutex::default(),
            counters: Mutex::default(),
        })
    }

    /// Notes why it is to end. Of several reasons the first stays.
    pub fn halt(&self, halt: AbortReason) {
        let mut ends = self.ends();
        match halt {
            AbortReason::Abort(text) => {
                ends.aborted.get_or_insert(text);
                self.halted.store(true, Ordering::Relaxed);
            }
            AbortReason::Broken(text) => {
                ends.broken.get_or_insert(text);
                self.halted.store(true, Ordering::Relaxed);
            }
            AbortReason::NotJson(text) => drop(ends.not_json.get_or_insert(text)),
            AbortReason::Fail(text) => drop(ends.failed.get_or_insert(text)),
        }
    }

    /// Ends the test gracefully from `now` on (the plan's clock): no iteration begins, and those under way have the graceful stop
    /// of their scenario to end by themselves; then they are interrupted, endless loops too. Only the first call has an effect.
    pub fn drain(&self, now: Nanos) {
        self.drained_at.fetch_min(now.0, Ordering::Relaxed);
    }

    /// Stops the load, or lets it go on: meanwhile no VU sends anything, and iterations of arrival rates that fall due are neither
    /// begun nor dropped. The clock of the scenarios goes on, so that a pause does not move their end.
    pub fn set_paused(&self, paused: Paused) {
        self.paused.store(paused == Paused::Yes, Ordering::Relaxed);
    }

    /// Whether the load is stopped for now. What ends is not.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed) && !self.is_halted() && self.drained_at().is_none()
    }

    /// No pool begins before [`Control::release`]; VUs are made all the same.
    pub fn hold(&self) {
        self.not_before.store(u64::MAX, Ordering::Relaxed);
    }

    /// The pools begin at this time on the plan's clock.
    pub fn release(&self, at: Nanos) {
        self.not_before.store(at.0, Ordering::Relaxed);
    }

    /// How long a pool waits until it looks again whether it may begin; `None` where it may.
    pub(crate) fn held_for(&self, now: Nanos) -> Option<Nanos> {
        let at = self.not_before.load(Ordering::Relaxed);
        if at <= now.0 || self.is_halted() || self.drained_at().is_some() {
            return None;
        }
        Some(Nanos(at - now.0).min(HOLD_STEP))
    }

    /// A pool has made its VUs, and begins.
    pub fn begin(&self, now: Nanos) {
        self.began_at.fetch_min(now.0, Ordering::Relaxed);
    }

    /// When the stage began, on the plan's clock: once VUs were made; `None` while it has not.
    #[must_use]
    pub fn began_at(&self) -> Option<Nanos> {
        let at = self.began_at.load(Ordering::Relaxed);
        (at != u64::MAX).then_some(Nanos(at))
    }

    /// How many VUs there are from the start.
    #[must_use]
    pub fn staffed(&self) -> u64 {
        self.staff.total
    }

    /// Ends everything at once, for a reason from outside of the script.
    pub fn interrupt(&self) {
        self.halted.store(true, Ordering::Relaxed);
    }

    /// When the end was asked for, on the plan's clock; `None` for never.
    pub(crate) fn drained_at(&self) -> Option<Nanos> {
        let at = self.drained_at.load(Ordering::Relaxed);
        (at != u64::MAX).then_some(Nanos(at))
    }

    /// Whether everything under way is to end at once.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Why it was aborted, if it was.
    #[must_use]
    pub fn aborted(&self) -> Option<String> {
        self.ends().aborted.clone()
    }

    /// Why no VU could be made, if none could.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        self.ends().broken.clone()
    }

    /// Why what `setup` returned cannot be JSON, if it cannot.
    #[must_use]
    pub fn not_json(&self) -> Option<String> {
        self.ends().not_json.clone()
    }

    /// Why it is a failed one, if it is.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.ends().failed.clone()
    }

    /// Changes how many VUs of externally controlled scenarios are wanted.
    pub fn scale(&self, vus: u64) {
        self.scenarios.iter().for_each(|of| of.wanted.store(vus, Ordering::Relaxed));
    }

    /// What was counted so far, but for the duration, which the caller knows.
    #[must_use]
    pub fn instance(&self) -> Instance {
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = |of: fn(&Counters) -> &AtomicU64| {
            counters.iter().map(|one| of(one).load(Ordering::Relaxed)).sum()
        };
        Instance {
            completed: sum(|of| &of.completed),
            interrupted: sum(|of| &of.interrupted),
            active: sum(|of| &of.active),
            initialized: sum(|of| &of.initialized),
            ..Instance::default()
        }
    }

    fn ends(&self) -> MutexGuard<'_, AbortReasons> {
        self.halt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets what pools of another machine, by its number, have counted.
    pub fn count_elsewhere(&self, machine: usize, seen: &Instance) {
        let mut all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        while all.len() <= machine {
            all.push(Arc::default());
        }
        let Counters { completed, interrupted, active, initialized } = &*all[machine];
        completed.store(seen.completed, Ordering::Relaxed);
        interrupted.store(seen.interrupted, Ordering::Relaxed);
        active.store(seen.active, Ordering::Relaxed);
        initialized.store(seen.initialized, Ordering::Relaxed);
    }

    /// Counters of one more pool.
    pub(crate) fn join(&self) -> Arc<Counters> {
        let counters = Arc::new(Counters::default());
        let mut all = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(Arc::clone(&counters));
        counters
    }

    pub(crate) fn of(&self, scenario: usize) -> &ScenarioProgress {
        &self.scenarios[scenario]
    }

    /// The number of one more VU.
    pub(crate) fn next_vu(&self) -> u64 {
        self.last_vu.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Which of a scenario's iterations are a segment's.
fn stripe(executor: &Executor, segment: &Segment) -> SegmentSlice {
    match executor {
        Executor::SharedIterations { vus, .. } => segment.shared_by(*vus),
        Executor::ArrivalRate { vus_max, .. } => segment.shared_by(*vus_max),
        _ => segment.vus().clone(),
    }
}

impl ScenarioProgress {
    /// The number of the iteration that is begun now, if there are fewer than `most`.
    pub(crate) fn take(&self, most: u64) -> Option<u64> {
        let next = |begun: u64| (begun < most).then_some(begun + 1);
        self.begun.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok()
    }

    /// Takes exactly this iteration; false where another pool has.
    pub(crate) fn take_this(&self, number: u64) -> bool {
        let (relaxed, next) = (Ordering::Relaxed, number + 1);
        self.begun.compare_exchange(number, next, relaxed, relaxed).is_ok()
    }

    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Takes all that is left of `most`; gives how many that are.
    pub(crate) fn take_rest(&self, most: u64) -> u64 {
        most.saturating_sub(self.begun.swap(most, Ordering::Relaxed))
    }

    pub(crate) fn note_end(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn note_idle(&self) {
        self.idle.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_busy(&self) {
        self.idle.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn has_idle(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Whether one more VU may be made, of `most`.
    pub(crate) fn may_hire(&self, most: u64) -> bool {
        let next = |hired: u64| (hired < most).then_some(hired + 1);
        self.hired.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).is_ok()
    }

    /// Whether VUs lack for the first time.
    pub(crate) fn is_first_lack(&self) -> bool {
        !self.lacks_vus.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn wanted(&self) -> u64 {
        self.wanted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_held_until_they_are_released() {
        let control = Control::new(&[], &Segment::default());
        assert_eq!(control.held_for(Nanos(5)), None);
        control.hold();
        assert_eq!(control.held_for(Nanos(5)), Some(HOLD_STEP));
        control.release(Nanos(105));
        assert_eq!(control.held_for(Nanos(5)), Some(Nanos(100)));
        assert_eq!(control.held_for(Nanos(105)), None);
    }

    #[test]
    fn crews_share_iterations_and_end_together() {
        let control = Control::new(&[], &Segment::default());
        let progress = ScenarioProgress::default();
        assert_eq!(
            (progress.take(2), progress.take(2), progress.take(2)),
            (Some(0), Some(1), None)
        );
        assert_eq!((progress.take_rest(5), progress.take_rest(5)), (3, 0));
        assert!(progress.take_this(5) && !progress.take_this(5));
        control.halt(AbortReason::Fail("one".to_owned()));
        assert!(!control.is_halted());
        control.halt(AbortReason::Abort("two".to_owned()));
        control.halt(AbortReason::Abort("three".to_owned()));
        assert!(control.is_halted());
        assert_eq!(
            (control.failed().as_deref(), control.aborted().as_deref()),
            (Some("one"), Some("two"))
        );
        assert_eq!(control.drained_at(), None);
        control.drain(Nanos(5));
        control.drain(Nanos(7));
        assert_eq!(control.drained_at(), Some(Nanos(5)), "the first time counts");
        assert_eq!(control.held_for(Nanos(1)), None, "what ends is not held");
        control.count_elsewhere(1, &Instance { active: 0, ..Instance::default() });
        control.join().active.store(2, Ordering::Relaxed);
        control.join().active.store(3, Ordering::Relaxed);
        assert_eq!(control.instance().active, 5);
    }
}
