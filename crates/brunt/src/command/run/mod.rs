//! `run`: a k6 script. Compile ─▶ setup ─▶ the scenarios ─▶ teardown ─▶ thresholds and summary.

mod console;
mod judge;
mod meant;
mod network;
mod stage;

use metrics::tally::Tally;
use report::{K6Input, k6_summary, k6_summary_export};
use script::Stage;
use stdx::Nanos;

use self::judge::judge;
use self::meant::{Meant, meant};
use self::stage::{Done, carry_out};
use super::Ended;
use crate::dialect::Invocation;
use crate::exit_code::{ExitCode, Failed};
use crate::flags::run::RUN;
use crate::output::{self, Place};

/// Runs a script.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, Ended> {
    let typed = invocation.typed(RUN)?;
    let meant = match meant(&typed)? {
        Ok(meant) => meant,
        Err(code) => return Ok(code),
    };
    // A test must not be run for a summary that cannot be written.
    meant.summary_export.iter().try_for_each(Place::try_out)?;
    if !meant.quiet {
        Place::Stdout.write(meant.announcement().as_bytes())?;
    }
    Ok(test(&meant)?)
}

/// Runs the test from setup to summary; gives the code to end with.
fn test(meant: &Meant) -> Result<ExitCode, Failed> {
    let mut tally = meant.tally.clone();
    let (done, mut code) = stages(meant, &mut tally)?;
    let judged = judge(&meant.thresholds, &tally, done.elapsed);
    let input = K6Input {
        tally: &tally,
        elapsed: done.elapsed,
        trend_stats: &meant.trend_stats,
        judged: &judged,
    };
    tell(meant, &input, &done)?;
    let crossed: Vec<&str> =
        judged.iter().filter(|judged| !judged.holds).map(|judged| judged.metric.as_str()).collect();
    if !crossed.is_empty() {
        let text = format!("thresholds on metrics '{}' have been crossed", listed(&crossed));
        console::complain("error", &text);
        if code == ExitCode::Ok {
            code = ExitCode::Thresholds;
        }
    }
    Ok(code)
}

/// Runs setup, the scenarios and teardown; gives what came of the scenarios, or of the setup that failed.
fn stages(meant: &Meant, tally: &mut Tally) -> Result<(Done, ExitCode), Failed> {
    let mut data = None;
    if meant.setup {
        let mut done = carry_out(meant, Stage::Setup, None)?;
        tally.merge(&done.outcome.tally);
        let code = code_of(&done, Stage::Setup, meant.options.setup_timeout);
        if !matches!(code, ExitCode::Ok | ExitCode::MarkedFailed) {
            return Ok((done, code));
        }
        data = done.outcome.returned.take();
    }
    let done = carry_out(meant, Stage::Iteration, data.as_deref())?;
    tally.merge(&done.outcome.tally);
    let mut code = code_of(&done, Stage::Iteration, Nanos::MAX);
    if meant.teardown {
        let down = carry_out(meant, Stage::Teardown, data.as_deref())?;
        tally.merge(&down.outcome.tally);
        match code_of(&down, Stage::Teardown, meant.options.teardown_timeout) {
            ExitCode::Ok => {}
            failed => code = failed,
        }
    }
    Ok((done, code))
}

/// Says what went wrong in a stage, as far as the log does not yet; gives the code for it.
fn code_of(done: &Done, stage: Stage, timeout: Nanos) -> ExitCode {
    let control = &done.control;
    if let Some(text) = control.failed() {
        console::complain("error", &text);
    }
    if let Some(text) = control.aborted() {
        console::complain("error", &text);
        return ExitCode::Aborted;
    }
    if control.broken().is_some() {
        return ExitCode::Script;
    }
    if done.interrupted && stage != Stage::Teardown {
        return ExitCode::Interrupted;
    }
    if stage != Stage::Iteration {
        if let Some(text) = control.not_json() {
            console::complain("error", &text);
            return ExitCode::Other;
        }
        if done.outcome.exception.is_some() {
            return ExitCode::Script;
        }
        if done.outcome.interrupted > 0 {
            let (name, code) = match stage {
                Stage::Setup => ("setup", ExitCode::SetupTimeout),
                _ => ("teardown", ExitCode::TeardownTimeout),
            };
            let seconds = timeout.0 as f64 / 1e9;
            let text = format!(
                "{name}() execution timed out after {seconds} seconds; the option {name}Timeout sets the limit"
            );
            console::complain("error", &text);
            return code;
        }
    }
    if control.failed().is_some() { ExitCode::MarkedFailed } else { ExitCode::Ok }
}

/// Names in their order, each once.
fn listed(names: &[&str]) -> String {
    let mut names = names.to_vec();
    names.dedup();
    names.join(", ")
}

/// Prints the summary, writes its export, and says where the figures are not to be believed.
fn tell(meant: &Meant, input: &K6Input<'_>, done: &Done) -> Result<(), Failed> {
    if meant.summary {
        let outcome = &done.outcome;
        let last = format!(
            "\nrunning ({}), 0/{} VUs, {} complete and {} interrupted iterations\n",
            clock(done.elapsed),
            meant.options.vus_max(),
            outcome.iterations,
            outcome.interrupted
        );
        Place::Stdout.write((k6_summary(input) + &last).as_bytes())?;
    }
    if let Some(place) = &meant.summary_export {
        place.write(k6_summary_export(input).as_bytes())?;
    }
    if !done.verdict.is_valid() {
        output::complain(&format!("brunt: {}", done.verdict));
    }
    let dropped = done.outcome.samples_dropped;
    if dropped > 0 {
        output::complain(&format!(
            "brunt: {dropped} samples were made faster than they were counted, and are lost"
        ));
    }
    Ok(())
}

/// k6's clock: `00m05.3s`.
fn clock(time: Nanos) -> String {
    let seconds = time.0 as f64 / 1e9;
    format!("{:02}m{:04.1}s", (seconds / 60.0).floor(), seconds % 60.0)
}
