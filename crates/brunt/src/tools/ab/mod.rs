//! ApacheBench: its flags in, its report, files and exit codes out. What it offers is a plan like any other's (`config`); what
//! it prints is laid out by `report::ab`.
//!
//! ```text
//! AbFlags, URL ─▶ Address ─▶ Request ─▶ Plan, Settings ─▶ AbObserver (rows, progress, what ends it) ─▶ report, files, code
//! ```

mod address;
pub(crate) mod command_line;
mod config;
mod files;
mod flags;
mod observer;
mod recorded_report;
mod request;

use std::io::Write as _;

use engine::StartError;
use metrics::{FailureKind, Verdict};
use report::ab::{self, Attributes, Figures, Rules, Setting};
use session::{OnInterrupt, ResultsFile, Session, SessionError, SessionOptions, StopPolicy};
use stdx::Nanos;

use self::address::{Address, Proxy};
use self::flags::AbFlags;
use self::observer::{AbObserver, Ended};
pub(crate) use self::recorded_report::AbReport;
use self::request::Request;
use crate::dialect::ResultsOption;
use crate::exit_code::Failed;
use crate::input::Interrupts;
use crate::output;

/// A value is wrong, a file cannot be used, or the user interrupted.
const WRONG: u8 = 1;
/// The command line is wrong; errno's EINVAL.
pub(crate) const USAGE: u8 = 22;
/// A name is not known; the low byte of APR's number for it.
const NO_NAME: u8 = 50;
/// An address is none of ours; errno's EADDRNOTAVAIL.
const NO_ADDRESS: u8 = 99;

/// Why ab ends without a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quit {
    /// The command line is wrong: the usage follows this.
    Usage(&'static str),
    /// This is said on standard error, and that code ends it.
    Told {
        /// The exit code.
        code: u8,
        /// What to say; ab's words first.
        text: String,
    },
}

impl Quit {
    fn wrong(text: String) -> Self {
        Self::Told { code: WRONG, text }
    }
}

/// A name that cannot be resolved, in APR's words.
fn no_name(name: &str) -> Quit {
    let text = format!("apr_sockaddr_info_get() for {name}: Name or service not known (670002)");
    Quit::Told { code: NO_NAME, text }
}

/// ab's first line, with what stands in for it.
const TITLE: &str = "This is ApacheBench, Version 2.3";
/// The lines after it, each with ab's first word: the copyright is not ours to print, since nothing here is Apache's.
const CREDITS: [&str; 2] = [
    "Copyright of ApacheBench is its authors'; this is brunt, and none of their code",
    "Licensed under MIT or Apache-2.0; how they differ: docs/reference/ab.md",
];

/// The banner as text.
#[must_use]
pub(crate) fn banner() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("{TITLE} <brunt {version}>\n{}\n{}\n\n", CREDITS[0], CREDITS[1])
}

fn banner_html() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<p>\n {TITLE} <i>&lt;brunt {version}&gt;</i><br>\n {}<br>\n {}<br>\n</p>\n<p>\n",
        CREDITS[0], CREDITS[1]
    )
}

/// Benchmarks; the results go to a file as well, where one is named. Gives the exit code.
pub(crate) fn run(
    flags: &AbFlags,
    operand: &str,
    results: Option<ResultsOption>,
) -> Result<u8, Quit> {
    let address = address(flags, operand)?;
    let request = Request::new(flags, &address)?;
    let tls = config::tls(flags)?;
    announce(flags, &address, &request);
    if flags.concurrency == 0 {
        let text =
            "apr_pollset_poll: Invalid argument (22)\nbrunt ab: with -c 0 nothing is ever sent";
        return Err(Quit::Told { code: USAGE, text: text.to_owned() });
    }
    if flags.timeout == 0 {
        return Err(observer::silent(0));
    }
    let plan = config::plan(flags, &address, &request)?;
    let settings = config::settings(flags, &address, &request, tls)?;
    if flags.window > 0 {
        output::complain("brunt ab: -b is not used: the kernel sizes the buffers");
    }
    let results = results.map(ResultsFile::of_option);
    let results = results.transpose().map_err(|failed| unstored(&failed))?;
    let interrupts = Interrupts::watch().map_err(|failed| Quit::wrong(failed.to_string()))?;
    let rules = Rules { variable_length: flags.variable_length, resets_repeat: true };
    let mut observer = AbObserver::new(flags, Figures::new(rules));
    let ended = match flags.time_limit {
        // ab's clock has run out before the first request.
        Some(..0) => Ended::default(),
        _ => {
            let stop = StopPolicy { on_interrupt: OnInterrupt::Abort, deadline: None };
            let options = SessionOptions { results, stop, ..SessionOptions::new(&interrupts) };
            let outcome = Session::start(plan, &settings, None, options)
                .and_then(|session| session.run(&mut [&mut observer]))
                .map_err(|error| failed(flags, error))?;
            let tls = outcome.tls.as_ref().map(|agreed| config::told(agreed, flags, &address));
            let name = config::dialled_name(flags, &address);
            Ended { tls, ..observer.conclude(outcome, &name)? }
        }
    };
    conclude(flags, &address, &request, &observer, &ended)
}

/// Whether a command line would be taken, as far as its words tell.
///
/// # Errors
/// It would not.
pub(crate) fn check(flags: &AbFlags, operand: &str) -> Result<(), Quit> {
    address(flags, operand).map(drop)
}

