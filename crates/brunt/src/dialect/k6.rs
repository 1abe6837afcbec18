//! k6's dialect: `k6 [global flags] COMMAND [flags] [script]`, with its grammar (`-u10`, `--vus=10`) and its exit codes.

use cli::{Dialect, ExitCode, GlobalFlags, Invocation, eprint_line};

use super::validate;
use crate::command::{self, CommandError, Registry};

/// k6's commands that are ours as well.
const KNOWN: [&str; 4] = ["run", "inspect", "archive", "new"];
/// Flags that may stand before the command and are the command's; those that take a value are marked.
const GLOBAL: [(&str, bool); 14] = [
    ("-a", true),
    ("--address", true),
    ("-c", true),
    ("--config", true),
    ("--log-format", true),
    ("--log-output", true),
    ("--secret-source", true),
    ("--no-color", false),
    ("--profiling-enabled", false),
    ("-q", false),
    ("--quiet", false),
    ("-v", false),
    ("--verbose", false),
    ("--no-usage-report", false),
];

/// Runs a command line of k6's.
pub(crate) fn run(args: &[String], registry: &Registry) -> ExitCode {
    let (before, rest) = split(args);
    let Some((name, args)) = rest.split_first() else {
        eprint_line(&usage(registry));
        return if before.is_empty() { ExitCode::Ok } else { ExitCode::Other };
    };
    if matches!(name.as_str(), "version" | "--version") {
        return command::help::print_version(Dialect::Native);
    }
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        eprint_line(&usage(registry));
        return ExitCode::Ok;
    }
    if let Some(code) = k6::remote(name, before, args) {
        return code;
    }
    let command = registry.command(name).filter(|command| KNOWN.contains(&command.name));
    let Some(command) = command else {
        eprint_line(&format!("unknown command \"{name}\" for \"k6\""));
        return ExitCode::Other;
    };
    match (command.run)(&invocation(name, before, args)) {
        Ok(code) => code,
        Err(CommandError::Flags(cli::FlagError::Help)) => command::help::print_one(command),
        Err(CommandError::Flags(error)) => {
            eprint_line(&error.native());
            ExitCode::Other
        }
        Err(CommandError::Failed(failed)) => {
            eprint_line(&failed.to_string());
            if failed.code == ExitCode::Failure { ExitCode::Other } else { failed.code }
        }
    }
}

/// A command of ours with these flags. A command line of k6 gets k6's behaviour (`--compat`): scripts read what they name.
fn invocation(name: &str, before: &[String], args: &[String]) -> Invocation {
    let compat = match name {
        "run" => Some("--compat".to_owned()),
        "inspect" | "archive" => Some("--allow-read=/".to_owned()),
        _ => None,
    };
    let args = compat.into_iter().chain(before.iter().chain(args).cloned()).collect();
    Invocation { dialect: Dialect::Native, global: GlobalFlags::default(), args }
}

/// Checks a command line that is to offer load.
///
/// # Errors
/// The command line is wrong; the error is one line.
pub(crate) fn validate(args: &[String], registry: &Registry) -> Result<(), String> {
    let (before, rest) = split(args);
    validate::validate(rest, registry, |name, args| invocation(name, before, args))
}

/// The flags before the command, and the command with what follows.
fn split(args: &[String]) -> (&[String], &[String]) {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match GLOBAL.iter().find(|(name, _)| arg == name) {
            Some((_, takes)) => at += 1 + usize::from(*takes),
            None if arg.starts_with("--") && arg.contains('=') => at += 1,
            None => break,
        }
    }
    args.split_at(at.min(args.len()))
}

/// The text of `brunt help k6`.
pub(crate) fn help() -> String {
    HELP.to_owned()
}

const HELP: &str = "brunt k6: k6's command line: its commands run, inspect, archive and new, with its flags, outputs and exit codes.\n\
    The binary called as `k6` (a link will do) speaks it too.\n\n  \
    brunt k6 run script.js\n  \
    brunt k6 run -u 10 -d 30s --address 127.0.0.1:6565 script.js\n\n\
    k6 run does as brunt run --compat. status, stop, pause, resume and scale ask a test that runs with --address.\n\
    The flags: brunt help run (inspect, archive, new). Differences from k6: docs/reference/run.md.";

fn usage(registry: &Registry) -> String {
    let mut text = "Usage:\n  k6 [command]\n\nAvailable Commands:\n".to_owned();
    for command in registry.commands.iter().filter(|command| KNOWN.contains(&command.name)) {
        text.push_str(&format!("  {:<10} {}\n", command.name, command.summary));
    }
    text + "  status, stop, pause, resume, scale: ask a test that runs with --address\n  version    Tell the version."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_may_stand_before_the_command() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let args = words("-q --config c.json --log-format=raw run -u 1 x.js");
        let (before, rest) = split(&args);
        assert_eq!((before.len(), rest[0].as_str()), (4, "run"));
        let args = words("run x.js");
        assert_eq!(split(&args).0.len(), 0);
    }
}
