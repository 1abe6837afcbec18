//! `Group`: a program in a process group of its own, with its output in a file. However a study ends, the whole group is
//! ended: by its signal, and where that does not suffice by SIGKILL.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::keeper::{self, Keeper};
use crate::input::Interrupts;

/// How often something that is waited for is looked at.
pub(super) const LOOK: Duration = Duration::from_millis(10);
/// How long a group has after its signal, before it is killed.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a killed group may take to be gone.
const KILLED: Duration = Duration::from_secs(2);
/// Interrupts after which nobody is waited for.
pub(super) const HURRY: usize = 2;

/// A program and all it started, unless these left its process group.
#[derive(Debug)]
pub(super) struct Group {
    child: Child,
    leader: Pid,
    ended: Option<ExitStatus>,
    /// Nothing of it is left.
    over: bool,
    stop: Signal,
    keeper: Keeper,
    interrupts: Interrupts,
}

/// What every group is started with.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) keeper: Keeper,
    pub(super) interrupts: Interrupts,
}

impl Group {
    /// Starts a command whose output goes to these files; `stop` is the signal that it ends at.
    ///
    /// # Errors
    /// It cannot be started, or its files cannot be made.
    pub(super) fn start(
        command: &Command,
        (stdout, stderr): (&Path, &Path),
        stop: Signal,
        guard: &Guard,
    ) -> io::Result<Self> {
        let mut command = keeper::held(command);
        command.process_group(0).stdin(Stdio::piped());
        let out = File::create(stdout)?;
        let err = if stdout == stderr { out.try_clone()? } else { File::create(stderr)? };
        command.stdout(out).stderr(err);
        let mut child = command.spawn()?;
        let leader = Pid::from_raw(i32::try_from(child.id()).expect("a process's number is small"));
        guard.keeper.add(leader);
        // Now that the keeper knows it, it may begin. One that was ended meanwhile shows as such.
        child.stdin.take().and_then(|mut stdin| stdin.write_all(b"go").ok());
        let (keeper, interrupts) = (guard.keeper.clone(), guard.interrupts.clone());
        Ok(Self { child, leader, ended: None, over: false, stop, keeper, interrupts })
    }

    /// The number of its first process.
    #[must_use]
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How its first process ended; `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().unwrap_or_default();
        }
        self.ended
    }

    /// Ends it: its signal, then SIGKILL for what is left after [`PATIENCE`], or at the second interrupt. Gives whether
    /// SIGKILL was needed.
    pub(super) fn stop(&mut self) -> bool {
        if self.over {
            return false;
        }
        // Who has gone already needs no signal.
        killpg(self.leader, self.stop).ok();
        let mut killed = false;
        if !self.is_gone_within(PATIENCE, HURRY) {
            killed = true;
            killpg(self.leader, Signal::SIGKILL).ok();
            self.is_gone_within(KILLED, usize::MAX);
        }
        self.over = true;
        self.keeper.remove(self.leader);
        killed
    }

    /// Looks until nothing of it is left, or time or the user's patience is over.
    fn is_gone_within(&mut self, limit: Duration, interrupts: usize) -> bool {
        let begin = Instant::now();
        loop {
            if self.ended().is_some() && !is_alive(self.leader) {
                return true;
            }
            if begin.elapsed() >= limit || self.interrupts.seen() >= interrupts {
                return false;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A process of this group runs. The dead whom nobody has asked about yet do not count.
fn is_alive(group: Pid) -> bool {
    if killpg(group, None).is_err() {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let mut stats = processes.flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        std::fs::read_to_string(entry.path().join("stat")).ok()
    });
    stats.any(|stat| is_member(&stat, group.as_raw()))
}

/// A line of `/proc/N/stat` is of this group, and of nobody dead. The name in parentheses may hold anything.
fn is_member(stat: &str, group: i32) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let words: Vec<&str> = rest.split_whitespace().take(3).collect();
    let [state, _parent, of] = words[..] else { return false };
    of.parse() == Ok(group) && !matches!(state, "Z" | "X")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_from_the_dead() {
        let line = |state: &str, group: i32| format!("12 (a) b) {state} 1 {group} 12 0 -1");
        assert!(is_member(&line("S", 12), 12) && is_member(&line("R", 12), 12));
        assert!(!is_member(&line("S", 13), 12) && !is_member(&line("Z", 12), 12));
        assert!(!is_member("", 12) && !is_member("12 (a", 12));
    }
}
