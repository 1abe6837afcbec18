//! `ResultsFile`: where a run's results go, opened before the first request: a file that cannot be written must not cost a
//! run.

use std::io::Write;

use cli::{ExitCode, ExitError, Output, ResultsOption};
use engine::RowDelivery;
use metrics::{Provenance, TargetTable};
use results::{Encoding, Format, Pace, Sink, StreamInfo};

use crate::error::SessionError;
use crate::monitor_config::{Monitor, MonitorConfig};
use crate::provenance::provenance;
use crate::results_writer::ResultsWriter;
use crate::sidecar::MonitorSidecar;

/// An open file for results.
pub struct ResultsFile {
    /// Its name in messages.
    name: String,
    format: Format,
    file: Box<dyn Write + Send>,
    /// What is watched beside the run; its rows go into the same file.
    monitor: Option<Monitor>,
    /// How the run is made; asked for before it begins.
    provenance: Provenance,
    /// Rows have tags of a script.
    has_tags: bool,
    /// A pipe, whose reader may end at any moment.
    is_piped: bool,
}

/// The run's part of the results' metadata.
pub(crate) struct RunInfo {
    /// Unix time of its start, in nanoseconds.
    pub(crate) epoch: i64,
    /// The plan's name.
    pub(crate) name: String,
    /// The plan's seed.
    pub(crate) seed: u64,
    /// The labels of its targets.
    pub(crate) labels: TargetTable,
}

impl ResultsFile {
    /// Opens the file, and empties one that is there. The monitor is checked before.
    ///
    /// # Errors
    /// The file cannot be written; something can never be watched, or the format has no room for it.
    pub fn open(
        output: &Output,
        format: impl Into<Format>,
        monitor: Option<&MonitorConfig>,
    ) -> Result<Self, ExitError> {
        let format = format.into();
        let monitor = monitor.map(|config| config.monitor_for(format.encoding)).transpose()?;
        let file = output.open().map_err(|failed| match output {
            Output::File(path) => {
                ExitError::new(ExitCode::Failure, format!("error opening {path}: {failed}"))
            }
            Output::Stdout => failed,
        })?;
        let provenance = provenance();
        let (name, is_piped) = (output.to_string(), output.is_pipe());
        Ok(Self { name, format, file, monitor, provenance, has_tags: false, is_piped })
    }

    /// Of a run whose results nothing keeps, and beside which this is watched: what was seen comes with the run's end.
    ///
    /// # Errors
    /// Something can never be watched.
    pub fn unkept(monitor: &MonitorConfig) -> Result<Self, ExitError> {
        let encoding = Encoding::Arrow;
        let monitor = Some(monitor.monitor_for(encoding)?);
        let (name, file) = ("what is watched".to_owned(), Box::new(std::io::sink()));
        Ok(Self {
            name,
            format: encoding.into(),
            file,
            monitor,
            provenance: Provenance::default(),
            has_tags: false,
            is_piped: false,
        })
    }

    /// The same, in the format that the ending of its name stands for; Arrow where there is none. `flag` is the flag that names it.
    ///
    /// # Errors
    /// As [`ResultsFile::open`]; the ending stands for no format.
    pub fn open_by_path(
        flag: &str,
        output: &Output,
        monitor: Option<&MonitorConfig>,
    ) -> Result<Self, ExitError> {
        Self::open(output, format_of(flag, output, None, Encoding::Arrow)?, monitor)
    }

    /// When workers send rows on, for these results.
    pub(crate) fn row_delivery(&self) -> RowDelivery {
        if self.is_piped { RowDelivery::Prompt } else { RowDelivery::EverySecond }
    }

    /// The same, whose rows have the tags of a script.
    #[must_use]
    pub fn with_tags(self) -> Self {
        Self { has_tags: true, ..self }
    }

    /// One file with two names, where the two can be one.
    ///
    /// # Errors
    /// As [`ResultsFile::open`].
    pub fn open_shared(
        output: &Output,
        stored: &Output,
        format: Format,
        monitor: Option<&MonitorConfig>,
    ) -> Result<Option<Self>, ExitError> {
        let monitor = monitor.map(|config| config.monitor_for(format.encoding)).transpose()?;
        let Some(file) = output.open_shared(stored)? else { return Ok(None) };
        let (name, provenance) = (output.to_string(), provenance());
        let file =
            Self { name, format, file, monitor, provenance, has_tags: false, is_piped: false };
        Ok(Some(file))
    }

    /// The same results also into this file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn with_copy(self, copy: &Output) -> Result<Self, ExitError> {
        let file = Box::new(Tee { first: self.file, second: copy.open()? });
        Ok(Self { file, ..self })
    }

    /// Opens the file that another tool's command line asks for.
    ///
    /// # Errors
    /// As [`ResultsFile::open`].
    pub fn of_option(ResultsOption { output, watched }: ResultsOption) -> Result<Self, ExitError> {
        let monitor = watched.then(|| MonitorConfig::new(Vec::new(), None));
        Self::open_by_path(cli::RESULTS, &output, monitor.as_ref())
    }

    /// Starts to write the results of a run that has begun.
    ///
    /// # Errors
    /// The head of the file cannot be written, or a thread not be started.
    pub(crate) fn start(self, run: RunInfo) -> Result<ResultsWriter, SessionError> {
        let info = StreamInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch: run.epoch,
            attack: run.name,
            seed: run.seed,
            has_tags: self.has_tags,
            is_piped: self.is_piped,
            ..StreamInfo::default()
        };
        let pace = if self.is_piped { Pace::pipe(self.format.encoding) } else { Pace::FILE };
        let Self { name, format, file, monitor, provenance, .. } = self;
        let sink = results::writer(format, file, &info)
            .and_then(|writer| Ok(Sink::start_at(pace, writer, run.labels)?))
            .map_err(|error| SessionError::results(error, &name))?;
        sink.provenance(run.epoch, provenance);
        let start = |monitor| MonitorSidecar::start(monitor, sink.observer());
        let sidecar = monitor.map(start).transpose().map_err(SessionError::Monitor)?;
        Ok(ResultsWriter::new(name, sink, sidecar))
    }
}

/// The format of the results that `flag` names: of the `named` encoding where one was asked for, else as the ending says, and
/// `default` without one. Of a pipe or a device the name says nothing.
///
/// # Errors
/// The ending stands for no format.
pub fn format_of(
    flag: &str,
    output: &Output,
    named: Option<Encoding>,
    default: Encoding,
) -> Result<Format, ExitError> {
    let Output::File(path) = output else { return Ok(named.unwrap_or(default).into()) };
    let is_plain = std::fs::metadata(path).map_or(true, |meta| meta.is_file() || meta.is_dir());
    match Format::of_path(path, named, default) {
        Err(error) if is_plain => {
            Err(ExitError::new(ExitCode::Usage, format!("flag {flag}: {error}")))
        }
        format => Ok(format.unwrap_or_else(|_| default.into())),
    }
}

/// Two files with the same bytes.
struct Tee {
    first: Box<dyn Write + Send>,
    second: Box<dyn Write + Send>,
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = self.first.write(bytes)?;
        self.second.write_all(&bytes[..len])?;
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.first.flush()?;
        self.second.flush()
    }
}
