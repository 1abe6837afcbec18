//! `Makings`: what runs were made with: the files beside the study, what servers say of their versions, and brunt itself. From
//! what is kept of the runs that were measured it tells in what these are not alike. What was otherwise while no run was made
//! is no matter.

use serde_json::{Value, json};

use super::configuration::{differences, in_words};
use super::kept::{pairs_of, pairs_written};
use super::record::Record;
use super::versions::UNKNOWN;

/// Sets of files that are kept, at most.
const FILE_SETS_MAX: usize = 20;
/// Sets of versions that are kept, at most: each variant's servers say their own.
const VERSION_SETS_MAX: usize = 200;
/// Ranges of runs that are told, at most.
const RANGES_MAX: usize = 10;

/// Sets of names with a text each, every set once. Records hold their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sets(Vec<Vec<(String, String)>>);

impl Sets {
    /// The place of a set, which is taken in where it is new; `None` where there is no room for it.
    fn place(&mut self, set: &[(String, String)], max: usize) -> Option<usize> {
        let known = self.0.iter().position(|one| one.as_slice() == set);
        if known.is_some() || self.0.len() >= max {
            return known;
        }
        self.0.push(set.to_vec());
        Some(self.0.len() - 1)
    }

    fn written(&self) -> Vec<Value> {
        self.0.iter().map(|set| pairs_written(set)).collect()
    }

    fn read(list: &Value) -> Self {
        let sets = list.as_array().into_iter().flatten();
        // One that cannot be read keeps its place, so that the others keep theirs.
        Self(sets.map(|set| pairs_of(set).unwrap_or_default()).collect())
    }
}

/// What all runs were made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Makings {
    files: Sets,
    /// Of a variant's servers each.
    versions: Sets,
}

/// A run that was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Its variant's name.
    pub(super) variant: &'a str,
    pub(super) record: &'a Record,
}

impl Makings {
    /// As they are kept.
    #[must_use]
    pub(super) fn written(&self) -> Value {
        json!({ "files": self.files.written(), "versions": self.versions.written() })
    }

    /// As they were kept; empty where they were not.
    #[must_use]
    pub(super) fn read(value: &Value) -> Self {
        Self { files: Sets::read(&value["files"]), versions: Sets::read(&value["versions"]) }
    }

    /// Notes what a run was made with: these files, and these versions of its servers.
    pub(super) fn note(
        &mut self,
        record: &mut Record,
        files: &[(String, String)],
        versions: &[(String, String)],
    ) {
        record.files = self.files.place(files, FILE_SETS_MAX);
        record.versions = self.versions.place(versions, VERSION_SETS_MAX);
    }

    /// What the servers of a run said of their versions; `None` where that is not known.
    #[must_use]
    pub(super) fn versions(&self, record: &Record) -> Option<&[(String, String)]> {
        self.versions.0.get(record.versions?).map(Vec::as_slice)
    }

