//! The run of a plan: JMeter's lines around it, its results, its end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cli::{Interrupts, Output, eprint_line};
use jmeter::{LogLevel, Program, World, WorldPlan};
use jmx::{MemoryScope, Writing};
use session::{Control as RunControl, Observer, RunPlace, RunRequest, SessionOptions};
use users::Control;

use super::arguments::Arguments;
use super::disk::PlanDisk;
use super::journal::Journal;
use super::plan::{self, ReadyPlan};
use super::results::PlanResults;
use super::{dashboard, moments, properties, settings};

/// A port that no one listens on: brunt is stopped by signals.
const PORT: u16 = 4445;
/// Lines of the summariser come this often, on the clock.
const SUMMARY_EVERY_MS: i64 = 30_000;
/// A line is left out so soon after the beginning.
const SUMMARY_MIN_MS: i64 = 5_000;

/// Runs the plan of a command line.
///
/// # Errors
/// It cannot be run, or its results cannot be written.
pub(super) fn carry_out(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(names) = &arguments.redacted {
        stdx::redact(names);
    }
    for letter in &arguments.left_out {
        eprint_line(&format!("jmeter: flag -{letter} is left out: it does nothing here"));
    }
    let journal = Arc::new(Journal::open(arguments.log.as_deref(), &arguments.levels)?);
    let ended = run(arguments, &journal);
    if let Err(error) = &ended {
        journal.write(
            LogLevel::Error,
            "o.a.j.JMeter",
            &format!("Error in NonGUIDriver: {error:#}"),
        );
    }
    journal.flush();
    ended
}

fn run(arguments: &Arguments, journal: &Arc<Journal>) -> anyhow::Result<()> {
    let properties = properties::of(arguments)?;
    let seed = moments::now_ms() as u64;
    journal.write(LogLevel::Info, "o.a.j.JMeter", &format!("Loading file: {}", arguments.plan));
    journal.write(LogLevel::Debug, "o.a.j.JMeter", &format!("{} properties", properties.len()));
    let ready = plan::read(&arguments.plan, arguments.unknown_scripts, &properties, seed)?;
    if !ready.wrong_calls.is_empty() {
        refuse_calls(&ready.wrong_calls, journal, arguments);
        return Ok(());
    }
    let ReadyPlan { program, folder, file_name, notes, left_out, .. } = ready;
    for line in &left_out {
        journal.write(LogLevel::Warn, "o.a.j.JMeter", line);
        eprint_line(&format!("jmeter: {line}"));
    }
    for note in &notes {
        journal.write(LogLevel::Warn, "o.a.j.c.IncludeController", note);
        eprint_line(&format!("jmeter: {}", stdx::terminal_line(note)));
    }
    let how = if arguments.replaces { Writing::Replace } else { Writing::Append };
    let results = (arguments.results.as_deref(), how);
    let mut scope = scope_of(&program, &properties);
    let sink = PlanResults::open(results, &program.listeners, &mut scope, Arc::clone(journal))?;
    let sink = Arc::new(sink);
    if let Some(folder) = &arguments.report {
        dashboard::prepare(folder)?;
        sink.keep_statistics();
    }
    let settings = settings::settings(&program, &mut scope);
    let users = program.users();
    let world = World::new(WorldPlan {
        program: Arc::new(program),
        properties,
        file_name,
        disk: Arc::new(PlanDisk { folder }),
        sink: Arc::clone(&sink) as Arc<dyn jmeter::Sink>,
        seed,
        utc_offset_s: moments::utc_offset_s,
        machine: (machine_name(), "127.0.0.1".to_owned()),
    });
    announce(&sink, arguments);
    let conclusion = Conclusion { sink, world, report: arguments.report.clone() };
    match users {
        0 => {}
        users => threads(users, &settings, &conclusion)?,
    }
    conclusion.write()
}

/// What is evaluated before any thread: properties, and the variables of the plan.
pub(super) fn scope_of(program: &Program, properties: &HashMap<String, String>) -> MemoryScope {
    let mut scope = MemoryScope::default();
    scope.properties.clone_from(properties);
    scope.unix_ms = moments::now_ms();
    scope.variables.extend(program.variables.iter().cloned());
    scope
}

/// Says which calls of functions are wrong. Nothing runs then, and the command ends as JMeter does, with 0.
fn refuse_calls(calls: &[String], journal: &Journal, arguments: &Arguments) {
    print_start(arguments);
    for call in calls {
        let from = "o.a.j.e.StandardJMeterEngine";
        journal.write(LogLevel::Error, from, &format!("Error occurred compiling the tree: {call}"));
        eprint_line(&format!("jmeter: nothing is run: {}", stdx::terminal_line(call)));
    }
    print("Error occurred compiling the tree: - see log file");
}

/// Runs the threads to their end.
fn threads(users: u64, settings: &engine::Settings, conclusion: &Conclusion) -> anyhow::Result<()> {
    let interrupts = Interrupts::watch().map_err(|failed| failed.error)?;
    let (plan, control) = settings::load(&conclusion.world, users);
    let options = SessionOptions { drain_notice: false, ..SessionOptions::new(&interrupts) };
    let request = RunRequest::new(plan, options);
    let mut clock = SummaryClock::new(&control, conclusion);
    request.carry_out(RunPlace::here(settings), &mut [&mut clock]).context("the run failed")?;
    if let Some(reason) = control.broken() {
        anyhow::bail!("the threads could not be made: {reason}");
    }
    Ok(())
}

