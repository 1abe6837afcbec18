//! `PollBudget`: how much users may start in one poll, so that events are handled in between.

/// How much users may start in one poll: thousands of connections made in one go would delay the handling of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollBudget(u32);

impl PollBudget {
    /// What a message costs that goes out on a connection there is.
    pub const MESSAGE: u32 = 1;
    /// What a connection costs that is made or cut, or an iteration that is begun and may make one.
    pub const CONNECTION: u32 = 16;
    /// Nothing: what was started before still waits for its turn.
    pub const NONE: Self = Self(0);
    /// One connection, or a few messages.
    pub const ONE: Self = Self(Self::CONNECTION);
    /// Eight connections, or 128 messages.
    pub const FULL: Self = Self(8 * Self::CONNECTION);

    /// How many connections it is enough for.
    #[must_use]
    pub const fn connections(self) -> u32 {
        self.0 / Self::CONNECTION
    }

    /// Whether something may be started.
    #[must_use]
    pub const fn is_left(self) -> bool {
        self.0 > 0
    }

    /// Accounts for something that was started.
    pub const fn spend(&mut self, cost: u32) {
        self.0 = self.0.saturating_sub(cost);
    }
}

impl Default for PollBudget {
    /// No bound, for callers that handle no events in between.
    fn default() -> Self {
        Self(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_connections_use_up_a_full_share() {
        for (mut budget, cost, count) in [
            (PollBudget::FULL, PollBudget::CONNECTION, 8),
            (PollBudget::FULL, PollBudget::MESSAGE, 128),
            (PollBudget::ONE, PollBudget::CONNECTION, 1),
            (PollBudget::NONE, PollBudget::MESSAGE, 0),
        ] {
            let mut begun = 0;
            while budget.is_left() {
                budget.spend(cost);
                begun += 1;
            }
            assert_eq!(begun, count);
        }
    }
}
