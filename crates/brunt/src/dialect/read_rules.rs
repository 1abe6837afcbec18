//! `ReadRules`: what differs between the dialects in the commands that read results, as values. These commands get the rules of
//! their command line's dialect, and never ask for the dialect itself.

use std::fmt;

use anyhow::anyhow;
use cli::{CommandError, Dialect, ExitCode, ExitError, OrExit, usage_error};
use results::{Encoding, ReadError};

/// What differs between the dialects in the commands that read results.
pub(crate) struct ReadRules {
    /// The failure of an input that cannot be read.
    pub(crate) unreadable: fn(&ReadError) -> ExitError,
    /// Whether the ending of `-output` chooses the format, if no flag does.
    pub(crate) ending_chooses: bool,
    /// The encoding that `encode -to` names.
    pub(crate) encoding: fn(name: &str) -> Result<Encoding, CommandError>,
    /// Whether an operand of `plot` may have a label and a column: `LABEL=FILE:COLUMN`.
    pub(crate) has_labels: bool,
    /// From this number of files on, a plot over time draws a band for each label instead of every request.
    pub(crate) bands_from: usize,
    /// The title of a plot over time, if no flag gives one.
    pub(crate) plot_title: &'static str,
    /// The error of a wrong `plot -threshold`.
    pub(crate) bad_threshold: fn(reason: &dyn fmt::Display) -> CommandError,
    /// Whether `dump` checks its flags before it explains itself.
    pub(crate) checks_dump: bool,
    /// The explanation of `dump`.
    pub(crate) dump_text: &'static str,
}

impl ReadRules {
    /// The rules of our own command line.
    pub(crate) const NATIVE: Self = Self {
        unreadable: recordings::unreadable,
        ending_chooses: true,
        encoding: |name| {
            Encoding::parse(name).ok_or_else(|| {
                usage_error(format!(
                    "flag -to: \"{name}\" is not one of arrow, parquet, csv, json, gob"
                ))
            })
        },
        has_labels: true,
        bands_from: 4,
        plot_title: "Response times",
        bad_threshold: |reason| usage_error(format!("flag -threshold: {reason}")),
        checks_dump: true,
        dump_text: "dump was Vegeta's way to print results as CSV or JSON; use: brunt encode -to=csv FILE, \
                    or: brunt encode -to=json FILE",
    };

    /// Vegeta's rules.
    const VEGETA: Self = Self {
        unreadable: vegeta_unreadable,
        ending_chooses: false,
        encoding: vegeta_encoding,
        has_labels: false,
        bands_from: usize::MAX,
        plot_title: "Vegeta Plot",
        bad_threshold: |reason| ExitError::from(anyhow!("{reason}")).into(),
        checks_dump: false,
        dump_text: "vegeta dump has been deprecated and succeeded by the vegeta encode command",
    };

    /// The rules of a dialect.
    #[must_use]
    pub(crate) const fn of(dialect: Dialect) -> &'static Self {
        match dialect {
            Dialect::Native => &Self::NATIVE,
            Dialect::Vegeta => &Self::VEGETA,
        }
    }
}

/// Vegeta names no known encodings.
fn vegeta_unreadable(error: &ReadError) -> ExitError {
    match error {
        ReadError::Detect { input } | ReadError::Empty { input } => ExitError {
            code: ExitCode::Results,
            error: anyhow!("encode: can't detect encoding of \"{input}\""),
        },
        error => recordings::unreadable(error),
    }
}

/// Vegeta has csv, json and gob.
fn vegeta_encoding(name: &str) -> Result<Encoding, CommandError> {
    let known = Encoding::parse(name).filter(|encoding| !encoding.is_native());
    let unknown = || anyhow!("encode: unknown encoding {name:?}");
    Ok(known.ok_or_else(unknown).or_exit(ExitCode::Failure)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_input_has_an_error_in_each_dialects_words() {
        let error = ReadError::Detect { input: "stdin".into() };
        let vegeta = (ReadRules::of(Dialect::Vegeta).unreadable)(&error);
        assert_eq!(vegeta.to_string(), "encode: can't detect encoding of \"stdin\"");
        let native = (ReadRules::of(Dialect::Native).unreadable)(&error);
        assert_eq!(native.code, ExitCode::Results);
        assert!(native.to_string().contains("expected arrow"));
    }

    #[test]
    fn vegeta_knows_no_native_encoding() {
        let encoding = |dialect, name| (ReadRules::of(dialect).encoding)(name).ok();
        assert_eq!(encoding(Dialect::Native, "arrow"), Some(Encoding::Arrow));
        assert_eq!(encoding(Dialect::Vegeta, "arrow"), None);
        assert_eq!(encoding(Dialect::Vegeta, "csv"), Some(Encoding::Csv));
    }
}