/// The place that is asked, where the command line is right as far as its words tell.
fn address(flags: &AbFlags, operand: &str) -> Result<Address, Quit> {
    let address = Address::parse(operand).ok_or(Quit::Usage("invalid URL"))?;
    if !(0..=CONCURRENCY_MAX).contains(&flags.concurrency) {
        return Err(Quit::Usage("Invalid Concurrency [Range 0..200000]"));
    }
    if flags.concurrency.unsigned_abs() > flags.requests {
        return Err(Quit::Usage(
            "Cannot use concurrency level greater than total number of requests",
        ));
    }
    Ok(address)
}

/// The results could not be stored besides.
fn unstored(failed: &Failed) -> Quit {
    Quit::wrong(format!("brunt ab: --results: {failed}"))
}

/// ab's own limit.
const CONCURRENCY_MAX: i64 = 200_000;

/// Why a run ends without figures: it cannot start, or its results cannot be written.
fn failed(flags: &AbFlags, error: SessionError) -> Quit {
    match (error, &flags.cert) {
        (SessionError::Start(StartError::Certificate { reason, .. }), Some(path)) => {
            Quit::wrong(format!("unable to get certificate from '{path}'\nbrunt ab: {reason}"))
        }
        (SessionError::Start(error), _) => {
            Quit::wrong(format!("brunt ab: {}", session::with_flag(error)))
        }
        (error, _) => unstored(&error.into()),
    }
}

/// Puts text on standard output. Where nobody reads it any more, there is nothing left to do.
fn print(text: &str) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).ok();
}

/// What is printed before the first request.
fn announce(flags: &AbFlags, address: &Address, request: &Request) {
    if flags.html.is_some() {
        print(&banner_html());
    } else {
        let through = flags
            .proxy
            .as_deref()
            .map(Proxy::parse)
            .map_or(String::new(), |proxy| format!("[through {}:{}] ", proxy.host, proxy.port));
        let end = if observer::progress_interval(flags).is_some() { "\n" } else { "..." };
        let host = &address.hostname;
        print(&format!("{}Benchmarking {host} {through}(be patient){end}", banner()));
    }
    if flags.verbosity >= 2 {
        print(&format!("INFO: {} header == \n---\n{}\n---\n", request.method, request.head));
    }
}

/// Prints the report and writes the files.
fn conclude(
    flags: &AbFlags,
    address: &Address,
    request: &Request,
    observer: &AbObserver<'_>,
    ended: &Ended,
) -> Result<u8, Quit> {
    let figures = &observer.figures;
    let setting = Setting {
        hostname: address.hostname.clone(),
        port: address.port,
        path: address.path.clone(),
        concurrency: flags.concurrency.unsigned_abs(),
        taken: ended.taken.max(figures.last),
        keep_alive: flags.keep_alive,
        variable_length: flags.variable_length,
        bytes_sent: request.body.as_ref().map(|_| figures.sent * request.len()),
        tls: ended.tls.clone(),
        plain_times: flags.plain_times,
        no_percentages: flags.no_percentages,
    };
    match (&flags.html, observer::progress_interval(flags)) {
        _ if ended.interrupted => {}
        (_, None) => print("..done\n"),
        (_, Some(_)) => output::complain(&format!("Finished {} requests", figures.complete)),
    }
    match &flags.html {
        Some(attributes) => print(&ab::html(&setting, figures, &attributes_of(attributes))),
        None => print(&format!("\n\n{}", ab::text(&setting, figures))),
    }
    files::write(flags, figures)?;
    remark(observer, ended);
    Ok(if ended.interrupted { WRONG } else { 0 })
}

fn attributes_of([table, row, cell]: &[Option<String>; 3]) -> Attributes {
    let own = Attributes::default();
    Attributes {
        table: table.clone().unwrap_or(own.table),
        row: row.clone().unwrap_or(own.row),
        cell: cell.clone().unwrap_or(own.cell),
    }
}

/// What ab does not say of its figures, and its reader should know.
fn remark(observer: &AbObserver<'_>, ended: &Ended) {
    let failures = |kind: FailureKind| observer.summary.failures[kind as usize];
    let remarks = [
        (
            failures(FailureKind::Eof),
            "got no response at all; ab counts them as complete, not failed",
        ),
        (
            failures(FailureKind::Truncated) + failures(FailureKind::Malformed),
            "got a part of a response, or no HTTP; ab counts them as complete",
        ),
        (
            observer.figures.receive,
            "were reset; ab counts each as Receive, as Exceptions and, where the length is wrong, as Length",
        ),
        (observer.figures.connect, "found no connection; they are counted once, as Connect"),
    ];
    for (count, what) in remarks.into_iter().filter(|&(count, _)| count > 0) {
        output::complain(&format!("brunt ab: {count} requests {what}"));
    }
    if observer.figures.is_coarse() {
        let most = ab::ROWS_MAX;
        output::complain(&format!("brunt ab: more than {most} requests: times have three digits"));
    }
    if let Some(generator) = &ended.generator {
        let verdict = Verdict::new(&observer.summary, Some(generator), &[]);
        if !verdict.is_valid() {
            output::complain(&format!("brunt ab: {verdict}"));
        }
    }
}

/// Whole seconds as time; less than none is none.
fn seconds(count: i64) -> Nanos {
    Nanos::from_secs(u64::try_from(count).unwrap_or(0))
}
