//! What the binary has to know of each command, and of each other tool whose command line it reads: names, help, flags, and the
//! functions that run them. The tables themselves are the binary's.

use std::process;

use crate::error::CommandError;
use crate::exit_code::ExitCode;
use crate::flag::{Flag, Row, Scope};
use crate::invocation::Invocation;
use crate::results_option::ResultsOption;

/// Every command and every tool of one binary.
pub struct Registry {
    /// The commands, in the order of the help.
    pub commands: &'static [CommandSpec],
    /// Earlier names of commands, which still work, and the names they have now.
    pub old_names: &'static [(&'static str, &'static str)],
    /// The other load testers whose command lines brunt reads, by name.
    pub tools: &'static [ToolSpec],
}

/// One command.
pub struct CommandSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What may follow its flags; empty for nothing.
    pub operands: &'static str,
    /// What else to know; may be empty.
    pub about: &'static str,
    /// Commands to copy, with what each is for.
    pub examples: &'static [(&'static str, &'static str)],
    /// Its flags.
    pub rows: fn() -> Vec<Row>,
    /// Runs it.
    pub run: fn(&Invocation) -> Result<ExitCode, CommandError>,
    /// Checks a command line without reading or opening anything; standard input counts as empty. `None` for a command that
    /// does not generate load.
    pub validate: Option<fn(&Invocation) -> Result<(), CommandError>>,
}

/// Another load tester whose command line brunt reads.
pub struct ToolSpec {
    /// The tool's name: the first argument, or the name that the binary is called by.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The text of `brunt help NAME`.
    pub help: fn() -> String,
    /// Runs a command line; the second argument names the file that takes the results as well.
    pub run: fn(&[String], Option<ResultsOption>, &Registry) -> process::ExitCode,
    /// Checks a command line as [`CommandSpec::validate`] does. The error is one line.
    pub validate: fn(&[String], &Registry) -> Result<(), String>,
}

impl Registry {
    /// The command of this name, or of this earlier name.
    #[must_use]
    pub fn command(&self, name: &str) -> Option<&'static CommandSpec> {
        let renamed = self.old_names.iter().find(|(old, _)| *old == name);
        let name = renamed.map_or(name, |(_, now)| now);
        self.commands.iter().find(|command| command.name == name)
    }

    /// The tool of this name.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The names of all commands, then of all tools.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        let commands = self.commands.iter().map(|command| command.name);
        commands.chain(self.tools.iter().map(|tool| tool.name))
    }
}

impl CommandSpec {
    /// The flags that brunt's own dialect knows.
    #[must_use]
    pub fn native_rows(&self) -> Vec<Row> {
        let mut rows = (self.rows)();
        rows.retain(|row| row.scope.is_known_to(Scope::Native));
        rows
    }
}

/// The rows of a table of flags.
#[must_use]
pub fn rows_of<T>(table: &[Flag<T>]) -> Vec<Row> {
    table.iter().map(|flag| flag.row).collect()
}

/// The flags of a command without any.
pub const NO_FLAGS: &[Flag<()>] = &[];
