//! `ServerResult`: how a server came out of a run, in a few words for lists of runs, which have no room for sentences.

use stdx::Nanos;

use super::facts::Facts;
use super::outcome::Outcome;
use super::times::stated;
use super::words::time;
use crate::Input;
use crate::figure::shortened;

/// Characters of the words; more are cut.
const WORDS_MAX: usize = 200;

/// How a server came out of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerResult {
    /// The outcome's name in JSON: `kept up`, `overloaded`.
    pub outcome: &'static str,
    /// `OVERLOADED, 60/s of 80/s answered, no errors, p95 2.4s`; at most 200 characters.
    pub words: String,
}

impl ServerResult {
    /// Of the run that a report is made from.
    #[must_use]
    pub fn of(input: &Input<'_>) -> Self {
        let facts = Facts::of(input);
        let outcome = Outcome::of(&facts);
        let words = outcome.result(&facts) + &p95(&facts, outcome);
        Self::new(outcome.name(), &words)
    }

    /// Of an outcome by its name in JSON, with words of any length.
    pub(crate) fn new(outcome: &'static str, words: &str) -> Self {
        Self { outcome, words: shortened(words, WORDS_MAX) }
    }
}

/// The 95th percentile of response times, where a sentence would state it.
fn p95(facts: &Facts, outcome: Outcome) -> String {
    let known = stated(facts, outcome)[1];
    known.map_or_else(String::new, |p95: Nanos| format!(", p95 {}", time(p95)))
}
