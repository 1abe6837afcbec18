//! Expressions.

use std::sync::Arc;

use super::Machine;
use super::fault::{Outcome, throw};
use super::frame::Frame;
use crate::script::Language;
use crate::script::library::{class_named, construct, is_kind_of};
use crate::script::tree::{Kind, Logic, Node, Probe, Type};
use crate::script::value::{Decimal, List, ListKind, Map, Object, Value, groovy_text};

impl Machine<'_> {
    /// What an expression is worth.
    pub(super) fn value(&mut self, node: &Node, frame: &Arc<Frame>) -> Outcome<Value> {
        match &node.kind {
            Kind::Literal(value) => return Ok(value.clone()),
            Kind::Name(name) => {
                self.spend(1)?;
                return self.name(name, frame).map_err(|fault| fault.on_line(node.line));
            }
            _ => {}
        }
        self.spend(1)?;
        let outcome = self.deeper(|machine| machine.compute(node, frame));
        outcome.map_err(|fault| fault.on_line(node.line))
    }

    fn compute(&mut self, node: &Node, frame: &Arc<Frame>) -> Outcome<Value> {
        match &node.kind {
            Kind::Literal(value) => Ok(value.clone()),
            Kind::Name(name) => self.name(name, frame),
            Kind::Template(parts) => self.template(parts, frame),
            Kind::List(nodes) => {
                let items = self.values(nodes, frame)?;
                self.list(items)
            }
            Kind::Map(rows) => self.map(rows, frame),
            Kind::Chain(first, rest) => {
                let mut value = self.value(first, frame)?;
                for (operator, node) in rest {
                    let other = self.value(node, frame)?;
                    value = self.operate(*operator, &value, &other)?;
                }
                Ok(value)
            }
            Kind::Logic(logic, parts) => self.logic(*logic, parts, frame),
            Kind::Not(operand) => self.condition(operand, frame).map(|truth| Value::Truth(!truth)),
            Kind::Minus(operand) => {
                let value = self.value(operand, frame)?;
                self.negative(&value)
            }
            Kind::Tilde(operand) => self.tilde(operand, frame),
            Kind::Choice(nodes) => {
                let [condition, one, other] = &**nodes;
                let is_true = self.condition(condition, frame)?;
                self.value(if is_true { one } else { other }, frame)
            }
            Kind::Elvis(nodes) => self.elvis(nodes, frame),
            Kind::Assign(assignment) => self.assign(assignment, frame),
            Kind::Count(target, counting) => self.count(target, *counting, frame),
            Kind::Path(first, steps) => self.path(first, steps, frame),
            Kind::Call(name, arguments) => {
                let arguments = self.values(arguments, frame)?;
                self.call_name(name, arguments, frame)
            }
            Kind::Closure(function) => self.capture(function, frame),
            Kind::New(class, arguments) => {
                let arguments = self.values(arguments, frame)?;
                construct(self, class, &arguments)
            }
            Kind::Array(size, kind) => self.array(size, *kind, frame),
            Kind::Cast(kind, operand) => {
                let value = self.value(operand, frame)?;
                self.cast(*kind, value)
            }
            Kind::Is(operand, class) => {
                let value = self.value(operand, frame)?;
                Ok(Value::Truth(is_kind_of(&value, class)))
            }
            Kind::Probe(probe, operand) => self.probe(*probe, operand, frame),
        }
    }

    pub(super) fn values(&mut self, nodes: &[Node], frame: &Arc<Frame>) -> Outcome<Vec<Value>> {
        nodes.iter().map(|node| self.value(node, frame)).collect()
    }

    /// A name: of a block, of the element, of a function, of a class.
    fn name(&mut self, name: &Arc<str>, frame: &Arc<Frame>) -> Outcome<Value> {
        if let Some(value) = self.known_name(name, frame) {
            return Ok(value);
        }
        Err(match self.language {
            Language::BeanShell => {
                throw("EvalError", format!("undefined variable or class name: {name}"))
            }
            Language::JavaScript => {
                throw("ScriptException", format!("ReferenceError: \"{name}\" is not defined"))
            }
            _ => throw(
                "MissingPropertyException",
                format!("No such property: {name} for class: Script1"),
            ),
        })
    }

    fn known_name(&mut self, name: &Arc<str>, frame: &Arc<Frame>) -> Option<Value> {
        let found = frame.get(name).or_else(|| self.bindings.get(name).cloned());
        if found.is_some() {
            return found;
        }
        let function = self.program.functions.iter().find(|(known, _)| known == name);
        if let Some((_, function)) = function {
            let top = self.top.clone();
            return self.capture(function, &top).ok();
        }
        class_named(name).map(Value::Class).or_else(|| self.own_name(name))
    }

    /// The names that a language has by itself.
    fn own_name(&self, name: &str) -> Option<Value> {
        if self.language != Language::JavaScript {
            return None;
        }
        match name {
            "NaN" => Some(Value::Double(f64::NAN)),
            "Infinity" => Some(Value::Double(f64::INFINITY)),
            "JSON" => Some(Value::Class("JSON")),
            "Number" => Some(Value::Class("Number")),
            "Array" => Some(Value::Class("Array")),
            _ => None,
        }
    }

    fn template(&mut self, parts: &[Node], frame: &Arc<Frame>) -> Outcome<Value> {
        let mut text = String::new();
        for part in parts {
            let value = self.value(part, frame)?;
            let value = self.written(&value);
            self.allot(value.len())?;
            text.push_str(&value);
        }
        Ok(Value::text(text))
    }

    /// A value as a text, in the letters of the language.
    pub(crate) fn written(&self, value: &Value) -> String {
        match (self.language, value) {
            (Language::Groovy, Value::Map(_) | Value::List(_)) => groovy_text(value),
            (Language::JavaScript, Value::Double(number)) => {
                let text = Decimal::of_double(*number).map(|decimal| decimal.to_string());
                text.unwrap_or_else(|| value.to_string())
            }
            (Language::Jexl2 | Language::Jexl3, Value::Null) => String::new(),
            _ => value.to_string(),
        }
    }

    fn map(&mut self, rows: &[(Node, Node)], frame: &Arc<Frame>) -> Outcome<Value> {
        let map = Map::default();
        self.allot(rows.len() * 2 * size_of::<Value>())?;
        for (key, value) in rows {
            let key = self.value(key, frame)?;
            map.put(key, self.value(value, frame)?);
        }
        Ok(Value::Map(map))
    }

    fn logic(&mut self, logic: Logic, parts: &[Node], frame: &Arc<Frame>) -> Outcome<Value> {
        // JavaScript's value is the operand that decides.
        let mut last = Value::Null;
        for part in parts {
            last = self.value(part, frame)?;
            if self.truth(&last)? == (logic == Logic::Or) {
                break;
            }
        }
        match self.language {
            Language::JavaScript => Ok(last),
            _ => self.truth(&last).map(Value::Truth),
        }
    }

    /// Whether a condition holds.
    pub(super) fn condition(&mut self, node: &Node, frame: &Arc<Frame>) -> Outcome<bool> {
        let value = self.value(node, frame)?;
        self.truth(&value)
    }

    /// Whether a value counts for true in the language.
    pub(crate) fn truth(&self, value: &Value) -> Outcome<bool> {
        match (self.language, value) {
            (_, Value::Truth(truth)) => Ok(*truth),
            (Language::BeanShell, _) => {
                Err(throw("EvalError", "Condition must evaluate to a Boolean or boolean."))
            }
            (Language::Jexl2 | Language::Jexl3, Value::Text(text)) => Ok(**text == *"true"),
            (Language::JavaScript, Value::List(_) | Value::Map(_)) => Ok(true),
            _ => Ok(value.is_true()),
        }
    }

    fn tilde(&mut self, operand: &Node, frame: &Arc<Frame>) -> Outcome<Value> {
        match self.value(operand, frame)? {
            Value::Text(text) => Ok(Value::object(Object::Pattern(text))),
            Value::Int(number) => Ok(Value::Int(!number)),
            Value::Long(number) => Ok(Value::Long(!number)),
            _ => Err(throw("MissingMethodException", "No signature of method: bitwiseNegate()")),
        }
    }

    fn elvis(&mut self, nodes: &[Node; 2], frame: &Arc<Frame>) -> Outcome<Value> {
        let [one, other] = nodes;
        let value = match self.language.is_jexl() {
            true => self.probe(Probe::Value, one, frame)?,
            false => self.value(one, frame)?,
        };
        if self.truth(&value)? { Ok(value) } else { self.value(other, frame) }
    }

    fn array(&mut self, size: &Node, kind: Type, frame: &Arc<Frame>) -> Outcome<Value> {
        let size = self.value(size, frame)?.as_long().unwrap_or(0);
        let size = usize::try_from(size)
            .map_err(|_| throw("NegativeArraySizeException", size.to_string()))?;
        self.allot(size.saturating_mul(size_of::<Value>()))?;
        let kind = match kind {
            Type::Bare(bare) => bare.boxed(),
            kind => kind,
        };
        let zero = match kind {
            Type::Int | Type::Short | Type::Byte => Value::Int(0),
            Type::Long => Value::Long(0),
            Type::Double => Value::Double(0.0),
            Type::Truth => Value::Truth(false),
            _ => Value::Null,
        };
        Ok(Value::List(List::new(ListKind::Array, vec![zero; size])))
    }

    fn probe(&mut self, probe: Probe, operand: &Node, frame: &Arc<Frame>) -> Outcome<Value> {
        let value = match &operand.kind {
            Kind::Name(name) => self.known_name(name, frame),
            _ => Some(self.value(operand, frame)?),
        };
        let kind = value.as_ref().map_or("undefined", type_word);
        let value = value.unwrap_or_default();
        Ok(match probe {
            Probe::Value => value,
            Probe::TypeOf => kind.into(),
            Probe::Empty => Value::Truth(!value.is_true() && !value.is_number()),
            Probe::Size => Value::count(match &value {
                Value::List(list) => list.len(),
                Value::Map(map) => map.len(),
                Value::Null => 0,
                other => other.to_string().chars().count(),
            }),
        })
    }
}

/// JavaScript's word for the kind of a value.
fn type_word(value: &Value) -> &'static str {
    match value {
        Value::Truth(_) => "boolean",
        Value::Text(_) | Value::Letter(_) => "string",
        Value::Closure(_) => "function",
        number if number.is_number() => "number",
        _ => "object",
    }
}
