//! The server's side: what was read of its machine, what its logs say of each request, and what went wrong with either, as
//! rows; [`Side`] is what they come to.
//! Rows of the result stream, beside the hits. Times are Unix time in nanoseconds, since a log and a load generator share
//! nothing else; on another machine's clock they are shifted onto the generator's before they come here.

mod log;
mod measure;
mod request_join;
mod side;

use stdx::Nanos;

pub use log::{ENDPOINTS_MAX, Endpoint, LOGS_MAX, Log, LogCell};
pub use measure::{MEASURES_MAX, Measure, SourceSummary};
pub use request_join::IDS_MAX;
pub use side::{INCIDENTS_MAX, LeftOut, SOURCES_MAX, Side};

/// One row of the server's side.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// A source was read.
    Reading(Reading),
    /// A request in a log.
    Served(ServedRequest),
    /// A problem with a source.
    Incident(Incident),
}

/// One source, read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// When it was read.
    pub at: i64,
    /// The machine that was watched, by its name.
    pub host: String,
    /// What was read: `machine`, `core 0`, `process 4711 puma`, `tree 4711 puma`, `cgroup /web`, `scrape http://…`.
    pub source: String,
    /// Measures by name, in the order read. Shares are 0 to 1, sizes bytes, flows per second, times seconds.
    pub values: Vec<(String, f64)>,
}

impl Reading {
    /// The measure of this name.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// A request as recorded in the server's log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServedRequest {
    /// When it was completed: where the log has no clock, when its line was read.
    pub at: i64,
    /// The machine that served it, by its name.
    pub host: String,
    /// The log: `rails`, `nginx`, or the name given to a log of another form.
    pub source: String,
    /// The request's method; empty where the log does not say.
    pub method: String,
    /// The request's path and query; empty where the log does not say.
    pub path: String,
    /// The response's status; 0 where the log does not say.
    pub status: u16,
    /// How long the server took; absent where the log does not say.
    pub total: Option<Nanos>,
    /// How much of it went into rendering views.
    pub views: Option<Nanos>,
    /// How much of it went into the database.
    pub database: Option<Nanos>,
    /// How long the request waited before the server took it up.
    pub queue: Option<Nanos>,
    /// The request's id, as both the log and the response's headers have it; empty where the log does not say.
    pub id: String,
}

/// A problem with a source: it went away, was truncated, or came back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Incident {
    /// When it was noticed.
    pub at: i64,
    /// The machine that was watched, by its name.
    pub host: String,
    /// The source, named as in [`Reading`], or a log's path.
    pub source: String,
    /// What happened, in a sentence without a full stop.
    pub what: String,
}

impl Row {
    /// When it was seen.
    #[must_use]
    pub fn at(&self) -> i64 {
        match self {
            Self::Reading(reading) => reading.at,
            Self::Served(served) => served.at,
            Self::Incident(incident) => incident.at,
        }
    }

    /// The same, `offset` nanoseconds later: another machine's clock brought onto ours.
    #[must_use]
    pub fn shifted(mut self, offset: i64) -> Self {
        let at = match &mut self {
            Self::Reading(reading) => &mut reading.at,
            Self::Served(served) => &mut served.at,
            Self::Incident(incident) => &mut incident.at,
        };
        *at = at.saturating_add(offset);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_every_kind_of_row() {
        let rows = [
            Row::Reading(Reading { at: 10, ..Reading::default() }),
            Row::Served(ServedRequest { at: 10, ..ServedRequest::default() }),
            Row::Incident(Incident { at: 10, ..Incident::default() }),
        ];
        for row in rows {
            assert_eq!(row.clone().shifted(-3).at(), 7);
            assert_eq!(row.shifted(i64::MAX).at(), i64::MAX);
        }
    }

    #[test]
    fn a_reading_is_found_by_name() {
        let values = vec![("load1".to_owned(), 0.5), ("cpu".to_owned(), 2.0)];
        let reading = Reading { values, ..Reading::default() };
        assert_eq!(reading.value("cpu"), Some(2.0));
        assert_eq!(reading.value("rss"), None);
    }
}
