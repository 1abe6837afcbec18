//! `SeekInput`: a search and its result, and the names of its loads.

use metrics::tally::Assertion;
use study::seek::{Search, SearchOutcome, Step, Unit};

use super::limit::LimitAtLoad;
use crate::number::{counted, number};
use crate::provenance::lines_of;

/// A search and its result.
#[derive(Clone, Copy, Debug)]
pub struct SeekInput<'a> {
    /// What was searched.
    pub search: &'a Search,
    /// The steps, in the order they were run.
    pub steps: &'a [Step],
    /// What they say.
    pub outcome: &'a SearchOutcome,
    /// What limits the server, where it was watched.
    pub limit: Option<&'a LimitAtLoad>,
    /// The seed of every random choice.
    pub seed: u64,
    /// How hits arrived: `poisson`, `constant`, or `closed loop`.
    pub arrivals: &'a str,
    /// What was attacked, in a few words; `None` where that is not known.
    pub attacked: Option<&'a str>,
    /// When it began (Unix ns), where that is known.
    pub began: Option<i64>,
    /// How it was made: command line, machine, versions.
    pub assertions: &'a [Assertion],
}

/// What was attacked and how the search was made, a line each, not escaped.
pub(super) fn made(input: &SeekInput<'_>) -> Vec<String> {
    let attacked = input.attacked.map(|words| format!("Attacked: {words}"));
    let made = lines_of(input.assertions, input.began, None);
    attacked.into_iter().chain(made).collect()
}

/// The key of a load in JSON, and in the state of a search.
#[must_use]
pub const fn name(unit: Unit) -> &'static str {
    match unit {
        Unit::Requests => "rate",
        Unit::Connections => "connections",
        Unit::Iterations => "iterations",
        Unit::Vus => "vus",
    }
}

/// `89.5/s`, `12 connections`, `4.2 iterations/s` or `12 VUs`.
pub(super) fn load(unit: Unit, load: f64) -> String {
    let whole = load.round() as u64;
    match unit {
        Unit::Requests => format!("{}/s", number(load)),
        Unit::Connections => counted(whole, "connection"),
        Unit::Iterations => match number(load).as_str() {
            "1" => "1 iteration/s".to_owned(),
            many => format!("{many} iterations/s"),
        },
        Unit::Vus => counted(whole, "VU"),
    }
}

/// `1.20%`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
