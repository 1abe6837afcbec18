//! `Checkpoint`: the order of a study's runs and which of them are done, in `plan.json`: a study that was stopped or killed
//! resumes there. The file is replaced as a whole after each run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use cli::{ExitCode, ExitError};
use serde_json::{Value, json};
use study::plan::{RunOutcome, Slot, order};

use super::atomic_file::replace_file;
use super::config_files::{Fingerprints, fingerprints};
use super::folder::StudyFolder;
use super::pairs::{pairs_from_json, pairs_to_json};
use super::provenance::{MeasuredRun, Provenance};
use super::record::RunRecord;
use crate::file::{Mode, Study};

/// The version of the file's format.
const FORMAT: u64 = 1;
/// Differences that an error lists, at most.
const DIFFERENCES_MAX: usize = 10;

/// The runs of a study and their records.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    identity: Vec<(String, String)>,
    names: Vec<(String, String)>,
    /// Configuration files as they are in this call.
    files: Fingerprints,
    /// What the measured runs were made with.
    provenance: Provenance,
    /// The runs in their order.
    pub(crate) slots: Vec<Slot>,
    /// The record of each run that has ended.
    pub(crate) records: Vec<Option<RunRecord>>,
    /// The run that had started and not ended when the file was last written.
    pub(crate) under_way: Option<usize>,
}

/// Whether earlier runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMode {
    /// Measured runs of the same study are not repeated.
    Resume,
    /// The files of an earlier study in the folder are removed.
    Fresh,
}

impl Checkpoint {
    /// Opens the checkpoint of this study in its folder. ExitError runs are repeated, and the one that was under way.
    ///
    /// # Errors
    /// The folder belongs to another study, or `plan.json` cannot be read or written.
    pub(crate) fn open(
        folder: &StudyFolder,
        study: &Study,
        mode: Mode,
        left_out: &[usize],
        start: StartMode,
    ) -> Result<Self, ExitError> {
        let path = folder.plan();
        // Only files of a study may be removed.
        if folder.is_used() && !is_study_plan(&path) {
            let text = format!(
                "{}: holds results and no plan.json of a study; choose another folder",
                folder.out.display()
            );
            return Err(ExitError { code: ExitCode::Input, error: anyhow!(text) });
        }
        if start == StartMode::Fresh {
            folder.clear()?;
        }
        let slots = order(&study.repeated(left_out), study.seed);
        let names = slots.iter().map(|slot| names_of(study, slot)).collect();
        let records = vec![None; slots.len()];
        let identity = identity(study, mode, left_out);
        let (files, provenance) = (fingerprints(folder, study), Provenance::default());
        let mut checkpoint =
            Self { path, identity, names, files, provenance, slots, records, under_way: None };
        if checkpoint.path.exists() {
            let document = cli::input::read_whole(&checkpoint.path.display().to_string())?;
            checkpoint.restore(&document).map_err(|problem| ExitError {
                code: ExitCode::Input,
                error: anyhow!("{} {problem}", checkpoint.path.display()),
            })?;
        }
        checkpoint.save()?;
        Ok(checkpoint)
    }

    /// How each run ended.
    #[must_use]
    pub(crate) fn ended(&self) -> Vec<Option<RunOutcome>> {
        self.records.iter().map(|record| record.as_ref().map(|record| record.ended)).collect()
    }

    /// How many have ended.
    #[must_use]
    pub(crate) fn done(&self) -> usize {
        self.records.iter().flatten().count()
    }

    /// Adds the record of a run of this call, whose servers have these versions.
    pub(crate) fn put(&mut self, at: usize, mut record: RunRecord, versions: &[(String, String)]) {
        if record.ended == RunOutcome::Measured {
            self.provenance.note(&mut record, &self.files, versions);
        }
        self.records[at] = Some(record);
        self.under_way = None;
    }

    /// The versions of a variant's servers when the last of its runs was measured; `None` if they are unknown.
    #[must_use]
    pub(crate) fn versions(&self, variant: usize) -> Option<&[(String, String)]> {
        let runs = self.slots.iter().zip(&self.records);
        let runs = runs.filter(|(slot, _)| slot.cell.variant == variant);
        let records = runs.filter_map(|(_, record)| measured(record.as_ref()));
        self.provenance.versions(records.max_by_key(|record| record.began)?)
    }

