//! `MonitorProcess`: a `brunt watch` beside one run.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use cli::reason;
use nix::sys::signal::Signal;

use super::environment::{MONITOR_FILE, RunEnvironment};
use crate::file::MonitorPlan;
use crate::process::group::{POLL_INTERVAL, ProcessGroup, RunGuard};
use crate::process::output_tail::{exit_text, output_tail};

/// How long it may take to start.
const START_MAX: Duration = Duration::from_secs(2);
/// The file of its standard output, in the folder of the run.
const OUTPUT: &str = "watch.out";

/// A running monitor; it is stopped when dropped.
#[derive(Debug)]
pub(super) struct MonitorProcess(ProcessGroup);

impl MonitorProcess {
    /// Starts to watch the machine and the process trees of the servers.
    ///
    /// # Errors
    /// It cannot be started; in a sentence. The run goes on without it.
    pub(super) fn start(
        plan: &MonitorPlan,
        processes: &[(String, u32)],
        environment: &RunEnvironment,
        guard: &RunGuard,
    ) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| format!("not watched: {error}"))?;
        let mut command = Command::new(own);
        command.arg("watch").args(arguments(plan, processes, environment));
        let output: PathBuf = environment.file(OUTPUT);
        let errors = output.with_extension("err");
        let group = ProcessGroup::start(&command, (&output, &errors), Signal::SIGTERM, guard);
        let group = group.map_err(|error| format!("not watched: {}", reason(&error)))?;
        let mut monitor = Self(group);
        monitor.wait(environment, guard);
        Ok(monitor)
    }

    /// Waits until it has created its file: from then on it follows logs. `stop` reports one that ended before.
    fn wait(&mut self, environment: &RunEnvironment, guard: &RunGuard) {
        let start = Instant::now();
        let file = environment.file(MONITOR_FILE);
        while !file.exists() && self.0.ended().is_none() && start.elapsed() < START_MAX {
            if guard.interrupts.seen() > 0 {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Stops it. Returns what went wrong, in a sentence.
    pub(super) fn stop(mut self, environment: &RunEnvironment) -> Option<String> {
        let early = self.0.ended();
        let killed = self.0.stop();
        match (early, killed) {
            (Some(status), _) => {
                let (ending, tail) = (exit_text(status), output_tail(&environment.file(OUTPUT)));
                Some(format!("watching ended early ({ending}){tail}"))
            }
            (None, true) => Some("watching did not end at its signal and was killed".to_owned()),
            (None, false) => None,
        }
    }
}

/// The arguments of `brunt watch`.
fn arguments(
    plan: &MonitorPlan,
    processes: &[(String, u32)],
    environment: &RunEnvironment,
) -> Vec<String> {
    let fill = |text: &String| environment.values.fill(text);
    let trees = processes.iter().map(|(_, id)| format!("-pid={id}"));
    let scrapes = plan.scrape.iter().map(|url| format!("-scrape={}", fill(url)));
    let logs = plan.logs.iter().map(|log| format!("-log={}", fill(log)));
    let output = format!("-output={}", environment.file(MONITOR_FILE).display());
    let every = format!("-every={}", plan.every);
    [every, output].into_iter().chain(trees).chain(scrapes).chain(logs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Nanos;

    use crate::file::Placeholders;

    #[test]
    fn servers_logs_and_endpoints_are_watched() {
        let plan = MonitorPlan {
            every: Nanos::from_millis(500),
            scrape: vec!["http://{host}/metrics".into()],
            logs: vec!["rails:{run}/rails.log".into()],
        };
        let values = Placeholders::default().with("run", "/r").with("host", "h");
        let environment = RunEnvironment { study: "/s".into(), run: "/r".into(), values };
        let words = arguments(&plan, &[("a".into(), 7), ("b".into(), 8)], &environment);
        let expected = "-every=500ms -output=/r/watch.arrow -pid=7 -pid=8 -scrape=http://h/metrics -log=rails:/r/rails.log";
        assert_eq!(words.join(" "), expected);
    }
}
