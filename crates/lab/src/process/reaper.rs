//! The reaper: a second process of brunt that outlives a killed study, and kills what the study had started. The study writes every
//! process group to a pipe; when the pipe closes, the study is gone, and the reaper kills the groups that are left.

use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use cli::{ExitCode, ExitError, eprint_line};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::OWN_PROGRAM;

/// The operand of `study` that makes a process a reaper.
pub const REAP: &str = "keep";

/// The study's end of the pipe; clones share it. The reaper ends after the last is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Reaper(Arc<Mutex<Pipe>>);

#[derive(Debug)]
struct Pipe {
    /// `None` in tests alone.
    child: Option<Child>,
    /// `None` while it is dropped, and without a child.
    stdin: Option<ChildStdin>,
}

impl Reaper {
    /// Starts one.
    ///
    /// # Errors
    /// No process can be started.
    pub(crate) fn start() -> Result<Self, ExitError> {
        let own = std::env::current_exe().context("finding brunt's own program")?;
        let mut command = Command::new(own);
        // A group of its own: Ctrl-C on a terminal is for the study alone.
        command.args(["study", REAP]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().context("starting the keeper of the study's processes")?;
        let stdin = child.stdin.take();
        Ok(Self(Arc::new(Mutex::new(Pipe { child: Some(child), stdin }))))
    }

    /// One that kills nothing.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self(Arc::new(Mutex::new(Pipe { child: None, stdin: None })))
    }

    /// Kills this group if the study is killed.
    pub(crate) fn add(&self, group: Pid) {
        self.pipe().send('+', group);
    }

    /// This group has ended.
    pub(crate) fn remove(&self, group: Pid) {
        self.pipe().send('-', group);
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipe {
    fn send(&mut self, sign: char, group: Pid) {
        if let Some(stdin) = &mut self.stdin {
            // Without a reaper the study itself still ends what it started.
            writeln!(stdin, "{sign}{group}").ok();
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.as_mut().and_then(|child| child.wait().ok());
    }
}

/// The operand of `study` that makes a process wait until the reaper knows its group, and then become the command after it.
pub const HOLD: &str = "hold";

/// A command that waits for the word `go` on standard input before it starts: a study that is killed in between leaves nothing
/// behind.
#[must_use]
pub(crate) fn held_command(command: &Command) -> Command {
    let own = std::env::current_exe().unwrap_or_else(|_| OWN_PROGRAM.into());
    let mut held = Command::new(own);
    held.args(["study", HOLD, "--"]).arg(command.get_program()).args(command.get_args());
    command.get_current_dir().into_iter().for_each(|folder| {
        held.current_dir(folder);
    });
    for (name, value) in command.get_envs() {
        value.into_iter().for_each(|value| {
            held.env(name, value);
        });
    }
    held
}

/// Waits for the word, and becomes the command. It returns only if that fails.
pub fn exec_held(words: &[String]) -> ExitCode {
    let mut word = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut word);
    let Some((program, arguments)) = words.split_first().filter(|_| read.is_ok() && word == b"go")
    else {
        return ExitCode::Failure;
    };
    let error = Command::new(program).args(arguments).stdin(Stdio::null()).exec();
    eprint_line(&format!("{program} cannot be started: {}", cli::reason(&error)));
    ExitCode::Failure
}

/// Collects process groups until standard input closes, and kills those that are left.
pub fn reap() -> ExitCode {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        apply(&line, &mut groups);
    }
    for group in groups {
        // A group may have ended already.
        killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
    }
    ExitCode::Ok
}

/// Applies a line, `+GROUP` or `-GROUP`. Numbers up to 1 are ignored: for `killpg` they mean other groups.
fn apply(line: &str, groups: &mut BTreeSet<i32>) {
    let Some(group) = line.get(1..).and_then(|text| text.parse::<i32>().ok()) else { return };
    match line.as_bytes()[0] {
        b'+' if group > 1 => {
            groups.insert(group);
        }
        b'-' => {
            groups.remove(&group);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_and_go() {
        let mut groups = BTreeSet::new();
        for line in ["+10", "+11", "-10", "+1", "+0", "+-5", "+x", "", "+", "12"] {
            apply(line, &mut groups);
        }
        assert_eq!(groups.into_iter().collect::<Vec<_>>(), [11]);
    }
}
