//! Carries out a script's statements on known values.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::parse::parse;
use super::tree::{Expression, Statement, StatementKind};
use super::value::{AnswerPart, Datum, Function, Polarity, number_text};
use crate::variables::Variables;
use crate::{Between, Exchange, Extraction, Find, JsonStep, Source, Step, Text};

/// When a script runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before its request.
    Before,
    /// On its answer.
    After,
}

/// What a script comes to beside changes to its exchange.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What is done before the exchange (or after it), in order.
    pub steps: Vec<Step>,
    /// What was left out: the line in the script, from 1, and what it is.
    pub notes: Vec<(usize, String)>,
}

/// Carries out `source` for `exchange`.
pub(crate) fn run(
    source: &str,
    phase: Phase,
    variables: &mut Variables,
    exchange: &mut Exchange,
) -> Outcome {
    let mut session = Session {
        variables,
        phase,
        answers: vec![std::mem::take(exchange)],
        plan: Vec::new(),
        scopes: vec![BTreeMap::new()],
        notes: Vec::new(),
        line: 1,
        budget: STEPS_MAX,
        depth: 0,
    };
    session.statements(&parse(source));
    let Session { answers, plan, notes, .. } = session;
    let mut answers: Vec<Option<Exchange>> = answers.into_iter().map(Some).collect();
    *exchange = answers[0].take().unwrap_or_default();
    let steps = plan.into_iter().filter_map(|planned| match planned {
        Planned::Send(index) => answers[index].take().map(|sent| Step::Exchange(Box::new(sent))),
        Planned::Step(step) => Some(step),
    });
    Outcome { steps: steps.collect(), notes }
}

/// A step of the outcome; requests may still get extractions.
pub(super) enum Planned {
    Send(usize),
    Step(Step),
}

/// A script under way.
pub(super) struct Session<'a> {
    pub variables: &'a mut Variables,
    pub phase: Phase,
    /// The script's own exchange, then those that it sends.
    pub answers: Vec<Exchange>,
    pub plan: Vec<Planned>,
    scopes: Vec<BTreeMap<String, Datum>>,
    notes: Vec<(usize, String)>,
    line: usize,
    budget: usize,
    depth: usize,
}

