//! `Outcome`: the server's result, which stands beside the verdict on the measurement.

use metrics::FailureKind;

use super::facts::{Class, Facts, Measurement, Offered};
use super::words::{per_s, share};
use crate::number::{counted, grouped};

/// Answers a second of at least this share of the requests offered count as keeping up.
const KEPT_UP_MIN: f64 = 0.95;
/// A share of requests from which timeouts, or statuses that turn requests away, decide the outcome.
const REFUSED_MIN: f64 = 0.05;

/// How a server came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There were no requests.
    Untested,
    /// No request was answered.
    Unanswered,
    /// No request succeeded.
    Failed,
    /// The measurement is INVALID.
    Unjudged,
    /// A twentieth of the requests or more timed out.
    TimedOut,
    /// A twentieth of the requests or more got status 429 or 503.
    TurnedAway,
    /// A backlog grew all through the run.
    Overloaded,
    /// Answers came at the rate of the requests.
    KeptUp,
    /// Answers came later than the requests, and the run is too short or too uneven to tell whether a backlog grew.
    Unclear,
    /// Users set the pace.
    ByUsers,
}

impl Outcome {
    pub(super) fn of(facts: &Facts) -> Self {
        let timeouts = facts.share_of(|class| class == Class::Failure(FailureKind::Timeout));
        let turned_away = facts.share_of(turns_away);
        match () {
            () if facts.requests == 0 => Self::Untested,
            () if facts.unanswered == facts.requests => Self::Unanswered,
            () if facts.successes == 0 => Self::Failed,
            () if facts.measurement == Measurement::Invalid => Self::Unjudged,
            () if timeouts >= REFUSED_MIN => Self::TimedOut,
            () if turned_away >= REFUSED_MIN => Self::TurnedAway,
            () if matches!(facts.offered, Offered::Users(_) | Offered::Script(_)) => Self::ByUsers,
            () => by_rate(facts),
        }
    }

    /// The name in JSON.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Unanswered => "unanswered",
            Self::Failed => "failed",
            Self::Unjudged => "unjudged",
            Self::TimedOut => "timed out",
            Self::TurnedAway => "turned away",
            Self::Overloaded => "overloaded",
            Self::KeptUp => "kept up",
            Self::Unclear => "unclear",
            Self::ByUsers => "by users",
        }
    }

    /// The server could not do what it was asked for.
    pub(super) const fn is_saturated(self) -> bool {
        matches!(self, Self::TimedOut | Self::TurnedAway | Self::Overloaded)
    }

    /// Answers a second; of a server at its limit while requests were due.
    pub(super) fn answered_per_s(self, facts: &Facts) -> f64 {
        match self.is_saturated() {
            true => facts.answered_at_its_limit_per_s(),
            false => facts.answered_per_s(),
        }
    }

    /// The class of its badge.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Unanswered | Self::Failed => "bad",
            _ if self.is_saturated() => "bad",
            Self::KeptUp => "good",
            _ => "",
        }
    }

    /// The server's result in a few words, after `Server: `.
    pub(super) fn result(self, facts: &Facts) -> String {
        let all = grouped(facts.requests);
        let offered = facts.offered_per_s().map_or(String::new(), per_s);
        let answered = per_s(self.answered_per_s(facts));
        let errors = match facts.failed() {
            0 => "no errors".to_owned(),
            failed => format!("{} errors", share(failed as f64 / facts.requests.max(1) as f64)),
        };
        match self {
            Self::Untested => "not tested, there were no requests".to_owned(),
            Self::Unanswered => {
                format!("FAILED, answered none of {}", counted(facts.requests, "request"))
            }
            Self::Failed => {
                let of = counted(facts.requests, "request");
                format!("FAILED, {all} of {of} without success")
            }
            Self::Unjudged => "not judged, since the measurement is INVALID".to_owned(),
            Self::TimedOut => {
                let late = facts.share_of(|class| class == Class::Failure(FailureKind::Timeout));
                format!("OVERLOADED, {} of the requests timed out", share(late))
            }
            Self::TurnedAway => {
                format!(
                    "OVERLOADED, turned {} of the requests away",
                    share(facts.share_of(turns_away))
                )
            }
            Self::Overloaded => format!("OVERLOADED, {answered} of {offered} answered, {errors}"),
            Self::KeptUp => format!("kept up with {offered}, {errors}"),
            Self::Unclear => format!("not clear whether it keeps up with {offered}, {errors}"),
            Self::ByUsers => format!("answered {answered}, {errors}"),
        }
    }
}

/// Statuses by which a server says that it cannot take a request now (RFC 9110, 15.6.4; RFC 6585, 4).
pub(super) fn turns_away(class: Class) -> bool {
    matches!(class, Class::Status(429 | 503))
}

fn by_rate(facts: &Facts) -> Outcome {
    let offered = facts.offered_per_s().unwrap_or(0.0);
    let ended_per_s = facts.requests as f64 / facts.elapsed.as_secs_f64().max(1e-9);
    let even = facts.course.filter(super::course::Course::is_even);
    match even {
        Some(course) if course.is_growing() => Outcome::Overloaded,
        Some(_) => Outcome::KeptUp,
        None if ended_per_s >= KEPT_UP_MIN * offered => Outcome::KeptUp,
        None => Outcome::Unclear,
    }
}
