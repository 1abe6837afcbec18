//! `Monitor`: a `brunt watch` beside one run.

use std::path::PathBuf;
use std::process::Command;

use nix::sys::signal::Signal;

use super::file;
use super::group::{Group, Guard};
use super::servers::Place;
use crate::command::COMMANDS;

/// The file of what was watched, in the run's folder.
pub(super) const FILE: &str = "watch.arrow";

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
        if !COMMANDS.iter().any(|command| command.name == "watch") {
            return Err("not watched: this brunt has no command watch".to_owned());
        }
        let own = std::env::current_exe().map_err(|error| format!("not watched: {error}"))?;
        let mut command = Command::new(own);
        command.arg("watch").args(arguments(plan, processes, place));
        let output: PathBuf = place.file("watch.out");
        let errors = output.with_extension("err");
        let group = Group::start(command, (&output, &errors), Signal::SIGTERM, guard);
        group.map(Self).map_err(|error| format!("not watched: {}", crate::input::reason(&error)))
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
