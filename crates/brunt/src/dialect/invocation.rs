//! What the arguments of a command are before and after its flags are parsed. Nothing is read or opened here.

use std::time::Duration;

use cli::{Flag, FlagError, GlobalFlags, Grammar};

use crate::output::Place;

/// The command line that is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `brunt COMMAND …`.
    Native,
    /// `brunt vegeta COMMAND …`, or the binary called as `vegeta`.
    Vegeta,
}

impl Dialect {
    /// The grammar of its flags.
    #[must_use]
    pub(crate) fn grammar(self) -> Grammar {
        match self {
            Self::Native => Grammar::NATIVE,
            Self::Vegeta => Grammar::VEGETA,
        }
    }

    /// How long after an interrupt a silent input is waited for. In a native pipe the writer got the interrupt too: it drains
    /// its run, and writes something each second until it is done.
    #[must_use]
    pub(crate) const fn interrupt_grace(self) -> Duration {
        match self {
            Self::Native => Duration::from_secs(5),
            Self::Vegeta => Duration::ZERO,
        }
    }
}

/// A command about to run: its dialect and its arguments.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// The dialect of the command line.
    pub(crate) dialect: Dialect,
    /// The global flags given before the command.
    pub(crate) global: GlobalFlags,
    /// The arguments after the command's name.
    pub(crate) args: Vec<String>,
}

/// A command's flags and operands, parsed.
#[derive(Clone, Debug)]
pub(crate) struct ParsedArgs<T> {
    /// The dialect of the command line.
    pub(crate) dialect: Dialect,
    /// The global flags.
    pub(crate) global: GlobalFlags,
    /// The command's flags.
    pub(crate) flags: T,
    /// The operands.
    pub(crate) operands: Vec<String>,
}

impl Invocation {
    /// Parses the arguments by a command's table.
    ///
    /// # Errors
    /// An argument is wrong, or asks for the version.
    pub(crate) fn parse<T: Default>(&self, table: &[Flag<T>]) -> Result<ParsedArgs<T>, FlagError> {
        let (mut flags, mut global) = (T::default(), self.global.clone());
        let grammar = self.dialect.grammar();
        let parsed = cli::parse(grammar, table, &self.args, &mut flags, &mut global)?;
        if global.version {
            return Err(FlagError::Version);
        }
        Ok(ParsedArgs { dialect: self.dialect, global, flags, operands: parsed.operands })
    }
}

/// A results file that another tool's command line asks for with `--results FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultsOption {
    /// The file.
    pub(crate) place: Place,
    /// This machine is watched during the run (`--watch`).
    pub(crate) watched: bool,
}

/// brunt's own flags in the command lines of other tools: the results file …
pub(crate) const RESULTS: &str = "--results";
/// … and the monitor of this machine, whose rows go into that file.
pub(crate) const WATCH: &str = "--watch";

/// `--results` came without the name of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoFile;

/// Takes `--results FILE` out of another tool's command line, and `--watch` where a file is named.
///
/// # Errors
/// The name of the file is missing.
pub(crate) fn take_results(args: &mut Vec<String>) -> Result<Option<ResultsOption>, NoFile> {
    let Some(place) = take_place(args)? else { return Ok(None) };
    let words = args.len();
    args.retain(|arg| arg != WATCH);
    Ok(Some(ResultsOption { place, watched: args.len() < words }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_out_of_a_line() {
        let words = |line: &str| -> Vec<String> { line.split(' ').map(str::to_owned).collect() };
        let taken = |line: &str| {
            let mut args = words(line);
            take_results(&mut args).map(|place| (place, args.join(" ")))
        };
        let stored =
            |watched| Some(ResultsOption { place: Place::File("f.arrow".to_owned()), watched });
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
