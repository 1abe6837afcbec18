//! `Servers`: the servers of one run, started in order and stopped in reverse, however the run ends.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cli::reason;

use super::command::RunError;
use super::environment::RunEnvironment;
use crate::file::ServerPlan;
use crate::port_owner::port_owner;
use crate::process::group::{ProcessGroup, RunGuard};
use crate::process::output_tail::{exit_text, output_tail};
use crate::readiness::ReadinessProbe;

/// How long a port may remain in use: the servers of a killed study may still be ending.
const PORT_IN_USE_MAX: Duration = Duration::from_secs(2);
/// How often a server is probed.
const PROBE_INTERVAL: Duration = Duration::from_millis(20);

/// The servers of one run.
#[derive(Debug)]
pub(crate) struct Servers {
    running: Vec<Running>,
    guard: RunGuard,
}

#[derive(Debug)]
struct Running {
    name: String,
    is_watched: bool,
    group: ProcessGroup,
    output: PathBuf,
}

impl Servers {
    /// None yet.
    #[must_use]
    pub(crate) fn new(guard: &RunGuard) -> Self {
        Self { running: Vec::new(), guard: guard.clone() }
    }

    /// Starts one after those that run, and waits until it is ready.
    ///
    /// # Errors
    /// Its port is in use, or it cannot be started, ends, or is not ready in time.
    pub(crate) fn start(
        &mut self,
        plan: &ServerPlan,
        environment: &RunEnvironment,
    ) -> Result<(), RunError> {
        let name = &plan.name;
        let ready = plan.ready.as_ref().map(|text| environment.values.fill(text));
        let ready = match &ready {
            None => None,
            Some(text) => Some(ReadinessProbe::parse(text).ok_or_else(|| {
                RunError::Failed(format!("{name}: \"{text}\" is no http:// or tcp:// address"))
            })?),
        };
        if let Some(ready) = &ready {
            self.check_port(name, ready)?;
        }
        let mut command = environment.command(&plan.command, &plan.folder);
        for (key, value) in &plan.environment {
            command.env(key, environment.values.fill(value));
        }
        let output = environment.file(&format!("{}.out", file_name(name, self.running.len())));
        let errors = output.with_extension("err");
        let group = ProcessGroup::start(&command, (&output, &errors), plan.stop, &self.guard);
        let group = group.map_err(|error| {
            let (program, reason) = (&plan.command[0], reason(&error));
            RunError::Failed(format!("{name} cannot be started: {program}: {reason}"))
        })?;
        self.running.push(Running { name: name.clone(), is_watched: plan.watched, group, output });
        match ready {
            Some(ready) => self.wait(&ready, plan.within),
            None => Ok(()),
        }
    }

    /// No other process listens on the address of this server.
    fn check_port(&self, name: &str, ready: &ReadinessProbe) -> Result<(), RunError> {
        let begin = Instant::now();
        while ready.is_in_use() {
            self.check_interrupts()?;
            if begin.elapsed() > PORT_IN_USE_MAX {
                let host = ready.host();
                let by = port_owner(host);
                return Err(RunError::Failed(format!(
                    "{name} cannot be started: {host} is taken already{by}"
                )));
            }
            std::thread::sleep(PROBE_INTERVAL);
        }
        Ok(())
    }

    /// Waits until the last server is ready.
    fn wait(&mut self, ready: &ReadinessProbe, within: Duration) -> Result<(), RunError> {
        let begin = Instant::now();
        loop {
            self.check_interrupts()?;
            if let Some(text) = self.exited() {
                return Err(RunError::Failed(text));
            }
            if ready.answers() {
                return Ok(());
            }
            if begin.elapsed() >= within {
                let last = self.running.last().expect("it was started");
                let tail = output_tail(&last.output);
                return Err(RunError::Failed(format!(
                    "{} was not ready within {within:?}{tail}",
                    last.name
                )));
            }
            std::thread::sleep(PROBE_INTERVAL);
        }
    }

    /// The user has not interrupted the study.
    fn check_interrupts(&self) -> Result<(), RunError> {
        match self.guard.interrupts.seen() {
            0 => Ok(()),
            _ => Err(RunError::Interrupted),
        }
    }

    /// The first server that has ended by itself, in a sentence.
    pub(crate) fn exited(&mut self) -> Option<String> {
        self.running.iter_mut().find_map(|one| {
            let status = one.group.ended()?;
            let tail = output_tail(&one.output);
            Some(format!("{} ended by itself ({}){tail}", one.name, exit_text(status)))
        })
    }

    /// The names of the servers that are watched, with the ids of their first processes.
    pub(crate) fn processes(&self) -> Vec<(String, u32)> {
        let watched = self.running.iter().filter(|one| one.is_watched);
        watched.map(|one| (one.name.clone(), one.group.id())).collect()
    }

    /// Stops all, the last first. Returns a note for each that had to be killed.
    pub(crate) fn stop(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        while let Some(mut one) = self.running.pop() {
            if one.group.stop() {
                notes.push(format!("{} did not end at its signal and was killed", one.name));
            }
        }
        notes
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The name of a server's output file.
fn file_name(name: &str, number: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{}-{}", number + 1, name.chars().map(plain).take(40).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_file_names() {
        assert_eq!(file_name("puma a/b", 0), "1-puma_a_b");
    }
}
