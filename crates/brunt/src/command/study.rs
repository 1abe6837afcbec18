//! `study`: the command line of studies, which `lab` runs.

use std::path::Path;

use cli::{CommandResult, ExitCode, nearest};
use lab::{CommandLines, Existing, Mode, StartMode, StudyOptions, StudyOutcome, Style};

use session::OnInvalid;
use session::save::{self, SaveRequest, SavedTest};
use store::Finish;

use super::{CommandError, usage_error};
use crate::dialect::Invocation;
use crate::flags::study::{STUDY, StudyFlags};

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "run FILE starts the servers of a variant, runs a workload against them, and stops them; it does so for every
variant and workload, in blocks of random order. At the end it writes DIR/report.html and DIR/study.json. The same
command continues a study that was interrupted or killed. new [FILE] writes an example study (study.toml by default).

Ctrl-C stops the servers and writes a report of the runs so far; a second Ctrl-C ends at once.";

/// Runs what the first operand names.
pub(super) fn run(invocation: &Invocation, lines: &CommandLines) -> Result<ExitCode, CommandError> {
    // The words after it are the command line of another program.
    if let [word, _, rest @ ..] = &invocation.args[..]
        && word == lab::HOLD
    {
        return Ok(lab::exec_held(rest));
    }
    let args = invocation.parse(STUDY)?;
    let operands: Vec<&str> = args.operands.iter().map(String::as_str).collect();
    check_flags(operands.first().copied(), &args.flags)?;
    match operands[..] {
        [lab::REAP] => Ok(lab::reap()),
        ["run", path] => Ok(run_saved(path, &args.flags, &invocation.args, lines)?),
        ["new"] => Ok(lab::write_template("study.toml", existing(&args.flags))?),
        ["new", path] => Ok(lab::write_template(path, existing(&args.flags))?),
        ["run"] => Err(usage_error(
            "the study's file is missing: give for example brunt study run study.toml",
        )),
        ["run" | "new", ..] => Err(usage_error("too many operands (expected one file)")),
        [] => Err(usage_error(
            "an operand is missing (expected brunt study run FILE, or brunt study new [FILE])",
        )),
        [word, ..] => {
            let near = nearest(word, ["run", "new"].into_iter());
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            Err(usage_error(format!("unknown operand \"{word}\" (expected run or new){hint}")))
        }
    }
}

/// Runs a study, and keeps its report in the store where that was asked for.
fn run_saved(
    path: &str,
    flags: &StudyFlags,
    args: &[String],
    lines: &CommandLines,
) -> CommandResult {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let test = SavedTest { command: "study", args, name: stem, inputs: &[path] };
    let saving = flags.saving.request(test)?;
    let mut saved = saving.map(SaveRequest::begin).transpose()?;
    let ended = lab::run_study(path, &options(flags), lines);
    if let (Some(run), Ok(outcome)) = (&mut saved, &ended) {
        for (name, file) in [("report.json", &outcome.document), ("report.html", &outcome.report)] {
            let text = cli::input::read_whole(&file.display().to_string())?;
            run.add_document(name, &text).map_err(save::store_failure)?;
        }
        let text = outcome.conclusion.join("\n") + "\n";
        save::save_documents(run, &[("report.txt", text)])?;
        run.conclude(Finish { conclusion: outcome.conclusion.clone(), ..Finish::default() });
    }
    save::finish_saved(saved, ended.map(|outcome| code(&outcome, flags.on_invalid)))
}

/// A study that is not whole says so first.
fn code(outcome: &StudyOutcome, on_invalid: OnInvalid) -> ExitCode {
    let is_decided = on_invalid == OnInvalid::Fail && outcome.invalid > 0;
    match outcome.code {
        ExitCode::Ok if is_decided => ExitCode::Invalid,
        code => code,
    }
}

/// Refuses a flag of `run` for `new`, and the reverse.
fn check_flags(operand: Option<&str>, flags: &StudyFlags) -> Result<(), CommandError> {
    let stray = match operand {
        Some("run") => flags.stray_of_run().map(|flag| (flag, "run", "new")),
        Some("new") => flags.stray_of_new().map(|flag| (flag, "new", "run")),
        _ => None,
    };
    if let Some(flag) = flags.stray_bound() {
        return Err(usage_error(format!("flag -{flag}: bounds nothing without -until-sure")));
    }
    stray.map_or(Ok(()), |(flag, word, other)| {
        let text =
            format!("flag -{flag}: stands for nothing in study {word}, only in study {other}");
        Err(usage_error(text))
    })
}

fn options(flags: &StudyFlags) -> StudyOptions {
    StudyOptions {
        mode: if flags.quick { Mode::Quick } else { Mode::Full },
        only: flags.only.clone(),
        out: flags.out.clone(),
        start: if flags.fresh { StartMode::Fresh } else { StartMode::Resume },
        until_sure: flags.until_sure(),
        style: if flags.json { Style::Json } else { Style::text() },
        web: flags.web.clone(),
    }
}

