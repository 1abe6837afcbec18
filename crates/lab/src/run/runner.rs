//! `Runner`: one run, from the commands before it to those after it. Whatever fails in between, the processes it started are
//! stopped and its files remain.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use cli::ExitError;
use stdx::Nanos;
use study::plan::{RunOutcome, Slot};

use super::command::{RunError, run_to_end};
use super::environment::{RunEnvironment, generator_output};
use super::generators::{self, KILLED, Purpose};
use super::monitor::MonitorProcess;
use super::servers::Servers;
use crate::file::{Study, Variant, Workload};
use crate::machine::load_average;
use crate::process::group::{POLL_INTERVAL, ProcessGroup, RunGuard};
use crate::process::output_tail::{exit_text, output_tail};
use crate::state::folder::StudyFolder;
use crate::state::record::RunRecord;

/// How long a command before or after a run may take.
const COMMAND_MAX: Duration = Duration::from_secs(60);
/// How long a run may take; a run that takes longer has failed.
const RUN_MAX: Duration = Duration::from_secs(2 * 3600);

/// Carries out runs.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    pub(crate) study: &'a Study,
    pub(crate) folder: &'a StudyFolder,
    pub(crate) guard: RunGuard,
}

/// A run that is carried out.
struct ActiveRun<'a> {
    variant: &'a Variant,
    workload: &'a Workload,
    environment: RunEnvironment,
    /// A file for each load generator.
    results: Vec<PathBuf>,
}

