//! Rows of the server's side as native rows: numbers and names in columns, the rest as JSON in `note`. Unknown keys are skipped
//! and missing ones are empty, so that older and newer files read.

use std::fmt::Write;

use metrics::server::{Incident, Reading, Row, ServedRequest};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use stdx::Nanos;

/// A row of the server's side, as columns.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Observed<'a> {
    pub(crate) kind: u8,
    /// Unix time, ns; of a request, when the server began it.
    pub(crate) timestamp: i64,
    /// How long the server took, ns; 0 but for a request.
    pub(crate) latency: i64,
    pub(crate) code: u16,
    pub(crate) method: &'a str,
    pub(crate) url: &'a str,
    /// The source.
    pub(crate) name: &'a str,
}

/// The kind of a row in which a source was read.
pub(crate) const KIND_READING: u8 = 2;
/// The kind of a row with a request of a log.
pub(crate) const KIND_SERVED: u8 = 3;
/// The kind of a row with a source's incident.
pub(crate) const KIND_INCIDENT: u8 = 4;

/// The row's columns, and its note.
pub(crate) fn encode(row: &Row) -> (Observed<'_>, String) {
    match row {
        Row::Reading(reading) => {
            let kind = KIND_READING;
            let (timestamp, name) = (reading.at, reading.source.as_str());
            (Observed { kind, timestamp, name, ..Observed::default() }, reading_note(reading))
        }
        Row::Served(served) => (served_columns(served), served_note(served)),
        Row::Incident(incident) => {
            let kind = KIND_INCIDENT;
            let (timestamp, name) = (incident.at, incident.source.as_str());
            let note = json!({ "host": incident.host, "what": incident.what });
            (Observed { kind, timestamp, name, ..Observed::default() }, note.to_string())
        }
    }
}

fn served_columns(served: &ServedRequest) -> Observed<'_> {
    let total = served.total.unwrap_or(Nanos::ZERO);
    let latency = i64::try_from(total.0).unwrap_or(i64::MAX);
    Observed {
        kind: KIND_SERVED,
        timestamp: served.at.saturating_sub(latency),
        latency,
        code: served.status,
        method: &served.method,
        url: &served.path,
        name: &served.source,
    }
}

/// The values keep their order, which `serde_json`'s own maps do not.
fn reading_note(reading: &Reading) -> String {
    let mut note = format!("{{\"host\":{},\"values\":{{", json!(reading.host));
    for (number, (name, value)) in reading.values.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(note, "{comma}{}:", json!(name)).expect("a String takes everything");
        write_number(&mut note, *value);
    }
    note.push_str("}}");
    note
}

/// JSON has no infinities and no NaN: they are written as text.
fn write_number(note: &mut String, value: f64) {
    const WHOLE_MAX: f64 = 1e15;
    let written = if !value.is_finite() {
        write!(note, "\"{value}\"")
    } else if value.fract() == 0.0 && value.abs() < WHOLE_MAX {
        write!(note, "{}", value as i64)
    } else {
        write!(note, "{}", json!(value))
    };
    written.expect("a String takes everything");
}

fn served_note(served: &ServedRequest) -> String {
    let mut note = json!({ "host": served.host });
    let times = [("views", served.views), ("database", served.database), ("queue", served.queue)];
    for (key, time) in times {
        if let Some(time) = time {
            note[key] = time.0.into();
        }
    }
    // A latency of 0 is a time as well.
    if served.total.is_none() {
        note["untimed"] = true.into();
    }
    if !served.id.is_empty() {
        note["id"] = served.id.as_str().into();
    }
    note.to_string()
}

/// The row of such columns and such a note.
///
/// # Errors
/// The note is no JSON object; the reason.
pub(crate) fn decode(columns: &Observed<'_>, note: &str) -> Result<Row, String> {
    let note: Note = serde_json::from_str(note).map_err(|error| error.to_string())?;
    let text = |key: &str| note.rest[key].as_str().unwrap_or_default().to_owned();
    let time = |key: &str| note.rest[key].as_u64().map(Nanos);
    let (host, source) = (text("host"), columns.name.to_owned());
    let at = columns.timestamp;
    Ok(match columns.kind {
        KIND_READING => Row::Reading(Reading { at, host, source, values: note.values }),
        KIND_SERVED => Row::Served(ServedRequest {
            at: at.saturating_add(columns.latency),
            host,
            source,
            method: columns.method.to_owned(),
            path: columns.url.to_owned(),
            status: columns.code,
            total: (note.rest["untimed"] != true).then(|| Nanos(columns.latency.max(0) as u64)),
            views: time("views"),
            database: time("database"),
            queue: time("queue"),
            id: text("id"),
        }),
        _ => Row::Incident(Incident { at, host, source, what: text("what") }),
    })
}

