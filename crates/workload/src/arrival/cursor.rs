//! `Cursor`: one worker's walk through its share of a schedule. It allocates nothing after it was made.

use std::sync::Arc;

use stdx::Nanos;

use super::numbers::Numbers;
use super::shape::Shape;
use super::shard::Shard;
use super::{constant, linear, poisson, sine, steps};
use crate::segment::SegmentSlice;

/// One worker's walk through its share of a schedule.
#[derive(Clone, Debug)]
pub struct Cursor {
    numbers: Numbers,
    /// When the hit of this number is due; `None` when the schedule is over.
    due: Option<Nanos>,
    walk: Walk,
}

#[derive(Clone, Debug)]
enum Walk {
    Constant(constant::Walk),
    /// Part of a constant rate: gaps differ, and each due time is computed anew.
    ConstantPart(constant::Points),
    Linear(linear::Ramp),
    Steps(steps::Stairs),
    Sine(sine::Swing),
    Poisson(poisson::Draw),
    Replay {
        moments: Arc<[Nanos]>,
        end: Nanos,
    },
}

impl Shape {
    /// One worker's walk through its share of the schedule. The same seed gives the same schedule, whatever the shards.
    /// `duration` is the run's; hits due after it do not exist.
    #[must_use]
    pub fn cursor(&self, seed: u64, shard: Shard, duration: Option<Nanos>) -> Cursor {
        Cursor::new(self, seed, Numbers::new(shard, None), shard, duration)
    }

    /// The same of an agent's hits: `part` has their numbers, and the shards cut those. The parts and shards of all agents
    /// together are the whole schedule.
    #[must_use]
    pub fn cursor_of_part(
        &self,
        seed: u64,
        shard: Shard,
        part: &SegmentSlice,
        duration: Option<Nanos>,
    ) -> Cursor {
        Cursor::new(self, seed, Numbers::new(shard, Some(part)), shard, duration)
    }
}

impl Cursor {
    fn new(
        shape: &Shape,
        seed: u64,
        numbers: Numbers,
        shard: Shard,
        duration: Option<Nanos>,
    ) -> Self {
        let walk = match shape {
            Shape::Constant { hits, per } if numbers.is_part() => {
                Walk::ConstantPart(constant::Points::new(*hits, *per, duration))
            }
            Shape::Constant { hits, per } => {
                Walk::Constant(constant::Walk::new(*hits, *per, shard, duration))
            }
            Shape::Linear { from, to } => Walk::Linear(linear::Ramp::new(*from, *to, duration)),
            Shape::Steps(steps) => Walk::Steps(steps::Stairs::new(steps, duration)),
            Shape::Sine { mean, amplitude, period, start_at } => {
                let wave = sine::Wave::new(*mean, *amplitude, *period, *start_at);
                Walk::Sine(sine::Swing::new(wave, duration))
            }
            Shape::Poisson { rate } => Walk::Poisson(poisson::Draw::new(*rate, seed, duration)),
            Shape::Replay(moments) => {
                Walk::Replay { moments: Arc::clone(moments), end: duration.unwrap_or(Nanos::MAX) }
            }
        };
        let mut cursor = Self { numbers, due: None, walk };
        cursor.due = cursor.walk.due(cursor.numbers.get());
        cursor
    }

    /// The next hit of this shard and when it is due, as an offset from the run's start; `None` when the schedule is over.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<(u64, Nanos)> {
        self.due.map(|due| (self.numbers.get(), due))
    }

    /// Goes on to this shard's next hit.
    #[inline]
    pub fn advance(&mut self) {
        if self.due.is_none() {
            return;
        }
        if let Walk::Constant(walk) = &mut self.walk {
            walk.advance();
        }
        self.due = if self.numbers.advance() { self.walk.due(self.numbers.get()) } else { None };
    }

    /// How many hits of this shard, from the next one on, are due until then. Without a loop at a constant rate, where a
    /// hopeless backlog may be thousands of millions.
    #[must_use]
    pub fn count_until(&self, until: Nanos) -> u64 {
        if self.due.is_none_or(|due| due > until) {
            return 0;
        }
        match &self.walk {
            Walk::Constant(walk) => return self.numbers.count_below(walk.due_until(until)),
            Walk::ConstantPart(points) => return self.numbers.count_below(points.due_until(until)),
            _ => {}
        }
        let mut cursor = self.clone();
        let mut count = 0;
        while cursor.due.is_some_and(|due| due <= until) {
            cursor.advance();
            count += 1;
        }
        count
    }

    /// How many hits of this shard, from the next one on, are due until then and have a number below `max`.
    #[must_use]
    pub fn count_until_below(&self, until: Nanos, max: Option<u64>) -> u64 {
        let below = max.map(|max| self.numbers.count_below(max));
        self.count_until(until).min(below.unwrap_or(u64::MAX))
    }
}

impl Walk {
    #[inline]
    fn due(&mut self, hit: u64) -> Option<Nanos> {
        match self {
            Self::Constant(walk) => walk.due(hit),
            Self::ConstantPart(points) => points.due(hit),
            Self::Linear(ramp) => ramp.due(hit),
            Self::Steps(stairs) => stairs.due(hit),
            Self::Sine(swing) => swing.due(hit),
            Self::Poisson(draw) => draw.due(hit),
            Self::Replay { moments, end } => {
                let due = moments.get(usize::try_from(hit).ok()?)?;
                (due <= end).then_some(*due)
            }
        }
    }
}
