//! A load test carried out: from its configuration to results, report and exit code.

use std::sync::PoisonError;

use anyhow::anyhow;
use cli::{CommandResult, ExitCode, ExitError, Interrupts, Output, eprint_line, reason};
use engine::{CertificateRole, LazyTargets, StartError};
use metrics::Generator;
use session::{
    BarePort, MultiplexingCheck, OnCutOff, Progress, PrometheusExporter, ResultsFile, RunFigures,
    Serialized, Session, SessionError, SessionOptions, target_labels,
};

use super::load_test::LoadTest;
use super::outputs::ReportFormat;
use super::targets::{self, Source};
use crate::dialect::Dialect;

/// Carries out a load test.
pub(super) fn run_load_test(mut test: LoadTest, dialect: Dialect) -> CommandResult {
    let interrupts = Interrupts::watch()?;
    if dialect == Dialect::Native {
        session::warn_descriptor_limit(&test.plan, &test.settings);
    }
    let mut exporter = exporter(&test, dialect)?;
    let (encoding, watching) = (test.encoding, test.watching.take());
    let open = |place| ResultsFile::open(&place, encoding, watching.as_ref());
    let results = test.results.take().map(open).transpose()?;
    let (lazy, problem) = lazy(test.lazy.take(), dialect)?;
    let mut progress = test.progress.then(|| Progress::new(&test.plan));
    let mut multiplexing = MultiplexingCheck::new(&test.plan, &test.settings);
    let mut figures = figures(&test);
    let options = SessionOptions { results, ..SessionOptions::new(&interrupts) };
    let session = Session::start(test.plan.clone(), &test.settings, lazy, options)
        .map_err(|error| not_started(error, dialect))?;
    let outcome =
        session.run(&mut [&mut figures, &mut multiplexing, &mut exporter, &mut progress])?;
    if let Some(serialized) = multiplexing.and_then(|check| check.serialized()) {
        session::warn(&in_words(serialized));
    }
    if let Some(figures) = &figures {
        close(&test, figures, &outcome.generator)?;
    }
    let found = problem.and_then(|problem| problem.found(dialect));
    found.map_or(Ok(ExitCode::Ok), |error| Err(ExitError { code: ExitCode::Input, error }))
}

/// Why an attack could not start, in the dialect's words.
fn not_started(error: SessionError, dialect: Dialect) -> ExitError {
    match error {
        SessionError::Start(StartError::Certificate { role: CertificateRole::Roots, .. })
            if dialect == Dialect::Vegeta =>
        {
            anyhow!("bad certificate").into()
        }
        error => error.into(),
    }
}

/// The figures that the closing report is made from, where there is one.
fn figures(test: &LoadTest) -> Option<RunFigures> {
    let figures = RunFigures::new(OnCutOff::Counted);
    match (test.report, test.per_connection) {
        (ReportFormat::Nothing, _) => None,
        (_, true) => Some(figures.by_connection(target_labels(&test.plan))),
        (_, false) => Some(figures),
    }
}

/// Warns of requests that waited for each other, and says how to give each user a connection.
fn in_words(Serialized { users, connections }: Serialized) -> String {
    let line = stdx::counted(users, "user");
    let connections = stdx::counted(connections, "connection");
    format!(
        "no connection had two requests under way: the server speaks HTTP/1.1 (or allows one stream), and {line} stood in \
         line for {connections}; response times count the wait (give -c={users} without -m)"
    )
}

/// Why the targets of a lazy source may end early.
struct Problem {
    source: String,
    slot: targets::FirstProblem,
}

impl Problem {
    /// What was wrong, if something was.
    fn found(&self, dialect: Dialect) -> Option<anyhow::Error> {
        let problem = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(match dialect {
            Dialect::Native => anyhow!("{}: {problem} (the attack ended there)", self.source),
            Dialect::Vegeta => anyhow!("{problem} (the attack ended there)"),
        })
    }
}

/// The targets that are read while attacking.
fn lazy(
    source: Option<Source>,
    dialect: Dialect,
) -> Result<(Option<LazyTargets>, Option<Problem>), ExitError> {
    let Some(source) = source else { return Ok((None, None)) };
    let (targets, slot) = targets::stream(&source, dialect)?;
    Ok((Some(targets), Some(Problem { source: source.name, slot })))
}

/// The live metrics. Vegeta does not notice that a port is taken; natively that is an error.
fn exporter(test: &LoadTest, dialect: Dialect) -> Result<Option<PrometheusExporter>, ExitError> {
    let Some(addr) = &test.prometheus else {
        return Ok(None);
    };
    let bare = match dialect {
        Dialect::Native => BarePort::Loopback,
        Dialect::Vegeta => BarePort::AllAddresses,
    };
    if let (Some(port), BarePort::Loopback) = (addr.strip_prefix(':'), bare) {
        eprint_line(&format!(
            "metrics are at http://127.0.0.1:{port}/metrics, for this machine alone (for all: -prometheus-addr=0.0.0.0:{port})"
        ));
    }
    match (PrometheusExporter::start(addr, bare, target_labels(&test.plan)), dialect) {
        (Ok(exporter), _) => Ok(Some(exporter)),
        (Err(_), Dialect::Vegeta) => Ok(None),
        (Err(error), Dialect::Native) => {
            let reason = reason(&error);
            Err(anyhow!("flag -prometheus-addr: cannot listen on \"{addr}\": {reason}").into())
        }
    }
}

/// Prints the closing report.
fn close(test: &LoadTest, figures: &RunFigures, generator: &Generator) -> Result<(), ExitError> {
    let verdict = figures.verdict(generator);
    let input = figures.input(&test.plan.name, generator, &verdict);
    let document = match test.report {
        ReportFormat::Nothing => return Ok(()),
        ReportFormat::Text => report::text(&input),
        ReportFormat::Json => report::json(&input),
    };
    Output::Stdout.write(document.as_bytes())
}
