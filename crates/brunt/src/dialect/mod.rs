//! The dialects: who reads the arguments, in whose words errors are told, with which codes the process ends.
//!
//! A dialect translates and does nothing else: all end in one `Meant`.

pub(crate) mod ab;
mod k6;
mod native;
mod peers;
mod vegeta;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use crate::command::{self, Stored};
use crate::flags::global::Global;
use crate::flags::{self, Flag, FlagError, Grammar};
use crate::output::{self, Place};

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
pub(crate) fn run(program: &OsStr, mut args: Vec<String>) -> ExitCode {
    let called = Path::new(program).file_stem().unwrap_or_default();
    let mut peer = SPEAK.iter().find(|tongue| called == tongue.name);
    if peer.is_none() && !args.is_empty() {
        peer = SPEAK.iter().find(|tongue| args[0] == tongue.name);
        args.drain(..usize::from(peer.is_some()));
    }
    let Some(Tongue { name, run, .. }) = peer else { return native::run(&args).into() };
    let results = take_results(&mut args);
    // k6 has a flag of this name, being ours.
    let lone_watch = *name != "k6" && args.iter().any(|arg| arg == WATCH);
    match results.and_then(|results| if lone_watch { Err(NoFile) } else { Ok(results) }) {
        Ok(results) => run(&args, results),
        Err(NoFile) => {
            output::complain(&format!(
                "brunt {name}: --results needs the name of a file, and --watch needs --results"
            ));
            ExitCode::from(2)
        }
    }
}

/// Whether a command line of ours (its first word a command that offers load, or another tool) would be taken, as far as its
/// words tell: nothing is read or opened, standard input is taken for empty, and files and scripts are not looked at.
///
/// # Errors
/// What is wrong with it, in a line.
pub(crate) fn check(mut args: Vec<String>) -> Result<(), String> {
    let first = args.first().cloned().unwrap_or_default();
    let Some(tongue) = SPEAK.iter().find(|tongue| tongue.name == first) else {
        return native::check(&args);
    };
    args.remove(0);
    take_results(&mut args).map_err(|NoFile| format!("{RESULTS} needs the name of a file"))?;
    (tongue.check)(&args)
}

/// The same of the words after a dialect's global flags: the name of a command and its arguments.
///
/// # Errors
/// What is wrong with them, in our own words.
fn check_command(
    words: &[String],
    invocation: impl FnOnce(&str, &[String]) -> Invocation,
) -> Result<(), String> {
    let Some((name, args)) = words.split_first() else { return Err("no command".to_owned()) };
    command::check(name, &invocation(name, args)).map_err(|ended| ended.words())
}

/// The words of ours in the dialects of others.
const RESULTS: &str = "--results";
/// This machine is watched, into the results.
const WATCH: &str = "--watch";

/// It was given without the name of a file.
#[derive(Debug, PartialEq, Eq)]
struct NoFile;

/// Takes `--results FILE` out of another tool's command line: where the results are stored besides; and `--watch`.
fn take_results(args: &mut Vec<String>) -> Result<Option<Stored>, NoFile> {
    let Some(place) = take_place(args)? else { return Ok(None) };
    let words = args.len();
    args.retain(|arg| arg != WATCH);
    Ok(Some(Stored { place, watched: args.len() < words }))
}

fn take_place(args: &mut Vec<String>) -> Result<Option<Place>, NoFile> {
    let own = |arg: &String| {
        arg.strip_prefix(RESULTS).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    let Some(at) = args.iter().position(own) else { return Ok(None) };
    let word = args.remove(at);
    let file = match word.split_once('=') {
        Some((_, file)) => file.to_owned(),
        None if at < args.len() => args.remove(at),
        None => return Err(NoFile),
    };
    if file.is_empty() { Err(NoFile) } else { Ok(Some(Place::named(Some(&file)))) }
}

/// A dialect of another tool.
struct Tongue {
    /// What the binary is called with, or its first argument.
    name: &'static str,
    /// Its arguments, and where results go besides, in; the code to end with out.
    run: fn(&[String], Option<Stored>) -> ExitCode,
    /// Its arguments in; what is wrong with them out, as far as the words tell.
    check: fn(&[String]) -> Result<(), String>,
}

/// How the dialects of other tools ([`crate::command::PEERS`]) are spoken. Vegeta has a word of its own for results.
const SPEAK: &[Tongue] = &[
    Tongue { name: "ab", run: |args, results| ab::run(args, results).into(), check: ab::check },
    Tongue {
        name: "hey",
        run: |args, results| peers::run("hey", args, results),
        check: |args| peers::check("hey", args),
    },
    Tongue { name: "k6", run: |args, _| k6::run(args).into(), check: k6::check },
    Tongue {
        name: "oha",
        run: |args, results| peers::run("oha", args, results),
        check: |args| peers::check("oha", args),
    },
    Tongue {
        name: "perfer",
        run: |args, results| peers::run("perfer", args, results),
        check: |args| peers::check("perfer", args),
    },
    Tongue { name: "vegeta", run: |args, _| vegeta::run(args).into(), check: vegeta::check },
    Tongue {
        name: "wrk",
        run: |args, results| peers::run("wrk", args, results),
        check: |args| peers::check("wrk", args),
    },
    Tongue {
        name: "wrk2",
        run: |args, results| peers::run("wrk2", args, results),
        check: |args| peers::check("wrk2", args),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_is_spoken_and_told_of() {
        let spoken: Vec<&str> = SPEAK.iter().map(|tongue| tongue.name).collect();
        let told: Vec<&str> = crate::command::PEERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(spoken, told);
        let own = |name: &&str| matches!(*name, "ab" | "k6" | "vegeta");
        let asked: Vec<&str> = spoken.into_iter().filter(|name| !own(name)).collect();
        assert_eq!(crate::command::peers::names(), asked);
    }

    #[test]
    fn results_are_taken_out_of_a_line() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let taken = |line: &str| {
            let mut args = words(line);
            take_results(&mut args).map(|place| (place, args.join(" ")))
        };
        let stored = |watched| Some(Stored { place: Place::File("f.arrow".to_owned()), watched });
        let rest = || "-n 5 http://h/".to_owned();
        assert_eq!(taken("-n 5 http://h/"), Ok((None, rest())));
        assert_eq!(taken("-n 5 --results f.arrow http://h/"), Ok((stored(false), rest())));
        assert_eq!(taken("--results=f.arrow -n 5 http://h/"), Ok((stored(false), rest())));
        assert_eq!(taken("--watch -n 5 --results f.arrow http://h/"), Ok((stored(true), rest())));
        assert_eq!(taken("run --watch x.js"), Ok((None, "run --watch x.js".to_owned())));
        assert_eq!(taken("-n 5 http://h/ --results"), Err(NoFile));
        assert_eq!(taken("-n 5 --results= http://h/"), Err(NoFile));
    }
}
