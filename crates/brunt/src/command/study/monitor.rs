//! `Monitor`: a `brunt watch` beside one run.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::file;
use super::group::{Group, Guard, LOOK};
use super::servers::Place;

/// The file of what was watched, in the run's folder.
pub(super) const FILE: &str = "watch.arrow";

/// How long it may take to begin.
const BEGIN_MAX: Duration = Duration::from_secs(2);

/// One that watches; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Monitor(Group);

impl Monitor {
    /// Starts watching the machine and the servers' process trees.
    ///
    /// # Errors
    /// It cannot be started; in a sentence. A run without it is a run all the same.
    pub(super) fn start(
        plan: &file::Monitor,
        processes: &[(String, u32)],
        place: &Place,
        guard: &Guard,
    ) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| format!("not watched: {error}"))?;
        let mut command = Command::new(own);
        command.arg("watch").args(arguments(plan, processes, place));
        let output: PathBuf = place.file("watch.out");
        let errors = output.with_extension("err");
        let group = Group::start(&command, (&output, &errors), Signal::SIGTERM, guard);
        let group =
            group.map_err(|error| format!("not watched: {}", crate::input::reason(&error)))?;
        let mut monitor = Self(group);
        monitor.wait(place, guard);
        Ok(monitor)
    }

    /// Until it watches, which is when its file is there: logs are followed from then on. One that has ended tells at its stop.
    fn wait(&mut self, place: &Place, guard: &Guard) {
        let begin = Instant::now();
        let file = place.file(FILE);
        while !file.exists() && self.0.ended().is_none() && begin.elapsed() < BEGIN_MAX {
            if guard.interrupts.seen() > 0 {
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends it. Gives what went wrong, in a sentence.
    pub(super) fn stop(mut self, place: &Place) -> Option<String> {
        let early = self.0.ended();
        let killed = self.0.stop();
        let said = || super::servers::said(&place.file("watch.out"));
        match (early, killed) {
            (Some(status), _) => {
                let ending = super::servers::ending(status);
                Some(format!("watching ended early ({ending}){}", said()))
            }
            (None, true) => Some("watching did not end at its signal and was killed".to_owned()),
            (None, false) => None,
        }
    }
}

/// The words after `brunt watch`.
fn arguments(plan: &file::Monitor, processes: &[(String, u32)], place: &Place) -> Vec<String> {
    let trees = processes.iter().map(|(_, id)| format!("-pid={id}"));
    let scrapes = plan.scrape.iter().map(|url| format!("-scrape={}", place.filling.fill(url)));
    let logs = plan.logs.iter().map(|log| format!("-log={}", place.filling.fill(log)));
    let output = format!("-output={}", place.file(FILE).display());
    let every = format!("-every={}", plan.every);
    [every, output].into_iter().chain(trees).chain(scrapes).chain(logs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Nanos;

    use crate::command::study::file::Filling;

    #[test]
    fn servers_logs_and_endpoints_are_watched() {
        let plan = file::Monitor {
            every: Nanos::from_millis(500),
            scrape: vec!["http://{host}/metrics".into()],
            logs: vec!["rails:{run}/rails.log".into()],
        };
        let filling = Filling::default().with("run", "/r").with("host", "h");
        let place = Place { study: "/s".into(), run: "/r".into(), filling };
        let words = arguments(&plan, &[("a".into(), 7), ("b".into(), 8)], &place);
        let expected = "-every=500ms -output=/r/watch.arrow -pid=7 -pid=8 -scrape=http://h/metrics -log=rails:/r/rails.log";
        assert_eq!(words.join(" "), expected);
    }
}
