//! `LabelledRuns` from files and folders: a folder is one label, and each file in it one run; a folder in it is one run of several
//! load generators, whose files are merged.

use std::fs;
use std::path::Path;

use cli::{ExitCode, ExitError, Interrupts};
use metrics::Selector;
use study::contrast::RUNS_MAX;

use super::run::{RecordedRun, read_run};

/// Files of one run, at most.
const FILES_MAX: usize = 1000;

/// The runs of one label.
#[derive(Debug)]
pub struct LabelledRuns {
    /// The label.
    pub label: String,
    /// Its runs, in the order of their names within each operand.
    pub runs: Vec<RecordedRun>,
    /// How many runs beyond [`RUNS_MAX`] there are.
    pub left_out: usize,
}

/// Reads operands, `[LABEL=]PATH` each; those of one label are one variant. `command` is named in warnings. Only
/// requests that are selected count.
///
/// # Errors
/// An operand cannot be opened, or holds no results.
pub fn read_labelled(
    operands: &[String],
    command: &str,
    selector: &Selector,
) -> Result<Vec<LabelledRuns>, ExitError> {
    let interrupts = Interrupts::watch()?;
    let mut all: Vec<LabelledRuns> = Vec::new();
    for operand in operands {
        let (label, path) = labelled(operand);
        let (runs, left_out) = of_path(path, selector, &interrupts, command)?;
        let at = all.iter().position(|one| one.label == label).unwrap_or_else(|| {
            all.push(LabelledRuns { label: label.to_owned(), runs: Vec::new(), left_out: 0 });
            all.len() - 1
        });
        let room = RUNS_MAX.saturating_sub(all[at].runs.len());
        all[at].left_out += left_out + runs.len().saturating_sub(room);
        all[at].runs.extend(runs.into_iter().take(room));
    }
    Ok(all)
}

/// The label and the path of an operand. A path that exists under the whole operand is its own label.
fn labelled(operand: &str) -> (&str, &str) {
    match operand.split_once('=') {
        Some((label, path)) if !Path::new(operand).exists() => (label, path),
        _ => (operand.trim_end_matches('/'), operand),
    }
}

/// The runs of a file or folder, and how many more there are than [`RUNS_MAX`].
fn of_path(
    path: &str,
    selector: &Selector,
    interrupts: &Interrupts,
    command: &str,
) -> Result<(Vec<RecordedRun>, usize), ExitError> {
    if cli::input::is_stdin(path) || !Path::new(path).is_dir() {
        return Ok((vec![read_run(path, &[path.to_owned()], selector, interrupts)?], 0));
    }
    let entries = entries(path)?;
    let left_out = entries.len().saturating_sub(RUNS_MAX);
    let mut runs = Vec::new();
    for entry in entries.into_iter().take(RUNS_MAX) {
        let files =
            if Path::new(&entry).is_dir() { self::entries(&entry)? } else { vec![entry.clone()] };
        if files.len() > FILES_MAX {
            let text = format!("{entry}: more than {FILES_MAX} files of one run");
            return Err(ExitError::new(ExitCode::Usage, text));
        }
        if files.is_empty() {
            continue;
        }
        match read_run(&entry, &files, selector, interrupts) {
            Ok(run) => runs.push(run),
            // A folder of results may hold logs and reports.
            Err(failed) if failed.code == ExitCode::Results => {
                cli::eprint_line(&format!("brunt {command}: {failed}; left out"));
            }
            Err(failed) => return Err(failed),
        }
    }
    if runs.is_empty() {
        let text = format!("{path}: no results in this folder");
        return Err(ExitError::new(ExitCode::Results, text));
    }
    Ok((runs, left_out))
}

/// The entries of a folder, by name; names that start with a dot are left out.
fn entries(folder: &str) -> Result<Vec<String>, ExitError> {
    let failed = |error: std::io::Error| {
        ExitError::new(ExitCode::Input, format!("open {folder}: {}", cli::reason(&error)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_before_paths() {
        assert_eq!(labelled("new=b.bin"), ("new", "b.bin"));
        assert_eq!(labelled("a.bin"), ("a.bin", "a.bin"));
        assert_eq!(labelled("runs/before/"), ("runs/before", "runs/before/"));
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("x=y");
        fs::create_dir_all(&dir).unwrap();
        let path = dir.display().to_string();
        assert_eq!(labelled(&path), (path.as_str(), path.as_str()));
        fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn entries_come_by_name_without_the_hidden() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("entries");
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
