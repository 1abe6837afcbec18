//! Sentences on how much was requested and answered, on failed requests, and on response times.

use stdx::{Nanos, list_and};

use metrics::FailureKind;

use super::backlog::Trend;
use super::facts::{Class, Facts, Offered, QUANTILES};
use super::outcome::{Doubt, Outcome, and_behind, completed, is_servers, turns_away};
use super::sentence::{Kind, Sentence};
use super::since::since;
use super::words::{per_s, share, three, time};
use crate::number::{counted, grouped};

/// A quantile is stated where so many requests lie beyond it: the count of those varies by 1 / √5, less than half, from run to
/// run (Poisson).
const BEYOND_MIN: f64 = 5.0;
/// Users' response times that grow by less are not worth a word.
const SLOWER_MIN: Nanos = Nanos::from_millis(20);
const TIMEOUT: Class = Class::Failure(FailureKind::Timeout);

/// How much was requested and answered, and whether the server kept up.
pub(super) fn throughput(facts: &Facts, outcome: Outcome) -> Sentence {
    let kind = if outcome.is_saturated() { Kind::Saturation } else { Kind::Throughput };
    let load = load(facts);
    let (answered, all) =
        (facts.of_requests(outcome.answered_per_s(facts)), grouped(facts.requests));
    let classes = || list_and(&facts.class_words(|_| true));
    let text = match outcome {
        Outcome::Untested if facts.requests > 0 => {
            format!("{load}, nothing answered: of {all} requests {}.", classes())
        }
        Outcome::Untested => {
            "There were no requests, so nothing can be said of the server.".to_owned()
        }
        Outcome::Unanswered if facts.requests == 1 => {
            format!("The request was not answered: it {}.", of_one(&classes()))
        }
        Outcome::Unanswered => {
            format!("{load}, nothing answered: of {all} requests {}.", classes())
        }
        Outcome::Failed if facts.requests == 1 => {
            format!("The request did not succeed: it {}.", of_one(&classes()))
        }
        Outcome::Failed => format!("{load}, no request succeeded: of {all} {}.", classes()),
        Outcome::TimedOut => format!(
            "{load}, {answered} answered with success: {} of the requests time out{}.",
            share(facts.share_of(|class| class == TIMEOUT)),
            growth_and_moment(facts)
        ),
        Outcome::TurnedAway => format!(
            "{load}, {answered} answered with success: the server turns {} of the requests away{}.",
            share(facts.share_of(turns_away)),
            growth_and_moment(facts)
        ),
        Outcome::Failing => format!(
            "{load}, {answered} answered with success: {} of the requests fail{}.",
            share(facts.share_of(is_servers)),
            growth_and_moment(facts)
        ),
        Outcome::ChecksFail => {
            format!("{load}, {}, but {}.", answered_part(facts), facts.checks.words())
        }
        Outcome::Overloaded => overloaded(facts, &load, &completed(outcome, facts)),
        Outcome::Paused => paused(facts, &load),
        Outcome::KeptUp if facts.failed() > 0 => {
            let failed = share(facts.failed_share());
            let since = since(facts);
            format!("{load}: the server kept up, but {failed} of the requests failed{since}.")
        }
        Outcome::KeptUp => format!(
            "{load}, {}: the server kept up{}.",
            answered_part(facts),
            after_falling_behind(facts)
        ),
        Outcome::Unclear(doubt) => unclear(facts, &load, doubt),
        Outcome::Unjudged | Outcome::ByUsers if facts.not_begun > 0 => format!(
            "{load}: {answered} answered; {} fell due and {} never begun.",
            counted(facts.not_begun, "iteration"),
            stdx::were(facts.not_begun)
        ),
        Outcome::Unjudged | Outcome::ByUsers if facts.never_answered > 0 => format!(
            "{load}: {answered} answered; {} of the users {} never answered, so the load was that of the others.",
            grouped(facts.never_answered),
            stdx::were(facts.never_answered)
        ),
        Outcome::Unjudged | Outcome::ByUsers => {
            format!("{load}: {answered} answered{}.", slower(facts, outcome))
        }
    };
    Sentence { kind, text, figures: figures(facts, outcome) }
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

/// The part of a run in which a server that kept up at last did not.
fn after_falling_behind(facts: &Facts) -> String {
    let gone = facts.backlog.and_then(|backlog| backlog.worked_off);
    gone.map_or(String::new(), |gone| {
        let noun = if facts.iterations.is_some() { "iteration" } else { "request" };
        format!(
            " in the end; it fell behind from {} to {}, when up to {} waited",
            time(gone.from),
            time(gone.until),
            counted(gone.most as u64, noun)
        )
    })
}

/// Users see a server that becomes slower and slower as response times, and ask for less.
fn slower(facts: &Facts, outcome: Outcome) -> String {
    let thirds = facts.course.filter(|_| outcome == Outcome::ByUsers).map(|course| course.thirds);
    let Some([first, middle, last]) = thirds.map(|thirds| thirds.map(|third| third.p50)) else {
        return String::new();
    };
    let rises = first < middle && middle < last && last.0 >= 2 * first.0;
    match rises && last.saturating_sub(first) >= SLOWER_MIN {
        true => format!(
            "; the median response time grew from {} to {} over the run",
            time(first),
            time(last)
        ),
        false => String::new(),
    }
}

/// What is said of many requests, of one.
fn of_one(classes: &str) -> String {
    classes.replace(" their ", " its ").replace("were under way", "was under way")
}

/// By how much a server falls behind, since when, and at which load.
fn overloaded(facts: &Facts, load: &str, answered: &str) -> String {
    let backlog = facts.backlog.unwrap_or_default();
    let onset = backlog.onset;
    if let (Some(onset), Some(_)) = (onset, backlog.loads) {
        return format!(
            "{load}: the server answers about {} at most; its backlog grows from {} on, when about {} were asked.",
            facts.asked(onset.answered),
            time(onset.at),
            facts.asked(onset.asked)
        );
    }
    let behind = match backlog.growth * facts.offered_per_s().unwrap_or(0.0) {
        none if none <= 0.0 || backlog.loads.is_some() => String::new(),
        behind => format!(" and falls behind by {}", facts.asked(behind)),
    };
    let since = onset.map_or(String::new(), |onset| format!(", from {} on", time(onset.at)));
    let held = match facts.is_held {
        true => ", or -max-workers allows too few requests at once",
        false => "",
    };
    let ended = if facts.iterations.is_some() { "completed" } else { "answered" };
    format!(
        "{load}, {answered} {ended}: the server is overloaded{behind}{since}{held}{}.",
        not_begun(facts)
    )
}

/// Iterations for which no user was free, beside a server that kept them.
fn not_begun(facts: &Facts) -> String {
    match facts.not_begun {
        0 => String::new(),
        count => format!(
            "; {} {} never begun, since every user waited for it",
            counted(count, "iteration"),
            stdx::were(count)
        ),
    }
}

/// How long a server answered nothing, when, and what the rest of the run was.
fn paused(facts: &Facts, load: &str) -> String {
    let backlog = facts.backlog.unwrap_or_default();
    let pause = backlog.pause.unwrap_or_default();
    let (from, length) = (time(pause.at), time(pause.length));
    let nothing = match backlog.hangs() {
        true => format!("nothing from {from} on, until the last request was due"),
        false => format!("nothing for {length}, from {from} to {}", time(pause.at + pause.length)),
    };
    let rest = match backlog.trend {
        _ if facts.is_closed() => "",
        Trend::Level if facts.failed() == 0 => "; it kept up with the rest",
        Trend::Level => "; its backlog was level in the rest",
        Trend::Growing | Trend::Steady | Trend::Unclear => "",
    };
    let answered = answered_part(facts);
    format!("{load}, {answered}: the server answered {nothing}{rest}{}.", not_begun(facts))
}

fn why_unclear(facts: &Facts, doubt: Doubt) -> String {
    match doubt {
        Doubt::Short => format!(
            "the last {} after it was due",
            time(facts.elapsed.saturating_sub(facts.duration))
        ),
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

/// `60/s for 10s`, `4 users for 10s`, `80 iterations/s of a script for 10s`.
fn load(facts: &Facts) -> String {
    let taken = time(facts.nominal());
    match facts.offered {
        Offered::Rate(_) | Offered::Unknown if facts.changes == 0 && facts.loads().is_some() => {
            let [least, most] = facts.loads().unwrap_or_default().map(per_s);
            format!("About {least} to {most} for {taken}")
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
            let [least, most] = facts.loads().unwrap_or_default().map(three);
            format!("About {least} to {most} iterations/s of a script for {taken}")
        }
        Offered::Iterations(rate) => format!("{} of a script for {taken}", facts.asked(rate)),
        Offered::Users(users) => format!("{} for {}", counted(users, "user"), time(facts.elapsed)),
        Offered::Script(users) => {
            format!("A script with up to {} for {}", counted(users, "user"), time(facts.elapsed))
        }
    }
}

/// `all answered`, `98.2% of the requests answered with success`.
fn answered_part(facts: &Facts) -> String {
    match (facts.failed(), facts.sent_again_share()) {
        (0, None) => "all answered".to_owned(),
        (0, Some(again)) => format!("all answered, {} of them at the second try", share(again)),
        (failed, _) => {
            let part = 1.0 - failed as f64 / facts.requests.max(1) as f64;
            format!("{} of the requests answered with success", share(part))
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
    let whose = facts.worst.as_ref().map_or(String::new(), |worst| format!("; {}", worst.words()));
    let since = if outcome.says_failures(facts) { String::new() } else { since(facts) };
    let text = format!(
        "{} of {} ({}) failed: {}{since}{whose}.",
        grouped(failed),
        counted(facts.requests, "request"),
        share(part),
        list_and(&facts.class_words(|_| true))
    );
    let mut figures = vec![("failed", failed as f64), ("share", part)];
    if let Some(outage) = facts.outage {
        figures.push(("failing_from", outage.from.0 as f64));
        figures.extend(outage.until.map(|until| ("failing_until", until.0 as f64)));
    }
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// Which target the server is slow with, where it could not keep up or that is not clear.
pub(super) fn slowest(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let slowest = facts.slowest.as_ref()?;
    let is_wanted = matches!(outcome, Outcome::Overloaded | Outcome::Unclear(_));
    let figures = vec![("slow", slowest.target.bad as f64), ("slow_from", slowest.than.0 as f64)];
    is_wanted.then(|| Sentence { kind: Kind::Caution, text: slowest.words() + ".", figures })
}

/// Checks that failed; which of them did most.
pub(super) fn checks(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let text = facts.checks.sentence().filter(|_| outcome != Outcome::Untested)?;
    let figures =
        vec![("checks", facts.checks.all as f64), ("failed_checks", facts.checks.failed as f64)];
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// Requests that were sent a second time, which no row shows.
pub(super) fn sent_again(facts: &Facts) -> Option<Sentence> {
    let part = facts.sent_again_share()?;
    let text = format!(
        "{} of {} ({}) {} sent twice: the server closed the connection that it had kept instead of an answer, and may have \
         worked on the first.",
        grouped(facts.sent_again),
        counted(facts.requests, "request"),
        share(part),
        stdx::were(facts.sent_again)
    );
    let figures = vec![("sent_again", facts.sent_again as f64), ("share", part)];
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// Response times; none that the generator itself raised, and none without successes.
pub(super) fn latency(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    if outcome.is_without_figures() {
        return None;
    }
    let growing = facts.course.filter(|one| outcome == Outcome::Overloaded && one.is_growing());
    let mut parts: Vec<String> = Vec::new();
    let mut figures = Vec::new();
    let names = [("Half of the requests", "p50"), ("95 of 100", "p95"), ("99 of 100", "p99")];
    for ((words, name), value) in names.into_iter().zip(stated(facts, outcome)) {
        let Some(value) = value else { continue };
        parts.push(format!("{words} took at most {}", time(value)));
        figures.push((name, value.0 as f64));
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

/// Which of the 50th, 95th and 99th percentiles may be stated: those that the generator did not raise, no timeout cut, and enough
/// requests lie beyond.
pub(super) fn stated(facts: &Facts, outcome: Outcome) -> [Option<Nanos>; 3] {
    let is_stated = |at: usize| {
        let value = facts.times[at];
        let is_cut =
            facts.timed_out_from.is_some_and(|from| value.0 as f64 >= from.0 as f64 * 0.999);
        let is_known = facts.requests as f64 * (1.0 - QUANTILES[at]) >= BEYOND_MIN;
        (is_known && !is_cut && !facts.raised[at] && !outcome.is_without_figures()).then_some(value)
    };
    std::array::from_fn(is_stated)
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
