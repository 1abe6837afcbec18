//! `help` and `--version`: the texts of the flag tables, laid out for a terminal.

use cli::{
    CommandError, CommandSpec, ExitCode, NO_FLAGS, Output, Registry, Row, eprint_line, global,
    usage_error,
};

use super::registry::features;
use crate::dialect::{Dialect, Invocation};

/// The topic that sets the commands with load beside each other.
const LOAD: &str = "load";

/// Prints help: the overview, or that of the command or tool named.
pub(super) fn run(invocation: &Invocation, registry: &Registry) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(NO_FLAGS)?;
    let text = match typed.operands.as_slice() {
        [] => overview(registry),
        [topic] if topic == LOAD => features::table(registry),
        [name] => named(name, registry)
            .ok_or_else(|| usage_error(format!("unknown command \"{name}\"")))?,
        _ => return Err(usage_error("help takes one command's name, or `load`")),
    };
    Output::Stdout.write(format!("{text}\n").as_bytes())?;
    Ok(ExitCode::Ok)
}

/// The help of the command or tool of this name.
fn named(name: &str, registry: &Registry) -> Option<String> {
    match registry.command(name) {
        Some(command) => Some(one(command)),
        None => registry.tool(name).map(|tool| (tool.help)()),
    }
}

/// Prints the overview.
pub(crate) fn print_overview(registry: &Registry) -> ExitCode {
    print(&overview(registry))
}

/// Prints one command's help.
pub(crate) fn print_one(command: &CommandSpec) -> ExitCode {
    print(&one(command))
}

/// Prints the version, in the dialect's form.
pub(crate) fn print_version(dialect: Dialect) -> ExitCode {
    let version = env!("CARGO_PKG_VERSION");
    match dialect {
        Dialect::Native => print(&format!("brunt {version}")),
        Dialect::Vegeta => print(&format!(
            "Version: brunt {version}\nCommit: unknown\nRuntime: rust {}/{}\nDate: unknown",
            std::env::consts::OS,
            std::env::consts::ARCH
        )),
    }
}

fn print(text: &str) -> ExitCode {
    match Output::Stdout.write(format!("{text}\n").as_bytes()) {
        Ok(()) => ExitCode::Ok,
        Err(failed) => {
            eprint_line(&format!("brunt: {failed}"));
            failed.code
        }
    }
}

/// What there is.
#[must_use]
pub(crate) fn overview(registry: &Registry) -> String {
    let mut text = String::from(
        "brunt: an honest load tester\n\nusage: brunt [flags of every command] COMMAND [flags]\n       brunt [flags] URL (attack for 10 s; with -n or -c: bench)\n\n",
    );
    for command in registry.commands {
        text.push_str(&format!("  {:<12} {}\n", command.name, command.summary));
    }
    for tool in registry.tools {
        text.push_str(&format!("  {:<12} {}\n", tool.name, tool.summary));
    }
    text.push_str("\nflags of every command:\n");
    global_rows().for_each(|row| text.push_str(&flag_lines(row)));
    text.push_str("\nflags are written -flag value, -flag=value, --flag value or --flag=value.\n");
    text.push_str("\ntry:\n  brunt demo\n  brunt help attack\n  brunt help load      what attack, bench, grpc, seek, run, cable and study have beside their load");
    text
}

/// The flags of every command.
fn global_rows() -> impl Iterator<Item = Row> {
    global::FLAGS.iter().map(|flag| flag.row).filter(|row| row.name != "profile")
}

/// The flags of every command in a line, for the help of one.
fn global_line() -> String {
    let one = |row: Row| match row.kind.is_switch() {
        true => format!("-{}", row.name),
        false => format!("-{} {}", row.name, row.kind.help_text()),
    };
    let list: Vec<String> = global_rows().map(one).collect();
    format!("\nflags of every command (brunt help): {}\n", list.join(", "))
}

/// One command's help.
#[must_use]
fn one(command: &CommandSpec) -> String {
    let rows = command.native_rows();
    let flags = if rows.is_empty() { "" } else { " [flags]" };
    let mut text =
        format!("{}\n\nusage: brunt {}{flags} {}", command.summary, command.name, command.operands);
    text.truncate(text.trim_end().len());
    text.push('\n');
    if !command.about.is_empty() {
        text.push_str(&format!("\n{}\n", command.about));
    }
    if !rows.is_empty() {
        text.push_str("\nflags:\n");
        for row in rows {
            text.push_str(&flag_lines(row));
        }
    }
    text.push_str(&global_line());
    if !command.examples.is_empty() {
        text.push_str("\nexamples:\n");
        for (line, purpose) in command.examples {
            text.push_str(&format!("  # {purpose}\n  {line}\n"));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// One flag's lines: name and value, then what it means.
fn flag_lines(row: Row) -> String {
    let mut head = format!("  -{}", row.name);
    for alias in row.aliases {
        head.push_str(&format!(", -{alias}"));
    }
    if !row.kind.is_switch() {
        head.push_str(&format!(" {}", row.kind.help_text()));
    }
    let default = match row.default {
        "" => String::new(),
        default => format!(" [{default}]"),
    };
    if head.len() < 28 {
        format!("{head:<28}{}{default}\n", row.docs)
    } else {
        format!("{head}\n{:28}{}{default}\n", "", row.docs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::REGISTRY;

    #[test]
    fn every_flag_is_in_its_commands_help() {
        for command in REGISTRY.commands {
            let text = one(command);
            for row in command.native_rows() {
                assert!(
                    text.contains(&format!("  -{}", row.name)),
                    "{} -{}",
                    command.name,
                    row.name
                );
            }
            assert!(overview(&REGISTRY).contains(command.summary));
            for row in global_rows() {
                assert!(
                    text.contains(&format!(" -{}", row.name)),
                    "{} -{}",
                    command.name,
                    row.name
                );
            }
        }
    }
}
