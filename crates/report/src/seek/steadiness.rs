//! What speaks against a server that was the same one during the whole search, in words and as JSON.

use study::seek::{Contradiction, Drift, Steadiness, steadiness};

use super::model::{SeekInput, load, name};
use crate::number::{counted, number};
use crate::object::{Object, json_list};

/// A sentence for each contradiction and for drift, and one for what to do; none where the server was steady.
pub(super) fn notes(input: &SeekInput<'_>) -> Vec<String> {
    let steadiness = of(input);
    let unit = input.search.unit();
    let mut notes: Vec<String> =
        steadiness.contradictions.iter().map(|one| contradiction(input, one)).collect();
    notes.extend(steadiness.drift.map(|Drift { before, after }| {
        let (before, after) = (load(unit, before.load), load(unit, after.load));
        format!("the limit moved: {before} by the first half of the steps near it, {after} by the second; the interval includes both")
    }));
    if !steadiness.is_steady() {
        notes.push(
            "the server or this machine was not the same throughout: search again when nothing else runs"
                .to_owned(),
        );
    }
    notes
}

/// Whether nothing speaks against a server that was the same one throughout.
pub(super) fn is_steady(input: &SeekInput<'_>) -> bool {
    of(input).is_steady()
}

fn of(input: &SeekInput<'_>) -> Steadiness {
    steadiness(input.search, input.steps).unwrap_or_default()
}

fn contradiction(input: &SeekInput<'_>, one: &Contradiction) -> String {
    let at = load(input.search.unit(), one.load);
    let steps = match one.runs {
        1 => "the only step".to_owned(),
        runs => format!("{} of {}", number(one.against as f64), counted(runs as u64, "step")),
    };
    let met = if one.is_met { "met" } else { "missed" };
    let rest =
        if one.stands() { "the interval includes that load" } else { "the others outvote it" };
    format!("at {at} {steps} {met} the objective, which chance does not explain; {rest}")
}

/// The keys `steady`, `contradictions` and `drift`.
pub(super) fn json(input: &SeekInput<'_>, object: Object) -> Object {
    let steadiness = of(input);
    let unit = input.search.unit();
    let contradictions = steadiness.contradictions.iter().map(|one| {
        Object::new()
            .float(name(unit), one.load)
            .number("steps", one.runs as u64)
            .number("against", one.against as u64)
            .text("meets", if one.is_met { "yes" } else { "no" })
            .put("stands", one.stands().to_string())
            .end()
    });
    let contradictions = json_list(contradictions);
    let drift = steadiness.drift.map_or("null".to_owned(), |Drift { before, after }| {
        Object::new().float("before", before.load).float("after", after.load).end()
    });
    object
        .put("steady", steadiness.is_steady().to_string())
        .put("contradictions", contradictions)
        .put("drift", drift)
}

#[cfg(test)]
mod tests {
    use study::seek::{Step, StopReason};

    use super::super::tests::{FOUND, step, with};
    use super::super::{json, text};
    use super::*;

    /// Two steps of three met the objective at 160/s, and the answer is about 90/s.
    fn contradicting() -> Vec<Step> {
        let far = [(160.0, 0.0), (160.0, 0.5), (160.0, 0.0), (40.0, 0.0)];
        let near = [80.0, 85.0, 95.0, 100.0].into_iter().cycle().take(16);
        let near = near.map(|load| (load, if load < 90.0 { 0.001 } else { 0.2 }));
        near.chain(far).map(|(load, slow)| Step { hits: 100_000, ..step(load, slow) }).collect()
    }

    #[test]
    fn equal_loads_that_differ_more_than_chance_are_said() {
        let steps = contradicting();
        with(FOUND, StopReason::Contradiction, |input| {
            let input = SeekInput { steps: &steps, ..*input };
            let text = text(&input);
            let note = "Note       at 160/s 2 of 3 steps met the objective, which chance does not explain; the interval includes that load\n";
            assert!(text.contains(note), "{text}");
            assert!(
                text.contains("Note       the server or this machine was not the same"),
                "{text}"
            );
            let json: serde_json::Value = serde_json::from_str(&json(&input)).unwrap();
            assert_eq!(json["steady"], false);
            assert_eq!(json["contradictions"].as_array().unwrap().len(), 1, "{json}");
            let one = &json["contradictions"][0];
            assert_eq!(
                (&one["rate"], &one["steps"], &one["against"]),
                (&160.into(), &3.into(), &2.into())
            );
            assert_eq!((&one["meets"], &one["stands"]), (&"yes".into(), &true.into()));
        });
    }

    #[test]
    fn a_steady_server_is_not_spoken_of() {
        with(FOUND, StopReason::Found, |input| {
            assert_eq!(notes(input), Vec::<String>::new());
            let json: serde_json::Value = serde_json::from_str(&json(input)).unwrap();
            assert_eq!((&json["steady"], &json["drift"]), (&true.into(), &serde_json::Value::Null));
        });
    }
}
