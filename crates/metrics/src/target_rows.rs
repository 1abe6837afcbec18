//! `TargetRows`: counts and response times by request, for the table that every report has. While all rows are of one target they are
//! not counted a second time: it has the figures of the run.

use crate::{Batch, Group, Groups, Summary, TargetTable};

/// Rows by [`crate::By::Request`].
#[derive(Clone, Debug, Default)]
pub struct TargetRows {
    /// The row of the target table that all hits were of so far.
    only: Option<u32>,
    /// From the second target on.
    groups: Option<Groups>,
}

impl TargetRows {
    /// Counts every sample of a batch; `targets` is the table that its samples number, and `before` the summary of the rows before
    /// this batch.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable, before: &Summary) {
        if self.groups.is_none() {
            let Some(first) = batch.samples.first() else { return };
            let only = *self.only.get_or_insert(first.target);
            let is_known = targets.get(only).is_some();
            if is_known && batch.samples.iter().all(|sample| sample.target == only) {
                return;
            }
            self.groups = Some(begun(only, targets, before));
        }
        if let Some(groups) = &mut self.groups {
            groups.add(batch, targets);
        }
    }

    /// The groups; `None` while there is one target.
    #[must_use]
    pub fn groups(&self) -> Option<&Groups> {
        self.groups.as_ref()
    }
}

/// Groups with what was seen of the only target so far.
fn begun(only: u32, targets: &TargetTable, before: &Summary) -> Groups {
    let mut groups = Groups::by_request();
    if before.requests > 0 {
        let Summary { requests, successes, bytes_in, response, .. } = before;
        let (hits, successes, bytes_in) = (*requests, *successes, *bytes_in);
        let (response, failures) = (response.clone(), before.failure_counts());
        let seen = Group { hits, successes, bytes_in, response, failures };
        groups.put(only, targets, &seen);
    }
    groups
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::{Sample, TargetLabel};

    #[test]
    fn a_second_target_begins_with_what_the_first_has() {
        let label = |name: &str| TargetLabel { name: name.to_owned(), ..TargetLabel::default() };
        let targets = TargetTable::from(vec![label("a"), label("b")]);
        let batch = |target: u32| {
            let done = Nanos(1000 + u64::from(target));
            let sample = Sample {
                target,
                done,
                outcome: crate::Outcome::Http(200),
                bytes_in: 7,
                ..Sample::default()
            };
            let failed = Sample { outcome: crate::Outcome::Http(503), ..sample };
            Batch { samples: vec![sample, failed], ..Batch::default() }
        };
        let (mut rows, mut summary) = (TargetRows::default(), Summary::new());
        let mut all = Groups::by_request();
        for target in [0, 0, 1, 0] {
            assert_eq!(rows.groups().is_none(), all.list().len() < 2);
            rows.add(&batch(target), &targets, &summary);
            summary.add(&batch(target));
            all.add(&batch(target), &targets);
        }
        assert_eq!(rows.groups().unwrap().list(), all.list());
        assert_eq!(all.list()[0].1.hits, 6);
    }
}
