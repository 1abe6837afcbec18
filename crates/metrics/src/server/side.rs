//! `Side`: all that was seen of the servers, from rows streamed in; and what the client saw of the same requests, where both
//! know their ids. Everything in it is bounded, and what does not fit is counted.

use std::collections::HashMap;

use stdx::Nanos;

use super::request_join::RequestJoin;
use super::{Incident, LOGS_MAX, Log, Row, SourceSummary};
use crate::Histogram;

/// Sources at most; further ones are counted.
pub const SOURCES_MAX: usize = 512;
/// Different incidents at most; further ones are counted.
pub const INCIDENTS_MAX: usize = 100;

/// What was seen of the servers.
#[derive(Clone, Debug, Default)]
pub struct Side {
    sources: Vec<SourceSummary>,
    logs: Vec<Log>,
    /// The index of a source or of a log, by host and name.
    index: HashMap<(String, String), usize>,
    incidents: Vec<(Incident, u64)>,
    left_out: LeftOut,
    join: RequestJoin,
}

/// What found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Readings of further sources.
    pub readings: u64,
    /// Requests of further logs.
    pub requests: u64,
    /// Further incidents.
    pub incidents: u64,
    /// Ids that were dropped without a match; 0 where one side has no ids at all.
    pub ids: u64,
}

impl Side {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a row.
    pub fn add(&mut self, row: &Row) {
        match row {
            Row::Reading(reading) => {
                let key = (reading.host.clone(), source_key(&reading.source));
                match place(&mut self.index, key, &mut self.sources, SOURCES_MAX, || {
                    SourceSummary::of(reading)
                }) {
                    Some(source) => source.read(reading),
                    None => self.left_out.readings += 1,
                }
            }
            Row::Served(served) => {
                let key = (served.host.clone(), log_key(&served.source));
                match place(&mut self.index, key, &mut self.logs, LOGS_MAX, || Log::of(served)) {
                    Some(log) => log.add(served),
                    None => self.left_out.requests += 1,
                }
                if let Some(total) = served.total {
                    self.join.server(&served.source, served.id.as_bytes(), total);
                }
            }
            Row::Incident(incident) => self.incident(incident, 1),
        }
    }

    /// Adds the client's time of a request with this id in its response: from the moment it was sent until its end.
    pub fn hit(&mut self, id: &[u8], time: Nanos) {
        self.join.client(id, time);
    }

    fn incident(&mut self, incident: &Incident, count: u64) {
        let same = |known: &&mut (Incident, u64)| {
            let known = &known.0;
            (&known.host, &known.source, &known.what)
                == (&incident.host, &incident.source, &incident.what)
        };
        if let Some(known) = self.incidents.iter_mut().find(same) {
            known.1 += count;
        } else if self.incidents.len() < INCIDENTS_MAX {
            self.incidents.push((incident.clone(), count));
        } else {
            self.left_out.incidents += count;
        }
    }

    /// Adds all that another saw: of another machine, or of another run.
    pub fn merge(&mut self, other: &Self) {
        for source in &other.sources {
            let key = (source.host.clone(), source_key(&source.source));
            let new = || SourceSummary {
                host: source.host.clone(),
                source: source.source.clone(),
                ..SourceSummary::default()
            };
            match place(&mut self.index, key, &mut self.sources, SOURCES_MAX, new) {
                Some(known) => known.merge(source),
                None => self.left_out.readings += source.readings,
            }
        }
        for log in &other.logs {
            let key = (log.host.clone(), log_key(&log.source));
            match place(&mut self.index, key, &mut self.logs, LOGS_MAX, || log.empty()) {
                Some(known) => known.merge(log),
                None => self.left_out.requests += log.requests,
            }
        }
        for (incident, count) in &other.incidents {
            self.incident(incident, *count);
        }
        self.left_out.readings += other.left_out.readings;
        self.left_out.requests += other.left_out.requests;
        self.left_out.incidents += other.left_out.incidents;
        self.join.merge(&other.join);
    }

    /// Was nothing seen?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.logs.is_empty() && self.incidents.is_empty()
    }

    /// Sources in the order they were first read; at most [`SOURCES_MAX`].
    #[must_use]
    pub fn sources(&self) -> &[SourceSummary] {
        &self.sources
    }

    /// Logs in the order of their first requests; at most [`LOGS_MAX`].
    #[must_use]
    pub fn logs(&self) -> &[Log] {
        &self.logs
    }

    /// Incidents with their counts, in the order of their first occurrence; at most [`INCIDENTS_MAX`].
    #[must_use]
    pub fn incidents(&self) -> &[(Incident, u64)] {
        &self.incidents
    }

    /// What found no room.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        LeftOut { ids: self.join.left_out(), ..self.left_out }
    }

    /// The client's time minus the server's, of the requests that are joined with [`Side::applications`] by their id; `None`
    /// without any.
    #[must_use]
    pub fn network_and_queue(&self) -> Option<&Histogram> {
        self.join.network_and_queue(&self.application()?.source).filter(|times| times.count() > 0)
    }

    /// The log nearest to the application: the first with views or a database in it, else the one with the most requests of
    /// those that have times.
    #[must_use]
    pub fn application(&self) -> Option<&Log> {
        let timed = || self.logs.iter().filter(|log| log.is_timed());
        let inner = timed().filter(|log| log.views.count() + log.database.count() > 0);
        inner.max_by_key(|log| log.requests).or_else(|| timed().max_by_key(|log| log.requests))
    }

    /// All logs of the same name as [`Side::application`], of all hosts together.
    #[must_use]
    pub fn applications(&self) -> Option<Log> {
        let first = self.application()?;
        let mut all = first.empty();
        self.logs.iter().filter(|log| log.source == first.source).for_each(|log| all.merge(log));
        Some(all)
    }
}

