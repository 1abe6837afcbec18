//! Timers that keep a pace: constant throughput and precise throughput.

use stdx::Nanos;

use super::number;
use crate::plan::node::Part;
use crate::random::Random;
use crate::thread::scope::Thread;
use crate::world::lock;

/// The state of a timer that threads share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// When the last sampler was let go.
    last: Option<Nanos>,
    /// Moments that are still to come, the last first.
    moments: Vec<Nanos>,
}

/// Moments of one period at most.
const MOMENTS_MAX: usize = 1_000_000;

/// What a rate counts for: JMeter's numbers, or its words.
fn mode(text: &str) -> u32 {
    match text.trim() {
        "calcMode.2" => 1,
        "calcMode.3" => 2,
        "calcMode.4" => 3,
        "calcMode.5" => 4,
        number => number.parse().unwrap_or(0),
    }
}

/// The delay of a constant throughput timer, in milliseconds.
pub(crate) fn constant(part: &Part, thread: &mut Thread) -> f64 {
    let per_minute = number(part, "throughput", thread);
    if per_minute <= 0.0 {
        return 0.0;
    }
    let mode = mode(&thread.property_text(&part.element, "calcMode"));
    let (group, all) = thread.world.active(thread.group);
    let threads = match mode {
        1 => all,
        2 => group,
        _ => 1,
    };
    let gap = Nanos((60e9 / per_minute * threads.max(1) as f64) as u64);
    let now = thread.host.now();
    let at = match mode {
        3 | 4 => {
            let key = (part.number, if mode == 4 { thread.group } else { usize::MAX });
            let mut paces = lock(&thread.world.paces);
            let pace = paces.entry(key).or_default();
            next(&mut pace.last, gap, now)
        }
        _ => {
            let mut last = thread.paces.get(&part.number).copied();
            let at = next(&mut last, gap, now);
            thread.paces.extend(last.map(|last| (part.number, last)));
            at
        }
    };
    (at.saturating_sub(now).0 / 1_000_000) as f64
}

/// The moment that is next after the last; now where that is past.
fn next(last: &mut Option<Nanos>, gap: Nanos, now: Nanos) -> Nanos {
    let at = last.map_or(now, |last| last.saturating_add(gap).max(now));
    *last = Some(at);
    at
}

/// The delay of a precise throughput timer, in milliseconds.
pub(crate) fn precise(part: &Part, thread: &mut Thread) -> f64 {
    let count = number(part, "throughput", thread);
    let period = number(part, "throughputPeriod", thread).max(1.0);
    let seed = number(part, "randomSeed", thread) as u64;
    let now = thread.host.now();
    let mut random = match seed {
        0 => Random::new(thread.random.next(), 0),
        seed => Random::new(seed, now.0 / (period * 1e9) as u64),
    };
    let mut paces = lock(&thread.world.paces);
    let pace = paces.entry((part.number, thread.group)).or_default();
    while pace.moments.is_empty() {
        let from = pace.last.unwrap_or(now);
        pace.last = Some(from.saturating_add(Nanos((period * 1e9) as u64)));
        pace.moments = moments(from, period, count, &mut random);
        if count < 1.0 {
            return period * 1000.0;
        }
    }
    let at = pace.moments.pop().unwrap_or(now);
    (at.saturating_sub(now).0 / 1_000_000) as f64
}

/// So many moments in a period, by chance, the last first.
fn moments(from: Nanos, period_s: f64, count: f64, random: &mut Random) -> Vec<Nanos> {
    let count = (count.max(0.0) as usize).min(MOMENTS_MAX);
    let mut moments: Vec<Nanos> = (0..count)
        .map(|_| from.saturating_add(Nanos((random.unit() * period_s * 1e9) as u64)))
        .collect();
    moments.sort_by(|one, other| other.cmp(one));
    moments
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
    fn a_period_has_its_number() {
        let all = moments(Nanos::from_secs(1), 2.0, 5.0, &mut Random::new(1, 1));
        assert_eq!(all.len(), 5);
        assert!(all.is_sorted_by(|one, other| one >= other));
        assert!(all.iter().all(|at| (1.0..3.0).contains(&(at.0 as f64 / 1e9))));
    }
}
