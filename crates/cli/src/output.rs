//! `Output`: standard output or a file that takes results or documents. A pipe whose reader has gone away is not a failure
//! like the others.

use std::fs::{self, File, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::anyhow;

use crate::error::ExitError;
use crate::exit_code::ExitCode;
use crate::shared_file::{self, Unshared};
use crate::system_text::reason;
use crate::whole_file::Replacement;

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
            None | Some("stdout" | "-" | "/dev/stdout") => Self::Stdout,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Refuses an output that is one of the inputs: opening it would empty it before it is read. `flag` names the output.
    ///
    /// # Errors
    /// The output is one of them.
    pub fn spares(&self, flag: &str, inputs: &[impl AsRef<str>]) -> Result<(), ExitError> {
        let regular = |path: &str| {
            let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
            Some((meta.dev(), meta.ino()))
        };
        let Self::File(path) = self else { return Ok(()) };
        let Some(output) = regular(path) else { return Ok(()) };
        let mut inputs = inputs.iter().map(AsRef::as_ref);
        match inputs.find(|input| regular(input) == Some(output)) {
            None => Ok(()),
            Some(input) => Err(ExitError {
                code: ExitCode::Usage,
                error: anyhow!("flag {flag}: \"{path}\" would overwrite the input \"{input}\""),
            }),
        }
    }

    /// Opens the output. A file is locked while it is open, as far as its file system has locks: of two writers one would overwrite
    /// what the other measured, and neither would know.
    ///
    /// # Errors
    /// The file cannot be created, or is being written to already, by this process or another; the error names it.
    pub fn open(&self) -> Result<Box<dyn Write + Send>, ExitError> {
        match self {
            Self::Stdout if net::machine::stdout_was_closed() => {
                Err(anyhow!("{self} is closed: nothing can be written there").into())
            }
            Self::Stdout => Ok(Box::new(io::stdout())),
            Self::File(path) => {
                let file = create_locked(path).map_err(|error| unopened(path, &error))?;
                Ok(Box::new(file.ok_or_else(|| written_already(path))?))
            }
        }
    }

    /// Gives the file that `with` names this name as well, so that what is written there is here too, and takes no room twice. Gives
    /// the open file; `None` where the two cannot be one: on different file systems, or where one is no plain file of its own.
    /// Both names then belong to one read-only file: what is written to this name later is another one.
    ///
    /// # Errors
    /// The file of this name is being written to.
    pub fn open_shared(&self, with: &Self) -> Result<Option<Box<dyn Write + Send>>, ExitError> {
        let (Self::File(name), Self::File(with)) = (self, with) else { return Ok(None) };
        match shared_file::create(Path::new(name), Path::new(with)) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(Unshared::HasWriter) => Err(written_already(name)),
            Err(Unshared::NotPossible) => Ok(None),
        }
    }

    /// Whether it is read while it is written: a pipe, a socket or a terminal. Its reader may end at any moment.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        let kind = match self {
            Self::Stdout => File::from(match io::stdout().as_fd().try_clone_to_owned() {
                Ok(stdout) => stdout,
                Err(_) => return false,
            })
            .metadata(),
            Self::File(path) => std::fs::metadata(path),
        };
        kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
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

    /// Opens the output and writes a whole document. A pipe without a reader is no failure: the reader saw what it wanted. A
    /// file has its name when it is whole: a full disk leaves what was there before.
    ///
    /// # Errors
    /// The output cannot be opened or written (a full disk); the error names it.
    pub fn write(&self, document: &[u8]) -> Result<(), ExitError> {
        if let Some(mut replacement) = self.replacement()? {
            let whole = replacement.write_all(document).and_then(|()| replacement.publish());
            return whole.map_err(|error| self.unwritten(&error));
        }
        self.open_for_documents()?.write(document)
    }

    /// Opens the output for what is to have its name only when it is whole; `None` where it has to be written as it comes: standard
    /// output, and what is no plain file of its own.
    ///
    /// # Errors
    /// The file is being written to, by this process or another: it would lose its name, and with it what comes.
    pub fn replacement(&self) -> Result<Option<Replacement>, ExitError> {
        let Self::File(path) = self else { return Ok(None) };
        Replacement::alike(Path::new(path)).map_err(|_| written_already(path))
    }

    /// What is not written there any more.
    #[must_use]
    pub fn unwritten(&self, error: &io::Error) -> ExitError {
        anyhow!("writing to {self}: {}", reason(error)).into()
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
            Err(error) => Err(self.output.unwritten(&error)),
        }
    }

    /// Whether the reader of the pipe has gone away.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// An empty file of this name, locked until it is closed; `None` where another process has locked it.
fn create_locked(path: &str) -> io::Result<Option<File>> {
    let path = Path::new(path);
    if shared_file::is_shared(path) {
        fs::remove_file(path)?;
    }
    // Emptied only when it is ours.
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(Some(file));
    }
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Ok(None);
    }
    file.set_len(0)?;
    Ok(Some(file))
}

fn written_already(path: &str) -> ExitError {
    anyhow!("open {path}: it is being written to already (name another file)").into()
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
        assert_eq!(
            Output::named(Some("/dev/stdout")),
            Output::Stdout,
            "it may be one that appends"
        );
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

    /// Issue 19: the second writer of a file emptied it, and one of the two runs was lost without a word.
    #[test]
    fn a_file_has_one_writer() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("one-writer");
        let output = Output::named(Some(&path.display().to_string()));
        let mut first = output.open().unwrap();
        first.write_all(b"first").unwrap();
        let refused = output.open().err().unwrap();
        let words =
            format!("open {}: it is being written to already (name another file)", path.display());
        assert_eq!(refused.to_string(), words);
        // A document would take its name.
        assert_eq!(output.write(b"document").unwrap_err().to_string(), words);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        drop(first);
        output.open().unwrap().write_all(b"2").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"2", "what was there is gone");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_document_that_does_not_fit_leaves_what_was_there() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("whole");
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("page.html");
        let output = Output::named(Some(&path.display().to_string()));
        output.write(b"first").unwrap();
        output.write(b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        let link = dir.join("link.html");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        Output::named(Some(&link.display().to_string())).write(b"third").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"third");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink(), "the link stays");
        let names = std::fs::read_dir(&dir).unwrap().count();
        assert_eq!(names, 2, "nothing is left beside them");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn an_output_is_tried_without_harm() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        let path = dir.join("output").display().to_string();
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
