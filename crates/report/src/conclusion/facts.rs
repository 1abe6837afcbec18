//! `Facts`: what a conclusion is drawn from, taken from a report's input.

use metrics::tally::Assertion;
use metrics::{EventKind, FailureKind, Generator, Reason, Summary, Timeline, Verdict};
use stdx::Nanos;

use super::backlog::{Backlog, Users};
use super::checks::Checks;
use super::class::Class;
use super::course::Course;
use super::elsewhere::{Elsewhere, asks_for_login};
use super::iterations::Iterations;
use super::late::Late;
use super::load::Load;
use super::measurement::Measurement;
use super::outage::Outage;
use super::outages::outages;
use super::pause::{PAUSE_MIN, Pause};
use super::repeat::Repeat;
use super::servers::Servers;
use super::shape::Shape;
use super::spread::Spread;
use super::steady::Waits;
use super::words::{per_s as per_s_words, three, time};
use super::worst::{Slowest, Worst};
use crate::Input;
use crate::number::{counted, grouped};
use crate::quantiles::{self, Interval};

/// Classes of failed requests in a sentence, at most; the rest is counted.
const CLASSES_SHOWN: usize = 5;
/// From this share on requests that were sent a second time stand among the sentences; a kept connection that closes at the very
/// moment it is used is rarer.
pub(crate) const SENT_AGAIN_MIN: f64 = 0.01;
/// From this share on answers by a log-in page are no success, as failures are none.
const LOG_IN_MIN: f64 = 0.05;
/// Where so many times the rate of a generator was sent there were several.
const SEVERAL_MIN: f64 = 1.5;
/// The quantiles that a conclusion states.
pub(super) const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

/// What a run's conclusion is drawn from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) offered: Offered,
    /// How often someone changed the load while the run went on.
    pub(super) changes: u64,
    pub(super) requests: u64,
    /// Requests answered with success.
    pub(super) successes: u64,
    /// Requests that got no answer at all.
    pub(super) unanswered: u64,
    /// The time in which requests were due.
    pub(super) duration: Nanos,
    /// That time and the wait for the last answer.
    pub(super) elapsed: Nanos,
    /// Requests that were answered with success while others were still due, a second; `None` without a timeline.
    pub(super) succeeded_meanwhile_per_s: Option<f64>,
    /// The quantiles 0.5, 0.95 and 0.99 of response times.
    pub(super) times: [Nanos; 3],
    /// The longest of them.
    pub(super) longest: Nanos,
    /// Those that took far longer than half of the requests did.
    pub(super) late: Option<Late>,
    /// Where the 95th percentile lies, as far as the response times tell.
    pub(super) p95: Option<Interval>,
    /// The least response time of requests that ran into their timeout.
    pub(super) timed_out_from: Option<Nanos>,
    /// Failed requests by class, the most frequent class first.
    pub(super) classes: Vec<(Class, u64)>,
    /// The target that has nearly all failures.
    pub(super) worst: Option<Worst>,
    /// The one that has nearly all slow answers.
    pub(super) slowest: Option<Slowest>,
    /// The span of the run that its failures lie in, where there is one.
    pub(super) outage: Option<Outage>,
    /// The spans that they lie in, where there are several.
    pub(super) outages: Option<Repeat>,
    /// How they are spread otherwise.
    pub(super) spread: Spread,
    pub(super) course: Option<Course>,
    /// How the load went, where it was not even.
    pub(super) shape: Option<Shape>,
    /// How what was due and not yet answered went; `None` without a timeline, of several runs, and of a very short one.
    pub(super) backlog: Option<Backlog>,
    pub(super) measurement: Measurement,
    /// Why a measurement is INVALID, in the verdict's words.
    pub(super) doubts: Vec<String>,
    /// The most that the generator began a request late, or stood still.
    pub(super) lag_max: Nanos,
    /// Which of `times` the generator's own lateness raised.
    pub(super) raised: [bool; 3],
    /// What to do about an INVALID measurement.
    pub(super) remedy: Option<&'static str>,
    /// How long the plan asked for requests, where it asked for more than were sent.
    pub(super) planned: Option<Nanos>,
    /// Iterations of a script that were due by an arrival rate; then the backlog is of them.
    pub(super) iterations: Option<Iterations>,
    /// Iterations of a script that were due and never begun.
    pub(super) not_begun: u64,
    /// Users of a closed loop that were never answered.
    pub(super) never_answered: u64,
    /// Where redirects led all answers of a name.
    pub(super) elsewhere: Option<Elsewhere>,
    /// Requests that were sent a second time, since their kept connection closed before its answer.
    pub(super) sent_again: u64,
    /// Checks of a script.
    pub(super) checks: Checks,
    /// A generator that was late sent less than it was asked for: a closed loop that stood still.
    pub(super) is_load_short: bool,
    /// Requests had to wait for `-max-workers`.
    pub(super) is_held: bool,
    /// The run was ended before its time.
    pub(super) is_interrupted: bool,
    /// Why it was ended before its time, and when, where that was done by a flag.
    pub(super) ended_early: Option<String>,
    /// The results are of several runs one after the other.
    pub(super) has_gaps: bool,
    pub(super) servers: Option<Servers>,
}

