//! `Selector`: which runs are meant by a word: an id or its beginning, a name, `last`, `best`, a baseline, `git:REF`.

use std::cmp::Ordering;

use crate::error::StoreError;
use crate::facts::ancestors;
use crate::list::Listing;
use crate::manifest::State;
use crate::store::{Run, Store};

/// A word that stands for runs of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// `last`: the newest run that has ended.
    Last,
    /// `best`: the valid run with the shortest 95th percentile of response times; of a closed loop, with the highest throughput.
    Best,
    /// `git:REF`: the runs of the newest commit of that branch, tag or commit that has any.
    Git(String),
    /// An id, its beginning, the name of a baseline, or the name of runs: the newest that has ended.
    Named(String),
    /// `NAME@3`, `last@3`: the newest runs of a name, or of all, so many of them.
    Newest(String, usize),
}

/// Commits that are looked through, at most.
const COMMITS_MAX: usize = 10_000;

impl Selector {
    /// The selector that a word is.
    #[must_use]
    pub fn parse(word: &str) -> Self {
        match word {
            "last" => Self::Last,
            "best" => Self::Best,
            _ => match word.strip_prefix("git:") {
                Some(reference) => Self::Git(reference.to_owned()),
                None => match word.rsplit_once('@') {
                    Some((name, count)) if count.parse::<usize>().is_ok_and(|count| count > 0) => {
                        Self::Newest(name.to_owned(), count.parse().unwrap_or(1))
                    }
                    _ => Self::Named(word.to_owned()),
                },
            },
        }
    }

    /// The runs that it stands for, newest first, of those that have ended and have results. Of a `test` (name and command)
    /// only that test's runs are looked at, and the run of the id `but` is none of them.
    ///
    /// # Errors
    /// There is none, or git does not know a commit.
    pub fn find(&self, store: &Store, scope: &Scope<'_>) -> Result<Vec<Run>, StoreError> {
        let Listing { runs, .. } = store.list()?;
        let unknown = |hint: &str| StoreError::Unknown {
            asked: self.to_string(),
            store: store.folder().to_owned(),
            hint: hint.to_owned(),
        };
        let mut of_test = runs.iter().filter(is_finished).filter(|run| scope.takes(run));
        let found: Vec<Run> = match self {
            Self::Last => of_test.next().cloned().into_iter().collect(),
            Self::Best => {
                let valid = of_test.filter(|run| run.is_valid() && run.manifest.figures.is_some());
                valid.min_by(|a, b| better(a, b)).cloned().into_iter().collect()
            }
            Self::Git(reference) => of_commits(of_test, &ancestors(reference, COMMITS_MAX)?),
            Self::Named(word) => named(&runs, word, scope)?,
            Self::Newest(name, count) if name == "last" => of_test.take(*count).cloned().collect(),
            Self::Newest(name, count) => {
                let others = runs.iter().filter(is_finished).filter(|run| scope.is_other(run));
                let of_name = others.filter(|run| run.manifest.name == *name);
                of_name.take(*count).cloned().collect()
            }
        };
        if found.is_empty() {
            let hint = if runs.is_empty() { ": it has no runs" } else { " (brunt runs list)" };
            return Err(unknown(hint));
        }
        Ok(found)
    }

    /// The one run that it stands for: the newest where there are several. A run need not have results, nor have ended.
    ///
    /// # Errors
    /// As [`Selector::find`].
    pub fn find_one(&self, store: &Store) -> Result<Run, StoreError> {
        if let Self::Named(word) = self {
            let runs = store.list()?.runs;
            let of_name = || runs.iter().find(|run| run.manifest.name == *word).cloned();
            if let Some(run) = by_id(&runs, word)?.or_else(of_name) {
                return Ok(run);
            }
        }
        if *self == Self::Last
            && let Some(run) = store.list()?.runs.into_iter().find(|run| !run.is_under_way)
        {
            return Ok(run);
        }
        let mut found = self.find(store, &Scope::default())?;
        Ok(found.swap_remove(0))
    }
}

