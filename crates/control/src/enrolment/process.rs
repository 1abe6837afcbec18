//! `ServerProcess`: a nats-server that this process started.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::config::Files;
use crate::error::ControlError;

/// The program.
const PROGRAM: &str = "nats-server";

/// How long it may take to end.
const STOP_WITHIN: Duration = Duration::from_secs(5);

/// Bytes of its log's end that may hold the reason of its end.
const LOG_TAIL: usize = 4096;

/// A running nats-server; it is ended when dropped.
#[derive(Debug)]
pub(super) struct ServerProcess {
    child: Mutex<Child>,
    config: PathBuf,
    logs: [PathBuf; 2],
}

impl ServerProcess {
    pub(super) fn start(files: &Files) -> Result<Self, ControlError> {
        // What it says before it has read where its log is.
        let early = files.log.with_extension("stderr");
        let child = spawn(&files.config, &early)?;
        let (config, logs) = (files.config.clone(), [files.log.clone(), early]);
        Ok(Self { child: Mutex::new(child), config, logs })
    }

    /// Starts it again where it has ended.
    pub(super) fn restart(&self) -> Result<(), ControlError> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(_)) = child.try_wait() {
            *child = spawn(&self.config, &self.logs[1])?;
        }
        Ok(())
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).id()
    }

    /// Why it ended, where it did.
    pub(super) fn ended(&self) -> Option<String> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let status = child.try_wait().ok()??;
        Some(self.last_words().unwrap_or_else(|| status.to_string()))
    }

    /// The last fatal line of its log.
    fn last_words(&self) -> Option<String> {
        self.logs.iter().find_map(|path| {
            let bytes = std::fs::read(path).ok()?;
            let tail = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LOG_TAIL)..])
                .into_owned();
            let line = tail
                .lines()
                .rev()
                .find(|line| line.contains("[FTL]") || line.starts_with("nats-server: "))?;
            let words = line.rsplit_once("[FTL] ").map_or(line, |(_, words)| words);
            Some(words.trim_start_matches("nats-server: ").to_owned())
        })
    }

    /// Has it read its configuration again.
    pub(super) fn reload(&self) {
        self.signal(Signal::SIGHUP);
    }

    /// Ends it, and waits for that.
    pub(super) fn stop(&self) {
        self.signal(Signal::SIGTERM);
        let until = Instant::now() + STOP_WITHIN;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(None) = child.try_wait() {
            if Instant::now() > until {
                // It may have ended just now.
                child.kill().unwrap_or_default();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, signal: Signal) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // A process that has ended and was waited for may have given its number to another.
        if let Ok(None) = child.try_wait() {
            kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap_or_default();
        }
    }
}

/// Ends the server of a process that was killed before it could: it has the port, and the store. Who calls this has the folder's lock,
/// so that no living process has use of that server.
pub(super) fn end_orphan(files: &Files) -> Result<(), ControlError> {
    let Some(pid) = orphan(files) else { return Ok(()) };
    let until = Instant::now() + STOP_WITHIN;
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        // It may end at any moment.
        kill(pid, signal).unwrap_or_default();
        while orphan(files) == Some(pid) && (signal == Signal::SIGKILL || Instant::now() < until) {
            if Instant::now() > until + STOP_WITHIN {
                let text =
                    format!("the nats-server of an earlier start, process {pid}, does not end");
                return Err(ControlError::Server(text));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// A process that runs by this configuration, as the file of its number has it: the number may be another's by now.
fn orphan(files: &Files) -> Option<Pid> {
    let text = std::fs::read_to_string(files.paths.pid.as_deref()?).ok()?;
    let pid: i32 = text.trim().parse().ok().filter(|pid| *pid > 1)?;
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let config = files.config.as_os_str().as_encoded_bytes();
    let is_ours = line.split(|byte| *byte == 0).any(|word| word == config);
    is_ours.then(|| Pid::from_raw(pid))
}

fn spawn(config: &Path, stderr: &Path) -> Result<Child, ControlError> {
    let stderr = new_file(stderr).map_err(|error| ControlError::file(stderr, error))?;
    let mut command = Command::new(PROGRAM);
    command.arg("-c").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
    command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ControlError::NoServerProgram,
        _ => ControlError::Server(error.to_string()),
    })
}

/// A new file in place of the one that was there, or of a link.
fn new_file(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.stop();
    }
}
