//! A load test carried out: from its configuration to results, report and exit code.

use std::sync::PoisonError;

use anyhow::anyhow;
use cli::{CommandResult, ExitCode, ExitError, Interrupts, Output, append_job_summary};
use engine::{CertificateRole, LazyTargets, StartError};
use metrics::tally::Assertion;
use metrics::{TargetTable, Verdict};
use remote::Records;
use session::save::{self, SaveRequest};
use session::{
    GateObserver, LoadOnPage, MultiplexingCheck, Observer, OnCutOff, OnInvalid, RunFigures,
    RunOutcome, RunPlace, RunRequest, Serialized, SessionError, SessionOptions, target_labels,
};
use store::OpenRun;

use super::fleet;
use super::load_test::{LazySource, LoadTest};
use super::outputs::ReportFormat;
use super::row_exporter::RowExporter;
use super::targets;
use super::watched::WatchedServers;
use crate::dialect::LoadRules;

/// Carries out a load test, and keeps it where that was asked for.
pub(super) fn run_load_test(test: LoadTest, rules: &LoadRules) -> CommandResult {
    let beside = Beside { observer: &mut None::<MultiplexingCheck>, asserted: &Vec::new };
    run_load_test_beside(test, rules, beside)
}

/// A command's own beside a load test.
pub(super) struct Beside<'a> {
    /// Sees the run.
    pub(super) observer: &'a mut dyn Observer,
    /// Results that are known after the run.
    pub(super) asserted: &'a dyn Fn() -> Vec<Assertion>,
}

/// Carries out a load test with what its command has of its own, and keeps it where that was asked for.
pub(super) fn run_load_test_beside(
    mut test: LoadTest,
    rules: &LoadRules,
    beside: Beside<'_>,
) -> CommandResult {
    // It stands in every result and report, and is sent to no server.
    test.plan.name = stdx::shown_text(&test.plan.name).into_owned();
    test.check_abort()?;
    test.reports.try_out()?;
    let mut saved = test.saving.take().map(SaveRequest::begin).transpose()?;
    let ended = carry_out(test, rules, (saved.as_mut(), beside));
    save::finish_saved(saved, ended)
}

/// Carries out a load test.
fn carry_out(
    mut test: LoadTest,
    rules: &LoadRules,
    (mut saved, beside): (Option<&mut OpenRun>, Beside<'_>),
) -> CommandResult {
    let interrupts = Interrupts::watch()?;
    let provenance = session::provenance_row();
    warn_of_descriptors(&test, rules);
    let shown = test.open_displays(LoadOnPage::Changeable, &interrupts)?;
    let mut rows = RowExporter::start(&test.sent_to, target_labels(&test.plan))?;
    let (format, watching) = (test.format, test.watching.take());
    let (output, run) = (test.results.take(), saved.as_deref_mut());
    let results = save::open_results(output, format, run, watching.as_ref())?;
    let mut servers = watching.is_some().then(WatchedServers::new);
    let (lazy, problem) = lazy(test.lazy.take(), rules)?;
    let mut multiplexing = multiplexing(&test);
    let request = RunRequest {
        plan: test.plan.clone(),
        options: SessionOptions { results, ..SessionOptions::new(&interrupts) },
        shown,
        figures: figures(&test, saved.is_some()),
        gates: gates(&test),
        abort: test.abort(),
    };
    let (place, records) = place(&test, lazy, &interrupts)?;
    let started = request.start(place).map_err(|error| not_started(error, rules))?;
    let mut outcome =
        started.run(&mut [&mut servers, &mut multiplexing, &mut rows, beside.observer])?;
    rows.into_iter().for_each(RowExporter::finish);
    let own = (beside.asserted)();
    let mut asserted = outcome.gate_outcomes(&own);
    asserted.extend(own);
    let failed = records.and_then(|records| fleet::conclude(&records, &mut asserted));
    let asserted = outcome.conclude(asserted, provenance)?;
    warn_of_serialized(multiplexing);
    if let (Some(servers), Some(seen)) = (&mut servers, &outcome.ended.server) {
        servers.add(seen);
    }
    let verdict = judge_and_report(&test, saved, (&outcome, servers.as_ref()), &asserted)?;
    if let Some(cause) = failed {
        return Err(anyhow!("the fleet ended the run early: {cause}").into());
    }
    if let Some(error) = problem.and_then(|problem| problem.found(rules)) {
        return Err(ExitError { code: ExitCode::Input, error });
    }
    Ok(outcome.exit_code(&asserted, verdict.as_ref(), test.on_invalid))
}

/// Where the test takes place, and the records of its agents where that is a fleet.
fn place<'a>(
    test: &'a LoadTest,
    lazy: Option<LazyTargets>,
    interrupts: &Interrupts,
) -> Result<(RunPlace<'a>, Option<Records>), ExitError> {
    let Some(fleet) = &test.fleet else {
        return Ok((RunPlace::Here { settings: &test.settings, lazy }, None));
    };
    let (execution, records) = fleet::start((&test.plan, &test.settings), fleet, interrupts)?;
    Ok((RunPlace::Fleet(Box::new(execution)), Some(records)))
}

