//! `seek`: argv → what is searched → steps, one run each, as `study` proposes them → table, JSON, plot, exit code.

pub(crate) mod config;
pub(crate) mod flags;
mod limit;
mod runner;
mod script;
mod state;

use std::io::Write;

use cli::{
    CommandError, CommandResult, Document, ExitCode, ExitError, Interrupts, Invocation, Output,
    append_job_summary,
};
use k6::SearchedScript;
use report::seek::SeekInput;
use session::save::{self, SaveRequest, SavedTest};
use session::{OnInvalid, target_labels};
use store::{Finish, OpenRun};
use study::seek::{
    Next, SearchOutcome, Step, StopReason, TimeLeft, Trial, outcome, propose, time_left,
};

use self::config::SeekConfig;
use self::flags::FLAGS;
use self::runner::Runner;
use self::state::State;
use super::environment::Environment;
use crate::analyze::figure_file::write_sheet;

/// What `brunt help seek` says besides the flags.
pub(crate) const ABOUT: &str = "Starts at -from and doubles the load with each step until the objective is missed. Then it halves the gap between
the highest load that met the objective and the lowest that missed it, until the two are within 10 %, and takes
more steps there until the answer is as precise as -precision asks. Response times count from the moment a request
was due. An objective without a limit for errors gets errors<1%, since a server that fails quickly must not pass.
Prints a table of the steps, the answer with its 95 % interval, and the knee.

The search ends after 15 minutes, or after -budget, with the best answer there is by then. A budget also chooses the
lengths of the steps: -budget=2m finds the limit of a server with six workers to within 10 %. Each line of a step says
how long the search still takes.

With a k6 script in place of a URL, its iterations are what begins at the rate; -by=vus raises its virtual users. The
script's own load, thresholds and outputs do not count. With -watch-port, -watch-log and the other flags of watching
the answer comes with what limits the server.

If the load generator reaches its own limit first, the search ends and says so: the answer is then a lower bound.

Ctrl-C ends the current step and prints what is known; with -state the same command continues from there.";

/// Seeks.
///
/// # Errors
/// The command line is wrong, or a step cannot be carried out.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLAGS)?;
    let config = config::resolve(&args, &Environment::of_process_with_report())?;
    config.reports.spare(&args.flags.target.files())?;
    config.reports.try_out()?;
    if args.flags.objective.is_none() {
        let objective = &config.search.objective;
        print_line(&config, &format!("no -objective is given, so this seeks {objective}"));
    }
    let interrupts = Interrupts::watch()?;
    let script = config.script.as_ref().map(|script| script.path.as_str());
    let inputs: Vec<&str> =
        args.flags.target.targets.as_deref().into_iter().chain(script).collect();
    let (command, name) = ("seek", "");
    let test = SavedTest { command, args: &invocation.args, name, inputs: &inputs };
    let saving = args.flags.saving.request(test)?;
    let mut saved = saving.map(SaveRequest::begin).transpose()?;
    let ended = seek(config, interrupts, saved.as_mut());
    Ok(save::finish_saved(saved, ended)?)
}

/// Checks a command line without reading or opening anything.
///
/// # Errors
/// The command line is wrong.
pub(crate) fn validate(invocation: &Invocation) -> Result<(), CommandError> {
    config::validate(&invocation.parse(FLAGS)?)
}

/// Carries out a search.
fn seek(
    mut config: SeekConfig,
    interrupts: Interrupts,
    saved: Option<&mut OpenRun>,
) -> CommandResult {
    let script = match config.script.as_ref().map(SearchedScript::open).transpose() {
        Ok(script) => script,
        // The script's log says why.
        Err(code) => return Ok(code),
    };
    config.script_files = script.as_ref().map(SearchedScript::fingerprint);
    let (state, mut steps) = State::open(&mut config)?;
    // Which is also when git is asked for the commit.
    drop(session::provenance());
    // A place that cannot be written is found before the first step, not after the last.
    config.plot.iter().try_for_each(|(path, _)| Output::named(Some(path)).try_out())?;
    if let (Some(state), false) = (&state, steps.is_empty()) {
        print_line(
            &config,
            &format!("{state}: going on after {}", stdx::counted(steps.len() as u64, "step")),
        );
    }
    let metrics = config.displays.metrics.as_ref();
    let metrics = metrics.map(|metrics| metrics.open(&config.plan)).transpose()?.flatten();
    let mut runner = match Runner::new(&config, script, (metrics, interrupts)) {
        Ok(runner) => runner,
        // The script's log says why.
        Err(code) => return Ok(code),
    };
    let concluded = measure(&config, &mut runner, &mut steps, state.as_ref())
        .and_then(|found| report_found(&config, &mut runner, (&steps, &found), saved));
    // What was found is printed and kept by now, whatever a script's teardown does; a search that failed needs it as well, and its
    // own error says more.
    let closed = runner.close();
    let code = concluded?;
    closed?;
    Ok(code)
}

