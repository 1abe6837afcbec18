//! Where the command writes: standard error for people, standard output or a file for results. A pipe closed by its
//! reader is told apart from every other failure.

use std::fs::File;
use std::io::{self, IsTerminal, Write};

use anyhow::anyhow;

use crate::exit_code::{ExitCode, Failed};
use crate::input::reason;

/// Says a line (or a few) on standard error. Where nobody can hear it, there is nothing left to do.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr().lock(), "{text}").ok();
}

/// The local time as Go's logger prints it: `2006/01/02 15:04:05`.
#[must_use]
pub(crate) fn log_time() -> String {
    jiff::Zoned::now().strftime("%Y/%m/%d %H:%M:%S").to_string()
}

/// Standard output is a terminal: no place for binary results, the place for a report.
#[must_use]
pub(crate) fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A place named by `-output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Standard output.
    Stdout,
    /// A file, created or truncated.
    File(String),
}

impl Place {
    /// The place a value of `-output` names; none given is standard output.
    #[must_use]
    pub(crate) fn named(output: Option<&str>) -> Self {
        match output {
            None | Some("stdout" | "-") => Self::Stdout,
            Some(path) => Self::File(path.to_owned()),
        }
    }

    /// Refuses a file that is one of the inputs: opening it would empty it before it was read.
    ///
    /// # Errors
    /// It is one.
    pub(crate) fn spares(&self, inputs: &[String]) -> Result<(), Failed> {
        use std::os::unix::fs::MetadataExt;
        let regular = |path: &str| {
            let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
            Some((meta.dev(), meta.ino()))
        };
        let Self::File(path) = self else { return Ok(()) };
        let Some(place) = regular(path) else { return Ok(()) };
        match inputs.iter().find(|input| regular(input) == Some(place)) {
            None => Ok(()),
            Some(input) => Err(Failed {
                code: ExitCode::Usage,
                error: anyhow!("flag -output: \"{path}\" would overwrite the input \"{input}\""),
            }),
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// The file cannot be made; the error names it.
    pub(crate) fn open(&self) -> Result<Box<dyn Write + Send>, Failed> {
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

    /// Finds out whether it can be written, long before it is. A file is made where there is none; one that is there stays
    /// as it is.
    ///
    /// # Errors
    /// The file cannot be made or written; the error names it.
    pub(crate) fn try_out(&self) -> Result<(), Failed> {
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

    /// Opens it for documents: what cannot be opened is told before there is anything to lose.
    ///
    /// # Errors
    /// The file cannot be made; the error names it.
    pub(crate) fn outlet(&self) -> Result<Outlet, Failed> {
        Ok(Outlet { place: self.clone(), sink: self.open()?, is_closed: false })
    }

    /// Writes a whole document here. A reader that has gone away has seen what it wanted: that is no failure.
    ///
    /// # Errors
    /// It cannot be opened or written (a full disk); the error names the place.
    pub(crate) fn write(&self, document: &[u8]) -> Result<(), Failed> {
        self.outlet()?.write(document)
    }
}

/// A place that is open.
pub(crate) struct Outlet {
    place: Place,
    sink: Box<dyn Write + Send>,
    is_closed: bool,
}

impl Outlet {
    /// Writes a document after those before it. A reader that has gone away has seen what it wanted: that is no failure.
    ///
    /// # Errors
    /// It cannot be written (a full disk); the error names the place.
    pub(crate) fn write(&mut self, document: &[u8]) -> Result<(), Failed> {
        let written = self.sink.write_all(document).and_then(|()| self.sink.flush());
        match written {
            Ok(()) => Ok(()),
            Err(error) if is_closed_pipe(&error) => {
                self.is_closed = true;
                Ok(())
            }
            Err(error) => Err(anyhow!("writing to {}: {}", self.place, reason(&error)).into()),
        }
    }

    /// Whether its reader has gone away: nobody reads what is written from now on.
    #[must_use]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

fn unopened(path: &str, error: &io::Error) -> Failed {
    anyhow!("open {path}: {}", reason(error)).into()
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::File(path) => f.write_str(path),
        }
    }
}

/// The reader of a pipe has gone away.
#[must_use]
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_names() {
        assert_eq!(Place::named(None), Place::Stdout);
        assert_eq!(Place::named(Some("-")), Place::Stdout);
        assert_eq!(Place::named(Some("a.bin")).to_string(), "a.bin");
    }

    #[test]
    fn a_full_disk_is_told() {
        let failed = Place::named(Some("/dev/full")).write(b"x").unwrap_err();
        assert_eq!(failed.code, ExitCode::Failure);
        assert_eq!(failed.to_string(), "writing to /dev/full: no space left on device");
        let failed = Place::named(Some("/nowhere/x")).write(b"x").unwrap_err();
        let words = "open /nowhere/x: no such file or directory";
        assert_eq!(failed.to_string(), words);
    }

    #[test]
    fn a_place_is_tried_without_harm() {
        let dir = std::env::temp_dir();
        let path = dir.join(format!("brunt-place-{}", std::process::id())).display().to_string();
        std::fs::write(&path, "kept").unwrap();
        let tried = |path: &str| Place::named(Some(path)).try_out().map_err(|e| e.to_string());
        assert_eq!(tried(&path), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        std::fs::remove_file(&path).unwrap();
        assert_eq!((tried("/dev/null"), tried("-")), (Ok(()), Ok(())));
        assert!(tried("/nowhere/x").unwrap_err().contains("no such file or directory"));
        assert!(tried(&dir.display().to_string()).is_err(), "a folder");
    }

    #[test]
    fn log_time_has_gos_shape() {
        let shape: String =
            log_time().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000/00/00 00:00:00");
    }
}
