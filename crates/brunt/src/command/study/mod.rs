//! `study`: variants under workloads, run by run in a shuffled order, each with its own servers, and one report of all.
//!
//! ```text
//! study.toml ─▶ file (all problems at once) ─▶ requirements ─▶ kept (the order, what is done)
//!     ─▶ for each run: before ─▶ servers ─▶ warm-up ─▶ load generators, watched ─▶ servers stopped ─▶ after
//!     ─▶ outcome of each ─▶ report.html, study.json
//! ```

mod command_lines;
mod configuration;
mod file;
mod folder;
mod group;
mod keeper;
mod kept;
mod machine;
mod makings;
mod monitor;
mod outcome;
mod progress;
mod ready;
mod record;
mod report;
mod requirements;
mod runner;
mod seen;
mod servers;
mod template;
mod versions;
mod workload;

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use study::plan::{Ended as RunEnded, GivenUp, Slot, given_up, is_given_up, next};

pub(super) use self::command_lines::CommandLines;
use cli::nearest;

use self::file::{Mode, PROBLEMS_MAX, Problem, Study, Variant, Workload};
use self::folder::Folder;
use self::group::Guard;
use self::keeper::Keeper;
use self::kept::{Begin, Kept};
use self::outcome::Outcome;
use self::progress::Progress;
use self::record::Record;
use self::runner::Runner;
use self::servers::Place;
use super::{CommandError, usage_error};
use crate::dialect::{Invocation, ParsedArgs};
use crate::exit_code::{ExitCode, Failed};
use crate::flags::study::{STUDY, StudyFlags};
use crate::input::{self, Interrupts};

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "run FILE starts each variant's servers, offers each workload, stops them, and repeats all that in
shuffled blocks; at the end stand DIR/report.html and DIR/study.json. The same command again goes on
where it was stopped or killed. new [FILE] writes a study to begin with, study.toml unless named.

Ctrl-C stops the servers and writes the report of what there is; a second one waits for nobody.";

/// brunt's own version, which made the runs of this call.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The word in a study's commands that means this very program, wherever it is.
const OURSELVES: &str = "brunt";

/// Does what the first operand says.
pub(super) fn run(invocation: &Invocation, lines: &CommandLines) -> Result<ExitCode, CommandError> {
    // Another command's words follow, which are not ours to read.
    if let [word, _, rest @ ..] = &invocation.args[..]
        && word == keeper::HOLD
    {
        return Ok(keeper::hold(rest));
    }
    let typed = invocation.parse(STUDY)?;
    let operands: Vec<&str> = typed.operands.iter().map(String::as_str).collect();
    let stray = match operands.first() {
        Some(&"run") => typed.flags.stray_of_run().map(|flag| (flag, "run", "new")),
        Some(&"new") => typed.flags.stray_of_new().map(|flag| (flag, "new", "run")),
        _ => None,
    };
    if let Some((flag, word, other)) = stray {
        let text =
            format!("flag -{flag}: stands for nothing in study {word}, only in study {other}");
        return Err(usage_error(text));
    }
    match operands[..] {
        [keeper::WORD] => Ok(keeper::keep()),
        ["run", path] => Ok(study(path, &typed, lines)?),
        ["new"] => Ok(template::write("study.toml", &typed.flags)?),
        ["new", path] => Ok(template::write(path, &typed.flags)?),
        ["run"] => Err(usage_error("the study's file is missing: brunt study run study.toml")),
        ["run" | "new", ..] => Err(usage_error("one file is expected")),
        [] => Err(usage_error(
            "what to do is missing: brunt study run FILE, or brunt study new [FILE]",
        )),
        [word, ..] => {
            let meant = nearest(word, ["run", "new"].into_iter());
            let meant = meant.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            Err(usage_error(format!("study knows run and new, not \"{word}\"{meant}")))
        }
    }
}

/// Runs a study from where it is to its end.
fn study(
    path: &str,
    typed: &ParsedArgs<StudyFlags>,
    lines: &CommandLines,
) -> Result<ExitCode, Failed> {
    let flags = &typed.flags;
    let mode = if flags.quick { Mode::Quick } else { Mode::Full };
    let text = String::from_utf8(input::read_whole(path)?)
        .map_err(|_| input_error(format!("{path} is not UTF-8")))?;
    let study = file::read(&text, mode, lines).map_err(|problems| told(path, &problems))?;
    let file = Path::new(path);
    let beside = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = beside.unwrap_or(Path::new("."));
    let mut left_out = not_asked_for(&study, &flags.only)?;
    let unmet = unmet(&study, beside, &left_out)?;
    left_out.extend(unmet);
    left_out.sort_unstable_by_key(|(variant, _)| *variant);
    let places: Vec<usize> = left_out.iter().map(|(variant, _)| *variant).collect();
    if study.cells(&places).is_empty() {
        return Err(input_error(format!("{path}: nothing is left to run")));
    }
    let out = flags.out.clone().unwrap_or_else(|| format!("{}-study", study.name));
    let folder = Folder::open(Path::new(&out), file)?;
    let begin = if flags.fresh { Begin::Fresh } else { Begin::GoOn };
    let kept = Kept::open(&folder, &study, mode, &places, begin)?;
    let interrupts = Interrupts::watch_until(ExitCode::Incomplete)?;
    let guard = Guard { keeper: Keeper::start()?, interrupts };
    let progress = Progress::new(flags, kept.slots.len());
    let whole = Whole { study: &study, folder: &folder, mode, left_out };
    whole.run(kept, &guard, progress)
}

