//! Controllers that choose: If, Switch, Interleave, Random, Random order, Throughput; Transaction and Critical section.

use std::sync::Arc;

use jmx::Class;

use super::walker::{Ground, Next, Walker};
use crate::plan::node::Child;

impl Walker {
    pub(super) fn ask_if(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        let all = self.text(id, "IfController.evaluateAll", ground);
        let looks = self.states[id].is_first || all.trim().eq_ignore_ascii_case("true");
        let element = self.element(id);
        if looks && !ground.is_true(&element) {
            self.rest_below(id);
            self.states[id].begin_again();
            return Next::Empty;
        }
        self.ask_simple(id, ground)
    }

    /// Controllers below begin anew.
    pub(super) fn rest_below(&mut self, id: usize) {
        let program = Arc::clone(&self.program);
        for child in &program.controllers[id].children {
            let Child::Controller(inner) = child else { continue };
            if program.controllers[*inner].part.class() != Class::OnceOnlyController {
                self.states[*inner].at = 0;
                self.states[*inner].is_first = true;
                self.rest_below(*inner);
            }
        }
    }

    pub(super) fn ask_switch(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if self.states[id].is_first {
            if !self.begin_round(id, ground) {
                return Next::Stop;
            }
            let text = self.text(id, "SwitchController.value", ground);
            self.states[id].at = self.chosen(id, &text, ground);
        }
        let next = match self.child(id) {
            None => Next::Empty,
            Some(Child::Sampler(sampler)) => {
                self.states[id].at = usize::MAX;
                return Next::Sampler(sampler);
            }
            Some(Child::Controller(inner)) => self.ask(inner, ground),
        };
        if next == Next::Empty {
            self.states[id].begin_again();
        }
        next
    }

    /// The child that a Switch controller's value chooses: by number, or by name; one that has no name of a child the one called
    /// `default`. A number that is too high chooses the first.
    fn chosen(&self, id: usize, value: &str, ground: &mut dyn Ground) -> usize {
        let node = self.node(id);
        if value.trim().is_empty() {
            return 0;
        }
        if let Ok(number) = value.trim().parse::<i64>() {
            // There is no child before the first: none runs.
            let Ok(number) = usize::try_from(number) else { return usize::MAX };
            return if number < node.children.len() { number } else { 0 };
        }
        let mut names = node.children.iter().map(|child| self.name(*child, ground));
        let named = names.position(|name| name == value);
        named
            .or_else(|| {
                let mut names = node.children.iter().map(|child| self.name(*child, ground));
                names.position(|name| name.eq_ignore_ascii_case("default"))
            })
            .unwrap_or(usize::MAX)
    }

    fn name(&self, child: Child, _ground: &mut dyn Ground) -> String {
        let part = match child {
            Child::Controller(id) => &self.program.controllers[id].part,
            Child::Sampler(id) => &self.program.samplers[id].part,
        };
        part.element.name.written().to_owned()
    }

    /// One sampler, or one controller as a whole, a pass: the next in turn, or any.
    pub(super) fn ask_interleave(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if std::mem::take(&mut self.states[id].skips) {
            self.states[id].is_first = true;
            self.states[id].round += 1;
            return Next::Empty;
        }
        if self.states[id].is_first && self.is_random(id) {
            let children = self.states[id].len(self.node(id));
            self.states[id].at = ground.below(children);
        }
        if !self.begin_round(id, ground) {
            return Next::Stop;
        }
        let style = self.text(id, "InterleaveControl.style", ground);
        let whole = style.trim() == "1";
        // Each child is asked once at most: where none has anything, neither has the pass.
        for _ in 0..=self.states[id].len(self.node(id)) {
            match self.ask_in_turn(id, whole, ground) {
                Some(next) => return next,
                None if !self.step() => return Next::Pause,
                None => {}
            }
        }
        self.states[id].is_first = true;
        Next::Empty
    }

    fn is_random(&self, id: usize) -> bool {
        self.node(id).part.class() == Class::RandomController
    }

