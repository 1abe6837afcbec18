//! `Kept`: the order of a study's runs and what of it is done, in `plan.json`, so that a study that was stopped or killed goes
//! on where it was. The file is replaced whole after each run, so it is never half written.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use serde_json::{Value, json};
use study::plan::{Ended, Slot, order};

use super::configuration::{self, Files};
use super::file::{Mode, Study};
use super::folder::Folder;
use super::makings::{Made, Makings};
use super::record::Record;
use crate::exit_code::{ExitCode, Failed};
use crate::input;

/// The form of the file; another number is another form.
const FORM: u64 = 1;
/// Differences that are told, at most.
const DIFFERENCES_MAX: usize = 10;

/// A study's runs and what became of them.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    identity: Vec<(String, String)>,
    names: Vec<(String, String)>,
    /// What the study is configured with in this call.
    files: Files,
    /// What its runs were made with.
    makings: Makings,
    /// The runs in their order.
    pub(super) slots: Vec<Slot>,
    /// What became of each.
    pub(super) records: Vec<Option<Record>>,
    /// The run that was begun and had not ended when the file was last written.
    pub(super) under_way: Option<usize>,
}

/// Whether to begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// Go on where there is something to go on from.
    GoOn,
    /// Whatever an earlier study made here is removed.
    Fresh,
}

impl Kept {
    /// Opens a folder's plan for this study. Failed runs are to be done again, as is the one that was under way.
    ///
    /// # Errors
    /// The folder is of another study, or its plan cannot be read or written.
    pub(super) fn open(
        folder: &Folder,
        study: &Study,
        mode: Mode,
        left_out: &[usize],
        begin: Begin,
    ) -> Result<Self, Failed> {
        let path = folder.plan();
        // What no study made is not ours to remove.
        if folder.is_used() && !is_of_a_study(&path) {
            let text = format!(
                "{}: holds results and no plan.json of a study; choose another folder",
                folder.out.display()
            );
            return Err(Failed { code: ExitCode::Input, error: anyhow!(text) });
        }
        if begin == Begin::Fresh {
            folder.clear()?;
        }
        let slots = order(&study.repeated(left_out), study.seed);
        let names = slots.iter().map(|slot| names_of(study, slot)).collect();
        let records = vec![None; slots.len()];
        let identity = identity(study, mode, left_out);
        let (files, makings) = (configuration::files(folder, study), Makings::default());
        let mut kept =
            Self { path, identity, names, files, makings, slots, records, under_way: None };
        if kept.path.exists() {
            let document = input::read_whole(&kept.path.display().to_string())?;
            kept.take(&document).map_err(|problem| Failed {
                code: ExitCode::Input,
                error: anyhow!("{} {problem}", kept.path.display()),
            })?;
        }
        kept.save()?;
        Ok(kept)
    }

    /// How each run ended.
    #[must_use]
    pub(super) fn ended(&self) -> Vec<Option<Ended>> {
        self.records.iter().map(|record| record.as_ref().map(|record| record.ended)).collect()
    }

    /// How many have ended.
    #[must_use]
    pub(super) fn done(&self) -> usize {
        self.records.iter().flatten().count()
    }

    /// Takes in what became of a run of this call, whose servers said these versions.
    pub(super) fn put(&mut self, at: usize, mut record: Record, versions: &[(String, String)]) {
        if record.ended == Ended::Measured {
            self.makings.note(&mut record, &self.files, versions);
        }
        self.records[at] = Some(record);
        self.under_way = None;
    }

    /// What a variant's servers said of their versions when the last of its runs was measured; `None` where that is not known.
    #[must_use]
    pub(super) fn versions(&self, variant: usize) -> Option<&[(String, String)]> {
        let runs = self.slots.iter().zip(&self.records);
        let runs = runs.filter(|(slot, _)| slot.cell.variant == variant);
        let records = runs.filter_map(|(_, record)| measured(record.as_ref()));
        self.makings.versions(records.max_by_key(|record| record.began)?)
    }

