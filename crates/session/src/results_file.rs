//! `ResultsFile`: where a run's results go, opened before the first request: a file that cannot be written must not cost a
//! run.

use std::io::Write;

use cli::{ExitCode, ExitError, Output, ResultsOption};
use engine::RowDelivery;
use metrics::TargetTable;
use results::{Encoding, Pace, Sink, StreamInfo};

use crate::error::SessionError;
use crate::monitor_config::{Monitor, MonitorConfig};
use crate::results_writer::ResultsWriter;
use crate::sidecar::MonitorSidecar;

/// An open file for results.
pub struct ResultsFile {
    /// Its name in messages.
    name: String,
    encoding: Encoding,
    file: Box<dyn Write + Send>,
    /// What is watched beside the run; its rows go into the same file.
    monitor: Option<Monitor>,
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
        encoding: Encoding,
        monitor: Option<&MonitorConfig>,
    ) -> Result<Self, ExitError> {
        let monitor = monitor.map(|config| config.monitor_for(encoding)).transpose()?;
        let file = output.open().map_err(|failed| match output {
            Output::File(path) => {
                ExitError::new(ExitCode::Failure, format!("error opening {path}: {failed}"))
            }
            Output::Stdout => failed,
        })?;
        let (name, is_piped) = (output.to_string(), output.is_pipe());
        Ok(Self { name, encoding, file, monitor, has_tags: false, is_piped })
    }

    /// The same, in the format that the ending of its name stands for; Arrow where it stands for none.
    ///
    /// # Errors
    /// As [`ResultsFile::open`].
    pub fn open_by_path(
        output: &Output,
        monitor: Option<&MonitorConfig>,
    ) -> Result<Self, ExitError> {
        let by_path = match output {
            Output::File(path) => Encoding::from_path(path),
            Output::Stdout => None,
        };
        Self::open(output, by_path.unwrap_or(Encoding::Arrow), monitor)
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
        Self::open_by_path(&output, monitor.as_ref())
    }

    /// Starts to write the results of a run that has begun.
    ///
    /// # Errors
    /// The head of the file cannot be written, or a thread not be started.
    pub(crate) fn start(self, run: &RunInfo) -> Result<ResultsWriter, SessionError> {
        let info = StreamInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch: run.epoch,
            attack: run.name.clone(),
            seed: run.seed,
            has_tags: self.has_tags,
            is_piped: self.is_piped,
            ..StreamInfo::default()
        };
        let pace = if self.is_piped { Pace::pipe(self.encoding) } else { Pace::FILE };
        let Self { name, encoding, file, monitor, .. } = self;
        let sink = results::writer(encoding, file, &info)
            .and_then(|writer| Ok(Sink::start_at(pace, writer, run.labels.clone())?))
            .map_err(|error| SessionError::results(error, &name))?;
        let start = |monitor| MonitorSidecar::start(monitor, sink.observer());
        let sidecar = monitor.map(start).transpose().map_err(SessionError::Monitor)?;
        Ok(ResultsWriter::new(name, sink, sidecar))
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
