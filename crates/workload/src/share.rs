//! `Share`: how much users may begin in one poll. What others sent is looked at before they begin more.

/// How much users may begin in one poll: thousands of connections made in one go would have answers wait for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    /// What a message costs that goes out on a connection there is.
    pub const MESSAGE: u32 = 1;
    /// What a connection costs that is made or cut, or an iteration that is begun and may make one.
    pub const CONNECTION: u32 = 16;
    /// Nothing for now: what was begun before waits for its turn still.
    pub const NONE: Self = Self(0);
    /// One connection, or a few messages.
    pub const ONE: Self = Self(Self::CONNECTION);
    /// Eight connections, or 128 messages.
    pub const FULL: Self = Self(8 * Self::CONNECTION);

    /// Whether something may be begun.
    #[must_use]
    pub const fn is_left(self) -> bool {
        self.0 > 0
    }

    /// Something was begun.
    pub const fn take(&mut self, cost: u32) {
        self.0 = self.0.saturating_sub(cost);
    }
}

impl Default for Share {
    /// As much as there is, for those who look at nothing in between.
    fn default() -> Self {
        Self(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_connections_use_up_a_full_share() {
        for (mut share, cost, count) in [
            (Share::FULL, Share::CONNECTION, 8),
            (Share::FULL, Share::MESSAGE, 128),
            (Share::ONE, Share::CONNECTION, 1),
            (Share::NONE, Share::MESSAGE, 0),
        ] {
            let mut begun = 0;
            while share.is_left() {
                share.take(cost);
                begun += 1;
            }
            assert_eq!(begun, count);
        }
    }
}
