//! Calls of closures and functions.

use std::sync::Arc;

use super::Machine;
use super::fault::{Outcome, throw};
use super::frame::{Closure, Frame};
use super::statement::Flow;
use crate::script::Language;
use crate::script::library::call_global;
use crate::script::tree::Function;
use crate::script::value::{List, ListKind, Value};

impl Machine<'_> {
    /// Calls a closure.
    pub(crate) fn call(&mut self, closure: &Arc<Closure>, arguments: Vec<Value>) -> Outcome<Value> {
        self.apply(&closure.function, &closure.frame, arguments)
    }

    /// Calls a name: a closure in a variable, a function of the script, one of the language.
    pub(super) fn call_name(
        &mut self,
        name: &Arc<str>,
        arguments: Vec<Value>,
        frame: &Arc<Frame>,
    ) -> Outcome<Value> {
        let variable = frame.get(name).or_else(|| self.bindings.get(name).cloned());
        if let Some(Value::Closure(closure)) = variable {
            return self.call(&closure, arguments);
        }
        if let Some(function) = self.function(name, arguments.len()) {
            let top = self.top.clone();
            return self.apply(&function, &top, arguments);
        }
        match call_global(self, name, &arguments)? {
            Some(value) => Ok(value),
            None => Err(self.missing(name, &arguments)),
        }
    }

    /// The function of a name that takes so many arguments; else the last one of that name.
    fn function(&self, name: &str, count: usize) -> Option<Arc<Function>> {
        let mut found = self.program.functions.iter().filter(|(known, _)| **known == *name);
        let fits = found.clone().find(|(_, function)| function.parameters.len() == count);
        fits.or_else(|| found.next_back()).map(|(_, function)| function.clone())
    }

    fn missing(&self, name: &str, arguments: &[Value]) -> super::Fault {
        match self.language {
            Language::BeanShell => throw("EvalError", format!("Command not found: {name}()")),
            Language::JavaScript => {
                throw("ScriptException", format!("ReferenceError: \"{name}\" is not defined"))
            }
            _ => missing_method("Script1", name, arguments),
        }
    }

    fn apply(
        &mut self,
        function: &Arc<Function>,
        outer: &Arc<Frame>,
        arguments: Vec<Value>,
    ) -> Outcome<Value> {
        self.spend(1)?;
        let frame = Frame::new(Some(outer.clone()));
        self.bind(function, arguments, &frame)?;
        let flow = self.deeper(|machine| machine.block(&function.body, &frame))?;
        Ok(match flow {
            Flow::Return(value) => value,
            Flow::Normal(value) if self.language == Language::Groovy => value,
            _ => Value::Null,
        })
    }

    /// Gives its arguments to the parameters of a function.
    fn bind(
        &mut self,
        function: &Function,
        mut arguments: Vec<Value>,
        frame: &Arc<Frame>,
    ) -> Outcome<()> {
        if function.has_it {
            let it = if arguments.is_empty() { Value::Null } else { arguments.swap_remove(0) };
            frame.declare(&Arc::from("it"), crate::script::tree::Type::Any, it);
            return Ok(());
        }
        // One list for several parameters is taken apart.
        if let ([Value::List(list)], true) = (&arguments[..], function.parameters.len() > 1) {
            arguments = list.items();
        }
        if self.language == Language::JavaScript {
            let list = List::new(ListKind::List, arguments.clone());
            frame.declare(
                &Arc::from("arguments"),
                crate::script::tree::Type::Any,
                Value::List(list),
            );
        }
        let mut arguments = arguments.into_iter();
        for parameter in &function.parameters {
            let value = match (arguments.next(), &parameter.default) {
                (Some(value), _) => value,
                (None, Some(node)) => self.value(node, frame)?,
                (None, None) => Value::Null,
            };
            let value = self.converted(parameter.kind, value)?;
            frame.declare(&parameter.name, parameter.kind, value);
        }
        Ok(())
    }
}

/// What Groovy throws of a method that is not there.
pub(crate) fn missing_method(of: &str, name: &str, arguments: &[Value]) -> super::Fault {
    let kinds: Vec<&str> = arguments.iter().map(Value::class).collect();
    let values: Vec<String> = arguments.iter().map(Value::to_string).collect();
    let values: String = values.join(", ").chars().take(200).collect();
    let kinds = kinds.join(", ");
    throw(
        "MissingMethodException",
        format!(
            "No signature of method: {of}.{name}() is applicable for argument types: ({kinds}) values: [{values}]"
        ),
    )
}
