//! The run of ab, from its flags to its exit code.

use cli::{ExitError, Interrupts, ResultsOption, eprint_line};
use engine::StartError;
use report::ab::{Figures, Rules};
use session::{
    OnInterrupt, ResultsFile, RunPlace, RunRequest, SessionError, SessionOptions, StopPolicy,
    go_words,
};

use super::address::{Address, Proxy};
use super::banner::{banner, banner_html};
use super::conclusion::conclude;
use super::config;
use super::error::{AbError, USAGE};
use super::flags::AbFlags;
use super::observer::{AbObserver, RunEnd, progress_interval, silent};
use super::request::Request;
use super::stdout::print;

/// Runs ab; the results go to a file as well if one is named. Returns the exit code.
pub(super) fn run(
    flags: &AbFlags,
    operand: &str,
    results: Option<ResultsOption>,
) -> Result<u8, AbError> {
    let address = address(flags, operand)?;
    let request = Request::new(flags, &address)?;
    let tls = config::tls(flags)?;
    announce(flags, &address, &request);
    if flags.concurrency == 0 {
        let text =
            "apr_pollset_poll: Invalid argument (22)\nbrunt ab: with -c 0 nothing is ever sent";
        return Err(AbError::Message { code: USAGE, text: text.to_owned() });
    }
    if flags.timeout == 0 {
        return Err(silent(0));
    }
    let plan = config::plan(flags, &address, &request)?;
    let settings = config::settings(flags, &address, &request, tls)?;
    if flags.window > 0 {
        eprint_line("brunt ab: -b is not used: the kernel sizes the buffers");
    }
    let results = results.map(ResultsFile::of_option);
    let results = results.transpose().map_err(|failed| unstored(&failed))?;
    let interrupts = Interrupts::watch().map_err(|failed| AbError::wrong(failed.to_string()))?;
    let rules = Rules { variable_length: flags.variable_length, resets_repeat: true };
    let mut observer = AbObserver::new(flags, Figures::new(rules));
    let ended = match flags.time_limit {
        // ab's clock has run out before the first request.
        Some(..0) => RunEnd::default(),
        _ => {
            let stop = StopPolicy { on_interrupt: OnInterrupt::Abort, deadline: None };
            let options = SessionOptions { results, stop, ..SessionOptions::new(&interrupts) };
            let request = RunRequest::new(plan, options);
            let outcome = request
                .carry_out(RunPlace::here(&settings), &mut [&mut observer])
                .map_err(|error| failed(flags, error))?
                .ended;
            let tls = outcome.tls.as_ref().map(|agreed| config::tls_lines(agreed, flags, &address));
            let name = config::dialled_name(flags, &address);
            RunEnd { tls, ..observer.conclude(outcome, &name)? }
        }
    };
    conclude(flags, &address, &request, &observer, &ended)
}

/// Checks a command line; no file is read.
///
/// # Errors
/// It is wrong.
pub(super) fn validate(flags: &AbFlags, operand: &str) -> Result<(), AbError> {
    address(flags, operand).map(drop)
}

/// The address of the operand, if the command line is right.
fn address(flags: &AbFlags, operand: &str) -> Result<Address, AbError> {
    let address = Address::parse(operand).ok_or(AbError::Usage("invalid URL"))?;
    if !(0..=CONCURRENCY_MAX).contains(&flags.concurrency) {
        return Err(AbError::Usage("Invalid Concurrency [Range 0..200000]"));
    }
    if flags.concurrency.unsigned_abs() > flags.requests {
        return Err(AbError::Usage(
            "Cannot use concurrency level greater than total number of requests",
        ));
    }
    Ok(address)
}

/// The error of results that cannot be stored.
fn unstored(failed: &ExitError) -> AbError {
    AbError::wrong(format!("brunt ab: --results: {failed}"))
}

/// ab's own limit.
const CONCURRENCY_MAX: i64 = 200_000;

/// Why a run ends without figures: it cannot start, or its results cannot be written.
fn failed(flags: &AbFlags, error: SessionError) -> AbError {
    match (error, &flags.cert) {
        (SessionError::Start(StartError::Certificate { reason, .. }), Some(path)) => {
            let reason = go_words::tls_setup(&reason);
            AbError::wrong(format!("unable to get certificate from '{path}'\nbrunt ab: {reason}"))
        }
        (SessionError::Start(error), _) => {
            AbError::wrong(format!("brunt ab: {}", session::with_flag(&error)))
        }
        (error, _) => unstored(&error.into()),
    }
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
        let end = if progress_interval(flags).is_some() { "\n" } else { "..." };
        let host = &address.hostname;
        print(&format!("{}Benchmarking {host} {through}(be patient){end}", banner()));
    }
    if flags.verbosity >= 2 {
        let head = shown_head(&request.head);
        print(&format!("INFO: {} header == \n---\n{head}\n---\n", request.method));
    }
}

/// The head of a request as the terminal shows it: without what is to be redacted.
fn shown_head(head: &str) -> String {
    let fields = stdx::redacted_lines(head.as_bytes());
    fields.map_or_else(|| head.to_owned(), |fields| String::from_utf8_lossy(&fields).into_owned())
}
