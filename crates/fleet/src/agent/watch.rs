//! `Watch`: what an agent's own ticks show: pauses of its process, the beat that is due, and how long it has been alone.

use stdx::Nanos;

use crate::message::{BEAT, Pauses};

/// A gap between ticks from which on the process is taken to have stood still.
pub const PAUSE_MIN: Nanos = Nanos(1_000_000_000);

/// The times of an agent's ticks.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    ticked: Nanos,
    beat_at: Nanos,
    /// When the coordinator was last heard of.
    received: Nanos,
    pauses: Pauses,
}

impl Watch {
    pub(super) fn new(now: Nanos) -> Self {
        Self { ticked: now, beat_at: now, received: now, pauses: Pauses::default() }
    }

    /// Whether the process stood still until now.
    pub(super) fn tick(&mut self, now: Nanos) -> bool {
        let gap = Nanos(now.0.saturating_sub(self.ticked.0));
        self.ticked = self.ticked.max(now);
        if gap < PAUSE_MIN {
            return false;
        }
        self.pauses.count += 1;
        self.pauses.longest = self.pauses.longest.max(gap);
        // While it stood still, no message could reach it: the time does not count as alone.
        self.received = Nanos(self.received.0 + gap.0);
        true
    }

    /// Whether a beat is due; once a second, and after a pause once.
    pub(super) fn is_beat_due(&mut self, now: Nanos) -> bool {
        if now < self.beat_at {
            return false;
        }
        self.beat_at = now + BEAT;
        true
    }

    /// The coordinator sent something.
    pub(super) fn received(&mut self, now: Nanos) {
        self.received = now;
    }

    /// The coordinator sent nothing for `longest`.
    pub(super) fn is_alone(&self, now: Nanos, longest: Nanos) -> bool {
        now.0.saturating_sub(self.received.0) > longest.0
    }

    pub(super) fn pauses(&self) -> Pauses {
        self.pauses
    }
}
