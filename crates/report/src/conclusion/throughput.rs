//! Sentences on how much was requested and answered, on failed requests, and on response times.

use stdx::list_and;

use super::facts::{Facts, Measurement, Offered};
use super::outcome::{Outcome, turns_away};
use super::sentence::{Kind, Sentence};
use super::words::{per_s, share, time};
use crate::number::{counted, grouped};

/// Classes of failed requests in a sentence, at most; the rest is counted.
const CLASSES_SHOWN: usize = 3;
/// A quantile is stated where so many requests lie beyond it: the count of those varies by 1 / √5, less than half, from run to
/// run (Poisson).
const BEYOND_MIN: f64 = 5.0;

/// How much was requested and answered, and whether the server kept up.
pub(super) fn throughput(facts: &Facts, outcome: Outcome) -> Sentence {
    let kind = if outcome.is_saturated() { Kind::Saturation } else { Kind::Throughput };
    let load = load(facts);
    let (answered, all) = (per_s(outcome.answered_per_s(facts)), grouped(facts.requests));
    let classes = || list_and(&class_words(facts));
    let text = match outcome {
        Outcome::Untested => {
            "There were no requests, so nothing can be said of the server.".to_owned()
        }
        Outcome::Unanswered if facts.requests == 1 => {
            format!("The request was not answered: it {}.", classes())
        }
        Outcome::Unanswered => {
            format!("{load}, nothing answered: of {all} requests {}.", classes())
        }
        Outcome::Failed if facts.requests == 1 => {
            format!("The request did not succeed: it {}.", classes())
        }
        Outcome::Failed => format!("{load}, no request succeeded: of {all} {}.", classes()),
        Outcome::TimedOut => {
            format!("{load}, {answered} answered: the server is too slow for this load.")
        }
        Outcome::TurnedAway => format!(
            "{load}, {answered} answered: the server turns {} of the requests away.",
            share(facts.share_of(turns_away))
        ),
        Outcome::Overloaded if facts.is_held => format!(
            "{load}, {answered} answered: the server is overloaded, or -max-workers allows too few requests at once."
        ),
        Outcome::Overloaded => format!("{load}, {answered} answered: the server is overloaded."),
        Outcome::KeptUp => format!("{load}, {}: the server kept up.", answered_part(facts)),
        Outcome::Unclear => format!(
            "{load}, {}, the last {} after it was due: this run does not tell whether the server keeps up.",
            answered_part(facts),
            time(facts.elapsed.saturating_sub(facts.duration))
        ),
        Outcome::Unjudged | Outcome::ByUsers => format!("{load}: {answered} answered."),
    };
    Sentence { kind, text, figures: figures(facts, outcome) }
}

fn figures(facts: &Facts, outcome: Outcome) -> Vec<(&'static str, f64)> {
    let mut figures = vec![
        ("requests", facts.requests as f64),
        ("answered_per_s", outcome.answered_per_s(facts)),
        ("duration", facts.duration.0 as f64),
    ];
    match facts.offered {
        Offered::Rate(_) | Offered::Unknown => {
            figures.extend(facts.offered_per_s().map(|rate| ("asked_per_s", rate)));
        }
        Offered::Users(users) | Offered::Script(users) => figures.push(("users", users as f64)),
    }
    if let Some(course) = facts.course {
        figures.push(("growth", course.growth()));
    }
    figures
}

/// `60/s asked for 10s`, `4 users for 10s`.
fn load(facts: &Facts) -> String {
    let taken = time(facts.nominal());
    match facts.offered {
        Offered::Rate(rate) if facts.changes > 0 => format!(
            "{} asked on average for {taken}, changed by hand {}",
            per_s(rate),
            counted(facts.changes, "time")
        ),
        Offered::Rate(rate) => format!("{} asked for {taken}", per_s(rate)),
        Offered::Unknown => {
            format!("{} sent in {taken}", per_s(facts.offered_per_s().unwrap_or(0.0)))
        }
        Offered::Users(users) => format!("{} for {}", counted(users, "user"), time(facts.elapsed)),
        Offered::Script(users) => {
            format!("A script with up to {} for {}", counted(users, "user"), time(facts.elapsed))
        }
    }
}

