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
        // One in a parent has no samples, which go to the parent, unless it is a parent itself: its own sample goes there then.
        let is_in_parent = self.transactions.iter().any(|open| open.is_parent);
        let is_hollow = is_in_parent && !transaction.is_parent;
        self.transactions.push(Transaction { is_hollow, ..transaction });
    }

    /// A transaction counts so many samples more; a parent counts those that it gets.
    pub(crate) fn count_samples(&mut self, controller: usize, times: u64) {
        let open = self.transactions.iter_mut().rev().find(|open| open.controller == controller);
        if let Some(open) = open.filter(|open| !open.is_parent) {
            open.samples += times;
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
        // JMeter takes the listeners of its sample from the last sampler of the thread.
        if !is_parent && !self.has_sampled {
            let text = format!("Could not fetch SamplePackage for {label}");
            return self.write_log(LogLevel::Warn, "o.a.j.c.TransactionController", &text);
        }
        if open.bodies_left_out > 0 {
            let count = stdx::counted(open.bodies_left_out, "body");
            let text = format!("{label}: {count} of its samples left out: more than 64 MiB");
            self.write_log(LogLevel::Warn, "o.a.j.c.TransactionController", &text);
        }
        let mut sample = open.sample(label, self.unix_ms_now());
        if has_any || is_parent {
            let (name, active) = (self.name.clone(), self.world.active(self.group));
            sample.set_thread(&name, active);
        }
        if is_parent {
            self.judge(&mut sample, &node.assertions);
            // Those around it have been asked once more than it has samples: for its own.
            let around = self.transactions.iter_mut().filter(|open| !open.is_parent);
            around.for_each(|open| open.samples += 1);
            return self.deliver(&sample);
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use jmx::{Class, Element, MemoryScope, UnknownScripts, read_plan};

    use super::*;
    use crate::http::tests::thread_with;
    use crate::plan::compile::Program;
    use crate::world::Sink;

    /// The samples that came: each as its label with those below it in brackets, and its code.
    #[derive(Default)]
    struct Labels(Mutex<Vec<String>>);

    fn shown(sample: &SampleResult) -> String {
        let below: Vec<String> = sample.children.iter().map(shown).collect();
        format!("{} {}({})", sample.label, sample.code, below.join(" "))
    }

    impl Sink for Labels {
        fn sample(&self, sample: &SampleResult) {
            self.0.lock().unwrap().push(shown(sample));
        }
        fn collect(&self, _: &Element, _: &SampleResult) {}
        fn log(&self, _: LogLevel, _: &str, _: &str, _: &str) {}
    }

    /// A thread in two transactions, one in the other, and what they come to with two samples in the inner one.
    fn labels(outer: &str, inner: &str, has_sampled: bool) -> Vec<String> {
        let transaction = |name: &str, parent: &str| {
            format!(
                "<TransactionController testname=\"{name}\"><boolProp name=\"TransactionController.parent\">{parent}</boolProp></TransactionController>"
            )
        };
        let plan = format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree><ThreadGroup testname=\"G\"/><hashTree>{}<hashTree>{}<hashTree/></hashTree></hashTree></hashTree></hashTree></jmeterTestPlan>",
            transaction("o", outer),
            transaction("i", inner)
        );
        let (file, _) = read_plan(plan.as_bytes(), UnknownScripts::Refused).unwrap();
        let program = Program::compile(&file, &mut MemoryScope::default(), &|_| None).unwrap();
        let named = |name: &str| {
            let is_it = |node: &crate::plan::node::ControllerNode| {
                node.part.class() == Class::TransactionController
                    && node.part.element.name.written() == name
            };
            program.controllers.iter().position(is_it).unwrap()
        };
        let (outer, inner) = (named("o"), named("i"));
        let sink = Arc::new(Labels::default());
        let mut thread = thread_with(program, Arc::clone(&sink) as Arc<dyn Sink>);
        thread.has_sampled = has_sampled;
        thread.open_transaction(outer);
        thread.open_transaction(inner);
        for code in ["500", "404"].iter().filter(|_| has_sampled) {
            let code = (*code).to_owned();
            thread.deliver(&SampleResult {
                label: "s".to_owned(),
                code,
                ..SampleResult::default()
            });
        }
        thread.close_transaction(outer);
        std::mem::take(&mut *sink.0.lock().unwrap())
    }

    #[test]
    fn a_parent_in_a_parent_is_a_sample_below_it() {
        assert_eq!(labels("true", "true", true), ["o 500(i 500(s 500() s 404()))"]);
        assert_eq!(labels("true", "false", true), ["i 200()", "o 500(s 500() s 404())"]);
        assert_eq!(labels("false", "true", true), ["i 500(s 500() s 404())", "o ()"]);
    }

    #[test]
    fn a_transaction_before_any_sampler_of_its_thread_has_no_row() {
        assert!(labels("false", "false", false).is_empty());
        assert_eq!(labels("true", "false", false), ["o 200()"]);
    }
}
