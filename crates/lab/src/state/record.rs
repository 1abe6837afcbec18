//! `RunRecord`: what `plan.json` stores of a run that has ended, beside its results.

use serde_json::{Value, json};
use stdx::Nanos;
use study::plan::RunOutcome;

/// Stands for the version of a server that did not print it.
pub(crate) const UNKNOWN_VERSION: &str = "unknown";

/// A run that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunRecord {
    pub(crate) ended: RunOutcome,
    /// Why it failed; empty where it did not.
    pub(crate) reason: String,
    /// When it started, Unix time in nanoseconds.
    pub(crate) began: i64,
    /// From its start until its servers had stopped.
    pub(crate) took: Nanos,
    /// From its start until its servers were ready.
    pub(crate) start: Nanos,
    /// The exit code of each load generator; -1 if a signal ended it.
    pub(crate) codes: Vec<i32>,
    /// The machine's load average before it; `None` if the system does not provide it.
    pub(crate) load_before: Option<f64>,
    /// The version of brunt that made it; empty if unknown.
    pub(crate) brunt: String,
    /// The index of its set of configuration files; `None` if not stored.
    pub(crate) files: Option<usize>,
    /// The index of the set of its servers' versions; `None` if not stored.
    pub(crate) versions: Option<usize>,
    /// Remarks for the report.
    pub(crate) notes: Vec<String>,
}

impl RunRecord {
    /// A run that starts at this Unix time (ns), with nothing known of it yet.
    #[must_use]
    pub(crate) fn started_at(unix_ns: i64) -> Self {
        Self {
            ended: RunOutcome::Measured,
            reason: String::new(),
            began: unix_ns,
            took: Nanos::ZERO,
            start: Nanos::ZERO,
            codes: Vec::new(),
            load_before: None,
            brunt: String::new(),
            files: None,
            versions: None,
            notes: Vec::new(),
        }
    }

    /// As it is stored.
    #[must_use]
    pub(crate) fn to_json(&self) -> Value {
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

    /// A stored record; `None` for anything else.
    #[must_use]
    pub(crate) fn from_json(value: &Value) -> Option<Self> {
        let ended = match value["state"].as_str()? {
            "measured" => RunOutcome::Measured,
            "failed" => RunOutcome::Failed,
            _ => return None,
        };
        let codes = value["codes"].as_array()?.iter();
        let notes = value["notes"].as_array()?.iter();
        let index = |key: &str| value[key].as_u64().map(|at| at as usize);
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
            files: index("files"),
            versions: index("versions"),
            notes: notes.map(|note| Some(note.as_str()?.to_owned())).collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let record = RunRecord {
            ended: RunOutcome::Failed,
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
        assert_eq!(RunRecord::from_json(&record.to_json()), Some(record.clone()));
        let unknown = RunRecord { load_before: None, ended: RunOutcome::Measured, ..record };
        assert_eq!(RunRecord::from_json(&unknown.to_json()), Some(unknown));
        for wrong in [json!({}), json!({"state": "x"}), json!({"state": "failed"}), json!(3)] {
            assert_eq!(RunRecord::from_json(&wrong), None);
        }
    }
}