fn existing(flags: &StudyFlags) -> Existing {
    if flags.force { Existing::Overwrite } else { Existing::Refuse }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::registry::command_lines;
    use lab::TEMPLATE;

    fn problems(text: &str, mode: Mode) -> Vec<String> {
        let found = lab::problems(text, mode, &command_lines());
        found.into_iter().map(|problem| problem.text).collect()
    }

    /// Each command line of a workload, with its problem; empty for none.
    #[test]
    fn workloads_are_read_as_brunt_would_read_them() {
        const CLOSED: &str = "bench -c 4 -d 5s {url}/";
        let cases = [
            ("bench -dd 5s {url}/", "unknown flag -dd"),
            ("bench -c 4 -d 5x {url}/", "flag -d: "),
            ("bench -c 4 -d 5s", "a URL or -targets=FILE is needed"),
            ("bench -c 4 -d 5s {url}/ x", "unexpected \"x\""),
            ("bench -c 4 {ur}/", "{ur} stands for nothing (did you mean {url}?)"),
            ("bench -c 4 {address}/", "{address} stands for nothing"),
            ("bench -help {url}/", "asks for help"),
            ("attack -rate=5", "-targets=FILE is needed: standard input is empty"),
            ("attack -rate=5 -targets={study}/t -shape=x", "flag -shape: "),
            ("attack -rate=0 -targets={study}/t", "-rate=0 requires setting -max-workers"),
            ("vegeta attack -rat=5 -targets=t", "unknown flag -rat"),
            ("cable echo {url}", "flag -channel is missing"),
            ("cable ecko {url} -channel C", "\"ecko\" is not a pattern"),
            ("seek {url}", ""),
            ("attack -rate=5 {url}/ {url}/b", ""),
            ("attack -rate=5 -targets=t {url}/", "a URL and -targets exclude each other"),
            ("bench -c 4 -targets=stdin", "-targets=FILE is needed: standard input is empty"),
            ("seek -objective=p99<1s", "a URL or -targets=FILE is needed"),
            (
                "seek -objective=p99<1s -targets=-",
                "-targets=FILE is needed: standard input is empty",
            ),
            ("run -u x s.js", "flag -u: "),
            ("run", "requires a script"),
            ("k6 run -q", "requires a script"),
            ("ab -n 5 -Y {url}/", "illegal option -- Y"),
            ("ab -n 5 {url}", "invalid URL"),
            ("ab -n 5 -c 9 {url}/", "Cannot use concurrency level greater"),
            ("hey -n 5 -c 9 {url}/", "-n cannot be less than -c."),
            ("oha -n", "a value is required for '-n'"),
            ("perfer -d 1", "A URL is required."),
            ("wrk -c 0 {url}/", "number of connections must be >= threads"),
            // What is there only when it is run is not looked at.
            ("attack -rate=5 -targets={study}/no -body=/no -laddr=10.255.0.1 -cert=/no", ""),
            ("attack -rate=5 -shape=replay:/no -targets={study}/no", ""),
            ("bench -n 5 -targets=/no", ""),
            ("seek -by=connections -objective=p99<1s -targets=/no", ""),
            ("cable echo {url} -channel C -params '{\\\"id\\\":\\\"{user}\\\"}'", ""),
            ("run -q -e A={url} --summary-export={run}/s.json {study}/no.js", ""),
            ("k6 run -u 1 no.js", ""),
            ("vegeta attack -rate=5 -targets={study}/no", ""),
            ("hey --watch -n 5 -c 5 {url}/", ""),
            ("ab -n 5 -p /no {url}/", ""),
        ];
        assert!(TEMPLATE.contains(CLOSED));
        for (line, words) in cases {
            let text = TEMPLATE.replacen(CLOSED, line, 1);
            let found = problems(&text, Mode::Quick);
            match (&found[..], words) {
                ([], "") => {}
                ([one], words) if !words.is_empty() && one.contains(words) => {
                    assert!(one.starts_with("workload \"closed\".command: "), "{line}: {one}");
                }
                _ => panic!("{line}: {found:?}"),
            }
        }
        // The short form is read too, and a variant that alone is wrong is named.
        let short = TEMPLATE.replace("ab -n 800 -c 8 {url}/", "ab -n 8 -c 80 {url}/");
        assert!(
            problems(&short, Mode::Full)[0]
                .starts_with("workload \"ab\".quick: Cannot use concurrency")
        );
        let one = TEMPLATE.replace("url = \"http://127.0.0.1:18432\"", "url = \"18432\"");
        let found = problems(&one, Mode::Full);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|text| text.ends_with("(for variant \"quick\")")), "{found:?}");
    }
}
