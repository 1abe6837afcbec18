//! `Runner`: one run, from the commands before it to those after it. Whatever happens in between, what it started is stopped,
//! and what it measured is kept.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use nix::sys::signal::Signal;
use stdx::Nanos;
use study::plan::{Ended, Slot};

use super::VERSION;
use super::file::{Study, Variant, Workload};
use super::folder::Folder;
use super::group::{Group, Guard, LOOK};
use super::machine;
use super::monitor::Monitor;
use super::record::Record;
use super::servers::{Broken, Place, Servers, ending, once, said};
use crate::exit_code::Failed;

/// How long a command before or after a run may take.
const ASIDE_MAX: Duration = Duration::from_secs(60);
/// How long a run may take: what hangs for so long is given up.
const RUN_MAX: Duration = Duration::from_secs(2 * 3600);
/// Stands for the exit code of who was killed by a signal.
const KILLED: i32 = -1;

/// Carries runs out.
#[derive(Debug)]
pub(super) struct Runner<'a> {
    pub(super) study: &'a Study,
    pub(super) folder: &'a Folder,
    pub(super) guard: Guard,
}

/// One run's surroundings.
struct Site<'a> {
    variant: &'a Variant,
    workload: &'a Workload,
    place: Place,
    /// A file for each generator.
    results: Vec<PathBuf>,
}

