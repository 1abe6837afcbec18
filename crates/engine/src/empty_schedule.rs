//! How late the machine itself wakes a thread.

use std::time::Instant;

use net::{Io, Reactor, machine};
use stdx::Nanos;

/// The longest time between two looks at whether to stop.
const STOP_CHECK: Nanos = Nanos::from_millis(50);

/// The lateness of a loop that only waits for each moment of a schedule: the machine's own noise. It ends early where `stop` says so,
/// with what it has.
#[must_use]
pub fn measure_empty_schedule(
    interval: Nanos,
    count: u64,
    stop: impl Fn() -> bool,
) -> metrics::Histogram {
    let mut lag = metrics::Histogram::new();
    machine::make_timers_punctual();
    let Ok(mut reactor) = Reactor::new(Instant::now()) else { return lag };
    let mut now = reactor.now();
    let first = now;
    for due in (1..=count).map(|k| first + interval * k) {
        while now < due {
            if stop() {
                return lag;
            }
            now = reactor.wait(Some(due.min(now + STOP_CHECK)));
        }
        lag.record(now.saturating_sub(due));
    }
    lag
}
