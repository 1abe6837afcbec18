//! `HostClock`: the clock of a host's state machine, monotonic nanoseconds.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stdx::Nanos;

/// Nanoseconds of a monotonic clock, and the instants that they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostClock {
    base: Instant,
    /// What the clock showed at `base`.
    origin: u64,
}

impl HostClock {
    /// A clock that begins at the Unix time: a process that takes over can read the times in the journal, and two machines' clocks
    /// differ as their system clocks do.
    pub(crate) fn new() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { base: Instant::now(), origin: u64::try_from(unix.as_nanos()).unwrap_or(0) }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.at(Instant::now())
    }

    pub(crate) fn at(&self, instant: Instant) -> Nanos {
        let since = instant.saturating_duration_since(self.base).as_nanos();
        Nanos(self.origin.saturating_add(u64::try_from(since).unwrap_or(u64::MAX)))
    }

    /// The instant of a time; that of the clock's begin for an earlier one.
    pub(crate) fn instant(&self, time: Nanos) -> Instant {
        self.base + Duration::from_nanos(time.0.saturating_sub(self.origin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_instants_are_the_same() {
        let clock = HostClock::new();
        let instant = Instant::now() + Duration::from_secs(5);
        assert_eq!(clock.instant(clock.at(instant)), instant);
    }
}
