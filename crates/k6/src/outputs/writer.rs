//! `Writer`: what each format of samples implements; `TestMetadata`: the metrics and tags of the test.

use std::io;

use metrics::tally::{BUILTIN, Contains, Kind, MetricId, Tally};
use script::{MetricRegistry, OutputSample, SystemTags};

use crate::judge::Limit;

/// Writes samples to one place.
pub(super) trait Writer: Send {
    /// Writes a sample.
    ///
    /// # Errors
    /// The place cannot be written.
    fn point(&mut self, point: &OutputSample, known: &TestMetadata) -> io::Result<()>;

    /// Hands over what was written so far.
    ///
    /// # Errors
    /// The place cannot be written.
    fn flush(&mut self) -> io::Result<()>;

    /// Writes what is left.
    ///
    /// # Errors
    /// The place cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// The metrics, thresholds and tags of the test, for writers.
#[derive(Clone)]
pub(crate) struct TestMetadata {
    /// The script's metrics.
    pub(crate) registry: MetricRegistry,
    /// Every metric with its submetrics.
    pub(crate) tally: Tally,
    /// The thresholds.
    pub(crate) limits: Vec<Limit>,
    /// The tags that have a column of their own.
    pub(crate) system: SystemTags,
    /// Unix time of the clock's 0, in nanoseconds.
    pub(crate) epoch_ns: i64,
}

impl TestMetadata {
    /// A metric's name, type and contents; `None` where none has this number.
    pub(super) fn declared(&self, id: MetricId) -> Option<(String, Kind, Contains)> {
        let at = id.0 as usize;
        if let Some((name, kind, contains)) = BUILTIN.get(at) {
            return Some(((*name).to_owned(), *kind, *contains));
        }
        let own = self.registry.from(at - BUILTIN.len());
        own.first().map(|own| (own.name.clone(), own.kind, own.contains))
    }

    /// The same in k6's words.
    pub(super) fn metric(&self, id: MetricId) -> (String, &'static str, &'static str) {
        let declared = self.declared(id);
        declared.map_or((String::new(), "", ""), |(name, kind, contains)| {
            (name, kind.name(), contains.name())
        })
    }
}

#[cfg(test)]
impl TestMetadata {
    /// A test that knows no metrics but the built-in ones.
    pub(super) fn example() -> Self {
        Self {
            registry: MetricRegistry::default(),
            tally: Tally::default(),
            limits: Vec::new(),
            system: SystemTags::default(),
            epoch_ns: 1_700_000_000_000_000_000,
        }
    }
}
