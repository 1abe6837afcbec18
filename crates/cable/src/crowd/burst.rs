//! `Burst`: how much a crowd may do at once before others' events are looked at: thousands of dials in one go would have
//! answers wait for them.

use stdx::Nanos;

/// Messages that may be sent within a while.
const MOST: u32 = 128;
/// A connection made or cut costs as much as so many messages: 8 are half a while.
const CONNECTION: u32 = 16;
/// The while.
const EVERY: Nanos = Nanos::MILLI;

/// What may still be done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    left: u32,
    refill: Nanos,
}

impl Burst {
    /// Whether something may be done.
    pub(super) fn allows(&mut self, now: Nanos) -> bool {
        if self.left == 0 && now >= self.refill {
            *self = Self { left: MOST, refill: now + EVERY };
        }
        self.left > 0
    }

    /// A message was sent.
    pub(super) fn note_message(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// A connection was dialled or cut.
    pub(super) fn note_connection(&mut self) {
        self.left = self.left.saturating_sub(CONNECTION);
    }

    /// When what is due at a time may be done.
    pub(super) fn next(&self, due: Nanos) -> Nanos {
        if self.left == 0 { due.at_least(self.refill) } else { due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often something may be done at one time.
    fn count(burst: &mut Burst, now: Nanos, note: fn(&mut Burst)) -> u32 {
        let mut count = 0;
        while burst.allows(now) {
            note(burst);
            count += 1;
        }
        count
    }

    #[test]
    fn no_more_than_the_most_within_a_while() {
        let mut burst = Burst::default();
        let first = Nanos::from_millis(7);
        assert_eq!(count(&mut burst, first, Burst::note_message), MOST);
        assert_eq!(burst.next(first), first + EVERY);
        assert_eq!(burst.next(first + EVERY + EVERY), first + EVERY + EVERY);
        assert!(!burst.allows(first + EVERY - Nanos(1)));
        assert_eq!(count(&mut burst, first + EVERY, Burst::note_connection), MOST / CONNECTION);
        assert!(burst.allows(first + EVERY + EVERY));
        assert_eq!(burst.next(first), first);
    }

    #[test]
    fn who_only_asks_uses_nothing() {
        let mut burst = Burst::default();
        assert!((0..10 * MOST).all(|_| burst.allows(Nanos::ZERO)));
    }
}