/// How load was offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Offered {
    /// The format has no record of it.
    #[default]
    Unknown,
    /// Requests a second, whatever the answers.
    Rate(f64),
    /// So many users, each of whom sends its next request after its last answer.
    Users(u64),
    /// At most so many users, who do what a script says.
    Script(u64),
    /// Iterations of a script a second, whatever the answers.
    Iterations(f64),
}

impl Facts {
    pub(super) fn of(input: &Input<'_>) -> Self {
        let summary = input.summary;
        let has_gaps = summary.apart > Nanos::ZERO;
        let timeline = input.timeline.filter(|_| !has_gaps);
        let span = (summary.earliest, summary.latest);
        let course = timeline.and_then(|timeline| Course::of(timeline, span));
        let load = match (timeline, course.is_none_or(|course| course.is_even())) {
            (Some(timeline), false) => Load::varying(timeline, span),
            _ => Load::Even,
        };
        let asked = offered(input);
        let backlog = timeline.and_then(|timeline| {
            Backlog::of(timeline, &Waits::of(summary), span, &load, users(asked, summary))
        });
        let by_iterations = timeline.and_then(|timeline| Iterations::of(input, timeline, backlog));
        let (iterations, load) =
            by_iterations.map_or((None, load), |(one, load)| (Some(one), load));
        let offered = iterations.map_or(asked, |one| Offered::Iterations(one.due_per_s));
        let backlog = iterations.map(|one| one.backlog).or(backlog);
        let servers = input.server.map(|one| Servers::of(&one).without_others_drops(summary));
        Self {
            changes: changes(input),
            offered,
            requests: summary.requests,
            successes: summary.successes,
            unanswered: summary.failed(),
            duration: summary.duration(),
            elapsed: summary.elapsed(),
            succeeded_meanwhile_per_s: timeline.map(|timeline| succeeded_per_s(timeline, span)),
            times: QUANTILES.map(|q| summary.response.quantile(q)),
            longest: summary.response.max(),
            late: Late::of(&summary.response),
            p95: quantiles::of_p95(input),
            timed_out_from: summary.timed_out_from.map(|from| from.0),
            classes: Class::all(summary),
            worst: Worst::of(input),
            slowest: Slowest::of(input),
            outage: timeline.and_then(|timeline| Outage::of(timeline, span)),
            outages: timeline.and_then(|timeline| outages(timeline, span.0)),
            spread: Spread::of(input, timeline),
            course,
            shape: load.shape().cloned(),
            backlog: backlog.map(|backlog| backlog.beside(servers.as_ref())),
            iterations,
            measurement: Measurement::of(input.verdict),
            doubts: input.verdict.reasons.iter().map(ToString::to_string).collect(),
            lag_max: input.generator.map_or(Nanos::ZERO, lag_max),
            raised: raised(input.verdict),
            remedy: input.verdict.remedies().first().copied(),
            planned: input.generator.and_then(planned),
            not_begun: input.generator.filter(|one| one.self_paced).map_or(0, |one| one.not_sent),
            never_answered: input.generator.and_then(Generator::users_missing).unwrap_or(0),
            elsewhere: Elsewhere::of(input),
            checks: Checks::of(input.assertions),
            is_load_short: input.verdict.reasons.iter().any(|reason| !is_of_figures(reason)),
            sent_again: input
                .generator
                .filter(|_| input.selected.is_empty())
                .map_or(0, |one| one.sent_again),
            is_interrupted: input.generator.is_some_and(|generator| generator.interrupted),
            ended_early: ended_early(input),
            is_held: input.generator.is_some_and(|generator| generator.held > 0),
            has_gaps,
            servers,
        }
    }

