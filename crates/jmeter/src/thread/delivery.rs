//! Where the samples of a thread go: into transactions that are open, and to the results.

use std::sync::Arc;

use super::scope::Thread;
use super::transaction::Transaction;
use crate::plan::property::{flag, text};
use crate::results::sample::SampleResult;
use crate::world::LogLevel;

impl Thread {
    /// A transaction begins.
    pub(crate) fn open_transaction(&mut self, controller: usize) {
        let program = Arc::clone(&self.program);
        let properties = &program.controllers[controller].part.element.properties;
        let transaction = Transaction {
            is_parent: flag(properties, "TransactionController.parent", self) == Some(true),
            has_timers: flag(properties, "TransactionController.includeTimers", self)
                != Some(false),
            ..Transaction::new(controller, self.unix_ms_now())
        };
        // A transaction in a parent has no samples: they go to the parent.
        let is_hollow = self.transactions.iter().any(|open| open.is_parent);
        let is_parent = transaction.is_parent && !is_hollow;
        self.transactions.push(Transaction { is_parent, is_hollow, ..transaction });
    }

    /// A sampler of a transaction is next.
    pub(crate) fn count_sampler(&mut self, controller: usize) {
        let open = self.transactions.iter_mut().rev().find(|open| open.controller == controller);
        if let Some(open) = open.filter(|open| !open.is_parent) {
            open.samples += 1;
        }
    }

    /// A sample is complete: it goes to the transactions that are open, and to the results unless one of them is its parent.
    pub(crate) fn deliver(&mut self, sample: &SampleResult) {
        for open in self.transactions.iter_mut().rev().filter(|open| !open.is_hollow) {
            open.add(sample);
            if open.is_parent {
                return;
            }
        }
        self.publish(sample);
    }

    /// A sample goes to the results.
    fn publish(&mut self, sample: &SampleResult) {
        let world = Arc::clone(&self.world);
        world.plan.sink.sample(sample);
    }

    /// A transaction ends, with those that were left open inside of it.
    pub(crate) fn close_transaction(&mut self, controller: usize) {
        let Some(at) = self.transactions.iter().rposition(|open| open.controller == controller)
        else {
            return;
        };
        while self.transactions.len() > at {
            let Some(open) = self.transactions.pop() else { return };
            self.conclude_transaction(open);
        }
    }

    fn conclude_transaction(&mut self, open: Transaction) {
        let program = Arc::clone(&self.program);
        let node = &program.controllers[open.controller];
        let label = node.part.element.name.evaluate(self);
        let (has_any, is_parent) = (open.has_any, open.is_parent);
        if open.bodies_left_out > 0 {
            let count = stdx::counted(open.bodies_left_out, "body");
            let text = format!("{label}: {count} of its samples left out: more than 64 MiB");
            self.write_log(LogLevel::Warn, "o.a.j.c.TransactionController", &text);
        }
        let mut sample = open.sample(label, self.unix_ms_now());
        if has_any {
            let (name, active) = (self.name.clone(), self.world.active(self.group));
            sample.set_thread(&name, active);
        }
        if is_parent {
            self.judge(&mut sample, &node.assertions);
        }
        self.publish(&sample);
    }

    /// What the plan says of variables that results show.
    pub(crate) fn shown_variables(&self) -> Vec<(String, String)> {
        let value = |name: &str| self.variables.get(name).cloned().unwrap_or_default();
        self.world.shown.iter().map(|name| (name.clone(), value(name))).collect()
    }

    /// A text of an element for this thread.
    pub(crate) fn property_text(&mut self, element: &jmx::Element, name: &str) -> String {
        text(&element.properties, name, self)
    }
}