    /// How the measured runs differ in what they should have in common, a sentence each.
    #[must_use]
    pub(crate) fn differences(&self) -> Vec<String> {
        let runs = self.records.iter().zip(&self.names).enumerate();
        let measured = runs.filter_map(|(at, (record, (_, variant)))| {
            let record = self::measured(record.as_ref())?;
            Some(MeasuredRun { number: at + 1, variant: variant.as_str(), record })
        });
        self.provenance.differences(&measured.collect::<Vec<_>>())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written; the old file is unchanged.
    pub(crate) fn save(&self) -> Result<(), ExitError> {
        let runs = self.slots.iter().zip(&self.names).zip(&self.records);
        let runs: Vec<Value> = runs
            .map(|((slot, (workload, variant)), record)| {
                json!({
                    "workload": workload,
                    "variant": variant,
                    "repeat": slot.repeat,
                    "record": record.as_ref().map(RunRecord::to_json),
                })
            })
            .collect();
        let document = json!({
            "brunt_study": FORMAT,
            "study": pairs_to_json(&self.identity),
            "made_with": self.provenance.to_json(),
            "under_way": self.under_way,
            "runs": runs,
        });
        replace_file(&self.path, format!("{document:#}\n").as_bytes())
    }

    /// Takes over the records of a file.
    fn restore(&mut self, document: &[u8]) -> anyhow::Result<()> {
        let not_a_plan = || anyhow!("is not a plan of brunt study (-fresh starts a new study)");
        let plan: Value = serde_json::from_slice(document).map_err(|_| not_a_plan())?;
        if plan["brunt_study"] != FORMAT {
            return Err(not_a_plan());
        }
        let before = pairs_from_json(&plan["study"]).ok_or_else(not_a_plan)?;
        let differences = changed_values(&before, &self.identity);
        if !differences.is_empty() {
            let list = differences.join("\n  ");
            return Err(anyhow!(
                "belongs to another study (-fresh removes it and starts a new one):\n  {list}"
            ));
        }
        let runs = plan["runs"].as_array().filter(|runs| runs.len() == self.slots.len());
        for (number, run) in runs.ok_or_else(not_a_plan)?.iter().enumerate() {
            let (workload, variant) = &self.names[number];
            let same = run["workload"] == workload.as_str() && run["variant"] == variant.as_str();
            if !same || run["repeat"] != self.slots[number].repeat {
                return Err(not_a_plan());
            }
            let record = match &run["record"] {
                Value::Null => None,
                record => Some(RunRecord::from_json(record).ok_or_else(not_a_plan)?),
            };
            self.records[number] = record.filter(|record| record.ended == RunOutcome::Measured);
        }
        self.provenance = Provenance::from_json(&plan["made_with"]);
        self.under_way =
            plan["under_way"].as_u64().map(|at| at as usize).filter(|at| *at < self.slots.len());
        Ok(())
    }
}

/// The record of a run that was measured.
fn measured(record: Option<&RunRecord>) -> Option<&RunRecord> {
    record.filter(|record| record.ended == RunOutcome::Measured)
}

/// Whether this file is the plan of a study, be it another's.
fn is_study_plan(path: &Path) -> bool {
    let plan = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    plan.is_some_and(|plan| plan.get("brunt_study").is_some())
}

fn names_of(study: &Study, slot: &Slot) -> (String, String) {
    let workload = study.workloads[slot.cell.workload].name.clone();
    (workload, study.variants[slot.cell.variant].name.clone())
}

/// What must be equal for runs to be of one study.
fn identity(study: &Study, mode: Mode, left_out: &[usize]) -> Vec<(String, String)> {
    let names: Vec<&str> = left_out.iter().map(|at| study.variants[*at].name.as_str()).collect();
    let form = if mode == Mode::Quick { "quick" } else { "full" };
    let own = [("form", form.to_owned()), ("variants left out", names.join(", "))];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(study.facts.iter().map(shown)).collect()
}

/// A value of the study without what is redacted and without passwords of URLs; its name may end with that of a variable. Where
/// something is left out, a fingerprint of the whole says which it was.
fn shown((name, value): &(String, String)) -> (String, String) {
    let shown = hidden(name, value);
    let value = match shown == *value {
        true => shown,
        false => format!("{shown} [{:02x}]", fingerprint(value)),
    };
    (name.clone(), value)
}

/// What may be shown of a value.
fn hidden(name: &str, value: &str) -> String {
    let last = name.rsplit('.').next().unwrap_or(name);
    if stdx::is_redacted(last) {
        return "***".to_owned();
    }
    stdx::shown_text(value).into_owned()
}

/// Eight bits of a text (FNV-1a, folded): of 256 other tokens 255 are another study. More would rule out most guesses of a weak one.
fn fingerprint(text: &str) -> u8 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.to_le_bytes().into_iter().fold(0, |folded, byte| folded ^ byte)
}

