//! Statements.

use std::sync::Arc;

use super::Machine;
use super::fault::{Fault, Outcome, throw};
use super::frame::Frame;
use crate::script::Language;
use crate::script::library::{is_kind_of, iterable};
use crate::script::tree::{
    Attempt, BareType, Binary, Case, Declaration, ForEachLoop, ForLoop, Node, Statement,
    StatementKind, Type,
};
use crate::script::value::{Object, Thrown, Value};

/// Where a statement leads.
#[derive(Debug)]
pub(super) enum Flow {
    /// To the next one; the value of this one.
    Normal(Value),
    Return(Value),
    Break,
    Continue,
}

impl Machine<'_> {
    /// Statements in a frame of their own.
    fn inner_block(&mut self, statements: &[Statement], frame: &Arc<Frame>) -> Outcome<Flow> {
        let inner = Frame::new(Some(frame.clone()));
        self.block(statements, &inner)
    }

    pub(super) fn block(&mut self, statements: &[Statement], frame: &Arc<Frame>) -> Outcome<Flow> {
        let mut last = Value::Null;
        for statement in statements {
            match self.statement(statement, frame)? {
                Flow::Normal(value) => {
                    let is_empty = matches!(statement.kind, StatementKind::Empty);
                    last = if is_empty { last } else { value };
                }
                other => return Ok(other),
            }
        }
        Ok(Flow::Normal(last))
    }

    fn statement(&mut self, statement: &Statement, frame: &Arc<Frame>) -> Outcome<Flow> {
        self.spend(1)?;
        let outcome = self.deeper(|machine| machine.statement_kind(&statement.kind, frame));
        outcome.map_err(|fault| fault.on_line(statement.line))
    }

    fn statement_kind(&mut self, kind: &StatementKind, frame: &Arc<Frame>) -> Outcome<Flow> {
        match kind {
            StatementKind::Expression(node) => self.value(node, frame).map(Flow::Normal),
            StatementKind::Declare(declarations) => self.declare_all(declarations, frame),
            StatementKind::Unpack(names, node) => self.unpack(names, node, frame),
            StatementKind::Block(statements) => self.inner_block(statements, frame),
            StatementKind::If(branches, other) => self.branch(branches, other.as_deref(), frame),
            StatementKind::While(condition, body) => self.repeat(condition, body, frame),
            StatementKind::DoWhile(body, condition) => self.repeat_after(body, condition, frame),
            StatementKind::For(each) => self.repeat_for(each, frame),
            StatementKind::ForEach(each) => self.repeat_each(each, frame),
            StatementKind::Switch(node, cases) => self.switch(node, cases, frame),
            StatementKind::Try(attempt) => self.attempt(attempt, frame),
            StatementKind::Return(None) => Ok(Flow::Return(Value::Null)),
            StatementKind::Return(Some(node)) => self.value(node, frame).map(Flow::Return),
            StatementKind::Throw(node) => self.throw(node, frame),
            StatementKind::Assert(node, message) => self.assert(node, message.as_ref(), frame),
            StatementKind::Break => Ok(Flow::Break),
            StatementKind::Continue => Ok(Flow::Continue),
            StatementKind::Empty => Ok(Flow::Normal(Value::Null)),
        }
    }

    fn declare_all(&mut self, declarations: &[Declaration], frame: &Arc<Frame>) -> Outcome<Flow> {
        for declaration in declarations {
            let value = match &declaration.value {
                Some(node) => self.value(node, frame)?,
                None => self.initial(declaration.kind),
            };
            self.declare(&declaration.name, declaration.kind, value, frame)?;
        }
        Ok(Flow::Normal(Value::Null))
    }

    /// The value of what is declared without one.
    fn initial(&self, kind: Type) -> Value {
        match kind {
            Type::Bare(BareType::Letter) if self.language == Language::Groovy => {
                Value::Letter('\0')
            }
            Type::Bare(_) if self.language == Language::Groovy => Value::Int(0),
            _ => Value::Null,
        }
    }

    fn declare(
        &mut self,
        name: &Arc<str>,
        kind: Type,
        value: Value,
        frame: &Arc<Frame>,
    ) -> Outcome<()> {
        let value = self.converted(kind, value)?;
        frame.declare(name, kind, value);
        // BeanShell's names at the top are those of the element too.
        if self.language == Language::BeanShell && Arc::ptr_eq(frame, &self.top) {
            let value = frame.get(name).unwrap_or_default();
            self.bindings.assign(name, value);
        }
        Ok(())
    }

    fn unpack(&mut self, names: &[Arc<str>], node: &Node, frame: &Arc<Frame>) -> Outcome<Flow> {
        let value = self.value(node, frame)?;
        let items = iterable(self, &value)?;
        for (at, name) in names.iter().enumerate() {
            frame.declare(name, Type::Any, items.get(at).cloned().unwrap_or_default());
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn branch(
        &mut self,
        branches: &[(Node, Statement)],
        other: Option<&Statement>,
        frame: &Arc<Frame>,
    ) -> Outcome<Flow> {
        for (condition, body) in branches {
            if self.condition(condition, frame)? {
                return self.statement(body, frame);
            }
        }
        other.map_or(Ok(Flow::Normal(Value::Null)), |body| self.statement(body, frame))
    }

    /// Runs the body of a loop once: where the loop ends, what it leads to.
    fn turn(&mut self, body: &Statement, frame: &Arc<Frame>) -> Outcome<Option<Flow>> {
        Ok(match self.statement(body, frame)? {
            Flow::Break => Some(Flow::Normal(Value::Null)),
            Flow::Return(value) => Some(Flow::Return(value)),
            Flow::Normal(_) | Flow::Continue => None,
        })
    }

    fn repeat(&mut self, condition: &Node, body: &Statement, frame: &Arc<Frame>) -> Outcome<Flow> {
        while self.condition(condition, frame)? {
            if let Some(flow) = self.turn(body, frame)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn repeat_after(
        &mut self,
        body: &Statement,
        condition: &Node,
        frame: &Arc<Frame>,
    ) -> Outcome<Flow> {
        loop {
            if let Some(flow) = self.turn(body, frame)? {
                return Ok(flow);
            }
            if !self.condition(condition, frame)? {
                return Ok(Flow::Normal(Value::Null));
            }
        }
    }

    fn repeat_for(&mut self, each: &ForLoop, frame: &Arc<Frame>) -> Outcome<Flow> {
        let inner = Frame::new(Some(frame.clone()));
        self.block(&each.begin, &inner)?;
        loop {
            if let Some(condition) = &each.condition
                && !self.condition(condition, &inner)?
            {
                return Ok(Flow::Normal(Value::Null));
            }
            if let Some(flow) = self.turn(&each.body, &inner)? {
                return Ok(flow);
            }
            for step in &each.step {
                self.value(step, &inner)?;
            }
        }
    }

    fn repeat_each(&mut self, each: &ForEachLoop, frame: &Arc<Frame>) -> Outcome<Flow> {
        let of = self.value(&each.of, frame)?;
        let items = match (&of, each.over_keys) {
            (Value::Map(map), true) => map.keys(),
            (Value::List(list), true) => (0..list.len()).map(Value::count).collect(),
            (Value::Null, _) => Vec::new(),
            _ => iterable(self, &of)?,
        };
        for item in items {
            let inner = Frame::new(Some(frame.clone()));
            let item = self.converted(each.kind, item)?;
            inner.declare(&each.name, each.kind, item);
            if let Some(flow) = self.turn(&each.body, &inner)? {
                return Ok(flow);
            }
        }
        Ok(Flow::Normal(Value::Null))
    }

    fn switch(&mut self, node: &Node, cases: &[Case], frame: &Arc<Frame>) -> Outcome<Flow> {
        let value = self.value(node, frame)?;
        let mut begin = cases.iter().position(|case| case.value.is_none());
        for (at, case) in cases.iter().enumerate() {
            let Some(other) = &case.value else { continue };
            let other = self.value(other, frame)?;
            if self.is_case(&value, &other)? {
                begin = Some(at);
                break;
            }
        }
        let Some(begin) = begin else { return Ok(Flow::Normal(Value::Null)) };
        let inner = Frame::new(Some(frame.clone()));
        let mut last = Value::Null;
        for case in &cases[begin..] {
            match self.block(&case.body, &inner)? {
                Flow::Normal(value) => last = value,
                Flow::Break => return Ok(Flow::Normal(last)),
                other => return Ok(other),
            }
        }
        Ok(Flow::Normal(last))
    }

    /// Whether a case is that of a value: lists have it, patterns match it, classes are its own.
    fn is_case(&mut self, value: &Value, case: &Value) -> Outcome<bool> {
        match case {
            Value::List(list) => Ok(list.position(value).is_some()),
            Value::Class(class) => Ok(is_kind_of(value, class)),
            Value::Object(object) if matches!(**object, Object::Pattern(_)) => {
                self.operate(Binary::Match, value, case).map(|value| value.is_true())
            }
            Value::Closure(closure) => {
                let closure = closure.clone();
                self.call(&closure, vec![value.clone()]).map(|value| value.is_true())
            }
            // Java compares texts of a switch by their letters.
            _ => Ok(value.equals(case)),
        }
    }

    fn attempt(&mut self, attempt: &Attempt, frame: &Arc<Frame>) -> Outcome<Flow> {
        let outcome = self.statement(&attempt.body, frame);
        let outcome = match outcome {
            Err(Fault::Thrown(thrown, line)) => self.caught(attempt, (thrown, line), frame),
            other => other,
        };
        let Some(finally) = &attempt.finally else { return outcome };
        if matches!(outcome, Err(Fault::Limit(_))) {
            return outcome;
        }
        match self.statement(finally, frame)? {
            Flow::Normal(_) => outcome,
            other => Ok(other),
        }
    }

    fn caught(
        &mut self,
        attempt: &Attempt,
        (thrown, line): (Box<Thrown>, u32),
        frame: &Arc<Frame>,
    ) -> Outcome<Flow> {
        let value = Value::object(Object::Thrown((*thrown).clone()));
        let catches = |class: &&str| is_kind_of(&value, class);
        let found = attempt
            .catches
            .iter()
            .find(|catch| catch.classes.is_empty() || catch.classes.iter().any(catches));
        let Some(catch) = found else { return Err(Fault::Thrown(thrown, line)) };
        let inner = Frame::new(Some(frame.clone()));
        inner.declare(&catch.name, Type::Any, value.clone());
        self.statement(&catch.body, &inner)
    }

    fn throw(&mut self, node: &Node, frame: &Arc<Frame>) -> Outcome<Flow> {
        let value = self.value(node, frame)?;
        match &value {
            Value::Object(object) => match &**object {
                Object::Thrown(thrown) => Err(Fault::Thrown(Box::new(thrown.clone()), node.line)),
                _ => Err(throw("ClassCastException", "it cannot be thrown")),
            },
            // JavaScript throws any value.
            other => Err(throw("RuntimeException", other.to_string())),
        }
    }

    fn assert(&mut self, node: &Node, message: Option<&Node>, frame: &Arc<Frame>) -> Outcome<Flow> {
        if self.condition(node, frame)? {
            return Ok(Flow::Normal(Value::Null));
        }
        let text = match message {
            Some(message) => self.value(message, frame)?.to_string(),
            None => "assert failed".to_owned(),
        };
        Err(throw("AssertionError", text))
    }
}