/// A study with all that was decided before its first run.
struct Whole<'a> {
    study: &'a Study,
    folder: &'a Folder,
    mode: Mode,
    /// Variants that are not run, and why.
    left_out: Vec<(usize, String)>,
}

impl Whole<'_> {
    /// Runs what is left to run, and reports.
    fn run(&self, kept: Kept, guard: &Guard, progress: Progress) -> Result<ExitCode, Failed> {
        let runner = Runner { study: self.study, folder: self.folder, guard: guard.clone() };
        for (variant, why) in &self.left_out {
            progress.say(&format!("{} is left out: {why}", self.study.variants[*variant].name));
        }
        if kept.done() > 0 {
            let (done, all) = (kept.done(), kept.slots.len());
            progress.say(&format!("going on: {done} of {} done", stdx::counted(all as u64, "run")));
        }
        let unlike = kept.unlike();
        unlike.iter().for_each(|text| progress.say(&not_alike(text)));
        let outcomes = kept.slots.iter().map(|_| None).collect();
        let (versions, unlike) = (Vec::new(), Some(unlike));
        let mut going = Going { whole: self, runner, kept, outcomes, progress, versions, unlike };
        if let Some(at) = going.kept.under_way.take() {
            going.runner.clear_up(&going.kept.slots[at])?;
        }
        going.versions = versions::of(&going.runner, &self.left_out);
        while let Some(at) = next(&going.kept.slots, &going.kept.ended()) {
            if guard.interrupts.seen() > 0 || !going.one(at)? {
                going.progress.say("interrupted: the same command goes on from here");
                break;
            }
        }
        let Going { kept, outcomes, progress, versions, .. } = going;
        self.conclude(&kept, outcomes, versions, &progress)
    }

    /// What a run that was measured has to say.
    fn outcome(&self, kept: &Kept, at: usize, record: &Record) -> Result<Outcome, Failed> {
        let slot = &kept.slots[at];
        let (variant, workload) = self.pair(slot);
        let names = (workload.name.as_str(), variant.name.as_str());
        let run = self.folder.run(names.0, names.1, slot.repeat);
        let results = self.folder.results(names, slot.repeat, variant.generators);
        let place = Place::of(self.folder, variant, run);
        outcome::read((variant, workload), &place, &results, record)
    }

    fn pair(&self, slot: &Slot) -> (&Variant, &Workload) {
        (&self.study.variants[slot.cell.variant], &self.study.workloads[slot.cell.workload])
    }
}

/// A study that is under way.
struct Going<'a> {
    whole: &'a Whole<'a>,
    runner: Runner<'a>,
    kept: Kept,
    /// Of the runs of this call.
    outcomes: Vec<Option<Outcome>>,
    progress: Progress,
    /// Of each variant, what its servers say of their versions in this call.
    versions: Vec<Vec<(String, String)>>,
    /// In what the runs of earlier calls are unlike, as it was said; `None` once a run of this call was compared with them.
    unlike: Option<Vec<String>>,
}

