//! `VuHost`: the [`Host`] of a worker's VUs: time, log, rules of requests, progress of scenarios.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use stdx::Nanos;
use workload::executor::Executor;

use crate::host::execution::{AbortReason, Stage};
use crate::host::traits::{Host, HttpRules, Instance, Level, LogFields};
use crate::pool::control::Control;
use crate::pool::plan::{Clock, Log, PriorStages, VuPoolPlan};
use crate::record::interner::Interner;

/// While the test ends, a script runs so long at most without waiting for a response, a timer or a message.
const UNWAITING_MAX: Nanos = Nanos::from_secs(1);

/// The world of one worker's VUs.
pub(crate) struct VuHost {
    clock: Clock,
    log: Log,
    /// What the clock of the run, and ours, said when they were last compared.
    compared: Cell<(Nanos, Nanos)>,
    deadline: Cell<Nanos>,
    /// How long running iterations may go on after the test is asked to end.
    grace: Cell<Nanos>,
    /// When the VU that runs began or went on last, by our clock.
    resumed: Cell<Nanos>,
    names: RefCell<Interner>,
    /// Outputs want the exact time of each sample.
    exact: bool,
    batch_max: (usize, usize),
    rules: HttpRules,
    control: Arc<Control>,
    /// When the scenarios' clock began.
    zero: Cell<Nanos>,
    /// What there was of the test before.
    earlier: PriorStages,
    is_iteration: bool,
    unix_ms: f64,
    options: Option<Rc<str>>,
    /// When the scenarios begin, and what makes them done.
    scenarios: Vec<(Nanos, Executor)>,
}

impl VuHost {
    pub(crate) fn new(plan: &VuPoolPlan) -> Self {
        let ours = (plan.clock)();
        Self {
            clock: Arc::clone(&plan.clock),
            log: Arc::clone(&plan.log),
            batch_max: plan.http.batch,
            rules: plan.http.rules,
            compared: Cell::new((Nanos::ZERO, ours)),
            deadline: Cell::new(Nanos::MAX),
            grace: Cell::new(Nanos::MAX),
            resumed: Cell::new(ours),
            names: RefCell::default(),
            exact: plan.samples.emit.is_some(),
            control: Arc::clone(&plan.control),
            zero: Cell::new(Nanos::ZERO),
            earlier: plan.work.earlier,
            is_iteration: plan.work.stage == Stage::Iteration,
            unix_ms: plan.unix_ms,
            options: plan.options.as_deref().map(Into::into),
            scenarios: plan
                .work
                .scenarios
                .iter()
                .map(|of| (of.start, of.executor.clone()))
                .collect(),
        }
    }

    /// The run's time is this now.
    pub(crate) fn set_now(&self, now: Nanos) {
        self.compared.set((now, (self.clock)()));
    }

    /// The scenarios' clock began then.
    pub(crate) fn set_zero(&self, zero: Nanos) {
        self.zero.set(zero);
    }

    /// A VU goes on: its script is interrupted at `at` (time of the run), or `grace` after the test is asked to end.
    pub(crate) fn set_deadline(&self, at: Nanos, grace: Nanos) {
        self.deadline.set(at);
        self.grace.set(grace);
        self.resumed.set((self.clock)());
    }

    /// Whether the test was asked to end at least `grace` ago.
    pub(crate) fn is_drained(&self, grace: Nanos) -> bool {
        let since = self.control.drained_at();
        since.is_some_and(|since| (self.clock)() >= since.saturating_add(grace))
    }

    /// Whether the test is to end, and the VU that runs has waited for nothing for [`UNWAITING_MAX`] since. The graceful stop is
    /// for what is under way, not for endless loops.
    fn is_unwaiting(&self) -> bool {
        let begin = self.control.drained_at().map(|since| since.max(self.resumed.get()));
        begin.is_some_and(|begin| (self.clock)() >= begin.saturating_add(UNWAITING_MAX))
    }

    /// How long it is since a time of the run.
    pub(crate) fn elapsed_since(&self, began: Nanos) -> Nanos {
        self.now().saturating_sub(began)
    }
}

impl Host for VuHost {
    fn now(&self) -> Nanos {
        let (run, ours) = self.compared.get();
        run.saturating_add((self.clock)().saturating_sub(ours))
    }

    /// By our clock, not the run's: outputs of all stages of a test have one.
    fn sampled_at(&self) -> Nanos {
        if self.exact { (self.clock)() } else { self.compared.get().1 }
    }

