//! `ProcessGroup`: a program in a process group of its own, with its output in a file. The whole group is ended with the study: by
//! its signal, and by SIGKILL if that does not suffice.

use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use cli::Interrupts;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use stdx::private_file;

use super::reaper::{Reaper, held_command};

/// How often a wait checks its condition.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long a group has after its signal, before it is killed.
const GRACE_PERIOD: Duration = Duration::from_secs(5);
/// How long a killed group may take to end.
const KILLED: Duration = Duration::from_secs(2);
/// The number of interrupts after which waits end at once.
pub(crate) const FORCE_AT_INTERRUPT: usize = 2;

/// A program and its descendants, except for those that left its process group. Its first process is reaped last: until then the
/// system gives the group's number to no other.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    child: Child,
    leader: Pid,
    ended: Option<ExitStatus>,
    /// No process of it is left.
    is_over: bool,
    stop: Signal,
    reaper: Reaper,
    interrupts: Interrupts,
}

/// What every group is started with.
#[derive(Clone, Debug)]
pub(crate) struct RunGuard {
    pub(crate) reaper: Reaper,
    pub(crate) interrupts: Interrupts,
}

impl ProcessGroup {
    /// Starts a command whose output goes to these files; `stop` is the signal that it ends at.
    ///
    /// # Errors
    /// It cannot be started, or its files cannot be made.
    pub(crate) fn start(
        command: &Command,
        (stdout, stderr): (&Path, &Path),
        stop: Signal,
        guard: &RunGuard,
    ) -> io::Result<Self> {
        let mut command = held_command(command);
        command.process_group(0).stdin(Stdio::piped());
        let out = private_file::create_stream(stdout)?;
        let err = match stdout == stderr {
            true => out.try_clone()?,
            false => private_file::create_stream(stderr)?,
        };
        command.stdout(out).stderr(err);
        let mut child = command.spawn()?;
        let leader = Pid::from_raw(i32::try_from(child.id()).expect("a process's number is small"));
        guard.reaper.add(leader);
        // The reaper knows the group: it may start. The exit status shows if it was killed before.
        child.stdin.take().and_then(|mut stdin| stdin.write_all(b"go").ok());
        let (reaper, interrupts) = (guard.reaper.clone(), guard.interrupts.clone());
        Ok(Self { child, leader, ended: None, is_over: false, stop, reaper, interrupts })
    }

    /// The id of its first process.
    #[must_use]
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit status of its first process; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = exit_status(self.leader, &mut self.child);
        }
        self.ended
    }

    /// Ends it: by its signal, then by SIGKILL after [`GRACE_PERIOD`] or at the second interrupt. Returns whether SIGKILL was
    /// needed.
    pub(crate) fn stop(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        // The group may have ended already.
        killpg(self.leader, self.stop).ok();
        let mut killed = false;
        if !self.is_gone_within(GRACE_PERIOD, FORCE_AT_INTERRUPT) {
            killed = true;
            killpg(self.leader, Signal::SIGKILL).ok();
            self.is_gone_within(KILLED, usize::MAX);
        }
        self.is_over = true;
        // From here on the number may be another's, so the other process forgets it first. One that does not end even when it is
        // killed is left to the system.
        self.reaper.remove(self.leader);
        self.child.try_wait().ok();
        killed
    }

    /// Waits until no process of it is left, for `limit` at most, and until the user has sent this many interrupts.
    fn is_gone_within(&mut self, limit: Duration, interrupts: usize) -> bool {
        let begin = Instant::now();
        loop {
            if self.ended().is_some() && !is_alive(self.leader) {
                return true;
            }
            if begin.elapsed() >= limit || self.interrupts.seen() >= interrupts {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How a child of this process ended, without reaping it; `None` while it runs.
fn exit_status(leader: Pid, child: &mut Child) -> Option<ExitStatus> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    // As `wait(2)` encodes them.
    let raw = match waitid(Id::Pid(leader), flags) {
        Ok(WaitStatus::Exited(_, code)) => (code & 0xff) << 8,
        Ok(WaitStatus::Signaled(_, signal, dumped)) => signal as i32 | i32::from(dumped) << 7,
        // Ended by a real-time signal, which has no name. Where the system does not show it, reaping has it.
        Err(Errno::EINVAL) => match zombie_status(leader) {
            Some(raw) => raw,
            None => return child.try_wait().ok()?,
        },
        _ => return None,
    };
    Some(ExitStatus::from_raw(raw))
}

/// How a process that was ended by a signal and is not reaped ended, as `wait(2)` encodes it. proc_pid_stat(5), field 52.
fn zombie_status(process: Pid) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    let raw: i32 = rest.split_whitespace().nth(49)?.parse().ok()?;
    // Who may not see it is shown 0.
    (raw & 0x7f != 0).then_some(raw)
}

/// A process of this group is running. Zombies do not count.
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

/// A line of `/proc/N/stat` is of a running process of this group. The name in parentheses may contain anything.
fn is_member(stat: &str, group: i32) -> bool {
    let Some((_, rest)) = stat.rsplit_once(')') else { return false };
    let words: Vec<&str> = rest.split_whitespace().take(3).collect();
    let [state, _parent, of] = words[..] else { return false };
    of.parse() == Ok(group) && !matches!(state, "Z" | "X")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 19, C21: a group's number was signalled after its first process was reaped, when it could be another's.
    #[test]
    fn a_group_keeps_its_number_until_it_is_over() {
        let interrupts = Interrupts::default();
        for (script, code, signal) in [
            ("exit 7", Some(7), None),
            ("kill -9 $$", None, Some(9)),
            // Issue 19: SIGRTMIN+1, as the shell counts, was never seen to have ended.
            ("kill -35 $$", None, Some(35)),
            ("sleep 60 & exit 0", Some(0), None),
        ] {
            let mut command = Command::new("sh");
            command.args(["-c", script]).process_group(0).stdin(Stdio::null());
            let child = command.spawn().unwrap();
            let leader = Pid::from_raw(i32::try_from(child.id()).unwrap());
            let mut group = ProcessGroup {
                child,
                leader,
                ended: None,
                is_over: false,
                stop: Signal::SIGTERM,
                reaper: Reaper::none(),
                interrupts: interrupts.clone(),
            };
            let begin = Instant::now();
            let ended = loop {
                assert!(begin.elapsed() < 4 * GRACE_PERIOD, "{script}: it is not seen to end");
                match group.ended() {
                    Some(ended) => break ended,
                    None => std::thread::park_timeout(POLL_INTERVAL),
                }
            };
            assert_eq!((ended.code(), ended.signal()), (code, signal), "{script}");
            let stat = || std::fs::read_to_string(format!("/proc/{leader}/stat"));
            assert!(stat().unwrap().contains(") Z "), "{script}: its number is taken");
            assert!(!group.stop(), "{script}: its signal suffices");
            assert!(!is_alive(leader), "{script}");
            assert!(stat().is_err(), "{script}: it is reaped");
        }
    }

    #[test]
    fn zombies_are_not_members() {
        let line = |state: &str, group: i32| format!("12 (a) b) {state} 1 {group} 12 0 -1");
        assert!(is_member(&line("S", 12), 12) && is_member(&line("R", 12), 12));
        assert!(!is_member(&line("S", 13), 12) && !is_member(&line("Z", 12), 12));
        assert!(!is_member("", 12) && !is_member("12 (a", 12));
    }
}
