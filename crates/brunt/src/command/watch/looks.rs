//! `Looks`: a watcher and its beat. It looks at once, then on each beat, and once more at the end.

use std::time::{Duration, Instant};

use metrics::server::Row;
use monitor::{Moment, Watcher};

use super::meant::unix_ns;

/// Looks closer to each other than this see flows too coarse to keep: the kernel counts CPU time in steps of 10 ms.
const APART: Duration = Duration::from_millis(100);

/// A watcher and its beat.
pub(crate) struct Looks {
    watcher: Watcher,
    every: Duration,
    started: Instant,
    looked: Instant,
    /// When the next look is due.
    pub(crate) due: Instant,
}

impl Looks {
    /// The first look is due now.
    pub(crate) fn new(watcher: Watcher, every: Duration) -> Self {
        let now = Instant::now();
        Self { watcher, every, started: now, looked: now, due: now }
    }

    /// Looks, and sets when the next look is due.
    pub(crate) fn look(&mut self) -> Vec<Row> {
        self.looked = Instant::now();
        let rows = self.watcher.look(moment(self.started));
        self.due = next(self.due, self.every, Instant::now());
        rows
    }

    /// Looks for the last time, unless it did a moment ago, and takes what is on its way.
    pub(crate) fn finish(mut self) -> Vec<Row> {
        let mut rows = Vec::new();
        if self.looked.elapsed() >= APART {
            rows = self.look();
        }
        rows.extend(self.watcher.finish(moment(self.started)));
        rows
    }
}

/// Now, on both clocks; `started` is the steady one's zero.
fn moment(started: Instant) -> Moment {
    Moment { unix: unix_ns(), steady: started.elapsed().into() }
}

/// When the next look is due: on the beat, and where looks were missed, at the next beat that is not past.
fn next(due: Instant, every: Duration, now: Instant) -> Instant {
    let late = now.saturating_duration_since(due).as_nanos();
    let missed = late / every.as_nanos().max(1);
    // Beyond 2^32 beats at once the machine slept, and the beat may begin anew.
    u32::try_from(missed + 1).ok().and_then(|beats| due.checked_add(every * beats)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beat_is_kept_and_never_caught_up() {
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