    fn intern(&self, text: &str) -> Rc<str> {
        self.names.borrow_mut().intern(text)
    }

    fn log(&self, level: Level, text: &str) {
        (self.log)(level, text, &[("source", "console")]);
    }

    fn log_event(&self, level: Level, text: &str, fields: LogFields<'_>) {
        (self.log)(level, text, fields);
    }

    fn http_rules(&self) -> HttpRules {
        self.rules
    }

    fn unix_time(&self) -> Nanos {
        Nanos((self.unix_ms * 1e6) as u64).saturating_add((self.clock)())
    }

    fn interrupts(&self) -> bool {
        self.control.is_halted()
            || self.now() >= self.deadline.get()
            || self.is_drained(self.grace.get())
            || self.is_unwaiting()
    }

    fn time_left(&self) -> Nanos {
        match self.deadline.get() {
            Nanos::MAX => Nanos::MAX,
            deadline => deadline.saturating_sub(self.now()),
        }
    }

    fn instance(&self) -> Option<Instance> {
        let duration = self.now().saturating_sub(self.zero.get());
        let duration = self.earlier.elapsed.saturating_add(duration);
        if self.is_iteration {
            return Some(Instance { duration, ..self.control.instance() });
        }
        // VU 0, which calls `setup`, is not counted.
        Some(Instance { duration, initialized: self.earlier.vus, ..Instance::default() })
    }

    fn scenario(&self, number: usize) -> (f64, f64) {
        let Some((start, executor)) = self.scenarios.get(number) else { return (0.0, 0.0) };
        let (run, ours) = self.compared.get();
        let begin = self.zero.get().saturating_add(*start);
        let milliseconds = |time: Nanos| time.0 as f64 / 1e6;
        let began = self.unix_ms + milliseconds(ours) + milliseconds(begin) - milliseconds(run);
        let progress = self.control.of(number);
        let whole = match executor {
            Executor::SharedIterations { iterations, .. } => progress.stripe.count(*iterations),
            Executor::PerVuIterations { vus, iterations, .. } => {
                progress.stripe.count(*vus) * iterations
            }
            _ => 0,
        };
        let (done, whole) = if whole > 0 {
            (progress.ended() as f64, whole as f64)
        } else {
            (self.now().saturating_sub(begin).0 as f64, executor.duration().0 as f64)
        };
        (began.floor(), if whole > 0.0 { (done / whole).clamp(0.0, 1.0) } else { 0.0 })
    }

    fn options(&self) -> Option<Rc<str>> {
        self.options.clone()
    }

    fn halt(&self, halt: AbortReason) {
        self.control.halt(halt);
    }

    fn batch_max(&self) -> (usize, usize) {
        self.batch_max
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use workload::Segment;

    use super::*;
    use crate::http::plan::HttpPlan;
    use crate::pool::plan::WorkPlan;
    use crate::record::plan::SamplePlan;

    /// A host and its clock, which stands.
    fn host() -> (VuHost, Arc<Control>, Arc<AtomicU64>) {
        let (clock, control) =
            (Arc::new(AtomicU64::new(0)), Control::new(&[], &Segment::default()));
        let time = Arc::clone(&clock);
        let plan = VuPoolPlan {
            control: Arc::clone(&control),
            work: WorkPlan::of(Vec::new()),
            http: HttpPlan::default(),
            samples: SamplePlan::default(),
            clock: Arc::new(move || Nanos(time.load(Ordering::Relaxed))),
            log: Arc::new(|_, _, _| {}),
            outcome: Arc::default(),
            options: None,
            unix_ms: 0.0,
        };
        (VuHost::new(&plan), control, clock)
    }

    #[test]
    fn issue_42_one_interrupt_ends_what_waits_for_nothing() {
        let (host, control, clock) = host();
        let at = |ms: u64| clock.store(Nanos::from_millis(ms).0, Ordering::Relaxed);
        let goes_on = || host.set_deadline(Nanos::MAX, Nanos::from_secs(30));
        goes_on();
        at(60_000);
        assert!(!host.interrupts(), "a long iteration, and no end was asked for");
        control.drain(Nanos::from_millis(60_000));
        at(60_999);
        assert!(!host.interrupts());
        at(61_000);
        assert!(host.interrupts(), "an endless loop");
        goes_on();
        at(61_900);
        assert!(!host.interrupts(), "it has waited, and has the graceful stop");
        at(62_000);
        assert!(host.interrupts(), "a loop that begins after the interrupt");
        goes_on();
        at(90_000);
        assert!(host.interrupts(), "the graceful stop is over");
    }
}
