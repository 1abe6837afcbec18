//! `Groups`: counts and response times by target, status, name, connection or agent, for the rows of a report. The number of groups is
//! bounded; hits of further keys go into one last group.

use std::collections::HashMap;

use stdx::{cut_text, url_without_secrets};

use crate::summary::{TEXT_MAX, cut};
use crate::{
    AgentRecord, Batch, FailureCounts, FailureKind, Histogram, Sample, TargetTable, row_tag,
};

/// Groups at most; hits of further keys go into the group [`OTHER`].
pub const GROUPS_MAX: usize = 1000;

/// Groups of the table that every report has.
const TARGETS_MAX: usize = 200;

/// The key of the group that takes what found no room.
pub const OTHER: &str = "(other)";

/// The key of hits with an unnamed or unknown target.
pub const UNNAMED: &str = "(unnamed)";

/// The key of hits without the tag that is asked for.
pub const UNTAGGED: &str = "(untagged)";

/// The key of hits with no connection or an unknown one.
pub const UNCONNECTED: &str = "(none)";

/// What hits are grouped by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// `METHOD URL`.
    Target,
    /// The status; a failed hit's is `0` and its kind: `0 (refused)`.
    Status,
    /// The target's name, or [`UNNAMED`].
    Name,
    /// The target's name, or where it has none `METHOD URL` without the password.
    Request,
    /// The connection's number, or [`UNCONNECTED`].
    Connection,
    /// The agent's number, or [`UNCONNECTED`] on one machine.
    Agent,
    /// The value of this tag of a script, or [`UNTAGGED`].
    Tag(String),
}

/// Connections up to this number find their group without a search; a file may hold any number.
const CONNECTIONS_CACHED: usize = 64 << 10;

/// What was seen of one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Hits, failed ones included.
    pub hits: u64,
    /// Hits answered with success.
    pub successes: u64,
    /// Response body bytes, decoded.
    pub bytes_in: u64,
    /// Response times, from the moment a hit was due.
    pub response: Histogram,
    /// The hits that are no successes, by reason.
    pub failures: FailureCounts,
}

/// Hits by key, in the order the keys were first seen.
#[derive(Clone, Debug)]
pub struct Groups {
    by: By,
    list: Vec<(String, Group)>,
    index: HashMap<String, usize>,
    /// The group of each row of the target table, once known.
    by_target: Vec<Option<u32>>,
    /// The group of each line of hits without a row in the table, where that is by request.
    by_line: HashMap<Box<[u8]>, u32>,
    /// Groups, at most, without the last one.
    room: usize,
}

impl Groups {
    /// No groups yet.
    #[must_use]
    pub fn new(by: By) -> Self {
        let (list, index) = (Vec::new(), HashMap::new());
        let (by_target, by_line) = (Vec::new(), HashMap::new());
        Self { by, list, index, by_target, by_line, room: GROUPS_MAX }
    }

    /// No groups yet, by [`By::Request`], for the table that every report has: of a few hundred targets, which is some tens of MB.
    #[must_use]
    pub fn by_request() -> Self {
        Self::new(By::Request).with_room(TARGETS_MAX)
    }

    /// Of fewer groups than [`GROUPS_MAX`]: each holds up to 262 KiB.
    fn with_room(self, groups: usize) -> Self {
        Self { room: groups.min(GROUPS_MAX), ..self }
    }

