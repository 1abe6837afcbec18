//! `Servers`: those of one run, started in order and stopped in reverse, however the run ends.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::file::{Filling, ServerPlan, Variant};
use super::folder::Folder;
use super::group::{Group, Guard, HURRY, LOOK};
use super::ready::{Ready, holder};

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// Something gave way; in a sentence.
    Failed(String),
    /// The user ended it.
    Interrupted,
}

/// Where commands are run, and what they are filled with.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The folder of the study's file.
    pub(super) study: PathBuf,
    /// The run's own folder.
    pub(super) run: PathBuf,
    pub(super) filling: Filling,
}

impl Place {
    /// A variant's, for one run.
    pub(super) fn of(folder: &Folder, variant: &Variant, run: PathBuf) -> Self {
        let text = |path: &Path| path.display().to_string();
        let filling = Filling::default()
            .with("study", text(&folder.study))
            .with("out", text(&folder.out))
            .with("run", text(&run))
            .with_values(&variant.values);
        Self { study: folder.study.clone(), run, filling }
    }

    /// A command, its words filled; the word `brunt` is this very program.
    pub(super) fn command(&self, words: &[String], folder: &str) -> Command {
        let folder = self.study.join(self.filling.fill(folder));
        let words = self.filling.fill_all(words);
        let (program, arguments) = words.split_first().expect("a command has a word");
        let program = match program.as_str() {
            super::OURSELVES => std::env::current_exe().unwrap_or_else(|_| program.into()),
            // A path is meant from the command's own folder, not from wherever the study was started.
            path if path.contains('/') => folder.join(path),
            name => name.into(),
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder);
        command
    }

    /// A file in the run's folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }
}

/// How long a port may go on being taken: a server of a study that was killed is on its way out.
const TAKEN_MAX: Duration = Duration::from_secs(2);
/// How often a server is asked whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// The servers of one run.
#[derive(Debug)]
pub(super) struct Servers {
    running: Vec<Running>,
    interrupted: Guard,
}

#[derive(Debug)]
struct Running {
    name: String,
    group: Group,
    output: PathBuf,
}

impl Servers {
    /// None yet.
    #[must_use]
    pub(super) fn new(guard: &Guard) -> Self {
        Self { running: Vec::new(), interrupted: guard.clone() }
    }

    /// Starts one after those that run, and waits until it is ready.
    ///
    /// # Errors
    /// Its port is taken, it cannot be started, ends, or is not ready in time.
    pub(super) fn start(&mut self, plan: &ServerPlan, place: &Place) -> Result<(), Broken> {
        let name = &plan.name;
        let ready = plan.ready.as_ref().map(|text| place.filling.fill(text));
        let ready = match &ready {
            None => None,
            Some(text) => Some(Ready::read(text).ok_or_else(|| {
                Broken::Failed(format!("{name}: \"{text}\" is no http:// or tcp:// address"))
            })?),
        };
        if let Some(ready) = &ready {
            self.is_free(name, ready)?;
        }
        let mut command = place.command(&plan.command, &plan.folder);
        for (key, value) in &plan.environment {
            command.env(key, place.filling.fill(value));
        }
        let output = place.file(&format!("{}.out", file_name(name, self.running.len())));
        let errors = output.with_extension("err");
        let group = Group::start(&command, (&output, &errors), plan.stop, &self.interrupted);
        let group = group.map_err(|error| {
            let reason = crate::input::reason(&error);
            Broken::Failed(format!("{name} cannot be started: {}: {reason}", plan.command[0]))
        })?;
        self.running.push(Running { name: name.clone(), group, output });
        match ready {
            Some(ready) => self.wait(&ready, plan.within),
            None => Ok(()),
        }
    }

    /// Nobody else listens where this server is to.
    fn is_free(&self, name: &str, ready: &Ready) -> Result<(), Broken> {
        let begin = Instant::now();
        while ready.is_taken() {
            self.heed()?;
            if begin.elapsed() > TAKEN_MAX {
                let host = ready.host();
                let by = holder(host);
                return Err(Broken::Failed(format!(
                    "{name} cannot be started: {host} is taken already{by}"
                )));
            }
            std::thread::sleep(ASK_EVERY);
        }
        Ok(())
    }

