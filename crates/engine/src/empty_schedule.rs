//! How late the machine itself wakes a thread.

use std::time::Instant;

use net::{Io, Reactor, machine};
use stdx::Nanos;

/// The lateness of a loop that only waits for each moment of a schedule: the machine's own noise.
#[must_use]
pub fn measure_empty_schedule(interval: Nanos, count: u64) -> metrics::Histogram {
    let mut lag = metrics::Histogram::new();
    machine::make_timers_punctual();
    let Ok(mut reactor) = Reactor::new(Instant::now()) else { return lag };
    let mut now = reactor.now();
    let first = now;
    for due in (1..=count).map(|k| first + interval * k) {
        while now < due {
            now = reactor.wait(Some(due));
        }
        lag.record(now.saturating_sub(due));
    }
    lag
}
