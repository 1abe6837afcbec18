//! `Record`: what is kept of a run that has ended, beside its results. It is all that a study which goes on needs to know.

use serde_json::{Value, json};
use stdx::Nanos;
use study::plan::Ended;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) ended: Ended,
    /// Why it failed; empty where it did not.
    pub(super) reason: String,
    /// When it began, Unix time in nanoseconds.
    pub(super) began: i64,
    /// From its begin until its servers were stopped.
    pub(super) took: Nanos,
    /// Until its servers were ready.
    pub(super) start: Nanos,
    /// How each load generator ended; -1 for one that a signal ended.
    pub(super) codes: Vec<i32>,
    /// The machine's load average before it; `None` where the system does not tell.
    pub(super) load_before: Option<f64>,
    /// The version of brunt that made it; empty where that was not kept.
    pub(super) brunt: String,
    /// The place of the set of files that it was made with; `None` where that was not kept.
    pub(super) files: Option<usize>,
    /// The place of what its servers said of their versions; `None` where that was not kept.
    pub(super) versions: Option<usize>,
    /// What else is to be known of it.
    pub(super) notes: Vec<String>,
}

impl Record {
    /// As it is kept.
    #[must_use]
    pub(super) fn written(&self) -> Value {
        json!({
            "state": if self.ended.is_failure() { "failed" } else { "measured" },
            "reason": self.reason,
            "began": self.began,
            "took": self.took.0,
            "start": self.start.0,
            "codes": self.codes,
            "load_before": self.load_before,
            "brunt": self.brunt,
            "files": self.files,
            "versions": self.versions,
            "notes": self.notes,
        })
    }

    /// As it was kept; `None` where it cannot have been.
    #[must_use]
    pub(super) fn read(value: &Value) -> Option<Self> {
        let ended = match value["state"].as_str()? {
            "measured" => Ended::Measured,
            "failed" => Ended::Failed,
            _ => return None,
        };
        let codes = value["codes"].as_array()?.iter();
        let notes = value["notes"].as_array()?.iter();
        let place = |key: &str| value[key].as_u64().map(|at| at as usize);
        Some(Self {
            ended,
            reason: value["reason"].as_str()?.to_owned(),
            began: value["began"].as_i64()?,
            took: Nanos(value["took"].as_u64()?),
            start: Nanos(value["start"].as_u64()?),
            codes: codes
                .map(|code| i32::try_from(code.as_i64()?).ok())
                .collect::<Option<Vec<i32>>>()?,
            load_before: value["load_before"].as_f64(),
            brunt: value["brunt"].as_str().unwrap_or_default().to_owned(),
            files: place("files"),
            versions: place("versions"),
            notes: notes.map(|note| Some(note.as_str()?.to_owned())).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let record = Record {
            ended: Ended::Failed,
            reason: "puma ended".into(),
            began: 5,
            took: Nanos(7),
            start: Nanos(1),
            codes: vec![0, -1],
            load_before: Some(0.5),
            brunt: "0.1.0".into(),
            files: Some(2),
            versions: None,
            notes: vec!["a".into()],
        };
        assert_eq!(Record::read(&record.written()), Some(record.clone()));
        let unknown = Record { load_before: None, ended: Ended::Measured, ..record };
        assert_eq!(Record::read(&unknown.written()), Some(unknown));
        for wrong in [json!({}), json!({"state": "x"}), json!({"state": "failed"}), json!(3)] {
            assert_eq!(Record::read(&wrong), None);
        }
    }
}
