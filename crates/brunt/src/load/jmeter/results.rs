//! `PlanResults`: what becomes of samples: files of results, the lines of summarisers, the log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jmeter::{LogLevel, SampleResult, SaveOptions, Sink, Statistics, Summariser};
use jmx::{Class, Element, MemoryScope, Writing};

use super::doors;
use super::journal::Journal;
use super::result_file::{Listing, ResultFiles};

/// What becomes of samples.
pub(super) struct PlanResults {
    all: Mutex<Outlets>,
    pub(super) journal: Arc<Journal>,
}

#[derive(Default)]
struct Outlets {
    files: ResultFiles,
    main: Option<Listing>,
    summariser: Option<Summariser>,
    /// Those of listeners, by their places in the plan and the names of their files.
    listings: HashMap<(Arc<str>, String), Listing>,
    summarisers: HashMap<Arc<str>, Summariser>,
    /// What a report is made of, where one is wanted.
    statistics: Option<Statistics>,
    /// Why a file could not be written, once that is known.
    failure: Option<String>,
}

impl PlanResults {
    /// Opens the file of results and those of listeners, whose names are evaluated in the scope of the plan. Listeners are the plan's
    /// author's, who often had another machine: one whose file cannot be written is left out, with a warning.
    ///
    /// # Errors
    /// The file of results, which the user has asked for, cannot be written.
    pub(super) fn open(
        results: (Option<&str>, Writing),
        listeners: &[Arc<Element>],
        scope: &mut MemoryScope,
        journal: Arc<Journal>,
    ) -> anyhow::Result<Self> {
        let properties = scope.properties.clone();
        let property = |name: &str| properties.get(name).cloned();
        let mut all = Outlets::default();
        let writes = doors::writes("", &properties)?;
        if let (Some(name), how) = results {
            all.main = Some(all.files.open(name, how, SaveOptions::of(&property))?);
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
            let written = listener.properties.written("filename").to_owned();
            let name = listener.properties.text("filename").map(|text| text.evaluate(scope));
            let name = name.filter(|name| !name.trim().is_empty());
            let Some(name) = name else { continue };
            let says = |name: &str| listener.properties.written(name) == "true";
            let opened = doors::open_listed(&writes, &name)
                .and_then(|file| all.files.add(&name, file, options));
            let mut listing = match opened {
                Ok(listing) => listing,
                Err(why) => {
                    leave_out(listener, &why, &journal);
                    continue;
                }
            };
            listing.only = match (
                says("ResultCollector.error_logging"),
                says("ResultCollector.success_only_logging"),
            ) {
                (true, false) => Some(false),
                (false, true) => Some(true),
                _ => None,
            };
            all.listings.insert((at, written), listing);
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
        let finished = std::mem::take(&mut all.files).finish();
        let failure = all.failure.take();
        finished.and(
            failure.map_or(Ok(()), |failure| Err(anyhow::anyhow!("writing results: {failure}"))),
        )
    }

    fn lock(&self) -> MutexGuard<'_, Outlets> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that a listener writes nothing, on standard error and in the log.
fn leave_out(listener: &Element, why: &anyhow::Error, journal: &Journal) {
    let text = format!("the listener {} is left out: {why:#}", listener.path);
    cli::eprint_line(&format!("jmeter: {}", stdx::terminal_line(&text)));
    journal.write(LogLevel::Error, "o.a.j.r.ResultCollector", &text);
}

impl Outlets {
    fn flush(&mut self) {
        let failed = self.files.flush().err();
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
        let Outlets { files, main, .. } = &mut *all;
        let failed = main.as_ref().and_then(|listing| files.write(listing, sample).err());
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
        let Outlets { files, listings, .. } = &mut *all;
        let failed = listings.get(&key).and_then(|listing| files.write(listing, sample).err());
        all.note(failed);
    }

    fn log(&self, level: LogLevel, from: &str, _: &str, text: &str) {
        self.journal.write(level, from, text);
    }
}

#[cfg(test)]
mod tests {
    use jmx::{UnknownScripts, read_plan};

    use super::*;

    fn listener(file: &str) -> Arc<Element> {
        let text = format!(
            "<jmeterTestPlan><hashTree><ResultCollector testname=\"l\"><stringProp name=\"filename\">{file}</stringProp></ResultCollector><hashTree/></hashTree></jmeterTestPlan>"
        );
        let (mut plan, _) = read_plan(text.as_bytes(), UnknownScripts::Refused).unwrap();
        Arc::new(plan.elements.remove(0))
    }

    fn open(results: Option<&str>, listeners: &[Arc<Element>]) -> anyhow::Result<PlanResults> {
        let journal = Arc::new(Journal::on_stderr(LogLevel::Error));
        PlanResults::open(
            (results, Writing::Append),
            listeners,
            &mut MemoryScope::default(),
            journal,
        )
    }

    #[test]
    fn a_listener_whose_file_cannot_be_written_is_left_out() {
        let nowhere = "/proc/nowhere/result.jtl";
        let opened = open(None, &[listener(nowhere), listener("/dev/null/a.jtl")]).unwrap();
        assert!(opened.lock().listings.is_empty());
        opened.close().unwrap();
        assert!(open(Some(nowhere), &[]).is_err(), "the user's own file");
    }
}
