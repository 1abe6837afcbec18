//! What the flags of watching mean: who watches what. Nothing is read yet, but what can never be watched is refused.

use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use monitor::{Settings, Target, WatchError, Watcher};
use results::Encoding;

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
    /// What is said where the flags tell how to watch, and not what.
    pub(crate) const STRAY: &str = "-watch-every and -watch-log-pattern say how to watch, and nothing is watched (give -watch)";

    /// What the flags mean.
    pub(crate) fn new(watched: &Watched) -> Self {
        let mut targets = watched.targets.clone();
        for target in &mut targets {
            if let Target::Log(log) = target {
                log.pattern = pattern(&log.kind, watched);
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

    /// The watcher whose rows go into results of this format, and how often it looks.
    ///
    /// # Errors
    /// The format has no room for them, or something can never be watched.
    pub(crate) fn watcher_for(&self, encoding: Encoding) -> Result<(Watcher, Duration), Failed> {
        if !encoding.is_native() {
            let error = anyhow!(
                "-watch: {} has no room for the server's side (expected .arrow or .parquet)",
                encoding.name()
            );
            return Err(Failed { code: ExitCode::Usage, error });
        }
        Ok((self.watcher()?, self.every))
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

/// The pattern goes to the logs of kinds that are not known; to those whose last column it can name, where it is a column
/// (`%D`), or where no other log could have it.
fn pattern(kind: &str, watched: &Watched) -> Option<String> {
    let is_own = |target: &Target| match target {
        Target::Log(log) => !monitor::log::KINDS.contains(&log.kind.as_str()),
        _ => false,
    };
    let takes = |pattern: &&String| match kind {
        "apache" | "lighttpd" => pattern.starts_with('%') || !watched.targets.iter().any(is_own),
        known => !monitor::log::KINDS.contains(&known),
    };
    watched.pattern.as_ref().filter(takes).cloned()
}

/// What this machine calls itself.
fn own_name() -> String {
    let said = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = said.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// Unix time in nanoseconds; a clock before 1970 is at 1970.
pub(crate) fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use monitor::Log;

    fn check(pattern: &str, kinds: &[(&str, bool)]) {
        let log = |kind: &str| Log { kind: kind.into(), path: "x".into(), pattern: None };
        let targets = kinds.iter().map(|(kind, _)| Target::Log(log(kind))).collect();
        let watched = Watched { targets, pattern: Some(pattern.into()), ..Watched::default() };
        for (target, (kind, expected)) in Watching::new(&watched).settings.targets.iter().zip(kinds)
        {
            let Target::Log(log) = target else { panic!("{target:?}") };
            assert_eq!(log.pattern.is_some(), *expected, "{kind}: {pattern}");
        }
    }

    #[test]
    fn a_pattern_goes_to_the_logs_that_can_have_it() {
        let expression = "(?<total_ms>[0-9]+)";
        check(expression, &[("apache", false), ("own", true), ("rails", false)]);
        check("%T", &[("apache", true), ("lighttpd", true), ("nginx", false)]);
        // Refused there, and so not silently left aside.
        check(expression, &[("apache", true), ("puma", false)]);
    }

    #[test]
    fn a_format_without_room_is_refused() {
        let watching = Watching::new(&Watched::default());
        assert!(watching.watcher_for(Encoding::Parquet).is_ok());
        let failed = watching.watcher_for(Encoding::Csv).map(drop).unwrap_err();
        assert_eq!(failed.code, ExitCode::Usage);
    }
}
