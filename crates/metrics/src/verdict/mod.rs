//! `Verdict`: may the figures be believed? Made from what the generator saw of itself and from what the reader lost. It
//! judges the measurement, never the server. `docs/design/verdict.md` has the rules and their error rates.

mod agents;
mod late;
mod order;
mod reason;

use std::fmt;

use stdx::Nanos;

pub use self::agents::GoodAgents;
pub(crate) use self::late::knows_on_time;
pub use self::late::{JUDGED, LAG_FLOOR, LAG_SHARE_MAX, LateQuantile};
use self::late::{is_open, jitter, late_quantiles, raised_by};
pub use self::reason::Reason;
use crate::tally::Assertion;
use crate::{Generator, Summary};

/// Deviation of the achieved from the asked rate that is let pass: 1 %.
pub const RATE_TOLERANCE: f64 = 0.01;
/// Schedule lag (p99) that is always let pass in records without [`Generator::on_time`]: 5 ms.
pub const LAG_MAX: Nanos = Nanos::from_millis(5);
/// CPU share above which a core counts as busy: 95 %.
pub const CPU_MAX: f64 = 0.95;
/// Schedule lag (p99) from which a busy core is a reason: 1 ms.
pub const LAG_BUSY: Nanos = Nanos::MILLI;
/// The share of a run's time from which a quota's stops are the cause of lateness: 1 %.
const THROTTLED_MIN: f64 = 0.01;

/// A process that used so many CPUs or more is named as a cause of lateness.
const NEIGHBOUR_MIN: f64 = 0.25;

/// May the figures be believed?
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Why not; empty when they may.
    pub reasons: Vec<Reason>,
    /// Each of [`JUDGED`], in that order, where late wake-ups raised p95 by at most 1 ms or p99 by at most 5 ms, and nothing else is
    /// wrong with them; else empty.
    pub jitter: Vec<LateQuantile>,
    /// There was no record of the generator: the verdict only says that nothing was lost in reading.
    pub blind: bool,
}

impl Verdict {
    /// Judges a run. `losses` is what the reader says was lost (a truncated file, damaged rows), one sentence each.
    #[must_use]
    pub fn new(summary: &Summary, generator: Option<&Generator>, losses: &[String]) -> Self {
        let mut reasons = Vec::new();
        if let Some(generator) = generator {
            let checks = [
                targets(generator),
                not_sent(generator),
                never_answered(generator),
                rate(generator),
                time_lost(summary, generator),
                stalls(summary, generator),
                late(summary, generator),
                descriptors(generator),
                ports(generator),
                rows_dropped(generator),
                cut_off(generator, losses),
                busy(summary, generator),
            ];
            reasons.extend(checks.into_iter().flatten());
            // Its cause stands before the lateness.
            let is_late = reasons.iter().any(Reason::is_lateness);
            let causes = [throttled(generator), neighbour(generator)];
            reasons.splice(0..0, causes.into_iter().flatten().filter(|_| is_late));
        }
        reasons.extend(losses.iter().cloned().map(Reason::Lost));
        order::sort(&mut reasons, generator);
        let jitter = generator.map_or_else(Vec::new, |generator| jitter(summary, generator));
        let blind = generator.is_none_or(|generator| generator.workers == 0);
        Self { reasons, jitter, blind }
    }

    /// The same with a reason for each agent whose figures may not be believed: one of many may spoil a run whose sums look fine.
    #[must_use]
    pub fn with_agents(mut self, asserted: &[Assertion]) -> Self {
        let mut others = GoodAgents::among(asserted).filter(|_| self.reasons.is_empty());
        let bad = Assertion::agents(asserted).filter(|agent| !agent.is_valid());
        self.reasons.extend(bad.map(|agent| Reason::Agent {
            name: agent.name.clone(),
            causes: agent.reasons.clone(),
            others: None,
        }));
        if let Some(Reason::Agent { others: of_last, .. }) = self.reasons.last_mut() {
            *of_last = others.take();
        }
        self
    }