    /// What these runs do not have in common though they should, a sentence each.
    #[must_use]
    pub(super) fn unlike(&self, runs: &[Made<'_>]) -> Vec<String> {
        let mut told = self.unlike_files(runs);
        told.extend(unknown(runs, |record| record.files, "which files there were"));
        told.extend(unlike_brunt(runs));
        told.extend(self.unlike_versions(runs));
        told.extend(unknown(runs, |record| record.versions, "which versions servers had"));
        told
    }

    /// The first set of files, and in what others differ from it.
    fn unlike_files(&self, runs: &[Made<'_>]) -> Vec<String> {
        let sets = &self.files.0;
        // Sets may differ in files alone that are not looked at.
        let alike = |at: usize| (0..at).find(|one| differences(&sets[*one], &sets[at]).is_empty());
        let alike: Vec<usize> = (0..sets.len()).map(|at| alike(at).unwrap_or(at)).collect();
        let set = |run: &Made<'_>| Some((*alike.get(run.record.files?)?, run.number));
        let mut made = groups(runs.iter().filter_map(set));
        // Sets stand in the order in which they came up; runs that failed are made again, after some that come later.
        made.sort_by_key(|(at, _)| *at);
        let Some(((first, before), rest)) = made.split_first() else { return Vec::new() };
        let other = |(at, runs): &(usize, Vec<usize>)| {
            let list = in_words(differences(&sets[*first], &sets[*at]));
            format!("{} made with other files than {}: {list}", were(runs), named(before))
        };
        rest.iter().map(other).collect()
    }

    /// Servers that said one thing at one time and another at another.
    fn unlike_versions(&self, runs: &[Made<'_>]) -> Vec<String> {
        let mut said = Vec::new();
        for run in runs {
            let servers = self.versions(run.record).unwrap_or_default();
            for (at, (server, version)) in servers.iter().enumerate() {
                // One that could not tell may be the same as ever. Servers of a variant may have one name.
                if version != UNKNOWN {
                    let key = (run.variant, at, server.as_str());
                    said.push((key, (version.as_str(), run.number)));
                }
            }
        }
        let several = |((variant, _, server), said): ((&str, usize, &str), Vec<(&str, usize)>)| {
            let versions = groups(said);
            let list =
                versions.iter().map(|(version, runs)| format!("\"{version}\" in {}", named(runs)));
            let list = list.collect::<Vec<_>>().join(", ");
            (versions.len() > 1).then(|| format!("{server} of {variant} was {list}"))
        };
        groups(said).into_iter().filter_map(several).collect()
    }
}

/// The versions of brunt, where there are several.
fn unlike_brunt(runs: &[Made<'_>]) -> Option<String> {
    let made = runs.iter().map(|run| (run.record.brunt.as_str(), run.number));
    let made = groups(made.filter(|(version, _)| !version.is_empty()));
    let ((version, first), rest) = made.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let rest = rest.iter().map(|(version, runs)| format!(", {} by {version}", named(runs)));
    Some(format!("{} made by brunt {version}{}", were(first), rest.collect::<String>()))
}

/// Runs of which something is not known that is known of others: there was no room for it.
fn unknown(
    runs: &[Made<'_>],
    place: impl Fn(&Record) -> Option<usize>,
    what: &str,
) -> Option<String> {
    let (known, unknown): (Vec<&Made<'_>>, Vec<&Made<'_>>) =
        runs.iter().partition(|run| place(run.record).is_some());
    let unknown: Vec<usize> = unknown.iter().map(|run| run.number).collect();
    let is_told = !known.is_empty() && !unknown.is_empty();
    is_told.then(|| format!("{what} is not known of {}", named(&unknown)))
}

/// What belongs to each key, by the order in which keys come up.
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
fn were(runs: &[usize]) -> String {
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
    use stdx::Nanos;
    use study::plan::Ended;

    fn pair(name: &str, text: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), text.to_owned())]
    }

    /// What is told of runs that were made one after the other, each with this file `front`, this version of the server, and
    /// this brunt.
    fn told(made: &[(&str, &str, &str)]) -> Vec<String> {
        let mut makings = Makings::default();
        let mut records = Vec::new();
        for (front, version, brunt) in made {
            let mut record = Record {
                ended: Ended::Measured,
                reason: String::new(),
                began: 0,
                took: Nanos::ZERO,
                start: Nanos::ZERO,
                codes: Vec::new(),
                load_before: None,
                brunt: (*brunt).to_owned(),
                files: None,
                versions: None,
                notes: Vec::new(),
            };
            makings.note(&mut record, &pair("front", front), &pair("puma", version));
            records.push(record);
        }
        assert_eq!(Makings::read(&makings.written()), makings);
        let runs = records.iter().enumerate();
        let runs = runs.map(|(at, record)| Made { number: at + 1, variant: "one", record });
        makings.unlike(&runs.collect::<Vec<_>>())
    }

    #[test]
    fn runs_that_are_alike_are_not_told() {
        let same = ("1", "6.4", "0.1.0");
        assert!(told(&[]).is_empty());
        assert!(told(&[same; 3]).is_empty());
        // A server that could not tell its version may have the same; a brunt that kept none may be any.
        assert!(told(&[same, ("1", UNKNOWN, ""), same]).is_empty());
    }

    #[test]
    fn each_difference_is_told_with_its_runs() {
        let same = ("1", "6.4", "0.1.0");
        let files = ("2", "6.4", "0.1.0");
        let expected = "run 3 was made with other files than runs 1 to 2, 4: front was changed";
        assert_eq!(told(&[same, same, files, same]), [expected], "there and back");
        let third = ("3", "6.4", "0.1.0");
        assert_eq!(told(&[same, files, third]).len(), 2);
        let upgraded = ("1", "6.5", "0.1.0");
        let expected = "puma of one was \"6.4\" in run 1, \"6.5\" in runs 2 to 3";
        assert_eq!(told(&[same, upgraded, upgraded]), [expected]);
        let expected = "run 1 was made by brunt 0.0.9, runs 2 to 3 by 0.1.0";
        assert_eq!(told(&[("1", "6.4", "0.0.9"), same, same]), [expected]);
    }

    #[test]
    fn what_is_not_kept_is_told() {
        let prints: Vec<String> = (0..=FILE_SETS_MAX).map(|number| number.to_string()).collect();
        let made: Vec<_> = prints.iter().map(|print| (print.as_str(), "6.4", "0.1.0")).collect();
        let told = told(&made);
        assert_eq!(told.len(), FILE_SETS_MAX);
        assert_eq!(told.last().unwrap(), "which files there were is not known of run 21");
    }

    #[test]
    fn numbers_are_told_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1 to 3, 5, 7 to 8");
        assert_eq!(ranges(&[]), "");
        let odd: Vec<usize> = (0..30).map(|n| 2 * n).collect();
        assert!(ranges(&odd).ends_with("16, 18 and more"));
    }
}
