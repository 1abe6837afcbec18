//! `StartGate`: the workers of a run make themselves ready, and wait for the instant of its start. No time of the run passes
//! before all of them are ready.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::orders::Orders;

/// The start of a run, on both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) start: Instant,
    /// Unix time, in nanoseconds.
    pub(crate) epoch: i64,
}

/// Where the workers of one run wait.
#[derive(Debug)]
pub(crate) struct StartGate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Workers that are not ready yet.
    preparing: usize,
    order: Order,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Wait,
    Start(Clock),
    /// The run will not start.
    End,
}

/// A worker that makes itself ready. One that panics is not waited for.
#[derive(Debug)]
pub(crate) struct Preparing<'a>(&'a StartGate);

impl StartGate {
    /// A gate for so many workers.
    pub(crate) fn new(workers: usize) -> Self {
        let state = State { preparing: workers, order: Order::Wait };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A worker begins to make itself ready.
    pub(crate) fn preparing(&self) -> Preparing<'_> {
        Preparing(self)
    }

    /// Waits until each worker is ready.
    pub(crate) fn wait_for_workers(&self) {
        let state = self.changed.wait_while(self.lock(), |state| state.preparing > 0);
        drop(state.unwrap_or_else(PoisonError::into_inner));
    }

    /// Gives the workers the start of the run.
    pub(crate) fn start(&self, clock: Clock) {
        self.lock().order = Order::Start(clock);
        self.changed.notify_all();
    }

    /// Sends the workers home, unless the run has started.
    pub(crate) fn end(&self) {
        let mut state = self.lock();
        if matches!(state.order, Order::Wait) {
            state.order = Order::End;
        }
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Preparing<'_> {
    /// The worker is ready. Waits for the start of the run; `None` where there is none.
    pub(crate) fn wait(self) -> Option<Clock> {
        let gate = self.0;
        drop(self);
        let is_waiting = |state: &mut State| matches!(state.order, Order::Wait);
        let state = gate.changed.wait_while(gate.lock(), is_waiting);
        match state.unwrap_or_else(PoisonError::into_inner).order {
            Order::Start(clock) => Some(clock),
            Order::Wait | Order::End => None,
        }
    }
}

impl Drop for Preparing<'_> {
    fn drop(&mut self) {
        self.0.lock().preparing -= 1;
        self.0.changed.notify_all();
    }
}

/// How often a worker that waits for the start of the run checks for an order to stop.
const STOP_CHECK: Duration = Duration::from_millis(50);

impl Clock {
    /// Waits for the start of the run, or for an order to stop.
    pub(crate) fn wait(self, orders: &Orders) {
        loop {
            let left = self.start.saturating_duration_since(Instant::now());
            if left.is_zero() || orders.is_stop_requested() {
                return;
            }
            std::thread::sleep(left.min(STOP_CHECK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_issue_41_the_clock_starts_after_the_slowest_worker() {
        let gate = StartGate::new(2);
        let (release, held) = std::sync::mpsc::sync_channel::<()>(1);
        let waiting = &gate;
        std::thread::scope(|scope| {
            let quick = scope.spawn(|| gate.preparing().wait());
            let slow = scope.spawn(move || {
                let preparing = waiting.preparing();
                held.recv().expect("it is released");
                let ready = Instant::now();
                (ready, preparing.wait())
            });
            scope.spawn(move || release.send(()));
            gate.wait_for_workers();
            let start = Instant::now();
            gate.start(Clock { start, epoch: 1 });
            let (ready, clock) = slow.join().expect("it ends");
            assert!(start >= ready && clock.is_some_and(|clock| clock.start == start));
            assert!(quick.join().expect("it ends").is_some());
        });
    }

    #[test]
    fn a_worker_that_panics_is_not_waited_for() {
        let gate = StartGate::new(1);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let _preparing = gate.preparing();
                panic!("a worker that cannot make itself ready");
            });
            gate.wait_for_workers();
            assert!(worker.join().is_err(), "it panicked");
        });
        gate.end();
        assert_eq!(StartGate::new(1).lock().preparing, 1);
    }

    #[test]
    fn a_run_that_does_not_start_sends_its_workers_home() {
        let gate = StartGate::new(1);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| gate.preparing().wait());
            gate.wait_for_workers();
            gate.end();
            assert!(worker.join().expect("it ends").is_none());
        });
    }
}
