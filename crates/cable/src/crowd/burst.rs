//! `Burst`: how much a crowd may do at once before others' events are looked at: thousands of dials in one go would have
//! answers wait for them.

use stdx::Nanos;

/// The most that is done within a while: some milliseconds of dialling.
const MOST: u32 = 128;
/// The while.
const EVERY: Nanos = Nanos::MILLI;

/// What may still be done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    left: u32,
    refill: Nanos,
}

impl Burst {
    /// Takes one off, if there is one.
    pub(super) fn take(&mut self, now: Nanos) -> bool {
        if self.left == 0 && now >= self.refill {
            *self = Self { left: MOST, refill: now + EVERY };
        }
        let some = self.left > 0;
        self.left -= u32::from(some);
        some
    }

    /// Gives the last one back: there was nothing to do.
    pub(super) fn give_back(&mut self) {
        self.left += 1;
    }

    /// When there is one for what is due at a time.
    pub(super) fn next(&self, due: Nanos) -> Nanos {
        if self.left == 0 { due.at_least(self.refill) } else { due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_most_within_a_while() {
        let mut burst = Burst::default();
        let first = Nanos::from_millis(7);
        assert_eq!((0..1000).filter(|_| burst.take(first)).count(), MOST as usize);
        assert_eq!(burst.next(first), first + EVERY);
        assert_eq!(burst.next(first + EVERY + EVERY), first + EVERY + EVERY);
        assert!(!burst.take(first + EVERY - Nanos(1)));
        assert!(burst.take(first + EVERY));
        assert_eq!(burst.next(first), first);
    }

    #[test]
    fn what_was_not_used_is_there_again() {
        let mut burst = Burst::default();
        for _ in 0..10 * MOST {
            assert!(burst.take(Nanos::ZERO));
            burst.give_back();
        }
    }
}