    /// Requests a second that were offered: by the plan, else as they were sent. `None` where users set the pace.
    pub(super) fn offered_per_s(&self) -> Option<f64> {
        match self.offered {
            Offered::Rate(rate) | Offered::Iterations(rate) => Some(rate),
            Offered::Unknown => Some(per_s(self.requests, self.nominal())),
            Offered::Users(_) | Offered::Script(_) => None,
        }
    }

    /// Users set the pace, by the plan; without one, by as many requests under way all the time.
    pub(super) fn is_closed(&self) -> bool {
        match self.offered {
            Offered::Users(_) | Offered::Script(_) => true,
            Offered::Unknown => self.backlog.is_some_and(|backlog| backlog.is_constant),
            Offered::Rate(_) | Offered::Iterations(_) => false,
        }
    }

    /// A rate of what was asked for: `80/s`, or `80 iterations/s`.
    pub(super) fn asked(&self, rate: f64) -> String {
        match self.iterations {
            Some(_) => format!("{} iterations/s", three(rate)),
            None => per_s_words(rate),
        }
    }

    /// A rate of requests where others are of iterations: `160 requests/s`; else `160/s`.
    pub(super) fn of_requests(&self, rate: f64) -> String {
        match self.iterations {
            Some(_) => format!("{} requests/s", three(rate)),
            None => per_s_words(rate),
        }
    }

    /// `20 users`; `users` where their number is not known.
    pub(super) fn users(&self) -> String {
        match self.offered {
            Offered::Users(users) | Offered::Script(users) => counted(users, "user"),
            Offered::Rate(_) | Offered::Iterations(_) | Offered::Unknown => "users".to_owned(),
        }
    }

    /// Requests a second that were answered with success, over attack and wait.
    pub(super) fn succeeded_per_s(&self) -> f64 {
        per_s(self.successes, self.elapsed)
    }

    /// The time from which on no user was answered, and the length of that.
    pub(super) fn last_pause(&self) -> Option<Pause> {
        let pause = self.backlog.and_then(|backlog| backlog.pause);
        pause.filter(|pause| pause.is_last && self.is_closed())
    }

    /// The time in which users asked, where they waited for their last answers far longer.
    pub(super) fn asked_for(&self) -> Option<Nanos> {
        let wait = self.elapsed.saturating_sub(self.duration);
        let is_long = wait >= PAUSE_MIN && wait.0 >= self.duration.0 / 10;
        (is_long && self.is_closed() && !self.has_gaps && self.duration > Nanos::ZERO)
            .then_some(self.duration)
    }

    /// The same of the time in which requests were due: what was answered of a rate that was asked. Users ask for nothing more while
    /// they wait for their last answers, which are a part of their time.
    pub(super) fn succeeded_of_due_per_s(&self) -> f64 {
        match self.is_closed() || self.has_gaps || self.duration == Nanos::ZERO {
            true => self.succeeded_per_s(),
            false => per_s(self.successes, self.nominal()),
        }
    }

    /// What a server answers that cannot do what it is asked for: the same while requests were due, without the wait for the last
    /// answers, in which it has less and less to do.
    pub(super) fn succeeded_at_its_limit_per_s(&self) -> f64 {
        self.succeeded_meanwhile_per_s.unwrap_or_else(|| self.succeeded_per_s())
    }

