//! `Outcome`: the server's result, which stands beside the verdict on the measurement.

use metrics::FailureKind;
use stdx::Nanos;

use super::backlog::{Backlog, Trend};
use super::class::{Class, is_answer, is_servers, turns_away};
use super::course::Course;
use super::facts::Facts;
use super::measurement::Measurement;
use super::since::gap;
use super::words::{share, time};
use crate::number::{counted, grouped};

/// Answers a second of at least this share of the requests offered count as keeping up, in a run too short for a trend.
const KEPT_UP_MIN: f64 = 0.95;
/// A share of requests from which failures decide the outcome.
const FAILING_MIN: f64 = 0.05;
/// A backlog is the server's and not the generator's if it is worth this many times the most that the generator was late.
const LAGS_MIN: f64 = 5.0;

/// How a server came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There were no requests.
    Untested,
    /// No request was answered.
    Unanswered,
    /// No request succeeded.
    Failed,
    /// The measurement is INVALID, and what is wrong with it may have changed the outcome.
    Unjudged,
    /// A twentieth of the requests or more failed, most of them by timeouts.
    TimedOut,
    /// The same, most of them by status 429 or 503.
    TurnedAway,
    /// The same, most of them for another reason.
    Failing,
    /// The answers were successes, and a twentieth of the script's checks or more say otherwise.
    ChecksFail,
    /// The backlog grew.
    Overloaded,
    /// Nothing was answered for a second or more, and the backlog did not grow.
    Paused,
    /// The backlog stayed level, and response times did.
    KeptUp,
    /// Neither is sure.
    Unclear(Doubt),
    /// Users set the pace.
    ByUsers,
}

/// Why a run does not tell whether a server keeps up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Fewer instants than a trend needs, and answers that came late.
    Short,
    /// The backlog neither stayed level nor grew for certain.
    Backlog,
    /// Too many requests were not answered when the last one was due.
    Unanswered,
    /// All requests were due at one moment.
    Moment,
    /// Response times grew.
    Times,
    /// There are several runs.
    Several,
    /// The run is short beside its answers, or some of its requests timed out all through it.
    Steady,
}

impl Outcome {
    pub(super) fn of(facts: &Facts) -> Self {
        match () {
            () if facts.requests == 0 => Self::Untested,
            () if facts.unanswered == facts.requests && facts.share_of(is_servers) == 0.0 => {
                Self::Untested
            }
            () if facts.unanswered == facts.requests && facts.share_of(is_answer) == 0.0 => {
                Self::Unanswered
            }
            () if facts.successes == 0 => Self::Failed,
            () if facts.share_of(is_servers) >= FAILING_MIN || is_broken(facts) => failing(facts),
            () if facts.checks.are_failing() => Self::ChecksFail,
            () if facts.measurement == Measurement::Invalid => Self::Unjudged,
            () if facts.is_closed() => of_users(facts),
            () => match facts.backlog {
                Some(backlog) => by_backlog(facts, &backlog),
                None => by_rate(facts),
            },
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
            Self::Failing | Self::ChecksFail => "failing",
            Self::Overloaded => "overloaded",
            Self::Paused => "paused",
            Self::KeptUp => "kept up",
            Self::Unclear(_) => "unclear",
            Self::ByUsers => "by users",
        }
    }

    /// The server could not do what it was asked for.
    pub(super) const fn is_saturated(self) -> bool {
        matches!(self, Self::TimedOut | Self::TurnedAway | Self::Overloaded)
    }

    /// The first sentence says how many requests failed.
    pub(super) fn says_failures(self, facts: &Facts) -> bool {
        let is_of_failures = matches!(self, Self::TimedOut | Self::TurnedAway | Self::Failing);
        is_of_failures || (self == Self::KeptUp && facts.failed() > 0)
    }

    /// Nothing was answered with success, or nothing is to be believed: response times say nothing.
    pub(super) const fn is_without_figures(self) -> bool {
        matches!(self, Self::Untested | Self::Unanswered | Self::Failed | Self::Unjudged)
    }

