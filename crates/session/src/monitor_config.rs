//! `MonitorConfig`: what is watched beside a run, or by `watch`, and how often.

use std::time::Duration;

use cli::{ExitCode, ExitError};
use monitor::{Settings, Target, WatchError, Watcher};
use results::Encoding;

/// The time between two samples where the command line does not say it.
const EVERY: Duration = Duration::from_secs(1);

/// What is watched, and how often. Nothing is read yet.
#[derive(Clone, Debug)]
pub struct MonitorConfig {
    /// What is watched.
    pub settings: Settings,
    /// The time between two samples.
    pub every: Duration,
}

/// A monitor that is ready to take samples.
pub struct Monitor {
    /// The watcher; logs are followed from when it was made.
    pub watcher: Watcher,
    /// The time between two samples.
    pub every: Duration,
}

impl MonitorConfig {
    /// Watches this machine, and these of its processes, endpoints and logs. `host` is the machine's name in the results; `None`
    /// is its own.
    #[must_use]
    pub fn new(targets: Vec<Target>, host: Option<String>) -> Self {
        let host = host.unwrap_or_else(own_name);
        Self { settings: Settings { root: "/".into(), host, targets }, every: EVERY }
    }

    /// The monitor whose rows go into results of this format.
    ///
    /// # Errors
    /// The format has no room for them, or something can never be watched.
    pub fn monitor_for(&self, encoding: Encoding) -> Result<Monitor, ExitError> {
        if !encoding.is_native() {
            let text = format!(
                "-watch: {} cannot hold rows of the server's side (give a .arrow or .parquet file)",
                encoding.name()
            );
            return Err(ExitError::new(ExitCode::Usage, text));
        }
        Ok(Monitor { watcher: self.watcher()?, every: self.every })
    }

    /// The watcher. Logs are followed from here on.
    ///
    /// # Errors
    /// Something can never be watched; the error names it.
    pub fn watcher(&self) -> Result<Watcher, ExitError> {
        Watcher::new(&self.settings).map_err(|error| {
            let code = match error {
                WatchError::Thread(_) => ExitCode::Failure,
                WatchError::Endpoint { .. } | WatchError::Log { .. } => ExitCode::Usage,
            };
            ExitError::new(code, format!("cannot watch {error}"))
        })
    }
}

/// The name that this machine has for itself.
fn own_name() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = text.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_without_room_is_refused() {
        let config = MonitorConfig::new(Vec::new(), None);
        assert!(config.monitor_for(Encoding::Parquet).is_ok());
        let failed = config.monitor_for(Encoding::Csv).map(drop).unwrap_err();
        assert_eq!(failed.code, ExitCode::Usage);
    }
}
