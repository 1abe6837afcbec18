//! `Verdict`: may the figures be believed? Made from what the generator saw of itself and from what the reader lost. It
//! judges the measurement, never the server.

use std::fmt;

use stdx::{Nanos, counted, were};

use crate::{Generator, Summary};

/// Deviation of the achieved from the asked rate that is let pass: 1 %.
pub const RATE_TOLERANCE: f64 = 0.01;
/// Schedule lag (p99) that is always let pass: 5 ms.
pub const LAG_MAX: Nanos = Nanos::from_millis(5);
/// Schedule lag (p99) that is let pass, as a share of the response time's p99: 5 %.
pub const LAG_SHARE_MAX: f64 = 0.05;
/// CPU share above which a core counts as busy: 95 %.
pub const CPU_MAX: f64 = 0.95;
/// Schedule lag (p99) from which a busy core is a reason: 1 ms.
pub const LAG_BUSY: Nanos = Nanos::MILLI;

/// May the figures be believed?
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Why not; empty when they may.
    pub reasons: Vec<Reason>,
    /// There was no record of the generator: the verdict only says that nothing was lost in reading.
    pub blind: bool,
}

/// Why figures are not to be believed.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Hits fell due and were never begun.
    NotSent {
        /// How many.
        not_sent: u64,
        /// Of how many.
        planned: u64,
    },
    /// The rate hits were begun at is not the one asked for.
    Rate {
        /// Hits per second begun.
        achieved: f64,
        /// Hits per second asked for.
        asked: f64,
    },
    /// The generator stood still for over 100 ms.
    Stalls {
        /// How often.
        times: u64,
        /// The longest time.
        longest: Nanos,
    },
    /// The generator began hits late.
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
                not_sent(generator),
                rate(generator),
                stalls(generator),
                lag(summary, generator),
                descriptors(generator),
                ports(generator),
                rows_dropped(generator),
                cut_off(generator, losses),
                busy(generator),
            ];
            reasons.extend(checks.into_iter().flatten());
        }
        reasons.extend(losses.iter().cloned().map(Reason::Lost));
        Self { reasons, blind: generator.is_none() }
    }

    /// The figures may be believed, as far as is known.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.reasons.is_empty()
    }
}

fn not_sent(generator: &Generator) -> Option<Reason> {
    let Generator { not_sent, planned, .. } = *generator;
    (not_sent > 0).then_some(Reason::NotSent { not_sent, planned })
}

/// In an open loop that ran to its end, hits begun per second of schedule must be what was asked for. The schedule's time is
/// that of the planned hits at the asked rate; so a hit not sent shows here and as [`Reason::NotSent`].
fn rate(generator: &Generator) -> Option<Reason> {
    let asked = generator.rate_per_s;
    let open = generator.users == 0 && asked > 0.0;
    if !open || generator.interrupted || !generator.finished || generator.planned == 0 {
        return None;
    }
    let achieved = asked * generator.sent as f64 / generator.planned as f64;
    let off = (achieved - asked).abs() > RATE_TOLERANCE * asked;
    off.then_some(Reason::Rate { achieved, asked })
}

