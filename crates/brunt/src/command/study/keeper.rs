//! The keeper: a process of ours that outlives a study which is killed, and ends what the study has started. It is told every
//! process group over a pipe; when the pipe closes, the study is gone, and whatever it did not end is killed.

use std::collections::BTreeSet;
use std::io::{BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::exit_code::{ExitCode, Failed};
use crate::output::complain;

/// The word after `study` that makes a process a keeper.
pub(super) const WORD: &str = "keep";

/// The study's end of the pipe; clones share it. When the last is gone, the keeper ends.
#[derive(Clone, Debug)]
pub(super) struct Keeper(Arc<Mutex<Pipe>>);

#[derive(Debug)]
struct Pipe {
    child: Child,
    /// `None` only while it is dropped.
    stdin: Option<ChildStdin>,
}

impl Keeper {
    /// Starts one.
    ///
    /// # Errors
    /// No process can be started.
    pub(super) fn start() -> Result<Self, Failed> {
        let own = std::env::current_exe().context("finding brunt's own program")?;
        let mut command = Command::new(own);
        // A group of its own: Ctrl-C on a terminal is for the study alone.
        command.args(["study", WORD]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().context("starting the keeper of the study's processes")?;
        let stdin = child.stdin.take();
        Ok(Self(Arc::new(Mutex::new(Pipe { child, stdin }))))
    }

    /// Ends this group should the study be killed.
    pub(super) fn add(&self, group: Pid) {
        self.pipe().tell('+', group);
    }

    /// This group has ended.
    pub(super) fn remove(&self, group: Pid) {
        self.pipe().tell('-', group);
    }

    fn pipe(&self) -> MutexGuard<'_, Pipe> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipe {
    fn tell(&mut self, sign: char, group: Pid) {
        if let Some(stdin) = &mut self.stdin {
            // A keeper that somebody ended keeps nothing; the study itself still ends what it started.
            writeln!(stdin, "{sign}{group}").ok();
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.child.wait().ok();
    }
}

/// The word after `study` that makes a process wait until the keeper knows it, and then become the command after it.
pub(super) const HOLD: &str = "hold";

/// A command that waits for a word on standard input before it begins: killed in between, a study leaves nothing behind.
#[must_use]
pub(super) fn held(command: &Command) -> Command {
    let own = std::env::current_exe().unwrap_or_else(|_| super::OURSELVES.into());
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

/// Waits, and becomes the command. Only where it cannot does this return.
pub(super) fn hold(words: &[String]) -> ExitCode {
    let mut word = Vec::new();
    let told = std::io::stdin().lock().read_to_end(&mut word);
    let Some((program, arguments)) = words.split_first().filter(|_| told.is_ok() && word == b"go")
    else {
        return ExitCode::Failure;
    };
    let error = Command::new(program).args(arguments).stdin(Stdio::null()).exec();
    complain(&format!("{program} cannot be started: {}", crate::input::reason(&error)));
    ExitCode::Failure
}

/// Keeps, until standard input closes.
pub(super) fn keep() -> ExitCode {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        told(&line, &mut groups);
    }
    for group in groups {
        // One that is gone already is what was wanted.
        killpg(Pid::from_raw(group), Signal::SIGKILL).ok();
    }
    ExitCode::Ok
}

/// Takes a line in. Numbers that would mean more than one group are no groups.
fn told(line: &str, groups: &mut BTreeSet<i32>) {
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
            told(line, &mut groups);
        }
        assert_eq!(groups.into_iter().collect::<Vec<_>>(), [11]);
    }
}
