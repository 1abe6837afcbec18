//! The error of an input that is not results, in the words of each dialect.

use anyhow::anyhow;
use cli::{Dialect, ExitCode, ExitError};
use results::ReadError;

/// The failure of an input that cannot be read, in the dialect's words.
#[must_use]
pub(crate) fn unreadable(error: &ReadError, dialect: Dialect) -> ExitError {
    match (error, dialect) {
        (ReadError::Detect { input } | ReadError::Empty { input }, Dialect::Vegeta) => ExitError {
            code: ExitCode::Results,
            error: anyhow!("encode: can't detect encoding of \"{input}\""),
        },
        (error, _) => recordings::unreadable(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_input_is_told_in_each_dialects_words() {
        let error = ReadError::Detect { input: "stdin".into() };
        let vegeta = unreadable(&error, Dialect::Vegeta);
        assert_eq!(vegeta.to_string(), "encode: can't detect encoding of \"stdin\"");
        let native = unreadable(&error, Dialect::Native);
        assert_eq!(native.code, ExitCode::Results);
        assert!(native.to_string().contains("expected arrow"));
    }
}