fn stalls(generator: &Generator) -> Option<Reason> {
    let Generator { stalls, stall_longest, .. } = *generator;
    (stalls > 0).then_some(Reason::Stalls { times: stalls, longest: stall_longest })
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

/// Where the reader has words of its own for it, those are told instead.
fn cut_off(generator: &Generator, losses: &[String]) -> Option<Reason> {
    (!generator.finished && losses.is_empty()).then_some(Reason::CutOff)
}

fn busy(generator: &Generator) -> Option<Reason> {
    let (share, lag_p99) = (generator.cpu_busiest, generator.lag.quantile(0.99));
    (share > CPU_MAX && lag_p99 > LAG_BUSY).then_some(Reason::Busy { share, lag_p99 })
}

impl fmt::Display for Verdict {
    /// `VALID`, `VALID (as far as …)`, or `INVALID: reason; reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_valid() {
            let blind = " (as far as this format tells: it holds no record of the generator)";
            return write!(f, "VALID{}", if self.blind { blind } else { "" });
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
            Self::NotSent { not_sent, planned } => {
                write!(f, "{not_sent} of {} {} not sent", counted(*planned, "hit"), were(*not_sent))
            }
            Self::Rate { achieved, asked } => {
                write!(f, "the rate was {achieved:.2}/s instead of {asked:.2}/s")
            }
            Self::Stalls { times, longest } => {
                let (times, longest) = (counted(*times, "time"), longest.rounded());
                write!(f, "the generator stood still {times} for over 100ms (longest {longest})")
            }
            Self::Lag { p99, response_p99 } => {
                let (p99, response) = (p99.rounded(), response_p99.rounded());
                write!(f, "hits began late: schedule lag p99 {p99}, response p99 {response}")
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
            Self::Lost(what) => f.write_str(what),
            Self::Busy { share, lag_p99 } => {
                let (percent, lag) = (share * 100.0, lag_p99.rounded());
                write!(f, "the generator's busiest core was at {percent:.0}% with lag p99 {lag}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generator that did all it should: 1000 hits at 100/s, each begun 10 µs late.
    fn good() -> Generator {
        let mut generator = Generator {
            workers: 2,
            rate_per_s: 100.0,
            planned: 1000,
            sent: 1000,
            cpu_busiest: 0.3,
            wall: Nanos::from_secs(10),
            finished: true,
            ..Generator::new()
        };
        generator.lag.record_n(Nanos::from_micros(10), 1000);
        generator
    }

    fn answered_in(response: Nanos) -> Summary {
        let mut summary = Summary::new();
        summary.response.record_n(response, 1000);
        summary
    }

    fn late(lag: Nanos) -> impl Fn(&mut Generator) {
        move |generator| generator.lag.record_n(lag, 100)
    }

    fn check(change: impl Fn(&mut Generator), expect: &str) {
        let mut generator = good();
        change(&mut generator);
        let verdict = Verdict::new(&answered_in(Nanos::from_millis(20)), Some(&generator), &[]);
        assert_eq!(verdict.to_string(), expect);
        assert_eq!(verdict.is_valid(), expect == "VALID");
    }

    #[test]
    fn each_reason_names_its_figures() {
        check(|_| (), "VALID");
        check(|g| (g.sent, g.not_sent) = (995, 5), "INVALID: 5 of 1000 hits were not sent");
        check(
            |g| (g.sent, g.not_sent) = (900, 100),
            "INVALID: 100 of 1000 hits were not sent; the rate was 90.00/s instead of 100.00/s",
        );
        check(
            |g| (g.stalls, g.stall_longest) = (2, Nanos::from_millis(301)),
            "INVALID: the generator stood still 2 times for over 100ms (longest 301ms)",
        );
        check(
            late(Nanos(6_000_000)),
            "INVALID: hits began late: schedule lag p99 6ms, response p99 20ms",
        );
        check(
            |g| g.descriptors_exhausted = 3,
            "INVALID: no file descriptor was left for 3 connections",
        );
        check(|g| g.ports_exhausted = 4, "INVALID: no local port was left for 4 connections");
        check(|g| g.rows_dropped = 7, "INVALID: 7 rows were dropped before being written");
        check(
            |g| g.finished = false,
            "INVALID: the stream was cut off before the generator's last word",
        );
        check(
            |g| {
                g.cpu_busiest = 0.99;
                late(Nanos(2_000_000))(g);
            },
            "INVALID: the generator's busiest core was at 99% with lag p99 2ms",
        );
    }

    #[test]
    fn small_faults_are_let_pass() {
        check(|g| g.cpu_busiest = 0.99, "VALID");
        check(late(Nanos(4_900_000)), "VALID");
        check(|g| (g.planned, g.sent, g.interrupted) = (500, 500, true), "VALID");
        check(|g| (g.users, g.rate_per_s, g.sent) = (8, 0.0, 1), "VALID");
        let mut generator = good();
        late(Nanos(6_000_000))(&mut generator);
        let slow = answered_in(Nanos::from_secs(1));
        assert!(Verdict::new(&slow, Some(&generator), &[]).is_valid(), "6 ms of a second");
    }

    #[test]
    fn without_a_record_it_says_so() {
        let (summary, lost) = (Summary::new(), ["the file ends in the middle of a row".to_owned()]);
        let verdict = Verdict::new(&summary, None, &[]);
        assert_eq!(
            verdict.to_string(),
            "VALID (as far as this format tells: it holds no record of the generator)"
        );
        let verdict = Verdict::new(&summary, None, &lost);
        assert_eq!(verdict.to_string(), "INVALID: the file ends in the middle of a row");
        let cut = Generator { finished: false, ..good() };
        let verdict = Verdict::new(&summary, Some(&cut), &lost);
        assert_eq!(verdict.reasons, [Reason::Lost(lost[0].clone())]);
    }
}
