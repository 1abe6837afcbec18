//! What a command and a tool's command line are to the rest of brunt: names, help, flags, and the functions that run them.
//! The tables themselves stand in `registry`, and reach their readers as a [`Registry`].

use std::process;

use cli::{Flag, Row, Scope};

use super::error::CommandError;
use crate::dialect::{Invocation, ResultsOption};
use crate::exit_code::ExitCode;

/// Every command and every tool of one binary.
pub(crate) struct Registry {
    /// The commands, in the order of the help.
    pub(crate) commands: &'static [CommandSpec],
    /// The other load testers whose command lines brunt reads, by name.
    pub(crate) tools: &'static [ToolSpec],
}

/// One command.
pub(crate) struct CommandSpec {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    pub(crate) summary: &'static str,
    /// What may follow its flags; empty for nothing.
    pub(crate) operands: &'static str,
    /// What else to know; may be empty.
    pub(crate) about: &'static str,
    /// Commands to copy, with what each is for.
    pub(crate) examples: &'static [(&'static str, &'static str)],
    /// Its flags.
    pub(crate) rows: fn() -> Vec<Row>,
    /// Runs it.
    pub(crate) run: fn(&Invocation) -> Result<ExitCode, CommandError>,
    /// Checks a command line without reading or opening anything; standard input counts as empty. `None` for a command that
    /// offers no load.
    pub(crate) validate: Option<fn(&Invocation) -> Result<(), CommandError>>,
}

/// Another load tester whose command line brunt reads.
pub(crate) struct ToolSpec {
    /// The tool's name: the first argument, or the name that the binary is called by.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    pub(crate) summary: &'static str,
    /// The text of `brunt help NAME`; `None` where there is none.
    pub(crate) help: Option<fn() -> String>,
    /// Runs a command line; the second argument names the file that takes the results as well.
    pub(crate) run: fn(&[String], Option<ResultsOption>, &Registry) -> process::ExitCode,
    /// Checks a command line as [`CommandSpec::validate`] does. The error is one line.
    pub(crate) validate: fn(&[String], &Registry) -> Result<(), String>,
}

impl Registry {
    /// The command of this name.
    #[must_use]
    pub(crate) fn command(&self, name: &str) -> Option<&'static CommandSpec> {
        self.commands.iter().find(|command| command.name == name)
    }

    /// The tool of this name.
    #[must_use]
    pub(crate) fn tool(&self, name: &str) -> Option<&'static ToolSpec> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The names of all commands, then of all tools.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let commands = self.commands.iter().map(|command| command.name);
        commands.chain(self.tools.iter().map(|tool| tool.name))
    }
}

impl CommandSpec {
    /// The flags that brunt's own dialect knows.
    #[must_use]
    pub(crate) fn native_rows(&self) -> Vec<Row> {
        let mut rows = (self.rows)();
        rows.retain(|row| row.scope.is_known_to(Scope::Native));
        rows
    }
}

/// The rows of a table of flags.
pub(crate) fn rows_of<T>(table: &[Flag<T>]) -> Vec<Row> {
    table.iter().map(|flag| flag.row).collect()
}

/// The flags of a command without any.
pub(crate) const NO_FLAGS: &[Flag<()>] = &[];
