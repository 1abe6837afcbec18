//! `Rows`: the rows of one sample, each with the machine's name. Incidents are bounded.

use std::borrow::Cow;

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

    /// Adds a reading, unless it has no values. It is the door by which what others name enters rows: URLs in sources and in names of
    /// series have neither passwords nor what is to be redacted.
    pub(crate) fn reading(&mut self, at: i64, source: &str, mut values: Values) {
        if !values.is_empty() {
            for (name, _) in &mut values {
                if let Cow::Owned(shown) = stdx::shown_text(name) {
                    *name = shown;
                }
            }
            let (host, source) = (self.host.clone(), stdx::shown_text(source).into_owned());
            self.found.push(Row::Reading(Reading { at, host, source, values }));
        }
    }

    /// Adds what a parser makes of a log, by the same door: targets of requests have neither passwords nor what is to be redacted.
    pub(crate) fn logged(&mut self, parse: impl FnOnce(&mut Vec<Row>)) {
        let before = self.found.len();
        parse(&mut self.found);
        for row in &mut self.found[before..] {
            let Row::Served(served) = row else { continue };
            if let Cow::Owned(shown) = stdx::shown_url(&served.path) {
                served.path = shown;
            }
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
        let what = stdx::shown_text(&what).into_owned();
        let (host, source) = (self.host.clone(), stdx::shown_text(source).into_owned());
        self.found.push(Row::Incident(Incident { at, host, source, what }));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use metrics::server::ServedRequest;

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

    /// Issue 42, F9: what `-redact` and the hiding of passwords do elsewhere did not reach what is watched.
    #[test]
    fn no_row_has_a_secret() {
        const SECRET: &str = "canary42";
        stdx::redact_for_run(Some("secrets"));
        let mut rows = Rows::new("h".into());
        let url = format!("http://kay:{SECRET}@h/metrics?a=1&token={SECRET}");
        let name = format!("requests{{url=\"{url}\",path=\"/x?token={SECRET}\"}}");
        rows.reading(0, &format!("scrape {url}"), vec![(name, 1.0)]);
        rows.incident(0, &format!("scrape {url}"), format!("gives no answer: {url}: refused"));
        let path = format!("/p?a=1&token={SECRET}&u=http://u:{SECRET}@h");
        rows.logged(|rows| {
            rows.push(Row::Served(ServedRequest { path, ..ServedRequest::default() }));
        });
        stdx::redact_for_run(None);
        let found = format!("{:?}", rows.found);
        assert!(!found.contains(SECRET) && found.contains("a=1"), "{found}");
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
        rows.reading(0, "empty", Vec::new());
        assert_eq!(rows.found.len(), INCIDENTS_MAX as usize);
    }
}
