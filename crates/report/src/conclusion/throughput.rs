//! The sentence on how much was requested and answered, and on whether the server kept up.

use stdx::list_and;

use metrics::FailureKind;

use super::class::{Class, is_servers, turns_away};
use super::facts::{Facts, Offered};
use super::outcome::{Doubt, Outcome, and_behind};
use super::overload::{behind_for_a_time, overloaded, paused};
use super::sentence::{Kind, Sentence};
use super::since::{gap, since};
use super::times::{slower, slower_medians};
use super::words::{per_s, share, three, time};
use crate::number::{counted, grouped};

const TIMEOUT: Class = Class::Failure(FailureKind::Timeout);

/// How much was requested and answered, and whether the server kept up.
pub(super) fn throughput(facts: &Facts, outcome: Outcome) -> Sentence {
    let kind = if outcome.is_saturated() { Kind::Saturation } else { Kind::Throughput };
    let load = load(facts);
    let text = match outcome {
        Outcome::Untested | Outcome::Unanswered | Outcome::Failed => nothing(facts, outcome, &load),
        Outcome::TimedOut => {
            let after = facts.timeout();
            let part = share(facts.share_of(|class| class == TIMEOUT));
            failing(facts, outcome, &format!("{part} of the requests time out{after}"))
        }
        Outcome::TurnedAway => {
            let part = share(facts.share_of(turns_away));
            failing(facts, outcome, &format!("the server turns {part} of the requests away"))
        }
        Outcome::Failing => {
            let part = share(facts.share_of(is_servers));
            failing(facts, outcome, &format!("{part} of the requests fail"))
        }
        Outcome::ChecksFail => {
            format!("{load}, {}, but {}.", answered_part(facts), facts.checks.words())
        }
        Outcome::Overloaded => overloaded(facts, &load),
        Outcome::Paused => match facts.last_pause() {
            Some(pause) => format!(
                "{load}: {}, in which {} waited for an answer.",
                rate_part(facts, outcome, ""),
                counted(pause.waited, "request")
            ),
            None => paused(facts, &load, &answered_part(facts)),
        },
        Outcome::KeptUp => kept_up(facts, &load),
        Outcome::Unclear(doubt) => unclear(facts, &load, doubt),
        Outcome::Unjudged | Outcome::ByUsers => by_users(facts, outcome, &load),
    };
    Sentence { kind, text, figures: figures(facts, outcome) }
}

/// What is said where nothing succeeded.
fn nothing(facts: &Facts, outcome: Outcome, load: &str) -> String {
    match (outcome, facts.requests) {
        (_, 0) => "There were no requests, so nothing can be said of the server.".to_owned(),
        (Outcome::Unanswered, 1) => {
            format!("The request was not answered: it {}.", of_one(&of_all(facts)))
        }
        (Outcome::Failed, 1) => {
            format!("The request did not succeed: it {}.", of_one(&of_all(facts)))
        }
        (Outcome::Failed, _) => format!("{load}, no request succeeded: {}.", of_all(facts)),
        _ => format!("{load}, nothing answered: {}.", of_all(facts)),
    }
}

/// `all 240 requests got status 404`, `180 of 240 requests got status 404 and 60 timed out`.
fn of_all(facts: &Facts) -> String {
    let mut words = facts.class_words(|_| true);
    let all = counted(facts.requests, "request");
    if let Some(first) = words.first_mut().filter(|_| facts.requests > 1) {
        *first = match first.split_once(' ') {
            Some(("all", what)) => format!("all {all} {what}"),
            Some((count, what)) => format!("{count} of {all} {what}"),
            None => std::mem::take(first),
        };
    }
    list_and(&words)
}

/// How many fail, with when and by how much the server falls behind.
fn failing(facts: &Facts, outcome: Outcome, what: &str) -> String {
    let answered = rate_part(facts, outcome, " with success");
    format!("{}, {answered}: {what}{}.", load(facts), growth_and_moment(facts))
}