    /// The load was even and what waits for an answer did not grow: response times have quantiles, and not only moments.
    pub(super) fn is_of_steady_load(self, facts: &Facts) -> bool {
        let keeps = matches!(self, Self::KeptUp | Self::ByUsers | Self::Unclear(_) | Self::Failing);
        keeps
            && facts.course.is_none_or(|course| course.is_even())
            && facts.backlog.is_none_or(|backlog| backlog.trend != Trend::Growing)
    }

    /// Successes a second; of a server at its limit while requests were due. Of one that is not, and whose answers only take their
    /// time, all of them are for the requests that were due.
    pub(super) fn answered_per_s(self, facts: &Facts) -> f64 {
        match facts.last_pause() {
            Some(pause) => return facts.successes as f64 / pause.at.as_secs_f64().max(1e-9),
            None if facts.asked_for().is_some() => return facts.succeeded_at_its_limit_per_s(),
            None if facts.is_closed() => return facts.succeeded_per_s(),
            None => {}
        }
        match facts.backlog.map(|backlog| backlog.trend) {
            Some(Trend::Growing) => facts.succeeded_at_its_limit_per_s(),
            Some(Trend::Level | Trend::Steady) => facts.succeeded_of_due_per_s(),
            _ if self.is_saturated() => facts.succeeded_at_its_limit_per_s(),
            Some(Trend::Unclear) => facts.succeeded_of_due_per_s(),
            None => facts.succeeded_per_s(),
        }
    }

    /// The class of its badge.
    pub(super) fn class(self) -> &'static str {
        outcome_class(self.name())
    }

    /// The server's result in a few words, after `Server: `.
    pub(super) fn result(self, facts: &Facts) -> String {
        let all = grouped(facts.requests);
        let offered = match facts.loads() {
            Some([_, most]) => format!("up to {}", facts.asked(most)),
            None => facts.offered_per_s().map_or(String::new(), |rate| facts.asked(rate)),
        };
        let answered = completed(self, facts);
        let errors = match (facts.failed(), facts.sent_again_share()) {
            (0, None) => "no errors".to_owned(),
            (0, Some(again)) => format!("{} sent twice", share(again)),
            _ => format!("{} errors", share(facts.failed_share())),
        };
        match self {
            Self::Untested if facts.requests > 0 => {
                "not tested, no request came to its end".to_owned()
            }
            Self::Untested => "not tested, there were no requests".to_owned(),
            Self::Unanswered => {
                format!("FAILED, answered none of {}", counted(facts.requests, "request"))
            }
            Self::Failed => {
                let of = counted(facts.requests, "request");
                format!("FAILED, {all} of {of} without success")
            }
            Self::Unjudged => "not judged, since the measurement is INVALID".to_owned(),
            Self::TimedOut => format!("TIMES OUT, {}{}", failures(facts), and_behind(facts)),
            Self::TurnedAway => format!("REJECTS, {}{}", failures(facts), and_behind(facts)),
            Self::Failing => format!("FAILS, {}{}", failures(facts), and_behind(facts)),
            Self::ChecksFail => format!("FAILS, {}", facts.checks.words()),
            Self::Overloaded => match facts.backlog.and_then(|backlog| backlog.onset) {
                Some(onset) if facts.loads().is_some() => {
                    format!(
                        "OVERLOADED, answers about {} at most, {errors}",
                        facts.asked(onset.answered)
                    )
                }
                _ => format!("OVERLOADED, {answered} of {offered} answered, {errors}"),
            },
            Self::Paused => pauses(facts, &offered) + ", " + &errors,
            Self::KeptUp => kept_up(facts, &offered, &errors),
            Self::Unclear(Doubt::Several) => {
                format!("several runs, each to be judged alone, {errors}")
            }
            Self::Unclear(Doubt::Moment) => format!("not clear whether it keeps up, {errors}"),
            Self::Unclear(_) => format!("not clear whether it keeps up with {offered}, {errors}"),
            Self::ByUsers if facts.never_answered > 0 => {
                let (lost, all) = (grouped(facts.never_answered), facts.users());
                format!("answered {answered}, {errors}, {lost} of {all} never answered")
            }
            Self::ByUsers if facts.is_log_in() => {
                format!("answered {answered} with a log-in page, {errors}")
            }
            Self::ByUsers => format!("answered {answered}, {errors}"),
        }
    }
}