    /// Counts every sample of a batch; `targets` is the table that its samples number.
    pub fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        for sample in &batch.samples {
            let at = match self.by {
                By::Status => self.at_status(sample),
                By::Target | By::Name | By::Request | By::Tag(_) => {
                    self.at_target(batch, sample, targets)
                }
                By::Connection => self.at_connection(sample.conn),
                By::Agent => self.at_connection(u32::from(sample.agent)),
            };
            self.list[at].1.record(sample);
        }
    }

    fn at_status(&mut self, sample: &Sample) -> usize {
        // Failed hits have their own numbers above those of the statuses; the cache then serves both.
        let number = match sample.failure {
            FailureKind::None if sample.outcome.number() > 0 => {
                usize::from(u16::MAX)
                    + FailureKind::ALL.len()
                    + usize::from(sample.outcome.number())
            }
            FailureKind::None => usize::from(sample.outcome.code()),
            kind => usize::from(u16::MAX) + kind as usize,
        };
        self.cached(number, |_| match sample.failure {
            FailureKind::None => sample.outcome.to_string(),
            kind => format!("{} ({})", sample.outcome, kind.name()),
        })
    }

    fn at_target(&mut self, batch: &Batch, sample: &Sample, targets: &TargetTable) -> usize {
        let Some(label) = targets.get(sample.target) else {
            if self.by == By::Request {
                return self.at_line(batch.text(sample.name), batch.text(sample.line));
            }
            let text = |span| String::from_utf8_lossy(batch.text(span));
            let key = match &self.by {
                By::Tag(tag) => tagged(&text(sample.tags), tag),
                By::Name => text(sample.name).into_owned(),
                _ => text(sample.line).into_owned(),
            };
            return self.at_key(if key.is_empty() { UNNAMED } else { &key });
        };
        self.cached(sample.target as usize, |by| match by {
            By::Tag(tag) => tagged(label.tags, tag),
            By::Name if label.name.is_empty() => UNNAMED.to_owned(),
            By::Name => label.name.to_owned(),
            By::Request if !label.name.is_empty() => label.name.to_owned(),
            By::Request => format!("{} {}", label.method, url_without_secrets(label.url)),
            _ => format!("{} {}", label.method, label.url),
        })
    }

    /// The group of a hit by its name, or by its line where it has none. A script's name is its URL unless it gives one.
    fn at_line(&mut self, name: &[u8], line: &[u8]) -> usize {
        let is_named = !name.is_empty() && !line.ends_with(name);
        let raw = cut(if is_named { name } else { line });
        if let Some(&at) = self.by_line.get(raw) {
            return at as usize;
        }
        let text = String::from_utf8_lossy(raw);
        let key = match text.split_once(' ') {
            _ if text.is_empty() => UNNAMED.to_owned(),
            Some((method, url)) if !is_named => format!("{method} {}", url_without_secrets(url)),
            _ => url_without_secrets(&text),
        };
        let at = self.at_key(&key);
        if self.by_line.len() < self.room {
            self.by_line.insert(raw.into(), at as u32);
        }
        at
    }

    fn at_connection(&mut self, conn: u32) -> usize {
        let number = conn as usize;
        match conn {
            0 => self.cached(0, |_| UNCONNECTED.to_owned()),
            _ if number <= CONNECTIONS_CACHED => self.cached(number, |_| conn.to_string()),
            _ => self.at_key(&conn.to_string()),
        }
    }

    /// The group of a number that was seen before, or of the key that `key` returns.
    fn cached(&mut self, number: usize, key: impl FnOnce(&By) -> String) -> usize {
        if let Some(Some(at)) = self.by_target.get(number) {
            return *at as usize;
        }
        if self.by_target.len() <= number {
            self.by_target.resize(number + 1, None);
        }
        let at = self.at_key(&key(&self.by));
        self.by_target[number] = Some(at as u32);
        at
    }

    fn at_key(&mut self, key: &str) -> usize {
        let key = &*cut_text(key, TEXT_MAX);
        if let Some(&at) = self.index.get(key) {
            return at;
        }
        let key = if self.list.len() < self.room { key } else { OTHER };
        if let Some(&at) = self.index.get(key) {
            return at;
        }
        self.index.insert(key.to_owned(), self.list.len());
        self.list.push((key.to_owned(), Group::default()));
        self.list.len() - 1
    }

    /// Adds what was seen of one row of the target table.
    pub(crate) fn put(&mut self, target: u32, targets: &TargetTable, seen: &Group) {
        let sample = Sample { target, ..Sample::default() };
        let at = self.at_target(&Batch::default(), &sample, targets);
        self.list[at].1.merge(seen);
    }

    /// Adds all that another grouping of the same kind counted. The target table may be another one.
    pub fn merge(&mut self, other: &Self) {
        for (key, group) in &other.list {
            let at = self.at_key(key);
            self.list[at].1.merge(group);
        }
    }

    /// Names groups of agents as those are called everywhere else. A number that several runs gave to agents of other names stays.
    pub fn name_agents(&mut self, agents: &[&AgentRecord]) {
        if self.by != By::Agent {
            return;
        }
        for (key, _) in &mut self.list {
            let mut named = agents.iter().filter(|agent| agent.number.to_string() == *key);
            if let Some(agent) = named.next()
                && named.all(|other| other.name == agent.name)
            {
                key.clone_from(&agent.name);
            }
        }
    }

    /// What the hits are grouped by.
    #[must_use]
    pub fn by(&self) -> &By {
        &self.by
    }

    /// The groups in the order their keys were first seen; at most [`GROUPS_MAX`] and one.
    #[must_use]
    pub fn list(&self) -> &[(String, Group)] {
        &self.list
    }
}

/// The value of a tag in the text of a row.
fn tagged(text: &str, tag: &str) -> String {
    let value = row_tag(text, tag);
    value.filter(|value| !value.is_empty()).unwrap_or_else(|| UNTAGGED.to_owned())
}

impl Group {
    fn record(&mut self, sample: &Sample) {
        self.hits += 1;
        if sample.is_success() {
            self.successes += 1;
        } else {
            self.failures.record(sample);
        }
        self.bytes_in = self.bytes_in.saturating_add(sample.bytes_in);
        self.response.record(sample.response());
    }

    fn merge(&mut self, other: &Self) {
        self.hits += other.hits;
        self.successes += other.successes;
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.response.merge(&other.response);
        self.failures.merge(&other.failures);
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;
    use crate::{NO_TARGET, Outcome, TargetLabel};

    fn table(names: &[&str]) -> TargetTable {
        let label = |name: &&str| TargetLabel {
            method: "GET".to_owned(),
            url: format!("http://h/{name}"),
            name: (*name).to_owned(),
            ..TargetLabel::default()
        };
        names.iter().map(label).collect()
    }

    fn sample(target: u32, status: u16, failure: FailureKind) -> Sample {
        Sample {
            target,
            outcome: Outcome::http(status),
            failure,
            done: Nanos(1000),
            bytes_in: 5,
            ..Sample::default()
        }
    }

    /// Key, hits, successes.
    type Row<'a> = (&'a str, u64, u64);

