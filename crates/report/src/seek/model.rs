//! `SeekInput`: a search and its result, and the names of its loads.

use study::seek::{Search, SearchOutcome, Step, Unit};

use super::limit::LimitAtLoad;
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
    /// What limits the server, where it was watched.
    pub limit: Option<&'a LimitAtLoad>,
    /// The seed of every random choice.
    pub seed: u64,
    /// How hits arrived: `poisson`, `constant`, or `closed loop`.
    pub arrivals: &'a str,
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
        Unit::Iterations => format!("{} iterations/s", number(load)),
        Unit::Vus => counted(whole, "VU"),
    }
}

/// `1.20%`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
