//! The end of a run of ab: its report, its files, and remarks on its figures.

use cli::{Output, eprint_line};
use metrics::{FailureKind, Verdict};
use report::ab::{self, Attributes, Setting};

use super::address::Address;
use super::error::{AbError, WRONG};
use super::files;
use super::flags::AbFlags;
use super::observer::{AbObserver, RunEnd, progress_interval};
use super::request::Request;
use super::stdout::print;

/// Prints the report and writes the files.
pub(super) fn conclude(
    flags: &AbFlags,
    address: &Address,
    request: &Request,
    observer: &AbObserver<'_>,
    ended: &RunEnd,
) -> Result<u8, AbError> {
    let figures = &observer.figures;
    let setting = Setting {
        hostname: address.hostname.clone(),
        port: address.port,
        path: stdx::redacted_query(&address.path).unwrap_or_else(|| address.path.clone()),
        concurrency: flags.concurrency.unsigned_abs(),
        taken: ended.taken.max(figures.last),
        keep_alive: flags.keep_alive,
        variable_length: flags.variable_length,
        bytes_sent: request.body.as_ref().map(|_| figures.sent * request.len()),
        tls: ended.tls.clone(),
        plain_times: flags.plain_times,
        no_percentages: flags.no_percentages,
    };
    match (&flags.html, progress_interval(flags)) {
        _ if ended.interrupted => {}
        (_, None) => print("..done\n"),
        (_, Some(_)) => eprint_line(&format!("Finished {} requests", figures.complete)),
    }
    let report = match &flags.html {
        Some(attributes) => ab::html(&setting, figures, &attributes_of(attributes)),
        None => format!("\n\n{}", ab::text(&setting, figures)),
    };
    // ab itself would not notice a full disk.
    let printed = Output::Stdout.write(report.as_bytes());
    files::write(flags, figures)?;
    printed.map_err(|failed| AbError::wrong(format!("brunt ab: {failed}")))?;
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

/// Prints what ab omits about its figures.
fn remark(observer: &AbObserver<'_>, ended: &RunEnd) {
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
        eprint_line(&format!("brunt ab: {count} requests {what}"));
    }
    if observer.figures.is_coarse() {
        let most = ab::ROWS_MAX;
        eprint_line(&format!("brunt ab: more than {most} requests: times have three digits"));
    }
    if let Some(generator) = &ended.generator {
        let verdict = Verdict::new(&observer.summary, Some(generator), &[]);
        if !verdict.is_valid() {
            eprint_line(&format!("brunt ab: {verdict}"));
        }
    }
}
