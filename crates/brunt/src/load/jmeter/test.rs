//! `run plan.jmx`: a plan of JMeter's as a load test like any other: with the displays, gates, outputs and the verdict of `run`.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use cli::{
    CommandError, ExitCode, ExitError, FlagError, Invocation, OrExit, ParsedArgs, usage_error,
};
use jmeter::{World, WorldPlan};
use jmx::Writing;
use session::save::SavedTest;
use session::{Control as RunControl, Observer};
use users::Control;

use super::checks::CheckedResults;
use super::disk::PlanDisk;
use super::flags::{FLAGS, PlanFlags};
use super::journal::Journal;
use super::plan::{self, ReadyPlan};
use super::results::PlanResults;
use super::{moments, properties, settings};
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::load_test::LoadTest;
use crate::load::outputs::{OutputFlags, Outputs};
use crate::load::run::{Beside, run_load_test_beside};

/// Runs what a command line of `run` names: a script, or a plan of JMeter's.
///
/// # Errors
/// The command line is wrong, or the test cannot be carried out.
pub(crate) fn run_script_or_plan(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    match plan_of(invocation) {
        None => k6::run(invocation),
        Some(path) => run_plan(invocation, &path),
    }
}

/// Checks such a command line without sending anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate_script_or_plan(invocation: &Invocation) -> Result<(), CommandError> {
    match plan_of(invocation) {
        None => k6::validate(invocation),
        Some(_) => typed(invocation).map(drop),
    }
}

/// The operand, where it is a plan by its name or its content.
fn plan_of(invocation: &Invocation) -> Option<String> {
    let operands = k6::operands(invocation);
    let [path] = operands.as_slice() else { return None };
    is_plan(path).then(|| path.clone())
}

/// Whether a file is a plan, by its name or its content.
pub(crate) fn is_plan(path: &str) -> bool {
    let has_ending = Path::new(path).extension().is_some_and(|it| it.eq_ignore_ascii_case("jmx"));
    has_ending || !cli::input::is_stdin(path) && has_root(path)
}

/// Whether a file begins as plans do.
fn has_root(path: &str) -> bool {
    let is_file = std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    let Some(file) = is_file.then(|| std::fs::File::open(path).ok()).flatten() else {
        return false;
    };
    let mut front = Vec::new();
    let read = file.take(FRONT).read_to_end(&mut front);
    read.is_ok() && front.windows(ROOT.len()).any(|window| window == ROOT)
}

/// Bytes of a file in which a plan has its root.
const FRONT: u64 = 4 << 10;
const ROOT: &[u8] = b"<jmeterTestPlan";

/// The flags of a plan. Those that say what scripts do are refused.
fn typed(invocation: &Invocation) -> Result<ParsedArgs<PlanFlags>, CommandError> {
    invocation.parse(FLAGS).map_err(|error| match error {
        FlagError::Unknown { name, .. } if name.starts_with("fleet") => usage_error(format!(
            "flag -{name}: a plan of JMeter's runs on this machine"
        )),
        FlagError::Unknown { name, .. } => usage_error(format!(
            "flag -{name}: says what scripts do; a plan of JMeter's says it in its elements (give -J NAME=VALUE for its properties)"
        )),
        error => error.into(),
    })
}

fn run_plan(invocation: &Invocation, path: &str) -> Result<ExitCode, CommandError> {
    let args = typed(invocation)?;
    let journal = Arc::new(Journal::on_stderr(args.flags.log_level));
    let threads = Threads::read(path, &args.flags, journal).or_exit(ExitCode::Input)?;
    let mut test = threads.load_test(&args)?;
    let inputs = [path];
    test.spares(&inputs)?;
    let name = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let saved = SavedTest { command: "run", args: &invocation.args, name, inputs: &inputs };
    test.saving = args.flags.saving.request(saved)?;
    let mut interrupter = Interrupter(Arc::clone(&threads.control), Arc::clone(&threads.world));
    let asserted = || threads.results.asserted();
    let beside = Beside { observer: &mut interrupter, asserted: &asserted };
    let code = run_load_test_beside(test, &LoadRules::NATIVE, beside);
    let closed = threads.close();
    let code = code?;
    closed?;
    Ok(code)
}

/// The threads of a plan, ready to run.
struct Threads {
    files: Arc<PlanResults>,
    results: Arc<CheckedResults>,
    control: Arc<Control>,
    world: Arc<World>,
    plan: workload::Plan,
    settings: engine::Settings,
}

impl Threads {
    fn read(path: &str, flags: &PlanFlags, journal: Arc<Journal>) -> anyhow::Result<Self> {
        let mut properties = HashMap::new();
        properties::set(&flags.properties, &mut properties);
        let seed = moments::now_ms() as u64;
        let ReadyPlan { program, folder, file_name, notes, left_out, wrong_calls } =
            plan::read(path, flags.unknown_scripts, &properties, seed)?;
        anyhow::ensure!(wrong_calls.is_empty(), "{path}: {}", wrong_calls.join("\n"));
        notes.iter().chain(&left_out).for_each(|line| session::warn(line));
        if program.users() == 0 {
            return Err(anyhow!("{path}: no thread group of the plan has threads"));
        }
        let listeners = &program.listeners;
        let mut scope = super::run::scope_of(&program, &properties);
        let files = PlanResults::open((None, Writing::Append), listeners, &mut scope, journal)?;
        let files = Arc::new(files);
        let results = Arc::new(CheckedResults::new(Arc::clone(&files)));
        let settings = settings::settings(&program, &mut scope);
        let program = Arc::new(program);
        let world = World::new(WorldPlan {
            program: Arc::clone(&program),
            properties,
            file_name,
            disk: Arc::new(PlanDisk { folder }),
            sink: Arc::clone(&results) as Arc<dyn jmeter::Sink>,
            seed,
            utc_offset_s: moments::utc_offset_s,
            machine: (super::run::machine_name(), "127.0.0.1".to_owned()),
        });
        let (plan, control) = settings::load(&world, program.users());
        Ok(Self { files, results, control, world, plan, settings })
    }

    /// The load test that flags make of them.
    fn load_test(&self, args: &ParsedArgs<PlanFlags>) -> Result<LoadTest, CommandError> {
        let PlanFlags { results, display, watched, saving, .. } = &args.flags;
        if let Some(gate) = display.gates.of_planned_rate() {
            return Err(usage_error(format!(
                "flag -fail-on: \"{}\": a plan of JMeter's plans no rate of requests (give requests per second, as in rate<100)",
                gate.expression
            )));
        }
        let environment = Environment::of_process_with_report();
        let flags = OutputFlags { results, display, watched, saving };
        let outputs = Outputs::resolve(&LoadRules::NATIVE, &flags, &environment)?;
        Ok(LoadTest::new(self.plan.clone(), self.settings.clone(), outputs))
    }

    /// Closes the files of listeners.
    fn close(&self) -> Result<(), ExitError> {
        if let Some(reason) = self.control.broken() {
            return Err(anyhow!("the threads could not be made: {reason}").into());
        }
        Ok(self.files.close()?)
    }
}

/// Ends the threads when the user interrupts.
struct Interrupter(Arc<Control>, Arc<World>);

impl Observer for Interrupter {
    fn tick(&mut self, run: &mut RunControl<'_>) {
        if run.interrupts() > 0 {
            self.0.interrupt();
            self.1.end();
        }
    }
}