/// The lines before the run.
fn announce(sink: &PlanResults, arguments: &Arguments) {
    for name in sink.summarisers() {
        print(&format!("Creating summariser <{name}>"));
    }
    print_start(arguments);
    sink.journal.write(LogLevel::Info, "o.a.j.e.StandardJMeterEngine", "Running the test!");
}

fn print_start(arguments: &Arguments) {
    print(&format!("Created the tree successfully using {}", arguments.plan));
    let now = moments::now_ms();
    print(&format!("Starting standalone test @ {}", moments::with_number(now)));
    print(&format!(
        "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {PORT}"
    ));
}

/// What is written at the end of a run, also of one that the user ends.
struct Conclusion {
    sink: Arc<PlanResults>,
    world: Arc<World>,
    /// The folder of a report.
    report: Option<String>,
}

impl Conclusion {
    /// Writes the last lines, the results and the report.
    ///
    /// # Errors
    /// A file could not be written.
    fn write(&self) -> anyhow::Result<()> {
        let Self { sink, world, report } = self;
        for line in sink.last_lines(world.threads()) {
            sink.journal.write(LogLevel::Info, "o.a.j.r.Summariser", &line);
            print(&line);
        }
        sink.journal.write(
            LogLevel::Info,
            "o.a.j.e.StandardJMeterEngine",
            "Notifying test listeners of end of test",
        );
        let statistics = sink.take_statistics();
        sink.close()?;
        print(&format!("Tidying up ...    @ {}", moments::with_number(moments::now_ms())));
        if let Some((folder, statistics)) = report.as_ref().zip(statistics) {
            dashboard::write(folder, &statistics)?;
            report_left_out(statistics.left_out());
        }
        // Lines before it went to standard error where standard output takes none; a run that ends so is no success.
        Output::Stdout.write(b"... end of run\n").map_err(|failed| failed.error)
    }

    /// Ends the process without threads that are within a call that does not end.
    fn leave(&self) -> ! {
        eprint_line(LEFT_BEHIND);
        self.sink.journal.write(LogLevel::Warn, "o.a.j.e.StandardJMeterEngine", LEFT_BEHIND);
        let written = self.write();
        if let Err(error) = &written {
            eprint_line(&format!("jmeter: {error:#}"));
        }
        self.sink.journal.flush();
        std::process::exit(i32::from(written.is_err()))
    }
}

/// Prints how many samples no label of the report has.
fn report_left_out(samples: u64) {
    if samples > 0 {
        let samples = stdx::counted(samples, "sample");
        eprint_line(&format!(
            "jmeter: {samples} in the report's total alone: no more labels, or no memory for them (-memory-limit)"
        ));
    }
}

/// How long threads that are asked to end may be within one call.
const LEAVE_AFTER: Duration = Duration::from_secs(1);
const LEFT_BEHIND: &str = "jmeter: threads that did not end within 1s are left behind";

/// Prints the lines of summarisers while the run goes on, and ends it when the user interrupts.
struct SummaryClock<'a> {
    control: Arc<Control>,
    conclusion: &'a Conclusion,
    interrupted: Option<Instant>,
    began_ms: i64,
    next_ms: i64,
}

impl<'a> SummaryClock<'a> {
    fn new(control: &Arc<Control>, conclusion: &'a Conclusion) -> Self {
        let now = moments::now_ms();
        Self {
            control: Arc::clone(control),
            conclusion,
            interrupted: None,
            began_ms: now,
            next_ms: (now / SUMMARY_EVERY_MS + 1) * SUMMARY_EVERY_MS,
        }
    }

    /// Ends all threads, and after a while without them.
    fn interrupt(&mut self) {
        self.control.interrupt();
        self.conclusion.world.end();
        if self.interrupted.get_or_insert_with(Instant::now).elapsed() >= LEAVE_AFTER {
            self.conclusion.leave();
        }
    }
}

impl Observer for SummaryClock<'_> {
    fn tick(&mut self, run: &mut RunControl<'_>) {
        if run.interrupts() > 0 {
            self.interrupt();
        }
        let now = moments::now_ms();
        if now < self.next_ms {
            return;
        }
        self.next_ms = (now / SUMMARY_EVERY_MS + 1) * SUMMARY_EVERY_MS;
        if now - self.began_ms < SUMMARY_MIN_MS {
            return;
        }
        let Conclusion { sink, world, .. } = self.conclusion;
        for line in sink.report(world.threads()) {
            sink.journal.write(LogLevel::Info, "o.a.j.r.Summariser", &line);
            print(&line);
        }
        sink.journal.flush();
    }
}

/// The name of this machine.
pub(super) fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "localhost".to_owned() } else { name.trim().to_owned() }
}

/// Writes a line to standard output; the run goes on without a reader. Names in it are the plan's.
fn print(line: &str) {
    let line = &stdx::terminal_line(line);
    if Output::Stdout.write(format!("{line}\n").as_bytes()).is_err() {
        eprint_line(line);
    }
}
