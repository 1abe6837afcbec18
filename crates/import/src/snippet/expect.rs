//! Tests of scripts as checks: what they demand of the status, of header fields and of the body. What has no check is noted.

use super::evaluate::{Phase, Session};
use super::tree::Expression;
use super::value::{AnswerPart, Datum, Polarity};
use crate::Check;

impl Session<'_> {
    /// A condition that is to hold: `tests["x"] = …`, `client.assert(…)`.
    pub(super) fn assertion(&mut self, condition: &Expression) {
        match condition {
            Expression::Binary(sign, left, right) if sign == "&&" => {
                self.assertion(left);
                self.assertion(right);
            }
            Expression::Binary(sign, left, right) if matches!(sign.as_str(), "===" | "==") => {
                let (left, right) = (self.expression(left), self.expression(right));
                let (value, expected) =
                    if matches!(left, Datum::Part(_)) { (left, right) } else { (right, left) };
                self.demand_equal(&value, &expected);
            }
            Expression::Call(callee, arguments) => match (&**callee, arguments.first()) {
                (Expression::Member(object, name), Some(part))
                    if matches!(name.as_str(), "has" | "includes") =>
                {
                    let (object, part) = (self.expression(object), self.expression(part));
                    self.demand_contained(&object, &part);
                }
                _ => self.note("this test of a script has no check"),
            },
            other => {
                let value = self.expression(other);
                match value {
                    Datum::Part(AnswerPart::Json(answer, path)) => {
                        self.demand(answer, Check::JsonExists(path));
                    }
                    Datum::Boolean(true) => (),
                    _ => self.note("this test of a script has no check"),
                }
            }
        }
    }

    fn demand(&mut self, answer: usize, check: Check) {
        if answer == 0 && self.phase == Phase::Before {
            return;
        }
        if let Some(exchange) = self.answers.get_mut(answer)
            && !exchange.checks.contains(&check)
        {
            exchange.checks.push(check);
        }
    }

    fn demand_status(&mut self, answer: usize, statuses: &[u16]) {
        if let Some(exchange) = self.answers.get_mut(answer) {
            exchange.statuses = statuses.to_vec();
        }
    }

    fn demand_equal(&mut self, value: &Datum, expected: &Datum) {
        match (value, expected) {
            (Datum::Part(AnswerPart::Status(answer)), Datum::Number(status)) => {
                self.demand_status(*answer, &[*status as u16]);
            }
            (Datum::Part(AnswerPart::Json(answer, path)), expected) => match expected.as_json() {
                Some(expected) => self.demand(*answer, Check::JsonIs(path.clone(), expected)),
                None => self.demand(*answer, Check::JsonExists(path.clone())),
            },
            (Datum::Part(AnswerPart::Header(answer, name)), Datum::Text(text)) => {
                self.demand(*answer, Check::HeaderIs(name.clone(), text.clone()));
            }
            _ => self.note("this test of a script has no check"),
        }
    }

    fn demand_contained(&mut self, object: &Datum, part: &Datum) {
        match (object, part) {
            (Datum::Part(AnswerPart::Body(answer)), Datum::Text(text)) => {
                self.demand(*answer, Check::BodyContains(text.clone()));
            }
            (Datum::Part(AnswerPart::Json(answer, path)), _) => {
                self.demand(*answer, Check::JsonExists(path.clone()));
            }
            _ => self.note("this test of a script has no check"),
        }
    }

    /// `pm.expect(…).to.be.…`: words that change nothing, `not`, and those that are a test by themselves.
    pub(super) fn expectation_member(
        &mut self,
        value: Box<Datum>,
        polarity: Polarity,
        name: &str,
    ) -> Datum {
        match name {
            "not" => return Self::negated(value, polarity),
            "to" | "be" | "been" | "is" | "that" | "which" | "and" | "has" | "have" | "with"
            | "at" | "of" | "same" | "deep" | "an" | "a" | "does" | "still" | "but" => (),
            "exist" | "ok" => self.demand_existing(&value, polarity),
            "null" | "undefined" if polarity == Polarity::Fails => {
                self.demand_existing(&value, Polarity::Holds);
            }
            "empty" if polarity == Polarity::Fails => self.demand_existing(&value, Polarity::Holds),
            "true" | "false" if polarity == Polarity::Holds => {
                self.demand_equal(&value, &Datum::Boolean(name == "true"));
            }
            _ => self.note("this test of a script has no check"),
        }
        Datum::Expectation(value, polarity)
    }

    fn demand_existing(&mut self, value: &Datum, polarity: Polarity) {
        match (value, polarity) {
            (Datum::Part(AnswerPart::Json(answer, path)), Polarity::Holds) => {
                self.demand(*answer, Check::JsonExists(path.clone()));
            }
            (Datum::Part(AnswerPart::Header(answer, name)), Polarity::Holds) => {
                self.demand(*answer, Check::HeaderExists(name.clone()));
            }
            _ => self.note("this test of a script has no check"),
        }
    }

    pub(super) fn call_expectation(
        &mut self,
        value: &Datum,
        polarity: Polarity,
        name: &str,
        arguments: &[Datum],
    ) -> Datum {
        let first = arguments.first().cloned().unwrap_or(Datum::Undefined);
        if polarity == Polarity::Fails {
            let is_nothing = matches!(first, Datum::Undefined | Datum::Null)
                || first.as_literal().as_deref() == Some("");
            if matches!(name, "equal" | "eql" | "equals" | "eq") && is_nothing {
                self.demand_existing(value, Polarity::Holds);
            } else {
                self.note("this test of a script has no check");
            }
            return Datum::Undefined;
        }
        match name {
            "equal" | "equals" | "eq" | "eql" | "eqls" => self.demand_equal(value, &first),
            "a" | "an" => self.demand_existing(value, polarity),
            "property" => match (value, first.as_literal()) {
                (Datum::Part(AnswerPart::Json(answer, path)), Some(name)) => {
                    let part =
                        self.member(Datum::Part(AnswerPart::Json(*answer, path.clone())), &name);
                    match arguments.get(1) {
                        Some(expected) => self.demand_equal(&part, expected),
                        None => self.demand_existing(&part, polarity),
                    }
                }
                _ => self.note("this test of a script has no check"),
            },
            "include" | "includes" | "contain" | "contains" | "string" => {
                self.demand_contained(value, &first);
            }
            "oneOf" => match (value, &first) {
                (Datum::Part(AnswerPart::Status(answer)), Datum::Array(items)) => {
                    let statuses: Vec<u16> = items
                        .iter()
                        .filter_map(|item| match item {
                            Datum::Number(status) => Some(*status as u16),
                            _ => None,
                        })
                        .collect();
                    self.demand_status(*answer, &statuses);
                }
                _ => self.demand_existing(value, polarity),
            },
            _ => match value {
                Datum::Part(AnswerPart::Time(_)) => {
                    self.note("a limit of a response time is left out: make it a threshold of http_req_duration");
                }
                Datum::Part(AnswerPart::Status(_)) => (),
                value => self.demand_existing(value, polarity),
            },
        }
        Datum::Undefined
    }

    /// `pm.response.to.have.status(200)` and its kin, by what stands behind `to.`.
    pub(super) fn call_answer_expectation(
        &mut self,
        path: &str,
        first: &Datum,
        second: &Datum,
    ) -> Datum {
        match (path, first) {
            ("have.status", Datum::Number(status)) => self.demand_status(0, &[*status as u16]),
            ("have.header", name) => match (name.as_literal(), second) {
                (Some(name), Datum::Text(value)) => {
                    self.demand(0, Check::HeaderIs(name, value.clone()));
                }
                (Some(name), _) => self.demand(0, Check::HeaderExists(name)),
                _ => self.note("this test of a script has no check"),
            },
            ("have.body" | "include.text", Datum::Text(text)) => {
                self.demand(0, Check::BodyContains(text.clone()));
            }
            ("have.jsonBody", name) => {
                let path = name.as_literal().unwrap_or_default();
                let steps = path
                    .split('.')
                    .filter(|key| !key.is_empty())
                    .map(|key| crate::JsonStep::Key(key.to_owned()));
                let part = Datum::Part(AnswerPart::Json(0, steps.collect()));
                match second {
                    Datum::Undefined => self.demand_existing(&part, Polarity::Holds),
                    expected => self.demand_equal(&part, expected),
                }
            }
            _ => self.note("this test of a script has no check"),
        }
        Datum::Undefined
    }
}
