//! The end of a test: the summary's text and files, or what the script's own `handleSummary` makes of it.

use std::io::{IsTerminal as _, Write as _};

use cli::{ExitCode, ExitError, Output};
use report::k6_summary::{self, K6Input, K6Machine};
use script::{Level, PriorStages, Stage, documents};
use stdx::{Compression, Compressor};

use crate::config::TestConfig;
use crate::stage::{StageResult, run_stage};
use crate::summary_mode::SummaryMode;

/// The version of k6 whose forms the summaries have.
const K6_VERSION: &str = "1.8.1";

/// Prints the summary and writes its documents; gives the code that its making ends with.
///
/// # Errors
/// An output cannot be written.
pub(super) fn write_summary(
    meant: &TestConfig,
    input: &K6Input<'_>,
    data: Option<&str>,
) -> Result<ExitCode, ExitError> {
    if meant.mode == SummaryMode::Disabled {
        return Ok(ExitCode::Ok);
    }
    let now = jiff::Timestamp::now().to_string();
    let script = meant.source.text();
    let of = K6Machine { script: &script, now: &now, k6_version: K6_VERSION };
    // As k6 has a VU for it also where the script has no such function, init code runs once more.
    let (own, code) = match meant.handle_summary || meant.init_logs {
        true => own(meant, input, data, &of)?,
        false => (None, ExitCode::Ok),
    };
    if let Some(list) = own {
        write_all(meant, &list)?;
    } else {
        let text = match meant.mode {
            SummaryMode::Legacy => k6_summary::legacy(input),
            _ => format!("\n{}\n", k6_summary::text(input)),
        };
        Output::Stdout.write(text.as_bytes())?;
    }
    if let Some(place) = &meant.summary_export {
        let document = if meant.machine_readable {
            k6_summary::machine(input, &of)
        } else {
            k6_summary::export(input, data)
        };
        place.write(&packed(place, document.as_bytes()))?;
    }
    Ok(code)
}

/// A document as a file of its name has it: compressed where that ends so.
fn packed(place: &Output, document: &[u8]) -> Vec<u8> {
    let compression = match place {
        Output::File(name) => Compression::of_name(name).1,
        _ => Compression::None,
    };
    let mut bytes = Vec::new();
    let mut packer = Compressor::new(compression, &mut bytes);
    let packed = packer.write_all(document).and_then(|()| packer.finish());
    packed.expect("memory takes all that is written");
    drop(packer);
    bytes
}

/// What `handleSummary` wants written; `None` where it threw or returned nothing, so that k6's own text is printed. Of a promise
/// that is rejected k6 prints nothing at all. The code is that of a call that was ended from outside.
fn own(
    meant: &TestConfig,
    input: &K6Input<'_>,
    data: Option<&str>,
    of: &K6Machine<'_>,
) -> Result<(Option<Vec<script::Document>>, ExitCode), ExitError> {
    let given = if meant.machine_readable {
        k6_summary::machine(input, of)
    } else {
        let terminals = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        k6_summary::data(input, data, terminals)
    };
    let stage = (Stage::Summary, PriorStages::default());
    let done = run_stage(meant, stage, Some(&given), None)?;
    if done.outcome.exception.as_ref().is_some_and(|thrown| thrown.in_promise) {
        return Ok((Some(Vec::new()), ExitCode::Ok));
    }
    Ok((done.outcome.returned.as_deref().map(documents), cut_off(meant, &done)))
}

/// The code for a `handleSummary` that was ended from outside. k6 says it and ends with 0.
fn cut_off(meant: &TestConfig, done: &StageResult) -> ExitCode {
    if done.outcome.interrupted == 0 {
        return ExitCode::Ok;
    }
    if done.interrupted {
        return ExitCode::Interrupted;
    }
    if let Some(text) = done.control.aborted() {
        meant.logger.log_line(Level::Error, &text);
        return if meant.compat { ExitCode::Ok } else { ExitCode::Aborted };
    }
    let limit = meant.options.summary_timeout;
    let text = format!("handleSummary() execution timed out after {limit}");
    meant.logger.log_line(Level::Error, &text);
    if meant.compat { ExitCode::Ok } else { ExitCode::SummaryTimeout }
}

/// Writes documents. Those that cannot be written are reported in one message; the exit code stays.
fn write_all(meant: &TestConfig, documents: &[script::Document]) -> Result<(), ExitError> {
    let mut lost = String::new();
    for (place, content) in documents {
        if let Some(reason) = write(meant, place, content)? {
            lost.push_str(&format!("\n\t- could not open '{place}': {reason}"));
        }
    }
    if !lost.is_empty() {
        let error = format!("Could not save some summary information:{lost}");
        let text = "failed to handle the end-of-test summary";
        meant.logger.log(Level::Error, text, &[("error", error.as_str())]);
    }
    Ok(())
}

/// Writes a document; gives why it cannot be.
fn write(meant: &TestConfig, place: &str, content: &[u8]) -> Result<Option<String>, ExitError> {
    match place {
        "stdout" => Output::Stdout.write(content)?,
        "stderr" => {
            // If stderr is closed, there is nothing left to do.
            std::io::stderr().lock().write_all(content).ok();
        }
        path => {
            let written = meant.writes.write(path, content);
            return Ok(written.err().map(|reason| format!("open {path}: {reason}")));
        }
    }
    Ok(None)
}