/// `PAUSED for 5s at 80/s`, `PAUSED 3 times, 4.2s in all at 80/s`.
fn pauses(facts: &Facts, offered: &str) -> String {
    let pause = facts.backlog.and_then(|one| one.pause).unwrap_or_default();
    let at = if facts.is_closed() { String::new() } else { format!(" at {offered}") };
    match pause.all {
        Some(all) => {
            format!("PAUSED {}, {} in all{at}", counted(all.times, "time"), time(all.sum))
        }
        None => format!("PAUSED for {}{at}", time(pause.length)),
    }
}

/// What a server kept up with, and what speaks against it.
fn kept_up(facts: &Facts, offered: &str, errors: &str) -> String {
    let worked_off = facts.backlog.and_then(|backlog| backlog.worked_off);
    match worked_off {
        _ if facts.is_log_in() => match facts.log_in_share() {
            1.0 => format!("kept up with {offered} for a log-in page, {errors}"),
            part => {
                format!("kept up with {offered}, {} of it for a log-in page, {errors}", share(part))
            }
        },
        _ if gap(facts).is_some() => {
            format!("kept up with {offered}, but for a gap as at a restart, {errors}")
        }
        _ if facts.failed() > 0 => format!("kept up with {offered}, but {errors}"),
        Some(gone) => format!(
            "kept up with {offered}, but fell behind from {} to {}, {errors}",
            time(gone.from),
            time(gone.until)
        ),
        None => format!("kept up with {offered}, {errors}"),
    }
}

/// What came to its end of what was asked for: requests answered with success, or iterations.
pub(super) fn completed(outcome: Outcome, facts: &Facts) -> String {
    let of_iterations = facts.iterations.map(|one| one.completed_per_s);
    facts.asked(of_iterations.unwrap_or_else(|| outcome.answered_per_s(facts)))
}

/// The class of the badge of an outcome, by its name in JSON: `good`, `bad`, or none where it is neither. Outcomes of tests of
/// Action Cable and of searches have theirs, too.
#[must_use]
pub fn outcome_class(name: &str) -> &'static str {
    match name {
        "kept up" | "limit found" => "good",
        "unanswered"
        | "failed"
        | "timed out"
        | "turned away"
        | "failing"
        | "overloaded"
        | "paused"
        | "lost messages"
        | "dropped connections"
        | "sent no pings"
        | "no limit" => "bad",
        _ => "",
    }
}

/// `97% of the requests failed: 871 got status 504`: by the classes, the most frequent first.
fn failures(facts: &Facts) -> String {
    let part = share(facts.share_of(is_servers));
    format!("{part} of the requests failed: {}", stdx::list_and(&facts.class_words(is_servers)))
}

/// What most failures are. Statuses and timeouts that are too few alone to decide are failures of several kinds. A generator that was
/// late may have made timeouts, and no other failure.
fn failing(facts: &Facts) -> Outcome {
    let timed_out = facts.share_of(|class| class == Class::Failure(FailureKind::Timeout));
    let timeouts = if are_timeouts_doubtful(facts) { 0.0 } else { timed_out };
    let turned_away = facts.share_of(turns_away);
    let other = facts.share_of(is_servers) - timed_out - turned_away;
    match () {
        () if timeouts + turned_away + other < FAILING_MIN && !is_broken(facts) => {
            Outcome::Unjudged
        }
        () if other >= timeouts + turned_away => Outcome::Failing,
        () if turned_away >= timeouts.max(FAILING_MIN) => Outcome::TurnedAway,
        () if timeouts >= FAILING_MIN => Outcome::TimedOut,
        () => Outcome::Failing,
    }
}

/// Failures that are too few of all to decide, and lie where nothing else came: the server was down for a time, or a target never
/// worked.
fn is_broken(facts: &Facts) -> bool {
    let is_dead = facts.worst.as_ref().is_some_and(|worst| worst.is_dead);
    (is_dead || facts.is_down()) && facts.share_of(is_servers) > 0.0
}

