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
use super::value::{COMPARISONS_MAX, Value, take_comparisons};

/// Steps of a run at most.
const STEPS_MAX: u64 = 10_000_000;
/// Bytes of all texts and lists that a run makes, at most.
const BYTES_MAX: usize = 256 << 20;
/// Expressions and statements stand so deep in one another at most, calls included.
const DEPTH_MAX: u32 = 160;
/// So many comparisons of values count as a step.
const COMPARISONS_IN_STEP: u64 = 16;
/// After so many steps, the context is asked whether the script has to end.
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
        depth: 0,
    };
    let outcome = machine.block(&program.main.body, &top);
    machine.captured.drain(..).for_each(|frame| frame.clear());
    top.clear();
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

    /// Counts bytes that are made, and the steps that it takes to make them.
    pub(crate) fn allot(&mut self, bytes: usize) -> Outcome<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_MAX {
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
