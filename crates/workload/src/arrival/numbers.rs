//! `Numbers`: the numbers of a shard's hits, of all hits or of those of an agent. It allocates nothing after it was made.

use super::shard::Shard;
use crate::segment::SegmentSlice;

/// The numbers of a shard's hits, one after the other.
#[derive(Clone, Debug)]
pub struct Numbers {
    number: u64,
    step: u64,
    /// Where an agent has a part of the hits: the number among its own, and which are its own.
    part: Option<Box<(u64, SegmentSlice)>>,
}

impl Numbers {
    /// The numbers of this shard: of all hits, or of those of `part`, which the shard then cuts by their places in it.
    #[must_use]
    pub fn new(shard: Shard, part: Option<&SegmentSlice>) -> Self {
        let number = part.map_or(shard.first, |part| part.number(shard.first));
        let part = part.map(|part| Box::new((shard.first, part.clone())));
        Self { number, step: shard.step.max(1), part }
    }

    /// The number of the next hit, in the whole schedule.
    #[must_use]
    #[inline]
    pub const fn get(&self) -> u64 {
        self.number
    }

    /// Goes on to the next hit; `false` where the numbers end.
    #[inline]
    pub fn advance(&mut self) -> bool {
        let next = match &mut self.part {
            None => self.number.checked_add(self.step),
            Some(part) => part.0.checked_add(self.step).map(|own| {
                part.0 = own;
                part.1.number(own)
            }),
        };
        self.number = next.unwrap_or(self.number);
        next.is_some()
    }

    pub(super) const fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// How many numbers, from the next one on, are below `max`.
    #[must_use]
    pub fn count_below(&self, max: u64) -> u64 {
        let left = match &self.part {
            None => max.saturating_sub(self.number),
            Some(part) => part.1.count(max).saturating_sub(part.0),
        };
        left.div_ceil(self.step)
    }
}
