//! `Provenance`: what runs were made with: configuration files, versions of servers, and the version of brunt. It finds the
//! differences among the measured runs of a study. A change that was undone before the next run leaves no trace.

use serde_json::{Value, json};

use super::config_files::{changes, summarize};
use super::pairs::{pairs_from_json, pairs_to_json};
use super::record::{RunRecord, UNKNOWN_VERSION};

/// Distinct sets of files that are stored, at most.
const FILE_SETS_MAX: usize = 20;
/// Distinct sets of versions that are stored, at most: each variant has its own.
const VERSION_SETS_MAX: usize = 200;
/// Ranges of runs in a sentence, at most.
const RANGES_MAX: usize = 10;

/// Sets of names with values, each distinct set once. Records hold indices into them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct InternedSets(Vec<Vec<(String, String)>>);

impl InternedSets {
    /// The index of a set, which is added if it is new; `None` if `max` sets are stored already.
    fn intern(&mut self, set: &[(String, String)], max: usize) -> Option<usize> {
        let known = self.0.iter().position(|one| one.as_slice() == set);
        if known.is_some() || self.0.len() >= max {
            return known;
        }
        self.0.push(set.to_vec());
        Some(self.0.len() - 1)
    }

    fn to_json(&self) -> Vec<Value> {
        self.0.iter().map(|set| pairs_to_json(set)).collect()
    }

    fn from_json(list: &Value) -> Self {
        let sets = list.as_array().into_iter().flatten();
        // A set that cannot be read keeps its index, so that the others keep theirs.
        Self(sets.map(|set| pairs_from_json(set).unwrap_or_default()).collect())
    }
}

/// What the measured runs of a study were made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Provenance {
    files: InternedSets,
    /// Of the servers of one variant each.
    versions: InternedSets,
}

/// A measured run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredRun<'a> {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// Its variant's name.
    pub(crate) variant: &'a str,
    pub(crate) record: &'a RunRecord,
}

impl Provenance {
    /// As it is stored in `plan.json`.
    #[must_use]
    pub(crate) fn to_json(&self) -> Value {
        json!({ "files": self.files.to_json(), "versions": self.versions.to_json() })
    }

    /// As it was stored; empty where it was not.
    #[must_use]
    pub(crate) fn from_json(value: &Value) -> Self {
        Self {
            files: InternedSets::from_json(&value["files"]),
            versions: InternedSets::from_json(&value["versions"]),
        }
    }

    /// Stores what a run was made with: these files, and these versions of its servers.
    pub(crate) fn note(
        &mut self,
        record: &mut RunRecord,
        files: &[(String, String)],
        versions: &[(String, String)],
    ) {
        record.files = self.files.intern(files, FILE_SETS_MAX);
        record.versions = self.versions.intern(versions, VERSION_SETS_MAX);
    }

    /// The versions of the servers of a run; `None` if they are unknown.
    #[must_use]
    pub(crate) fn versions(&self, record: &RunRecord) -> Option<&[(String, String)]> {
        self.versions.0.get(record.versions?).map(Vec::as_slice)
    }

