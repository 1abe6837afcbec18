//! `Pace`: the moments that a timer keeps to.

use stdx::Nanos;

use crate::random::Random;

/// The state of a timer that threads share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// When the last sampler was let go.
    pub(super) last: Option<Nanos>,
    /// Moments that are still to come, the last first.
    pub(super) moments: Vec<Nanos>,
}

/// Moments of one period at most.
const MOMENTS_MAX: usize = 1_000_000;

/// The moment that is next after the last; now where that is past.
pub(super) fn next(last: &mut Option<Nanos>, gap: Nanos, now: Nanos) -> Nanos {
    let at = last.map_or(now, |last| last.saturating_add(gap).max(now));
    *last = Some(at);
    at
}

/// So many moments in a period, by chance, the last first.
pub(super) fn moments(from: Nanos, period_s: f64, count: f64, random: &mut Random) -> Vec<Nanos> {
    let count = (count.max(0.0) as usize).min(MOMENTS_MAX);
    let mut moments: Vec<Nanos> = (0..count)
        .map(|_| from.saturating_add(Nanos((random.unit() * period_s * 1e9) as u64)))
        .collect();
    moments.sort_by(|one, other| other.cmp(one));
    moments
}

/// Each moment as a batch of them, this far apart, the last first.
pub(super) fn in_batches(moments: &[Nanos], batch: usize, gap: Nanos) -> Vec<Nanos> {
    let room = MOMENTS_MAX / moments.len().max(1);
    let times = 0..batch.min(room).max(1) as u64;
    let batch_of = |first: &Nanos| {
        let first = *first;
        times.clone().map(move |time| first.saturating_add(Nanos(gap.0.saturating_mul(time))))
    };
    let mut all: Vec<Nanos> = moments.iter().flat_map(batch_of).collect();
    all.sort_by(|one, other| other.cmp(one));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_a_gap_apart() {
        let mut last = None;
        let mut at = |now: u64| next(&mut last, Nanos(100), Nanos(now)).0;
        assert_eq!([at(0), at(10), at(300), at(310)], [0, 100, 300, 400]);
    }

    #[test]
    fn a_batch_is_let_go_together() {
        let batches = in_batches(&[Nanos(100), Nanos(10)], 3, Nanos(0));
        assert_eq!(batches, [100, 100, 100, 10, 10, 10].map(Nanos));
        let apart = in_batches(&[Nanos(100), Nanos(10)], 2, Nanos(200));
        assert_eq!(apart, [300, 210, 100, 10].map(Nanos));
        assert_eq!(in_batches(&[Nanos(1)], usize::MAX, Nanos(0)).len(), MOMENTS_MAX);
    }

    #[test]
    fn a_period_has_its_number() {
        let all = moments(Nanos::from_secs(1), 2.0, 5.0, &mut Random::new(1, 1));
        assert_eq!(all.len(), 5);
        assert!(all.is_sorted_by(|one, other| one >= other));
        assert!(all.iter().all(|at| (1.0..3.0).contains(&(at.0 as f64 / 1e9))));
    }
}
