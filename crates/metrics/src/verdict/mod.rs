//! `Verdict`: may the figures be believed? Made from what the generator saw of itself and from what the reader lost. It
//! judges the measurement, never the server. `docs/design/verdict.md` has the rules and their error rates.

mod agents;
mod late;

use std::fmt;

use stdx::{Nanos, counted, were};

pub use self::agents::GoodAgents;
pub(crate) use self::late::knows_on_time;
pub use self::late::{JUDGED, LAG_FLOOR, LAG_SHARE_MAX, LateQuantile};
use self::late::{is_open, jitter, late_quantiles, raised_by};
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

/// Why figures are not to be believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Targets came later than requests were due.
    Targets {
        /// Requests that waited for theirs.
        waited: u64,
        /// Requests that were not sent any more.
        not_sent: u64,
    },
    /// Hits fell due and were never begun.
    NotSent {
        /// How many.
        not_sent: u64,
        /// Of how many.
        planned: u64,
    },
    /// Iterations of a script fell due and were never begun, since every virtual user was at work.
    NotBegun {
        /// How many.
        iterations: u64,
    },
    /// Hits did not start at the planned rate.
    Rate {
        /// Hits per second begun.
        achieved: f64,
        /// The planned hits per second.
        asked: f64,
    },
    /// A closed loop's users sent less than they could, since the generator was late.
    TimeLost {
        /// The share of the users' time.
        share: f64,
    },
    /// The generator stood still for over 100 ms, which raised response quantiles or lowered a closed loop's rate.
    Stalls {
        /// How often.
        times: u64,
        /// The longest time.
        longest: Nanos,
    },
    /// The generator began hits late, or stood still before it read answers, which raised response quantiles beyond
    /// [`LAG_SHARE_MAX`].
    Late {
        /// Each of [`JUDGED`], in that order.
        quantiles: Vec<LateQuantile>,
        /// The generator stood still: service times are affected as well.
        stood_still: bool,
    },
    /// A CPU quota, as that of a container, kept the generator from running, so that it was late.
    Throttled {
        /// How long, over all its processors.
        time: Nanos,
    },
    /// The generator began hits late; its record has no more than the lag.
    Lag {
        /// 99 of 100 hits began at most so late.
        p99: Nanos,
        /// 99 of 100 hits were answered within this time.
        response_p99: Nanos,
    },
    /// Connections failed for want of file descriptors.
    Descriptors {
        /// How many.
        connections: u64,
    },
    /// Connections failed for want of local ports.
    Ports {
        /// How many.
        connections: u64,
    },
    /// Rows are missing from the stream, since its queue was full.
    RowsDropped {
        /// How many.
        rows: u64,
    },
    /// The stream ends without the generator's last word.
    CutOff,
    /// The reader lost something; its own words.
    Lost(String),
    /// The figures of an agent of the fleet may not be believed.
    Agent {
        /// Its name.
        name: String,
        /// Why not.
        causes: Vec<String>,
        /// What the agents are worth whose figures may be believed; with the last agent alone, and where the sums are good.
        others: Option<GoodAgents>,
    },
    /// A core of the generator was busy all the time, and hits began late.
    Busy {
        /// CPU share of the busiest worker, 0 to 1.
        share: f64,
        /// 99 of 100 hits began at most so late.
        lag_p99: Nanos,
    },
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
            reasons.splice(0..0, throttled(generator).filter(|_| is_late));
        }
        reasons.extend(losses.iter().cloned().map(Reason::Lost));
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

fn not_sent(generator: &Generator) -> Option<Reason> {
    if is_starved(generator) {
        return None;
    }
    let Generator { not_sent, planned, .. } = *generator;
    let reason = match generator.self_paced {
        true => Reason::NotBegun { iterations: not_sent },
        false => Reason::NotSent { not_sent, planned },
    };
    (not_sent > 0).then_some(reason)
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
        || (generator.self_paced && stalled_share(generator) > RATE_TOLERANCE);
    (stalls > 0 && matter).then_some(Reason::Stalls { times: stalls, longest: stall_longest })
}

/// The most of its time that a user can have lost to stalls, which are counted once where they stopped all workers.
fn stalled_share(generator: &Generator) -> f64 {
    generator.stalls as f64 * generator.stall_longest.0 as f64 / generator.wall.0.max(1) as f64
}

