//! `SeekInput`: a search and its result, and the names of its loads.

use study::seek::{By, Search, SearchOutcome, Step};

use crate::number::{counted, number};

/// A search and its result.
#[derive(Clone, Copy, Debug)]
pub struct SeekInput<'a> {
    /// What was searched.
    pub search: &'a Search,
    /// The steps, in the order they were run.
    pub steps: &'a [Step],
    /// What they say.
    pub outcome: &'a SearchOutcome,
    /// The seed of every random choice.
    pub seed: u64,
    /// How hits arrived: `poisson`, `constant`, or `closed loop`.
    pub arrivals: &'a str,
}

/// The key of a load in JSON.
pub(super) const fn name(by: By) -> &'static str {
    match by {
        By::Rate => "rate",
        By::Connections => "connections",
    }
}

/// `89.5/s` or `12 connections`.
pub(super) fn load(by: By, load: f64) -> String {
    match by {
        By::Rate => format!("{}/s", number(load)),
        By::Connections => counted(load.round() as u64, "connection"),
    }
}

/// `1.20%`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
