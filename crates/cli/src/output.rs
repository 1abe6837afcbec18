//! `Output`: standard output or a file that takes results or documents. A pipe whose reader has gone away is not a failure
//! like the others.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use anyhow::anyhow;

use crate::error::ExitError;
use crate::exit_code::ExitCode;
use crate::system_text::reason;

/// Whether standard output is a terminal: binary results do not go there, and a report does.
#[must_use]
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The target of `-output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Standard output.
    Stdout,
    /// A file, created or truncated.
    File(String),
}

impl Output {
    /// The output that a value of `-output` names; `None` is standard output.
    #[must_use]
    pub fn named(output: Option<&str>) -> Self {
        match output {
            None | Some("stdout" | "-") => Self::Stdout,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Refuses an output that is one of the inputs: opening it would empty it before it is read.
    ///
    /// # Errors
    /// The output is one of them.
    pub fn spares(&self, inputs: &[String]) -> Result<(), ExitError> {
        use std::os::unix::fs::MetadataExt;
        let regular = |path: &str| {
            let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
            Some((meta.dev(), meta.ino()))
        };
        let Self::File(path) = self else { return Ok(()) };
        let Some(output) = regular(path) else { return Ok(()) };
        match inputs.iter().find(|input| regular(input) == Some(output)) {
            None => Ok(()),
            Some(input) => Err(ExitError {
                code: ExitCode::Usage,
                error: anyhow!("flag -output: \"{path}\" would overwrite the input \"{input}\""),
            }),
        }
    }

    /// Opens the output.
    ///
    /// # Errors
    /// The file cannot be created; the error names it.
    pub fn open(&self) -> Result<Box<dyn Write + Send>, ExitError> {
        match self {
            Self::Stdout if net::machine::stdout_was_closed() => {
                Err(anyhow!("{self} is closed: nothing can be written there").into())
            }
            Self::Stdout => Ok(Box::new(io::stdout())),
            Self::File(path) => match File::create(path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(unopened(path, &error)),
            },
        }
    }

    /// Checks that the output can be written, long before it is. Creates the file if there is none; leaves an existing one as
    /// it is.
    ///
    /// # Errors
    /// The file cannot be created or written; the error names it.
    pub fn try_out(&self) -> Result<(), ExitError> {
        let Self::File(path) = self else { return Ok(()) };
        // The reader of a pipe would take its being closed for its end.
        if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return Ok(());
        }
        match File::options().append(true).create(true).open(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(unopened(path, &error)),
        }
    }

    /// Opens the output for documents, before there is anything to lose.
    ///
    /// # Errors
    /// The file cannot be created; the error names it.
    pub fn open_for_documents(&self) -> Result<OpenOutput, ExitError> {
        Ok(OpenOutput { output: self.clone(), sink: self.open()?, is_closed: false })
    }

    /// Opens the output and writes a whole document. A pipe without a reader is no failure: the reader saw what it wanted.
    ///
    /// # Errors
    /// The output cannot be opened or written (a full disk); the error names it.
    pub fn write(&self, document: &[u8]) -> Result<(), ExitError> {
        self.open_for_documents()?.write(document)
    }
}

/// An output that is open.
pub struct OpenOutput {
    output: Output,
    sink: Box<dyn Write + Send>,
    is_closed: bool,
}

impl OpenOutput {
    /// Appends a document. A pipe without a reader is no failure: the reader saw what it wanted.
    ///
    /// # Errors
    /// The document cannot be written (a full disk); the error names the output.
    pub fn write(&mut self, document: &[u8]) -> Result<(), ExitError> {
        let written = self.sink.write_all(document).and_then(|()| self.sink.flush());
        match written {
            Ok(()) => Ok(()),
            Err(error) if is_closed_pipe(&error) => {
                self.is_closed = true;
                Ok(())
            }
            Err(error) => Err(anyhow!("writing to {}: {}", self.output, reason(&error)).into()),
        }
    }

    /// Whether the reader of the pipe has gone away.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}

fn unopened(path: &str, error: &io::Error) -> ExitError {
    anyhow!("open {path}: {}", reason(error)).into()
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => f.write_str(path),
        }
    }
}

/// Whether an error means that the reader of a pipe has gone away.
#[must_use]
pub fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_have_names() {
        assert_eq!(Output::named(None), Output::Stdout);
        assert_eq!(Output::named(Some("-")), Output::Stdout);
        assert_eq!(Output::named(Some("a.bin")).to_string(), "a.bin");
    }

    #[test]
    fn a_full_disk_is_reported() {
        let failed = Output::named(Some("/dev/full")).write(b"x").unwrap_err();
        assert_eq!(failed.code, ExitCode::Failure);
        assert_eq!(failed.to_string(), "writing to /dev/full: no space left on device");
        let failed = Output::named(Some("/nowhere/x")).write(b"x").unwrap_err();
        let words = "open /nowhere/x: no such file or directory";
        assert_eq!(failed.to_string(), words);
    }

    #[test]
    fn an_output_is_tried_without_harm() {
        let dir = std::env::temp_dir();
        let path = dir.join(format!("brunt-output-{}", std::process::id())).display().to_string();
        std::fs::write(&path, "kept").unwrap();
        let tried = |path: &str| Output::named(Some(path)).try_out().map_err(|e| e.to_string());
        assert_eq!(tried(&path), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        std::fs::remove_file(&path).unwrap();
        assert_eq!((tried("/dev/null"), tried("-")), (Ok(()), Ok(())));
        assert!(tried("/nowhere/x").unwrap_err().contains("no such file or directory"));
        assert!(tried(&dir.display().to_string()).is_err(), "a folder");
    }
}