    /// Until the last one is ready.
    fn wait(&mut self, ready: &Ready, within: Duration) -> Result<(), Broken> {
        let begin = Instant::now();
        loop {
            self.heed()?;
            if let Some(text) = self.gone() {
                return Err(Broken::Failed(text));
            }
            if ready.answers() {
                return Ok(());
            }
            if begin.elapsed() >= within {
                let last = self.running.last().expect("it was started");
                let said = said(&last.output);
                return Err(Broken::Failed(format!(
                    "{} was not ready within {within:?}{said}",
                    last.name
                )));
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    /// The user wants no more.
    fn heed(&self) -> Result<(), Broken> {
        match self.interrupted.interrupts.seen() {
            0 => Ok(()),
            _ => Err(Broken::Interrupted),
        }
    }

    /// What is said of the first that has ended by itself.
    pub(super) fn gone(&mut self) -> Option<String> {
        self.running.iter_mut().find_map(|one| {
            let status = one.group.ended()?;
            let said = said(&one.output);
            Some(format!("{} ended by itself ({}){said}", one.name, ending(status)))
        })
    }

    /// The first processes, with their servers' names.
    pub(super) fn processes(&self) -> Vec<(String, u32)> {
        self.running.iter().map(|one| (one.name.clone(), one.group.id())).collect()
    }

    /// Stops all, the last first. Gives what is to be known of it.
    pub(super) fn stop(&mut self) -> Vec<String> {
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

/// Runs a command to its end.
///
/// # Errors
/// It cannot be started, takes longer than it may, or the user ends it.
pub(super) fn once(
    command: &Command,
    output: &Path,
    limit: Duration,
    guard: &Guard,
) -> Result<ExitStatus, Broken> {
    let program = command.get_program().display().to_string();
    let group = Group::start(command, (output, output), Signal::SIGTERM, guard);
    let mut group = group.map_err(|error| {
        let reason = crate::input::reason(&error);
        Broken::Failed(format!("{program} cannot be started: {reason}"))
    })?;
    let begin = Instant::now();
    loop {
        if let Some(status) = group.ended() {
            return Ok(status);
        }
        if guard.interrupts.seen() >= HURRY {
            return Err(Broken::Interrupted);
        }
        if begin.elapsed() >= limit {
            return Err(Broken::Failed(format!("{program} took longer than {limit:?}")));
        }
        std::thread::sleep(LOOK);
    }
}

/// A server's name as that of a file.
fn file_name(name: &str, number: usize) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    format!("{}-{}", number + 1, name.chars().map(plain).take(40).collect::<String>())
}

/// How a process ended, in words.
#[must_use]
pub(super) fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => {
            Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |s| s.to_string())
        }
        (None, None) => "an unknown end".to_owned(),
    }
}

/// Bytes of a file's end that are looked at.
const TAIL: u64 = 4096;
/// Lines that are told, at most, and characters of each.
const LINES_MAX: usize = 4;
const LINE_MAX: usize = 160;

/// The last a program said, on standard error where it said something there, ready to follow a sentence.
#[must_use]
pub(super) fn said(output: &Path) -> String {
    let lines = [output.with_extension("err"), output.to_owned()];
    let lines = lines.iter().map(|path| last_lines(path)).find(|lines| !lines.is_empty());
    lines.map_or(String::new(), |lines| format!("; it said last: {}", lines.join(" | ")))
}

fn last_lines(path: &Path) -> Vec<String> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        file.take(TAIL).read_to_end(&mut text)
    });
    // A file that cannot be read says nothing.
    read.ok();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_MAX)..].iter();
    let hidden = |c: char| if c.is_control() && c != '\t' { '\u{fffd}' } else { c };
    last.map(|line| line.trim().chars().take(LINE_MAX).map(hidden).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told() {
        let path = std::env::temp_dir().join(format!("brunt-said-{}.out", std::process::id()));
        std::fs::write(&path, "a\nb\n\nc\nd\ne\n").unwrap();
        assert_eq!(said(&path), "; it said last: b | c | d | e");
        std::fs::write(path.with_extension("err"), "broken\n").unwrap();
        assert_eq!(said(&path), "; it said last: broken");
        std::fs::remove_file(path.with_extension("err")).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(said(&path), "");
    }

    #[test]
    fn names_make_files() {
        assert_eq!(file_name("puma a/b", 0), "1-puma_a_b");
    }
}