impl Going<'_> {
    /// One run; false where the user ended it.
    fn one(&mut self, at: usize) -> Result<bool, Failed> {
        let slot = self.kept.slots[at];
        let (variant, workload) = self.whole.pair(&slot);
        let name = format!("{} on {}", workload.name, variant.name);
        self.progress.begins(at, &name);
        self.kept.under_way = Some(at);
        self.kept.save()?;
        let Some(mut record) = self.runner.run(&slot)? else { return Ok(false) };
        if record.ended == RunEnded::Measured {
            match self.whole.outcome(&self.kept, at, &record) {
                Ok(outcome) => self.outcomes[at] = Some(outcome),
                Err(failed) => {
                    (record.ended, record.reason) = (RunEnded::Failed, failed.to_string());
                    self.runner.set_aside(&slot)?;
                }
            }
        }
        self.kept.put(at, record.clone(), &self.versions[slot.cell.variant]);
        self.kept.save()?;
        let outcome = self.outcomes[at].as_ref();
        self.progress.ended((at, &name), &record, outcome, self.to_come());
        if record.ended == RunEnded::Measured {
            self.say_unlike();
        }
        let of_it = |one: &GivenUp| match one {
            GivenUp::Variant(at) if *at == slot.cell.variant => {
                Some((variant.name.as_str(), report::NEVER_READY))
            }
            GivenUp::Cell(cell) if *cell == slot.cell => Some((name.as_str(), report::GIVEN_UP)),
            _ => None,
        };
        let all = given_up(&self.kept.slots, &self.kept.ended());
        for (name, why) in all.iter().filter_map(of_it) {
            self.progress.say(&format!("{name} is left out from here on: {why}"));
        }
        Ok(true)
    }

    /// Says in what the first run that this call has measured is unlike those of earlier calls.
    fn say_unlike(&mut self) {
        let Some(said) = self.unlike.take() else { return };
        let new = self.kept.unlike().into_iter().filter(|text| !said.contains(text));
        new.for_each(|text| self.progress.say(&not_alike(&text)));
    }

    /// How long the runs that are to come will take, by how long others of their workloads took.
    fn to_come(&self) -> Duration {
        let (slots, ended) = (&self.kept.slots, self.kept.ended());
        let took = |workload: Option<usize>| {
            let ended = slots.iter().zip(&self.kept.records);
            let of = ended.filter(|(slot, _)| workload.is_none_or(|one| slot.cell.workload == one));
            let times: Vec<u64> =
                of.filter_map(|(_, record)| Some(record.as_ref()?.took.0)).collect();
            times.iter().sum::<u64>().checked_div(times.len() as u64)
        };
        let open =
            |at: &usize| ended[*at].is_none() && !is_given_up(slots, &ended, slots[*at].cell);
        let each = (0..slots.len()).filter(open).map(|at| {
            let workload = slots[at].cell.workload;
            let run = took(Some(workload)).or_else(|| took(None)).unwrap_or(0);
            run.saturating_add(self.whole.study.times.cool_down.0)
        });
        Duration::from_nanos(each.fold(0, u64::saturating_add))
    }
}

/// How it is said that runs are not alike.
fn not_alike(text: &str) -> String {
    format!("not all runs are alike: {text}")
}

/// The places of variants that `-only` leaves out.
fn not_asked_for(study: &Study, only: &[String]) -> Result<Vec<(usize, String)>, Failed> {
    for name in only {
        if !study.variants.iter().any(|variant| variant.name == *name) {
            let meant = nearest(name, study.variants.iter().map(|variant| variant.name.as_str()));
            let meant = meant.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            let error = anyhow!("flag -only: no variant is called \"{name}\"{meant}");
            return Err(Failed { code: ExitCode::Usage, error });
        }
    }
    let variants = study.variants.iter().enumerate();
    let out = variants.filter(|(_, variant)| !only.is_empty() && !only.contains(&variant.name));
    Ok(out.map(|(at, _)| (at, "-only names others".to_owned())).collect())
}

/// Optional variants that lack something.
///
/// # Errors
/// One that is not optional does: all that is missing, and how to get it.
fn unmet(
    study: &Study,
    folder: &Path,
    left_out: &[(usize, String)],
) -> Result<Vec<(usize, String)>, Failed> {
    let places: Vec<usize> = left_out.iter().map(|(variant, _)| *variant).collect();
    let missing = requirements::missing(study, folder, &places);
    let (optional, needed): (Vec<_>, Vec<_>) =
        missing.into_iter().partition(|one| study.variants[one.variant].optional);
    if needed.is_empty() {
        return Ok(optional.into_iter().map(|one| (one.variant, one.words())).collect());
    }
    let lines = needed
        .iter()
        .map(|one| format!("\n  variant {}: {}", study.variants[one.variant].name, one.words()));
    let mut text =
        format!("something is missing, nothing was started:{}", lines.collect::<String>());
    let installs = requirements::install_lines(&needed);
    if !installs.is_empty() {
        text.push_str(&format!("\ninstall it with:\n  {}", installs.join("\n  ")));
    }
    let others: Vec<&str> = study
        .variants
        .iter()
        .enumerate()
        .filter(|(at, _)| !places.contains(at) && !needed.iter().any(|one| one.variant == *at))
        .map(|(_, variant)| variant.name.as_str())
        .collect();
    if !others.is_empty() {
        text.push_str(&format!("\nor leave it out with: -only={}", others.join(",")));
    }
    Err(Failed { code: ExitCode::Missing, error: anyhow!(text) })
}

/// All that is wrong in a file, a line each.
fn told(path: &str, problems: &[Problem]) -> Failed {
    let lines = problems.iter().take(PROBLEMS_MAX);
    let mut lines: Vec<String> =
        lines.map(|problem| format!("{path}:{}: {}", problem.line, problem.text)).collect();
    if problems.len() > PROBLEMS_MAX {
        lines.push(format!("and {} more", problems.len() - PROBLEMS_MAX));
    }
    input_error(format!("nothing was started:\n{}", lines.join("\n")))
}

fn input_error(text: String) -> Failed {
    Failed { code: ExitCode::Input, error: anyhow!(text) }
}