/// A note with its values in their order.
struct Note {
    values: Vec<(String, f64)>,
    rest: Value,
}

/// The values of a note, in their order.
struct Values(Vec<(String, f64)>);

impl<'de> Deserialize<'de> for Note {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(NoteVisitor)
    }
}

struct NoteVisitor;

impl<'de> Visitor<'de> for NoteVisitor {
    type Value = Note;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Note, A::Error> {
        let mut note = Note { values: Vec::new(), rest: json!({}) };
        while let Some(key) = map.next_key::<String>()? {
            if key == "values" {
                note.values = map.next_value::<Values>()?.0;
            } else {
                note.rest[key] = map.next_value()?;
            }
        }
        Ok(note)
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ValuesVisitor)
    }
}

struct ValuesVisitor;

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Values;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object of numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
        let mut values = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            let text = || value.as_str().and_then(|text| text.parse().ok());
            values.push((name, value.as_f64().or_else(text).unwrap_or(f64::NAN)));
        }
        Ok(Values(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(row: &Row) {
        let (columns, note) = encode(row);
        assert_eq!(decode(&columns, &note).as_ref(), Ok(row), "{note}");
    }

    #[test]
    fn leads_back() {
        let (host, source) = ("web \"1\"".to_owned(), "machine".to_owned());
        let values = [("z", 0.1), ("a{b=\"c\"}", -3.0), ("m", 1e300), ("i", f64::INFINITY)];
        let values = values.map(|(name, value)| (name.to_owned(), value)).to_vec();
        check(&Row::Reading(Reading { at: 7, host: host.clone(), source: source.clone(), values }));
        let what = "gone\nfor good".to_owned();
        check(&Row::Incident(Incident { at: -7, host: host.clone(), source, what }));
        let mut served = ServedRequest {
            at: 1_700_000_000_000_000_000,
            host,
            source: "rails".into(),
            method: "GET".into(),
            path: "/a?b=\u{1}".into(),
            status: 404,
            total: Some(Nanos(1_500_000)),
            ..ServedRequest::default()
        };
        check(&Row::Served(served.clone()));
        served.total = Some(Nanos(0));
        check(&Row::Served(served.clone()));
        served.total = None;
        served.views = Some(Nanos(0));
        served.database = Some(Nanos(u64::MAX));
        served.queue = Some(Nanos(3));
        served.id = "6f0c".into();
        check(&Row::Served(served));
    }

    #[test]
    fn a_reading_is_what_the_reference_says() {
        let values = vec![("load1".to_owned(), 0.5), ("rss".to_owned(), 4096.0)];
        let row = Row::Reading(Reading { host: "h".into(), values, ..Reading::default() });
        assert_eq!(encode(&row).1, r#"{"host":"h","values":{"load1":0.5,"rss":4096}}"#);
    }

    #[test]
    fn tolerates_what_is_missing_and_refuses_what_is_wrong() {
        for kind in [KIND_READING, KIND_SERVED, KIND_INCIDENT] {
            let columns = Observed { kind, ..Observed::default() };
            assert!(decode(&columns, "{\"later\":[1]}").is_ok(), "{kind}");
            for note in ["", "[]", "{\"values\":7}", "{"] {
                assert!(decode(&columns, note).is_err(), "{kind} {note}");
            }
        }
        let columns = Observed { kind: KIND_READING, ..Observed::default() };
        let row = decode(&columns, "{\"values\":{\"a\":null,\"b\":true}}").unwrap();
        let Row::Reading(reading) = row else { panic!("{row:?}") };
        assert!(reading.values.iter().all(|(_, value)| value.is_nan()));
    }
}
