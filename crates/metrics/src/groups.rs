//! `Groups`: counts and response times by target, status or name, for the rows of a report. The number of groups is
//! bounded; what comes after goes into one last group.

use std::collections::HashMap;

use crate::{Batch, FailureKind, Histogram, Sample, TargetTable};

/// Groups kept one by one; hits of further keys go into the group [`OTHER`].
pub const GROUPS_MAX: usize = 1000;

/// The key of the group that takes what found no room.
pub const OTHER: &str = "(other)";

/// The key of hits whose target has no name, or is not known.
pub const UNNAMED: &str = "(unnamed)";

/// What hits are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `METHOD URL`.
    Target,
    /// The status; a failed hit's is `0` and its kind: `0 (refused)`.
    Status,
    /// The target's name, or [`UNNAMED`].
    Name,
}

/// What was seen of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Hits, failed ones included.
    pub hits: u64,
    /// Hits answered with a status in 200..400.
    pub successes: u64,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Response times, from the moment a hit was due.
    pub response: Histogram,
}

/// Hits by key, in the order the keys were first seen.
#[derive(Clone, Debug)]
pub struct Groups {
    by: By,
    list: Vec<(String, Group)>,
    index: HashMap<String, usize>,
    /// The group of each row of the target table, once known.
    by_target: Vec<Option<u32>>,
}

impl Groups {
    /// No groups yet.
    #[must_use]
    pub fn new(by: By) -> Self {
        Self { by, list: Vec::new(), index: HashMap::new(), by_target: Vec::new() }
    }

    /// Counts every sample of a batch; `targets` is the table that its samples number.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        for sample in &batch.samples {
            let at = match self.by {
                By::Status => self.at_status(sample),
                By::Target | By::Name => self.at_target(batch, sample, targets),
            };
            self.list[at].1.record(sample);
        }
    }

    fn at_status(&mut self, sample: &Sample) -> usize {
        // Failed hits have their own numbers above those of the statuses; the cache then serves both.
        let number = match sample.failure {
            FailureKind::None => usize::from(sample.status),
            kind => usize::from(u16::MAX) + kind as usize,
        };
        self.cached(number, |_| match sample.failure {
            FailureKind::None => sample.status.to_string(),
            kind => format!("{} ({})", sample.status, kind.name()),
        })
    }

    fn at_target(&mut self, batch: &Batch, sample: &Sample, targets: &TargetTable) -> usize {
        let Some(label) = targets.get(sample.target) else {
            let line = String::from_utf8_lossy(batch.text(sample.line));
            let unnamed = self.by == By::Name || line.is_empty();
            return self.at_key(if unnamed { UNNAMED } else { &line });
        };
        self.cached(sample.target as usize, |by| match by {
            By::Name if label.name.is_empty() => UNNAMED.to_owned(),
            By::Name => label.name.clone(),
            _ => format!("{} {}", label.method, label.url),
        })
    }

    /// The group of a number that was seen before, or of the key that `key` gives.
    fn cached(&mut self, number: usize, key: impl FnOnce(By) -> String) -> usize {
        if let Some(Some(at)) = self.by_target.get(number) {
            return *at as usize;
        }
        if self.by_target.len() <= number {
            self.by_target.resize(number + 1, None);
        }
        let at = self.at_key(&key(self.by));
        self.by_target[number] = Some(at as u32);
        at
    }

    fn at_key(&mut self, key: &str) -> usize {
        if let Some(&at) = self.index.get(key) {
            return at;
        }
        let key = if self.list.len() < GROUPS_MAX { key } else { OTHER };
        if let Some(&at) = self.index.get(key) {
            return at;
        }
        self.index.insert(key.to_owned(), self.list.len());
        self.list.push((key.to_owned(), Group::default()));
        self.list.len() - 1
    }

    /// Adds all that another grouping of the same kind counted. The target table may be another one.
    pub fn merge(&mut self, other: &Self) {
        for (key, group) in &other.list {
            let at = self.at_key(key);
            self.list[at].1.merge(group);
        }
    }

    /// What the hits are grouped by.
    #[must_use]
    pub fn by(&self) -> By {
        self.by
    }

    /// The groups in the order their keys were first seen; at most [`GROUPS_MAX`] and one.
    #[must_use]
    pub fn list(&self) -> &[(String, Group)] {
        &self.list
    }
}

impl Group {
    fn record(&mut self, sample: &Sample) {
        self.hits += 1;
        self.successes += u64::from(sample.is_success());
        self.bytes_in = self.bytes_in.saturating_add(sample.bytes_in);
        self.response.record(sample.response());
    }

    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.successes += other.successes;
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.response.merge(&other.response);
    }
}
