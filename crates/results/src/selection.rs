//! `Selection`: some of the hits of results, for what looks at a part of a run.

use metrics::{Batch, Sample, Selector, TargetTable};

/// Some of the hits of results. Only hits that it has are to be counted; the verdict of a run is of all its hits.
#[derive(Clone, Debug)]
pub struct Selection {
    selector: Selector,
    /// Whether it has those of a target, where that does not depend on the hit; by the target's number, once looked up.
    by_target: Vec<Option<bool>>,
}

impl Selection {
    /// What this selects; `None` where that is all.
    #[must_use]
    pub fn of(selector: &Selector) -> Option<Self> {
        (!selector.is_empty()).then(|| Self { selector: selector.clone(), by_target: Vec::new() })
    }

    /// Takes all other hits out of a batch, whose targets are numbered by this table.
    pub fn retain(&mut self, batch: &mut Batch, targets: &TargetTable) {
        let mut samples = std::mem::take(&mut batch.samples);
        samples.retain(|sample| self.has(sample, batch, targets));
        batch.samples = samples;
    }

    fn has(&mut self, sample: &Sample, batch: &Batch, targets: &TargetTable) -> bool {
        let row = sample.target as usize;
        let own_texts = [sample.line, sample.name, sample.tags].iter().any(|span| span.len > 0);
        if self.selector.status.is_some() || own_texts || row >= targets.len() {
            return self.selector.selects(sample, batch, targets);
        }
        if self.by_target.len() <= row {
            self.by_target.resize(targets.len(), None);
        }
        let selector = &self.selector;
        *self.by_target[row].get_or_insert_with(|| selector.selects(sample, batch, targets))
    }
}
