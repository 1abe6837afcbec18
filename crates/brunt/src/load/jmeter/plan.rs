//! The plan of a command line: read, checked, made ready.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use jmeter::Program;
use jmx::{MemoryScope, PLAN_BYTES_MAX, PlanFile, UnknownScripts, read_plan};

use super::doors::{self, PlanFolder};
use super::moments;

/// A plan that is ready.
pub(super) struct ReadyPlan {
    pub(super) program: Program,
    /// The folder that its relative names begin in.
    pub(super) folder: PlanFolder,
    pub(super) file_name: String,
    /// What is worth a line of the log.
    pub(super) notes: Vec<String>,
    /// Scripts that are left out, and why.
    pub(super) left_out: Vec<String>,
    /// Calls of functions with which JMeter runs nothing of a plan.
    pub(super) wrong_calls: Vec<String>,
}

/// Reads a plan.
///
/// # Errors
/// It cannot be read, is no plan, or has what is not understood: all of that is said at once.
pub(super) fn read(
    name: &str,
    unknown_scripts: UnknownScripts,
    properties: &HashMap<String, String>,
    seed: u64,
) -> anyhow::Result<ReadyPlan> {
    let path = Path::new(name);
    let bytes = doors::read_bounded(path, PLAN_BYTES_MAX as u64 + 1)
        .with_context(|| format!("The file {name} doesn't exist or can't be opened"))?;
    let file = understood(name, &bytes, unknown_scripts)?;
    let folder = PlanFolder::of(path, properties)?;
    let mut scope = MemoryScope::default();
    scope.properties.clone_from(properties);
    (scope.unix_ms, scope.seed) = (moments::now_ms(), seed);
    let found = RefCell::new(Findings::default());
    found.borrow_mut().add(&file);
    let include = |included: &str| {
        let plan = include(&folder, included, unknown_scripts);
        found.borrow_mut().included(included, plan)
    };
    let program = Program::compile(&file, &mut scope, &include)
        .with_context(|| format!("Problem loading XML from {name}"))?;
    let file_name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Findings { notes, left_out, wrong_calls, refusals } = found.into_inner();
    anyhow::ensure!(refusals.is_empty(), "{}", refusals.join("\n"));
    Ok(ReadyPlan { program, folder, file_name, notes, left_out, wrong_calls })
}

/// What was found in a plan and in those that it includes.
#[derive(Default)]
struct Findings {
    notes: Vec<String>,
    left_out: Vec<String>,
    wrong_calls: Vec<String>,
    /// Why included plans cannot be run: they refuse the whole, as the plan's own elements do.
    refusals: Vec<String>,
}

impl Findings {
    fn add(&mut self, file: &PlanFile) {
        self.left_out.extend(file.left_out.iter().map(|problem| format!("left out: {problem}")));
        self.wrong_calls.extend(file.wrong_calls.iter().map(ToString::to_string));
    }

    /// Notes an included plan; the plan, where it is one.
    fn included(&mut self, name: &str, plan: Option<anyhow::Result<PlanFile>>) -> Option<PlanFile> {
        match plan {
            None => self.notes.push(format!("Could not include {name}: it cannot be read")),
            Some(Err(error)) => self.refusals.push(format!("{error:#}")),
            Some(Ok(file)) => {
                self.add(&file);
                return Some(file);
            }
        }
        None
    }
}

/// A plan without anything that is not understood.
fn understood(
    name: &str,
    bytes: &[u8],
    unknown_scripts: UnknownScripts,
) -> anyhow::Result<PlanFile> {
    let (file, problems) = read_plan(bytes, unknown_scripts)
        .with_context(|| format!("Problem loading XML from: '{name}'"))?;
    if problems.is_empty() {
        return Ok(file);
    }
    let lines: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
    Err(anyhow!(
        "Problem loading XML from: '{name}': {} elements understood, {} not:{}",
        file.understood,
        problems.len(),
        lines.concat()
    ))
}

/// The plan of an Include controller; `None` where there is none.
fn include(
    folder: &PlanFolder,
    name: &str,
    unknown_scripts: UnknownScripts,
) -> Option<anyhow::Result<PlanFile>> {
    let bytes = folder.read_beside(name)?;
    Some(understood(name, &bytes, unknown_scripts))
}