    /// The lowest and the highest rate asked, where the load was not even.
    pub(super) fn loads(&self) -> Option<[f64; 2]> {
        self.backlog.and_then(|backlog| backlog.loads)
    }

    /// The time that the schedule took: a gap longer than from the first due request to the last.
    pub(super) fn nominal(&self) -> Nanos {
        if let Some(iterations) = self.iterations {
            return iterations.length;
        }
        if let Some(planned) = self.planned {
            return planned;
        }
        let gaps = self.requests.saturating_sub(1).max(1) as f64;
        Nanos((self.duration.0 as f64 * self.requests as f64 / gaps) as u64)
    }

    /// Failed requests, those with an error status included.
    pub(super) fn failed(&self) -> u64 {
        self.requests - self.successes
    }

    /// Their share of all.
    pub(super) fn failed_share(&self) -> f64 {
        self.failed() as f64 / self.requests.max(1) as f64
    }

    /// For a second or more no request succeeded, whatever the share of all: no such server kept up. Timeouts are those of requests
    /// that were due before a pause, which has its own rule.
    pub(super) fn is_down(&self) -> bool {
        let is_timeout = |(class, _): &(Class, u64)| *class == Class::Failure(FailureKind::Timeout);
        let is_down = self.outage.is_some_and(|outage| outage.is_down(PAUSE_MIN));
        let were_down = self.outages.is_some_and(|outages| outages.longest >= PAUSE_MIN);
        (is_down || were_down) && !self.classes.first().is_some_and(is_timeout)
    }

    /// So many requests were answered by a log-in page, or by a redirect to one, that what was to be measured was not.
    pub(super) fn is_log_in(&self) -> bool {
        self.log_in_share() >= LOG_IN_MIN
    }

    /// The share of requests that were answered so.
    pub(super) fn log_in_share(&self) -> f64 {
        let page = self.elsewhere.as_ref().filter(|one| asks_for_login(&one.to));
        page.map_or(0.0, |one| one.requests as f64 / self.requests.max(1) as f64)
    }

    /// The share of requests that were sent a second time, where it is worth a word.
    pub(super) fn sent_again_share(&self) -> Option<f64> {
        let share = self.sent_again as f64 / self.requests.max(1) as f64;
        (share >= SENT_AGAIN_MIN).then_some(share.min(1.0))
    }

    /// `30 timed out`, `4 got status 503`.
    pub(super) fn class_words(&self, wanted: impl Fn(Class) -> bool) -> Vec<String> {
        let classes: Vec<_> = self.classes.iter().filter(|(class, _)| wanted(*class)).collect();
        let shown = classes.iter().take(CLASSES_SHOWN);
        let mut words: Vec<String> = shown
            .map(|(class, count)| match (self.requests, *count) {
                (1, _) => self.words_of(*class),
                (all, count) if count == all => format!("all {}", self.words_of(*class)),
                (_, count) => format!("{} {}", grouped(count), self.words_of(*class)),
            })
            .collect();
        let rest: u64 = classes.iter().skip(CLASSES_SHOWN).map(|(_, count)| *count).sum();
        if rest > 0 {
            words.push(format!("{} failed otherwise", grouped(rest)));
        }
        words
    }

    /// `timed out after 3s`, `got status 503`.
    pub(super) fn words_of(&self, class: Class) -> String {
        let is_timeout = class == Class::Failure(FailureKind::Timeout);
        class.words() + &if is_timeout { self.timeout() } else { String::new() }
    }

    /// ` after 3s`, where it is known when requests timed out.
    pub(super) fn timeout(&self) -> String {
        self.timed_out_from.map_or(String::new(), |from| format!(" after {}", time(from)))
    }

    /// The share of requests of some classes.
    pub(super) fn share_of(&self, wanted: impl Fn(Class) -> bool) -> f64 {
        let some = self.classes.iter().filter(|(class, _)| wanted(*class));
        some.map(|(_, count)| *count).sum::<u64>() as f64 / self.requests.max(1) as f64
    }
}

