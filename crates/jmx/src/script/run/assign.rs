//! Assignments, and what counts up and down.

use std::sync::Arc;

use super::Machine;
use super::fault::{Outcome, throw};
use super::frame::Frame;
use crate::script::library::{member, place, set_member, set_place};
use crate::script::tree::{
    Assignment, Binary, CountOrder, Counting, Kind, Node, Step, StepKind, StepReach, Type,
};
use crate::script::value::Value;

/// What is assigned to, its operands evaluated once.
enum Target {
    Name(Arc<str>),
    Member(Value, Arc<str>),
    Place(Value, Value),
    /// `null?.x`: nothing is assigned.
    Nothing,
}

impl Machine<'_> {
    pub(super) fn assign(&mut self, assignment: &Assignment, frame: &Arc<Frame>) -> Outcome<Value> {
        let target = self.target(&assignment.target, frame)?;
        let value = match assignment.operator {
            None => self.value(&assignment.value, frame)?,
            Some(operator) => {
                let before = self.read(&target, frame)?;
                let other = self.value(&assignment.value, frame)?;
                self.operate(operator, &before, &other)?
            }
        };
        self.store(&target, value.clone(), frame)?;
        Ok(value)
    }

    pub(super) fn count(
        &mut self,
        node: &Node,
        counting: Counting,
        frame: &Arc<Frame>,
    ) -> Outcome<Value> {
        let target = self.target(node, frame)?;
        let before = self.read(&target, frame)?;
        let after = self.operate(Binary::Add, &before, &Value::Int(counting.by))?;
        self.store(&target, after.clone(), frame)?;
        Ok(if counting.order == CountOrder::Before { before } else { after })
    }

    fn target(&mut self, node: &Node, frame: &Arc<Frame>) -> Outcome<Target> {
        match &node.kind {
            Kind::Name(name) => Ok(Target::Name(name.clone())),
            Kind::Path(first, steps) => match steps.split_last() {
                Some((last, before)) => self.path_target(first, (before, last), frame),
                None => Ok(Target::Nothing),
            },
            _ => Ok(Target::Nothing),
        }
    }

    fn path_target(
        &mut self,
        first: &Node,
        (before, last): (&[Step], &Step),
        frame: &Arc<Frame>,
    ) -> Outcome<Target> {
        let value = self.path(first, before, frame)?;
        if value.is_null() && last.reach == StepReach::Safe {
            return Ok(Target::Nothing);
        }
        Ok(match &last.kind {
            StepKind::Member(name) => Target::Member(value, name.clone()),
            StepKind::Index(node) => Target::Place(value, self.value(node, frame)?),
            _ => Target::Nothing,
        })
    }

    fn read(&mut self, target: &Target, frame: &Arc<Frame>) -> Outcome<Value> {
        match target {
            Target::Name(name) => {
                let node = Node { line: 0, kind: Kind::Name(name.clone()) };
                self.value(&node, frame)
            }
            Target::Member(value, name) => member(self, value, name),
            Target::Place(value, at) => place(self, value, at),
            Target::Nothing => Ok(Value::Null),
        }
    }

    fn store(&mut self, target: &Target, value: Value, frame: &Arc<Frame>) -> Outcome<()> {
        match target {
            Target::Name(name) => self.store_name(name, value, frame),
            Target::Member(of, name) if of.is_null() => Err(throw(
                "NullPointerException",
                format!("Cannot set property {name} on null object"),
            )),
            Target::Member(of, name) => set_member(self, of, name, value),
            Target::Place(of, at) => set_place(self, of, at, value),
            Target::Nothing => Ok(()),
        }
    }

    fn store_name(&mut self, name: &Arc<str>, value: Value, frame: &Arc<Frame>) -> Outcome<()> {
        let kind = frame.kind(name);
        let value = self.converted(kind.unwrap_or(Type::Any), value)?;
        let is_declared = kind.is_some() && frame.set(name, value.clone());
        // What is set without a declaration is the element's; so are BeanShell's names at the top.
        if !is_declared || self.bindings.get(name).is_some() {
            self.bindings.assign(name, value);
        }
        Ok(())
    }
}