    /// Asks the child whose turn it is; `None` where it has nothing.
    fn ask_in_turn(&mut self, id: usize, whole: bool, ground: &mut dyn Ground) -> Option<Next> {
        let Some(child) = self.child(id) else {
            self.states[id].at = 0;
            return None;
        };
        let inner = match child {
            Child::Sampler(sampler) => {
                self.advance_turn(id);
                self.states[id].skips = true;
                return Some(Next::Sampler(sampler));
            }
            Child::Controller(inner) => inner,
        };
        let next = self.ask(inner, ground);
        match next {
            Next::Empty if self.states[inner].is_done => self.pass(id, inner),
            Next::Empty if whole && std::mem::take(&mut self.states[id].runs) => {
                self.advance_turn(id);
                self.states[id].is_first = true;
                return Some(Next::Empty);
            }
            Next::Empty => self.advance_turn(id),
            Next::Sampler(_) if whole => self.states[id].runs = true,
            Next::Sampler(_) => {
                self.advance_turn(id);
                self.states[id].skips = true;
            }
            Next::Pause | Next::Stop => {}
        }
        (next != Next::Empty).then_some(next)
    }

    fn advance_turn(&mut self, id: usize) {
        let children = self.states[id].len(self.node(id)).max(1);
        self.states[id].at = (self.states[id].at + 1) % children;
    }

    pub(super) fn ask_random_order(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if self.states[id].is_first {
            let program = Arc::clone(&self.program);
            let order = self.states[id].own_order(&program.controllers[id]);
            for at in (1..order.len()).rev() {
                order.swap(at, ground.below(at + 1));
            }
        }
        self.ask_simple(id, ground)
    }

    pub(super) fn ask_throughput(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if !self.states[id].runs {
            return Next::Empty;
        }
        self.ask_simple(id, ground)
    }

    /// A round around a Throughput controller begins: whether it runs in it.
    pub(super) fn begin_throughput(&mut self, id: usize, ground: &mut dyn Ground) {
        let by_percent = self.text(id, "ThroughputController.style", ground).trim() == "1";
        let most = self.text(id, "ThroughputController.maxThroughput", ground);
        let most: u64 = most.trim().parse().unwrap_or(0);
        let percent = self.text(id, "ThroughputController.percentThroughput", ground);
        let percent: f64 = percent.trim().parse().unwrap_or(100.0);
        let per_thread = self.text(id, "ThroughputController.perThread", ground);
        let runs = move |ran: u64, rounds: u64| match by_percent {
            true => 100.0 * ran as f64 + 50.0 < percent * rounds as f64,
            false => ran < most,
        };
        self.states[id].runs = if per_thread.trim().eq_ignore_ascii_case("true") {
            let counts = &mut self.states[id].counts;
            counts.1 += 1;
            let now = runs(counts.0, counts.1);
            counts.0 += u64::from(now);
            now
        } else {
            ground.shared_round(id, &runs)
        };
    }

    pub(super) fn ask_transaction(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        if self.states[id].is_first {
            ground.begin_transaction(id);
        }
        let next = self.ask_simple(id, ground);
        if next == Next::Empty {
            ground.end_transaction(id);
        }
        next
    }

    pub(super) fn ask_critical(&mut self, id: usize, ground: &mut dyn Ground) -> Next {
        let name = self.text(id, "CriticalSectionController.lockName", ground);
        if !self.states[id].holds {
            if !ground.try_lock(&name) {
                return Next::Pause;
            }
            self.states[id].holds = true;
        }
        let next = self.ask_simple(id, ground);
        if next == Next::Empty {
            self.leave_critical(id, ground);
        }
        next
    }

    /// Leaves a critical section that is this thread's.
    pub(super) fn leave_critical(&mut self, id: usize, ground: &mut dyn Ground) {
        if std::mem::take(&mut self.states[id].holds) {
            let name = self.text(id, "CriticalSectionController.lockName", ground);
            ground.unlock(&name);
        }
    }
}
