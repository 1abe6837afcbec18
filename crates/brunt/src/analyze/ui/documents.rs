//! The documents of other commands as pages: each is made by a process of its own, so that a large run costs this one nothing.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use store::Run;

/// A document, or why there is none.
pub(super) type Document = Result<String, String>;

/// How long a document may take.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Bytes of a document, at most.
const BYTES_MAX: u64 = 64 << 20;

/// The stored report of a run.
pub(super) const REPORT: &str = "report.html";

/// Whether a run has a report, or results to make one of.
pub(super) fn has_report(run: &Run) -> bool {
    run.manifest.results.is_some() || run.manifest.documents.iter().any(|name| name == REPORT)
}

/// The report of a run. One that was cut off stored none, but may have results.
pub(super) fn report(run: &Run) -> Document {
    if let Some(text) = run.document(REPORT).map_err(|error| error.to_string())? {
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    let results = run.results().map_err(|error| error.to_string())?;
    let results = results.ok_or("this run kept no results")?;
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
    let mut args = flags.to_vec();
    for (label, run) in operands {
        let results = run.results().map_err(|error| error.to_string())?;
        args.extend(results.map(|results| format!("{label}={}", path(&results))));
    }
    brunt(&args)
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

/// What the command prints. A comparison that ends with a code of its own has printed a document, too.
fn brunt(args: &[String]) -> Document {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own);
    command.args(args).stdin(Stdio::null()).env_remove("GITHUB_STEP_SUMMARY");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let (stdout, stderr) = (printed(child.stdout.take()), printed(child.stderr.take()));
    let until = Instant::now() + PATIENCE;
    let ended = loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK_EVERY),
            Ok(ended) => break ended.is_some(),
            Err(_) => break false,
        }
    };
    if !ended {
        // It ended meanwhile, or ends now; either way it is waited for.
        child.kill().ok();
        child.wait().ok();
        return Err(format!("it takes longer than {} s", PATIENCE.as_secs()));
    }
    let [stdout, stderr] = [stdout, stderr].map(|thread| thread.join().unwrap_or_default());
    if stdout.is_empty() {
        return Err(String::from_utf8_lossy(&stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// What a process prints, as far as it is shown.
fn printed(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            // What was read until an error is shown.
            pipe.take(BYTES_MAX).read_to_end(&mut bytes).ok();
        }
        bytes
    })
}
