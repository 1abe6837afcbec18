//! `Faults`: everything that can go wrong in a simulated world, and how often. No choice is made here but
//! [`Faults::random`]'s.

use stdx::{Nanos, Prng};

/// A stretch of time from the run's start: `from` belongs to it, `to` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first nanosecond.
    pub from: Nanos,
    /// The nanosecond after its last.
    pub to: Nanos,
}

impl Span {
    /// How long it is; zero where it ends before it begins.
    #[must_use]
    pub const fn len(self) -> Nanos {
        self.to.saturating_sub(self.from)
    }

    /// Whether it holds no time at all.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len().0 == 0
    }

    const fn contains(self, at: Nanos) -> bool {
        self.from.0 <= at.0 && at.0 < self.to.0
    }
}

/// The end of the spans that `at` lies in (they may touch or overlap), or `at` itself.
pub(super) fn end_of(spans: &[Span], at: Nanos) -> Nanos {
    let mut end = at;
    while let Some(span) = spans.iter().find(|span| span.contains(end)) {
        end = span.to;
    }
    end
}

/// What goes wrong in a world, and how often. The default is a clean local network: 50 µs each way, nothing lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// One way's shortest delay.
    pub latency_min: Nanos,
    /// One way's longest delay; each segment draws its own, yet none overtakes another.
    pub latency_max: Nanos,
    /// Bytes per second of each connection and direction; 0 is without limit.
    pub bytes_per_s: u64,
    /// The smallest segment a stream is cut into, in bytes, at least 1.
    pub segment_min: usize,
    /// The largest segment, in bytes, at most [`Faults::SEGMENT_MAX`].
    pub segment_max: usize,
    /// Bytes the worker may have under way on a connection before `send` takes no more (1 to [`Faults::WINDOW_MAX`]).
    pub send_window: usize,
    /// Bytes a peer may have under way and unread on a connection (1 to [`Faults::WINDOW_MAX`]).
    pub receive_window: usize,
    /// The chance that a `send` takes less than there is room for.
    pub partial_send: f64,
    /// The chance that a segment is lost. It comes [`Faults::RETRANSMIT`] later, twice that if lost again, and so on.
    pub loss: f64,
    /// The chance, for each segment, that the connection is reset instead, half of the segment delivered.
    pub reset: f64,
    /// The chance that a connection is refused.
    pub refuse: f64,
    /// The chance that a connection attempt is never answered.
    pub unanswered: f64,
    /// How long the worker's kernel goes on trying to connect; Linux gives up after 127 s.
    pub connect_timeout: Nanos,
    /// The most sockets the worker may hold (at most [`Faults::DESCRIPTORS_MAX`]).
    pub descriptors: usize,
    /// How long a name takes to resolve.
    pub resolve: Nanos,
    /// The chance that a name is not resolved in spite of being known.
    pub resolve_failure: f64,
    /// When every link stands still: what would leave or arrive then arrives after it.
    pub link_stalls: Vec<Span>,
    /// When every server stands still: the kernel below it goes on accepting.
    pub server_stalls: Vec<Span>,
    /// When the worker itself is frozen.
    pub worker_stalls: Vec<Span>,
    /// What each call of `Io` costs the worker, except `next_event`.
    pub call_cost: Nanos,
    /// How much too late `wait` may wake at most.
    pub oversleep: Nanos,
    /// The worker's kernel stamps what arrives ([`Io::arrived`](crate::Io::arrived)).
    pub stamps: bool,
}

impl Faults {
    /// The largest segment: 64 KiB.
    pub const SEGMENT_MAX: usize = 64 << 10;
    /// The largest window: 16 MiB.
    pub const WINDOW_MAX: usize = 16 << 20;
    /// The most sockets of a world.
    pub const DESCRIPTORS_MAX: usize = 1 << 20;
    /// How long a lost segment takes to be sent again.
    pub const RETRANSMIT: Nanos = Nanos::from_millis(200);
    /// How long a lost connection attempt takes to be sent again.
    pub const RETRANSMIT_CONNECT: Nanos = Nanos::from_secs(1);

