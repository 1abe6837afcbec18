//! The documents of other commands as pages: each is made by a process of its own, so that a large run costs this one nothing.

use std::path::Path;
use std::process::{Command, Stdio};

use store::Run;

/// A document, or why there is none.
pub(super) type Document = Result<String, String>;

/// The stored report of a run.
pub(super) const REPORT: &str = "report.html";

/// Whether a run has a report, or results to make one of.
pub(super) fn has_report(run: &Run) -> bool {
    run.results().is_some() || run.manifest.documents.iter().any(|name| name == REPORT)
}

/// The report of a run. One that was cut off stored none, but may have results.
pub(super) fn report(run: &Run) -> Document {
    if run.manifest.documents.iter().any(|name| name == REPORT) {
        let text = std::fs::read_to_string(run.folder.join(REPORT));
        return text.map_err(|error| format!("{REPORT}: {}", cli::reason(&error)));
    }
    let results = run.results().ok_or("this run kept no results")?;
    brunt(&["report".to_owned(), "-type=html".to_owned(), path(&results)])
}

/// Runs compared, as `LABEL=ID` each.
pub(super) fn compare(store: &Path, operands: &[String]) -> Document {
    let flags = ["compare".to_owned(), "-type=html".to_owned(), format!("-store={}", path(store))];
    brunt(&[&flags[..], operands].concat())
}

/// The percentile curves of runs over each other.
pub(super) fn curves(operands: &[(String, Run)]) -> Document {
    let flags = ["plot", "-percentiles", "-title=Response times by percentile"].map(str::to_owned);
    let operand = |(label, run): &(String, Run)| Some(format!("{label}={}", path(&run.results()?)));
    let operands: Vec<String> = operands.iter().filter_map(operand).collect();
    brunt(&[&flags[..], &operands].concat())
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// What the command prints. A comparison that ends with a code of its own has printed a document, too.
fn brunt(args: &[String]) -> Document {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(args).stdin(Stdio::null()).env_remove("GITHUB_STEP_SUMMARY");
    let ran = command.output().map_err(|error| error.to_string())?;
    if ran.stdout.is_empty() {
        return Err(String::from_utf8_lossy(&ran.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