/// The test whose runs are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope<'a> {
    /// Its name and its command; `None`: any.
    pub test: Option<(&'a str, &'a str)>,
    /// The ids of runs that are none of them.
    pub but: &'a [String],
}

impl Scope<'_> {
    fn takes(&self, run: &Run) -> bool {
        let of = (run.manifest.name.as_str(), run.manifest.command.as_str());
        self.test.is_none_or(|test| test == of) && self.is_other(run)
    }

    fn is_other(&self, run: &Run) -> bool {
        !self.but.contains(&run.manifest.id)
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Best => f.write_str("best"),
            Self::Git(reference) => write!(f, "git:{reference}"),
            Self::Named(word) => f.write_str(word),
            Self::Newest(name, count) => write!(f, "{name}@{count}"),
        }
    }
}

/// The runs of the first of these commits that has any. Runs of changed files are none of a commit's.
fn of_commits<'a>(runs: impl Iterator<Item = &'a Run>, commits: &[String]) -> Vec<Run> {
    let of = |run: &Run| {
        let git = run.manifest.git.as_ref().filter(|git| !git.dirty)?;
        commits.iter().position(|commit| *commit == git.commit)
    };
    let placed: Vec<(usize, &Run)> = runs.filter_map(|run| Some((of(run)?, run))).collect();
    let newest = placed.iter().map(|(at, _)| *at).min();
    let of_newest = placed.into_iter().filter(|(at, _)| Some(*at) == newest);
    of_newest.map(|(_, run)| run.clone()).collect()
}

/// The run of an id, or of the beginning of one, if there is one.
fn by_id(runs: &[Run], word: &str) -> Result<Option<Run>, StoreError> {
    if let Some(run) = runs.iter().find(|run| run.manifest.id == word) {
        return Ok(Some(run.clone()));
    }
    // A name may look like the beginning of an id.
    if word.len() < PREFIX_MIN || runs.iter().any(|run| run.manifest.name == word) {
        return Ok(None);
    }
    let found: Vec<&Run> = runs.iter().filter(|run| run.manifest.id.starts_with(word)).collect();
    match found[..] {
        [] => Ok(None),
        [run] => Ok(Some(run.clone())),
        _ => Err(StoreError::Ambiguous { asked: word.to_owned(), count: found.len() }),
    }
}

/// Letters of an id's beginning, at least.
const PREFIX_MIN: usize = 4;

/// The run of this id; else all runs of this baseline; else the newest run of this name.
fn named(runs: &[Run], word: &str, scope: &Scope<'_>) -> Result<Vec<Run>, StoreError> {
    if let Some(run) = by_id(runs, word)? {
        return Ok(vec![run]);
    }
    let is_baseline = |run: &&Run| run.manifest.baseline.as_deref() == Some(word);
    let mut others = runs.iter().filter(is_finished).filter(|run| scope.is_other(run));
    let baseline: Vec<Run> = others.clone().filter(is_baseline).cloned().collect();
    if !baseline.is_empty() {
        return Ok(baseline);
    }
    let newest = others.find(|run| run.manifest.name == word);
    Ok(newest.cloned().into_iter().collect())
}

/// Whether a run ended as it should, with results.
fn is_finished(run: &&Run) -> bool {
    run.manifest.state == State::Finished && run.manifest.results.is_some()
}

/// Which of two runs is the better: by throughput where connections sent as fast as they were answered, else by the 95th
/// percentile of response times.
fn better(a: &Run, b: &Run) -> Ordering {
    let figures = |run: &Run| run.manifest.figures.clone().unwrap_or_default();
    let (of_a, of_b) = (figures(a), figures(b));
    if a.manifest.command == "bench" {
        return of_b.throughput_per_s.total_cmp(&of_a.throughput_per_s);
    }
    of_a.response_ns.p95.cmp(&of_b.response_ns.p95)
}