impl Runner<'_> {
    /// Carries one run out; `None` where the user ended it.
    ///
    /// # Errors
    /// Its folders or files cannot be written.
    pub(super) fn run(&self, slot: &Slot) -> Result<Option<Record>, Failed> {
        let site = self.site(slot);
        self.folder.prepare(&site.place.run, &site.results)?;
        let begin = Instant::now();
        let mut record = Record {
            ended: Ended::Measured,
            reason: String::new(),
            began: unix_ns(),
            took: Nanos::ZERO,
            start: Nanos::ZERO,
            codes: Vec::new(),
            load_before: machine::load_average(),
            brunt: VERSION.to_owned(),
            files: None,
            versions: None,
            notes: Vec::new(),
        };
        let mut servers = Servers::new(&self.guard);
        let went = match self.get_ready(&site, &mut servers, &mut record) {
            Ok(()) => {
                self.offer(&site, &mut servers, &mut record).map_err(|why| (why, Ended::Failed))
            }
            Err(why) => Err((why, Ended::Unready)),
        };
        record.notes.extend(servers.stop());
        self.after(site.variant, &site.place, &mut record.notes);
        record.took = nanos(begin.elapsed());
        match went {
            Err((Broken::Interrupted, _)) => {
                self.set_aside(slot)?;
                return Ok(None);
            }
            Err((Broken::Failed(reason), ended)) => {
                (record.ended, record.reason) = (ended, reason);
                self.set_aside(slot)?;
            }
            Ok(()) => self.rest(self.study.times.cool_down),
        }
        Ok(Some(record))
    }

    /// The commands that clear up after a run that was killed with its study. That they fail means that nothing was left.
    pub(super) fn clear_up(&self, slot: &Slot) -> Result<(), Failed> {
        let site = self.site(slot);
        self.folder.prepare(&site.place.run, &site.results)?;
        self.after(site.variant, &site.place, &mut Vec::new());
        Ok(())
    }

    fn site(&self, slot: &Slot) -> Site<'_> {
        let variant = &self.study.variants[slot.cell.variant];
        let workload = &self.study.workloads[slot.cell.workload];
        let names = (workload.name.as_str(), variant.name.as_str());
        let run = self.folder.run(names.0, names.1, slot.repeat);
        let results = self.folder.results(names, slot.repeat, variant.generators);
        Site { variant, workload, place: Place::of(self.folder, variant, run), results }
    }

    /// The commands before the run, and its servers until they are ready.
    fn get_ready(
        &self,
        site: &Site<'_>,
        servers: &mut Servers,
        record: &mut Record,
    ) -> Result<(), Broken> {
        for (number, words) in site.variant.before.iter().enumerate() {
            let output = site.place.file(&format!("before-{}.out", number + 1));
            let status = once(&site.place.command(words, "."), &output, ASIDE_MAX, &self.guard)?;
            if !status.success() {
                let (words, ending) = (words.join(" "), ending(status));
                return Err(Broken::Failed(format!("{words} failed ({ending}){}", said(&output))));
            }
        }
        let begin = Instant::now();
        for plan in &site.variant.servers {
            servers.start(plan, &site.place)?;
        }
        record.start = nanos(begin.elapsed());
        Ok(())
    }

    fn offer(
        &self,
        site: &Site<'_>,
        servers: &mut Servers,
        record: &mut Record,
    ) -> Result<(), Broken> {
        self.warm_up(site, servers)?;
        self.measure(site, servers, record)
    }

    /// Offers the workload for the time of the warm-up, and throws away what comes of it.
    fn warm_up(&self, site: &Site<'_>, servers: &mut Servers) -> Result<(), Broken> {
        let time = self.study.times.warm_up;
        let words = site.workload.family.thrown_away(&site.workload.command);
        let Some(words) = words.filter(|_| time > Nanos::ZERO) else { return Ok(()) };
        let mut groups = self.generators(site, "warm-up", |_| words.clone())?;
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_nanos(time.0) {
            self.look(servers, begin)?;
            if groups.iter_mut().all(|group| group.ended().is_some()) {
                break;
            }
            std::thread::sleep(LOOK);
        }
        groups.iter_mut().for_each(|group| {
            group.stop();
        });
        Ok(())
    }

    fn measure(
        &self,
        site: &Site<'_>,
        servers: &mut Servers,
        record: &mut Record,
    ) -> Result<(), Broken> {
        let Site { workload, place, .. } = site;
        let monitor = self
            .study
            .monitor
            .as_ref()
            .map(|plan| Monitor::start(plan, &servers.processes(), place, &self.guard));
        let monitor = monitor.and_then(|started| match started {
            Ok(monitor) => Some(monitor),
            Err(note) => {
                record.notes.push(note);
                None
            }
        });
        let warm_up = self.study.times.warm_up;
        let words = |number: usize| {
            workload.family.measured(&workload.command, &site.results[number - 1], warm_up)
        };
        let mut groups = self.generators(site, "generator", words)?;
        let begin = Instant::now();
        while groups.iter_mut().any(|group| group.ended().is_none()) {
            self.look(servers, begin)?;
            std::thread::sleep(LOOK);
        }
        self.look(servers, begin)?;
        record.notes.extend(monitor.and_then(|monitor| monitor.stop(place)));
        let ends = groups.iter_mut().filter_map(Group::ended);
        record.codes = ends.map(|status| status.code().unwrap_or(KILLED)).collect();
        if record.codes.contains(&KILLED) {
            return Err(Broken::Failed("a load generator was killed".to_owned()));
        }
        let codes = record.codes.iter().filter(|code| **code != 0);
        record.notes.extend(codes.map(|code| format!("a load generator ended with code {code}")));
        for (number, file) in site.results.iter().enumerate() {
            let there = std::fs::metadata(file).is_ok_and(|meta| meta.len() > 0);
            if workload.family.has_results() && !there {
                let said = said(&output(place, "generator", number + 1));
                let code = record.codes.get(number).copied().unwrap_or(KILLED);
                return Err(Broken::Failed(format!(
                    "the load generator left no results (code {code}){said}"
                )));
            }
        }
        Ok(())
    }

    /// Starts the load generators, each with its own words.
    fn generators(
        &self,
        site: &Site<'_>,
        what: &str,
        words: impl Fn(usize) -> Vec<String>,
    ) -> Result<Vec<Group>, Broken> {
        let mut groups = Vec::new();
        let mut lines = String::new();
        for number in 1..=site.variant.generators {
            let filling = site.place.filling.clone().with("generator", number.to_string());
            let place = Place { filling, ..site.place.clone() };
            let own = vec![super::OURSELVES.to_owned()];
            let line = [site.variant.prefix.clone(), own, words(number)].concat();
            let filled: Vec<String> = place.filling.fill_all(&line);
            lines.push_str(&filled.join(" "));
            lines.push('\n');
            let output = output(&place, what, number);
            let errors = output.with_extension("err");
            let command = by_ourselves(&place, &line, site.variant.prefix.len());
            let group = Group::start(&command, (&output, &errors), Signal::SIGINT, &self.guard);
            let group = group.map_err(|error| {
                let reason = crate::input::reason(&error);
                Broken::Failed(format!("{} cannot be started: {reason}", filled[0]))
            })?;
            groups.push(group);
        }
        if what == "generator" {
            // What was run is for people to read; that it cannot be written shows elsewhere.
            std::fs::write(site.place.file("command.txt"), lines).ok();
        }
        Ok(groups)
    }

    /// The servers run, the user wants it to go on, and time is not over.
    fn look(&self, servers: &mut Servers, begin: Instant) -> Result<(), Broken> {
        if self.guard.interrupts.seen() > 0 {
            return Err(Broken::Interrupted);
        }
        if let Some(gone) = servers.gone() {
            return Err(Broken::Failed(gone));
        }
        if begin.elapsed() > RUN_MAX {
            return Err(Broken::Failed(format!("took longer than {RUN_MAX:?}")));
        }
        Ok(())
    }

    fn after(&self, variant: &Variant, place: &Place, notes: &mut Vec<String>) {
        for (number, words) in variant.after.iter().enumerate() {
            let output = place.file(&format!("after-{}.out", number + 1));
            let line = words.join(" ");
            match once(&place.command(words, "."), &output, ASIDE_MAX, &self.guard) {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    let ending = ending(status);
                    notes.push(format!("{line} failed ({ending}){}", said(&output)));
                }
                Err(Broken::Failed(text)) => notes.push(text),
                Err(Broken::Interrupted) => notes.push(format!("{line} was not waited for")),
            }
        }
    }

    /// What a run has measured that counts for nothing is kept with its logs: among the results it would be taken for a run.
    ///
    /// # Errors
    /// A file cannot be moved.
    pub(super) fn set_aside(&self, slot: &Slot) -> Result<(), Failed> {
        let site = self.site(slot);
        for (number, file) in site.results.iter().enumerate().filter(|(_, file)| file.exists()) {
            let to = site.place.file(&format!("partial-{}.arrow", number + 1));
            std::fs::rename(file, &to).with_context(|| format!("moving {}", file.display()))?;
        }
        Ok(())
    }

    /// Waits, unless the user wants to end.
    fn rest(&self, time: Nanos) {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_nanos(time.0) && self.guard.interrupts.seen() == 0 {
            std::thread::sleep(LOOK);
        }
    }
}

/// A generator's standard output.
pub(super) fn output(place: &Place, what: &str, number: usize) -> PathBuf {
    place.file(&format!("{what}-{number}.out"))
}

/// A command line whose word at this place is our own program, by its path.
fn by_ourselves(place: &Place, line: &[String], at: usize) -> Command {
    let mut line = line.to_vec();
    if let Ok(own) = std::env::current_exe() {
        line[at] = own.display().to_string();
    }
    place.command(&line, ".")
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Unix time in nanoseconds.
fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