/// Judges the figures and writes the reports; no verdict where no figures were made.
fn judge_and_report(
    test: &LoadTest,
    saved: Option<&mut OpenRun>,
    (outcome, servers): (&RunOutcome, Option<&WatchedServers>),
    asserted: &[Assertion],
) -> Result<Option<Verdict>, ExitError> {
    let Some((figures, verdict)) = outcome.figures.as_ref().zip(outcome.verdict(asserted)) else {
        return Ok(None);
    };
    let server = servers.and_then(|servers| servers.beside(&figures.summary));
    let attacked = figures.attacked();
    let judged = (&outcome.ended.generator, &verdict);
    let input = figures.input(&test.plan.name, judged, asserted);
    let input = report::Input { server, attacked: attacked.as_ref(), ..input };
    close(test, saved, &input)?;
    Ok(Some(verdict))
}

/// What judges the gates. A long list of targets costs memory for each observer that has their labels.
fn gates(test: &LoadTest) -> Option<GateObserver> {
    let labels = match test.gates.is_empty() {
        true => TargetTable::default(),
        false => target_labels(&test.plan),
    };
    GateObserver::new(&test.gates, labels)
}

/// Watches for requests that waited for each other. On a fleet, users and connections are the agents'.
fn multiplexing(test: &LoadTest) -> Option<MultiplexingCheck> {
    let check = MultiplexingCheck::new(&test.plan, &test.settings);
    check.filter(|_| test.fleet.is_none())
}

/// Why an attack could not start.
fn not_started(error: SessionError, rules: &LoadRules) -> ExitError {
    let roots = CertificateRole::Roots;
    match (error, rules.bad_roots) {
        (SessionError::Start(StartError::Certificate { role, .. }), Some(text))
            if role == roots =>
        {
            anyhow!(text).into()
        }
        (error, _) => error.into(),
    }
}

/// The figures that the closing report and the gates are made from, where there are any.
fn figures(test: &LoadTest, is_saved: bool) -> Option<RunFigures> {
    let mut figures = RunFigures::new(OnCutOff::Counted).of_targets(target_labels(&test.plan));
    // The workers of a fleet are not this machine's.
    if test.fleet.is_none() && test.settings.workers == 1 {
        figures = figures.of_one_worker();
    }
    match (test.report, test.per_connection) {
        (ReportFormat::Nothing, _)
            if test.gates.is_empty()
                && test.on_invalid == OnInvalid::Report
                && !is_saved
                && test.reports.is_empty() =>
        {
            None
        }
        (_, true) => Some(figures.by_connection(target_labels(&test.plan))),
        (_, false) => Some(figures),
    }
}

/// Warns of descriptors that may not be enough. On a fleet they are the agents'.
fn warn_of_descriptors(test: &LoadTest, rules: &LoadRules) {
    if rules.warns_of_descriptors && test.fleet.is_none() {
        session::warn_descriptor_limit(&test.plan, &test.settings);
    }
}

/// Warns of requests that waited for each other, with the flags that give each user a connection.
fn warn_of_serialized(check: Option<MultiplexingCheck>) {
    let Some(Serialized { users, connections }) = check.and_then(|check| check.serialized()) else {
        return;
    };
    let line = stdx::counted(users, "user");
    let connections = stdx::counted(connections, "connection");
    session::warn(&format!(
        "no connection had two requests under way: the server speaks HTTP/1.1 (or allows one stream), and {line} stood in \
         line for {connections}; response times count the wait (give -c={users} without -m)"
    ));
}

/// Why the targets of a lazy source may end early.
struct Problem {
    source: String,
    slot: targets::FirstProblem,
}

impl Problem {
    /// What was wrong, if something was.
    fn found(&self, rules: &LoadRules) -> Option<anyhow::Error> {
        let problem = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(if rules.lists_problems {
            anyhow!("{}: {problem} (the attack ended there)", self.source)
        } else {
            anyhow!("{problem} (the attack ended there)")
        })
    }
}

/// The targets that are read while attacking.
fn lazy(
    source: Option<LazySource>,
    rules: &LoadRules,
) -> Result<(Option<LazyTargets>, Option<Problem>), ExitError> {
    let source = match source {
        None => return Ok((None, None)),
        Some(LazySource::Made(targets)) => return Ok((Some(targets), None)),
        Some(LazySource::Read(source)) => source,
    };
    let (targets, slot) = targets::stream(&source, rules)?;
    Ok((Some(targets), Some(Problem { source: source.name, slot })))
}

/// Prints the closing report, and stores it.
fn close(
    test: &LoadTest,
    saved: Option<&mut OpenRun>,
    input: &report::Input<'_>,
) -> Result<(), ExitError> {
    if let Some(run) = saved {
        save::save_report(run, input)?;
    }
    test.reports.write_run(input)?;
    if test.report != ReportFormat::Nothing {
        append_job_summary(|| report::markdown(input));
    }
    let document = match test.report {
        ReportFormat::Nothing => return Ok(()),
        ReportFormat::Text => report::text(input),
        ReportFormat::Json => report::json(input),
    };
    Output::Stdout.write(document.as_bytes())
}