/// A value without the fingerprint of what is hidden in it.
fn without_fingerprint(shown: &str) -> &str {
    let cut = shown.strip_suffix(']').and_then(|value| value.rsplit_once(" ["));
    match cut {
        Some((value, hex)) if hex.len() == 2 && value.contains("***") => value,
        _ => shown,
    }
}

/// How two studies differ, a line each.
fn changed_values(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let value = |of: &[(String, String)], name: &str| {
        of.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let quoted = |value: Option<String>| {
        value.map_or("nothing".to_owned(), |value| format!("\"{}\"", value.escape_debug()))
    };
    // Plans hid no passwords once, and then hid them without a fingerprint.
    let same = |name: &str, was: &Option<String>, is: &Option<String>| match (was, is) {
        (Some(was), Some(is)) => {
            was == is
                || shown(&(name.to_owned(), was.clone())).1 == *is
                || (was == without_fingerprint(is) && *was == hidden(name, was))
        }
        (was, is) => was == is,
    };
    let gone = before.iter().filter(|(name, _)| value(now, name).is_none());
    let mut lines: Vec<String> = now
        .iter()
        .chain(gone)
        .map(|(name, _)| (name, value(before, name), value(now, name)))
        .filter(|(name, was, is)| !same(name, was, is))
        .map(|(name, was, is)| (name, was.map(|was| hidden(name, &was)), is))
        .map(|(name, was, is)| format!("{name} was {} and is {}", quoted(was), quoted(is)))
        .collect();
    let more = lines.len().saturating_sub(DIFFERENCES_MAX);
    lines.truncate(DIFFERENCES_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn issue_19_hidden_values_are_told_apart() {
        let of = |value: &str| shown(&("args".to_owned(), value.to_owned())).1;
        let [one, other] = ["bench http://u:SEKRET@h/ x", "bench http://u:OTHER@h/ x"].map(of);
        assert!(one.starts_with("bench http://u:***@h/ x [") && one != other, "{one} {other}");
        assert_eq!(of("bench http://u:SEKRET@h/ x"), one);
        assert_eq!(of("bench http://h/"), "bench http://h/");
        // A plan of before this holds the password, and is of the same study.
        let before = pairs(&[("args", "bench http://u:SEKRET@h/ x")]);
        assert_eq!(changed_values(&before, &pairs(&[("args", &one)])), [""; 0]);
        // One that hid it without a fingerprint may be of either.
        let earlier = pairs(&[("args", "bench http://u:***@h/ x")]);
        assert_eq!(changed_values(&earlier, &pairs(&[("args", &one)])), [""; 0]);
        let [plain, longer] = ["bench", "bench [v2]"].map(|args| pairs(&[("args", args)]));
        assert_eq!(changed_values(&plain, &longer).len(), 1);
        let lines = changed_values(&before, &pairs(&[("args", &other)]));
        assert!(lines.len() == 1 && !lines[0].contains("SEKRET"), "{lines:?}");
    }

    #[test]
    fn changed_values_are_listed() {
        let before = pairs(&[("a", "1"), ("b", "2"), ("gone", "x")]);
        let now = pairs(&[("a", "1"), ("b", "3"), ("new", "y")]);
        let lines = [
            "b was \"2\" and is \"3\"",
            "new was nothing and is \"y\"",
            "gone was \"x\" and is nothing",
        ];
        assert_eq!(changed_values(&before, &now), lines);
        assert!(changed_values(&now, &now).is_empty());
        let many: Vec<_> = (0..15).map(|n| (n.to_string(), String::new())).collect();
        assert_eq!(changed_values(&[], &many).last().unwrap(), "and 5 more");
    }
}
