//! `Stats`: what the server counted, as numbers and as the JSON of `/stats`.

use std::fmt;

/// What the server counted since its start, and how it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests whose end was read.
    pub requests: u64,
    /// Answers begun, of whatever status.
    pub answers: u64,
    /// Requests refused with 503 because the queue was full.
    pub refused: u64,
    /// Answers of status 500 that the error rate asked for.
    pub errors: u64,
    /// Connections closed because their bytes were no HTTP.
    pub malformed: u64,
    /// Requests that wait for a worker now.
    pub queue: u64,
    /// The most that ever waited at once.
    pub queue_max: u64,
    /// Requests in service now.
    pub in_service: u64,
    /// Connections open now.
    pub connections: u64,
    /// Connections opened ever.
    pub connections_total: u64,
}

impl fmt::Display for Stats {
    /// One JSON object, one line, its keys named as the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = [
            ("requests", self.requests),
            ("answers", self.answers),
            ("refused", self.refused),
            ("errors", self.errors),
            ("malformed", self.malformed),
            ("queue", self.queue),
            ("queue_max", self.queue_max),
            ("in_service", self.in_service),
            ("connections", self.connections),
            ("connections_total", self.connections_total),
        ];
        for (i, (key, value)) in pairs.iter().enumerate() {
            write!(f, "{}\"{key}\":{value}", if i == 0 { "{" } else { "," })?;
        }
        f.write_str("}")
    }
}