/// `all answered`, `98.2% of them answered`.
fn answered_part(facts: &Facts) -> String {
    match facts.unanswered {
        0 => "all answered".to_owned(),
        unanswered => {
            let part = 1.0 - unanswered as f64 / facts.requests.max(1) as f64;
            format!("{} of the requests answered", share(part))
        }
    }
}

/// Failed requests by class; none where the first sentence has them.
pub(super) fn errors(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let failed = facts.failed();
    if failed == 0 || matches!(outcome, Outcome::Unanswered | Outcome::Failed) {
        return None;
    }
    let part = failed as f64 / facts.requests as f64;
    let text = format!(
        "{} of {} ({}) failed: {}.",
        grouped(failed),
        counted(facts.requests, "request"),
        share(part),
        list_and(&class_words(facts))
    );
    let figures = vec![("failed", failed as f64), ("share", part)];
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// `30 timed out`, `4 got status 503`.
fn class_words(facts: &Facts) -> Vec<String> {
    let shown = facts.classes.iter().take(CLASSES_SHOWN);
    let mut words: Vec<String> = shown
        .map(|(class, count)| match (facts.requests, *count) {
            (1, _) => class.words(),
            (all, count) if count == all => format!("all {}", class.words()),
            (_, count) => format!("{} {}", grouped(count), class.words()),
        })
        .collect();
    let rest: u64 = facts.classes.iter().skip(CLASSES_SHOWN).map(|(_, count)| *count).sum();
    if rest > 0 {
        words.push(format!("{} failed otherwise", grouped(rest)));
    }
    words
}

/// Response times; none of an INVALID measurement, and none without successes.
pub(super) fn latency(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let nothing = matches!(outcome, Outcome::Untested | Outcome::Unanswered | Outcome::Failed);
    if nothing || facts.measurement == Measurement::Invalid {
        return None;
    }
    let growing = facts.course.filter(|_| outcome == Outcome::Overloaded);
    let mut parts: Vec<String> = Vec::new();
    let mut figures = Vec::new();
    let names = [
        ("Half of the requests", "p50", 0.5),
        ("95 of 100", "p95", 0.95),
        ("99 of 100", "p99", 0.99),
    ];
    for ((words, name, q), value) in names.into_iter().zip(facts.times) {
        let is_cut =
            facts.timed_out_from.is_some_and(|from| value.0 as f64 >= from.0 as f64 * 0.999);
        let is_known = facts.requests as f64 * (1.0 - q) >= BEYOND_MIN;
        if is_known && !is_cut {
            parts.push(format!("{words} took at most {}", time(value)));
            figures.push((name, value.0 as f64));
        }
    }
    let mut text = short(&parts);
    if let Some(course) = growing {
        let [first, _, last] = course.thirds.map(|third| third.p50);
        figures.extend([("p50_first_third", first.0 as f64), ("p50_last_third", last.0 as f64)]);
        let grew = format!(
            "The median response time grew from {} to {} over the run",
            time(first),
            time(last)
        );
        text = if text.is_empty() { grew } else { format!("{grew}; {}", lower(&text)) };
    }
    (!text.is_empty()).then(|| Sentence { kind: Kind::Latency, text: text + ".", figures })
}

/// `Half of the requests took at most 12ms, 95 of 100 at most 30ms`.
fn short(parts: &[String]) -> String {
    let Some((first, rest)) = parts.split_first() else { return String::new() };
    let rest = rest.iter().map(|part| part.replacen(" took at most", " at most", 1));
    std::iter::once(first.clone()).chain(rest).collect::<Vec<_>>().join(", ")
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
