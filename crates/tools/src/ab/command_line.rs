//! ApacheBench's dialect: `ab [flags] URL`, its words, usage and exit codes, which are errno's numbers.

use cli::getopt::{self, GetoptError};
use cli::{ASKS_FOR_HELP, Output, ResultsOption, eprint_line};

use super::banner::banner;
use super::command;
use super::error::{AbError, USAGE};
use super::flags::{AbFlags, FLAGS, Stop};

/// Runs a command line of ab's; gives the code to end with.
pub fn run(args: &[String], results: Option<ResultsOption>) -> u8 {
    let mut flags = AbFlags::default();
    let parsed = match getopt::parse(FLAGS, args, &mut flags) {
        Ok(parsed) => parsed,
        Err(wrong) => return misused(&wrong.native),
    };
    match flags.stop {
        Some(Stop::Help) => {
            eprint_line(&usage());
            return USAGE;
        }
        Some(Stop::Version) => {
            // If stderr is closed, the exit code still reports it.
            return u8::from(Output::Stdout.write(banner().as_bytes()).is_err());
        }
        Some(Stop::Refused(words)) => {
            eprint_line(&format!("{words}\n"));
            return 1;
        }
        None => {}
    }
    if let Some(error) = parsed.error {
        eprint_line(&format!("ab: {}", words(error)));
    }
    let [url] = parsed.operands.as_slice() else {
        return misused(NUMBER);
    };
    match command::run(&flags, url, results) {
        Ok(code) => code,
        Err(AbError::Usage(what)) => misused(what),
        Err(AbError::Message { code, text }) => {
            eprint_line(&text);
            code
        }
    }
}

/// The error for a command line without a URL or with several.
const NUMBER: &str = "wrong number of arguments";

/// getopt's words.
fn words(error: GetoptError) -> String {
    match error {
        GetoptError::IllegalLetter(letter) => format!("illegal option -- {letter}"),
        GetoptError::NeedsValue(letter) => format!("option requires an argument -- {letter}"),
    }
}

/// Checks a command line without running it. An unknown option counts as wrong, though ab only warns of it.
///
/// # Errors
/// The command line is wrong; the error is one line.
pub fn validate(args: &[String]) -> Result<(), String> {
    let mut flags = AbFlags::default();
    let parsed = getopt::parse(FLAGS, args, &mut flags).map_err(|wrong| wrong.native)?;
    match flags.stop {
        Some(Stop::Refused(words)) => return Err(words.to_owned()),
        Some(Stop::Help | Stop::Version) => return Err(ASKS_FOR_HELP.to_owned()),
        None => {}
    }
    if let Some(error) = parsed.error {
        return Err(words(error));
    }
    let [url] = parsed.operands.as_slice() else { return Err(NUMBER.to_owned()) };
    command::validate(&flags, url).map_err(|quit| match quit {
        AbError::Usage(what) => what.to_owned(),
        AbError::Message { text, .. } => text,
    })
}

/// Prints what is wrong with the command line, and the usage.
fn misused(what: &str) -> u8 {
    eprint_line(&format!("ab: {what}\n{}", usage()));
    USAGE
}

/// The text of `brunt help ab`.
pub fn help() -> String {
    format!("{HELP}\n\n{}", usage())
}

const HELP: &str = "brunt ab: ApacheBench's command line, word for word, with its report, files and exit codes.\n\
    The binary called as `ab` (a link will do) speaks it too.\n\n  \
    brunt ab -k -c 100 -n 1000 http://localhost/\n\n\
    --results FILE anywhere in the line stores the results too. Differences from ApacheBench: docs/reference/ab.md.";

/// How the command line goes.
#[must_use]
fn usage() -> String {
    let mut text =
        "Usage: ab [options] [http[s]://]hostname[:port]/path\nOptions are:\n".to_owned();
    for flag in FLAGS {
        let left = format!("-{} {}", flag.row.name, flag.row.kind.placeholder());
        text.push_str(&format!("    {left:<16}{}\n", flag.row.docs));
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_names_every_flag_in_its_column() {
        let text = usage();
        assert_eq!(text.lines().count(), FLAGS.len() + 2);
        assert!(text.contains("\n    -n requests     Requests to make."), "{text}");
        assert!(text.contains("\n    -k              Keep"), "{text}");
    }
}
