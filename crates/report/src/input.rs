//! `Input`: what a report is made from, and what several layouts take from it.

use metrics::tally::Assertion;
use metrics::{
    AttackedTargets, Generator, Groups, Histogram, Outcome, Sends, Summary, Timeline, Traffic,
    Verdict,
};

use crate::buckets::BucketCounts;
use crate::part::Part;
use crate::server::ServerSide;

/// Times from the moment hits were sent; `None` where there are hits and the format did not record that moment.
pub(crate) fn service(summary: &Summary) -> Option<&Histogram> {
    Some(&summary.service).filter(|times| times.count() > 0 || summary.requests == 0)
}

/// The hits by outcome, where some are no statuses of HTTP, which every report has.
pub(crate) fn other_outcomes(summary: &Summary) -> Option<Vec<(Outcome, u64)>> {
    let outcomes = summary.outcomes();
    outcomes.iter().any(|(outcome, _)| outcome.number() > 0).then_some(outcomes)
}

/// Every send in its gap; `None` where there is no gap.
pub(crate) fn sends(input: &Input<'_>) -> Option<Sends> {
    let sends = input.traffic?.sends.settled();
    Some(sends).filter(|sends| sends.gaps.count() > 0)
}

/// The difference between the hits under way by Little's law and the planned users, as a share of these; `None` in an open
/// loop.
pub(crate) fn off_by(input: &Input<'_>) -> Option<f64> {
    let users = users_at_work(input).filter(|users| *users > 0)?;
    Some(input.summary.concurrency() / users as f64 - 1.0).filter(|_| input.summary.requests > 0)
}

/// The planned users, if each of them only sends and waits; `None` where users pace themselves or think between requests, or
/// their number is unknown, as for a part of the requests.
pub(crate) fn users_at_work(input: &Input<'_>) -> Option<u64> {
    let is_known = |generator: &&Generator| !generator.self_paced && input.selected.is_empty();
    let generator = input.generator.filter(is_known)?;
    // In a closed loop only what follows a thinking time is due, and can be late.
    if generator.users > 0 && generator.lag.count() > 0 {
        return None;
    }
    Some(generator.users)
}

/// All that a report is made from. What is absent is left out of the report.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The report's title: the attack's name or the file's; may be empty.
    pub title: &'a str,
    /// The figures.
    pub summary: &'a Summary,
    /// May they be believed?
    pub verdict: &'a Verdict,
    /// What the generator saw of itself; absent in foreign formats.
    pub generator: Option<&'a Generator>,
    /// What the reader lost, one sentence each.
    pub losses: &'a [String],
    /// Rows by target, status or name.
    pub groups: Option<&'a Groups>,
    /// Rows by [`metrics::By::Request`], for the table that every report has where there are several targets; `None` where there is
    /// one, where `groups` are the same, or where no rows were counted so.
    pub by_target: Option<&'a Groups>,
    /// What was attacked; `None` where that is not known.
    pub attacked: Option<&'a AttackedTargets>,
    /// What was seen over time; only `html` draws it.
    pub timeline: Option<&'a Timeline>,
    /// Hits under way over time, and how sends were spaced.
    pub traffic: Option<&'a Traffic>,
    /// Histogram buckets for `json`.
    pub buckets: Option<&'a BucketCounts>,
    /// What was seen of the servers.
    pub server: Option<ServerSide<'a>>,
    /// Which requests these are, if not all (`scenario:buyers`); else empty.
    pub selected: &'a str,
    /// What each of several results says by itself, of which these are the whole; empty of one.
    pub parts: &'a [Part],
    /// The results of a script's thresholds and checks; empty without a script.
    pub assertions: &'a [Assertion],
}
