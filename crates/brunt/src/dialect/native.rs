//! Our own dialect: `brunt [global flags] COMMAND [flags] [operands]`, in any order after the command.

use super::{Dialect, Invocation, check_command};
use crate::command::{self, COMMANDS};
use crate::exit_code::ExitCode;
use crate::flags::global::{self, Global};
use crate::flags::{self, Grammar, nearest};
use crate::output;

/// The global flags, and the command with what follows.
fn split(args: &[String]) -> Result<(Global, Vec<String>), flags::FlagError> {
    let mut globals = Global::default();
    let before = Grammar { mixed: false, ..Grammar::NATIVE };
    let nothing = &mut Global::default();
    let parsed = flags::parse(before, global::FLAGS, args, &mut globals, nothing)?;
    Ok((globals, parsed.operands))
}

/// Whether a line that offers load would be taken, as far as its words tell.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(args: &[String]) -> Result<(), String> {
    let (global, rest) = split(args).map_err(|error| error.native())?;
    let dialect = Dialect::Native;
    check_command(&rest, |_, args| Invocation { dialect, global, args: args.to_vec() })
}

/// Runs our own command line.
pub(super) fn run(args: &[String]) -> ExitCode {
    let (globals, rest) = match split(args) {
        Ok(parts) => parts,
        Err(flags::FlagError::Help) => return command::help::print_overview(),
        Err(error) => return usage_error("brunt", &error.native(), "brunt help"),
    };
    if globals.version {
        return command::help::print_version(Dialect::Native);
    }
    let Some((name, args)) = rest.split_first() else {
        output::complain(&command::help::overview());
        return ExitCode::Usage;
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return unknown(name);
    };
    let invocation = Invocation { dialect: Dialect::Native, global: globals, args: args.to_vec() };
    match (command.run)(&invocation) {
        Ok(code) => code,
        Err(command::Ended::Flags(flags::FlagError::Help)) => command::help::print_one(command),
        Err(command::Ended::Flags(flags::FlagError::Version)) => {
            command::help::print_version(Dialect::Native)
        }
        Err(command::Ended::Flags(error)) => {
            usage_error(&format!("brunt {name}"), &error.native(), &format!("brunt help {name}"))
        }
        Err(command::Ended::Failed(failed)) => {
            output::complain(&format!("brunt {name}: {failed}"));
            failed.code
        }
    }
}

/// Tells of a command that is none.
fn unknown(name: &str) -> ExitCode {
    let known = COMMANDS
        .iter()
        .map(|command| command.name)
        .chain(command::PEERS.iter().map(|(name, _)| *name));
    let text = match nearest(name, known) {
        Some(meant) => format!("unknown command \"{name}\" (did you mean {meant}?)"),
        None => format!("unknown command \"{name}\""),
    };
    usage_error("brunt", &text, "brunt help")
}

/// Tells what is wrong and where to read on.
fn usage_error(who: &str, text: &str, read_on: &str) -> ExitCode {
    output::complain(&format!("{who}: {text}\nread on with: {read_on}"));
    ExitCode::Usage
}
