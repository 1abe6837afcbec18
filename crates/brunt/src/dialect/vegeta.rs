//! Vegeta's dialect: `vegeta [global flags] COMMAND [flags] [files]`, its words, log prefix and exit codes 0, 1 and 2.

use super::{Dialect, Invocation, check_command};
use crate::command::{self, COMMANDS, Command};
use crate::exit_code::ExitCode;
use crate::flags::global::{self, Global};
use crate::flags::{self, FlagError, Grammar};
use crate::output;

/// Vegeta's commands.
const KNOWN: [&str; 5] = ["attack", "dump", "encode", "plot", "report"];

/// Runs a command line of Vegeta's.
pub(super) fn run(args: &[String]) -> ExitCode {
    let mut globals = Global::default();
    let nothing = &mut Global::default();
    let rest = match flags::parse(Grammar::VEGETA, global::FLAGS, args, &mut globals, nothing) {
        Ok(parsed) => parsed.operands,
        Err(FlagError::Help) => {
            output::complain(&usage());
            return ExitCode::Ok;
        }
        Err(error) => {
            output::complain(&format!("{}\n{}", error.go(), usage()));
            return ExitCode::Usage;
        }
    };
    if globals.version {
        return command::help::print_version(Dialect::Vegeta);
    }
    let Some((name, args)) = rest.split_first() else {
        output::complain(&usage());
        return ExitCode::Failure;
    };
    let Some(command) = find(name) else {
        return fatal(&format!("Unknown command: {name}"));
    };
    let invocation = Invocation { dialect: Dialect::Vegeta, global: globals, args: args.to_vec() };
    match (command.run)(&invocation) {
        Ok(code) => code.as_vegeta(),
        Err(command::Ended::Flags(FlagError::Help)) => {
            output::complain(&command_usage(command));
            ExitCode::Ok
        }
        Err(command::Ended::Flags(error)) if error.late().is_some() => {
            fatal(error.late().unwrap_or_default())
        }
        Err(command::Ended::Flags(error)) => {
            output::complain(&format!("{}\n{}", error.go(), command_usage(command)));
            ExitCode::Usage
        }
        Err(command::Ended::Failed(failed)) => fatal(&failed.to_string()),
    }
}

/// Whether a line that offers load would be taken, as far as its words tell.
///
/// # Errors
/// What is wrong with it, in our own words.
pub(super) fn check(args: &[String]) -> Result<(), String> {
    let mut global = Global::default();
    let nothing = &mut Global::default();
    let parsed = flags::parse(Grammar::VEGETA, global::FLAGS, args, &mut global, nothing)
        .map_err(|error| error.native())?;
    let dialect = Dialect::Vegeta;
    check_command(&parsed.operands, |_, args| Invocation { dialect, global, args: args.to_vec() })
}

/// The command of this name, if Vegeta has it.
fn find(name: &str) -> Option<&'static Command> {
    KNOWN.contains(&name).then(|| COMMANDS.iter().find(|command| command.name == name)).flatten()
}

/// Says it as Go's `log.Fatal` does.
fn fatal(text: &str) -> ExitCode {
    output::complain(&format!("{} {text}", output::log_time()));
    ExitCode::Failure
}

/// Vegeta's usage: the global flags, then each command's.
fn usage() -> String {
    let mut text =
        String::from("Usage: vegeta [global flags] <command> [command flags]\n\nglobal flags:\n");
    for flag in global::FLAGS {
        push_row(&mut text, flag.row);
    }
    for name in KNOWN {
        let Some(command) = find(name) else { continue };
        text.push_str(&format!("\n{name} command:\n"));
        push_rows(&mut text, command);
    }
    text.push_str("\nexamples:\n  echo \"GET http://localhost/\" | vegeta attack -duration=5s | tee results.bin | vegeta report\n  vegeta report -type=json results.bin > metrics.json\n  cat results.bin | vegeta plot > plot.html");
    text
}

/// A command's usage: as Go's flag package heads it, or Vegeta where files are read.
fn command_usage(command: &Command) -> String {
    let name = command.name;
    let mut text = match name {
        "encode" | "plot" | "report" => format!(
            "Usage: vegeta {name} [options] [<file>...]\n\n{}\n\n<file> holds results as gob, json or csv; which, \
             its content tells. Without one they come from standard input.\n\nOptions:\n",
            command.summary
        ),
        _ => format!("Usage of vegeta {name}:\n"),
    };
    push_rows(&mut text, command);
    text.truncate(text.trim_end().len());
    text
}

fn push_rows(text: &mut String, command: &Command) {
    let mut rows = (command.rows)();
    rows.retain(|row| row.scope.is_known_to(flags::Scope::Vegeta));
    rows.sort_by_key(|row| row.name);
    for row in rows {
        push_row(text, row);
    }
}

/// One flag in Go's layout.
fn push_row(text: &mut String, row: flags::Row) {
    let value = match row.kind.placeholder() {
        "" => String::new(),
        word => format!(" {}", word.to_lowercase()),
    };
    text.push_str(&format!("  -{}{value}\n    \t{}", row.name, row.docs));
    if !row.default.is_empty() {
        text.push_str(&format!(" (default {})", row.default));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_of_commands_that_read_results_names_the_formats() {
        for name in ["encode", "plot", "report"] {
            let text = command_usage(find(name).unwrap());
            let head = format!("Usage: vegeta {name} [options] [<file>...]\n");
            assert!(text.starts_with(&head) && text.contains("gob, json or csv"), "{text}");
        }
        let encode = command_usage(find("encode").unwrap());
        assert!(encode.contains("csv, gob or json") && !encode.contains("arrow"), "{encode}");
        assert!(command_usage(find("attack").unwrap()).starts_with("Usage of vegeta attack:\n"));
    }

    #[test]
    fn usage_names_every_flag_of_vegeta() {
        let text = usage();
        for flag in
            ["-cpus", "-targets", "-max-workers", "-prometheus-addr", "-buckets", "-threshold"]
        {
            assert!(text.contains(&format!("  {flag}")), "{flag}");
        }
        assert!(!text.contains("-shape"), "our own flags are not Vegeta's");
    }
}
