//! Why a result stream could not be written or read. Each error names the input and the side at fault.

use std::io;

use thiserror::Error;

use crate::{Encoding, InputForm};

/// Why rows could not be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The reader has closed its end (EPIPE).
    #[error("writing results: the reader closed the pipe")]
    ClosedPipe,
    /// There is no room left (ENOSPC, or a quota).
    #[error("writing results: no space left on the device")]
    DiskFull,
    /// The system refused the write for another reason.
    #[error("writing results: {0}")]
    Io(io::Error),
    /// The encoder refused the rows.
    #[error("encoding results as {}: {reason}", encoding.name())]
    Encode {
        /// What was being written.
        encoding: Encoding,
        /// The encoder's own words.
        reason: String,
    },
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io(error),
        }
    }
}

/// Why rows could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// Not a byte came.
    #[error("\"{input}\" is empty")]
    Empty {
        /// The input's name.
        input: String,
    },
    /// The input has none of the encodings.
    #[error("can't detect encoding of \"{input}\"")]
    Detect {
        /// The input's name.
        input: String,
    },
    /// The system refused the read.
    #[error("reading \"{input}\": {error}")]
    Io {
        /// The input's name.
        input: String,
        /// The system's error.
        error: io::Error,
    },
    /// The bytes are not what their encoding demands. What came before them was handed out.
    #[error("reading \"{input}\" as {}: at byte {at}: {reason}", form.name())]
    Corrupt {
        /// The input's name.
        input: String,
        /// What it was taken for.
        form: InputForm,
        /// Where the record begins that cannot be read.
        at: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// A length in the input exceeds that of any valid stream.
    #[error("reading \"{input}\" as {}: at byte {at}: {what} of {len} bytes (limit {max})", form.name())]
    TooLarge {
        /// The input's name.
        input: String,
        /// What it was taken for.
        form: InputForm,
        /// Where the record begins.
        at: u64,
        /// What is too large.
        what: &'static str,
        /// The claimed length.
        len: u64,
        /// How large it may be.
        max: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_not_a_full_disk() {
        let of = |kind| WriteError::from(io::Error::from(kind));
        assert!(matches!(of(io::ErrorKind::BrokenPipe), WriteError::ClosedPipe));
        assert!(matches!(of(io::ErrorKind::StorageFull), WriteError::DiskFull));
        assert!(matches!(of(io::ErrorKind::PermissionDenied), WriteError::Io(_)));
    }

    #[test]
    fn names_the_input_as_vegeta_does() {
        let error = ReadError::Detect { input: "stdin".into() };
        assert_eq!(error.to_string(), "can't detect encoding of \"stdin\"");
    }
}
