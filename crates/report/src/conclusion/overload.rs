//! Words for a server that does not keep up: all the time, for a part of it, or not at all for a while.

use super::backlog::Trend;
use super::facts::Facts;
use super::onset::Onset;
use super::outcome::{Outcome, completed};
use super::words::time;
use crate::number::counted;

/// A server that falls behind within this share of a run may have been cold.
const COLD_MAX: f64 = 0.06;
/// Slow answers of which so many are of one target are its own.
const ONE_TARGET_MIN: f64 = 0.95;

/// By how much a server falls behind, since when, and at which load.
pub(super) fn overloaded(facts: &Facts, load: &str) -> String {
    let backlog = facts.backlog.unwrap_or_default();
    match backlog.onset {
        Some(onset) if backlog.loads.is_some() => format!(
            "{load}: the server answers about {} at most; its backlog grows from {} on, when about {} were asked{}.",
            facts.asked(onset.answered),
            time(onset.at),
            facts.asked(onset.asked),
            not_begun(facts)
        ),
        Some(onset) => overloaded_since(facts, load, onset),
        None => {
            let ended = if facts.iterations.is_some() { "completed" } else { "answered" };
            let rest = [held(facts), left(facts), not_begun(facts)].concat();
            let (answered, behind) = (completed(Outcome::Overloaded, facts), behind(facts));
            let by = by_one_target(facts);
            format!("{load}, {answered} {ended}: the server is overloaded{by}{behind}{rest}.")
        }
    }
}

/// A server that kept up until a moment: the rates are of the time after it.
fn overloaded_since(facts: &Facts, load: &str, onset: Onset) -> String {
    let less = facts.offered_per_s().unwrap_or(0.0) - onset.answered;
    format!(
        "{load}: the server is overloaded{} from {} on: since then it answers about {}, {} less than asked{}{}{}.",
        by_one_target(facts),
        time(onset.at),
        facts.asked(onset.answered),
        facts.asked(less.max(0.0)),
        held(facts),
        left(facts),
        not_begun(facts)
    )
}

/// ` and falls behind by 9/s`: what was asked less what was answered, where nothing else became of it.
fn behind(facts: &Facts) -> String {
    let backlog = facts.backlog.unwrap_or_default();
    let offered = facts.offered_per_s().unwrap_or(0.0);
    let answered = match facts.iterations {
        Some(iterations) => iterations.completed_per_s,
        None => Outcome::Overloaded.answered_per_s(facts),
    };
    let behind = match facts.failed() {
        0 => offered - answered,
        _ => backlog.growth * offered,
    };
    match backlog.growth > 0.0 && backlog.loads.is_none() && behind > 0.0 {
        true => format!(" and falls behind by {}", facts.asked(behind)),
        false => String::new(),
    }
}

/// Where all that takes long is of one target, the others may well keep up.
fn by_one_target(facts: &Facts) -> &'static str {
    let is_it = facts.slowest.as_ref().is_some_and(|slowest| {
        slowest.target.bad as f64 >= ONE_TARGET_MIN * slowest.target.all_bad as f64
    });
    if is_it { " by one of its targets" } else { "" }
}

fn held(facts: &Facts) -> String {
    match facts.is_held {
        true => ", or -max-workers allows too few requests at once".to_owned(),
        false => String::new(),
    }
}

/// What became of the requests that waited when the last one was due.
fn left(facts: &Facts) -> String {
    let left = facts.backlog.map_or(0.0, |backlog| backlog.last).round() as u64;
    if left == 0 || facts.is_interrupted {
        return String::new();
    }
    let wait = time(facts.elapsed.saturating_sub(facts.duration));
    match (facts.iterations, facts.failed()) {
        (Some(_), _) => {
            let were = stdx::were(left);
            format!("; {} {were} under way when the last one fell due", counted(left, "iteration"))
        }
        (None, 0) => format!(
            "; the {} that still waited at the end {} answered within {wait} after it",
            counted(left, "request"),
            stdx::were(left)
        ),
        (None, _) => format!("; {} still waited at the end", counted(left, "request")),
    }
}

/// Iterations for which no user was free, beside a server that kept them.
fn not_begun(facts: &Facts) -> String {
    match facts.not_begun {
        0 => String::new(),
        count => format!(
            "; {} {} never begun, since every user was waiting for the server",
            counted(count, "iteration"),
            stdx::were(count)
        ),
    }
}

/// `fell behind from 8s to 14s, when up to 200/s were asked and up to 250 requests waited, and kept up before and after`: a part of a run
/// in which a server that kept up at last did not.
pub(super) fn behind_for_a_time(facts: &Facts) -> Option<String> {
    let backlog = facts.backlog?;
    let gone = backlog.worked_off?;
    let noun = if facts.iterations.is_some() { "iteration" } else { "request" };
    let is_first = gone.from.0 as f64 <= COLD_MAX * facts.nominal().0 as f64;
    let asked = match backlog.loads {
        Some(_) => format!("up to {} were asked and ", facts.asked(gone.asked)),
        None => String::new(),
    };
    let cold = if is_first && backlog.loads.is_none() { ", perhaps still cold," } else { "" };
    let rest = if is_first { "after that" } else { "before and after" };
    Some(format!(
        "fell behind{cold} from {} to {}, when {asked}up to {} waited, and kept up {rest}",
        time(gone.from),
        time(gone.until),
        counted(gone.most as u64, noun)
    ))
}

/// How long a server answered nothing, when, and what the rest of the run was.
pub(super) fn paused(facts: &Facts, load: &str, answered: &str) -> String {
    let backlog = facts.backlog.unwrap_or_default();
    let pause = backlog.pause.unwrap_or_default();
    let (from, length) = (time(pause.at), time(pause.length));
    let nothing = match pause.all {
        Some(all) => format!("nothing for a second or longer {}", all.words()),
        None if backlog.hangs() => {
            format!("nothing from {from} on, until the last request was due")
        }
        None => format!("nothing for {length}, from {from} to {}", time(pause.at + pause.length)),
    };
    let rest = match backlog.trend {
        _ if facts.is_closed() => few(pause.waited),
        Trend::Level if facts.failed() == 0 && pause.all.is_some() => {
            "; it kept up in between".to_owned()
        }
        Trend::Level if facts.failed() == 0 => "; it kept up before and after".to_owned(),
        Trend::Level => "; its backlog was level before and after".to_owned(),
        Trend::Growing | Trend::Steady | Trend::Unclear => String::new(),
    };
    format!("{load}, {answered}: the server answered {nothing}{rest}{}.", not_begun(facts))
}

/// Users who wait ask for nothing, so that a stop holds no more requests than there are users.
fn few(waited: u64) -> String {
    match waited {
        0 => String::new(),
        1 => "; only 1 request waited for its end, so percentiles hardly show it".to_owned(),
        some => format!("; only {some} requests waited for its end, so percentiles hardly show it"),
    }
}
