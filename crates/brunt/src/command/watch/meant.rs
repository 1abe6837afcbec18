//! What the flags of watching mean: who watches what. Nothing is read yet, but what can never be watched is refused.

use std::time::{Duration, Instant, SystemTime};

use anyhow::anyhow;
use monitor::{Moment, Settings, Target, WatchError, Watcher};

use crate::exit_code::{ExitCode, Failed};
use crate::flags::watch::Watched;

/// What is to be watched, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Watching {
    /// What.
    pub(crate) settings: Settings,
    /// The time between two looks.
    pub(crate) every: Duration,
}

impl Watching {
    /// What the flags mean.
    pub(crate) fn new(watched: &Watched) -> Self {
        let mut targets = watched.targets.clone();
        for target in &mut targets {
            if let Target::Log(log) = target {
                log.pattern = pattern(&log.kind, watched.pattern.as_deref());
            }
        }
        let host = watched.host.clone().unwrap_or_else(own_name);
        let settings = Settings { root: "/".into(), host, targets };
        Self { settings, every: watched.every.into() }
    }

    /// What they mean beside a run: nothing, unless they were given.
    pub(crate) fn beside(watched: &Watched) -> Option<Self> {
        watched.is_asked().then(|| Self::new(watched))
    }

    /// The watcher. Logs are followed from here on.
    ///
    /// # Errors
    /// Something can never be watched; the error names it.
    pub(crate) fn watcher(&self) -> Result<Watcher, Failed> {
        Watcher::new(&self.settings).map_err(|error| {
            let code = match error {
                WatchError::Thread(_) => ExitCode::Failure,
                WatchError::Endpoint { .. } | WatchError::Log { .. } => ExitCode::Usage,
            };
            Failed { code, error: anyhow!("cannot watch {error}") }
        })
    }
}

/// The pattern goes to the logs of kinds that are not known.
fn pattern(kind: &str, pattern: Option<&str>) -> Option<String> {
    const KNOWN: [&str; 4] = ["rails", "rails2", "nginx", "puma"];
    pattern.filter(|_| !KNOWN.contains(&kind)).map(str::to_owned)
}

/// What this machine calls itself.
fn own_name() -> String {
    let said = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = said.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Now, on both clocks; `started` is the steady one's zero.
pub(crate) fn moment(started: Instant) -> Moment {
    Moment { unix: unix_ns(), steady: started.elapsed().into() }
}

/// Unix time in nanoseconds; a clock before 1970 is at 1970.
pub(crate) fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