impl Runner<'_> {
    /// Carries out one run; `None` if the user interrupted it.
    ///
    /// # Errors
    /// Its folders or files cannot be written.
    pub(crate) fn run(&self, slot: &Slot) -> Result<Option<RunRecord>, ExitError> {
        let run = self.active_run(slot);
        self.folder.prepare(&run.environment.run, &run.results)?;
        let start = Instant::now();
        let mut record = RunRecord {
            load_before: load_average(),
            brunt: env!("CARGO_PKG_VERSION").to_owned(),
            ..RunRecord::started_at(unix_ns())
        };
        let mut servers = Servers::new(&self.guard);
        let result = match self.prepare(&run, &mut servers, &mut record) {
            Ok(()) => self
                .offer_load(&run, &mut servers, &mut record)
                .map_err(|error| (error, RunOutcome::Failed)),
            Err(error) => Err((error, RunOutcome::Unready)),
        };
        record.notes.extend(servers.stop());
        self.run_after(&run, &mut record.notes);
        record.took = nanos(start.elapsed());
        match result {
            Err((RunError::Interrupted, _)) => {
                self.set_aside(slot)?;
                return Ok(None);
            }
            Err((RunError::Failed(reason), ended)) => {
                (record.ended, record.reason) = (ended, reason);
                self.set_aside(slot)?;
            }
            Ok(()) => self.cool_down(),
        }
        Ok(Some(record))
    }

    /// Runs the commands after a run that was killed together with its study. They may fail where nothing is left to clear up.
    pub(crate) fn clear_up(&self, slot: &Slot) -> Result<(), ExitError> {
        let run = self.active_run(slot);
        self.folder.prepare(&run.environment.run, &run.results)?;
        self.run_after(&run, &mut Vec::new());
        Ok(())
    }

    fn active_run(&self, slot: &Slot) -> ActiveRun<'_> {
        let variant = &self.study.variants[slot.cell.variant];
        let workload = &self.study.workloads[slot.cell.workload];
        let names = (workload.name.as_str(), variant.name.as_str());
        let folder = self.folder.run(names.0, names.1, slot.repeat);
        let results = self.folder.results(names, slot.repeat, variant.generators);
        let environment = RunEnvironment::of(self.folder, variant, folder);
        ActiveRun { variant, workload, environment, results }
    }

    /// Runs the commands before the run, and starts its servers until they are ready.
    fn prepare(
        &self,
        run: &ActiveRun<'_>,
        servers: &mut Servers,
        record: &mut RunRecord,
    ) -> Result<(), RunError> {
        for (number, words) in run.variant.before.iter().enumerate() {
            let output = run.environment.file(&format!("before-{}.out", number + 1));
            let command = run.environment.command(words, ".");
            let status = run_to_end(&command, &output, COMMAND_MAX, &self.guard)?;
            if !status.success() {
                let (words, ending) = (words.join(" "), exit_text(status));
                let tail = output_tail(&output);
                return Err(RunError::Failed(format!("{words} failed ({ending}){tail}")));
            }
        }
        let start = Instant::now();
        for plan in &run.variant.servers {
            servers.start(plan, &run.environment)?;
        }
        record.start = nanos(start.elapsed());
        Ok(())
    }

    fn offer_load(
        &self,
        run: &ActiveRun<'_>,
        servers: &mut Servers,
        record: &mut RunRecord,
    ) -> Result<(), RunError> {
        self.warm_up(run, servers)?;
        self.measure(run, servers, record)?;
        check_results(run, &record.codes)
    }

    /// Offers the workload for the time of the warm-up, and throws its results away.
    fn warm_up(&self, run: &ActiveRun<'_>, servers: &mut Servers) -> Result<(), RunError> {
        let time = self.study.times.warm_up;
        let words = run.workload.family.thrown_away(&run.workload.command);
        let Some(words) = words.filter(|_| time > Nanos::ZERO) else { return Ok(()) };
        let start = (run.variant, &run.environment);
        let mut groups = generators::start(start, &self.guard, Purpose::WarmUp, |_| words.clone())?;
        let start = Instant::now();
        while start.elapsed() < Duration::from_nanos(time.0) {
            self.check(servers, start)?;
            if groups.iter_mut().all(|group| group.ended().is_some()) {
                break;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        groups.iter_mut().for_each(|group| {
            group.stop();
        });
        Ok(())
    }

    /// Offers the workload to its end, with the monitor beside it.
    fn measure(
        &self,
        run: &ActiveRun<'_>,
        servers: &mut Servers,
        record: &mut RunRecord,
    ) -> Result<(), RunError> {
        let ActiveRun { variant, workload, environment, results } = run;
        let plan = self.study.monitor.as_ref();
        let monitor = plan
            .map(|plan| MonitorProcess::start(plan, &servers.processes(), environment, &self.guard))
            .transpose()
            .unwrap_or_else(|note| {
                record.notes.push(note);
                None
            });
        let warm_up = self.study.times.warm_up;
        let words = |number: usize| {
            workload.family.measured(&workload.command, &results[number - 1], warm_up)
        };
        let of = (*variant, environment);
        let mut groups = generators::start(of, &self.guard, Purpose::Measurement, words)?;
        let start = Instant::now();
        while groups.iter_mut().any(|group| group.ended().is_none()) {
            self.check(servers, start)?;
            std::thread::sleep(POLL_INTERVAL);
        }
        self.check(servers, start)?;
        record.notes.extend(monitor.and_then(|monitor| monitor.stop(environment)));
        let ends = groups.iter_mut().filter_map(ProcessGroup::ended);
        record.codes = ends.map(|status| status.code().unwrap_or(KILLED)).collect();
        if record.codes.contains(&KILLED) {
            return Err(RunError::Failed("a load generator was killed".to_owned()));
        }
        let codes = record.codes.iter().filter(|code| **code != 0);
        record.notes.extend(codes.map(|code| format!("a load generator ended with code {code}")));
        Ok(())
    }

    /// The servers are running, the user has not interrupted the study, and [`RUN_MAX`] has not passed.
    fn check(&self, servers: &mut Servers, start: Instant) -> Result<(), RunError> {
        if self.guard.interrupts.seen() > 0 {
            return Err(RunError::Interrupted);
        }
        if let Some(exited) = servers.exited() {
            return Err(RunError::Failed(exited));
        }
        if start.elapsed() > RUN_MAX {
            return Err(RunError::Failed(format!("took longer than {RUN_MAX:?}")));
        }
        Ok(())
    }

    /// Runs the commands after the run; failures become notes.
    fn run_after(&self, run: &ActiveRun<'_>, notes: &mut Vec<String>) {
        for (number, words) in run.variant.after.iter().enumerate() {
            let output = run.environment.file(&format!("after-{}.out", number + 1));
            let line = words.join(" ");
            let command = run.environment.command(words, ".");
            match run_to_end(&command, &output, COMMAND_MAX, &self.guard) {
                Ok(status) if status.success() => {}
                Ok(status) => {
                    let (ending, tail) = (exit_text(status), output_tail(&output));
                    notes.push(format!("{line} failed ({ending}){tail}"));
                }
                Err(RunError::Failed(text)) => notes.push(text),
                Err(RunError::Interrupted) => notes.push(format!("{line} was not waited for")),
            }
        }
    }

    /// Moves the results of a run that does not count to its logs: a file among the results would count as a run.
    ///
    /// # Errors
    /// A file cannot be moved.
    pub(crate) fn set_aside(&self, slot: &Slot) -> Result<(), ExitError> {
        let run = self.active_run(slot);
        for (number, file) in run.results.iter().enumerate().filter(|(_, file)| file.exists()) {
            let to = run.environment.file(&format!("partial-{}.arrow", number + 1));
            std::fs::rename(file, &to).with_context(|| format!("moving {}", file.display()))?;
        }
        Ok(())
    }

    /// Waits for the time of the cool-down, or until the user interrupts.
    fn cool_down(&self) {
        let (start, time) = (Instant::now(), Duration::from_nanos(self.study.times.cool_down.0));
        while start.elapsed() < time && self.guard.interrupts.seen() == 0 {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// Every load generator has left results.
fn check_results(run: &ActiveRun<'_>, codes: &[i32]) -> Result<(), RunError> {
    if !run.workload.family.has_results() {
        return Ok(());
    }
    for (number, file) in run.results.iter().enumerate() {
        if !std::fs::metadata(file).is_ok_and(|meta| meta.len() > 0) {
            let tail = output_tail(&generator_output(&run.environment, "generator", number + 1));
            let code = codes.get(number).copied().unwrap_or(KILLED);
            return Err(RunError::Failed(format!(
                "the load generator left no results (code {code}){tail}"
            )));
        }
    }
    Ok(())
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Unix time in nanoseconds.
fn unix_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
