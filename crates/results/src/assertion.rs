//! A script's thresholds and checks as native rows: the metric or the check in `name`, the rest as JSON in `note`. Unknown keys
//! are skipped and missing ones are empty, so that older and newer files read.

use metrics::tally::{Assertion, Check, Contains, Kind, ThresholdOutcome};
use serde_json::{Value, json};

use crate::observed::Observed;

/// The kind of a row with the result of a threshold.
pub(crate) const KIND_THRESHOLD: u8 = 5;
/// The kind of a row that says how often a check held.
pub(crate) const KIND_CHECK: u8 = 6;

const KINDS: [Kind; 4] = [Kind::Counter, Kind::Gauge, Kind::Rate, Kind::Trend];
const CONTENTS: [Contains; 3] = [Contains::Default, Contains::Time, Contains::Data];

/// The row's columns, and its note.
pub(crate) fn encode(assertion: &Assertion, timestamp: i64) -> (Observed<'_>, String) {
    match assertion {
        Assertion::Threshold { outcome, kind, contains } => {
            let columns = Observed {
                kind: KIND_THRESHOLD,
                timestamp,
                name: &outcome.metric,
                ..Observed::default()
            };
            let note = json!({
                "source": outcome.source,
                "figure": outcome.figure.map(number),
                "holds": outcome.holds,
                "type": kind.name(),
                "contains": contains.name(),
            });
            (columns, note.to_string())
        }
        Assertion::Check(check) => {
            let columns =
                Observed { kind: KIND_CHECK, timestamp, name: &check.name, ..Observed::default() };
            let note =
                json!({ "group": check.group, "passes": check.passes, "fails": check.fails });
            (columns, note.to_string())
        }
    }
}

/// JSON has no infinities and no NaN: they are written as text.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

/// The threshold or check of such a row.
///
/// # Errors
/// The note is no JSON object; the reason.
pub(crate) fn decode(kind: u8, name: &str, note: &str) -> Result<Assertion, String> {
    let note: Value = serde_json::from_str(note).map_err(|error| error.to_string())?;
    if !note.is_object() {
        return Err("a threshold or check that is no object".to_owned());
    }
    let text = |key: &str| note[key].as_str().unwrap_or_default().to_owned();
    if kind == KIND_CHECK {
        let count = |key: &str| note[key].as_u64().unwrap_or(0);
        let (group, passes, fails) = (text("group"), count("passes"), count("fails"));
        return Ok(Assertion::Check(Check { group, name: name.to_owned(), passes, fails }));
    }
    let figure = &note["figure"];
    let figure = figure.as_f64().or_else(|| figure.as_str()?.parse().ok());
    let (source, holds) = (text("source"), note["holds"] == true);
    let (kind, contains) = (text("type"), text("contains"));
    Ok(Assertion::Threshold {
        outcome: ThresholdOutcome { metric: name.to_owned(), source, figure, holds },
        kind: KINDS.into_iter().find(|known| known.name() == kind).unwrap_or(Kind::Trend),
        contains: CONTENTS
            .into_iter()
            .find(|known| known.name() == contains)
            .unwrap_or(Contains::Default),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(figure: Option<f64>, holds: bool) -> Assertion {
        let (metric, source) = ("http_req_duration{name:\"a\"}".to_owned(), "p(95)<200".to_owned());
        Assertion::Threshold {
            outcome: ThresholdOutcome { metric, source, figure, holds },
            kind: Kind::Trend,
            contains: Contains::Time,
        }
    }

    #[test]
    fn leads_back() {
        let check = Check {
            group: "::outer::inner".to_owned(),
            name: "status \"200\"\n".to_owned(),
            passes: u64::MAX,
            fails: 3,
        };
        for assertion in [
            threshold(Some(312.25), false),
            threshold(Some(f64::INFINITY), true),
            threshold(None, false),
            Assertion::Check(check),
        ] {
            let (columns, note) = encode(&assertion, 7);
            assert_eq!(columns.timestamp, 7);
            assert_eq!(decode(columns.kind, columns.name, &note), Ok(assertion), "{note}");
        }
    }

    #[test]
    fn tolerates_what_is_missing_and_refuses_what_is_wrong() {
        for kind in [KIND_THRESHOLD, KIND_CHECK] {
            assert!(decode(kind, "x", "{\"later\":[1]}").is_ok(), "{kind}");
            for note in ["", "[]", "7", "{"] {
                assert!(decode(kind, "x", note).is_err(), "{kind} {note}");
            }
        }
        let unknown = decode(KIND_THRESHOLD, "x", "{\"source\":\"rate>1\"}").unwrap();
        assert!(!unknown.holds(), "a threshold that says nothing does not hold");
    }
}