impl Session<'_> {
    /// Notes what is left out at the present line.
    pub(super) fn note(&mut self, text: impl Into<String>) {
        let note = (self.line, text.into());
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Carries out statements up to a `return`, whose value it gives.
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Option<Datum> {
        for statement in statements {
            self.budget = self.budget.checked_sub(1)?;
            self.line = statement.line;
            match &statement.kind {
                StatementKind::Declare(name, value) => {
                    let value = self.expression(value);
                    self.declare(name, value);
                }
                StatementKind::Expression(expression) => {
                    self.expression(expression);
                }
                StatementKind::Return(value) => {
                    return Some(
                        value.as_ref().map_or(Datum::Undefined, |value| self.expression(value)),
                    );
                }
                StatementKind::Block(inner) => {
                    if let Some(value) = self.statements(inner) {
                        return Some(value);
                    }
                }
                StatementKind::If(condition, then, otherwise) => {
                    let branch = if self.is_met(condition) { then } else { otherwise };
                    if let Some(value) = self.statements(branch) {
                        return Some(value);
                    }
                }
                StatementKind::Unreadable => {
                    self.note("this statement of a script is not understood");
                }
            }
        }
        None
    }

    /// Whether a condition holds where all goes well: what is not known counts as met, with a note.
    fn is_met(&mut self, condition: &Expression) -> bool {
        let value = self.expression(condition);
        self.truth(&value).unwrap_or_else(|| {
            self.note("this condition of a script is taken as met");
            true
        })
    }

    /// Whether a value counts as true. What an answer has is taken as there.
    pub(super) fn truth(&self, value: &Datum) -> Option<bool> {
        Some(match value {
            Datum::Undefined | Datum::Null => false,
            Datum::Boolean(value) => *value,
            Datum::Number(number) => *number != 0.0,
            Datum::Text(text) => !text.is_empty(),
            Datum::Unknown | Datum::Expectation(..) => return None,
            _ => true,
        })
    }

    pub(super) fn declare(&mut self, name: &str, value: Datum) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), value);
        }
    }

    /// Calls a function of the script.
    pub(super) fn call_function(&mut self, function: &Function, arguments: Vec<Datum>) -> Datum {
        if self.depth > CALLS_MAX {
            return Datum::Unknown;
        }
        let arguments = arguments.into_iter().chain(std::iter::repeat(Datum::Undefined));
        self.scopes.push(function.parameters.iter().cloned().zip(arguments).collect());
        self.depth += 1;
        let line = self.line;
        let value = self.statements(&function.body).unwrap_or(Datum::Undefined);
        self.line = line;
        self.depth -= 1;
        self.scopes.pop();
        value
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> Datum {
        let Some(budget) = self.budget.checked_sub(1) else { return Datum::Unknown };
        self.budget = budget;
        match expression {
            Expression::Number(number) => Datum::Number(*number),
            Expression::String(text) => Datum::literal(text),
            Expression::Boolean(value) => Datum::Boolean(*value),
            Expression::Null => Datum::Null,
            Expression::Undefined => Datum::Undefined,
            Expression::Template(parts) => self.template(parts),
            Expression::Name(name) => self.name(name),
            Expression::Member(object, name) => {
                let object = self.expression(object);
                self.member(object, name)
            }
            Expression::Index(object, index) => {
                let (object, index) = (self.expression(object), self.expression(index));
                self.index(object, &index)
            }
            Expression::Call(callee, arguments) => self.call(callee, arguments),
            Expression::New(class, arguments) => self.construct(class, arguments),
            Expression::Array(items) => {
                Datum::Array(items.iter().map(|item| self.expression(item)).collect())
            }
            Expression::Object(members) => Datum::Object(
                members.iter().map(|(key, value)| (key.clone(), self.expression(value))).collect(),
            ),
            Expression::Unary(sign, operand) => self.unary(sign, operand),
            Expression::Binary(sign, left, right) => self.binary(sign, left, right),
            Expression::Conditional(condition, then, otherwise) => {
                let branch = if self.is_met(condition) { then } else { otherwise };
                self.expression(branch)
            }
            Expression::Function(parameters, body) => Datum::Function(Rc::new(Function {
                parameters: parameters.clone(),
                body: body.clone(),
            })),
            Expression::Assign(target, value) => self.assign(target, value),
            Expression::Pattern => Datum::Unknown,
        }
    }

    fn template(&mut self, parts: &[Expression]) -> Datum {
        let mut text = Text::default();
        for part in parts {
            let value = self.expression(part);
            let Some(part) = self.text_of(&value) else { return Datum::Unknown };
            text.push(&part);
        }
        Datum::Text(text)
    }

    fn name(&mut self, name: &str) -> Datum {
        if let Some(value) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return value.clone();
        }
        match name {
            "responseBody" => Datum::Part(AnswerPart::Body(0)),
            "responseCode" | "response" => Datum::Answer(0),
            "responseHeaders" => Datum::Headers(0),
            "responseTime" => Datum::Part(AnswerPart::Time(0)),
            _ => Datum::Library(name.to_owned()),
        }
    }

    fn index(&mut self, object: Datum, index: &Datum) -> Datum {
        match (object, index) {
            (Datum::Part(AnswerPart::Json(answer, mut path)), Datum::Number(number)) => {
                path.push(JsonStep::Index(*number as i64));
                Datum::Part(AnswerPart::Json(answer, path))
            }
            (Datum::Array(items), Datum::Number(number)) => {
                items.get(*number as usize).cloned().unwrap_or(Datum::Undefined)
            }
            (object, index) => match index.as_literal() {
                Some(name) => self.member(object, &name),
                None => Datum::Unknown,
            },
        }
    }

    fn unary(&mut self, sign: &str, operand: &Expression) -> Datum {
        let value = self.expression(operand);
        match (sign, &value) {
            ("!", value) => {
                self.truth(value).map_or(Datum::Unknown, |truth| Datum::Boolean(!truth))
            }
            ("-", Datum::Number(number)) => Datum::Number(-number),
            ("+", _) => value,
            ("typeof", Datum::Text(_)) => Datum::literal("string"),
            ("typeof", Datum::Undefined) => Datum::literal("undefined"),
            _ => Datum::Unknown,
        }
    }

    fn binary(&mut self, sign: &str, left: &Expression, right: &Expression) -> Datum {
        let left = self.expression(left);
        match (sign, self.truth(&left)) {
            ("||", Some(true)) | ("&&", Some(false)) => return left,
            ("||" | "&&", Some(_)) => return self.expression(right),
            ("??", _) if !matches!(left, Datum::Undefined | Datum::Null) => {
                return left;
            }
            ("??", _) => return self.expression(right),
            _ => (),
        }
        let right = self.expression(right);
        match sign {
            "+" => self.sum(&left, &right),
            "-" | "*" | "/" | "%" => arithmetic(sign, &left, &right),
            "===" | "==" => equality(&left, &right).map_or(Datum::Unknown, Datum::Boolean),
            "!==" | "!=" => {
                equality(&left, &right).map_or(Datum::Unknown, |same| Datum::Boolean(!same))
            }
            "<" | ">" | "<=" | ">=" => comparison(sign, &left, &right),
            _ => Datum::Unknown,
        }
    }

    fn sum(&mut self, left: &Datum, right: &Datum) -> Datum {
        match (left, right) {
            (Datum::Number(left), Datum::Number(right)) => Datum::Number(left + right),
            (Datum::Random(low, high), Datum::Number(number))
            | (Datum::Number(number), Datum::Random(low, high)) => {
                Datum::Random(low + number, high + number)
            }
            _ => {
                let texts = self.text_of(left).zip(self.text_of(right));
                let Some((mut text, right)) = texts else { return Datum::Unknown };
                // Numbers that are known only in the run are added there; joined as texts they would be wrong.
                let is_numeric = |value: &Datum| matches!(value, Datum::Number(_));
                let is_run_value = |value: &Datum| !matches!(value, Datum::Text(text) if text.as_literal().is_some());
                let is_sum = is_numeric(left) && is_run_value(&Datum::Text(right.clone()));
                if is_sum || self.is_time(left) && !is_text_literal(&right) {
                    return Datum::Unknown;
                }
                text.push(&right);
                Datum::Text(text)
            }
        }
    }

    fn is_time(&self, value: &Datum) -> bool {
        matches!(value, Datum::Text(text) if *text == Text::value(Source::UnixMilliseconds) || *text == Text::value(Source::UnixSeconds))
    }

    fn assign(&mut self, target: &Expression, value: &Expression) -> Datum {
        match target {
            Expression::Name(name) => {
                let value = self.expression(value);
                match self.scopes.iter_mut().rev().find(|scope| scope.contains_key(name)) {
                    Some(scope) => scope.insert(name.clone(), value.clone()),
                    None => self.scopes[0].insert(name.clone(), value.clone()),
                };
                value
            }
            Expression::Index(object, _) if **object == Expression::Name("tests".to_owned()) => {
                self.assertion(value);
                Datum::Undefined
            }
            Expression::Member(object, member) => {
                let (object, value) = (self.expression(object), self.expression(value));
                self.assign_member(&object, member, &value);
                value
            }
            _ => {
                self.note("this assignment of a script is left out");
                Datum::Unknown
            }
        }
    }

    /// Makes a variable of the run what a script sets.
    pub(super) fn set(&mut self, name: &str, value: &Datum) {
        if let Datum::Part(part) = value
            && let Some(answer) = self.extract(part, name)
        {
            self.variables.set(name, Text::value(answer));
            return;
        }
        match self.text_of(value) {
            Some(text) if is_text_literal(&text) => self.variables.set(name, text),
            Some(text) => {
                self.plan
                    .push(Planned::Step(Step::Assign { variable: name.to_owned(), value: text }));
                self.variables.set(name, Text::value(Source::Variable(name.to_owned())));
            }
            None => {
                self.note(format!(
                    "the value of {name} is not understood; give it by -e {name}=VALUE"
                ));
                let source =
                    Source::Env { name: name.to_owned(), default: Some(format!("{{{{{name}}}}}")) };
                self.variables.set(name, Text::value(source));
            }
        }
    }

    /// Takes a part of an answer into a variable.
    fn extract(&mut self, part: &AnswerPart, variable: &str) -> Option<Source> {
        let (answer, find) = match part {
            AnswerPart::Json(answer, path) => (*answer, Find::Json(path.clone())),
            AnswerPart::Body(answer) => {
                (*answer, Find::Body(Between { left: String::new(), right: String::new() }))
            }
            AnswerPart::Status(answer) => (*answer, Find::Status),
            AnswerPart::Header(answer, name) => (*answer, Find::Header(name.clone())),
            AnswerPart::Cookie(answer, name) => (*answer, Find::Cookie(name.clone())),
            AnswerPart::Time(_) => return None,
        };
        if answer == 0 && self.phase == Phase::Before {
            return None;
        }
        let extraction = Extraction {
            variable: variable.to_owned(),
            find,
            cut: None,
            decodings: Vec::new(),
            remark: String::new(),
        };
        let extractions = &mut self.answers.get_mut(answer)?.extractions;
        if !extractions.contains(&extraction) {
            extractions.push(extraction);
        }
        Some(Source::Variable(variable.to_owned()))
    }

    /// The value as text, as far as it is one. A part of an answer becomes a variable.
    pub(super) fn text_of(&mut self, value: &Datum) -> Option<Text> {
        match value {
            Datum::Text(text) => Some(text.clone()),
            Datum::Number(number) => Some(Text::literal(number_text(*number))),
            Datum::Boolean(value) => Some(Text::literal(value.to_string())),
            Datum::Null => Some(Text::literal("null")),
            Datum::Part(part) => {
                let name = part_name(part);
                self.extract(part, &name).map(Text::value)
            }
            Datum::Digest { .. } => self.digest_text(value, crate::DigestForm::Hex),
            _ => None,
        }
    }

    /// An expectation with the other polarity.
    pub(super) fn negated(value: Box<Datum>, polarity: Polarity) -> Datum {
        let other = if polarity == Polarity::Holds { Polarity::Fails } else { Polarity::Holds };
        Datum::Expectation(value, other)
    }
}