    fn counts(groups: &Groups) -> Vec<Row<'_>> {
        groups
            .list()
            .iter()
            .map(|(key, group)| (key.as_str(), group.hits, group.successes))
            .collect()
    }

    fn batch() -> Batch {
        let mut batch = Batch::default();
        batch.samples.extend([
            sample(1, 200, FailureKind::None),
            sample(0, 500, FailureKind::None),
            sample(1, 0, FailureKind::Refused),
            sample(2, 200, FailureKind::None),
        ]);
        (batch.samples[0].conn, batch.samples[2].conn) = (3, u32::MAX);
        let line = batch.add_text(b"POST http://lazy/");
        batch.samples.push(Sample { line, conn: 3, ..sample(NO_TARGET, 302, FailureKind::None) });
        batch
    }

    /// Issue 41: `report -by agent` called agents 1, 2 and 3, and the table beside it a, b and c.
    #[test]
    fn agents_have_their_names() {
        let mut groups = Groups::new(By::Agent);
        let hit = |agent| Sample { agent, ..Sample::default() };
        let samples = [1, 2, 3, 0].map(hit).to_vec();
        groups.add(&Batch { samples, ..Batch::default() }, &TargetTable::default());
        let agent = |number, name: &str| AgentRecord {
            number,
            name: name.to_owned(),
            ..AgentRecord::default()
        };
        let agents = [agent(1, "a"), agent(2, "b"), agent(3, "c"), agent(3, "other")];
        groups.name_agents(&agents.iter().collect::<Vec<_>>());
        let keys: Vec<&str> = groups.list().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "3", UNCONNECTED]);
    }

    #[test]
    fn each_key_has_its_row() {
        let table = table(&["home", "cart", ""]);
        let cases: [(By, &[Row<'_>]); 5] = [
            (
                By::Target,
                &[
                    ("GET http://h/cart", 2, 1),
                    ("GET http://h/home", 1, 0),
                    ("GET http://h/", 1, 1),
                    ("POST http://lazy/", 1, 1),
                ],
            ),
            (By::Status, &[("200", 2, 2), ("500", 1, 0), ("0 (refused)", 1, 0), ("302", 1, 1)]),
            (By::Name, &[("cart", 2, 1), ("home", 1, 0), (UNNAMED, 2, 2)]),
            (
                By::Request,
                &[
                    ("cart", 2, 1),
                    ("home", 1, 0),
                    ("GET http://h/", 1, 1),
                    ("POST http://lazy/", 1, 1),
                ],
            ),
            (By::Connection, &[("3", 2, 2), (UNCONNECTED, 2, 1), ("4294967295", 1, 0)]),
        ];
        for (by, expect) in cases {
            let mut groups = Groups::new(by.clone());
            groups.add(&batch(), &table);
            assert_eq!(counts(&groups), expect, "{by:?}");
            let mut twice = Groups::new(by.clone());
            twice.merge(&groups);
            twice.merge(&groups);
            let hits: u64 = twice.list().iter().map(|(_, group)| group.response.count()).sum();
            assert_eq!((twice.list().len(), hits), (expect.len(), 10));
        }
    }

    #[test]
    fn requests_are_told_apart_by_name_and_line_without_passwords() {
        let mut batch = Batch::default();
        let rows = [
            ("http://me:pw1234@h/1", "GET http://me:pw1234@h/1"),
            ("http://me:pw1234@h/1", "GET http://me:pw1234@h/1"),
            ("item", "GET http://h/2"),
            ("item", "GET http://h/3"),
            ("", ""),
        ];
        for (name, line) in rows {
            let (name, line) = (batch.add_text(name.as_bytes()), batch.add_text(line.as_bytes()));
            let sample = sample(NO_TARGET, 200, FailureKind::None);
            batch.samples.push(Sample { name, line, ..sample });
        }
        let mut groups = Groups::new(By::Request).with_room(2);
        groups.add(&batch, &TargetTable::default());
        let expect = [("GET http://me:***@h/1", 2, 2), ("item", 2, 2), (OTHER, 1, 1)];
        assert_eq!(counts(&groups), expect);
    }

    #[test]
    fn what_finds_no_room_is_other() {
        let names: Vec<String> = (0..GROUPS_MAX + 50).map(|n| format!("n{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut batch = Batch::default();
        batch.samples.extend((0..names.len()).map(|at| sample(at as u32, 200, FailureKind::None)));
        let mut groups = Groups::new(By::Name);
        groups.add(&batch, &table(&names));
        assert_eq!(groups.list().len(), GROUPS_MAX + 1);
        assert_eq!(counts(&groups)[GROUPS_MAX], (OTHER, 50, 50));
    }
}
