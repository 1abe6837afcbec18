//! A command line of ghz carried out: exit code 0 whatever the server answered, 1 where nothing could be sent.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use cli::{ExitError, Interrupts, Output, ResultsOption, eprint_line};
use metrics::Verdict;
use session::{ResultsFile, RunPlace, RunRequest, SessionOptions};

use super::config_file;
use super::document::{Setting, csv, document};
use super::influx::{influx_details, influx_summary};
use super::observer::{CountRules, GhzObserver, Latencies};
use super::options::GhzOptions;
use super::prometheus::prometheus;
use super::report::GhzReport;
use super::summary::summary;
use super::table::{Kind, ROWS};
use super::test::{GhzTest, needed};
use super::workers::WorkerSchedule;

/// The reports that are made, and those that are not.
const FORMATS: [&str; 7] =
    ["summary", "json", "pretty", "csv", "prometheus", "influx-summary", "influx-details"];

/// The text of `brunt help ghz`.
#[must_use]
pub fn help() -> String {
    "brunt ghz: ghz's command line. The binary called as `ghz` (a link will do) speaks it too.\n\n\
     Its options: brunt ghz --help. --results FILE anywhere in the line stores the results too.\n\
     Differences: docs/reference/grpc.md."
        .to_owned()
}

/// Runs a command line of ghz's; `results` names a file that takes the results as well.
#[must_use]
pub fn run(args: &[String], results: Option<ResultsOption>) -> ExitCode {
    match carry_out(args, results) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint_line(&format!("ghz: error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Checks a command line; no file is read.
///
/// # Errors
/// It is wrong; the error is one line.
pub fn validate(args: &[String]) -> Result<(), String> {
    let checked = GhzOptions::of_args(args).and_then(|options| {
        options.check()?;
        WorkerSchedule::of(&options)?;
        // A config file may have what the line has not.
        if options.text("config").is_none() {
            needed(&options)?;
        }
        Ok(())
    });
    checked.map_err(|error| format!("{error:#}"))
}

fn carry_out(args: &[String], results: Option<ResultsOption>) -> Result<()> {
    let mut options = GhzOptions::of_args(args)?;
    if let Some(text) = information(&options) {
        Output::Stdout.write(text.as_bytes()).map_err(reason)?;
        return Ok(());
    }
    if let Some(path) = options.text("config").map(str::to_owned) {
        options.add_config(&config_file::read(&path)?).context(path)?;
    }
    options.check()?;
    let format = options.text("format").unwrap_or("summary").to_owned();
    if !FORMATS.contains(&format.as_str()) {
        bail!("--format {format} is not done by brunt ghz (there are {})", FORMATS.join(", "));
    }
    let test = GhzTest::new(&options)?;
    let results = results.map(ResultsFile::of_option).transpose().map_err(reason)?;
    let mut outlet = Output::named(options.text("output")).open_for_documents().map_err(reason)?;
    let text = run_test(&options, test, results, &format)?;
    outlet.write(text.as_bytes()).map_err(reason)?;
    Ok(())
}

/// Makes the calls; gives the report.
fn run_test(
    options: &GhzOptions,
    test: GhzTest,
    results: Option<ResultsFile>,
    format: &str,
) -> Result<String> {
    let GhzTest { plan, settings, lazy, stop, data, metadata, workers } = test;
    let interrupts = Interrupts::watch().map_err(reason)?;
    let latencies = match options.is_on("count-errors") {
        true => Latencies::OfAll,
        false => Latencies::OfSuccesses,
    };
    let mut observer = GhzObserver::new(CountRules {
        skip: options.count("skipFirst", 0),
        latencies,
        drops_cut: options.text("duration-stop") == Some("ignore"),
        workers,
    });
    let session = SessionOptions { results, stop, ..SessionOptions::new(&interrupts) };
    let place = RunPlace::Here { settings: &settings, lazy };
    let total = plan.hits_max;
    let ended = RunRequest::new(plan, session).carry_out(place, &mut [&mut observer])?.ended;
    let verdict = Verdict::new(&observer.summary, Some(&ended.generator), &[]);
    if !verdict.is_valid() {
        session::warn(&verdict.to_string());
    }
    let report = GhzReport::new(&observer.calls, latencies);
    let is_timed = total.is_none_or(|total| observer.summary.requests < total);
    let end_reason = match (observer.is_interrupted, is_timed) {
        (true, _) => "cancel",
        (false, true) => "timeout",
        (false, false) => "normal",
    };
    let setting =
        Setting { options, data: &data, metadata: &metadata, date_ns: now_ns(), end_reason };
    Ok(match format {
        "json" => format!("{}\n", document(&report, &setting)),
        "pretty" => format!("{:#}\n", document(&report, &setting)),
        "csv" => csv(&report),
        "influx-summary" => influx_summary(&report, &setting),
        "influx-details" => influx_details(&report, &setting),
        "prometheus" => prometheus(&report, &setting),
        _ => summary(&report, options.text("name")),
    })
}

/// What is printed in place of a run.
fn information(options: &GhzOptions) -> Option<String> {
    if options.is_on("version") {
        return Some(format!("ghz, spoken by brunt {}\n", env!("CARGO_PKG_VERSION")));
    }
    if !options.is_on("help") {
        return None;
    }
    let mut text = String::from("usage: ghz [<flags>] [<host>]\n\nFlags:\n");
    for row in ROWS {
        let letter =
            if row.letter == ' ' { "    ".to_owned() } else { format!("-{}, ", row.letter) };
        let value = match row.kind {
            Kind::Switch => "",
            Kind::Text => "=TEXT",
            Kind::Number => "=N",
            Kind::Duration => "=TIME",
        };
        text.push_str(&format!("  {letter}--{}{value}\n", row.name));
    }
    Some(text)
}

fn reason(failed: ExitError) -> anyhow::Error {
    failed.error
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
