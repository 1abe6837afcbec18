//! Paths: members, methods and places, one after another.

use std::sync::Arc;

use super::Machine;
use super::fault::{Outcome, throw};
use super::frame::Frame;
use crate::script::library::{call_method, iterable, member, place};
use crate::script::tree::{Node, Step, StepKind, StepReach};
use crate::script::value::Value;

impl Machine<'_> {
    pub(super) fn path(
        &mut self,
        first: &Node,
        steps: &[Step],
        frame: &Arc<Frame>,
    ) -> Outcome<Value> {
        let mut value = self.value(first, frame)?;
        for step in steps {
            self.spend(1)?;
            let outcome = self.step(&value, step, frame);
            value = outcome.map_err(|fault| fault.on_line(step.line))?;
        }
        Ok(value)
    }

    fn step(&mut self, value: &Value, step: &Step, frame: &Arc<Frame>) -> Outcome<Value> {
        match (step.reach, value) {
            (StepReach::Safe | StepReach::Spread, Value::Null) => Ok(Value::Null),
            (StepReach::Spread, _) => {
                let mut results = Vec::new();
                for item in iterable(self, value)? {
                    results.push(self.step_of_one(&item, step, frame)?);
                }
                self.list(results)
            }
            _ => self.step_of_one(value, step, frame),
        }
    }

    fn step_of_one(&mut self, value: &Value, step: &Step, frame: &Arc<Frame>) -> Outcome<Value> {
        match &step.kind {
            StepKind::Member(name) if value.is_null() => Err(on_null("get property", name)),
            StepKind::Member(name) => member(self, value, name),
            StepKind::Method(name, arguments) => {
                let arguments = self.values(arguments, frame)?;
                self.method(value, name, arguments)
            }
            StepKind::Index(node) => {
                let at = self.value(node, frame)?;
                place(self, value, &at)
            }
            StepKind::Invoke(arguments) => {
                let arguments = self.values(arguments, frame)?;
                match value {
                    Value::Closure(closure) => self.call(&closure.clone(), arguments),
                    _ => call_method(self, value, "call", &arguments),
                }
            }
        }
    }

    /// Calls a method of a value.
    fn method(&mut self, value: &Value, name: &str, arguments: Vec<Value>) -> Outcome<Value> {
        if value.is_null() && !self.is_groovy_null_method(name) {
            return Err(on_null("invoke method", &format!("{name}()")));
        }
        // A closure in a map is called as a method of the map.
        if let Value::Map(map) = value
            && let Some(Value::Closure(closure)) = map.get_text(name)
        {
            return self.call(&closure, arguments);
        }
        call_method(self, value, name, &arguments)
    }

    /// Methods that Groovy has of nothing too.
    fn is_groovy_null_method(&self, name: &str) -> bool {
        self.language == crate::script::Language::Groovy
            && matches!(name, "toString" | "equals" | "is" | "iterator" | "asBoolean" | "with")
    }
}

fn on_null(what: &str, name: &str) -> super::Fault {
    throw("NullPointerException", format!("Cannot {what} {name} on null object"))
}