fn is_text_literal(text: &Text) -> bool {
    text.as_literal().is_some()
}

/// A variable's name for a part of an answer that a script uses within a text.
fn part_name(part: &AnswerPart) -> String {
    match part {
        AnswerPart::Json(answer, path) => {
            let mut keys = path.iter().filter_map(|step| match step {
                JsonStep::Key(key) => Some(key.as_str()),
                JsonStep::Index(_) => None,
            });
            format!("{} of answer {answer}", keys.next_back().unwrap_or("value"))
        }
        AnswerPart::Header(_, name) | AnswerPart::Cookie(_, name) => name.clone(),
        AnswerPart::Body(_) => "body".to_owned(),
        AnswerPart::Status(_) => "status".to_owned(),
        AnswerPart::Time(_) => "time".to_owned(),
    }
}

fn arithmetic(sign: &str, left: &Datum, right: &Datum) -> Datum {
    let is_time = |value: &Datum| matches!(value, Datum::Text(text) if *text == Text::value(Source::UnixMilliseconds));
    match (left, right) {
        (Datum::Number(left), Datum::Number(right)) => Datum::Number(match sign {
            "-" => left - right,
            "*" => left * right,
            "/" => left / right,
            _ => left % right,
        }),
        (Datum::Random(low, high), Datum::Number(by))
        | (Datum::Number(by), Datum::Random(low, high))
            if sign == "*" =>
        {
            Datum::Random(low * by, high * by)
        }
        (time, Datum::Number(by)) if sign == "/" && *by == 1000.0 && is_time(time) => {
            Datum::source(Source::UnixSeconds)
        }
        _ => Datum::Unknown,
    }
}

