//! Timers that keep a pace: constant throughput and precise throughput.

use stdx::Nanos;

use super::pace::{in_batches, moments, next};
use crate::plan::node::Part;
use crate::random::Random;
use crate::thread::scope::Thread;
use crate::world::lock;

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
    let per_minute = thread.number_of(part, "throughput");
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
            // One for all timers of the plan, or of the group, that share.
            let key = (usize::MAX, if mode == 4 { thread.group } else { usize::MAX });
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

/// The delay of a precise throughput timer, in milliseconds.
pub(crate) fn precise(part: &Part, thread: &mut Thread) -> f64 {
    let count = thread.number_of(part, "throughput");
    let period = thread.number_of(part, "throughputPeriod").max(1.0);
    let seed = thread.number_of(part, "randomSeed") as u64;
    let batch = thread.number_of(part, "batchSize").max(1.0) as usize;
    let batch_delay =
        Nanos::from_millis(thread.number_of(part, "batchThreadDelay").max(0.0) as u64);
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
        pace.moments = moments(from, period, count / batch as f64, &mut random);
        pace.moments = in_batches(&pace.moments, batch, batch_delay);
        if count < batch as f64 {
            return period * 1000.0;
        }
    }
    let at = pace.moments.pop().unwrap_or(now);
    (at.saturating_sub(now).0 / 1_000_000) as f64
}
