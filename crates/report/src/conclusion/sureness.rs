//! How sure the conclusion is.

use stdx::Nanos;

use super::facts::Facts;
use super::measurement::Measurement;
use super::outcome::Outcome;
use super::sentence::{Kind, Sentence};
use super::words::time;
use crate::number::counted;
use crate::quantiles::Interval;

/// Requests from which a run says much: five of them lie beyond the 99th percentile.
const REQUESTS_MIN: u64 = 500;
/// The length from which a run says much: growth of 2 % adds 0.2 s to response times in it, and caches and pools have filled.
const DURATION_MIN: Nanos = Nanos::from_secs(10);

/// The first sentence of an INVALID measurement whose fault may have changed the server's result.
pub(super) fn invalid(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let is_it = outcome == Outcome::Unjudged;
    let Some((first, rest)) = facts.doubts.split_first() else {
        return is_it.then(invalid_sentence);
    };
    // Its own reason stands with the verdict.
    let first = first.split(", since ").next().unwrap_or_default();
    let more = match rest.len() {
        0 => String::new(),
        count => format!("; {} with the verdict", counted(count as u64, "further reason")),
    };
    let text = format!("Do not judge the server by this run: it is INVALID, since {first}{more}.");
    is_it.then(|| Sentence { kind: Kind::Confidence, text, figures: Vec::new() })
}

/// What is wrong with a measurement that is INVALID, where the server's result stands all the same.
pub(super) fn doubt(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    if outcome.is_without_figures() || facts.measurement.is_good() {
        return None;
    }
    let text = format!(
        "Not all figures are good: {}; {}.",
        facts.doubts.join("; "),
        reliable(facts, outcome)
    );
    Some(Sentence { kind: Kind::Confidence, text, figures: Vec::new() })
}

/// What of a measurement's figures may be relied on. A closed loop that is late asks for less.
fn reliable(facts: &Facts, outcome: Outcome) -> &'static str {
    match facts.measurement {
        Measurement::Late if facts.is_closed() => "counts and statuses can be relied on, rates not",
        Measurement::NotBegun if facts.is_closed() => {
            "counts, statuses and times can be relied on, as those of the load that was sent"
        }
        Measurement::NotBegun if outcome.is_saturated() => {
            "that the server does not bear this load can be relied on, and with all that was asked it would be slower still"
        }
        Measurement::NotBegun => {
            "counts, statuses and times can be relied on, as those of the load that was sent"
        }
        Measurement::Late => "counts, statuses and the server's result can be relied on",
        Measurement::Valid | Measurement::Blind | Measurement::Invalid => {
            "that so many requests failed can be relied on"
        }
    }
}

/// That the run was ended by its own flag, which explains why there is so little of it.
pub(super) fn ended_early(facts: &Facts) -> Option<Sentence> {
    let why = facts.ended_early.as_ref()?;
    let text = format!("The run was ended early by -abort-when, {why}.");
    Some(Sentence { kind: Kind::Caution, text, figures: Vec::new() })
}

pub(super) fn invalid_sentence() -> Sentence {
    Sentence {
        kind: Kind::Confidence,
        text: "Do not judge the server by this run: the measurement is INVALID, for the reasons that stand with the verdict."
            .to_owned(),
        figures: Vec::new(),
    }
}

/// Whether the run is too small to say much.
pub(super) fn is_little(facts: &Facts) -> bool {
    facts.requests < REQUESTS_MIN
        || facts.nominal().max(facts.elapsed) < DURATION_MIN
        || facts.is_interrupted
        || facts.measurement == Measurement::Blind
}

/// Where the 95th percentile lies, where the run shows it.
fn p95(facts: &Facts, outcome: Outcome) -> String {
    let known = facts.p95.filter(|_| outcome.is_of_steady_load(facts) && !facts.raised[1]);
    match known {
        None => String::new(),
        Some(Interval { low, high: Some(high) }) => format!(
            ", whose 95th percentile lies from {} to {} (19 times in 20)",
            time(low),
            time(high)
        ),
        Some(Interval { low, high: None }) => format!(
            ", whose 95th percentile is {} or more; the run is too short to bound it from above",
            time(low)
        ),
    }
}

/// How sure the conclusion is, and what would make it surer.
pub(super) fn sureness(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    if outcome.is_without_figures() || !facts.measurement.is_good() {
        return None;
    }
    let size = format!("{} in {}", counted(facts.requests, "request"), time(facts.elapsed));
    let is_short = facts.nominal().max(facts.elapsed) < DURATION_MIN;
    let text = match () {
        () if facts.is_interrupted => {
            format!("How sure: little, since the run was interrupted; it has {size}.")
        }
        () if facts.requests < REQUESTS_MIN || is_short => {
            format!(
                "How sure: little, {size}; runs of a minute and {REQUESTS_MIN} requests or more say more."
            )
        }
        () if facts.measurement == Measurement::Blind => format!(
            "How sure: {size}, but no record of the load generator, which may have been the slow part."
        ),
        () if facts.has_gaps => format!("How sure: several runs with {size} in all."),
        () => format!(
            "How sure: one run with {size}{}; another may differ; `brunt study` shows by how much.",
            p95(facts, outcome)
        ),
    };
    let figures = vec![("requests", facts.requests as f64), ("duration", facts.elapsed.0 as f64)];
    Some(Sentence { kind: Kind::Confidence, text, figures })
}
