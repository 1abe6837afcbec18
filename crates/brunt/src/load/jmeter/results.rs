//! `PlanResults`: what becomes of samples: files of results, the lines of summarisers, the log.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use jmeter::{LogLevel, SampleResult, SaveOptions, Sink, Statistics, Summariser, xml};
use jmx::{Class, Element, Writing};

use super::journal::Journal;
use super::{disk, doors, moments};

/// A file of results.
struct ResultsFile {
    file: BufWriter<File>,
    options: SaveOptions,
    /// Only samples that failed, or that did not.
    only: Option<bool>,
}

/// What becomes of samples.
pub(super) struct PlanResults {
    all: Mutex<Outlets>,
    pub(super) journal: Arc<Journal>,
}

#[derive(Default)]
struct Outlets {
    main: Option<ResultsFile>,
    summariser: Option<Summariser>,
    /// Those of listeners, by their places in the plan and the names of their files.
    files: HashMap<(Arc<str>, String), ResultsFile>,
    summarisers: HashMap<Arc<str>, Summariser>,
    /// What a report is made of, where one is wanted.
    statistics: Option<Statistics>,
    /// Why a file could not be written, once that is known.
    failure: Option<String>,
}

impl ResultsFile {
    /// Opens a file: what is there stays, unless it is to be written anew.
    fn open(name: &str, how: Writing, options: SaveOptions) -> anyhow::Result<Self> {
        let path = Path::new(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("making the folder of {name}"))?;
        }
        let file = disk::open(path, how).with_context(|| format!("opening results {name}"))?;
        Self::begin(name, file, options)
    }

    /// Begins a file with its head, unless it has one.
    fn begin(name: &str, file: File, options: SaveOptions) -> anyhow::Result<Self> {
        let is_new = file.metadata().map_or(0, |meta| meta.len()) == 0;
        let mut new = Self { file: BufWriter::new(file), options, only: None };
        if is_new {
            let head = match (new.options.is_xml, new.options.csv.has_header) {
                (true, _) => xml::HEAD.to_owned(),
                (false, true) => new.options.csv.header(),
                (false, false) => String::new(),
            };
            new.file
                .write_all(head.as_bytes())
                .with_context(|| format!("writing results {name}"))?;
        }
        Ok(new)
    }

    fn write(&mut self, sample: &SampleResult) -> std::io::Result<()> {
        if self.only.is_some_and(|wanted| wanted != sample.is_success) {
            return Ok(());
        }
        let hidden = sample.redacted();
        let sample = hidden.as_ref().unwrap_or(sample);
        if self.options.is_xml {
            return self.file.write_all(xml::sample(sample, &self.options).as_bytes());
        }
        self.write_rows(sample)
    }

    /// A row of a sample, and behind it those of the samples below.
    fn write_rows(&mut self, sample: &SampleResult) -> std::io::Result<()> {
        let row = self.options.csv.row(sample, &moments::by_pattern);
        self.file.write_all(row.as_bytes())?;
        if self.options.has("subresults") {
            for child in &sample.children {
                self.write_rows(child)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<()> {
        if self.options.is_xml {
            self.file.write_all(xml::TAIL.as_bytes())?;
        }
        self.file.flush()
    }
}

impl PlanResults {
    /// Opens the file of results and those of listeners; `properties` are JMeter's.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(super) fn open(
        results: (Option<&str>, Writing),
        listeners: &[Arc<Element>],
        properties: &HashMap<String, String>,
        journal: Arc<Journal>,
    ) -> anyhow::Result<Self> {
        let property = |name: &str| properties.get(name).cloned();
        let mut all = Outlets::default();
        let writes = doors::writes("", properties)?;
        if let (Some(name), how) = results {
            all.main = Some(ResultsFile::open(name, how, SaveOptions::of(&property))?);
        }
        let name = property("summariser.name").unwrap_or_else(|| "summary".to_owned());
        all.summariser = (!name.is_empty()).then(|| Summariser::new(name));
        for listener in listeners {
            let at = Arc::clone(&listener.path);
            if listener.class == Class::Summariser {
                all.summarisers.insert(at, Summariser::new(listener.name.written().to_owned()));
                continue;
            }
            let options = SaveOptions::of_listener(listener, &property);
            let name = listener.properties.written("filename").to_owned();
            let says = |name: &str| listener.properties.written(name) == "true";
            let opened = doors::open_listed(&writes, &name)?;
            let mut file = ResultsFile::begin(&name, opened, options)?;
            file.only = match (
                says("ResultCollector.error_logging"),
                says("ResultCollector.success_only_logging"),
            ) {
                (true, false) => Some(false),
                (false, true) => Some(true),
                _ => None,
            };
            all.files.insert((at, name), file);
        }
        Ok(Self { all: Mutex::new(all), journal })
    }

    /// Samples are counted for a report from here on.
    pub(super) fn keep_statistics(&self) {
        self.lock().statistics = Some(Statistics::default());
    }

    /// What a report is made of, where one is wanted; only the first call has it.
    pub(super) fn take_statistics(&self) -> Option<Statistics> {
        self.lock().statistics.take()
    }

    /// The names of the summarisers.
    pub(super) fn summarisers(&self) -> Vec<String> {
        let all = self.lock();
        let own = all.summariser.iter().chain(all.summarisers.values());
        own.map(|one| one.name().to_owned()).collect()
    }

    /// The lines of the summarisers for what came since the last ones.
    pub(super) fn report(&self, threads: (u64, u64, u64)) -> Vec<String> {
        let mut all = self.lock();
        all.flush();
        let Outlets { summariser, summarisers, .. } = &mut *all;
        let each = summariser.iter_mut().chain(summarisers.values_mut());
        each.flat_map(|one| one.report(threads)).collect()
    }

    /// The last lines of the summarisers.
    pub(super) fn last_lines(&self, threads: (u64, u64, u64)) -> Vec<String> {
        let mut all = self.lock();
        let Outlets { summariser, summarisers, .. } = &mut *all;
        let each = summarisers.values_mut().chain(summariser.iter_mut());
        each.flat_map(|one| one.finish(threads)).collect()
    }

    /// Closes all files.
    ///
    /// # Errors
    /// One of them could not be written.
    pub(super) fn close(&self) -> anyhow::Result<()> {
        let mut all = std::mem::take(&mut *self.lock());
        self.journal.flush();
        for file in all.main.take().into_iter().chain(all.files.into_values()) {
            file.finish().context("writing results")?;
        }
        all.failure.map_or(Ok(()), |failure| Err(anyhow::anyhow!("writing results: {failure}")))
    }

    fn lock(&self) -> MutexGuard<'_, Outlets> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outlets {
    fn flush(&mut self) {
        let files = self.main.iter_mut().chain(self.files.values_mut());
        let failed = files.filter_map(|one| one.file.flush().err()).last();
        self.note(failed);
    }

    fn note(&mut self, failed: Option<std::io::Error>) {
        if let Some(error) = failed {
            self.failure.get_or_insert(error.to_string());
        }
    }
}

impl Sink for PlanResults {
    fn sample(&self, sample: &SampleResult) {
        let mut all = self.lock();
        let failed = all.main.as_mut().and_then(|file| file.write(sample).err());
        all.note(failed);
        let Outlets { summariser, statistics, .. } = &mut *all;
        summariser.iter_mut().for_each(|one| one.add(sample));
        statistics.iter_mut().for_each(|one| one.add(sample));
    }

    fn collect(&self, listener: &Element, sample: &SampleResult) {
        let mut all = self.lock();
        if let Some(summariser) = all.summarisers.get_mut(&listener.path) {
            summariser.add(sample);
        }
        let name = listener.properties.written("filename").to_owned();
        let key = (Arc::clone(&listener.path), name);
        let failed = all.files.get_mut(&key).and_then(|file| file.write(sample).err());
        all.note(failed);
    }

    fn log(&self, level: LogLevel, from: &str, _: &str, text: &str) {
        self.journal.write(level, from, text);
    }
}
