//! The run of a plan: JMeter's lines around it, its results, its end.

use std::sync::Arc;

use anyhow::Context as _;
use cli::{Interrupts, Output, eprint_line};
use jmeter::{LogLevel, World, WorldPlan};
use jmx::{MemoryScope, Writing};
use session::{Control as RunControl, Observer, RunPlace, RunRequest, SessionOptions};
use users::Control;

use super::arguments::Arguments;
use super::disk::PlanDisk;
use super::journal::Journal;
use super::plan::{self, ReadyPlan};
use super::results::PlanResults;
use super::{dashboard, moments, properties, settings};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunEnd {
    Whole,
    Interrupted,
}

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
pub(super) fn carry_out(arguments: &Arguments) -> anyhow::Result<RunEnd> {
    if let Some(names) = &arguments.redacted {
        stdx::redact(names);
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

fn run(arguments: &Arguments, journal: &Arc<Journal>) -> anyhow::Result<RunEnd> {
    let properties = properties::of(arguments)?;
    let seed = moments::now_ms() as u64;
    journal.write(LogLevel::Info, "o.a.j.JMeter", &format!("Loading file: {}", arguments.plan));
    journal.write(LogLevel::Debug, "o.a.j.JMeter", &format!("{} properties", properties.len()));
    let ReadyPlan { program, folder, file_name, notes, left_out } =
        plan::read(&arguments.plan, arguments.unknown_scripts, &properties, seed)?;
    for line in &left_out {
        journal.write(LogLevel::Warn, "o.a.j.JMeter", line);
        eprint_line(&format!("jmeter: {line}"));
    }
    for note in &notes {
        journal.write(LogLevel::Warn, "o.a.j.c.IncludeController", note);
    }
    let how = if arguments.replaces { Writing::Replace } else { Writing::Append };
    let results = (arguments.results.as_deref(), how);
    let sink = PlanResults::open(results, &program.listeners, &properties, Arc::clone(journal))?;
    let sink = Arc::new(sink);
    if let Some(folder) = &arguments.report {
        dashboard::prepare(folder)?;
        sink.keep_statistics();
    }
    let mut scope = MemoryScope::default();
    scope.properties.clone_from(&properties);
    scope.variables.extend(program.variables.iter().cloned());
    let settings = settings::settings(&program, &mut scope);
    let program = Arc::new(program);
    let world = World::new(WorldPlan {
        program: Arc::clone(&program),
        properties,
        file_name,
        disk: Arc::new(PlanDisk { folder }),
        sink: Arc::clone(&sink) as Arc<dyn jmeter::Sink>,
        seed,
        utc_offset_s: moments::utc_offset_s,
        machine: (machine_name(), "127.0.0.1".to_owned()),
    });
    announce(&sink, arguments);
    let ended = match program.users() {
        0 => RunEnd::Whole,
        users => threads(&world, users, &settings, &sink)?,
    };
    let statistics = sink.statistics();
    let ended = conclude(&sink, &world, ended)?;
    if let Some((folder, statistics)) = arguments.report.as_ref().zip(statistics) {
        dashboard::write(folder, &statistics)?;
    }
    Ok(ended)
}

/// Runs the threads to their end.
fn threads(
    world: &Arc<World>,
    users: u64,
    settings: &engine::Settings,
    sink: &Arc<PlanResults>,
) -> anyhow::Result<RunEnd> {
    let interrupts = Interrupts::watch().map_err(|failed| failed.error)?;
    let (plan, control) = settings::load(world, users);
    let options = SessionOptions { drain_notice: false, ..SessionOptions::new(&interrupts) };
    let request = RunRequest::new(plan, options);
    let mut clock = SummaryClock::new(&control, world, sink);
    request.carry_out(RunPlace::here(settings), &mut [&mut clock]).context("the run failed")?;
    if let Some(reason) = control.broken() {
        anyhow::bail!("the threads could not be made: {reason}");
    }
    Ok(if interrupts.seen() > 0 { RunEnd::Interrupted } else { RunEnd::Whole })
}

/// The lines before the run.
fn announce(sink: &PlanResults, arguments: &Arguments) {
    for name in sink.summarisers() {
        print(&format!("Creating summariser <{name}>"));
    }
    print(&format!("Created the tree successfully using {}", arguments.plan));
    let now = moments::now_ms();
    print(&format!("Starting standalone test @ {}", moments::with_number(now)));
    print(&format!(
        "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port {PORT}"
    ));
    sink.journal.write(LogLevel::Info, "o.a.j.e.StandardJMeterEngine", "Running the test!");
}

/// The lines behind the run.
fn conclude(sink: &PlanResults, world: &World, ended: RunEnd) -> anyhow::Result<RunEnd> {
    if ended == RunEnd::Whole {
        for line in sink.last_lines(world.threads()) {
            sink.journal.write(LogLevel::Info, "o.a.j.r.Summariser", &line);
            print(&line);
        }
    }
    sink.journal.write(
        LogLevel::Info,
        "o.a.j.e.StandardJMeterEngine",
        "Notifying test listeners of end of test",
    );
    sink.close()?;
    if ended == RunEnd::Whole {
        print(&format!("Tidying up ...    @ {}", moments::with_number(moments::now_ms())));
        print("... end of run");
    }
    Ok(ended)
}

/// Prints the lines of summarisers while the run goes on, and ends it when the user interrupts.
struct SummaryClock {
    control: Arc<Control>,
    world: Arc<World>,
    sink: Arc<PlanResults>,
    began_ms: i64,
    next_ms: i64,
}

impl SummaryClock {
    fn new(control: &Arc<Control>, world: &Arc<World>, sink: &Arc<PlanResults>) -> Self {
        let now = moments::now_ms();
        Self {
            control: Arc::clone(control),
            world: Arc::clone(world),
            sink: Arc::clone(sink),
            began_ms: now,
            next_ms: (now / SUMMARY_EVERY_MS + 1) * SUMMARY_EVERY_MS,
        }
    }
}

impl Observer for SummaryClock {
    fn tick(&mut self, run: &mut RunControl<'_>) {
        if run.interrupts() > 0 {
            self.control.interrupt();
        }
        let now = moments::now_ms();
        if now < self.next_ms {
            return;
        }
        self.next_ms = (now / SUMMARY_EVERY_MS + 1) * SUMMARY_EVERY_MS;
        if now - self.began_ms < SUMMARY_MIN_MS {
            return;
        }
        for line in self.sink.report(self.world.threads()) {
            self.sink.journal.write(LogLevel::Info, "o.a.j.r.Summariser", &line);
            print(&line);
        }
        self.sink.journal.flush();
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
