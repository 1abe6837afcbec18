//! Gates for every report: the expression, the figure and the outcome. It judges nothing itself: `metrics::GateFigures` does.

use metrics::tally::Assertion;
use metrics::{Gap, GateOutcome, GateState, GateUnit};
use stdx::{Bytes, Nanos, list_and};

use crate::number::{counted, duration, go_json, number};
use crate::object::json_list;
use crate::run_name::{json_of_run, of_run};
use crate::test_case::JunitCase;

/// The heads of a table of gates.
pub(crate) const GATE_HEADS: [&str; 4] = ["Gates", "fails where", "seen", "outcome"];

/// The gates among what was asserted.
pub(crate) fn gates(all: &[Assertion]) -> impl Iterator<Item = &GateOutcome> {
    all.iter().filter_map(|one| match one {
        Assertion::Gate(outcome) => Some(outcome),
        _ => None,
    })
}

/// A gate: its mark, its expression, the figure, and the outcome.
pub(crate) fn gate_rows(all: &[Assertion]) -> Vec<Vec<String>> {
    let row = |one: &GateOutcome| {
        let (mark, word) = match one.state {
            GateState::Passed => ("\u{2713}", "passed".to_owned()),
            GateState::Crossed => ("\u{2717}", "CROSSED".to_owned()),
            GateState::Undecided(gap) if gap.is_of_run() => {
                ("?", format!("NOT MEASURED: {}", reason(one, gap)))
            }
            GateState::Undecided(gap) => ("?", format!("UNDECIDED: {gap}")),
        };
        vec![mark.to_owned(), of_run(&one.expression, &one.run), seen(one), word]
    };
    gates(all).map(row).collect()
}

/// The figure of a gate in its unit.
fn seen(one: &GateOutcome) -> String {
    let Some(value) = one.value else { return "-".to_owned() };
    let sign = if one.state == GateState::Undecided(Gap::TimedOut) { ">=" } else { "" };
    format!("{sign}{}", in_unit(one.unit, value))
}

/// A figure in its unit.
fn in_unit(unit: GateUnit, value: f64) -> String {
    match unit {
        GateUnit::Time => duration(Nanos(value as u64)),
        GateUnit::Share | GateUnit::ShareOfPlanned => format!("{}%", percent(value)),
        GateUnit::Count => counted(value as u64, "request"),
        GateUnit::Number => number(value),
        GateUnit::PerSecond => format!("{}/s", number(value)),
        GateUnit::Bytes => Bytes(value.round() as u64).to_string(),
    }
}

/// Why a gate is not decided, with the figures that say so.
fn reason(one: &GateOutcome, gap: Gap) -> String {
    match gap {
        Gap::Late { on_time } => {
            let (with, without) = (seen(one), in_unit(one.unit, on_time));
            format!("{with} with the load generator's own lag, {without} without it")
        }
        gap => gap.to_string(),
    }
}

/// A share as a percentage with four digits; one that is not 0 never reads as 0.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 1e-3 { format!("{percent:.1e}") } else { number(percent) }
}

/// The gates that did not pass, a sentence each; those that are missing the same requests have one together.
#[must_use]
pub fn failed_gates<'a>(all: impl IntoIterator<Item = &'a GateOutcome>) -> Vec<String> {
    let (mut sentences, mut unsent) = (Vec::new(), Vec::<(Gap, Vec<&str>)>::new());
    for one in all {
        match one.state {
            GateState::Undecided(
                gap @ (Gap::NotSent { .. } | Gap::NotBegun { .. } | Gap::NeverAnswered { .. }),
            ) => match unsent.iter_mut().find(|(known, _)| *known == gap) {
                Some((_, gates)) => gates.push(&one.expression),
                None => unsent.push((gap, vec![&one.expression])),
            },
            _ => sentences.extend(failed_gate(one)),
        }
    }
    let together = |(gap, gates): (Gap, Vec<&str>)| match &gates[..] {
        [gate] => format!("gate {gate} is not measured: {gap}"),
        _ => format!("gates {} are not measured: {gap}", list_and(&gates)),
    };
    sentences.extend(unsent.into_iter().map(together));
    sentences
}

