//! `help` and `--version`: what the tables say, laid out for a terminal.

use super::{COMMANDS, Command, Ended, NO_FLAGS, PEERS, peers, usage};
use crate::dialect::{Dialect, Invocation};
use crate::exit_code::ExitCode;
use crate::flags::{Kind, Row, global};
use crate::output::Place;

/// Prints help: the overview, or that of the command named.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, Ended> {
    let typed = invocation.typed(NO_FLAGS)?;
    let text = match typed.operands.as_slice() {
        [] => overview(),
        [name] => match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => one(command),
            None if name == "vegeta" => VEGETA.to_owned(),
            None if name == "ab" => format!("{AB}\n\n{}", crate::dialect::ab::usage()),
            None if peers::is_one(name) => peer(name),
            None => return Err(usage(format!("unknown command \"{name}\""))),
        },
        _ => return Err(usage("help takes one command's name")),
    };
    Place::Stdout.write(format!("{text}\n").as_bytes())?;
    Ok(ExitCode::Ok)
}

const VEGETA: &str = "brunt vegeta: Vegeta's command line, word for word, with its defaults, outputs and exit codes.\n\
    The binary called as `vegeta` (a link will do) speaks it too.\n\n  \
    echo \"GET http://localhost/\" | brunt vegeta attack -duration=5s | tee results.bin | brunt vegeta report\n\n\
    Its flags: brunt vegeta attack -h. Differences from Vegeta: docs/reference/vegeta.md.";

const AB: &str = "brunt ab: ApacheBench's command line, word for word, with its report, files and exit codes.\n\
    The binary called as `ab` (a link will do) speaks it too.\n\n  \
    brunt ab -k -c 100 -n 1000 http://localhost/\n\n\
    --results FILE anywhere in the line stores the results too. Differences from ApacheBench: docs/reference/ab.md.";
/// What there is to say of another tool's dialect.
fn peer(name: &str) -> String {
    format!(
        "brunt {name}: {name}'s command line. The binary called as `{name}` (a link will do) speaks it too.\n\n\
         Its options: brunt {name} --help. --results FILE anywhere in the line stores the results too.\n\
         Differences: docs/reference/other-tools.md."
    )
}

/// Prints the overview.
pub(crate) fn print_overview() -> ExitCode {
    print(&overview())
}

/// Prints one command's help.
pub(crate) fn print_one(command: &Command) -> ExitCode {
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
    match Place::Stdout.write(format!("{text}\n").as_bytes()) {
        Ok(()) => ExitCode::Ok,
        Err(failed) => {
            crate::output::complain(&format!("brunt: {failed}"));
            failed.code
        }
    }
}

/// What there is.
#[must_use]
pub(crate) fn overview() -> String {
    let mut text =
        String::from("brunt: an honest load tester\n\nusage: brunt [-cpus N] COMMAND [flags]\n\n");
    for command in COMMANDS {
        text.push_str(&format!("  {:<12} {}\n", command.name, command.summary));
    }
    for (name, summary) in PEERS {
        text.push_str(&format!("  {name:<12} {summary}\n"));
    }
    text.push_str("\nflags of every command:\n");
    for row in global::FLAGS.iter().map(|flag| flag.row).filter(|row| row.name != "profile") {
        text.push_str(&flag_lines(row));
    }
    text.push_str("\nflags are written -flag value, -flag=value, --flag value or --flag=value.\n");
    text.push_str("\ntry:\n  brunt demo\n  brunt help attack");
    text
}

/// One command's help.
#[must_use]
fn one(command: &Command) -> String {
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
    if row.kind != Kind::Switch {
        head.push_str(&format!(" {}", row.kind.shown()));
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

    #[test]
    fn every_flag_is_in_its_commands_help() {
        for command in COMMANDS {
            let text = one(command);
            for row in command.native_rows() {
                assert!(
                    text.contains(&format!("  -{}", row.name)),
                    "{} -{}",
                    command.name,
                    row.name
                );
            }
            assert!(overview().contains(command.summary));
        }
    }
}
