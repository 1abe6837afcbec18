//! Counters: a number in a variable that grows with each round.

use jmx::Scope as _;

use super::random_variable::pattern;
use crate::plan::node::Part;
use crate::thread::scope::Thread;
use crate::world::lock;

/// Sets a counter's variable to its next number.
pub(crate) fn count(part: &Part, thread: &mut Thread) {
    let mut number = |name: &str, absent: i64| {
        thread.property_text(&part.element, name).trim().parse().unwrap_or(absent)
    };
    let limits = Limits {
        start: number("CounterConfig.start", 0),
        end: number("CounterConfig.end", i64::MAX),
        step: number("CounterConfig.incr", 0),
    };
    let mut says = |name: &str| thread.property_text(&part.element, name).trim() == "true";
    let (own, resets) =
        (says("CounterConfig.per_user"), says("CounterConfig.reset_on_tg_iteration"));
    let value = if own {
        let is_reset = resets
            && thread.iteration != thread.counters.get(&usize::MAX).copied().unwrap_or(0) as u64;
        if is_reset {
            thread.counters.clear();
            thread.counters.insert(usize::MAX, thread.iteration as i64);
        }
        limits.next(thread.counters.entry(part.number).or_insert(limits.start))
    } else {
        limits.next(lock(&thread.world.counters).entry(part.number).or_insert(limits.start))
    };
    let name = thread.property_text(&part.element, "CounterConfig.name");
    let format = thread.property_text(&part.element, "CounterConfig.format");
    let text = if format.is_empty() { value.to_string() } else { pattern(&format, value) };
    if !name.is_empty() {
        thread.set_variable(&name, text);
    }
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    start: i64,
    end: i64,
    step: i64,
}

impl Limits {
    /// The number now; the next one begins again behind the end.
    fn next(self, at: &mut i64) -> i64 {
        if *at > self.end {
            *at = self.start;
        }
        let value = *at;
        *at = at.saturating_add(self.step);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_begin_again_behind_their_end() {
        let limits = Limits { start: 1, end: 5, step: 2 };
        let mut at = limits.start;
        let seen: Vec<i64> = (0..5).map(|_| limits.next(&mut at)).collect();
        assert_eq!(seen, [1, 3, 5, 1, 3]);
    }
}
