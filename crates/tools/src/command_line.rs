//! What a command line of a tool ends with: its texts where the line is wrong, and its exit codes.

use std::process::ExitCode;

use cli::{Output, ResultsOption, eprint_line};

use crate::error::ToolError;
use crate::probe::probe;
use crate::run::run_config;
use crate::tool::LoadTool;

/// Runs a command line of this tool.
#[must_use]
pub fn run(tool: &LoadTool, args: &[String], results: Option<ResultsOption>) -> ExitCode {
    let config = (tool.parse)(args).and_then(|config| probe(&config).map(|()| config));
    match config {
        Err(error) => refuse(&error),
        Ok(config) => match run_config(&config, results) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failed) => {
                eprint_line(&format!("brunt {}: {failed}", tool.name));
                ExitCode::FAILURE
            }
        },
    }
}

/// Checks a command line of this tool; no file is read.
///
/// # Errors
/// The command line is wrong; the error is one line.
pub fn validate(tool: &LoadTool, args: &[String]) -> Result<(), String> {
    (tool.validate)(args).map_err(|error| words(&error))
}

/// The text of `brunt help NAME`.
#[must_use]
pub fn help(tool: &LoadTool) -> String {
    let name = tool.name;
    format!(
        "brunt {name}: {name}'s command line. The binary called as `{name}` (a link will do) speaks it too.\n\n\
         Its options: brunt {name} --help. --results FILE anywhere in the line stores the results too.\n\
         Differences: docs/reference/other-tools.md."
    )
}

/// The first line of an error before the usage; the usage where there is none.
fn words(error: &ToolError) -> String {
    let lines = || error.stderr.lines().chain(error.stdout.lines()).map(str::trim);
    let usage = |line: &str| line.to_lowercase().starts_with("usage:");
    let first = lines().take_while(|line| !usage(line)).find(|line| !line.is_empty());
    match first.or_else(|| lines().find(|line| usage(line))) {
        Some(line) => line.trim_start_matches("*-*-* ").to_owned(),
        None => "is refused".to_owned(),
    }
}

/// Prints why nothing is sent.
fn refuse(error: &ToolError) -> ExitCode {
    if !error.stderr.is_empty() {
        eprint_line(&error.stderr);
    }
    // The code is the same if the reader of the pipe is gone.
    Output::Stdout.write(error.stdout.as_bytes()).ok();
    ExitCode::from(error.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line() {
        let wrong = |line: &str| {
            let (name, rest) = line.split_once(' ').unwrap();
            let args: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            let tool = crate::LOAD_TOOLS.iter().find(|tool| tool.name == name).unwrap();
            validate(tool, &args).err()
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
        // Files are not read: they may exist when the line is run.
        for line in ["hey -D /nowhere http://h/", "oha -D /nowhere http://h/", "wrk -d 1 http://h/"]
        {
            assert_eq!(wrong(line), None, "{line}");
        }
    }
}