    /// A mixture of faults that follows from `seed`, each of them absent in most worlds. Nothing in it stops a world for
    /// more than 2 s, and a connection attempt that is not answered is given up after 3 s.
    #[must_use]
    pub fn random(seed: u64) -> Self {
        let mut rng = Prng::new(seed ^ 0xfa17);
        let mut faults = Self::default();
        faults.latency_min = Nanos::from_micros(5 + rng.below(500));
        faults.latency_max = faults.latency_min.saturating_add(Nanos(rng.below(2_000_000)));
        faults.connect_timeout = Nanos::from_secs(3);
        if rng.below(2) == 0 {
            faults.segment_min = 1;
            faults.segment_max = 1 + rng.below(3000) as usize;
        }
        if rng.below(3) == 0 {
            faults.bytes_per_s = 20_000 + rng.below(10_000_000);
        }
        if rng.below(3) == 0 {
            faults.send_window = 1 + rng.below(4096) as usize;
            faults.partial_send = rng.next_f64() / 2.0;
        }
        if rng.below(3) == 0 {
            faults.receive_window = 1 + rng.below(8192) as usize;
        }
        faults.chances(&mut rng);
        faults.stalls(&mut rng);
        if rng.below(3) == 0 {
            faults.call_cost = Nanos(rng.below(5_000));
            faults.oversleep = Nanos(rng.below(100_000));
        }
        faults.stamps = rng.below(2) == 0;
        faults
    }

    /// Draws the chances of [`Faults::random`].
    fn chances(&mut self, rng: &mut Prng) {
        let rare = [
            &mut self.loss,
            &mut self.reset,
            &mut self.refuse,
            &mut self.unanswered,
            &mut self.resolve_failure,
        ];
        for chance in rare {
            if rng.below(4) == 0 {
                *chance = rng.next_f64() * 0.05;
            }
        }
        if rng.below(6) == 0 {
            self.descriptors = 1 + rng.below(20) as usize;
        }
    }

    /// Draws the stalls of [`Faults::random`].
    fn stalls(&mut self, rng: &mut Prng) {
        for stalls in [&mut self.link_stalls, &mut self.server_stalls, &mut self.worker_stalls] {
            if rng.below(5) == 0 {
                let from = Nanos(rng.below(5_000_000_000));
                let to = from.saturating_add(Nanos(rng.below(2_000_000_000)));
                stalls.push(Span { from, to });
            }
        }
    }

    /// The same within their limits, so that no world is without end or without progress.
    pub(super) fn bounded(mut self) -> Self {
        self.latency_max = self.latency_max.max(self.latency_min);
        self.segment_max = self.segment_max.clamp(1, Self::SEGMENT_MAX);
        self.segment_min = self.segment_min.clamp(1, self.segment_max);
        self.send_window = self.send_window.clamp(1, Self::WINDOW_MAX);
        self.receive_window = self.receive_window.clamp(1, Self::WINDOW_MAX);
        self.descriptors = self.descriptors.min(Self::DESCRIPTORS_MAX);
        self
    }
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            latency_min: Nanos::from_micros(50),
            latency_max: Nanos::from_micros(50),
            bytes_per_s: 0,
            segment_min: 1460,
            segment_max: 1460,
            send_window: 256 << 10,
            receive_window: 256 << 10,
            partial_send: 0.0,
            loss: 0.0,
            reset: 0.0,
            refuse: 0.0,
            unanswered: 0.0,
            connect_timeout: Nanos::from_secs(127),
            descriptors: 65_536,
            resolve: Nanos::from_micros(200),
            resolve_failure: 0.0,
            link_stalls: Vec::new(),
            server_stalls: Vec::new(),
            worker_stalls: Vec::new(),
            call_cost: Nanos::ZERO,
            oversleep: Nanos::ZERO,
            stamps: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_chain() {
        let ns = |from, to| Span { from: Nanos(from), to: Nanos(to) };
        let spans = [ns(20, 30), ns(10, 20), ns(50, 40)];
        for (at, end) in [(9, 9), (10, 30), (19, 30), (29, 30), (30, 30), (45, 45)] {
            assert_eq!(end_of(&spans, Nanos(at)), Nanos(end), "{at}");
        }
        assert!(spans[2].is_empty());
        assert_eq!(spans[0].len(), Nanos(10));
    }

    #[test]
    fn random_worlds_differ_and_keep_their_limits() {
        let worlds: Vec<Faults> = (0..200).map(Faults::random).collect();
        assert_eq!(worlds[7], Faults::random(7));
        assert!(worlds.iter().any(|f| f.loss > 0.0) && worlds.iter().any(|f| f.loss == 0.0));
        assert!(worlds.iter().any(|f| !f.server_stalls.is_empty()));
        for faults in worlds {
            let bounded = faults.clone().bounded();
            assert_eq!(faults, bounded);
            assert!(faults.server_stalls.iter().all(|s| s.len() < Nanos::from_secs(2)));
        }
    }
}
