//! Vegeta's dialect: `vegeta [global flags] COMMAND [flags] [files]`, its words, log prefix and exit codes 0, 1 and 2.

use cli::global::{self, GlobalFlags};
use cli::{Dialect, ExitCode, FlagError, Grammar, Invocation, eprint_line, log_time};

use super::validate;
use crate::command::{self, CommandError, CommandSpec, Registry};

/// Vegeta's commands.
const KNOWN: [&str; 5] = ["attack", "dump", "encode", "plot", "report"];

/// Runs a command line of Vegeta's.
pub(crate) fn run(args: &[String], registry: &Registry) -> ExitCode {
    let mut globals = GlobalFlags::default();
    let nothing = &mut GlobalFlags::default();
    let rest = match cli::parse(Grammar::VEGETA, global::FLAGS, args, &mut globals, nothing) {
        Ok(parsed) => parsed.operands,
        Err(FlagError::Help) => {
            eprint_line(&usage(registry));
            return ExitCode::Ok;
        }
        Err(error) => {
            eprint_line(&format!("{}\n{}", error.go(), usage(registry)));
            return ExitCode::Usage;
        }
    };
    if globals.version {
        return command::help::print_version(Dialect::Vegeta);
    }
    let Some((name, args)) = rest.split_first() else {
        eprint_line(&usage(registry));
        return ExitCode::Failure;
    };
    let Some(command) = find(name, registry) else {
        return fatal(&format!("Unknown command: {name}"));
    };
    let invocation = Invocation { dialect: Dialect::Vegeta, global: globals, args: args.to_vec() };
    match (command.run)(&invocation) {
        Ok(code) => code.as_vegeta(),
        Err(CommandError::Flags(FlagError::Help)) => {
            eprint_line(&command_usage(command));
            ExitCode::Ok
        }
        Err(CommandError::Flags(error)) if error.late().is_some() => {
            fatal(error.late().unwrap_or_default())
        }
        Err(CommandError::Flags(error)) => {
            eprint_line(&format!("{}\n{}", error.go(), command_usage(command)));
            ExitCode::Usage
        }
        Err(CommandError::Failed(failed)) => fatal(&failed.to_string()),
    }
}

/// Checks a command line that is to offer load.
///
/// # Errors
/// The command line is wrong; the error is one line in brunt's own words.
pub(crate) fn validate(args: &[String], registry: &Registry) -> Result<(), String> {
    let mut global = GlobalFlags::default();
    let nothing = &mut GlobalFlags::default();
    let parsed = cli::parse(Grammar::VEGETA, global::FLAGS, args, &mut global, nothing)
        .map_err(|error| error.native())?;
    let dialect = Dialect::Vegeta;
    validate::validate(&parsed.operands, registry, |_, args| Invocation {
        dialect,
        global,
        args: args.to_vec(),
    })
}

/// The command of this name, if Vegeta has it.
fn find(name: &str, registry: &Registry) -> Option<&'static CommandSpec> {
    registry.command(name).filter(|command| KNOWN.contains(&command.name))
}

/// The text of `brunt help vegeta`.
pub(crate) fn help() -> String {
    HELP.to_owned()
}

const HELP: &str = "brunt vegeta: Vegeta's command line, word for word, with its defaults, outputs and exit codes.\n\
    The binary called as `vegeta` (a link will do) speaks it too.\n\n  \
    echo \"GET http://localhost/\" | brunt vegeta attack -duration=5s | tee results.bin | brunt vegeta report\n\n\
    Its flags: brunt vegeta attack -h. Differences from Vegeta: docs/reference/vegeta.md.";

/// Prints the error as Go's `log.Fatal` does.
fn fatal(text: &str) -> ExitCode {
    eprint_line(&format!("{} {text}", log_time()));
    ExitCode::Failure
}

/// Vegeta's usage: the global flags, then each command's.
fn usage(registry: &Registry) -> String {
    let mut text =
        String::from("Usage: vegeta [global flags] <command> [command flags]\n\nglobal flags:\n");
    for flag in global::FLAGS {
        push_row(&mut text, flag.row);
    }
    for name in KNOWN {
        let Some(command) = find(name, registry) else { continue };
        text.push_str(&format!("\n{name} command:\n"));
        push_rows(&mut text, command);
    }
    text.push_str("\nexamples:\n  echo \"GET http://localhost/\" | vegeta attack -duration=5s | tee results.bin | vegeta report\n  vegeta report -type=json results.bin > metrics.json\n  cat results.bin | vegeta plot > plot.html");
    text
}

/// A command's usage: as Go's flag package heads it, or Vegeta where files are read.
fn command_usage(command: &CommandSpec) -> String {
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

fn push_rows(text: &mut String, command: &CommandSpec) {
    let mut rows = (command.rows)();
    rows.retain(|row| row.scope.is_known_to(cli::Scope::Vegeta));
    rows.sort_by_key(|row| row.name);
    for row in rows {
        push_row(text, row);
    }
}

/// One flag in Go's layout.
fn push_row(text: &mut String, row: cli::Row) {
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
    use crate::command::REGISTRY;

    #[test]
    fn help_of_commands_that_read_results_names_the_formats() {
        for name in ["encode", "plot", "report"] {
            let text = command_usage(find(name, &REGISTRY).unwrap());
            let head = format!("Usage: vegeta {name} [options] [<file>...]\n");
            assert!(text.starts_with(&head) && text.contains("gob, json or csv"), "{text}");
        }
        let encode = command_usage(find("encode", &REGISTRY).unwrap());
        assert!(encode.contains("csv, gob or json") && !encode.contains("arrow"), "{encode}");
        assert!(
            command_usage(find("attack", &REGISTRY).unwrap())
                .starts_with("Usage of vegeta attack:\n")
        );
    }

    #[test]
    fn usage_names_every_flag_of_vegeta() {
        let text = usage(&REGISTRY);
        for flag in
            ["-cpus", "-targets", "-max-workers", "-prometheus-addr", "-buckets", "-threshold"]
        {
            assert!(text.contains(&format!("  {flag}")), "{flag}");
        }
        assert!(!text.contains("-shape"), "our own flags are not Vegeta's");
    }
}
