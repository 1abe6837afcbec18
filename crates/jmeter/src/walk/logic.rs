//! `Logic`: where a thread goes on after an action, or an error, that leaves its place.

use jmx::Class;

use super::walker::{Ground, Walker};

/// Where a thread goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Logic {
    /// Where it is.
    #[default]
    Continue,
    /// With the next iteration of the thread.
    NextThreadLoop,
    /// With the next round of the loop that it is in.
    NextLoop,
    /// Behind that loop.
    BreakLoop,
}

impl Walker {
    /// Leaves a sampler's place; `controllers` are those around it, the outermost first.
    pub(crate) fn leave(&mut self, controllers: &[usize], logic: Logic, ground: &mut dyn Ground) {
        for id in controllers.iter().rev().copied() {
            let is_root = controllers.first() == Some(&id);
            let is_loop = is_root || self.goes_round(id);
            match logic {
                Logic::Continue => return,
                Logic::NextLoop if is_loop => return self.begin_next_round(id),
                Logic::BreakLoop if is_loop => return self.break_loop(id),
                Logic::NextThreadLoop if is_root => return self.begin_next_round(id),
                _ => self.end_round(id, ground),
            }
        }
    }

    /// Ends what is open in the controllers around a sampler, since its thread ends.
    pub(crate) fn end_all(&mut self, ground: &mut dyn Ground) {
        for id in 0..self.states.len() {
            self.leave_critical(id, ground);
        }
    }

    fn goes_round(&self, id: usize) -> bool {
        matches!(
            self.node(id).part.class(),
            Class::LoopController | Class::WhileController | Class::ForeachController
        )
    }

    fn begin_next_round(&mut self, id: usize) {
        self.states[id].begin_again();
        self.states[id].loops += 1;
    }

    fn break_loop(&mut self, id: usize) {
        let state = &mut self.states[id];
        state.breaks = true;
        state.is_first = true;
        state.at = 0;
        state.loops = 0;
    }

    /// A controller inside of the loop that goes on: its round is over.
    fn end_round(&mut self, id: usize, ground: &mut dyn Ground) {
        self.leave_critical(id, ground);
        let class = self.node(id).part.class();
        let state = &mut self.states[id];
        state.begin_again();
        state.skips = false;
        match class {
            Class::LoopController | Class::WhileController | Class::ForeachController => {
                state.loops = 0;
                state.loops_max = None;
            }
            Class::RunTime => state.began = None,
            Class::IfController => self.rest_below(id),
            Class::TransactionController => ground.end_transaction(id),
            _ => {}
        }
    }
}