/// `51/s answered`; of users the time that it is of, where that is not the run.
fn rate_part(facts: &Facts, outcome: Outcome, how: &str) -> String {
    let answered = facts.of_requests(outcome.answered_per_s(facts));
    let base = match (facts.last_pause(), facts.asked_for()) {
        (Some(pause), _) => format!(
            " in the first {}, nothing in the {} after it",
            time(pause.at),
            time(pause.length)
        ),
        (None, Some(asked)) => {
            format!(" in the {} in which they asked for more", time(asked))
        }
        (None, None) => String::new(),
    };
    format!("{answered} answered{how}{base}")
}

fn kept_up(facts: &Facts, load: &str) -> String {
    let answered = answered_part(facts);
    let slower = slower(facts);
    let failed = share(facts.failed_share());
    match (gap(facts), behind_for_a_time(facts)) {
        (Some(gap), _) => {
            format!("{load}: the server {gap}; {failed} of the requests failed{slower}.")
        }
        _ if facts.failed() > 0 => {
            let since = since(facts);
            format!(
                "{load}: the server kept up, but {failed} of the requests failed{since}{slower}."
            )
        }
        _ if facts.is_log_in() => {
            let page = share(facts.log_in_share());
            format!("{load}, {answered}, {page} of the requests with a log-in page{slower}.")
        }
        (None, Some(behind)) => format!("{load}, {answered}: the server {behind}."),
        (None, None) => format!("{load}, {answered}: the server kept up{slower}."),
    }
}

/// What users got, and where a script's could not do what they were to.
fn by_users(facts: &Facts, outcome: Outcome, load: &str) -> String {
    let answered = rate_part(facts, outcome, "");
    match (facts.not_begun, facts.never_answered) {
        (0, 0) if outcome == Outcome::ByUsers => format!("{load}: {answered}{}.", slower(facts)),
        (0, 0) => format!("{load}: {answered}."),
        (0, never) => format!(
            "{load}: {answered}; {} of the users {} never answered, so the load was that of the others.",
            grouped(never),
            stdx::were(never)
        ),
        (count, _) => format!(
            "{load}: {answered}; {} fell due and {} never begun.",
            counted(count, "iteration"),
            stdx::were(count)
        ),
    }
}

/// Beside failures: by how much the server falls behind, too, and when they were.
fn growth_and_moment(facts: &Facts) -> String {
    and_behind(facts) + &since(facts)
}

/// Why a run does not tell whether the server keeps up.
fn unclear(facts: &Facts, load: &str, doubt: Doubt) -> String {
    let answered = answered_part(facts);
    let requests = counted(facts.requests, "request");
    match doubt {
        Doubt::Several => format!(
            "{requests} in {} of several runs, {answered}: each run is to be judged alone.",
            time(facts.nominal())
        ),
        Doubt::Moment => format!(
            "{requests} at one moment, {answered}: this run does not tell whether the server keeps up."
        ),
        _ => format!(
            "{load}, {answered}, {}: this run does not tell whether the server keeps up.",
            why_unclear(facts, doubt)
        ),
    }
}

/// What is said of many requests, of one.
fn of_one(classes: &str) -> String {
    classes.replace(" their ", " its ").replace("were under way", "was under way")
}

