//! `SampleTicker`: samples the server's side at once, then at each tick, and once more at the end.

use std::time::{Duration, Instant};

use metrics::server::Row;
use monitor::{Moment, Watcher};

use crate::clock::unix_ns;

/// The least time between two samples: flows of less are too coarse, since the kernel counts CPU time in steps of 10 ms.
const APART: Duration = Duration::from_millis(100);

/// A watcher and the times of its samples.
pub struct SampleTicker {
    watcher: Watcher,
    every: Duration,
    started: Instant,
    sampled: Instant,
    /// When the next sample is due.
    pub due: Instant,
}

impl SampleTicker {
    /// The first sample is due now.
    #[must_use]
    pub fn new(mut watcher: Watcher, every: Duration) -> Self {
        watcher.prepare(unix_ns());
        let now = Instant::now();
        Self { watcher, every, started: now, sampled: now, due: now }
    }

    /// Takes a sample, and sets when the next one is due.
    pub fn sample(&mut self) -> Vec<Row> {
        self.sampled = Instant::now();
        let rows = self.watcher.sample(moment(self.started));
        self.due = next(self.due, self.every, Instant::now());
        rows
    }

    /// Takes the last sample, unless the one before is less than 100 ms old, and what endpoints still have on its way.
    #[must_use]
    pub fn finish(mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.sampled.elapsed() >= APART {
            rows = self.sample();
        }
        rows.extend(self.watcher.finish(moment(self.started)));
        rows
    }
}

/// Now, on both clocks; `started` is the steady one's zero.
fn moment(started: Instant) -> Moment {
    Moment { unix: unix_ns(), steady: started.elapsed().into() }
}

/// When the next sample is due: a tick after the last, and where samples were missed, at the next tick that is not past.
fn next(due: Instant, every: Duration, now: Instant) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let missed = late / every.as_nanos().max(1);
    // After 2^32 missed ticks the machine slept, and the ticks may begin anew.
    u32::try_from(missed + 1).ok().and_then(|ticks| due.checked_add(every * ticks)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_ticks_are_never_caught_up() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let second = Duration::from_secs(1);
        for (due, now, expected) in
            [(0, 3, 1000), (1000, 1000, 2000), (1000, 2500, 3000), (1000, 900, 2000)]
        {
            assert_eq!(next(at(due), second, at(now)), at(expected), "{due} {now}");
        }
    }
}
