//! `Rows`: the rows of one sample, each with the machine's name. Incidents are bounded.

use metrics::server::{Incident, Reading, Row};

/// Incidents of one watcher at most: a server that forks all the time has one for each process.
const INCIDENTS_MAX: u32 = 10_000;

/// What was found and not yet taken.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) host: String,
    pub(crate) found: Vec<Row>,
    incidents: u32,
}

/// Measures by name, in the order read.
pub(crate) type Values = Vec<(String, f64)>;

/// Adds a measure, if there is one.
pub(crate) fn add(values: &mut Values, name: &str, value: Option<f64>) {
    if let Some(value) = value {
        values.push((name.to_owned(), value));
    }
}

impl Rows {
    pub(crate) fn new(host: String) -> Self {
        Self { host, found: Vec::new(), incidents: 0 }
    }

    /// Adds a reading, unless it has no values.
    pub(crate) fn reading(&mut self, at: i64, source: String, values: Values) {
        if !values.is_empty() {
            let host = self.host.clone();
            self.found.push(Row::Reading(Reading { at, host, source, values }));
        }
    }

    /// Adds an incident, until there were too many.
    pub(crate) fn incident(&mut self, at: i64, source: &str, what: impl Into<String>) {
        self.incidents = self.incidents.saturating_add(1);
        let what = match self.incidents {
            0..INCIDENTS_MAX => what.into(),
            INCIDENTS_MAX => "too many incidents: no more are told".to_owned(),
            _ => return,
        };
        let (host, source) = (self.host.clone(), source.to_owned());
        self.found.push(Row::Incident(Incident { at, host, source, what }));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The readings of a source.
    pub(crate) fn readings<'a>(rows: &'a [Row], source: &str) -> Vec<&'a Reading> {
        let of = |row: &'a Row| match row {
            Row::Reading(reading) if reading.source == source => Some(reading),
            _ => None,
        };
        rows.iter().filter_map(of).collect()
    }

    /// The incidents as text.
    pub(crate) fn incidents(rows: &[Row]) -> Vec<String> {
        let of = |row: &Row| match row {
            Row::Incident(Incident { source, what, .. }) => Some(format!("{source}: {what}")),
            _ => None,
        };
        rows.iter().filter_map(of).collect()
    }

    #[test]
    fn incidents_have_an_end() {
        let mut rows = Rows::new("h".into());
        for number in 0..2 * INCIDENTS_MAX {
            rows.incident(0, "s", number.to_string());
        }
        assert_eq!(rows.found.len(), INCIDENTS_MAX as usize);
        assert_eq!(
            incidents(&rows.found).last().unwrap(),
            "s: too many incidents: no more are told"
        );
        rows.reading(0, "empty".into(), Vec::new());
        assert_eq!(rows.found.len(), INCIDENTS_MAX as usize);
    }
}