    /// How these runs differ in what they should have in common, a sentence each.
    #[must_use]
    pub(crate) fn differences(&self, runs: &[MeasuredRun<'_>]) -> Vec<String> {
        let mut sentences = self.file_differences(runs);
        sentences.extend(unknown(runs, |record| record.files, "which files there were"));
        sentences.extend(brunt_versions(runs));
        sentences.extend(self.version_differences(runs));
        sentences.extend(unknown(runs, |record| record.versions, "which versions servers had"));
        sentences
    }

    /// How other sets of files differ from the first one.
    fn file_differences(&self, runs: &[MeasuredRun<'_>]) -> Vec<String> {
        let sets = &self.files.0;
        // Sets may differ only in files that were not read.
        let alike = |at: usize| (0..at).find(|one| changes(&sets[*one], &sets[at]).is_empty());
        let alike: Vec<usize> = (0..sets.len()).map(|at| alike(at).unwrap_or(at)).collect();
        let set = |run: &MeasuredRun<'_>| Some((*alike.get(run.record.files?)?, run.number));
        let mut made = groups(runs.iter().filter_map(set));
        // Sets stand in the order of their first use; a run that failed is repeated after runs of a later number.
        made.sort_by_key(|(at, _)| *at);
        let Some(((first, before), rest)) = made.split_first() else { return Vec::new() };
        let other = |(at, runs): &(usize, Vec<usize>)| {
            let list = summarize(changes(&sets[*first], &sets[*at]));
            format!("{} made with other files than {}: {list}", plural_verb(runs), named(before))
        };
        rest.iter().map(other).collect()
    }

    /// Servers with different versions in different runs.
    fn version_differences(&self, runs: &[MeasuredRun<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        for run in runs {
            let servers = self.versions(run.record).unwrap_or_default();
            for (at, (server, version)) in servers.iter().enumerate() {
                // An unknown version may be the same one. Servers of a variant may share a name.
                if version != UNKNOWN_VERSION {
                    let key = (run.variant, at, server.as_str());
                    found.push((key, (version.as_str(), run.number)));
                }
            }
        }
        let several = |((variant, _, server), found): ((&str, usize, &str), Vec<(&str, usize)>)| {
            let versions = groups(found);
            let list =
                versions.iter().map(|(version, runs)| format!("\"{version}\" in {}", named(runs)));
            let list = list.collect::<Vec<_>>().join(", ");
            (versions.len() > 1).then(|| format!("{server} of {variant} was {list}"))
        };
        groups(found).into_iter().filter_map(several).collect()
    }
}

/// The versions of brunt, if there are several.
fn brunt_versions(runs: &[MeasuredRun<'_>]) -> Option<String> {
    let made = runs.iter().map(|run| (run.record.brunt.as_str(), run.number));
    let made = groups(made.filter(|(version, _)| !version.is_empty()));
    let ((version, first), rest) = made.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let rest = rest.iter().map(|(version, runs)| format!(", {} by {version}", named(runs)));
    Some(format!("{} made by brunt {version}{}", plural_verb(first), rest.collect::<String>()))
}

/// Runs without a property that others have: there was no room to store it.
fn unknown(
    runs: &[MeasuredRun<'_>],
    index: impl Fn(&RunRecord) -> Option<usize>,
    what: &str,
) -> Option<String> {
    let (known, unknown): (Vec<&MeasuredRun<'_>>, Vec<&MeasuredRun<'_>>) =
        runs.iter().partition(|run| index(run.record).is_some());
    let unknown: Vec<usize> = unknown.iter().map(|run| run.number).collect();
    let differ = !known.is_empty() && !unknown.is_empty();
    differ.then(|| format!("{what} is not known of {}", named(&unknown)))
}

/// The values of each key, in the order in which keys occur.
fn groups<K: PartialEq, T>(pairs: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in pairs {
        match groups.iter().position(|(known, _)| *known == key) {
            Some(at) => groups[at].1.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups
}

/// `run 4`, `runs 1 to 3`.
fn named(runs: &[usize]) -> String {
    let word = if runs.len() == 1 { "run" } else { "runs" };
    format!("{word} {}", ranges(runs))
}

/// `run 4 was`, `runs 1 to 3 were`.
fn plural_verb(runs: &[usize]) -> String {
    let were = if runs.len() == 1 { "was" } else { "were" };
    format!("{} {were}", named(runs))
}

/// Ascending numbers: `1 to 4, 6`.
fn ranges(numbers: &[usize]) -> String {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for &number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let shown = found.iter().take(RANGES_MAX).map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    let more = if found.len() > RANGES_MAX { " and more" } else { "" };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, text: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), text.to_owned())]
    }

    /// The differences of runs that were made one after the other, each with this content of the file `front`, this version
    /// of the server, and this version of brunt.
    fn found(made: &[(&str, &str, &str)]) -> Vec<String> {
        let mut provenance = Provenance::default();
        let mut records = Vec::new();
        for (front, version, brunt) in made {
            let mut record = RunRecord { brunt: (*brunt).to_owned(), ..RunRecord::started_at(0) };
            provenance.note(&mut record, &pair("front", front), &pair("puma", version));
            records.push(record);
        }
        assert_eq!(Provenance::from_json(&provenance.to_json()), provenance);
        let runs = records.iter().enumerate();
        let runs = runs.map(|(at, record)| MeasuredRun { number: at + 1, variant: "one", record });
        provenance.differences(&runs.collect::<Vec<_>>())
    }

    #[test]
    fn equal_runs_have_no_differences() {
        let same = ("1", "6.4", "0.1.0");
        assert!(found(&[]).is_empty());
        assert!(found(&[same; 3]).is_empty());
        // An unknown version may be the same one.
        assert!(found(&[same, ("1", UNKNOWN_VERSION, ""), same]).is_empty());
    }

    #[test]
    fn each_difference_names_its_runs() {
        let same = ("1", "6.4", "0.1.0");
        let files = ("2", "6.4", "0.1.0");
        let expected = "run 3 was made with other files than runs 1 to 2, 4: front was changed";
        assert_eq!(found(&[same, same, files, same]), [expected], "there and back");
        let third = ("3", "6.4", "0.1.0");
        assert_eq!(found(&[same, files, third]).len(), 2);
        let upgraded = ("1", "6.5", "0.1.0");
        let expected = "puma of one was \"6.4\" in run 1, \"6.5\" in runs 2 to 3";
        assert_eq!(found(&[same, upgraded, upgraded]), [expected]);
        let expected = "run 1 was made by brunt 0.0.9, runs 2 to 3 by 0.1.0";
        assert_eq!(found(&[("1", "6.4", "0.0.9"), same, same]), [expected]);
    }

    #[test]
    fn sets_beyond_the_most_are_named() {
        let prints: Vec<String> = (0..=FILE_SETS_MAX).map(|number| number.to_string()).collect();
        let made: Vec<_> = prints.iter().map(|print| (print.as_str(), "6.4", "0.1.0")).collect();
        let found = found(&made);
        assert_eq!(found.len(), FILE_SETS_MAX);
        assert_eq!(found.last().unwrap(), "which files there were is not known of run 21");
    }

    #[test]
    fn numbers_are_joined_to_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1 to 3, 5, 7 to 8");
        assert_eq!(ranges(&[]), "");
        let odd: Vec<usize> = (0..30).map(|n| 2 * n).collect();
        assert!(ranges(&odd).ends_with("16, 18 and more"));
    }
}
