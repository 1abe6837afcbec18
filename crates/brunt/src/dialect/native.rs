//! Our own dialect: `brunt [global flags] COMMAND [flags] [operands]`, in any order after the command.

use cli::global::{self, GlobalFlags};
use cli::{Dialect, ExitCode, Grammar, Invocation, eprint_line, nearest};

use super::guess::{self, Guess};
use super::validate;
use crate::command::{self, CommandError, Registry};

/// The global flags, and the command with what follows.
pub(super) fn split(args: &[String]) -> Result<(GlobalFlags, Vec<String>), cli::FlagError> {
    let mut globals = GlobalFlags::default();
    let before = Grammar { mixed: false, ..Grammar::NATIVE };
    let nothing = &mut GlobalFlags::default();
    let parsed = cli::parse(before, global::FLAGS, args, &mut globals, nothing)?;
    Ok((globals, parsed.operands))
}

/// Checks a command line that is to offer load.
///
/// # Errors
/// The command line is wrong; the error is one line.
pub(super) fn validate(args: &[String], registry: &Registry) -> Result<(), String> {
    let (global, rest) = split(args).map_err(|error| error.native())?;
    let dialect = Dialect::Native;
    validate::validate(&rest, registry, |_, args| Invocation {
        dialect,
        global,
        args: args.to_vec(),
    })
}

/// Runs our own command line.
pub(super) fn run(args: &[String], registry: &Registry) -> ExitCode {
    match Guess::without_command(args, registry) {
        Some(guess) => run_guess(&guess, registry),
        None => run_command(args, registry),
    }
}

/// Says what is run in place of what was typed, and runs it.
fn run_guess(guess: &Guess, registry: &Registry) -> ExitCode {
    eprint_line(&guess.notice);
    run_command(&guess.words, registry)
}

/// Runs a command line that names its command.
fn run_command(args: &[String], registry: &Registry) -> ExitCode {
    let (globals, rest) = match split(args) {
        Ok(parts) => parts,
        Err(cli::FlagError::Help) => return command::help::print_overview(registry),
        Err(error) => return fail_usage("brunt", &error.native(), "brunt help"),
    };
    if globals.version {
        return command::help::print_version(Dialect::Native);
    }
    let Some((name, args)) = rest.split_first() else {
        eprint_line(&command::help::overview(registry));
        return ExitCode::Usage;
    };
    let Some(command) = registry.command(name) else {
        return unknown(name, registry);
    };
    let invocation = Invocation { dialect: Dialect::Native, global: globals, args: args.to_vec() };
    match (command.run)(&invocation) {
        Ok(code) => code,
        Err(CommandError::Flags(cli::FlagError::Help)) => command::help::print_one(command),
        Err(CommandError::Flags(cli::FlagError::Version)) => {
            command::help::print_version(Dialect::Native)
        }
        Err(CommandError::Flags(error)) if command.name == "attack" => {
            match Guess::of_attack(&error, &invocation, registry) {
                Some(guess) => run_guess(&guess, registry),
                None => wrong_flag(name, &guess::hint(&error).unwrap_or_else(|| error.native())),
            }
        }
        Err(CommandError::Flags(error)) => wrong_flag(name, &error.native()),
        Err(CommandError::Failed(failed)) => {
            eprint_line(&format!("brunt {name}: {failed}"));
            failed.code
        }
    }
}

/// Reports a wrong flag of a command.
fn wrong_flag(command: &str, text: &str) -> ExitCode {
    fail_usage(&format!("brunt {command}"), text, &format!("brunt help {command}"))
}

/// Reports an unknown command.
fn unknown(name: &str, registry: &Registry) -> ExitCode {
    let text = match nearest(name, registry.names()) {
        // Other tools have it as a command.
        _ if name == "version" => format!("unknown command \"{name}\" (did you mean --version?)"),
        Some(known) => format!("unknown command \"{name}\" (did you mean {known}?)"),
        // An address, as a browser takes it.
        None if name.contains(['.', ':', '/']) => {
            format!("unknown command \"{name}\" (a URL begins with http:// or https://)")
        }
        None => format!("unknown command \"{name}\""),
    };
    fail_usage("brunt", &text, "brunt help")
}

/// Reports a wrong command line, and the command that prints how to write it.
fn fail_usage(program: &str, text: &str, read_on: &str) -> ExitCode {
    eprint_line(&format!("{program}: {text}\nfor help: {read_on}"));
    ExitCode::Usage
}
