//! What the arguments of a command are before and after its flags are parsed. Nothing is read or opened here.

use std::time::Duration;

use crate::flag::Flag;
use crate::global::GlobalFlags;

use crate::parse::{self, FlagError, Grammar};

/// The command line that is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// `brunt COMMAND …`.
    Native,
    /// `brunt vegeta COMMAND …`, or the binary called as `vegeta`.
    Vegeta,
}

impl Dialect {
    /// The grammar of its flags.
    #[must_use]
    pub fn grammar(self) -> Grammar {
        match self {
            Self::Native => Grammar::NATIVE,
            Self::Vegeta => Grammar::VEGETA,
        }
    }
}

/// How long after an interrupt a silent input is waited for. In a pipe the writer got the interrupt too: it drains its run, and
/// writes something each second until it is done.
pub const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

/// A command about to run: its dialect and its arguments.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The dialect of the command line.
    pub dialect: Dialect,
    /// The global flags given before the command.
    pub global: GlobalFlags,
    /// The arguments after the command's name.
    pub args: Vec<String>,
}

/// A command's flags and operands, parsed.
#[derive(Clone, Debug)]
pub struct ParsedArgs<T> {
    /// The dialect of the command line.
    pub dialect: Dialect,
    /// The global flags.
    pub global: GlobalFlags,
    /// The command's flags.
    pub flags: T,
    /// The operands.
    pub operands: Vec<String>,
}

impl Invocation {
    /// Parses the arguments by a command's table.
    ///
    /// # Errors
    /// An argument is wrong, or asks for the version.
    pub fn parse<T: Default>(&self, table: &[Flag<T>]) -> Result<ParsedArgs<T>, FlagError> {
        let (mut flags, mut global) = (T::default(), self.global.clone());
        let grammar = self.dialect.grammar();
        let parsed = parse::parse(grammar, table, &self.args, &mut flags, &mut global)?;
        if global.version {
            return Err(FlagError::Version);
        }
        global.apply();
        Ok(ParsedArgs { dialect: self.dialect, global, flags, operands: parsed.operands })
    }
}
