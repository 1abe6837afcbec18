//! The machine that walks a script's tree, within its limits.

mod assign;
mod call;
mod convert;
mod expression;
mod fault;
mod frame;
mod operators;
mod path;
mod statement;

use std::sync::Arc;

pub(crate) use call::missing_method;
pub(crate) use fault::{Fault, Outcome, throw};
pub(crate) use frame::Closure;
pub(crate) use operators::normal;

use frame::Frame;
use statement::Flow;

use super::Language;
use super::bindings::Bindings;
use super::context::ScriptContext;
use super::error::{ScriptError, ScriptLimit};
use super::parse::Program;
use super::tree::Function;
use super::value::{COMPARISONS_MAX, List, ListKind, Value, take_comparisons};
use crate::ending;

/// Steps of a run at most.
const STEPS_MAX: u64 = 10_000_000;
/// Bytes of all texts and lists that a run makes, at most, and no more than half of the process' limit.
const BYTES_MAX: usize = 256 << 20;
/// Expressions and statements stand so deep in one another at most, calls included.
const DEPTH_MAX: u32 = 160;
/// So many pairs of values, of which each may be compared, count as a step.
const PAIRS_IN_STEP: u64 = 16;
/// So many comparisons of values count as a step.
const COMPARISONS_IN_STEP: u64 = 16;
/// After so many steps, the context is asked whether the script has to end; the test's own end is looked at with every step.
const STEPS_BETWEEN_LOOKS: u64 = 4_096;

/// A run of a script.
pub(crate) struct Machine<'a> {
    pub(crate) language: Language,
    pub(crate) context: &'a mut dyn ScriptContext,
    bindings: &'a mut Bindings,
    program: &'a Program,
    top: Arc<Frame>,
    /// Frames that closures hold; they are emptied at the end, because the closures stand in them.
    captured: Vec<Arc<Frame>>,
    steps: u64,
    bytes: usize,
    bytes_max: usize,
    depth: u32,
}

/// Runs a script.
pub(super) fn run(
    program: &Program,
    language: Language,
    context: &mut dyn ScriptContext,
    bindings: &mut Bindings,
) -> Result<Value, ScriptError> {
    let top = Frame::new(None);
    let mut machine = Machine {
        language,
        context,
        bindings,
        program,
        top: top.clone(),
        captured: Vec::new(),
        steps: 0,
        bytes: 0,
        bytes_max: stdx::within_memory(BYTES_MAX, 2),
        depth: 0,
    };
    let outcome = machine.block(&program.main.body, &top);
    machine.captured.drain(..).for_each(|frame| frame.clear());
    top.clear();
    machine.context.note_made(machine.bytes);
    match outcome {
        Ok(Flow::Normal(value) | Flow::Return(value)) => Ok(value),
        Ok(Flow::Break | Flow::Continue) => Ok(Value::Null),
        Err(fault) => Err(fault.into_error()),
    }
}

impl Machine<'_> {
    /// Counts steps.
    pub(crate) fn spend(&mut self, steps: u64) -> Outcome<()> {
        let before = self.steps;
        self.look()?;
        let comparisons = take_comparisons();
        self.steps += steps + comparisons / COMPARISONS_IN_STEP;
        if self.steps > STEPS_MAX || comparisons >= COMPARISONS_MAX {
            return Err(Fault::Limit(ScriptLimit::Steps));
        }
        let is_time_to_look = before / STEPS_BETWEEN_LOOKS != self.steps / STEPS_BETWEEN_LOOKS;
        if is_time_to_look && self.context.is_over() {
            return Err(Fault::Limit(ScriptLimit::Time));
        }
        Ok(())
    }

    /// Ends a script whose test has come to its end: each step may take long.
    pub(crate) fn look(&self) -> Outcome<()> {
        if ending::is_over() { Err(Fault::Limit(ScriptLimit::Time)) } else { Ok(()) }
    }

    /// Counts bytes that are made, and the steps that it takes to make them.
    pub(crate) fn allot(&mut self, bytes: usize) -> Outcome<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.bytes_max {
            return Err(Fault::Limit(ScriptLimit::Memory));
        }
        self.spend(bytes as u64 / 256)
    }

    /// A text that is made.
    pub(crate) fn text(&mut self, text: String) -> Outcome<Value> {
        self.allot(text.len())?;
        Ok(Value::text(text))
    }

    /// A list that is made.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Outcome<Value> {
        self.allot(items.len() * size_of::<Value>())?;
        Ok(Value::list(items))
    }

    /// Pays for values that are added to a collection: a set compares each with those that it has.
    fn charge_added(&mut self, list: &List, count: usize) -> Outcome<()> {
        self.allot(count.saturating_mul(size_of::<Value>()))?;
        if list.kind() != ListKind::Set {
            return Ok(());
        }
        let pairs = (list.len() + count).saturating_mul(count) as u64;
        self.spend(pairs / PAIRS_IN_STEP)
    }

    /// Adds values to a collection; whether it has changed.
    pub(crate) fn add_items(&mut self, list: &List, items: Vec<Value>) -> Outcome<bool> {
        self.charge_added(list, items.len())?;
        let before = list.len();
        for item in items {
            self.look()?;
            list.add(item);
        }
        Ok(list.len() != before)
    }

    /// Adds a value to a collection; whether it has changed.
    pub(crate) fn add_item(&mut self, list: &List, item: Value) -> Outcome<bool> {
        self.charge_added(list, 1)?;
        Ok(list.add(item))
    }

    /// The values for which something holds.
    pub(crate) fn filter(
        &mut self,
        items: Vec<Value>,
        holds: impl Fn(&Value) -> bool,
    ) -> Outcome<Vec<Value>> {
        let mut left = Vec::new();
        for item in items {
            self.look()?;
            left.extend(holds(&item).then_some(item));
        }
        Ok(left)
    }

    /// Whether something holds for each of the values.
    pub(crate) fn holds_each(
        &mut self,
        items: &[Value],
        holds: impl Fn(&Value) -> bool,
    ) -> Outcome<bool> {
        for item in items {
            self.look()?;
            if !holds(item) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Values as one text, a separator between them.
    pub(crate) fn joined(&mut self, items: &[Value], separator: &str) -> Outcome<Value> {
        let mut text = String::new();
        for (at, item) in items.iter().enumerate() {
            let before = text.len();
            text.push_str(if at > 0 { separator } else { "" });
            text.push_str(&self.written(item));
            self.allot(text.len() - before)?;
        }
        Ok(Value::text(text))
    }

    /// Does something one level deeper.
    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth >= DEPTH_MAX {
            return Err(Fault::Limit(ScriptLimit::Depth));
        }
        self.depth += 1;
        let outcome = work(self);
        self.depth -= 1;
        outcome
    }

    /// A closure that stands in a frame.
    fn capture(&mut self, function: &Arc<Function>, frame: &Arc<Frame>) -> Outcome<Value> {
        self.allot(size_of::<Frame>())?;
        self.captured.push(frame.clone());
        Ok(Value::Closure(Arc::new(Closure { function: function.clone(), frame: frame.clone() })))
    }
}
