//! `ReceivedSet`: which of the messages in flight each subscriber of a worker had: a row of bits each, in one piece of memory.

use crate::token::Token;

/// Which messages subscribers had.
#[derive(Debug)]
pub(crate) struct ReceivedSet {
    /// Bits of a row: a power of two, at least 64.
    window: u32,
    words: Vec<u64>,
    /// The highest number each had; those after it were not seen.
    high: Vec<u32>,
    /// The speaker of each message of the window.
    speakers: Vec<u32>,
}

/// What a message is to a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was not there before, nor a later one of its speaker.
    First,
    /// It comes after a later one of the same speaker. What different speakers say has no order: their connections are read in
    /// any, by us and by the server.
    OutOfOrder,
    /// It was there before.
    Duplicate,
    /// It is older than the window: unknown.
    TooOld,
}

impl ReceivedSet {
    /// A set without messages. `window` is a power of two from 64 on.
    pub(crate) fn new(subscribers: usize, window: usize) -> Self {
        assert!(window.is_power_of_two() && window >= 64, "whole words");
        let words = vec![0; subscribers * window / 64];
        let (high, speakers) = (vec![0; subscribers], vec![0; window]);
        Self { window: window as u32, words, high, speakers }
    }

    /// A subscriber begins anew: it is not owed messages before `first`.
    pub(crate) fn begin(&mut self, subscriber: usize, first: u32) {
        self.row(subscriber).fill(0);
        self.high[subscriber] = first.saturating_sub(1);
    }

    /// A subscriber has a message.
    pub(crate) fn mark(
        &mut self,
        subscriber: usize,
        Token { number, user, .. }: Token,
    ) -> Delivery {
        let (high, window) = (self.high[subscriber], self.window);
        if number > high {
            if number - high >= window {
                self.row(subscriber).fill(0);
            } else {
                (high + 1..=number).for_each(|skipped| self.set(subscriber, skipped, false));
            }
            self.high[subscriber] = number;
            self.set(subscriber, number, true);
            self.speakers[(number % window) as usize] = user;
            return Delivery::First;
        }
        if high - number >= window {
            return Delivery::TooOld;
        }
        if self.has(subscriber, number) {
            return Delivery::Duplicate;
        }
        self.set(subscriber, number, true);
        self.speakers[(number % window) as usize] = user;
        let is_later = |later| self.has(subscriber, later) && self.speaker(later) == user;
        if (number + 1..=high).any(is_later) { Delivery::OutOfOrder } else { Delivery::First }
    }

    fn speaker(&self, number: u32) -> u32 {
        self.speakers[(number % self.window) as usize]
    }

    /// Whether a subscriber had a message that is no older than the window.
    pub(crate) fn has(&self, subscriber: usize, number: u32) -> bool {
        let (word, bit) = self.place(subscriber, number);
        number <= self.high[subscriber] && self.words[word] & bit != 0
    }

    fn set(&mut self, subscriber: usize, number: u32, had: bool) {
        let (word, bit) = self.place(subscriber, number);
        if had {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    fn row(&mut self, subscriber: usize) -> &mut [u64] {
        let words = (self.window / 64) as usize;
        &mut self.words[subscriber * words..][..words]
    }

    fn place(&self, subscriber: usize, number: u32) -> (usize, u64) {
        let bit = number & (self.window - 1);
        let words = (self.window / 64) as usize;
        (subscriber * words + (bit / 64) as usize, 1 << (bit % 64))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use stdx::Nanos;

    use super::*;

    #[test]
    fn order_and_duplicates_are_recognised() {
        let mut received = ReceivedSet::new(2, 64);
        received.begin(1, 5);
        let token = |number| Token { number, user: 3, sent: Nanos::ZERO };
        let marks =
            [5, 7, 6, 6, 7, 200, 136, 137, 137].map(|number| received.mark(1, token(number)));
        use Delivery::{Duplicate, First, OutOfOrder, TooOld};
        let expect =
            [First, First, OutOfOrder, Duplicate, Duplicate, First, TooOld, OutOfOrder, Duplicate];
        assert_eq!(marks, expect);
        assert_eq!(received.mark(0, token(5)), First, "the neighbour's row is its own");
        received.begin(1, 300);
        assert!(!received.has(1, 200) && !received.has(1, 300));
    }

    #[test]
    fn messages_of_different_speakers_have_no_order() {
        let mut received = ReceivedSet::new(2, 64);
        let deliveries = [(2, 0), (1, 1), (4, 1), (3, 0), (6, 0), (5, 0), (4, 1)];
        let marks = deliveries
            .map(|(number, user)| received.mark(0, Token { number, user, sent: Nanos::ZERO }));
        use Delivery::{Duplicate, First, OutOfOrder};
        assert_eq!(marks, [First, First, First, First, First, OutOfOrder, Duplicate]);
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set(numbers in proptest::collection::vec(1u32..300, 0..200)) {
            let (mut received, mut had, mut high) = (ReceivedSet::new(1, 128), HashSet::new(), 0);
            for number in numbers {
                let expect = match (number > high, high.saturating_sub(number) >= 128) {
                    (true, _) => Delivery::First,
                    (_, true) => Delivery::TooOld,
                    _ if had.contains(&number) => Delivery::Duplicate,
                    _ => Delivery::OutOfOrder,
                };
                prop_assert_eq!(received.mark(0, Token { number, user: 0, sent: Nanos::ZERO }), expect);
                high = high.max(number);
                had.insert(number);
            }
        }
    }
}
