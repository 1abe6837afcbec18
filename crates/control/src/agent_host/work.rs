//! `WorkState`: what the load generator has to do yet, so that orders and reports of two runs are not mixed.

use crate::agent_handle::{AgentOrder, AgentReport};

/// What the load generator was ordered and has not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkState {
    /// It prepares.
    is_preparing: bool,
    /// It has a start, and its load has not ended.
    is_loaded: bool,
    /// It has had an order of this run.
    has_order: bool,
}

impl WorkState {
    /// Takes note of an order.
    pub(super) fn ordered(&mut self, order: &AgentOrder) {
        match order {
            AgentOrder::Prepare(_) => (self.is_preparing, self.has_order) = (true, true),
            AgentOrder::Start(_) => self.is_loaded = true,
            AgentOrder::Leave(_) => self.has_order = false,
            AgentOrder::SkipOverdue(_) | AgentOrder::Pass { .. } | AgentOrder::Stop(_) => {}
        }
    }

    /// Takes note of a report; whether it answers an order.
    pub(super) fn takes(&mut self, report: &AgentReport) -> bool {
        match report {
            AgentReport::Prepared(_) => std::mem::take(&mut self.is_preparing),
            AgentReport::Ended => std::mem::take(&mut self.is_loaded),
            AgentReport::Measured { .. } | AgentReport::AtBarrier(_) => self.is_loaded,
            AgentReport::Abort(_) => true,
        }
    }

    /// It has a report to make.
    pub(super) fn is_busy(self) -> bool {
        self.is_preparing || self.is_loaded
    }

    /// It has had an order, and no release.
    pub(super) fn has_order(self) -> bool {
        self.has_order
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_load_is_busy_until_it_ended() {
        let mut work = WorkState::default();
        assert!(!work.takes(&AgentReport::Ended), "of an earlier run");
        work.ordered(&AgentOrder::Start(Instant::now()));
        work.ordered(&AgentOrder::Leave(Ok(())));
        assert!(work.is_busy() && !work.has_order());
        assert!(work.takes(&AgentReport::Ended));
        assert!(!work.is_busy());
        assert!(!work.takes(&AgentReport::Prepared(Ok(()))));
    }
}