/// Runs the steps; each is kept before the next one begins.
fn measure(
    config: &SeekConfig,
    runner: &mut Runner<'_>,
    steps: &mut Vec<Step>,
    state: Option<&State>,
) -> Result<SearchOutcome, ExitError> {
    search(
        config,
        steps,
        |trial, number, left| runner.run(trial, number, left),
        |steps, left| {
            let last = steps.last().map(|step| {
                report::seek::line(&config.search, steps.len(), step, left, config.paint)
            });
            last.into_iter().for_each(|line| print_line(config, &line));
            state.map_or(Ok(()), |state| state.save(steps))
        },
    )
}

/// Prints and keeps what was found, with what limits the server.
fn report_found(
    config: &SeekConfig,
    runner: &mut Runner<'_>,
    (steps, found): (&[Step], &SearchOutcome),
    saved: Option<&mut OpenRun>,
) -> CommandResult {
    let limit = runner.limit.take();
    let attacked = match &config.script {
        Some(script) => Some(script.path.clone()),
        None => report::planned(&target_labels(&config.plan)),
    };
    let assertions = [session::provenance_row()];
    let input = SeekInput {
        search: &config.search,
        steps,
        outcome: found,
        limit: limit.as_ref(),
        seed: config.plan.seed,
        arrivals: config.arrivals(),
        attacked: attacked.as_deref(),
        began: Some(config.began),
        assertions: &assertions,
    };
    conclude(config, &input, saved)
}

/// Runs what is proposed, step by step, until there is no more to do. `run` carries a step out, whatever it is made of, and
/// gives `None` where the user ended it; `keep` is called after each step.
fn search(
    config: &SeekConfig,
    steps: &mut Vec<Step>,
    mut run: impl FnMut(Trial, usize, Option<TimeLeft>) -> Result<Option<Step>, ExitError>,
    keep: impl Fn(&[Step], Option<TimeLeft>) -> Result<(), ExitError>,
) -> Result<SearchOutcome, ExitError> {
    let mut next = propose(&config.search, steps);
    loop {
        let trial = match next {
            Next::Run(trial) => trial,
            Next::Done(outcome) => return Ok(outcome),
        };
        let Some(step) = run(trial, steps.len(), time_left(&config.search, steps))? else {
            return Ok(outcome(&config.search, steps, StopReason::Interrupted));
        };
        steps.push(step);
        next = propose(&config.search, steps);
        let goes_on = matches!(next, Next::Run(_));
        keep(steps, time_left(&config.search, steps).filter(|_| goes_on))?;
    }
}

/// Prints and draws what was found.
fn conclude(
    config: &SeekConfig,
    input: &SeekInput<'_>,
    saved: Option<&mut OpenRun>,
) -> CommandResult {
    let (steps, outcome) = (input.steps, input.outcome);
    if let Some(run) = saved {
        keep(run, input)?;
    }
    append_job_summary(|| report::seek::markdown(input));
    config.reports.write(|document| match document {
        Document::Html => report::seek::sheet(input).html(),
        Document::Json => report::seek::json(input),
        Document::Markdown => report::seek::markdown(input),
        Document::Junit => report::seek::junit(input),
        _ => report::seek::text(input),
    })?;
    let document = if config.json { report::seek::json(input) } else { report::seek::text(input) };
    Output::Stdout.write(document.as_bytes())?;
    if let Some((path, document)) = &config.plot {
        write_sheet(&report::seek::sheet(input), path, *document)?;
    }
    Ok(match (outcome.answer, outcome.stop_reason) {
        _ if config.on_invalid == OnInvalid::Fail && is_invalid(steps, outcome) => {
            ExitCode::Invalid
        }
        (Some(_), _) | (None, StopReason::Interrupted) => ExitCode::Ok,
        (None, _) => ExitCode::Unmet,
    })
}

/// INVALID steps ended the search, or are half of its steps or more.
fn is_invalid(steps: &[Step], outcome: &SearchOutcome) -> bool {
    let invalid = steps.iter().filter(|step| step.spoilt.is_some()).count();
    outcome.stop_reason == StopReason::Generator || (invalid > 0 && 2 * invalid >= steps.len())
}

/// Stores the answer, all steps and the curve.
fn keep(run: &mut OpenRun, input: &SeekInput<'_>) -> Result<(), ExitError> {
    let documents = [
        ("report.txt", report::seek::text(input)),
        ("report.json", report::seek::json(input)),
        ("report.html", report::seek::sheet(input).html()),
    ];
    save::save_documents(run, &documents)?;
    let conclusion = report::seek::conclusion(input);
    let server = Some(save::server_of(&report::seek::server_result(input)));
    let attacked = input.attacked.map(str::to_owned);
    run.conclude(Finish { conclusion, attacked, server, ..Finish::default() });
    Ok(())
}

/// Prints a line on standard error, unless -progress=false.
fn print_line(config: &SeekConfig, line: &str) {
    if config.lines {
        // A terminal that went away is no reason to stop.
        writeln!(std::io::stderr().lock(), "{line}").ok();
    }
}
