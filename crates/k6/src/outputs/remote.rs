//! `Exporters`: outputs at servers, handed the samples that the files get.

use std::collections::HashMap;

use metrics::tally::{Contains, Kind, MetricId};
use outputs::{Delivered, Exporter, Sample};
use script::OutputSample;

use super::writer::TestMetadata;

/// Outputs at servers, and the metrics that had samples.
#[derive(Default)]
pub(super) struct Exporters {
    all: Vec<Exporter>,
    metrics: HashMap<MetricId, Option<(String, Kind, Contains)>>,
}

impl Exporters {
    pub(super) fn push(&mut self, exporter: Exporter) {
        self.all.push(exporter);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn add(&mut self, point: &OutputSample, known: &TestMetadata) {
        if self.all.is_empty() {
            return;
        }
        let declared = self.metrics.entry(point.metric);
        let declared = declared.or_insert_with(|| known.declared(point.metric));
        let Some((name, kind, contains)) = declared else { return };
        let sample = Sample {
            metric: point.metric,
            name,
            kind: *kind,
            contains: *contains,
            unix_ns: known.epoch_ns + i64::try_from(point.at.0).unwrap_or(i64::MAX),
            value: point.value,
            tags: &point.tags.tags,
            metadata: &point.tags.metadata,
        };
        self.all.iter_mut().for_each(|exporter| exporter.add(&sample));
    }

    pub(super) fn poll(&mut self) {
        self.all.iter_mut().for_each(Exporter::poll);
    }

    /// Sends the rest to all servers at once, and waits for them.
    pub(super) fn finish(self) -> Vec<Delivered> {
        Exporter::finish_all(self.all)
    }
}
