//! Labelled runs from files and folders, for the commands that look at repeats: a folder is one label, and each file in it one
//! run; a folder in it is one run of several load generators, whose files are merged.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use metrics::{Batch, Generator, Summary, Verdict};
use results::{Item, ReadError, Reader};
use study::contrast::{Load, RUNS_MAX, Run};

use super::generators::Generators;
use super::{CommandError, encode, usage_error};
use crate::dialect::Dialect;
use crate::exit_code::{ExitCode, Failed};
use crate::input::{self, Interrupts};
use crate::output;

/// Files of one run, at most.
const FILES_MAX: usize = 1000;

/// One label's runs.
#[derive(Debug)]
pub(super) struct Labelled {
    /// The label.
    pub(super) label: String,
    /// Its runs, in the order of their names within each operand.
    pub(super) runs: Vec<ReadRun>,
    /// Runs beyond the most that are taken.
    pub(super) left_out: usize,
}

/// One run, read.
#[derive(Debug)]
pub(super) struct ReadRun {
    /// Its file, or folder of files.
    pub(super) name: String,
    /// Its figures.
    pub(super) summary: Box<Summary>,
    /// What its generators said of themselves; absent in foreign formats.
    pub(super) generator: Option<Generator>,
    /// Why its figures may not be believed.
    pub(super) verdict: Verdict,
    /// How many files it is made of.
    pub(super) processes: usize,
}

impl ReadRun {
    /// The figures that are compared.
    #[must_use]
    pub(super) fn figures(&self) -> Run {
        let summary = &self.summary;
        Run {
            times: summary.response.clone(),
            throughput_per_s: summary.throughput(),
            errors: if summary.requests == 0 { 0.0 } else { 1.0 - summary.success_ratio() },
        }
    }

    /// What it was offered.
    #[must_use]
    pub(super) fn load(&self) -> Load {
        let (summary, generator) = (&self.summary, self.generator.as_ref());
        let of = |figure: fn(&Generator) -> f64| generator.map_or(0.0, figure);
        Load {
            users: of(|generator| generator.users as f64),
            rate_per_s: of(|generator| generator.rate_per_s),
            begun_per_s: summary.rate(),
            in_flight: summary.concurrency(),
            connections: of(|generator| generator.connections as f64),
            workers: of(|generator| f64::from(generator.workers)),
            processes: self.processes as f64,
            hits: of(|generator| generator.planned as f64),
            seconds: summary.duration().as_secs_f64(),
        }
    }
}

/// Reads `[LABEL=]PATH` each; operands of one label are one variant.
///
/// # Errors
/// An operand cannot be opened, or holds no results.
pub(super) fn read(operands: &[String], command: &str) -> Result<Vec<Labelled>, CommandError> {
    let interrupts = Interrupts::watch()?;
    let mut all: Vec<Labelled> = Vec::new();
    for operand in operands {
        let (label, path) = labelled(operand);
        let (runs, left_out) = of_path(path, &interrupts, command)?;
        let at = all.iter().position(|one| one.label == label).unwrap_or_else(|| {
            all.push(Labelled { label: label.to_owned(), runs: Vec::new(), left_out: 0 });
            all.len() - 1
        });
        let room = RUNS_MAX.saturating_sub(all[at].runs.len());
        all[at].left_out += left_out + runs.len().saturating_sub(room);
        all[at].runs.extend(runs.into_iter().take(room));
    }
    Ok(all)
}

/// The label and the path; a path that is there under the operand's whole name is meant by it, and its own label.
fn labelled(operand: &str) -> (&str, &str) {
    match operand.split_once('=') {
        Some((label, path)) if !Path::new(operand).exists() => (label, path),
        _ => (operand.trim_end_matches('/'), operand),
    }
}

