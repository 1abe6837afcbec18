//! Constant rate: hit `k` is due at `floor(k * per / hits)` ns, in integers, so nothing drifts.
//!
//! Vegeta's pacer cuts the interval `per / hits` to whole nanoseconds first. Where `hits` divides `per` the two are the same
//! to the nanosecond; elsewhere Vegeta runs ahead (30,000/s by 10 ppm) and ends before the duration does, and we do not.

use stdx::Nanos;

use super::shard::Shard;

/// Walks hits `first, first + step, …` without a division per hit.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    hits: u64,
    per: Nanos,
    /// Due time of the hit it stands on: `due + rest / hits` ns.
    due: u64,
    rest: u64,
    stride: u64,
    stride_rest: u64,
    /// Hits of the whole schedule.
    planned: u64,
}

impl Walk {
    pub(super) fn new(hits: u64, per: Nanos, shard: Shard, duration: Option<Nanos>) -> Self {
        let planned = all(hits, per, duration);
        let (due, rest) = divide(shard.first, per, hits.max(1));
        let (stride, stride_rest) = divide(shard.step, per, hits.max(1));
        Self { hits, per, due, rest, stride, stride_rest, planned }
    }

    pub(super) fn due(&self, hit: u64) -> Option<Nanos> {
        (hit < self.planned).then_some(Nanos(self.due))
    }

    /// How many hits of the whole schedule are due until then.
    pub(super) fn due_until(&self, until: Nanos) -> u64 {
        due_until(self.hits, self.per, until).min(self.planned)
    }

    pub(super) fn advance(&mut self) {
        let rest = u128::from(self.rest) + u128::from(self.stride_rest);
        let carry = rest >= u128::from(self.hits);
        self.rest = (rest - if carry { u128::from(self.hits) } else { 0 }) as u64;
        let due =
            self.due.checked_add(self.stride).and_then(|due| due.checked_add(u64::from(carry)));
        match due {
            Some(due) => self.due = due,
            None => self.planned = 0,
        }
    }
}

/// Any hits, one division each: for numbers without a constant step.
#[derive(Clone, Debug)]
pub(super) struct Points {
    hits: u64,
    per: Nanos,
    /// Hits of the whole schedule.
    planned: u64,
}

impl Points {
    pub(super) fn new(hits: u64, per: Nanos, duration: Option<Nanos>) -> Self {
        Self { hits, per, planned: all(hits, per, duration) }
    }

    pub(super) fn due(&self, hit: u64) -> Option<Nanos> {
        (hit < self.planned).then(|| Nanos(divide(hit, self.per, self.hits).0))
    }

    /// How many hits of the whole schedule are due until then.
    pub(super) fn due_until(&self, until: Nanos) -> u64 {
        due_until(self.hits, self.per, until).min(self.planned)
    }
}

/// Hits of the whole schedule; `u64::MAX` where it has no end.
fn all(hits: u64, per: Nanos, duration: Option<Nanos>) -> u64 {
    match duration {
        _ if hits == 0 || per == Nanos::ZERO => 0,
        Some(duration) => planned(hits, per, duration),
        None => u64::MAX,
    }
}

/// How many hits are due until then, if the schedule has no end: those with `k * per < (until + 1) * hits`.
fn due_until(hits: u64, per: Nanos, until: Nanos) -> u64 {
    let bound = (u128::from(until.0) + 1) * u128::from(hits);
    let due = bound.div_ceil(u128::from(per.0.max(1)));
    u64::try_from(due).unwrap_or(u64::MAX)
}

/// `n * per / hits` and what is left over; the quotient is cut to 2^64 - 1 ns, 584 years.
fn divide(n: u64, per: Nanos, hits: u64) -> (u64, u64) {
    let product = u128::from(n) * u128::from(per.0);
    let quotient = product / u128::from(hits);
    (u64::try_from(quotient).unwrap_or(u64::MAX), (product % u128::from(hits)) as u64)
}

/// `ceil(hits * duration / per)`: those that are due before the duration is over.
pub(super) fn planned(hits: u64, per: Nanos, duration: Nanos) -> u64 {
    if per == Nanos::ZERO {
        return 0;
    }
    let (whole, rest) = divide(hits, duration, per.0);
    whole.saturating_add(u64::from(rest > 0))
}
