//! The dialects: who reads the arguments, in whose words errors are told, with which codes the process ends.
//!
//! A dialect translates and does nothing else: all end in one `Meant`.

pub(crate) mod ab;
mod native;
mod peers;
mod vegeta;

use std::ffi::OsStr;
use std::path::Path;

use crate::flags::global::Global;
use crate::flags::{self, Flag, FlagError, Grammar};

/// Whose command line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `brunt COMMAND …`.
    Native,
    /// `brunt vegeta COMMAND …`, or the binary called as `vegeta`.
    Vegeta,
}

impl Dialect {
    /// How it reads its arguments.
    #[must_use]
    pub(crate) fn grammar(self) -> Grammar {
        match self {
            Self::Native => Grammar::NATIVE,
            Self::Vegeta => Grammar::VEGETA,
        }
    }
}

/// A command about to run: whose it is and what followed its name.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// Whose command line it is.
    pub(crate) dialect: Dialect,
    /// The global flags given before the command.
    pub(crate) global: Global,
    /// The arguments after the command's name.
    pub(crate) args: Vec<String>,
}

/// A command's flags and operands as typed. Nothing was read or opened.
#[derive(Clone, Debug)]
pub(crate) struct Typed<T> {
    /// Whose command line it is.
    pub(crate) dialect: Dialect,
    /// The global flags.
    pub(crate) global: Global,
    /// The command's flags.
    pub(crate) flags: T,
    /// The operands.
    pub(crate) operands: Vec<String>,
}

impl Invocation {
    /// Reads the arguments by a command's table.
    ///
    /// # Errors
    /// An argument is wrong, or asks for the version.
    pub(crate) fn typed<T: Default>(&self, table: &[Flag<T>]) -> Result<Typed<T>, FlagError> {
        let (mut flags, mut global) = (T::default(), self.global.clone());
        let grammar = self.dialect.grammar();
        let parsed = flags::parse(grammar, table, &self.args, &mut flags, &mut global)?;
        if global.version {
            return Err(FlagError::Version);
        }
        Ok(Typed { dialect: self.dialect, global, flags, operands: parsed.operands })
    }
}

/// Runs the command line; gives the code to end with.
pub(crate) fn run(program: &OsStr, mut args: Vec<String>) -> std::process::ExitCode {
    let called = Path::new(program).file_stem().unwrap_or_default();
    let mut peer = SPEAK.iter().find(|(name, _)| called == *name);
    if peer.is_none() && !args.is_empty() {
        peer = SPEAK.iter().find(|(name, _)| args[0] == *name);
        args.drain(..usize::from(peer.is_some()));
    }
    match peer {
        Some((_, run)) => run(&args),
        None => native::run(&args).into(),
    }
}

/// A dialect: its arguments in, the code to end with out.
type Speak = fn(&[String]) -> std::process::ExitCode;

/// How the dialects of other tools ([`crate::command::PEERS`]) are spoken, each by the name that the binary is called with, or
/// its first argument.
const SPEAK: &[(&str, Speak)] = &[
    ("ab", |args| ab::run(args).into()),
    ("hey", |args| peers::run("hey", args)),
    ("oha", |args| peers::run("oha", args)),
    ("perfer", |args| peers::run("perfer", args)),
    ("vegeta", |args| vegeta::run(args).into()),
    ("wrk", |args| peers::run("wrk", args)),
    ("wrk2", |args| peers::run("wrk2", args)),
];