    /// What else is to be known of figures that may be believed; `None` where nothing is, and where they may not.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        match self {
            Self { reasons, .. } if !reasons.is_empty() => None,
            Self { blind: true, .. } => {
                Some("as far as this format tells: it holds no record of the generator".to_owned())
            }
            Self { jitter, .. } if !jitter.is_empty() => {
                Some(raised_by("late wake-ups of this machine", jitter, true))
            }
            _ => None,
        }
    }

    /// The figures may be believed, as far as is known.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// Where targets came too slowly, what was late or not sent for want of them is no fault of the machine or of a limit.
fn targets(generator: &Generator) -> Option<Reason> {
    let Generator { starved, not_sent, .. } = *generator;
    is_starved(generator).then_some(Reason::Targets { waited: starved, not_sent })
}

/// More than one of a hundred hits waited for its target.
fn is_starved(generator: &Generator) -> bool {
    generator.starved.saturating_mul(100) > generator.planned
}

fn throttled(generator: &Generator) -> Option<Reason> {
    let (time, wall) = (generator.throttled, generator.wall);
    (time.0 as f64 > THROTTLED_MIN * wall.0 as f64).then_some(Reason::Throttled { time })
}

fn neighbour(generator: &Generator) -> Option<Reason> {
    let cpus = generator.neighbour_cpu.0 as f64 / generator.wall.0.max(1) as f64;
    let name = generator.neighbour.clone();
    (cpus >= NEIGHBOUR_MIN && !name.is_empty()).then_some(Reason::Neighbour { name, cpus })
}

fn not_sent(generator: &Generator) -> Option<Reason> {
    if is_starved(generator) {
        return None;
    }
    let Generator { not_sent, planned, .. } = *generator;
    let reason = match generator.self_paced {
        true => Reason::NotBegun { iterations: not_sent },
        false => {
            let at_once = if generator.held > 0 { generator.max_in_flight } else { 0 };
            Reason::NotSent { not_sent, planned, at_once }
        }
    };
    (not_sent > 0).then_some(reason)
}

fn never_answered(generator: &Generator) -> Option<Reason> {
    let of = generator.users;
    generator.users_missing().map(|users| Reason::NeverAnswered { users, of })
}

/// In an open loop that ran to its end, hits started per second of schedule must equal the planned rate. The schedule's time is
/// that of the planned hits at the planned rate; so a hit that was not sent shows here and as [`Reason::NotSent`].
fn rate(generator: &Generator) -> Option<Reason> {
    let asked = generator.rate_per_s;
    let open = generator.users == 0 && asked > 0.0 && !is_starved(generator);
    if !open || generator.interrupted || !generator.finished || generator.planned == 0 {
        return None;
    }
    let achieved = asked * generator.sent as f64 / generator.planned as f64;
    let off = (achieved - asked).abs() > RATE_TOLERANCE * asked;
    off.then_some(Reason::Rate { achieved, asked })
}

/// In a closed loop a late start and an unread answer are time in which a user could have sent: the rate loses the same share. An
/// open loop catches up. How many of a script's users are active is unknown.
fn time_lost(summary: &Summary, generator: &Generator) -> Option<Reason> {
    let share = time_lost_share(summary, generator)?;
    (share > RATE_TOLERANCE).then_some(Reason::TimeLost { share })
}

/// The share of a closed loop's time that its users lost; `None` in an open loop, and where it is not known.
pub(crate) fn time_lost_share(summary: &Summary, generator: &Generator) -> Option<f64> {
    if generator.self_paced || !knows_on_time(summary, generator) {
        return None;
    }
    // Every start after a thinking time takes a wake-up.
    let wake_ups = u128::from(LAG_FLOOR.0) * u128::from(generator.lag.count());
    let late = summary.response.sum().saturating_sub(generator.on_time.sum());
    let lost = late.saturating_sub(wake_ups.min(generator.lag.sum()));
    let of = u128::from(generator.users) * u128::from(summary.elapsed().0);
    (of > 0).then(|| lost as f64 / of as f64)
}