/// A generator that was late by much of the timeout may have made timeouts, and one whose fault is another may have, too.
fn are_timeouts_doubtful(facts: &Facts) -> bool {
    let lag = facts.lag_max.as_secs_f64();
    let is_long = facts.timed_out_from.is_none_or(|from| from.as_secs_f64() < LAGS_MIN * lag);
    match facts.measurement {
        Measurement::Valid | Measurement::Blind => false,
        Measurement::Late | Measurement::NotBegun => is_long,
        Measurement::Invalid => true,
    }
}

/// A pause is the server's if it is many times as long as the generator was late, and the rate of users is their own: that of a
/// generator that stood still is less than theirs.
fn of_users(facts: &Facts) -> Outcome {
    let pause = facts.backlog.and_then(|backlog| backlog.pause);
    let lag = facts.lag_max.as_secs_f64();
    let is_paused = pause.is_some_and(|pause| pause.length.as_secs_f64() >= LAGS_MIN * lag);
    match facts.measurement {
        _ if is_paused => Outcome::Paused,
        Measurement::Valid | Measurement::Blind => Outcome::ByUsers,
        Measurement::Late if !facts.is_load_short && !facts.raised[0] => Outcome::ByUsers,
        Measurement::Late | Measurement::NotBegun | Measurement::Invalid => Outcome::Unjudged,
    }
}

/// By how much a server that fails falls behind, too.
pub(super) fn and_behind(facts: &Facts) -> String {
    let grows = facts.backlog.filter(|backlog| backlog.trend == Trend::Growing);
    grows.filter(|_| facts.offered_per_s().is_some()).map_or(String::new(), |backlog| {
        let behind = backlog.growth * facts.offered_per_s().unwrap_or(0.0);
        format!(", and what waits for an answer grows by {}", facts.asked(behind))
    })
}

/// Lateness of the generator only adds to a backlog: one that stayed level is level, and one that grew to many times what the
/// generator was late is the server's.
fn by_backlog(facts: &Facts, backlog: &Backlog) -> Outcome {
    let late = !facts.measurement.is_good();
    // Of a load that was less than asked for only what the server could not do stands.
    let is_less = facts.measurement == Measurement::NotBegun;
    let lag = facts.lag_max.as_secs_f64();
    match backlog.trend {
        Trend::Growing if late && backlog.delay < LAGS_MIN * lag => return Outcome::Unjudged,
        Trend::Growing if backlog.pause.is_some() && backlog.hangs() => {}
        Trend::Growing => return Outcome::Overloaded,
        Trend::Level | Trend::Steady | Trend::Unclear => {}
    }
    if let Some(pause) = backlog.pause {
        let is_servers = pause.length.as_secs_f64() >= LAGS_MIN * lag;
        match (is_servers, late) {
            (true, _) => return Outcome::Paused,
            (false, true) => return Outcome::Unjudged,
            // A generator may stand still for a second of a long run that is VALID; then it read nothing.
            (false, false) => {}
        }
    }
    let doubt = match () {
        () if backlog.trend == Trend::Steady => Doubt::Steady,
        () if backlog.trend != Trend::Level => Doubt::Backlog,
        () if !backlog.is_answered => Doubt::Unanswered,
        () if facts.course.is_some_and(|course| course.is_even() && course.is_rising()) => {
            Doubt::Times
        }
        () if is_less => return Outcome::Unjudged,
        () => return Outcome::KeptUp,
    };
    let is_lags = late && backlog.delay < LAGS_MIN * lag;
    if is_less || is_lags { Outcome::Unjudged } else { Outcome::Unclear(doubt) }
}

fn by_rate(facts: &Facts) -> Outcome {
    let offered = facts.offered_per_s().unwrap_or(0.0);
    let ended_per_s = facts.requests as f64 / facts.elapsed.as_secs_f64().max(1e-9);
    let even = facts.course.filter(Course::is_even);
    match even {
        _ if !facts.measurement.is_good() => Outcome::Unjudged,
        _ if facts.has_gaps => Outcome::Unclear(Doubt::Several),
        _ if facts.duration == Nanos::ZERO => Outcome::Unclear(Doubt::Moment),
        Some(course) if course.is_growing() => Outcome::Overloaded,
        Some(_) => Outcome::KeptUp,
        None if ended_per_s >= KEPT_UP_MIN * offered => Outcome::KeptUp,
        None => Outcome::Unclear(Doubt::Short),
    }
}