    /// What the runs that were measured do not have in common though they should, a sentence each.
    #[must_use]
    pub(super) fn unlike(&self) -> Vec<String> {
        let runs = self.records.iter().zip(&self.names).enumerate();
        let made = runs.filter_map(|(at, (record, (_, variant)))| {
            let record = measured(record.as_ref())?;
            Some(Made { number: at + 1, variant: variant.as_str(), record })
        });
        self.makings.unlike(&made.collect::<Vec<_>>())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written; the one before is as it was.
    pub(super) fn save(&self) -> Result<(), Failed> {
        let runs = self.slots.iter().zip(&self.names).zip(&self.records);
        let runs: Vec<Value> = runs
            .map(|((slot, (workload, variant)), record)| {
                json!({
                    "workload": workload,
                    "variant": variant,
                    "repeat": slot.repeat,
                    "record": record.as_ref().map(Record::written),
                })
            })
            .collect();
        let document = json!({
            "brunt_study": FORM,
            "study": pairs_written(&self.identity),
            "made_with": self.makings.written(),
            "under_way": self.under_way,
            "runs": runs,
        });
        replace(&self.path, format!("{document:#}\n").as_bytes())
    }

    /// Takes over what a file says is done.
    fn take(&mut self, document: &[u8]) -> anyhow::Result<()> {
        let no_plan = || anyhow!("is no plan of brunt study (-fresh begins anew)");
        let plan: Value = serde_json::from_slice(document).map_err(|_| no_plan())?;
        if plan["brunt_study"] != FORM {
            return Err(no_plan());
        }
        let before = pairs_of(&plan["study"]).ok_or_else(no_plan)?;
        let differences = differences(&before, &self.identity);
        if !differences.is_empty() {
            let list = differences.join("\n  ");
            return Err(anyhow!(
                "is of another study (-fresh removes it and begins anew):\n  {list}"
            ));
        }
        let runs = plan["runs"].as_array().filter(|runs| runs.len() == self.slots.len());
        for (number, run) in runs.ok_or_else(no_plan)?.iter().enumerate() {
            let (workload, variant) = &self.names[number];
            let same = run["workload"] == workload.as_str() && run["variant"] == variant.as_str();
            if !same || run["repeat"] != self.slots[number].repeat {
                return Err(no_plan());
            }
            let record = match &run["record"] {
                Value::Null => None,
                record => Some(Record::read(record).ok_or_else(no_plan)?),
            };
            self.records[number] = record.filter(|record| record.ended == Ended::Measured);
        }
        self.makings = Makings::read(&plan["made_with"]);
        self.under_way =
            plan["under_way"].as_u64().map(|at| at as usize).filter(|at| *at < self.slots.len());
        Ok(())
    }
}

/// The record of a run that was measured.
fn measured(record: Option<&Record>) -> Option<&Record> {
    record.filter(|record| record.ended == Ended::Measured)
}

/// Names with values, as they are written.
pub(super) fn pairs_written(list: &[(String, String)]) -> Value {
    list.iter().map(|(name, value)| json!([name, value])).collect()
}

/// The same read again.
pub(super) fn pairs_of(list: &Value) -> Option<Vec<(String, String)>> {
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    list.as_array()?.iter().map(pair).collect()
}

/// Replaces a file whole.
///
/// # Errors
/// It cannot be written; the one before is as it was.
pub(super) fn replace(path: &Path, document: &[u8]) -> Result<(), Failed> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let write = || {
        let mut file = fs::File::create(&beside)?;
        file.write_all(document)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    write().map_err(|error| anyhow!("writing {}: {}", path.display(), input::reason(&error)).into())
}

/// Whether this file is the plan of a study, be it another's.
fn is_of_a_study(path: &Path) -> bool {
    let plan = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    plan.is_some_and(|plan| plan.get("brunt_study").is_some())
}

fn names_of(study: &Study, slot: &Slot) -> (String, String) {
    let workload = study.workloads[slot.cell.workload].name.clone();
    (workload, study.variants[slot.cell.variant].name.clone())
}

/// What must be the same for runs to be of one study.
fn identity(study: &Study, mode: Mode, left_out: &[usize]) -> Vec<(String, String)> {
    let names: Vec<&str> = left_out.iter().map(|at| study.variants[*at].name.as_str()).collect();
    let form = if mode == Mode::Quick { "quick" } else { "full" };
    let own = [("form", form.to_owned()), ("variants left out", names.join(", "))];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    own.chain(study.facts.iter().cloned()).collect()
}

/// In what two studies differ, a line each.
fn differences(before: &[(String, String)], now: &[(String, String)]) -> Vec<String> {
    let value = |of: &[(String, String)], name: &str| {
        of.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let shown = |value: Option<String>| {
        value.map_or("nothing".to_owned(), |value| format!("\"{}\"", value.escape_debug()))
    };
    let gone = before.iter().filter(|(name, _)| value(now, name).is_none());
    let mut lines: Vec<String> = now
        .iter()
        .chain(gone)
        .map(|(name, _)| (name, value(before, name), value(now, name)))
        .filter(|(_, was, is)| was != is)
        .map(|(name, was, is)| format!("{name} was {} and is {}", shown(was), shown(is)))
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
    fn what_changed_is_told() {
        let before = pairs(&[("a", "1"), ("b", "2"), ("gone", "x")]);
        let now = pairs(&[("a", "1"), ("b", "3"), ("new", "y")]);
        let told = [
            "b was \"2\" and is \"3\"",
            "new was nothing and is \"y\"",
            "gone was \"x\" and is nothing",
        ];
        assert_eq!(differences(&before, &now), told);
        assert!(differences(&now, &now).is_empty());
        let many: Vec<_> = (0..15).map(|n| (n.to_string(), String::new())).collect();
        assert_eq!(differences(&[], &many).last().unwrap(), "and 5 more");
    }
}
