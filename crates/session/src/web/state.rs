//! What the run comes to so far, as the live page shows it beside its charts: each state replaces the one before.

use std::collections::HashMap;

use metrics::{Batch, By, Groups, Snapshot, Summary, TargetTable, Verdict};
use serde_json::{Value, json};
use stdx::Nanos;

use super::board::Phase;
use crate::labels::grouping;

/// Targets that are shown, at most.
const GROUPS_MAX: usize = 200;
/// Texts of errors that are counted, at most.
const ERRORS_MAX: usize = 100;
/// Letters of such a text, at most.
const ERROR_CHARS: usize = 300;

/// Counts what snapshots do not have: requests by target, and errors by text.
pub(super) struct Counts {
    groups: Groups,
    /// By tags of a script, with their titles; empty where rows have none.
    by_tag: [(&'static str, Groups); 2],
    labels: TargetTable,
    errors: HashMap<Box<[u8]>, u64>,
    errors_more: u64,
}

impl Counts {
    pub(super) fn new(labels: TargetTable) -> Self {
        Self {
            groups: Groups::new(grouping(&labels)),
            by_tag: [("By scenario", "scenario"), ("By group", "group")]
                .map(|(title, tag)| (title, Groups::new(By::Tag(tag.to_owned())))),
            labels,
            errors: HashMap::new(),
            errors_more: 0,
        }
    }

    pub(super) fn add(&mut self, batch: &Batch) {
        self.groups.add(batch, &self.labels);
        if batch.samples.iter().any(|sample| sample.tags.len > 0) {
            self.by_tag.iter_mut().for_each(|(_, groups)| groups.add(batch, &self.labels));
        }
        for sample in batch.samples.iter().filter(|sample| sample.error.len > 0) {
            let text = batch.text(sample.error);
            if let Some(count) = self.errors.get_mut(text) {
                *count += 1;
            } else if self.errors.len() < ERRORS_MAX {
                self.errors.insert(text.into(), 1);
            } else {
                self.errors_more += 1;
            }
        }
    }

    /// A table for each tag that has more than one value.
    fn by_tag(&self) -> Vec<Value> {
        let several = self.by_tag.iter().filter(|(_, groups)| groups.list().len() > 1);
        several.map(|(title, groups)| json!([title, rows(groups)])).collect()
    }

    fn errors(&self) -> Vec<(String, u64)> {
        let mut list: Vec<_> = self.errors.iter().collect();
        list.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let text = |text: &[u8]| String::from_utf8_lossy(text).chars().take(ERROR_CHARS).collect();
        list.into_iter().map(|(bytes, count)| (text(bytes), *count)).collect()
    }
}

/// The largest groups, as rows of a table.
fn rows(groups: &Groups) -> Vec<Value> {
    let mut list: Vec<_> = groups.list().iter().collect();
    list.sort_by_key(|(_, group)| std::cmp::Reverse(group.hits));
    let shown = list.into_iter().take(GROUPS_MAX);
    let row = |(name, group): &(String, metrics::Group)| {
        let at = |q| group.response.quantile(q).0;
        json!([
            name,
            group.hits,
            group.hits - group.successes,
            group.response.mean().0,
            at(0.5),
            at(0.95),
            at(0.99),
            group.response.max().0
        ])
    };
    shown.map(row).collect()
}

/// The state at this moment.
pub(super) fn json(
    total: &Snapshot,
    counts: &Counts,
    (elapsed, epoch, phase): (Nanos, i64, Phase),
    marks: &[(Nanos, String)],
) -> Value {
    let summary = Summary::of_snapshot(total, epoch);
    let mut generator = total.generator.clone();
    // A run that goes on was not cut off.
    generator.finished = true;
    let verdict = Verdict::new(&summary, Some(&generator), &[]);
    let response = &total.response;
    let at = |q| response.quantile(q).0;
    let statuses = total.outcomes.list().map(|(outcome, count)| match outcome.number() {
        0 => json!([outcome.code(), count]),
        _ => json!([outcome.to_string(), count]),
    });
    let failures = summary.failures_in_words();
    json!({
        "elapsed": elapsed.as_secs_f64(),
        "phase": phase.name(),
        "requests": total.hits(),
        "failed": total.hits() - total.successes,
        "bytes": total.wire_in.max(total.bytes_in),
        "times": [response.mean().0, at(0.5), at(0.9), at(0.95), at(0.99), response.max().0],
        "verdict": {
            "valid": verdict.is_valid(),
            "reasons": verdict.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
        },
        "statuses": statuses.collect::<Vec<_>>(),
        "failures": failures,
        "errors": counts.errors(),
        "errorsMore": counts.errors_more,
        "groups": rows(&counts.groups),
        "byTag": counts.by_tag(),
        "groupsMore": counts.groups.list().len().saturating_sub(GROUPS_MAX),
        "generator": {
            "workers": generator.workers,
            "busiest": generator.cpu_busiest,
            "lag": [generator.lag.quantile(0.5).0, generator.lag.quantile(0.99).0],
            "notSent": generator.not_sent,
            "connections": generator.connections,
            "io": generator.io,
        },
        "marks": marks.iter().map(|(at, text)| (at.as_secs_f64(), text)).collect::<Vec<_>>(),
    })
}
