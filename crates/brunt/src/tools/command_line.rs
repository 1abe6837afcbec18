//! The dialects of wrk, wrk2, perfer, hey and oha: their words where a line is wrong, and their exit codes.

use std::process::ExitCode;

use cli::ResultsOption;

use super::Refusal;
use crate::output::{self, Place};

/// Runs a command line of the tool of this name.
pub(crate) fn run(name: &str, args: &[String], results: Option<ResultsOption>) -> ExitCode {
    let asked = super::ask(name, args).and_then(|asked| super::probe(&asked).map(|()| asked));
    match asked {
        Err(refusal) => refuse(&refusal),
        Ok(asked) => match super::carry_out(&asked, results) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                output::complain(&format!("brunt {name}: {failed}"));
                ExitCode::FAILURE
            }
        },
    }
}

/// Checks a command line of the tool of this name.
///
/// # Errors
/// The command line is wrong; the error is one line.
pub(crate) fn validate(name: &str, args: &[String]) -> Result<(), String> {
    super::check(name, args).map_err(|refusal| words(&refusal))
}

/// The text of `brunt help NAME`.
pub(crate) fn help(name: &str) -> String {
    format!(
        "brunt {name}: {name}'s command line. The binary called as `{name}` (a link will do) speaks it too.\n\n\
         Its options: brunt {name} --help. --results FILE anywhere in the line stores the results too.\n\
         Differences: docs/reference/other-tools.md."
    )
}

/// What a refusal says before it tells how the tool is used; where that is nothing, how it is used.
fn words(refusal: &Refusal) -> String {
    let lines = || refusal.stderr.lines().chain(refusal.stdout.lines()).map(str::trim);
    let usage = |line: &str| line.to_lowercase().starts_with("usage:");
    let first = lines().take_while(|line| !usage(line)).find(|line| !line.is_empty());
    match first.or_else(|| lines().find(|line| usage(line))) {
        Some(line) => line.trim_start_matches("*-*-* ").to_owned(),
        None => "is refused".to_owned(),
    }
}

/// Says why nothing is sent.
fn refuse(refusal: &Refusal) -> ExitCode {
    if !refusal.stderr.is_empty() {
        output::complain(&refusal.stderr);
    }
    // Where nobody reads it, the code says as much.
    Place::Stdout.write(refusal.stdout.as_bytes()).ok();
    ExitCode::from(refusal.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_a_line() {
        let wrong = |line: &str| {
            let (name, rest) = line.split_once(' ').unwrap();
            let args: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            validate(name, &args).err()
        };
        let cases = [
            ("hey -z 5s", "Usage: hey [options...] <url>"),
            ("hey -zz 5s http://h/", "flag provided but not defined: -zz"),
            ("hey -n 1 -c 2 http://h/", "-n cannot be less than -c."),
            ("oha -z 5s", "error: a URL is needed"),
            ("oha http://h/ x", "error: unexpected argument 'x'"),
            ("wrk -c 2", "Usage: wrk <options> <url>"),
            ("wrk -c 2 -t 3 http://h/", "number of connections must be >= threads"),
            ("wrk2 http://h/", "Throughput MUST be specified with the --rate or -R option"),
            ("perfer -d 1", "A URL is required."),
        ];
        for (line, expected) in cases {
            let found = wrong(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found, expected, "{line}");
        }
        // Files are not looked at: they may be there when the line is run.
        for line in ["hey -D /nowhere http://h/", "oha -D /nowhere http://h/", "wrk -d 1 http://h/"]
        {
            assert_eq!(wrong(line), None, "{line}");
        }
    }
}
