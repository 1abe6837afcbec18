//! `State`: the place of one thread in one controller.

use stdx::Nanos;

use crate::plan::node::{Child, ControllerNode};

/// The place of one thread in one controller.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The child that is next.
    pub(crate) at: usize,
    /// A round begins.
    pub(crate) is_first: bool,
    /// It is left out from now on.
    pub(crate) is_done: bool,
    /// The number of its round, from 1.
    pub(crate) round: u64,
    /// Rounds of a loop that have ended.
    pub(crate) loops: i64,
    /// How often a loop is to go round, once that is known.
    pub(crate) loops_max: Option<i64>,
    /// The loop is to end.
    pub(crate) breaks: bool,
    /// The children in the order of this thread, where it is not that of the plan.
    order: Option<Vec<Child>>,
    /// A Throughput controller runs in this round.
    pub(crate) runs: bool,
    /// Rounds in which it ran, and rounds, of this thread alone.
    pub(crate) counts: (u64, u64),
    /// An Interleave controller has given its sampler of this pass.
    pub(crate) skips: bool,
    /// When a Runtime controller began.
    pub(crate) began: Option<Nanos>,
    /// A critical section is this thread's.
    pub(crate) holds: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            at: 0,
            is_first: true,
            is_done: false,
            round: 1,
            loops: 0,
            loops_max: None,
            breaks: false,
            order: None,
            runs: false,
            counts: (0, 0),
            skips: false,
            began: None,
            holds: false,
        }
    }
}

impl State {
    /// Another round begins with the first child.
    pub(crate) fn begin_again(&mut self) {
        self.at = 0;
        self.is_first = true;
        self.round += 1;
    }

    pub(crate) fn len(&self, node: &ControllerNode) -> usize {
        self.order.as_ref().map_or(node.children.len(), Vec::len)
    }

    pub(crate) fn child(&self, node: &ControllerNode) -> Option<Child> {
        self.order.as_ref().unwrap_or(&node.children).get(self.at).copied()
    }

    /// The children, to be changed for this thread.
    pub(crate) fn own_order(&mut self, node: &ControllerNode) -> &mut Vec<Child> {
        self.order.get_or_insert_with(|| node.children.clone())
    }

    /// The child that is next is left out from now on.
    pub(crate) fn remove_child(&mut self, node: &ControllerNode) {
        let at = self.at;
        let order = self.own_order(node);
        if at < order.len() {
            order.remove(at);
        }
    }
}