/// A gate as one sentence; `None` where it passed.
fn failed_gate(one: &GateOutcome) -> Option<String> {
    let (gate, seen) = (&one.expression, seen(one));
    match one.state {
        GateState::Passed => None,
        GateState::Crossed => Some(format!("gate {gate} is crossed: {seen}")),
        GateState::Undecided(Gap::TimedOut) => {
            Some(format!("gate {gate} cannot be decided: {} ({seen})", Gap::TimedOut))
        }
        GateState::Undecided(gap) if gap.is_of_run() => {
            Some(format!("gate {gate} is not measured: {}", reason(one, gap)))
        }
        GateState::Undecided(gap) => Some(format!("gate {gate} cannot be decided: {gap}")),
    }
}

/// A gate as a test case.
pub(crate) fn case(one: &GateOutcome) -> JunitCase {
    let failure = match one.state {
        GateState::Passed => None,
        GateState::Crossed => Some(format!("crossed: {}", seen(one))),
        GateState::Undecided(gap) if gap.is_of_run() => {
            Some(format!("not measured: {}", reason(one, gap)))
        }
        GateState::Undecided(gap) => Some(format!("undecided: {gap}")),
    };
    JunitCase::new(&of_run(&format!("gate {}", one.expression), &one.run), seen(one), failure)
}

/// The results of the gates in a few words, and whether all passed; `None` without gates.
pub(crate) fn in_words(all: &[Assertion]) -> Option<(String, bool)> {
    let of =
        |wanted: fn(&GateState) -> bool| gates(all).filter(|one| wanted(&one.state)).count() as u64;
    let count = counted(of(|_| true), "gate");
    let crossed = of(|state| *state == GateState::Crossed);
    let unmeasured =
        |state: &GateState| matches!(state, GateState::Undecided(gap) if gap.is_of_run());
    let unmeasured = gates(all).filter(|one| unmeasured(&one.state)).count() as u64;
    let undecided = of(|state| matches!(state, GateState::Undecided(_))) - unmeasured;
    let bad = [(crossed, "crossed"), (undecided, "undecided"), (unmeasured, "not measured")];
    let mut words = String::new();
    for (number, word) in bad.into_iter().filter(|(number, _)| *number > 0) {
        let part = match words.is_empty() {
            true => format!("{number} of {count} {word}"),
            false => format!(", {number} {word}"),
        };
        words.push_str(&part);
    }
    match gates(all).next() {
        None => None,
        Some(_) if words.is_empty() => Some((format!("{count} passed"), true)),
        Some(_) => Some((words, false)),
    }
}