/// Stalls matter by what they do to what is reported; in records of older versions each of them is a reason.
fn stalls(summary: &Summary, generator: &Generator) -> Option<Reason> {
    let Generator { stalls, stall_longest, .. } = *generator;
    let matter = !knows_on_time(summary, generator)
        || late(summary, generator).is_some()
        || time_lost(summary, generator).is_some()
        || (generator.self_paced && generator.stalled_share() > RATE_TOLERANCE);
    (stalls > 0 && matter).then_some(Reason::Stalls { times: stalls, longest: stall_longest })
}

/// Whether late starts and unread answers raised what is reported, quantile by quantile; in records of older versions, whether
/// hits began late at all. Quantiles of failures alone say nothing that lateness could spoil.
fn late(summary: &Summary, generator: &Generator) -> Option<Reason> {
    if summary.requests > 0 && summary.successes == 0 {
        return None;
    }
    if !knows_on_time(summary, generator) {
        return lag(summary, generator);
    }
    let quantiles = late_quantiles(summary, generator);
    let raised = quantiles.iter().any(|quantile| quantile.raised);
    let is_late = raised && jitter(summary, generator).is_empty();
    let stood_still = generator.stalls > 0 || !is_open(generator);
    is_late.then(|| Reason::Late { quantiles: quantiles.to_vec(), stood_still })
}

fn lag(summary: &Summary, generator: &Generator) -> Option<Reason> {
    let (p99, response_p99) = (generator.lag.quantile(0.99), summary.response.quantile(0.99));
    let share = p99.0 as f64 > LAG_SHARE_MAX * response_p99.0 as f64;
    (p99 > LAG_MAX && share).then_some(Reason::Lag { p99, response_p99 })
}

fn descriptors(generator: &Generator) -> Option<Reason> {
    let connections = generator.descriptors_exhausted;
    (connections > 0).then_some(Reason::Descriptors { connections })
}

fn ports(generator: &Generator) -> Option<Reason> {
    let connections = generator.ports_exhausted;
    (connections > 0).then_some(Reason::Ports { connections })
}

fn rows_dropped(generator: &Generator) -> Option<Reason> {
    let rows = generator.rows_dropped;
    (rows > 0).then_some(Reason::RowsDropped { rows })
}

/// The reader's losses describe a cut-off stream in more detail and take its place.
fn cut_off(generator: &Generator, losses: &[String]) -> Option<Reason> {
    (!generator.finished && losses.is_empty()).then_some(Reason::CutOff)
}

/// A busy core matters by the lag it causes, which is judged by the quantiles where they are known.
fn busy(summary: &Summary, generator: &Generator) -> Option<Reason> {
    if knows_on_time(summary, generator) {
        return None;
    }
    let (share, lag_p99) = (generator.cpu_busiest, generator.lag.quantile(0.99));
    (share > CPU_MAX && lag_p99 > LAG_BUSY).then_some(Reason::Busy { share, lag_p99 })
}

impl Verdict {
    /// What to do about the reasons, each once, in the order of the reasons.
    #[must_use]
    pub fn remedies(&self) -> Vec<&'static str> {
        let mut remedies: Vec<&'static str> = Vec::new();
        for remedy in self.reasons.iter().filter_map(Reason::remedy) {
            if !remedies.contains(&remedy) {
                remedies.push(remedy);
            }
        }
        remedies
    }
}

impl fmt::Display for Verdict {
    /// `VALID`, `VALID (remark)`, or `INVALID: reason; reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_valid() {
            let remark = self.remark().map_or(String::new(), |remark| format!(" ({remark})"));
            return write!(f, "VALID{remark}");
        }
        f.write_str("INVALID: ")?;
        for (at, reason) in self.reasons.iter().enumerate() {
            write!(f, "{}{reason}", if at > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