/// Whether two values are equal; an answer counts as the one that is hoped for.
fn equality(left: &Datum, right: &Datum) -> Option<bool> {
    match (left, right) {
        (Datum::Part(AnswerPart::Status(_)), other)
        | (other, Datum::Part(AnswerPart::Status(_))) => match other {
            Datum::Number(status) => Some((200.0..400.0).contains(status)),
            _ => None,
        },
        (Datum::Undefined | Datum::Null, other) | (other, Datum::Undefined | Datum::Null) => {
            (!matches!(other, Datum::Unknown))
                .then_some(matches!(other, Datum::Undefined | Datum::Null))
        }
        (left, right) => Some(left.as_literal()? == right.as_literal()?),
    }
}

fn comparison(sign: &str, left: &Datum, right: &Datum) -> Datum {
    let number = |value: &Datum| match value {
        Datum::Number(number) => Some(*number),
        Datum::Part(AnswerPart::Status(_)) => Some(200.0),
        _ => None,
    };
    let (Some(left), Some(right)) = (number(left), number(right)) else {
        return Datum::Unknown;
    };
    Datum::Boolean(match sign {
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        _ => left >= right,
    })
}

/// Statements and expressions that one script may take.
const STEPS_MAX: usize = 20_000;
/// Functions inside each other.
const CALLS_MAX: usize = 8;
/// Notes on one script.
const NOTES_MAX: usize = 20;