/// Whether late starts and unread answers raised what is reported, quantile by quantile; in records of older versions, whether
/// hits began late at all.
fn late(summary: &Summary, generator: &Generator) -> Option<Reason> {
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

impl Reason {
    /// The generator was late, which adds to response times and takes nothing from them.
    #[must_use]
    pub fn is_lateness(&self) -> bool {
        use Reason::{Busy, Lag, Late, Stalls, Throttled, TimeLost};
        matches!(
            self,
            Throttled { .. }
                | Late { .. }
                | Lag { .. }
                | Stalls { .. }
                | TimeLost { .. }
                | Busy { .. }
        )
    }

    /// What a user can do about it; `None` where the reader's own words say it.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Targets { .. } => Some(
                "give targets faster than they are sent, or write them to a file and leave out -lazy",
            ),
            Self::NotSent { .. } => {
                Some("allow more requests at once (-max-workers), or ask for a lower rate")
            }
            Self::NotBegun { .. } => Some(
                "allow more virtual users (preAllocatedVUs, maxVUs), or ask for fewer iterations a second",
            ),
            Self::Rate { .. } => {
                Some("give the generator more cores (-cpus), or ask for a lower rate")
            }
            Self::TimeLost { .. } | Self::Stalls { .. } | Self::Late { .. } | Self::Lag { .. } => {
                Some(
                    "end what else runs here, give server and generator cores of their own (taskset), or use another machine",
                )
            }
            Self::Throttled { .. } => Some(
                "raise the CPU quota of the container that brunt runs in, or use another machine",
            ),
            Self::Busy { .. } => Some("give the generator more cores (-cpus), or another machine"),
            Self::Descriptors { .. } => {
                Some("raise the limit of open files (ulimit -n), or use fewer connections")
            }
            Self::Ports { .. } => {
                Some("keep connections open, or send from several addresses (-laddr)")
            }
            Self::RowsDropped { .. } => {
                Some("write the results to a faster disk, or with fewer bodies and headers")
            }
            Self::CutOff => {
                Some("write the results with -output instead of a pipe, and let the run end")
            }
            Self::Agent { .. } => Some("look after that agent, or leave it out of the fleet"),
            Self::Lost(_) => None,
        }
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

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Targets { waited, not_sent } => {
                let requests = counted(*waited, "request");
                write!(f, "{requests} waited for targets, which came too slowly")?;
                match not_sent {
                    0 => Ok(()),
                    not_sent => write!(f, ", and {not_sent} {} not sent", were(*not_sent)),
                }
            }
            Self::NotSent { not_sent, planned } => {
                let planned = counted(*planned, "request");
                write!(f, "{not_sent} of {planned} {} not sent", were(*not_sent))
            }
            Self::NotBegun { iterations } => {
                let due = counted(*iterations, "iteration");
                write!(
                    f,
                    "{due} fell due and {} never begun, since every virtual user was at work",
                    were(*iterations)
                )
            }
            Self::Rate { achieved, asked } => {
                write!(f, "the rate was {achieved:.2}/s instead of {asked:.2}/s")
            }
            Self::TimeLost { share } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "the generator cost its users {percent:.1}% of their time, and the rate with it"
                )
            }
            Self::Stalls { times, longest } => {
                let (times, longest) = (counted(*times, "time"), longest.rounded());
                write!(f, "the generator stood still {times} for over 100ms (longest {longest})")
            }
            Self::Late { quantiles, stood_still: true } => {
                f.write_str(&raised_by("late starts and answers read late", quantiles, false))
            }
            Self::Late { quantiles, stood_still: false } => {
                f.write_str(&raised_by("late starts", quantiles, true))
            }
            Self::Throttled { time } => {
                write!(f, "a CPU quota kept the generator from running for {}", time.rounded())
            }
            Self::Lag { p99, response_p99 } => {
                let (p99, response) = (p99.rounded(), response_p99.rounded());
                write!(f, "requests began late: schedule lag p99 {p99}, response p99 {response}")
            }
            Self::Descriptors { connections } => {
                write!(f, "no file descriptor was left for {}", counted(*connections, "connection"))
            }
            Self::Ports { connections } => {
                write!(f, "no local port was left for {}", counted(*connections, "connection"))
            }
            Self::RowsDropped { rows } => {
                let (rows, were) = (counted(*rows, "row"), were(*rows));
                write!(f, "{rows} {were} dropped before being written")
            }
            Self::CutOff => f.write_str("the stream was cut off before the generator's last word"),
            Self::Agent { name, causes, others } => agents::write(f, name, causes, *others),
            Self::Lost(what) => f.write_str(what),
            Self::Busy { share, lag_p99 } => {
                let (percent, lag) = (share * 100.0, lag_p99.rounded());
                write!(f, "the generator's busiest core was at {percent:.0}% with lag p99 {lag}")
            }
        }
    }
}

#[cfg(test)]
mod tests;