fn why_unclear(facts: &Facts, doubt: Doubt) -> String {
    match doubt {
        Doubt::Short => format!(
            "the last {} after it was due",
            time(facts.elapsed.saturating_sub(facts.duration))
        ),
        Doubt::Backlog if slower_medians(facts).is_some() => {
            let [first, last] = slower_medians(facts).unwrap_or_default();
            format!(
                "but it became slower: the median response time grew from {} in the run's first third to {} in its last",
                time(first),
                time(last)
            )
        }
        Doubt::Backlog => {
            let [first, last] = facts.backlog.unwrap_or_default().waiting.map(three);
            let waited = match facts.iterations {
                Some(_) => "iterations were under way",
                None => "waited for an answer",
            };
            format!(
                "but {first} {waited} at a time in the run's first third and {last} in its last, \
                 which may be chance or growth"
            )
        }
        Doubt::Unanswered => {
            let last = facts.backlog.map_or(0.0, |backlog| backlog.last);
            let what = if facts.iterations.is_some() { "iteration" } else { "request" };
            format!("but {} still waited when the last one was due", counted(last as u64, what))
        }
        Doubt::Times => {
            let [first, _, last] = facts.course.unwrap_or_default().thirds.map(|third| third.p95);
            format!("but the 95th percentile grew from {} to {}", time(first), time(last))
        }
        Doubt::Moment => "all due at one moment".to_owned(),
        Doubt::Several => "in several runs".to_owned(),
        Doubt::Steady => match facts.share_of(|class| class == TIMEOUT) {
            0.0 => format!(
                "but answers took up to {} of the {} in which requests were due",
                time(facts.times[2]),
                time(facts.nominal())
            ),
            part => format!("but {} timed out all through the run", share(part)),
        },
    }
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
        Offered::Iterations(_) => figures.extend(of_iterations(facts)),
    }
    if let Some(course) = facts.course {
        figures.push(("growth", course.growth()));
    }
    if let Some(backlog) = facts.backlog {
        figures.extend([("backlog_growth", backlog.growth), ("backlog_last", backlog.last)]);
        figures.extend(backlog.pause.map(|pause| ("pause", pause.length.0 as f64)));
        figures.extend(backlog.onset.map(|onset| ("onset", onset.at.0 as f64)));
        figures.extend(backlog.onset.map(|onset| ("onset_per_s", onset.asked)));
        figures.extend(backlog.onset.map(|onset| ("limit_per_s", onset.answered)));
    }
    figures
}

fn of_iterations(facts: &Facts) -> impl Iterator<Item = (&'static str, f64)> {
    let figures = facts.iterations.map(|one| {
        [("iterations_asked_per_s", one.due_per_s), ("iterations_per_s", one.completed_per_s)]
    });
    figures.into_iter().flatten()
}

/// `60/s for 10s`, `4 users for 10s`, `80 iterations/s of a script for 10s`, `Rising evenly from 20/s to 180/s for 32s`.
fn load(facts: &Facts) -> String {
    let taken = time(facts.nominal());
    match facts.offered {
        Offered::Rate(_) | Offered::Unknown if facts.changes == 0 && facts.loads().is_some() => {
            varying(facts, &per_s, &taken)
        }
        Offered::Rate(rate) if facts.changes > 0 => format!(
            "{} on average for {taken}, changed by hand {}",
            per_s(rate),
            counted(facts.changes, "time")
        ),
        Offered::Rate(rate) => format!("{} for {taken}", per_s(rate)),
        Offered::Unknown => {
            format!("{} sent for {taken}", per_s(facts.offered_per_s().unwrap_or(0.0)))
        }
        Offered::Iterations(_) if facts.loads().is_some() => {
            varying(facts, &three, &format!("{taken} (iterations/s of a script)"))
        }
        Offered::Iterations(rate) => format!("{} of a script for {taken}", facts.asked(rate)),
        Offered::Users(users) => format!("{} for {}", counted(users, "user"), time(facts.elapsed)),
        Offered::Script(users) => {
            format!("A script with up to {} for {}", counted(users, "user"), time(facts.elapsed))
        }
    }
}

/// A load that was not even: by its shape, else by its lowest and highest rate.
fn varying(facts: &Facts, rate: &dyn Fn(f64) -> String, taken: &str) -> String {
    let shape = facts.shape.as_ref().and_then(|shape| shape.words(rate, taken));
    shape.unwrap_or_else(|| {
        let [least, most] = facts.loads().unwrap_or_default().map(rate);
        format!("About {least} to {most} for {taken}")
    })
}

/// `all answered`, `98.2% of the requests answered with success`.
fn answered_part(facts: &Facts) -> String {
    match (facts.failed(), facts.sent_again_share()) {
        (0, None) => "all answered".to_owned(),
        (0, Some(again)) => {
            format!("all answered, {} of them only when brunt sent them again", share(again))
        }
        (failed, _) => {
            let part = 1.0 - failed as f64 / facts.requests.max(1) as f64;
            format!("{} of the requests answered with success", share(part))
        }
    }
}