/// When a run was ended before its time, and why: "after 3.1s, since gate errors>1% is surely crossed".
fn ended_early(input: &Input<'_>) -> Option<String> {
    let (event, reason) =
        Assertion::events(input.assertions).find_map(|event| match &event.what {
            EventKind::Ended(reason) => Some((event, reason)),
            _ => None,
        })?;
    let started = if input.summary.requests > 0 { input.summary.earliest } else { event.at };
    let after = event.at.saturating_sub(started).max(0).unsigned_abs();
    let run = if event.run.is_empty() { String::new() } else { format!(" ({})", event.run) };
    Some(format!("after {}{run}, since {reason}", time(Nanos(after))))
}

fn changes(input: &Input<'_>) -> u64 {
    Assertion::events(input.assertions).filter(|event| event.what.changes_load()).count() as u64
}

/// Requests of several generators at once are more than the rate of one; and a rate was offered of all requests, and not of a part.
fn offered(input: &Input<'_>) -> Offered {
    let Some(generator) = input.generator else { return Offered::Unknown };
    let sent_per_s = per_s(input.summary.requests, input.summary.duration());
    let is_of_all =
        |rate: f64| input.selected.is_empty() && sent_per_s <= SEVERAL_MIN * rate.max(1.0);
    match (generator.self_paced, generator.users, generator.rate_per_s) {
        (true, users, _) => Offered::Script(users),
        (false, 0, rate) if rate > 0.0 && is_of_all(rate) => Offered::Rate(rate),
        (false, 0, _) => Offered::Unknown,
        (false, users, _) => Offered::Users(users),
    }
}

/// The users of a closed loop.
fn users(offered: Offered, summary: &Summary) -> Option<Users> {
    let end = summary.earliest.saturating_add_unsigned(summary.elapsed().0);
    match offered {
        Offered::Users(count) => Some(Users { count, end }),
        _ => None,
    }
}

/// The length of the plan by its rate, where requests of it were not sent: the last one sent is no end of it.
fn planned(generator: &Generator) -> Option<Nanos> {
    let cut = generator.planned > generator.sent && !generator.interrupted;
    (cut && generator.users == 0 && generator.rate_per_s > 0.0)
        .then(|| Nanos::from_secs_f64(generator.planned as f64 / generator.rate_per_s))
}

/// Successes a second between the first and the last request that was due (Unix ns); a cell counts by its beginning.
fn succeeded_per_s(timeline: &Timeline, (earliest, latest): (i64, i64)) -> f64 {
    let width = timeline.width().0;
    let begin =
        |at: usize| timeline.start().saturating_add_unsigned(width.saturating_mul(at as u64));
    let within = timeline.cells().enumerate().filter(|(at, _)| begin(*at) < latest);
    let succeeded = within.map(|(_, cell)| cell.succeeded).sum();
    // The last cell counts as a whole.
    let cells = Nanos(latest.abs_diff(earliest)).0.div_ceil(width.max(1)).max(1);
    per_s(succeeded, Nanos(cells.saturating_mul(width)))
}

/// The reason is one of some figures, or says what made them bad, and all that was asked for was sent.
fn is_of_figures(reason: &Reason) -> bool {
    matches!(reason, Reason::Late { stood_still: false, .. } | Reason::Neighbour { .. })
}

fn lag_max(generator: &Generator) -> Nanos {
    generator.lag.max().max(generator.stall_longest)
}

/// Of a generator whose record does not say which, all.
fn raised(verdict: &Verdict) -> [bool; 3] {
    let late = verdict.reasons.iter().find_map(|reason| match reason {
        Reason::Late { quantiles, .. } => Some(quantiles),
        _ => None,
    });
    QUANTILES.map(|q| match late {
        Some(quantiles) => quantiles.iter().any(|one| one.q == q && one.raised),
        None => !Measurement::of(verdict).is_good(),
    })
}

fn per_s(count: u64, time: Nanos) -> f64 {
    if time == Nanos::ZERO { count as f64 } else { count as f64 / time.as_secs_f64() }
}