/// The runs of a file or folder, and how many more there were than are taken.
fn of_path(
    path: &str,
    interrupts: &Interrupts,
    command: &str,
) -> Result<(Vec<ReadRun>, usize), CommandError> {
    if input::is_stdin(path) || !Path::new(path).is_dir() {
        return Ok((vec![read_run(path, &[path.to_owned()], interrupts)?], 0));
    }
    let entries = entries(path)?;
    let left_out = entries.len().saturating_sub(RUNS_MAX);
    let mut runs = Vec::new();
    for entry in entries.into_iter().take(RUNS_MAX) {
        let files =
            if Path::new(&entry).is_dir() { self::entries(&entry)? } else { vec![entry.clone()] };
        if files.len() > FILES_MAX {
            return Err(usage_error(format!("{entry}: more than {FILES_MAX} files of one run")));
        }
        if files.is_empty() {
            continue;
        }
        match read_run(&entry, &files, interrupts) {
            Ok(run) => runs.push(run),
            // Beside results lie logs and reports.
            Err(failed) if failed.code == ExitCode::Results => {
                output::complain(&format!("brunt {command}: {failed}; left out"));
            }
            Err(failed) => return Err(failed.into()),
        }
    }
    if runs.is_empty() {
        let error = anyhow!("{path}: no results in this folder");
        return Err(Failed { code: ExitCode::Results, error }.into());
    }
    Ok((runs, left_out))
}

/// What a folder holds, by name; names that begin with a dot are left out.
fn entries(folder: &str) -> Result<Vec<String>, Failed> {
    let failed = |error: std::io::Error| Failed {
        code: ExitCode::Input,
        error: anyhow!("open {folder}: {}", input::reason(&error)),
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !entry.file_name().as_encoded_bytes().starts_with(b".") {
            names.push(entry.path().display().to_string());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads one run. Damage ends it: what came before counts, and its verdict says so; with nothing before, it is an error.
pub(super) fn read_run(
    name: &str,
    files: &[String],
    interrupts: &Interrupts,
) -> Result<ReadRun, Failed> {
    let unreadable = |error: &ReadError| encode::unreadable(error, Dialect::Native);
    let inputs = input::open_results(files, interrupts, Dialect::Native.interrupt_grace())?;
    let mut reader = Reader::open(inputs).map_err(|error| unreadable(&error))?;
    let (mut batch, mut summary) = (Batch::default(), Box::new(Summary::new()));
    let (mut generators, mut losses) = (Generators::default(), Vec::new());
    loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => summary.add(&batch),
            Ok(Some(Item::Generator { input, generator })) => generators.note(input, *generator),
            Ok(Some(Item::Server(_) | Item::Assertion { .. })) => {}
            Ok(None) => break,
            Err(error) if summary.requests == 0 => return Err(unreadable(&error)),
            Err(error) => {
                losses.push(error.to_string());
                break;
            }
        }
    }
    losses.extend(reader.losses().iter().cloned());
    (summary.apart, summary.waits_before) = metrics::apart(reader.spans());
    let generator = generators.together();
    let verdict = Verdict::new(&summary, generator.as_ref(), &losses);
    Ok(ReadRun { name: name.to_owned(), summary, generator, verdict, processes: files.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_before_paths() {
        assert_eq!(labelled("new=b.bin"), ("new", "b.bin"));
        assert_eq!(labelled("a.bin"), ("a.bin", "a.bin"));
        assert_eq!(labelled("runs/before/"), ("runs/before", "runs/before/"));
        let dir = std::env::temp_dir().join(format!("brunt-x=y-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.display().to_string();
        assert_eq!(labelled(&path), (path.as_str(), path.as_str()));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn entries_come_by_name_without_the_hidden() {
        let dir = std::env::temp_dir().join(format!("brunt-entries-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        for name in ["b", ".hidden", "a"] {
            fs::write(dir.join(name), "x").unwrap();
        }
        let found = entries(&dir.display().to_string()).unwrap();
        let names: Vec<&str> = found.iter().map(|path| &path[path.len() - 2..]).collect();
        assert_eq!(names, ["/a", "/b"]);
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(entries("/nowhere").unwrap_err().code, ExitCode::Input);
    }
}
