//! `Clock`: how far an agent's clock is ahead of the coordinator's, from messages there and back.

use std::collections::VecDeque;

use stdx::Nanos;

/// Exchanges that are remembered: the one with the smallest delay counts (the clock filter of NTP, RFC 5905, section 10).
const EXCHANGES: usize = 8;

/// How fast two clocks may part, in billionths: 200 ppm, twice what crystals of servers do.
const DRIFT_PPB: u64 = 200_000;

/// The four stamps of a message to an agent and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The coordinator sent (t0), by its clock.
    pub sent: Nanos,
    /// The agent received (t1), by the agent's clock.
    pub received: Nanos,
    /// The agent answered (t2), by the agent's clock.
    pub answered: Nanos,
    /// The answer came (t3), by the coordinator's clock.
    pub came: Nanos,
}

/// An estimate of a clock's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The agent's clock is ahead by so much, in nanoseconds.
    pub ahead_ns: i64,
    /// The error, at most.
    pub bound: Nanos,
}

/// The last exchanges with an agent.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// When each came, with the offset it yields.
    samples: VecDeque<(Nanos, Offset)>,
}

impl Clock {
    /// Takes an exchange. One whose stamps contradict each other, as of another process or a clock that was set, counts not.
    pub fn add(&mut self, exchange: Exchange) {
        let Some(offset) = offset(exchange) else { return };
        if self.samples.len() == EXCHANGES {
            self.samples.pop_front();
        }
        self.samples.push_back((exchange.came, offset));
    }

    /// Exchanges that count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// No exchange counts yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The offset at `now` (the coordinator's clock) by the exchange with the smallest bound; `None` before the first. The
    /// bound grows with the age of the exchange, by 200 millionths of it.
    #[must_use]
    pub fn offset(&self, now: Nanos) -> Option<Offset> {
        let aged = |(came, offset): &(Nanos, Offset)| {
            let age = now.0.saturating_sub(came.0);
            let drift = u128::from(age) * u128::from(DRIFT_PPB) / 1_000_000_000;
            let bound = Nanos(offset.bound.0.saturating_add(drift as u64));
            Offset { bound, ..*offset }
        };
        self.samples.iter().map(aged).min_by_key(|offset| offset.bound)
    }

    /// An instant of the coordinator's clock by the agent's.
    #[must_use]
    pub fn to_agent(&self, at: Nanos, now: Nanos) -> Option<Nanos> {
        let ahead = self.offset(now)?.ahead_ns;
        Some(Nanos(at.0.checked_add_signed(ahead).unwrap_or(0)))
    }
}

/// `offset = ((t1 − t0) + (t2 − t3)) / 2`, `|error| ≤ ((t3 − t0) − (t2 − t1)) / 2` (RFC 5905, section 8).
fn offset(exchange: Exchange) -> Option<Offset> {
    let Exchange { sent, received, answered, came } = exchange;
    let there = i128::from(received.0) - i128::from(sent.0);
    let back = i128::from(answered.0) - i128::from(came.0);
    let delay = there - back;
    if answered < received || delay < 0 {
        return None;
    }
    let ahead_ns = i64::try_from((there + back) / 2).ok()?;
    // Half a nanosecond is lost by each division.
    let bound = Nanos(u64::try_from(delay / 2 + 1).ok()?);
    Some(Offset { ahead_ns, bound })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An exchange with an agent that is ahead by `ahead`: so long there, so long back.
    fn exchange(sent: u64, ahead: i64, there: u64, back: u64) -> Exchange {
        let agent = |at: u64| Nanos(at.checked_add_signed(ahead).unwrap());
        let (received, answered) = (sent + there, sent + there + 500);
        Exchange {
            sent: Nanos(sent),
            received: agent(received),
            answered: agent(answered),
            came: Nanos(answered + back),
        }
    }

    #[test]
    fn the_fastest_exchange_counts() {
        let mut clock = Clock::default();
        assert_eq!(clock.offset(Nanos(0)), None);
        for (there, back) in [(9_000_000, 100_000), (100_000, 100_000), (5_000_000, 5_000_000)] {
            clock.add(exchange(1_000_000_000, 42_000_000, there, back));
        }
        let offset = clock.offset(Nanos(1_000_200_500)).unwrap();
        assert_eq!((offset.ahead_ns, offset.bound), (42_000_000, Nanos(100_001)));
        let at = clock.to_agent(Nanos(2_000_000_000), Nanos(1_000_200_500));
        assert_eq!(at, Some(Nanos(2_042_000_000)));
    }

    #[test]
    fn an_old_exchange_gives_way() {
        let mut clock = Clock::default();
        clock.add(exchange(0, 1_000_000, 1_000, 1_000));
        // An hour later its bound is 720 ms.
        let hour = 3_600_000_000_000;
        clock.add(exchange(hour, 90_000_000, 2_000_000, 2_000_000));
        assert_eq!(clock.offset(Nanos(hour + 4_000_500)).unwrap().ahead_ns, 90_000_000);
    }

    #[test]
    fn contradictions_do_not_count() {
        let mut clock = Clock::default();
        let good = exchange(1_000, 0, 100, 100);
        clock.add(Exchange { came: Nanos(0), ..good });
        clock.add(Exchange { answered: Nanos(0), ..good });
        assert!(clock.is_empty());
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bound(
            ahead in -1_000_000_000_i64..1_000_000_000,
            delays in proptest::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..12),
        ) {
            let mut clock = Clock::default();
            let mut now = 2_000_000_000;
            for (there, back) in delays {
                clock.add(exchange(now, ahead, there, back));
                now += 1_000_000_000;
            }
            let offset = clock.offset(Nanos(now)).unwrap();
            let error = offset.ahead_ns.abs_diff(ahead);
            prop_assert!(error <= offset.bound.0, "{error} ns, bound {}", offset.bound.0);
        }
    }
}
