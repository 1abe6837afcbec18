//! `Walker`: the places of one thread in all controllers of its plan, and the step to the next sampler.

use std::sync::Arc;

use jmx::{Class, Element};
use stdx::Nanos;

use super::state::State;
use crate::plan::compile::Program;
use crate::plan::node::{Child, ControllerNode, Part, Round};

/// What a thread comes to next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A sampler, by its number.
    Sampler(usize),
    /// The controller has nothing more in this round.
    Empty,
    /// The turn is over, or something is not free: ask again a little later.
    Pause,
    /// The thread ends: a data set has come to its end.
    Stop,
}

/// The thread that walks, as controllers see it.
pub(crate) trait Ground {
    /// A property of an element for this thread.
    fn text(&mut self, element: &Element, name: &str) -> String;
    /// A variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// Sets a variable.
    fn set_variable(&mut self, name: &str, value: String);
    /// The condition of an If controller.
    fn is_true(&mut self, element: &Element) -> bool;
    /// The time.
    fn now(&self) -> Nanos;
    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize;
    /// A round of a controller begins something anew; false ends the thread.
    fn begin_round(&mut self, part: &Part) -> bool;
    /// An iteration of the thread begins.
    fn begin_iteration(&mut self);
    /// The rounds of a Throughput controller that threads share, ours included: those in which it ran, and all.
    fn shared_round(&mut self, controller: usize, runs: &dyn Fn(u64, u64) -> bool) -> bool;
    /// Enters a critical section, unless another thread is in it.
    fn try_lock(&mut self, name: &str) -> bool;
    /// Leaves it.
    fn unlock(&mut self, name: &str);
    /// A transaction begins.
    fn begin_transaction(&mut self, controller: usize);
    /// A transaction counts so many samples more.
    fn count_in_transaction(&mut self, controller: usize, times: u64);
    /// A transaction ends, where it has begun.
    fn end_transaction(&mut self, controller: usize);
}

/// The places of one thread in all controllers of its plan.
pub(crate) struct Walker {
    pub(super) program: Arc<Program>,
    pub(super) states: Vec<State>,
    root: usize,
    steps: u32,
}

/// Steps of a turn.
const STEPS_MAX: u32 = 10_000;

impl Walker {
    /// At the beginning of a group's loop.
    pub(crate) fn new(program: &Arc<Program>, root: usize) -> Self {
        let states = vec![State::default(); program.controllers.len()];
        Self { program: Arc::clone(program), states, root, steps: 0 }
    }

    /// The next sampler of the thread; `Empty` where the thread has ended.
    pub(crate) fn next(&mut self, ground: &mut dyn Ground) -> Next {
        self.steps = 0;
        loop {
            match self.ask(self.root, ground) {
                Next::Empty if self.states[self.root].is_done => return Next::Empty,
                Next::Empty if !self.step() => return Next::Pause,
                Next::Empty => {}
                found => return found,
            }
        }
    }

    /// One more step of this turn; false where it has no more.
    pub(super) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps < STEPS_MAX
    }

    /// Asks a controller for its next sampler.
    pub(super) fn ask(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        match self.node(id).part.class() {
            Class::LoopController => self.ask_loop(id, ground),
            Class::WhileController => self.ask_while(id, ground),
            Class::ForeachController => self.ask_foreach(id, ground),
            Class::RunTime => self.ask_runtime(id, ground),
            Class::IfController => self.ask_if(id, ground),
            Class::OnceOnlyController => self.ask_children(id, ground),
            Class::SwitchController => self.ask_switch(id, ground),
            Class::RandomController | Class::InterleaveControl => self.ask_interleave(id, ground),
            Class::RandomOrderController => self.ask_random_order(id, ground),
            Class::ThroughputController => self.ask_throughput(id, ground),
            Class::TransactionController => self.ask_transaction(id, ground),
            Class::CriticalSection => self.ask_critical(id, ground),
            _ => self.ask_simple(id, ground),
        }
    }

    /// A controller that goes through its children once a pass.
    pub(super) fn ask_simple(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        let next = self.ask_children(id, ground);
        if next == Next::Empty {
            self.states[id].begin_again();
        }
        next
    }

    /// Goes on through the children; `Empty` behind the last, where it stays.
    pub(super) fn ask_children(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if !self.begin_round(id, ground) {
            return Next::Stop;
        }
        // Children that had nothing more, one after another.
        let mut empties = 0;
        loop {
            if !self.step() {
                self.count(id, empties, ground);
                return Next::Pause;
            }
            let Some(child) = self.child(id) else { return Next::Empty };
            match child {
                Child::Sampler(sampler) => {
                    self.states[id].at += 1;
                    self.count(id, empties + 1, ground);
                    return Next::Sampler(sampler);
                }
                Child::Controller(inner) => match self.ask(inner, ground) {
                    Next::Empty => {
                        empties += 1;
                        self.pass(id, inner);
                    }
                    next => {
                        let found = u64::from(next != Next::Pause);
                        self.count(id, empties + found, ground);
                        return next;
                    }
                },
            }
        }
    }

    /// A transaction counts how often it was asked, JMeter's number of samples: it asks itself again behind a child that has nothing
    /// more, and what comes then counts for both. Where nothing comes, its sample is made before either has counted.
    fn count(&self, id: usize, times: u64, ground: &mut dyn Ground) {
        if times > 0 && self.node(id).part.class() == Class::TransactionController {
            ground.count_in_transaction(id, times);
        }
    }

    /// A child has nothing more in this pass. One that is done, or has nothing below it, is not asked again.
    pub(super) fn pass(&mut self, id: usize, inner: usize) {
        let state = &self.states[inner];
        if state.is_done || state.len(self.node(inner)) == 0 {
            let program = Arc::clone(&self.program);
            self.states[id].remove_child(&program.controllers[id]);
        } else {
            self.states[id].at += 1;
        }
    }

    /// At the first step of a round, what the round begins anew; false ends the thread.
    pub(super) fn begin_round(&mut self, id: usize, ground: &mut dyn Ground) -> bool {
        if !std::mem::take(&mut self.states[id].is_first) {
            return true;
        }
        let program = Arc::clone(&self.program);
        let node = &program.controllers[id];
        if id == self.root {
            ground.begin_iteration();
        }
        node.rounds.iter().all(|round| match round {
            Round::Config(part) => ground.begin_round(part),
            Round::Controller(inner) => {
                self.begin_round_of(id, *inner, ground);
                true
            }
        })
    }

    fn begin_round_of(&mut self, id: usize, inner: usize, ground: &mut dyn Ground) {
        match self.node(inner).part.class() {
            Class::OnceOnlyController if self.round(id) == 1 => self.states[inner].begin_again(),
            Class::ThroughputController => self.begin_throughput(inner, ground),
            _ => {}
        }
    }

    /// The number of a controller's round, as those that it begins anew see it.
    fn round(&self, id: usize) -> u64 {
        match self.node(id).part.class() {
            Class::LoopController | Class::WhileController | Class::ForeachController => {
                self.states[id].loops as u64 + 1
            }
            _ => self.states[id].round,
        }
    }

    pub(super) fn child(&self, id: usize) -> Option<Child> {
        self.states[id].child(self.node(id))
    }

    pub(super) fn node(&self, id: usize) -> &ControllerNode {
        &self.program.controllers[id]
    }

    pub(super) fn element(&self, id: usize) -> Arc<Element> {
        Arc::clone(&self.node(id).part.element)
    }

    pub(super) fn text(&self, id: usize, name: &str, ground: &mut dyn Ground) -> String {
        let element = self.element(id);
        ground.text(&element, name)
    }
}