/// The gates as a JSON list; `None` without any.
pub(crate) fn json(all: &[Assertion]) -> Option<String> {
    let flag = |set: bool| if set { "true" } else { "false" };
    let one = |one: &GateOutcome| {
        let gap = match one.state {
            GateState::Undecided(gap) => Some(gap),
            _ => None,
        };
        let mut object = json_of_run(&one.run)
            .text("expression", &one.expression)
            .put("value", one.value.map_or("null".to_owned(), go_json))
            .text("unit", one.unit.name())
            .put("crossed", flag(one.state == GateState::Crossed))
            .put("undecided", flag(gap.is_some()));
        if let Some(gap) = gap {
            object = object.text("reason", &gap.to_string());
        }
        if let Some(Gap::Late { on_time }) = gap {
            object = object.put("on_time", go_json(on_time));
        }
        object.end()
    };
    let list: Vec<String> = gates(all).map(one).collect();
    (!list.is_empty()).then(|| json_list(list.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(expression: &str, value: Option<f64>, unit: GateUnit, state: GateState) -> Assertion {
        Assertion::Gate(GateOutcome {
            expression: expression.to_owned(),
            value,
            unit,
            state,
            run: String::new(),
        })
    }

    #[test]
    fn every_state_and_unit_has_its_words() {
        let undecided = GateState::Undecided(Gap::NoRequest);
        let all = [
            gate("p99>300ms", Some(312.4e6), GateUnit::Time, GateState::Crossed),
            gate("errors>0.1%", Some(0.0), GateUnit::Share, GateState::Passed),
            gate("errors>0.1%", Some(1e-7), GateUnit::Share, GateState::Passed),
            gate("rate<95%", Some(0.916), GateUnit::ShareOfPlanned, GateState::Crossed),
            gate("rate<50", Some(45.8), GateUnit::PerSecond, GateState::Crossed),
            gate("status.5xx>0", Some(1.0), GateUnit::Count, GateState::Crossed),
            gate("bytes<1KB", Some(2048.0), GateUnit::Bytes, GateState::Passed),
            gate("p50{name:a}>1s", None, GateUnit::Time, undecided),
            gate("p99>1s", Some(5e8), GateUnit::Time, GateState::Undecided(Gap::TimedOut)),
        ];
        let rows: Vec<String> = gate_rows(&all).iter().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "\u{2717} | p99>300ms | 312.4ms | CROSSED",
                "\u{2713} | errors>0.1% | 0% | passed",
                "\u{2713} | errors>0.1% | 1.0e-5% | passed",
                "\u{2717} | rate<95% | 91.60% | CROSSED",
                "\u{2717} | rate<50 | 45.80/s | CROSSED",
                "\u{2717} | status.5xx>0 | 1 request | CROSSED",
                "\u{2713} | bytes<1KB | 2.0 KiB | passed",
                "? | p50{name:a}>1s | - | UNDECIDED: there is no such request",
                "? | p99>1s | >=500ms | UNDECIDED: the figure is at the timeout: the true one is at least this",
            ]
        );
        let words = |all: &[Assertion]| in_words(all);
        assert_eq!(words(&all), Some(("4 of 9 gates crossed, 2 undecided".to_owned(), false)));
        assert_eq!(words(&all[..1]), Some(("1 of 1 gate crossed".to_owned(), false)));
        assert_eq!(words(&all[1..3]), Some(("2 gates passed".to_owned(), true)));
        assert_eq!(words(&all[7..]), Some(("2 of 2 gates undecided".to_owned(), false)));
        assert_eq!(words(&[]), None);
        let sentences = failed_gates(gates(&all));
        assert_eq!(sentences[0], "gate p99>300ms is crossed: 312.4ms");
        assert_eq!(sentences[4], "gate p50{name:a}>1s cannot be decided: there is no such request");
        assert_eq!(sentences.len(), 6);
    }

    #[test]
    fn what_the_generator_kept_from_being_measured_is_named_as_such() {
        let unsent = GateState::Undecided(Gap::NotSent { not_sent: 1301, planned: 2000 });
        let late = GateState::Undecided(Gap::Late { on_time: 623e6 });
        let all = [
            gate("p99>10s", Some(4e6), GateUnit::Time, unsent),
            gate("max>700ms", Some(843e6), GateUnit::Time, late),
            gate("errors>1%", Some(0.0), GateUnit::Share, unsent),
        ];
        let lag = "843ms with the load generator's own lag, 623ms without it";
        assert_eq!(
            failed_gates(gates(&all)),
            [
                format!("gate max>700ms is not measured: {lag}"),
                "gates p99>10s and errors>1% are not measured: 1301 of 2000 planned requests were not sent".to_owned(),
            ]
        );
        assert_eq!(gate_rows(&all)[1][3], format!("NOT MEASURED: {lag}"));
        assert_eq!(case(gates(&all).nth(1).unwrap()).failure, Some(format!("not measured: {lag}")));
        let words = "3 of 3 gates not measured".to_owned();
        assert_eq!(in_words(&all), Some((words, false)));
        let json: serde_json::Value = serde_json::from_str(&json(&all).unwrap()).unwrap();
        assert_eq!(
            (&json[1]["undecided"], &json[1]["on_time"]),
            (&true.into(), &623_000_000.into())
        );
        assert_eq!(json[0]["reason"], "1301 of 2000 planned requests were not sent");
    }

    #[test]
    fn json_has_each_gate_with_its_reason() {
        let undecided = GateState::Undecided(Gap::NoRequest);
        let all = [
            gate("p99>300ms", Some(312.5e6), GateUnit::Time, GateState::Crossed),
            gate("rate<95%", None, GateUnit::ShareOfPlanned, undecided),
        ];
        let text = json(&all).unwrap();
        let gates: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expect = serde_json::json!([
            { "expression": "p99>300ms", "value": 312_500_000, "unit": "ns", "crossed": true, "undecided": false },
            { "expression": "rate<95%", "value": null, "unit": "share_of_planned", "crossed": false, "undecided": true,
              "reason": "there is no such request" },
        ]);
        assert_eq!(gates, expect);
        assert_eq!(json(&[]), None);
    }
}
