//! `Load`: a load generator of the simulated world: requests at a fixed rate, answered after a time, counted each second. It
//! remembers everything it ever counted: the truth that the merged result is held against.

use fleet::{Counts, Interval};
use stdx::{Nanos, Prng};

pub(crate) const SECOND: u64 = 1_000_000_000;

/// A load generator.
pub(crate) struct Load {
    rate: u64,
    start: u64,
    end: u64,
    /// Until when requests were counted, by the agent's clock.
    counted: u64,
    open: u64,
    stopped: bool,
    rng: Prng,
    pub(crate) truth: Counts,
    /// The response times of all answers (ns).
    pub(crate) values: Vec<u64>,
}

impl Load {
    pub(crate) fn new(at: Nanos, rate: u64, seconds: u64, seed: u64) -> Self {
        Self {
            rate,
            start: at.0,
            end: at.0 + seconds * SECOND,
            counted: at.0,
            open: 0,
            stopped: false,
            rng: Prng::new(seed),
            truth: Counts::default(),
            values: Vec::new(),
        }
    }

    pub(crate) fn stop(&mut self, now: Nanos) {
        self.end = self.end.min(now.0);
        self.stopped = true;
    }

    /// Requests that fell due before this instant and were not counted yet are not sent.
    pub(crate) fn skip(&mut self, before: Nanos) -> (Interval, Counts, Vec<u8>) {
        let planned = self.due(before.0);
        let counts = Counts { planned, not_sent: planned, ..Counts::default() };
        self.add(before.0, counts, &[])
    }

    /// What happened since the last time; the flag says that nothing follows.
    pub(crate) fn measure(&mut self, now: Nanos) -> (Interval, Counts, Vec<u8>, bool) {
        let is_last = now.0 >= self.end;
        let planned = self.due(now.0);
        let open = self.open + planned;
        // The last of them end with the run.
        self.open = if is_last { 0 } else { self.rng.below(open.min(self.rate) + 1) };
        let ended = open - self.open;
        let failed = if ended > 0 { self.rng.below(2) } else { 0 };
        let values: Vec<u64> = (failed..ended).map(|_| 1000 + self.rng.below(50_000_000)).collect();
        let counts = Counts { planned, answered: ended - failed, failed, ..Counts::default() };
        let (interval, counts, payload) = self.add(now.0, counts, &values);
        (interval, counts, payload, is_last)
    }

    fn due(&self, now: u64) -> u64 {
        let until = |at: u64| at.min(self.end).saturating_sub(self.start) * self.rate / SECOND;
        until(now) - until(self.counted)
    }

    fn add(&mut self, now: u64, counts: Counts, values: &[u64]) -> (Interval, Counts, Vec<u8>) {
        let from = Nanos(self.counted);
        self.counted = self.counted.max(now);
        self.truth = self.truth.checked_add(counts).unwrap();
        self.values.extend(values);
        let payload = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        ((from, Nanos(self.counted)), counts, payload)
    }
}

/// The values of a payload.
pub(crate) fn values(payload: &[u8]) -> impl Iterator<Item = u64> + '_ {
    payload.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
}
