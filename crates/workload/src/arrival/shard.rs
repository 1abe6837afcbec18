//! `Shard`: one worker's share of the hits.

/// One worker's share of the hits: `first, first + step, first + 2 step, …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The first hit's number.
    pub first: u64,
    /// From one hit to the next; at least 1.
    pub step: u64,
}

impl Shard {
    /// All hits in one shard.
    pub const ALL: Self = Self { first: 0, step: 1 };
}