/// Logs and sources have their keys apart, whatever their names.
fn source_key(source: &str) -> String {
    format!("source {source}")
}

fn log_key(source: &str) -> String {
    format!("log {source}")
}

/// The one of this key, made where there is room.
fn place<'a, T>(
    index: &mut HashMap<(String, String), usize>,
    key: (String, String),
    list: &'a mut Vec<T>,
    most: usize,
    new: impl FnOnce() -> T,
) -> Option<&'a mut T> {
    let at = match index.get(&key) {
        Some(at) => *at,
        None if list.len() == most => return None,
        None => {
            index.insert(key, list.len());
            list.push(new());
            list.len() - 1
        }
    };
    list.get_mut(at)
}

#[cfg(test)]
mod tests {
    use super::super::{Reading, ServedRequest};
    use super::*;

    fn served(host: &str, source: &str, ms: u64, id: &str) -> Row {
        Row::Served(ServedRequest {
            host: host.to_owned(),
            source: source.to_owned(),
            total: Some(Nanos(ms * 1_000_000)),
            views: (source == "rails").then_some(Nanos(1)),
            id: id.to_owned(),
            ..ServedRequest::default()
        })
    }

    fn side(rows: &[Row]) -> Side {
        let mut side = Side::new();
        rows.iter().for_each(|row| side.add(row));
        side
    }

    #[test]
    fn hosts_and_logs_are_separate_and_merge() {
        let rows = [
            served("a", "nginx", 20, ""),
            served("a", "nginx", 20, ""),
            served("a", "nginx", 20, ""),
            served("a", "rails", 10, ""),
            served("b", "rails", 30, ""),
        ];
        let side = side(&rows);
        let logs: Vec<(&str, &str, u64)> =
            side.logs().iter().map(|log| (&*log.host, &*log.source, log.requests)).collect();
        assert_eq!(logs, [("a", "nginx", 3), ("a", "rails", 1), ("b", "rails", 1)]);
        let all = side.applications().unwrap();
        assert_eq!(
            (all.source.as_str(), all.requests, all.total.mean()),
            ("rails", 2, Nanos(20_000_000))
        );
    }

    #[test]
    fn both_sides_of_a_request_meet_by_its_id_in_either_order() {
        let mut side = side(&[served("a", "rails", 10, "x")]);
        side.hit(b"x", Nanos(12_000_000));
        side.hit(b"y", Nanos(25_000_000));
        side.add(&served("a", "rails", 20, "y"));
        side.hit(b"", Nanos(1));
        assert_eq!(
            side.network_and_queue().map(|times| (times.count(), times.sum())),
            Some((2, 7_000_000))
        );
        let mut other = Side::new();
        other.hit(b"z", Nanos(9_000_000));
        side.add(&served("a", "rails", 9, "z"));
        other.merge(&side);
        assert_eq!(other.network_and_queue().map(Histogram::count), Some(3));
        other.add(&served("a", "rails", 1, "z"));
        assert_eq!(
            other.network_and_queue().map(Histogram::count),
            Some(3),
            "a pair is one of two"
        );
    }

    #[test]
    fn what_lies_between_is_of_the_applications_log_whichever_comes_first() {
        let (nginx, rails) = (served("a", "nginx", 20, "x"), served("a", "rails", 10, "x"));
        for rows in [[&nginx, &rails], [&rails, &nginx]] {
            // The client's time comes before, between and after the logs'.
            for at in 0..3 {
                let mut side = Side::new();
                for turn in 0..3 {
                    if turn == at {
                        side.hit(b"x", Nanos(25_000_000));
                    }
                    rows.get(turn).into_iter().for_each(|row| side.add(row));
                }
                let beyond = side.network_and_queue().map(|times| (times.count(), times.sum()));
                assert_eq!(beyond, Some((1, 15_000_000)), "{rows:?}, the client at {at}");
            }
        }
    }

    #[test]
    fn everything_is_bounded_and_counted() {
        let mut side = Side::new();
        for n in 0..700 {
            let name = format!("core {n}");
            side.add(&Row::Reading(Reading { source: name.clone(), ..Reading::default() }));
            side.add(&served("a", &name, 1, ""));
            side.add(&Row::Incident(Incident { what: name, ..Incident::default() }));
        }
        assert_eq!(
            (side.sources().len(), side.logs().len(), side.incidents().len()),
            (512, 64, 100)
        );
        let left_out = LeftOut { readings: 188, requests: 636, incidents: 600, ids: 0 };
        assert_eq!(side.left_out(), left_out);
        let mut merged = Side::new();
        merged.merge(&side);
        merged.merge(&side);
        assert_eq!((merged.logs()[0].requests, merged.incidents()[0].1), (2, 2));
        assert_eq!(merged.left_out().readings, 2 * 188);
        assert!(!merged.is_empty() && Side::new().is_empty());
    }
}
