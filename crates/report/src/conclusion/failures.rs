//! Sentences on failed requests, on targets that are slow, on checks, and on requests that were sent twice.

use metrics::FailureKind;
use metrics::Outcome as Answer;
use stdx::list_and;

use super::class::Class;
use super::facts::Facts;
use super::outcome::Outcome;
use super::sentence::{Kind, Sentence};
use super::since::since;
use super::words::share;
use crate::number::{counted, grouped};

/// Failed requests by class; none where the first sentence has them.
pub(super) fn errors(facts: &Facts, outcome: Outcome) -> Option<Sentence> {
    let failed = facts.failed();
    if failed == 0 || matches!(outcome, Outcome::Unanswered | Outcome::Failed) {
        return None;
    }
    let part = failed as f64 / facts.requests as f64;
    let since = if outcome.says_failures(facts) { String::new() } else { since(facts) };
    let text = format!(
        "{} of {} ({}) failed: {}{}{since}{}{}.",
        grouped(failed),
        counted(facts.requests, "request"),
        share(part),
        list_and(&facts.class_words(|_| true)),
        error(facts),
        whose(facts),
        gateway(facts)
    );
    let mut figures = vec![("failed", failed as f64), ("share", part)];
    if let Some(outage) = facts.outage {
        figures.push(("failing_from", outage.from.0 as f64));
        figures.extend(outage.until.map(|until| ("failing_until", until.0 as f64)));
    }
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// ` (remote error: tls: handshake failure)`, where a class has too few words for what went wrong.
fn error(facts: &Facts) -> String {
    use FailureKind::{Decode, Dial, Dns, Malformed, Proxy, Tls};
    let is_of_text = |(class, _): &&(Class, u64)| {
        matches!(class, Class::Failure(Tls | Dial | Dns | Malformed | Proxy | Decode))
    };
    let text = facts
        .spread
        .text
        .as_ref()
        .filter(|_| facts.classes.first().is_some_and(|one| is_of_text(&one)));
    text.map_or(String::new(), |text| format!(" ({text})"))
}

/// When failures came and whose they are, where they have no moment: the one target, or all of them alike.
fn whose(facts: &Facts) -> String {
    let has_moment = facts.outage.is_some() || facts.outages.is_some();
    let through = match facts.spread.is_all_through && !has_moment {
        true => ", all through the run",
        false => "",
    };
    match &facts.worst {
        Some(worst) => format!("{through}; {}", worst.words()),
        None => format!("{through}{}", facts.spread.targets.words()),
    }
}

/// Who says 502 and 504, where that is most of what failed: no application does.
fn gateway(facts: &Facts) -> String {
    let most = facts.classes.first().filter(|(_, count)| 2 * count >= facts.failed());
    let what = match most {
        Some((Class::Status(Answer::Http(504)), _)) => "gave up waiting for what is behind it",
        Some((Class::Status(Answer::Http(502)), _)) => {
            "got no usable answer from what is behind it"
        }
        _ => return String::new(),
    };
    format!("; so says a proxy (or the server, in its place) that {what}")
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
    let text = match outcome {
        Outcome::Untested => return None,
        // The first sentence has their number.
        Outcome::ChecksFail => facts.checks.worst_sentence()?,
        _ => facts.checks.sentence()?,
    };
    let figures =
        vec![("checks", facts.checks.all as f64), ("failed_checks", facts.checks.failed as f64)];
    Some(Sentence { kind: Kind::Errors, text, figures })
}

/// Requests that were sent a second time, which no row shows.
pub(super) fn sent_again(facts: &Facts) -> Option<Sentence> {
    let part = facts.sent_again_share()?;
    let text = format!(
        "{} of {} ({}) {} sent twice, since the server closed the connection, which it had kept open, instead of answering; it \
         may have worked on them the first time.",
        grouped(facts.sent_again),
        counted(facts.requests, "request"),
        share(part),
        stdx::were(facts.sent_again)
    );
    let figures = vec![("sent_again", facts.sent_again as f64), ("share", part)];
    Some(Sentence { kind: Kind::Errors, text, figures })
}
